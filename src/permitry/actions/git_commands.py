"""The commands of `git` of which git itself can tell beforehand which files they change."""

from collections.abc import Iterator, Sequence

import attrs

from permitry.actions.programs.catalogue import record_of
from permitry.core.action import Run, Word

__all__ = ["GitCommand", "git_command"]

_COMMANDS = {
    "checkout": frozenset({"-q", "--quiet"}),
    "restore": frozenset({"-q", "--quiet", "-W", "--worktree"}),
    "clean": frozenset({"-f", "--force", "-q", "--quiet", "-d", "-x", "-X"}),
}
"""By sub-command, the options that are known here."""

_FORCE = ("-f", "--force")
_MAGIC = frozenset("*?[\\")


@attrs.frozen
class GitCommand:
    """A command that brings files back from the index, or removes untracked ones.

    `folder` is the one that it runs in, `options` are all of its own, each letter alone, and `paths` lead to places
    below the folder, without wildcards; empty for the folder itself.
    """

    name: str
    folder: str
    options: tuple[str, ...]
    paths: tuple[str, ...]


def git_command(run: Run) -> GitCommand | None:
    """Return the command that a program is, None for any other, and for one of which a part is not certain."""
    texts = run.argv
    name = texts[1] if texts[0] == "git" and len(texts) > 1 else ""
    known = _COMMANDS.get(name)
    if known is None or not _is_usual(run, name):
        return None
    options, words, behind = _part(texts[2:])
    folder, paths = _folder_of(run), (*words, *behind)
    # Before the dashes, `checkout` takes a word for a branch.
    if folder is None or (name == "checkout" and words) or not (paths or name == "clean"):
        return None
    # With `-f` twice, repositories within this one are removed as well.
    is_known = known.issuperset(options) and sum(option in _FORCE for option in options) <= 1
    if is_known and all(map(_is_below, paths)):
        return GitCommand(name, folder, options, paths)
    return None


def _is_usual(run: Run, name: str) -> bool:
    """Return whether all that a sub-command does besides reading is what it does always, and each word is known."""
    is_alone = run.doubt == f"`git {name}` {record_of('git').commands[name].reason}"
    return is_alone and not (run.sets or run.within) and all(map(_is_plain, run.words))


def _is_plain(word: Word) -> bool:
    return not (word.is_open or word.is_glob or word.is_home)


def _part(texts: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the options, and the operands before and behind `--`."""
    at = texts.index("--") if "--" in texts else len(texts)
    options = tuple(option for text in texts[:at] if text.startswith("-") for option in _letters(text))
    return options, tuple(text for text in texts[:at] if not text.startswith("-")), tuple(texts[at + 1 :])


def _letters(text: str) -> Iterator[str]:
    if text.startswith("--"):
        yield text
    else:
        yield from (f"-{letter}" for letter in text[1:] or "-")


def _folder_of(run: Run) -> str | None:
    """Return the folder in which a program runs; None where none of its operands says so with certainty."""
    for touch in run.operands.touches:
        place, parts = touch.place, _parts(touch.place.text)
        if place.is_certain and len(place.lexical) == 1 and _is_below(place.text):
            if parts:
                return place.lexical[0].removesuffix("/" + "/".join(parts)) or "/"
            return place.lexical[0]
    return None


def _is_below(path: str) -> bool:
    """Return whether a text leads to a place below a folder, for git as for the system."""
    parts = _parts(path)
    is_special = path.startswith(("/", ":")) or ".." in parts or not _MAGIC.isdisjoint(path)
    return bool(path) and not is_special and not any(part.lower() == ".git" for part in parts)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]
