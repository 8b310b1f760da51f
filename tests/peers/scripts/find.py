"""The language of `find`: random expressions, wider than what permitry reads, for two implementations."""

import random

from tests.peers.scripts.language import Call, Effect, Grow, Language

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
EVERYWHERE = (". -exec id ;", ". -exec touch {} +", "in -exec touch made ;")
GNU = (". -delete", ". -fprint made", ". -fls made", ". -execdir touch made ;")


def _call(grow: Grow, chance: random.Random) -> Call:
    return ("find", *grow(chance, "words").split(" "))


FIND = Language(
    "find",
    PROGRAMS,
    GRAMMAR,
    risk=0.05,
    call=_call,
    effects=(
        *(Effect(tuple(text.split()), tuple(PROGRAMS)) for text in EVERYWHERE),
        *(Effect(tuple(text.split()), ("find",)) for text in GNU),
    ),
    harmless=(".",),
)
