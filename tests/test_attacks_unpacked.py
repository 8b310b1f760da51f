"""What an archive or a patch brings: names that are not in the command, below the folder in which it is unpacked."""

import io
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from permitry import AuthContext, AuthorizationPolicy, ToolCall, Verdict, load_policy
from tests.tables import for_each

ALLOW, CONFIRM, BLOCK = Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK


def guarded(*paths: str) -> AuthorizationPolicy:
    """Return a policy that allows all commands, and blocks writing to some paths."""
    listed = ", ".join(f'"{path}"' for path in paths)
    return load_policy(
        'schema = 1\n[[rule]]\nid = "all"\neffect = "allow"\ntools = ["@shell"]\n'
        f'[[rule]]\nid = "no"\neffect = "block"\nwhen.path = [{listed}]\nwhen.access = "write"\n'
    )


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder of commands, and make an empty home folder next to it."""
    for name in ("home", "work"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "work"


def verdict(policy: AuthorizationPolicy, workspace: Path, command: str) -> Verdict:
    """Return what is decided about a command in YOLO mode."""
    context = AuthContext(workspace=str(workspace), yolo_mode=True, attended=True)
    return policy.decide(ToolCall("run_shell", {"command": command}), context).verdict


@for_each("command")
def test_what_cannot_be_read_may_be_any_name(workspace: Path, command: str) -> None:
    """A restriction on a path below the target asks, whether or not there is such a path today."""
    assert verdict(guarded("~/.ssh/**"), workspace, command) is CONFIRM


@for_each("command")
def test_what_is_unpacked_elsewhere_is_not_asked_about(workspace: Path, command: str) -> None:
    """Nothing that these write can be below the path of the rule."""
    assert verdict(guarded("~/.ssh/**"), workspace, command) is ALLOW


def pack(path: Path, *names: str, links: tuple[tuple[str, str], ...] = (), mode: str = "w") -> None:
    """Write an archive of empty files, of the format that its name says."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, "")
        return
    opened: Any = tarfile.open
    with opened(path, mode) as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())
        for name, target in links:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            archive.addfile(member)


HOOK, PLAIN = ".git/hooks/pre-commit", "src/a.py"
DIFF = "--- a/{0}\n+++ b/{0}\n@@ -0,0 +1 @@\n+x\n"
UNPACK = {
    "p.tar": ("tar xf p.tar", "tar -xf p.tar -C .", "tar xvf p.tar | tail -3", "cd . && tar -x -f ./p.tar",
              "tar -x < p.tar", "bsdtar -xf p.tar", "mkdir -p a && tar xf p.tar && make"),
    "p.tgz": ("tar xzf p.tgz", "tar -zxf p.tgz"),
    "p.tbz": ("tar xjf p.tbz",),
    "p.txz": ("tar xJf p.txz",),
    "p.zip": ("unzip p.zip", "unzip -qo p.zip -d .", "7z x p.zip", "7za x -y p.zip"),
    "p.diff": ("patch -p1 < p.diff", "patch -p1 -i p.diff", "patch -d . -p1 --input=p.diff", "patch < p.diff"),
    "tree": (
        "cp -r tree/. .", "cp -aT tree .", "rsync -a tree/ .", "rsync -a --out-format=%n tree/ .",
        "rsync -a --exclude x tree/ ./",
    ),
}  # fmt: skip
"""Commands that put files into the current folder, by what these are read from."""


def bring(workspace: Path, name: str) -> None:
    """Write into the workspace all that `UNPACK` names, with one file of this name in it."""
    pack(workspace / "p.tar", PLAIN, name)
    for ending in ("gz", "bz2", "xz"):
        pack(workspace / f"p.t{ending}"[: -1 if ending == "bz2" else None], PLAIN, name, mode=f"w:{ending}")
    pack(workspace / "p.zip", PLAIN, name)
    (workspace / "p.diff").write_text(DIFF.format(PLAIN) + DIFF.format(name))
    for each in (PLAIN, name):
        (workspace / "tree" / each).parent.mkdir(parents=True, exist_ok=True)
        (workspace / "tree" / each).write_text("")


@for_each("command", [command for commands in UNPACK.values() for command in commands])
def test_the_list_of_what_is_unpacked_is_what_is_written(workspace: Path, command: str) -> None:
    """One that names a protected file is blocked, and no other is asked about; patterns for any folder count too."""
    policy = guarded(".git/hooks/**", "/**/.claude/**", "**/.envrc")
    for name, expected in ((HOOK, BLOCK), ("a/.claude/settings.json", BLOCK), (".envrc", BLOCK), ("docs/b.md", ALLOW)):
        bring(workspace, name)
        found = verdict(policy, workspace, command)
        assert found is expected or (expected is BLOCK and found is CONFIRM and "tail" in command), name
        remove(workspace / "tree")


