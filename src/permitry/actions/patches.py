"""The paths a patch touches, whichever of the two common forms it is written in.

The program that applies the patch may accept more than this parser. So a line that is not exactly a header, but might
pass for one, is treated as a header and makes the result doubtful. There are two forms: `*** Begin Patch` with its file
headers, and unified diffs with the headers of git. It takes one pass over the lines, and never raises an error.

Source: shared facts on apply_patch; diffutils manual, "Detailed Description of Unified Format"; git-diff(1).
"""

import itertools
import re
from collections.abc import Iterator, Sequence

import attrs

from permitry.core.action import Access, Word

__all__ = ["PATCHING", "PatchPaths", "hidden_patch", "paths_of"]

LONGEST_PATCH = 1_048_576

_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_END_OF_FILE = "*** End of File"
_HEADERS = {
    "*** Add File: ": Access.WRITE,
    "*** Update File: ": Access.WRITE,
    "*** Delete File: ": Access.DELETE,
    "*** Move to: ": Access.WRITE,
}
_LOOSE = (
    *("addfile", "updatefile", "deletefile", "movefile", "renamefile"),
    *("moveto", "beginpatch", "endpatch", "environmentid"),
)
_GIT = {
    "rename from ": Access.DELETE,
    "rename to ": Access.WRITE,
    "copy from ": Access.READ,
    "copy to ": Access.WRITE,
    "Index: ": Access.WRITE,
}
_UNIFIED = ("--- ", "+++ ", "diff --git ", *_GIT)
_UNIFIED_LOOSE = tuple(header.casefold() for header in _UNIFIED)
_HUNK = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@", re.ASCII)
PATCHING = frozenset({"apply_patch", "applypatch"})
"""The names by which models call the program that applies a patch."""


@attrs.frozen
class PatchPaths:
    """The paths a patch touches, in order; `doubt` is why there may be more, None if these are all."""

    touched: tuple[tuple[Access, str], ...] = ()
    doubt: str | None = None


def paths_of(patch: str) -> PatchPaths:
    """Return the paths that `patch` touches, as they are written, with a doubt if it may touch others."""
    if len(patch) > LONGEST_PATCH:
        return PatchPaths(doubt=f"the patch is longer than {LONGEST_PATCH} characters")
    finds = _Finds()
    lines = patch.removesuffix("\n").split("\n")
    finer = patch.splitlines()
    if len(finer) > len(lines):
        finds.doubts("the patch contains a line separator other than the line feed")
        lines = finer
    if any(line.strip() == _BEGIN for line in lines):
        _read_begun(lines, finds)
    else:
        _read_unified(lines, finds)
    if not finds.touched:
        finds.doubts("no header of a file was found")
    return PatchPaths(tuple(dict.fromkeys(finds.touched)), finds.doubt)


def hidden_patch(words: Sequence[Word], here_document: str | None = None) -> str | None:
    """Return the patch that `apply_patch` gets in its arguments or its here-document; None for other programs.

    Expansions in its words are left as they are written.
    """
    if not words or words[0].text.replace("\\", "/").rpartition("/")[2].casefold() not in PATCHING:
        return None
    parts = [word.text for word in words[1:]]
    if here_document is not None:
        parts.append(here_document)
    return "\n".join(parts) if parts else None


@attrs.define
class _Finds:
    """The paths found so far, and the first doubt."""

    touched: list[tuple[Access, str]] = attrs.field(factory=list)
    doubt: str | None = None

    def doubts(self, reason: str) -> None:
        self.doubt = self.doubt or reason

    def touch(self, access: Access, path: str) -> None:
        if path != path.strip() or not path:
            self.doubts("a path is empty, or begins or ends with a blank")
        if not path.isprintable():
            self.doubts("a path holds an invisible character")
        if path.strip():
            self.touched.append((access, path.strip()))


# `*** Begin Patch` ------------------------------------------------------------------------------------------------


