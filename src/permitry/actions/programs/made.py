"""Programs that a text itself makes, copies or renames before it may run them: their names say nothing of what they do.

Any file counts that a command of the text may write, wherever in the text that is: `cp git x; ./x push`.
"""

import fnmatch
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence

import attrs

from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.inner import has_letter, program_of
from permitry.actions.programs.sources import sources_of
from permitry.actions.programs.spelling import has_option
from permitry.core.action import Access, Action, Run, Touch, Word

__all__ = ["run_of_made"]

_SYSTEM = ("/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/")
"""Folders in which a file is only made under a name that is known."""
_PLAIN = re.compile(r"(?:[\w.,@%+~:=][\w.,@%+~:=-]*)?")


@attrs.define
class _Made:
    """The names that were made, the paths with a folder, and the folders; `is_any`: some name is not known."""

    names: set[str] = attrs.field(factory=set)
    paths: set[str] = attrs.field(factory=set)
    folders: set[str] = attrs.field(factory=set)
    is_any: bool = False

    def add(self, text: str, *, is_open: bool) -> None:
        path = text.partition("=")[2] or text
        self.is_any = self.is_any or is_open
        name = posixpath.basename(path)
        if not is_open:
            self.names.add(name)
            self.paths.update([name] if "/" in path else [])

    def add_operands(self, words: Sequence[Word]) -> None:
        """Add what a program makes under the names of its operands."""
        makes = record_of(program_of(words)).makes
        if _edits(words):
            makes = "named"
        self.is_any = self.is_any or _renames(words)
        self.folders.update(_find_folders(words))
        for word in words[1:] if makes in ("copies", "named", "downloads") else ():
            is_known = not (word.is_open or word.is_glob)
            # `chmod` makes no other name: a pattern is one for files that are there.
            if is_known or makes == "copies":
                self.add(word.text, is_open=not is_known)

    def has(self, program: str, *, in_path: bool) -> bool:
        """Return whether a program may be one of these; without a folder it must be in one of the folders of PATH."""
        *above, name = posixpath.normpath(program).split("/")
        if "/" in program:
            if not program.startswith("/"):
                above.append(".")
            is_in_folder = not self.folders.isdisjoint(above)
            return name in self.names or is_in_folder or (self.is_any and not program.startswith(_SYSTEM))
        return name in (self.names if in_path else self.paths)


def run_of_made(actions: Iterable[Action]) -> Run | None:
    """Return a command that may run a file which another one of these makes; None if there is none."""
    made, runs = _Made(), []
    for action in actions:
        if isinstance(action, Touch) and action.access is Access.WRITE:
            made.add(action.place.text, is_open=action.place.is_open)
        elif isinstance(action, Run):
            runs.append(action)
            made.add_operands(action.words)
    odd = [(by, name) for by in runs for name in _names_of(by) if not _PLAIN.fullmatch(name)]
    return next((run for run in runs if _is_made(run, made) or _takes_odd(run, odd)), None)


def _names_of(run: Run) -> Iterator[str]:
    """Yield the names among the operands of a program that makes files."""
    if record_of(program_of(run.words)).makes in ("copies", "named", "empty"):
        texts = [word.text for word in run.words[1:] if not (word.is_open or word.is_glob)]
        end = texts.index("--") if "--" in texts else len(texts)
        yield from (posixpath.basename(text) for text in texts[:end] if not text.startswith("-"))
        yield from map(posixpath.basename, texts[end + 1 :])


def _takes_odd(run: Run, odd: Sequence[tuple[Run, str]]) -> bool:
    """Return whether it may get a name that is more to a program: `touch -- '-e1e git push'; sed -n p *`."""
    globs = [word.text for word in run.words[1:] if word.is_glob and "/" not in word.text]
    # Names that are printed for `xargs` are those of files as well.
    globs += ["*"] if "xargs" in run.within else []
    return not record_of(program_of(run.words)).runs_nothing and any(
        fnmatch.fnmatchcase(name, glob) for glob in globs for by, name in odd if by is not run
    )


def _renames(words: Sequence[Word]) -> bool:
    """Return whether a program makes files under names that its words do not say."""
    options = record_of(program_of(words)).renames
    return "*" in options or any(has_option(word, options) for word in words[1:])


def _edits(words: Sequence[Word]) -> bool:
    """Return whether an option has a program change files under their names, as `sed -i` does."""
    record = record_of(program_of(words))
    editing = (each.when for each in record.shapes if any("read/replace" in role for role in each.operands))
    return not record.makes and any(has_option(word, options) for options in editing for word in words[1:])


def _find_folders(words: Sequence[Word]) -> Iterator[str]:
    """Yield the names of folders that a program may make with files in them, or lead elsewhere by a link."""
    record = record_of(program_of(words))
    used = [each for each in record.shapes if not each.when or any(has_option(word, each.when) for word in words[1:])]
    options = record.fills.union(*(each.trees for each in used))
    is_tree = "*" in options or any(has_option(word, options) for word in words[1:])
    if record.makes == "copies" and (is_tree or any("link" in role for each in used for role in each.operands)):
        texts = [word.text for word in words[1:] if not word.text.startswith("-")]
        # What is in a folder goes into this one: `cp -r a/. .`.
        has_content = any(text.endswith(("/", "/.")) for text in texts)
        names = (posixpath.basename(posixpath.normpath(text)) for text in texts)
        yield from (name for name in names if has_content or name != ".")


def _is_made(run: Run, made: _Made) -> bool:
    program, *operands = run.words
    in_path = any(each.startswith("PATH=") for each in run.sets)
    name = program_of(run.words)
    files = [word for word in operands if word.text != "--"] if record_of(name).input == "source" else []
    if record_of(name).shell and not any(has_letter(word, "c") for word in operands):
        files = [word for word in operands if word.text[:1] not in ("-", "+")]
    return made.has(program.text, in_path=in_path) or any(
        made.has(f"./{word.text}", in_path=True) for word in (*files[:1], *sources_of(run.words))
    )
