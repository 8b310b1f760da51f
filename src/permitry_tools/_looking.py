"""Looking through the workspace: files by pattern, within bounds, and with a note about what was left out."""

import itertools
from collections.abc import Iterable, Iterator

import attrs

from permitry.port import Pattern, ToolError, current_cancellation, expand
from permitry_tools._reading import MOST_BYTES
from permitry_tools.workspace import Workspace

__all__ = ["LONGEST_GLOB", "LONGEST_LOOK", "Look"]

LONGEST_GLOB = 256
LONGEST_LOOK = 60.0
_MOST_SEEN = 50_000
_MOST_READ = 256 * 1024 * 1024
_MOST_PATTERNS = 64
_ANY_FOLDERS = "**/"


@attrs.define
class Look:
    """One walk through the files of a workspace whose path or name fits `glob`; an empty one fits all.

    `*` crosses folders, `**/` matches any folders or none, and `{a,b}` either. At most 50,000 files are looked
    at and 256 MiB read.
    """

    workspace: Workspace
    glob: str = ""
    _seen: int = attrs.field(default=0, init=False)
    _read: int = attrs.field(default=0, init=False)
    _skipped: int = attrs.field(default=0, init=False)
    _is_cut: bool = attrs.field(default=False, init=False)

    def names(self) -> Iterator[str]:
        """Yield the paths of the files that fit, relative to the root, sorted within each folder."""
        patterns = [Pattern(text) for text in _patterns(self.glob or "*")]
        for path in self.workspace.files():
            if self._seen >= _MOST_SEEN or self._read >= _MOST_READ:
                self._is_cut = True
                return
            self._seen += 1
            if _fits(path, patterns):
                yield path

    def text(self, path: str) -> str | None:
        """Return the text of a file, or None where it is binary, larger than 4 MiB, or cannot be read."""
        try:
            data = self.workspace.read(path, MOST_BYTES + 1)
        except ToolError:
            data = b"\0"
        self._read += len(data)
        if len(data) > MOST_BYTES or b"\0" in data:
            self._skipped += 1
            return None
        return data.decode(errors="replace")

    def notes(self) -> list[str]:
        """Return a line for everything that was left out on the way."""
        skipped = f"...[skipped {self._skipped} files: binary, over 4 MiB, or not readable]..."
        cut = f"...[only the first {self._seen} files were looked at]..."
        return [*[skipped] * (self._skipped > 0), *[cut] * self._is_cut]


def _fits(path: str, patterns: Iterable[Pattern]) -> bool:
    name, cancellation = path.rsplit("/", 1)[-1], current_cancellation()
    for each in patterns:
        if cancellation.is_cancelled:
            raise ToolError("The call was cancelled.")
        if each.matches(path) or each.matches(name):
            return True
    return False


def _patterns(glob: str) -> list[str]:
    """Return the plain patterns a glob expands to, or some of them and itself where they are too many."""
    texts, are_all = expand(glob, _MOST_PATTERNS)
    return [each for text in (*texts, *[glob] * (not are_all)) for each in _without_folders(text)]


def _without_folders(text: str) -> Iterator[str]:
    """Yield a pattern with each of its first `**/` as it is, and left out."""
    pieces = text.split(_ANY_FOLDERS, 3)
    for joints in itertools.product((_ANY_FOLDERS, ""), repeat=len(pieces) - 1):
        yield pieces[0] + "".join(joint + piece for joint, piece in zip(joints, pieces[1:], strict=True))
