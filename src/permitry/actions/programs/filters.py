"""Names that a program expands by itself: pathspecs of `git`, and the filters of programs that search.

The shell does not see these patterns, so the program does with them what it likes; and unlike those of a shell, their
wildcards stand for a dot and for a slash as well.
"""

from collections.abc import Iterator, Sequence

import attrs

from permitry.core.action import Word

__all__ = ["expanded_by_program"]

_FILTERS = {
    "ack": ("--include",),
    "ag": ("-G", "--file-search-regex"),
    "egrep": ("--include",),
    "fgrep": ("--include",),
    "grep": ("--include",),
    "rg": ("-g", "--glob", "--iglob"),
    "ripgrep": ("-g", "--glob", "--iglob"),
}
_SEARCHING = frozenset({"archive", "grep"})
_HERE = Word(".")


def expanded_by_program(words: Sequence[Word]) -> Iterator[tuple[Word, bool]]:
    """Yield the paths that such words may stand for, and whether what lies below them is touched as well."""
    name = words[0].text.rpartition("/")[2]
    if name == "git":
        yield from _of_git(words[1:])
    for option in _FILTERS.get(name, ()):
        for pattern in _values(words, option):
            yield from _anywhere(pattern)


def _of_git(words: Sequence[Word]) -> Iterator[tuple[Word, bool]]:
    for word in words:
        text = word.text
        if text.startswith(":"):
            magic, bracket, rest = text[1:].partition(")")
            text = rest if magic.startswith("(") and bracket else text[1:].lstrip("/!^")
            yield (attrs.evolve(word, text=text), True) if text else (_HERE, True)
            if "!" in word.text or "^" in word.text or "exclude" in magic:
                yield _HERE, True
        if not _is_plain(text):
            yield from _anywhere(attrs.evolve(word, text=text))
    if any(word.text in _SEARCHING for word in words[:3]):
        yield _HERE, True


def _values(words: Sequence[Word], option: str) -> Iterator[Word]:
    for at, word in enumerate(words):
        if word.text == option:
            yield from words[at + 1 : at + 2]
        elif word.text.startswith(f"{option}="):
            yield attrs.evolve(word, text=word.text.removeprefix(f"{option}="))
        elif len(option) == 2 and word.text.startswith(option):  # noqa: PLR2004 -- a hyphen and a letter
            yield attrs.evolve(word, text=word.text[2:])


def _anywhere(word: Word) -> Iterator[tuple[Word, bool]]:
    """Yield a pattern as one that may stand at any depth, and for names that begin with a dot."""
    names = [f"[*]{name}" if name.startswith(("*", "?")) else name for name in word.text.lstrip("!/").split("/")]
    yield Word("/".join(("**", *names)), is_glob=True), False


def _is_plain(text: str) -> bool:
    return not any(char in text for char in "*?[")
