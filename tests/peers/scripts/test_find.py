"""The reader of `find` against two implementations: an expression called reading must only read.

Expressions come from a grammar of the language, wider than ours, and are then mutated.
"""

import random
import sys
from collections.abc import Callable, Mapping
from typing import Protocol

import pytest

PROGRAMS = {"find": ("/usr/bin/find",), "busybox": ("/usr/bin/busybox", "find")}
GRAMMAR = r"""
words: «expr» ¦ «start» «expr» ¦ «start» «start» «expr» ¦ «global» «start» «expr»
start: . ¦ . ¦ d ¦ in ¦ ./-d
start!: -d ¦ -- ¦ nowhere ¦ /dev/null ¦ «value»
global: -H ¦ -L ¦ -P
global!: -O2 ¦ -D exec ¦ -X ¦ -E ¦ -f d ¦ -s ¦ -x
expr: «part» ¦ «part» ¦ «part» «part» ¦ «part» «and» «part» ¦ «part» «part» «expr»
expr: «part» «and» «expr»
and: -o ¦ -a ¦ , ¦ -or ¦ -and
part: «test» ¦ «test» ¦ «test» ¦ «plain» ¦ «plain» ¦ ! «test» ¦ -not «plain» ¦ ( «expr» )
part!: «effect» ¦ «effect» ¦ ! «effect» ¦ ( «effect» )
plain: -print ¦ -print0 ¦ -ls ¦ -prune ¦ -quit ¦ -empty ¦ -readable ¦ -writable ¦ -executable
plain: -depth ¦ -d
plain: -true ¦ -false ¦ -mount ¦ -xdev ¦ -follow ¦ -daystart ¦ -nouser ¦ -noleaf ¦ -warn ¦ -nowarn
test: -name «glob» ¦ -iname «glob» ¦ -path «glob» ¦ -ipath «glob» ¦ -wholename «glob»
test: -lname «glob»
test: -type «type» ¦ -type «type» ¦ -xtype «type» ¦ -mtime «number» ¦ -mmin «number»
test: -size «number»
test: -links «number» ¦ -inum «number» ¦ -used «number» ¦ -maxdepth 1 ¦ -mindepth 1 ¦ -uid 0
test: -gid «number»
test: -user «user» ¦ -group «user» ¦ -newer «file» ¦ -anewer «file» ¦ -samefile «file»
test: -newermm «file»
test: -newermt «date» ¦ -newerct «date» ¦ -regex .* ¦ -regextype posix-extended ¦ -fstype ext4
test: -context x
test: -perm «mode» ¦ -perm «mode» ¦ -printf «format»
test!: «name» «value» ¦ «name» ¦ «name» «effect»
name: -name ¦ -type ¦ -mtime ¦ -size ¦ -perm ¦ -user ¦ -newer ¦ -printf ¦ -regex ¦ -maxdepth
name: -fstype ¦ -used
value: -delete ¦ -exec ¦ -d ¦ -1 ¦ -fprint ¦ -ok ¦ x ¦ -u+x ¦ -fls
glob: in ¦ * ¦ *.py ¦ [a-z]* ¦ ?n
type: f ¦ d ¦ l ¦ f,d
number: 1 ¦ +1 ¦ -1 ¦ 0 ¦ -1k
user: root ¦ nobody ¦ 0
file: in ¦ in2 ¦ d
date: 2020-01-01 ¦ yesterday ¦ -1day
mode: 644 ¦ -u+x ¦ /222 ¦ -644 ¦ u=rw ¦ -g=w
format: %p\n ¦ %s/%f ¦ x ¦ \c ¦ % ¦ %T@
effect: -delete ¦ -exec touch made ; ¦ -exec rm {} + ¦ -execdir id ; ¦ -ok id ; ¦ -okdir id ;
effect: -fprint made ¦ -fprint0 made ¦ -fprintf made %p ¦ -fls made ¦ -files0-from list ¦ -printx
effect: -exec sh -c :>made ; ¦ -execdir touch {}x + ¦ -exec touch made {} +
piece: ␣-delete␣ ¦ ␣-exec␣ ¦ ␣-fprint␣ ¦ ␣made␣ ¦ ␣-name␣ ¦ ␣-o␣ ¦ ␣(␣ ¦ ␣)␣ ¦ ␣!␣ ¦ ␣,␣ ¦ ␣-not␣
piece: ␣;␣ ¦ ␣{}␣
piece: ␣+␣ ¦ ␣-␣ ¦ ␣--␣ ¦ ␣-1␣ ¦ ␣x␣ ¦ ␣-size␣ ¦ ␣-perm␣ ¦ ␣-newer␣ ¦ ␣-fls␣ ¦ ␣-ok␣ ¦ - ¦ D ¦ \ ¦ =
piece: 0 ¦ ␣
piece: ␣«effect»␣ ¦ ␣«test»␣ ¦ ␣«name»␣ ¦ ␣«value»␣
"""

Call = tuple[str, ...]
Fuzz = Callable[[Mapping[str, Call], Callable[[random.Random], Call], int], tuple[int, int]]
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
def compare(fuzz: Fuzz, grammar: Grammar) -> Callable[[int], tuple[int, int]]:
    """Return a function that compares so many expressions."""
    language = grammar(GRAMMAR, risk=0.05)

    def call(chance: random.Random) -> Call:
        return ("find", *language.mutated(chance, "words").split(" "))

    return lambda count: fuzz(PROGRAMS, call, count)


def test_an_expression_that_reads_only_reads(compare: Callable[[int], tuple[int, int]]) -> None:
    """A thousand expressions, and enough of them called reading and not, or nothing is compared."""
    reading, _ = compare(1000)
    assert 250 < reading < 750


@pytest.mark.large
def test_twenty_thousand_expressions(compare: Callable[[int], tuple[int, int]]) -> None:
    """The same, twenty times as long."""
    reading, runs = compare(20_000)
    sys.stdout.write(f"find: {reading} of 20000 called reading, {runs} runs\n")


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("words", [". -exec id ;", ". -exec touch {} +", "in -exec touch made ;"])
def test_the_sandbox_sees_what_is_run(is_seen: IsSeen, name: str, words: str) -> None:
    """The comparison is worth something only if an effect is noticed."""
    assert is_seen((*PROGRAMS[name], *words.split()))
    assert not is_seen((*PROGRAMS[name], "."))


@pytest.mark.parametrize("words", ["-delete", "-fprint made", "-fls made", "-execdir touch made ;"])
def test_the_sandbox_sees_what_is_written(is_seen: IsSeen, words: str) -> None:
    """Of GNU `find`, which has actions for that."""
    assert is_seen((*PROGRAMS["find"], ".", *words.split()))
