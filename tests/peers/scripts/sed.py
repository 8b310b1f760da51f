"""The language of `sed`: random scripts, wider than what permitry reads, for two implementations."""

import random

from tests.peers.scripts.language import Call, Effect, Grow, Language, only_reads

from permitry.actions.programs.sed import effects_of_sed
from permitry.actions.programs.sed_script import Effects
from permitry.core.action import Word

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
command: y/abc/xyz/ ¦ y,/,|, ¦ y/a\/b/123/ ¦ y/a/\n/ ¦ q ¦ «block»
command!: «effect»
plain: p ¦ d ¦ n ¦ N ¦ g ¦ G ¦ h ¦ H ¦ x ¦ D ¦ P ¦ =
plain!: q1 ¦ q 1 ¦ z ¦ F ¦ Q ¦ Q5 ¦ l ¦ l 3
block: «verb» «words» ¦ «verb»\␤«words» ¦ «verb»\«words» ¦ «verb»«words» ¦ «verb»\␤«words»\␤«words»
block!: «verb» «words»\␤«words» ¦ «verb» «words»\\␤«line» ¦ «verb»\ ␤«words» ¦ «verb»\␤␤«line» ¦ «verb» \␤«line»
block!: «verb»␤«line» ¦ «verb»\ «words» ¦ «verb»\\␤«line» ¦ «verb» ␤«line» ¦ «verb»\
verb: a ¦ i ¦ c
words: text ¦ w made ¦ } ¦ e touch made ¦ \tx ¦ a\\ ¦ # x ¦ ;w made ¦ \ w made
jump: b ¦ t ¦ :a;N;ba ¦ :a␤n␤ba ¦ b b1␤:b1
jump!: T ¦ ba ¦ t end ¦ :a ¦ : b1
subst: /«regex»/«text»/ ¦ /«regex»/«text»/ ¦ |«regex»|«text»| ¦ #«regex»#«text»# ¦ ,«regex»,«text»,
subst: :«regex»:«text»: ¦ @«regex»@«text»@ ¦ !«regex»!«text»!
subst: x«regex»x«text»x ¦ ;«regex»;«text»; ¦ .«regex».«text». ¦ ␣«regex»␣«text»␣ ¦ /«regex»/a\␤w made/ ¦ #«odd»#b#
subst: n«regex»n«text»n ¦ 1«regex»1«text»1 ¦ }«regex»}«text»} ¦ *«regex»*«text»* ¦ («regex»(«text»(
subst!: /«odd»/«text»/ ¦ /«regex»/«strange»/ ¦ y/«odd»/x/
subst!: w«regex»w«text»w
subst!: e«regex»e«text»e ¦ \«regex»\«text»\ ¦ a«odd»a«text»a ¦ [«regex»[«text»[
regex: a ¦ ^ ¦ [a-z]* ¦ [^,]* ¦ [[:alpha:]] ¦ a\{1\} ¦ \(a\) ¦ ¦ \/ ¦ []a] ¦ [^]] ¦ \n ¦ . ¦ b$
regex: \. ¦ w made
odd: [/] ¦ [^/] ¦ []/] ¦ [\n] ¦ [ ¦ \[ ¦ [[.a.]] ¦ \cA ¦ \ ¦ \x61 ¦ \d097 ¦ [[:alpha:]/] ¦ [\]]
odd: \c\ ¦ [\] ¦ \x2f ¦ [^\]] ¦ [\]#] ¦ [\],] ¦ [^\]a]
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
OPTIONS = ("",) * 20 + ("-n",) * 9 + ("-E", "-r -n", "-nE", "-s", "-u", "-z", "--posix", "-i")
EVERYWHERE = ("w made", "s/a/b/w made", "1{w made\n}", "p;w made")
GNU = ("1e id", "s/.*/id/e", "e touch made")


def _call(grow: Grow, chance: random.Random) -> Call:
    first, second = (grow(chance, "script") for _ in range(2))
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
    return ("sed", *chance.choice(OPTIONS).split(), *words)


def _has_no_effect(call: Call) -> bool:
    """Return whether its scripts only print, to a restriction."""
    return "-i" not in call and effects_of_sed(tuple(map(Word, call[1:]))) in (Effects(), Effects(is_common=False))


SED = Language(
    "sed",
    PROGRAMS,
    GRAMMAR,
    risk=0.05,
    call=_call,
    judges=(only_reads, _has_no_effect),
    effects=(
        *(Effect((text, "in"), tuple(PROGRAMS)) for text in EVERYWHERE),
        *(Effect((text, "in"), ("sed",)) for text in GNU),
    ),
    harmless=("p", "in"),
)