def _read_begun(lines: Sequence[str], finds: _Finds) -> None:
    first = next(at for at, line in enumerate(lines) if line.strip())
    last = next(at for at in reversed(range(len(lines))) if lines[at].strip())
    if lines[first] != _BEGIN or lines[last] != _END:
        finds.doubts("the first and the last line are not exactly `*** Begin Patch` and `*** End Patch`")
    updated = ""
    for at, line in enumerate(lines):
        if at not in (first, last) or line.strip() not in (_BEGIN, _END):
            updated = _read_begun_line(line, updated, finds)
    if _may_be_unified(lines):
        finds.doubts("it may be a unified diff as well")
        _read_unified(lines, finds)


def _may_be_unified(lines: Sequence[str]) -> bool:
    pairs = itertools.pairwise(lines)
    has_pair = any(old.lstrip().startswith("--- ") and new.lstrip().startswith("+++ ") for old, new in pairs)
    # Another parser may take a line for a header that is neither a header here, nor content, nor empty.
    return has_pair or any(line[:1] not in ("", " ", "+", "-", "@", "*") for line in lines)


def _read_begun_line(line: str, updated: str, finds: _Finds) -> str:
    """Read one line between the markers; return the path that the lines after it update, empty if none."""
    for header, access in _HEADERS.items():
        if line.startswith(header):
            path = line.removeprefix(header)
            if header == "*** Move to: " and updated:
                finds.touch(Access.DELETE, updated)
            finds.touch(access, path)
            return path if header == "*** Update File: " else ""
    if line != _END_OF_FILE and _may_be_header(line):
        _read_loosely(line, finds)
    return updated


def _may_be_header(line: str) -> bool:
    if line.startswith("***"):
        return True
    if "*" not in line:
        return False
    # An added or removed line begins with its sign; the text after the sign is content in every dialect.
    squeezed = "".join(char for char in line if char.isprintable() and not char.isspace()).casefold()
    return squeezed.startswith("*") and squeezed.lstrip("*").startswith(_LOOSE)


def _read_loosely(line: str, finds: _Finds) -> None:
    finds.doubts(f"`{line.strip()[:60]}` may pass for a header and is not exactly one")
    head, colon, path = line.partition(":")
    if colon and path.strip():
        finds.touch(Access.DELETE if "delete" in head.casefold() else Access.WRITE, path.strip())


# Unified diffs ----------------------------------------------------------------------------------------------------


def _read_unified(lines: Sequence[str], finds: _Finds) -> None:
    diff = _Diff(finds)
    for line, following in zip(lines, (*lines[1:], ""), strict=True):
        diff.read(line, following)
    diff.end()


