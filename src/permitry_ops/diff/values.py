"""Values of an argument: for tests of it, one of each kind that they tell apart."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from permitry.conditions.args import ArgumentTest
from permitry.core.pattern import Pattern
from permitry_ops.diff.language import (
    ANYTHING,
    Alternatives,
    Chars,
    Expression,
    Language,
    Repeat,
    TooLargeError,
    glob,
    shortest,
)
from permitry_ops.diff.regex import UnreadError, read_regex

__all__ = ["ABSENT", "candidates"]

ABSENT = object()
"""In place of an argument that is left out."""
_MOST_LANGUAGES = 6
_LONGEST = 300
_LISTED = ("any", "all", "each")
_ORDERS = ("lt", "le", "gt", "ge")
_OTHERS: tuple[Any, ...] = (True, False, 1, 1.5, -1, 1e308, -1e308, "", [], None, {}, ABSENT, ["value"])


def candidates(tests: Sequence[ArgumentTest]) -> tuple[list[Any], bool]:
    """Return values, likely ones first, and whether every other value fares as one of them does."""
    checks = list(itertools.chain.from_iterable(map(_checks, tests)))
    languages, is_all = _languages(checks)
    texts, every = _texts(languages)
    numbers = sorted({number for name, operand in checks for number in _numbers(operand)})
    is_all = is_all and every and not any(name in ("sql", *_LISTED) for name, _ in checks)
    written = [text for name, operand in checks for text in _written(operand)]
    written += ["select 1" for name, _ in checks if name == "sql"]
    texts = list(dict.fromkeys(text for text in texts if text)) or ["value"]
    lists = [list(operand) for name, operand in checks if _is_list(name, operand)]
    found: list[Any] = [*lists, *filter(None, written), *_around(numbers), *texts]
    if any(name in ("length", *_LISTED) for name, _ in checks):
        is_all = False
        found += _lists(texts, numbers)
    return [*found, *_OTHERS], is_all


def _checks(test: ArgumentTest) -> Iterator[tuple[str, Any]]:
    """Yield the operators and operands of a test, those of its elements and lengths included."""
    for check in test.checks:
        yield check.name, check.operand
        if isinstance(check.operand, ArgumentTest):
            yield from _checks(check.operand)


def _languages(checks: Iterable[tuple[str, Any]]) -> tuple[list[Language], bool]:
    """Return the different languages of texts in some checks, and whether these are all."""
    found: dict[Expression, None] = {}
    is_all = True
    for name, operand in checks:
        try:
            expression = _expression(name, operand)
        except (UnreadError, TooLargeError):
            is_all = False
            continue
        if expression is not None:
            found[expression] = None
        is_all = is_all and not (name in _ORDERS and isinstance(operand, str)) and not _is_list(name, operand)
    return list(map(Language, found)), is_all


def _expression(name: str, operand: Any) -> "Expression | None":  # noqa: ANN401 -- whatever an operator compares with
    if name == "regex":
        return read_regex(str(operand))
    if name == "length":
        return Alternatives(tuple(_of_length(*each) for each in _bounds(operand)))
    texts = [each for each in (operand if isinstance(operand, tuple) else (operand,)) if isinstance(each, str)]
    make = _OF_TEXTS.get(name)
    return Alternatives(tuple(map(make, texts))) if texts and make is not None else None


_OF_TEXTS: Mapping[str, Callable[[str], Expression]] = {
    **dict.fromkeys(("eq", "ne", "in", "not_in"), str),
    "prefix": lambda text: (text, ANYTHING),
    "suffix": lambda text: (ANYTHING, text),
    "contains": lambda text: (ANYTHING, text, ANYTHING),
    "glob": lambda text: glob(Pattern(text)),
}


def _is_list(name: str, operand: object) -> bool:
    """Return whether an operator compares with a list as a whole, or with lists."""
    return isinstance(operand, tuple) and (name in ("eq", "ne") or any(isinstance(each, tuple) for each in operand))


def _bounds(test: ArgumentTest) -> Iterator[tuple[int, int | None]]:
    """Yield the least and the greatest length by each check of a length."""
    for check in test.checks:
        at = int(check.operand)
        if at > _LONGEST:
            raise TooLargeError
        yield {"eq": (at, at), "lt": (0, at - 1), "le": (0, at), "gt": (at + 1, None), "ge": (at, None)}[check.name]


def _of_length(least: int, most: int | None) -> Expression:
    return Repeat(Chars(is_negated=True), least, most) if most is None or most >= least else Alternatives(())


def _texts(languages: Sequence[Language]) -> tuple[list[str], bool]:
    """Return a text of each combination of languages that there is, and whether all were looked at."""
    is_all = len(languages) <= _MOST_LANGUAGES
    signs: Iterable[tuple[bool, ...]] = itertools.product((True, False), repeat=len(languages))
    if not is_all:
        # Each by itself, each without the others, and none.
        alone = [tuple(at == other for other in range(len(languages))) for at in range(len(languages))]
        signs = [*alone, (False,) * len(languages)]
    found: list[str] = []
    for each in signs:
        pairs = list(zip(languages, each, strict=True))
        wanted = [language for language, is_in in pairs if is_in]
        try:
            text = shortest(wanted, [language for language, is_in in pairs if not is_in])
            found += [] if text is None else [text]
            if not is_all and wanted:
                found += filter(None, [shortest(wanted)])
        except TooLargeError:
            is_all = False
    return found, is_all


def _numbers(operand: Any) -> Iterator[float]:  # noqa: ANN401 -- whatever an operator compares with
    for each in operand if isinstance(operand, tuple) else (operand,):
        if isinstance(each, int | float) and not isinstance(each, bool):
            yield each


def _written(operand: Any) -> Iterator[str]:  # noqa: ANN401 -- whatever an operator compares with
    for each in operand if isinstance(operand, tuple) else (operand,):
        if isinstance(each, str):
            yield each


def _around(numbers: Sequence[float]) -> Iterator[float]:
    """Yield each number, those next to it, and what is between two."""
    for each in numbers:
        yield from (each, each - 1, each + 1, each - 0.5, each + 0.5, each // 1, -(-each // 1))
        # Of a large number, those above are the same one.
        yield from (float(each) * 1.5, math.nextafter(each, math.inf), math.nextafter(each, -math.inf))
    yield from ((one + other) / 2 for one, other in itertools.pairwise(numbers))


def _lists(texts: Sequence[str], numbers: Sequence[float]) -> Iterator[list[Any]]:
    """Yield lists of values, of one and two of them, and of lengths around the numbers."""
    yield from ([text] for text in texts)
    yield from ([one, other] for one, other in itertools.product(texts[:4], repeat=2))
    yield from ([number] for number in _around(numbers))
    for number in numbers:
        lengths = {int(number) + more for more in (-1, 0, 1)}
        yield from ([texts[0]] * length for length in sorted(lengths) if 0 <= length <= _LONGEST)
