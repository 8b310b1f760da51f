"""What `find` finds: in which folders, and by which patterns of names. Source: find(1)."""

import itertools
import re
from collections.abc import Iterator, Sequence

from permitry.actions.programs.catalogue import record_of
from permitry.core.words import Found, Word

__all__ = ["has_sign", "names_of_find"]

_HERE = Word(".")
_FOLLOWS = frozenset({"-L", "-follow", "-files0-from", "-D"})
_LEADING = re.compile("-[HP]|-O[0-9]")
_BEGINS = ("-", "(", ")", ",", "!")
_OR = frozenset({"-o", "-or"})
_UNUSUAL = _OR | {"!", "-not", ",", "(", ")"}
_NAMED = frozenset({"-name", "-iname"})
_NO_LINKS = frozenset({("-type", "f"), ("-type", "d")})
_ACTS = ("-print", "-exec", "-ok", "-delete", "-fprint", "-ls", "-fls", "-prune", "-quit")
_RUNS = ("-exec", "-ok")
_LACKING, _END = ("?", ""), (")", "")

_Tests = list[tuple[str, str]]


def _actions_of(words: Sequence[Word]) -> Iterator[int]:
    """Yield the indices of the words of `find` that are actions, or look like one."""
    return (at for at, word in enumerate(words) if at and word.text.startswith(_ACTS))


def names_of_find(words: Sequence[Word], at: int) -> Found | None:
    """Return the names for which `find` takes the action at an index; None where these may be any."""
    leading = itertools.takewhile(lambda word: _LEADING.fullmatch(word.text), words[1:])
    start = 1 + len(list(leading))
    tops = tuple(itertools.takewhile(lambda word: not word.text.startswith(_BEGINS), words[start:]))
    if any(word.is_open or word.may_be_option or has_sign(word) for word in tops):
        return None
    # A pattern of the shell may become several words, and so may an expansion.
    if any(word.text in _FOLLOWS or ((word.is_open or word.is_glob) and word.may_be_option) for word in words):
        return None
    end = min((at, *_actions_of(words)))
    # What was found may be another file behind a command.
    is_changed = any(word.text.startswith(_RUNS) for word in words[end:at])
    tests = _tests(words[start + len(tops) : end])
    if is_changed or not all(name == _LACKING[0] or name.startswith(_BEGINS) for name, _ in tests):
        # An operand behind an option, which another `find` takes for one of its own.
        return None
    found = Found(tops or (_HERE,))
    if not _UNUSUAL.isdisjoint(word.text for word in words[end:at]):
        return found
    ends, tests = _alternatives(tests) if tests[:1] == [("(", "")] else ((), tests)
    if not all(_holds(name) for name, _ in tests):
        return found
    patterns = [value for name, value in tests if name in _NAMED and _is_plain(value)]
    ends = ends or tuple(patterns[:1])
    return Found(found.tops, ends, has_links=_NO_LINKS.isdisjoint(tests))


def has_sign(word: Word) -> bool:
    """Return whether the names below a folder may be more than names to a program: a pair, a machine, a commit."""
    return not {"=", ":"}.isdisjoint(word.text)


def _tests(words: Sequence[Word]) -> _Tests:
    """Return the tests of an expression, each with its value."""
    valued, found, left = record_of("find").options.valued, _Tests(), iter(words)
    for word in left:
        if word.text not in valued:
            found.append((word.text, ""))
            continue
        value = next(left, None)
        found.append(_LACKING if value is None else (word.text, value.text))
    return found


def _holds(name: str) -> bool:
    """Return whether a test must hold for what comes behind it."""
    known = record_of("find").options
    return name in known.valued or (name in known.plain and name not in _UNUSUAL)


def _alternatives(tests: _Tests) -> tuple[tuple[str, ...], _Tests]:
    """Return the patterns of `( -name A -o -name B )`, and the tests behind it; the tests alone for anything else."""
    end = tests.index(_END) if _END in tests else 0
    names, between = tests[1:end:2], tests[2:end:2]
    are_names = all(name in _NAMED and _is_plain(value) for name, value in names)
    are_apart = end % 2 == 0 and all(name in _OR for name, _ in between)
    if end and are_names and are_apart:
        patterns = tuple(value for _, value in names)
        return patterns, tests[end + 1 :]
    return (), tests


def _is_plain(text: str) -> bool:
    """Return whether a pattern means the same in every language: letters of ASCII and `*`. For `?`, a byte may do."""
    return bool(text) and text.isascii() and not set("[\\$`?") & set(text)
