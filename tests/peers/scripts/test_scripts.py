"""The readers of scripts against the programs themselves: what is called reading must only read."""

import random
import sys
from collections.abc import Callable, Mapping
from typing import Protocol

import pytest
from tests.peers.scripts.awk import AWK
from tests.peers.scripts.find import FIND
from tests.peers.scripts.language import Call, Judge, Language
from tests.peers.scripts.sed import SED
from tests.tables import for_each

LANGUAGES = (AWK, FIND, SED)
EFFECTS = [
    pytest.param(language.programs[name], effect.words, id=f"{language.name}-{name}-{number}")
    for language in LANGUAGES
    for number, effect in enumerate(language.effects)
    for name in effect.programs
]
HARMLESS = [
    pytest.param((*program, *language.harmless), id=f"{language.name}-{name}")
    for language in LANGUAGES
    for name, program in language.programs.items()
]
JUDGED = [
    pytest.param(language, judge, id=f"{language.name}-{judge.__name__.strip('_')}")
    for language in LANGUAGES
    for judge in language.judges
]
Fuzz = Callable[[Mapping[str, Call], Callable[[random.Random], Call], int, Judge], tuple[int, int]]
Compare = Callable[[Language, Judge, int], tuple[int, int]]
IsSeen = Callable[[Call], bool]


class Grammar(Protocol):
    """What the grammar of `conftest` offers here."""

    def __call__(self, text: str, risk: float) -> "Grammar":
        """Return a grammar."""
        ...

    def mutated(self, chance: random.Random, symbol: str) -> str:
        """Return a text."""
        ...


@pytest.fixture
def compare(fuzz: Fuzz, grammar: Grammar) -> Compare:
    """Return a function that compares so many scripts of a language that a judge calls harmless."""

    def run(language: Language, judge: Judge, count: int) -> tuple[int, int]:
        grow = grammar(language.grammar, risk=language.risk).mutated
        return fuzz(language.programs, lambda chance: language.call(grow, chance), count, judge)

    return run


@pytest.mark.parametrize(("language", "judge"), JUDGED)
def test_a_script_that_reads_only_reads(compare: Compare, language: Language, judge: Judge) -> None:
    """Many scripts, and enough of them called harmless and not, or nothing is compared."""
    harmless, _ = compare(language, judge, 150)
    assert 30 < harmless < 120


@pytest.mark.large
@pytest.mark.parametrize(("language", "judge"), JUDGED)
def test_twenty_thousand_scripts(compare: Compare, language: Language, judge: Judge) -> None:
    """The same, more than a hundred times as long."""
    harmless, runs = compare(language, judge, 20_000)
    sys.stdout.write(f"{language.name}: {harmless} of 20000 called harmless, {runs} runs\n")


@for_each(("program", "words"), EFFECTS)
def test_the_sandbox_sees_effects(is_seen: IsSeen, program: Call, words: Call) -> None:
    """The comparison is worth something only if an effect is noticed."""
    assert is_seen((*program, *words))


@for_each("call", HARMLESS)
def test_the_sandbox_sees_nothing_else(is_seen: IsSeen, call: Call) -> None:
    """And if nothing is noticed where there is no effect."""
    assert not is_seen(call)
