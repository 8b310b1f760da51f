"""Two sets of files compared by git, in a repository that is made for it and removed afterwards."""

import contextlib
import hashlib
import os
import shutil
import struct
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs

from permitry_tools._tree import Contents, Entry, object_of

__all__ = ["find_git", "git_diff"]

_LONGEST = 30.0
_DIFF = ("diff", "--no-color", "--no-ext-diff", "--no-textconv")
_CONFIG = "[core]\n\tbare = true\n\tabbrev = 7\n"


def find_git(root: Path) -> str | None:
    """Return the path of git, or None; what lies in the workspace `root` is not git, whatever its name."""
    found = shutil.which("git", path=os.pathsep.join(_folders(root)))
    return None if found is None or Path(found).resolve().is_relative_to(root) else found


def _folders(root: Path) -> Iterator[str]:
    for folder in os.get_exec_path():
        if Path(folder).is_absolute() and not Path(folder).resolve().is_relative_to(root):
            yield folder


def git_diff(
    root: Path, contents: Contents, before: Mapping[str, Entry], after: Mapping[str, Entry], most: int
) -> bytes | None:
    """Return up to about `most` bytes of what `git diff` prints between two sets of files, all of them in `contents`.

    None where git is missing, or fails, or there is no place for the repository outside of `root`. No configuration
    and no attributes are read, and nothing of the workspace is.
    """
    git = find_git(root)
    try:
        if git is None or Path(tempfile.gettempdir()).resolve().is_relative_to(root):
            return None
        with tempfile.TemporaryDirectory(prefix="permitry-diff-", ignore_cleanup_errors=True) as name:
            folder, path = Path(name), os.pathsep.join(_folders(root))
            pack = _Pack(contents)
            trees = pack.add(before), pack.add(after)
            if _output([git, "index-pack", str(pack.written(folder))], folder, path, most) is None:
                return None
            return _output([git, *_DIFF, *trees, "--"], folder, path, most)
    except OSError:
        return None


@attrs.frozen
class _Pack:
    """Objects of git in one file: one for each of them takes long to write, and to remove."""

    contents: Contents
    objects: dict[str, bytes] = attrs.field(factory=dict)

    def add(self, files: Mapping[str, Entry]) -> str:
        """Add files by their paths, and return the id of the tree that holds them."""
        folders: dict[str, dict[str, Entry]] = {}
        entries: dict[bytes, tuple[str, str]] = {}
        for path, entry in files.items():
            name, slash, inner = path.partition("/")
            if slash:
                folders.setdefault(name, {})[inner] = entry
            elif entry.blob is not None:
                self.objects[entry.blob] = self.contents.objects[entry.blob]
                entries[os.fsencode(name)] = (entry.mode, entry.blob)
        # Git sorts the name of a folder as if it ended with a slash.
        entries |= {os.fsencode(f"{name}/"): ("40000", self.add(inner)) for name, inner in folders.items()}
        data = b"".join(
            b"%s %s\0%s" % (mode.encode(), name.removesuffix(b"/"), bytes.fromhex(each))
            for name, (mode, each) in sorted(entries.items())
        )
        tree = hashlib.sha1(b"tree %d\0%s" % (len(data), data), usedforsecurity=False).hexdigest()
        self.objects[tree] = object_of("tree", data)
        return tree

    def written(self, folder: Path) -> Path:
        """Make `folder` a repository with these objects, and return the path of the pack, which has no index yet."""
        (folder / "refs").mkdir()
        (folder / "HEAD").write_text("ref: refs/heads/none\n", encoding="ascii")
        (folder / "config").write_text(_CONFIG, encoding="ascii")
        path = folder / "objects" / "pack" / "pack-0.pack"
        path.parent.mkdir(parents=True)
        digest = hashlib.sha1(usedforsecurity=False)
        with path.open("wb") as file:
            for piece in (struct.pack(">4sII", b"PACK", 2, len(self.objects)), *self.objects.values()):
                digest.update(piece)
                file.write(piece)
            file.write(digest.digest())
        return path


def _output(command: list[str], folder: Path, path: str, most: int) -> bytes | None:
    """Return the beginning of what git prints; None where it fails, or takes too long."""
    environment = {
        "PATH": path,
        "LC_ALL": "C",
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "GIT_DIR": str(folder),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }
    process = subprocess.Popen(  # noqa: S603 -- git, with words of our own only
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    with process, _end_after(process):
        output = b"" if process.stdout is None else process.stdout.read(most + 1)
        is_whole = len(output) > most or process.wait() == 0
    return output if is_whole else None


@contextlib.contextmanager
def _end_after(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    """End a process at the end of the block, and when it takes too long."""
    timer = threading.Timer(_LONGEST, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        process.kill()
