"""The reader of `sed` against two implementations: a script called reading must only read.

Scripts come from a grammar of the language, wider than ours, and are then mutated.
"""

import random
import sys
from collections.abc import Callable, Mapping
from typing import Protocol

import pytest

PROGRAMS = {"sed": ("/usr/bin/sed",), "busybox": ("/usr/bin/busybox", "sed")}
GRAMMAR = r"""
script: «line» ¦ «line»«end»«line» ¦ «line»«end»«line»«end»«line» ¦ «line»«end»«script»
end: ; ¦ ␤ ¦ ␣;␣ ¦ ;␤ ¦ ␤# note␤ ¦ ;;
end!: ␣ ¦ # ¦ \␤ ¦ }
line: «s»«command»«s» ¦ «address»«s»«command» ¦ «address»!«command» ¦ «address»,«to»«s»«command»
line: «address»{«line»;«line»} ¦ {«line»«end»«line»␤} ¦ «address»!{«command»}
s:  ¦ ¦ ␣ ¦ ␉
address: 1 ¦ 2 ¦ $ ¦ 3 ¦ /«regex»/ ¦ /«regex»/ ¦ \,«regex»,
address!: 0 ¦ 0~2 ¦ 1~1 ¦ /«regex»/I ¦ /«odd»/ ¦ \a«regex»a ¦ \w«regex»w ¦ 1,2 ¦ /x/M ¦ $! ¦ first
to: $ ¦ 2 ¦ +1 ¦ /«regex»/ ¦ «address»
command: «plain» ¦ «plain» ¦ «plain» ¦ s«subst»«flags» ¦ s«subst»«flags» ¦ s«subst» ¦ «jump»
command: y/abc/xyz/ ¦ y,/,|, ¦ y/a\/b/123/ ¦ y/a/\n/ ¦ q
command!: «effect»
plain: p ¦ d ¦ n ¦ N ¦ g ¦ G ¦ h ¦ H ¦ x ¦ D ¦ P ¦ =
plain!: q1 ¦ q 1 ¦ z ¦ F ¦ Q ¦ Q5 ¦ l ¦ l 3
jump: b ¦ t ¦ :a;N;ba ¦ :a␤n␤ba ¦ b b1␤:b1
jump!: T ¦ ba ¦ t end ¦ :a ¦ : b1
subst: /«regex»/«text»/ ¦ /«regex»/«text»/ ¦ |«regex»|«text»| ¦ #«regex»#«text»# ¦ ,«regex»,«text»,
subst: :«regex»:«text»: ¦ @«regex»@«text»@ ¦ !«regex»!«text»!
subst!: /«odd»/«text»/ ¦ /«regex»/«strange»/ ¦ x«regex»x«text»x ¦ ;«regex»;«text»;
subst!: w«regex»w«text»w
subst!: e«regex»e«text»e ¦ \«regex»\«text»\ ¦ a«odd»a«text»a ¦ [«regex»[«text»[
regex: a ¦ ^ ¦ [a-z]* ¦ [^,]* ¦ [[:alpha:]] ¦ a\{1\} ¦ \(a\) ¦ ¦ \/ ¦ []a] ¦ [^]] ¦ \n ¦ . ¦ b$
regex: \. ¦ w made
odd: [/] ¦ [^/] ¦ []/] ¦ [\n] ¦ [ ¦ \[ ¦ [[.a.]] ¦ \cA ¦ \ ¦ \x61 ¦ \d097 ¦ [[:alpha:]/] ¦ [\]]
odd: \c\ ¦ [\] ¦ \x2f
text: x ¦ ¦ & ¦ \1 ¦ \n ¦ w made ¦ \& ¦ touch made ¦ \U& ¦ \/ ¦ }
strange: a\␤b ¦ [ ¦ ]/ ¦ \x26 ¦ \cA ¦ \ ¦ [/] ¦ \x2f ¦ \o57
flags:  ¦ g ¦ p ¦ 2 ¦ gp ¦ I ¦ gI ¦ 3g
flags!: m ¦ e ¦ ge ¦ w made ¦ gw made ¦ pe ¦ ew made ¦ gg ¦ 0
effect: w «file» ¦ w«file» ¦ W «file» ¦ r «file» ¦ R«file» ¦ e ¦ e touch made ¦ e id␤ ¦ 1!e
effect: s«subst»w «file» ¦ s«subst»e ¦ s«subst»ge ¦ s«subst»gpw«file» ¦ a text ¦ a\␤text ¦ i\
effect: a w made
effect: c\␤text\␤w made ¦ i text\ ¦ v ¦ v 4.2 ¦ b«label» ¦ :«label» ¦ }«label» ¦ a\text
effect: b «label»;w made
file: made ¦ made ¦ in ¦ /dev/stdout ¦ made;p ¦ made␣}
label: a b ¦ a} ¦ a;p ¦ ¦ a;w made ¦ a␤w made ¦ a#w made
piece: w made ¦ w made␤ ¦ e ¦ e touch made ¦ r in ¦ / ¦ s/ ¦ s ¦ } ¦ { ¦ ; ¦ ␤ ¦ \ ¦ \␤ ¦ # ¦ #n␤
piece: ! ¦ , ¦ $ ¦ 1
piece: 1,2 ¦ ~ ¦ ~2 ¦ /w made ¦ /e ¦ /ge ¦ /gw made ¦ I ¦ M ¦ a\␤ ¦ a␣ ¦ i\ ¦ c\ ¦ y/ ¦ b ¦ t ¦ :a
piece: ␣ ¦ ␉ ¦ [ ¦ ] ¦ q
piece: l ¦ W made ¦ R in ¦ p ¦ v ¦ 0,/x/ ¦ s/a/b/w made ¦ 1e id ¦ é ¦ m ¦ F; ¦ z; ¦ «odd» ¦ «effect»
piece: «line»
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
    """Return a function that compares so many scripts."""
    language = grammar(GRAMMAR, risk=0.05)
    options = ("",) * 20 + ("-n",) * 9 + ("-E", "-r -n", "-nE", "-s", "-u", "-z", "--posix", "-i")

    def call(chance: random.Random) -> Call:
        first, second = (language.mutated(chance, "script") for _ in range(2))
        words = chance.choice(
            (
                (first, "in"),
                (first, "in"),
                (first, "in", "in2"),
                ("-e", first, "in"),
                ("-e", first, "in", "in2"),
                ("-e", first, "-e", second, "in"),
                (f"-e{first}", "in", "in2"),
                (f"--expression={first}", "in"),
                ("--", first, "in"),
                (first, "-e", second, "in"),
                (first, "in", "-n"),
            )
        )
        return ("sed", *chance.choice(options).split(), *words)

    return lambda count: fuzz(PROGRAMS, call, count)


def test_a_script_that_reads_only_reads(compare: Callable[[int], tuple[int, int]]) -> None:
    """A thousand scripts, and enough of them called reading and not, or nothing is compared."""
    reading, _ = compare(1000)
    assert 250 < reading < 750


@pytest.mark.large
def test_twenty_thousand_scripts(compare: Callable[[int], tuple[int, int]]) -> None:
    """The same, twenty times as long."""
    reading, runs = compare(20_000)
    sys.stdout.write(f"sed: {reading} of 20000 called reading, {runs} runs\n")


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("text", ["w made", "s/a/b/w made", "1{w made\n}", "p;w made"])
def test_the_sandbox_sees_effects(is_seen: IsSeen, name: str, text: str) -> None:
    """The comparison is worth something only if an effect is noticed."""
    assert is_seen((*PROGRAMS[name], text, "in"))
    assert not is_seen((*PROGRAMS[name], "p", "in"))


@pytest.mark.parametrize("text", ["1e id", "s/.*/id/e", "e touch made"])
def test_the_sandbox_sees_what_a_script_runs(is_seen: IsSeen, text: str) -> None:
    """Of GNU `sed`, which runs commands."""
    assert is_seen((*PROGRAMS["sed"], text, "in"))