@attrs.define
class _Diff:
    """A unified diff while it is read; `old_left` and `new_left` count the lines left in the current hunk."""

    finds: _Finds
    old: str | None = None
    git: tuple[str, ...] = ()
    old_left: int = 0
    new_left: int = 0

    def read(self, line: str, following: str) -> None:
        if _may_be_header(line):
            _read_loosely(line, self.finds)
        is_pair = line.startswith("--- ") and following.startswith("+++ ")
        if self.old_left > 0 or self.new_left > 0:
            if is_pair:
                self.finds.doubts("the header of a file is inside a hunk")
                _touch_pair(_plain(line[4:], self.finds), _plain(following[4:], self.finds), self.finds)
            self._read_content(line)
        elif line.startswith("@@"):
            self._begin_hunk(line)
        else:
            self._read_header(line)

    def end(self) -> None:
        if self.old is not None:
            self.finds.doubts("a `---` line has no `+++` line")
            self.finds.touch(Access.WRITE, self.old)
        if self.old_left > 0 or self.new_left > 0:
            self.finds.doubts("the last hunk is cut off")

    def _read_content(self, line: str) -> None:
        sign = line[:1]
        if sign not in ("", " ", "+", "-", "\\"):
            self.finds.doubts("a line of a hunk has no sign")
        # An empty line is a context line that lost its leading blank.
        self.old_left -= sign in ("", " ", "-")
        self.new_left -= sign in ("", " ", "+")

    def _begin_hunk(self, line: str) -> None:
        counts = _HUNK.match(line)
        if counts is None:
            self.finds.doubts("the head of a hunk has no line numbers")
            return
        self.old_left, self.new_left = (1 if count is None else int(count) for count in counts.groups())

    def _read_header(self, line: str) -> None:
        bare = line.lstrip()
        if not bare.startswith(_UNIFIED):
            self._read_mode(bare)
            return
        if bare != line:
            self.finds.doubts("a header has a blank before it")
        kind = next(kind for kind in _UNIFIED if bare.startswith(kind))
        self._read_name(kind, bare.removeprefix(kind))

    def _read_mode(self, line: str) -> None:
        if line.startswith("deleted file mode "):
            self.finds.touched += [(Access.DELETE, path) for path in self.git]
        elif line.rstrip().endswith((" 120000", " 160000")):
            self.finds.doubts("it makes a link, or a repository inside this one")
        elif line.replace("\t", " ").casefold().startswith(_UNIFIED_LOOSE):
            self.finds.doubts(f"`{line[:60]}` may pass for a header and is not exactly one")

    def _read_name(self, kind: str, rest: str) -> None:
        match kind:
            case "--- ":
                self.end()
                self.old = _plain(rest, self.finds)
            case "+++ ":
                if self.old is None:
                    self.finds.doubts("a `+++` line has no `---` line")
                _touch_pair("/dev/null" if self.old is None else self.old, _plain(rest, self.finds), self.finds)
                self.old = None
            case "diff --git ":
                self._read_git(rest)
            case _:
                self.finds.touch(_GIT[kind], _unquote(rest, self.finds))

    def _read_git(self, rest: str) -> None:
        self.git = tuple(dict.fromkeys(_git_names(rest)))
        if not self.git:
            self.finds.doubts("the names of a `diff --git` line cannot be distinguished")
        for path in self.git:
            self.finds.touch(Access.WRITE, path)


def _plain(rest: str, finds: _Finds) -> str:
    """Return the name of a `---` or `+++` line without the time after it."""
    name, tab, _ = rest.partition("\t")
    if " " in name and not tab:
        # GNU patch ends the name at the blank, git at the end of the line.
        finds.doubts("a name holds a blank, and no tab says where it ends")
        finds.touch(Access.WRITE, name.partition(" ")[0])
    return name


def _unquote(name: str, finds: _Finds) -> str:
    if name.startswith('"'):
        finds.doubts("a path is quoted")
    return name


def _touch_pair(old: str, new: str, finds: _Finds) -> None:
    """Record the two names of one file; a prefix `a/` or `b/` is not part of the path."""
    names = [_unquote(name, finds) for name in (old, new)]
    prefixed = zip(names, ("a/", "b/"), strict=True)
    is_cut = all(name == "/dev/null" or name.startswith(prefix) for name, prefix in prefixed)
    if not is_cut and any("/" in name for name in names if name != "/dev/null"):
        finds.doubts("without `a/` and `b/` it is not known how much of a path is cut off")
    before, after = (name if name == "/dev/null" or not is_cut else name[2:] for name in names)
    if before != "/dev/null":
        finds.touch(Access.DELETE if after == "/dev/null" else Access.WRITE, before)
    if after != "/dev/null":
        finds.touch(Access.WRITE, after)


def _git_names(rest: str) -> Iterator[str]:
    """Yield the two names of a `diff --git` line where they can be distinguished."""
    half = len(rest) // 2
    if rest.startswith("a/") and rest[half:].startswith(" b/") and rest[2:half] == rest[half + 3 :]:
        yield rest[2:half]
    elif rest.startswith("a/") and rest.count(" b/") == 1:
        old, _, new = rest.partition(" b/")
        yield from (old[2:], new)