def remove(folder: Path) -> None:
    """Remove a folder with all below it."""
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


@for_each("command", ["patch -p1 << E\n{}E", "patch -p1 -d . <<'E'\n{}E"])
def test_a_patch_in_the_command_is_read(workspace: Path, command: str) -> None:
    """The here-document is all that the program reads."""
    policy = guarded(".git/hooks/**")
    assert verdict(policy, workspace, command.format(DIFF.format(HOOK))) is BLOCK
    assert verdict(policy, workspace, command.format(DIFF.format(PLAIN))) is ALLOW
    assert verdict(policy, workspace, "patch -p1 << E < p.diff\n" + DIFF.format(PLAIN) + "E") is CONFIRM


@for_each("command")
def test_what_may_be_another_one_by_then_is_not_read(workspace: Path, command: str) -> None:
    """The rest of the command may change what is unpacked, or under which names."""
    bring(workspace, "a/b.md")
    assert verdict(guarded(".git/hooks/**"), workspace, command) is CONFIRM


def test_archives_that_others_may_read_otherwise_are_not_read(workspace: Path) -> None:
    """One with a file below its own link, with a name that leads out, with more behind its end, and a damaged one."""
    policy, path = guarded(".git/hooks/**"), workspace / "p.tar"
    pack(path, "a/pre-commit", links=(("a", ".git/hooks"),))
    assert verdict(policy, workspace, "tar xf p.tar") is CONFIRM
    pack(path, "a/../b")
    assert verdict(policy, workspace, "tar xf p.tar") is CONFIRM
    path.write_bytes(b"x" * 20_000)
    assert verdict(policy, workspace, "tar xf p.tar") is CONFIRM
    pack(path, PLAIN)
    pack(workspace / "q.tar", HOOK)
    path.write_bytes(path.read_bytes() + b"?" * 512 + (workspace / "q.tar").read_bytes())
    assert verdict(policy, workspace, "tar xf p.tar") is BLOCK


def test_archives_with_too_much_in_them_are_not_read(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time that a decision takes has a limit: for names, for what is unpacked, and for the directory of a zip."""
    policy = guarded(".git/hooks/**")
    for name in ("p.tar", "p.tgz", "p.zip"):
        pack(workspace / name, *map(str, range(40)), mode="w:gz" if name == "p.tgz" else "w")
    for limit, most in (("MOST_NAMES", 39), ("MOST_READ", 5_000)):
        with monkeypatch.context() as patch:
            patch.setattr(f"permitry.actions.archives.{limit}", most)
            for command in ("tar xf p.tar", "tar xf p.tgz"):
                assert verdict(policy, workspace, command) is CONFIRM
    monkeypatch.setattr("permitry.actions.archives.MOST_NAMES", 39)
    assert verdict(policy, workspace, "unzip p.zip") is CONFIRM


def test_a_link_on_the_disk_leads_what_is_unpacked_elsewhere(workspace: Path) -> None:
    """A folder of the archive may be a link today."""
    (workspace / ".git" / "hooks").mkdir(parents=True)
    (workspace / "src").symlink_to(".git/hooks")
    pack(workspace / "p.tar", PLAIN)
    assert verdict(guarded(".git/hooks/**"), workspace, "tar xf p.tar") is CONFIRM


def test_what_has_changed_is_read_again(workspace: Path) -> None:
    """A decision is made from the archive as it is then, also where the command was seen before."""
    policy = guarded(".git/hooks/**")
    for name, expected in ((PLAIN, ALLOW), (HOOK, BLOCK), (PLAIN, ALLOW)):
        pack(workspace / "p.tar", name)
        assert verdict(policy, workspace, "tar xf p.tar") is expected


def test_folders_are_cut_off_as_the_command_says(workspace: Path) -> None:
    """`--strip-components` and `-p` change which names are made."""
    pack(workspace / "p.tar", "x/.git/hooks/a")
    (workspace / "p.diff").write_text(DIFF.format("x/.git/hooks/a"))
    for command in ("tar xf p.tar --strip-components={}", "patch -p{} < p.diff"):
        is_tar = command.startswith("tar")
        found = [verdict(guarded(".git/hooks/**"), workspace, command.format(n if is_tar else n + 1)) for n in range(3)]
        assert found == [ALLOW, BLOCK, ALLOW]
    assert verdict(guarded(".git/hooks/**"), workspace, "tar xf p.tar --strip-components=$n") is CONFIRM
