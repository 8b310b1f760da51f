"""The scripts among the arguments of `sed`: whether they only print, which files they name, and what they run."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from permitry.actions.programs.arguments import Parts, is_spread
from permitry.actions.programs.candidates import UNSEEN
from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.entries import RefusedError
from permitry.actions.programs.sed_script import Effects, read_script
from permitry.core.action import Access, Word

__all__ = ["check_sed", "effects_of_sed", "files_of_sed", "with_script"]

_ANYTHING = Effects(((Access.READ, UNSEEN), (Access.WRITE, UNSEEN)), runs_input=True)
_FROM_INPUT = re.compile(r"-|/+dev/(?:stdin|fd/\d+)|/+proc/.*|(?:.*/)?(?:stdin|0)")
_CLUSTER = re.compile(r"-[^efilI]*([efilI])(.*)", re.DOTALL)
_SUFFIX = re.compile(r"(?:\..*)?")
_LONG = {"--expression": "e", "--file": "f", "--line-length": "l"}
_SHORTEST = len("--e")


def check_sed(parts: Parts) -> None:
    """Refuse the arguments of `sed` unless all scripts among them only print."""
    for access, file in files_of_sed(parts):
        raise RefusedError(f"`sed` {access.value}s `{file.text}`")


def files_of_sed(parts: Parts) -> tuple[tuple[Access, Word], ...]:
    """Return the files that the scripts among the arguments of `sed` read and write.

    Raises: `RefusedError` for a script that may do more than read and write files, and print.
    """
    if parts.is_spread:
        raise RefusedError("`sed` with a pattern for a value")
    scripts = [value or Word("") for name, value in parts.found if name in ("-e", "--expression")]
    scripts = scripts or parts.operands[:1]
    if "-i" in parts.names and [word.text for word in scripts] == [""]:
        raise RefusedError("`sed -i` with an empty word, which is a suffix to some")
    if any(map(is_spread, scripts)):
        raise RefusedError("a script of `sed` from a pattern")
    effects = _together(scripts)
    if effects.commands or effects.runs_input:
        raise RefusedError("`sed` runs commands")
    if not effects.is_common:
        raise RefusedError("a script that not every `sed` reads")
    return effects.files


# For restrictions ----------------------------------------------------------------------------------------------------


def effects_of_sed(words: Sequence[Word]) -> Effects:
    """Return what the scripts among the arguments of `sed` may do, wherever its options are.

    A script that cannot be parsed may run and open anything. Script files are not opened.
    """
    given = tuple(_parse(words))
    if any(option == "f" and (word.is_open or _FROM_INPUT.fullmatch(word.text)) for option, word in given):
        return _ANYTHING
    first = [word for option, word in given[:1] if not option]
    if not any(option for option, _ in given):
        return _read(first) or _ANYTHING
    scripts = [word for option, word in given if option == "e"]
    # If an operand comes before the options, GNU sed takes it for a file, and BSD sed for the script.
    return _read((*first, *scripts)) or _read(scripts) or _ANYTHING


def _read(scripts: Sequence[Word]) -> Effects | None:
    try:
        if any(word.is_open for word in scripts):
            return None
        return _together(scripts)
    except RefusedError:
        return None


def with_script(words: tuple[Word, ...], text: str | None) -> tuple[Word, ...]:
    """Return the words of a command; for `sed -f -`, whose script is its input, with `-e text` in place of `-f -`.

    For `awk -f -`, with the text of the program.
    """
    name = words[0].text.rpartition("/")[2] if words else ""
    script = record_of(name).script
    if text is None or script not in ("awk", "sed"):
        return words
    pairs = enumerate(itertools.pairwise(word.text for word in words))
    at = next((at for at, (one, next_) in pairs if one in ("-f", "--file") and _FROM_INPUT.fullmatch(next_)), None)
    option = (Word("-e"),) if script == "sed" else ()
    if at is None:
        return words
    return (*words[:at], *option, Word(text), *words[at + 2 :])


def _parse(words: Sequence[Word]) -> Iterator[tuple[str, Word]]:
    """Yield each script (as `e`), each script file (as `f`), and each operand (as the empty text)."""
    at = 0
    while at < len(words):
        word, following = words[at], words[at + 1 : at + 2]
        at += 1
        if word.text == "--":
            yield from (("", operand) for operand in words[at:])
            return
        if word.is_open or word.text == "-" or not word.text.startswith("-"):
            yield "", word
            continue
        option, value = _option(word.text)
        if not value and any(_is_value(option, each) for each in following):
            value, at = following[0], at + 1
        if option in ("e", "f"):
            yield option, value or Word("")


def _option(text: str) -> tuple[str, Word | None]:
    """Return the letter of an option that takes a value, empty for other words, and the value if it is attached."""
    name, equals, value = text.partition("=")
    if name.startswith("--"):
        letters = (letter for each, letter in _LONG.items() if each.startswith(name) and len(name) >= _SHORTEST)
        return next(letters, ""), Word(value) if equals else None
    match = _CLUSTER.fullmatch(text)
    if match:
        return match[1], Word(match[2]) if match[2] else None
    return "", None


def _is_value(option: str, following: Word) -> bool:
    """Return whether the next word is the value of an option: `-e` or `-f`, `-i` of BSD, or `-l` of GNU."""
    if option in ("i", "I"):
        return not following.is_open and _SUFFIX.fullmatch(following.text) is not None
    return option in ("e", "f") or (option == "l" and following.text.isdigit())


def _together(scripts: Iterable[Word]) -> Effects:
    """Return what several scripts do: `sed` joins them as the lines of one script."""
    return read_script("\n".join(word.text for word in scripts))
