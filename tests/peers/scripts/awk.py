"""The language of `awk`: random programs, wider than what permitry reads, for four implementations."""

import random

from tests.peers.scripts.language import Call, Effect, Grow, Language

PROGRAMS = {
    "gawk": ("/usr/bin/gawk",),
    "mawk": ("/usr/bin/mawk",),
    "original-awk": ("/usr/bin/original-awk",),
    "busybox": ("/usr/bin/busybox", "awk"),
}
GRAMMAR = r"""
program: «item» ¦ «item» ¦ «item»«break»«item» ¦ «item»«break»«item»«break»«item»
break: ␤ ¦ ; ¦ ␤␤ ¦ ␣# note␤ ¦ ␤ ␤
break!: ␣ ¦ \␤
item: «special»«s»«block» ¦ «special»«s»«block» ¦ «block» ¦ «block» ¦ «expr»«s»«block»
item: «test»«s»«block»
item: «test» ¦ «expr» ¦ «test»,«n»«test» «block» ¦ «def» «f»(«params»)«n»«block»«break»{x = «f»(1)}
special: BEGIN ¦ BEGIN ¦ END ¦ BEGINFILE
def: function ¦ function ¦ func
f: f ¦ g
params:  ¦ x ¦ p, q
s:  ¦ ␣ ¦ ␣ ¦ ␣␉
s!: \␤ ¦ ␤
n:  ¦ ␣ ¦ ␤
block: {«s»} ¦ {«st»} ¦ {«s»«st»;} ¦ {«st»«end»«st»} ¦ {␤«st»«end»«st»«end»«st»␤}
end: ; ¦ ;␣ ¦ ␤ ¦ ; # note␤ ¦ ;;
end!:
st: «simple» ¦ «simple» ¦ «simple» ¦ «simple» ¦ if«s»(«test»)«n»«st» ¦ if («expr»)«s»«st» ¦ «block»
st: if («expr») «st»«end»else «st» ¦ if («test») «block»«n»else«n»«block» ¦ while (w++ < 2) «st»
st: while(w++ < 2 && «expr») «st» ¦ do «st»«end»while (w++ < 2) ¦ do «block» while (w++ < 3)
st: for («var» in «array»)«s»«st» ¦ for («head»;w++ < 2;«head»)«n»«st» ¦ for (;w++ < 2;) «st»
st!: switch (x) { case 1: «simple» } ¦ if («test») «effect» ¦ while(w++ < 1) «effect»
head: ¦ k = 0 ¦ n++ ¦ «expr» ¦ «assign» ¦ print «list» > "made" ¦ print > "made"
head!: «effect» ¦ «simple» ¦ print «expr» > "made"
simple: print ¦ print «list» ¦ print(«list») ¦ print («list») ¦ print «list» ¦ printf "%s", «expr»
simple: printf("%s\n", «expr») ¦ print(«expr») «expr» ¦ print («expr»)(«expr») ¦ «assign» ¦ «assign»
simple: «assign» ¦ «lvalue»++ ¦ --«lvalue» ¦ next ¦ exit ¦ exit «expr» ¦ nextfile ¦ delete «array»
simple: delete «array»[«expr»] ¦ «call»
simple!: «effect» ¦ «effect» ¦ return «expr» ¦ break ¦ getline ¦ x = «expr» > «expr»
assign: «lvalue»«s»«sign»«s»«expr» ¦ «lvalue»«s»=«s»«expr»
sign: = ¦ += ¦ -= ¦ *= ¦ /= ¦ ^= ¦ %= ¦ **=
effect: print «expr» > «target» ¦ print «expr»>«target» ¦ print > «target» ¦ print >> «target»
effect: print(«list») > «target» ¦ printf "%s", «expr»>«target» ¦ print «expr» | «command»
effect: print «expr» |& «command» ¦ system(«command») ¦ system («command») ¦ «command» | getline
effect: «command» | getline x ¦ close(«target») ¦ getline x < «target» ¦ getline < «target»
effect: while ((«command» | getline x) > 0) n++ ¦ f = "system"; @f(«command»)
effect: print «list» > «target»
effect: print > «target» ".x" ¦ fflush(«target») ¦ print «expr» >= «target»
effect: print «expr» || «command»
target: "made" ¦ "made" ¦ "made" x ¦ x ¦ $1 ¦ ("made" x) ¦ "/dev/stderr" ¦ "in"
target: "/inet/tcp/0/127.0.0.1/PORT"
command: "touch made" ¦ "echo x >made" ¦ "id" ¦ x ¦ "cat" ¦ ("touch " "made")
list: «expr» ¦ «expr», «expr» ¦ «expr»,«n»«expr», «expr» ¦ «expr» «expr»
expr: «term» ¦ «term» ¦ «term»«s»«op»«s»«term» ¦ «term»«s»«op»«s»«expr» ¦ «expr» «term» ¦ («expr»)
expr: («expr» > «expr») ¦ «term» ? «expr» : «expr» ¦ «expr» &&«n»«expr» ¦ «expr» ||«n»«expr»
expr: («test»)
expr: («term» in «array») ¦ («term», «term») in «array» ¦ !(«term» in «array») ¦ «term»/«term»
expr!: «expr» > «expr» ¦ «regex» ¦ («expr», «expr») ¦ «term»«s»/«s»«regex» ¦ «regex» «expr»
expr!: «expr»/«expr»/«term»
op: + ¦ - ¦ * ¦ / ¦ / ¦ % ¦ ^ ¦ < ¦ <= ¦ == ¦ != ¦ ~ ¦ !~ ¦ >= ¦ **
test: «regex» ¦ !«regex» ¦ $1 ~ «regex» ¦ «term» !~ «regex» ¦ («regex») ¦ «expr» && «regex»
test: «regex»||«expr»
test: NR == 1 ¦ $1 > 1 ¦ !seen[$0]++ ¦ NR==FNR ¦ length > 2 ¦ «term» == «term»
test: x ? «regex» : «term»
term: «lvalue» ¦ «lvalue» ¦ «number» ¦ «string» ¦ «string» ¦ «call» ¦ («expr») ¦ -«lvalue»
term: !«lvalue»
term: «lvalue»++ ¦ «lvalue»-- ¦ ++«lvalue» ¦ $«lvalue» ¦ $(«expr») ¦ «lvalue»
term!: «regex» ¦ $«regex» ¦ 1e2 ¦ 0x1f ¦ length / 2 ¦ getline ¦ @f(x) ¦ «lvalue»++ /2/ x
lvalue: «var» ¦ «var» ¦ $1 ¦ $0 ¦ $NF ¦ «array»[«expr»] ¦ «array»[«var», «var»] ¦ $«var»
var: x ¦ n ¦ k ¦ p ¦ NF ¦ NR ¦ FS ¦ OFS ¦ RSTART
array: a ¦ b ¦ seen ¦ ENVIRON
number: 0 ¦ 1 ¦ 2 ¦ 10 ¦ .5 ¦ 1. ¦ 3.14
string: "" ¦ "x" ¦ "out" ¦ "a b" ¦ "a\"b" ¦ "\\" ¦ "/" ¦ "> \"made\"" ¦ "%s\n" ¦ "\x22" ¦ "\047"
string: "é"
string: "#" ¦ "{" ¦ ")" ¦ "in" ¦ "touch made" ¦ "\/" ¦ "'"
string!: "\ ¦ "a\␤b" ¦ "a␤b" ¦ "\"
regex: /a/ ¦ /^$/ ¦ /[a-z]+/ ¦ /[^,]/ ¦ /a\/b/ ¦ /[\/]/ ¦ /[[:alpha:]]/ ¦ /[]a]/ ¦ /[^]]/ ¦ /(a|b)*/
regex: /\[/ ¦ />/ ¦ /"/ ¦ /#/ ¦ /\\/ ¦ /{/ ¦ /x{2}/ ¦ // ¦ /]/ ¦ /\./ ¦ /é/ ¦ /[>"]/ ¦ /a;b/
regex!: /[/]/ ¦ /[^/]/ ¦ /=/ ¦ /[[]/ ¦ /[[:alpha:]/]/ ¦ /[\]]/ ¦ /[a/ ¦ /[[.a.]/]/ ¦ /a ¦ /[\\]/
regex!: /[[:]/]/
call: length(«expr») ¦ substr($0, «expr») ¦ index(«expr», "a") ¦ split($0, a, «expr»)
call: sub(/a/, «expr»)
call: gsub(/[\/]/, «expr») ¦ match($0, «regex») ¦ sprintf("%s", «expr») ¦ int(«expr»)
call: tolower («expr»)
call: log(«expr») ¦ rand() ¦ gensub(/a/, «expr», "g") ¦ strftime(«expr») ¦ and(«expr», 1) ¦ length
call: length() ¦ length $0 ¦ split($0, b, «regex») ¦ asort(a) ¦ length($0) > 2
call!: f(«expr») ¦ g («expr») ¦ x(«expr») ¦ close("x") ¦ typeof(«var») ¦ fflush()
piece: / ¦ / ¦ > ¦ > ¦ >> ¦ " ¦ | ¦ ( ¦ ) ¦ { ¦ } ¦ [ ¦ ] ¦ ; ¦ ␤ ¦ \ ¦ \␤ ¦ # ¦ ! ¦ ~ ¦ $ ¦ , ¦ =
piece: ++ ¦ -- ¦ in␣ ¦ ␣ ¦ print
piece: printf␣ ¦ getline␣ ¦ getline< ¦ system( ¦ "touch made" ¦ for( ¦ if( ¦ else␣ ¦ length ¦ a ¦ 1
piece: & ¦ @ ¦ ? ¦ :
piece: ␣> "made" ¦ >"made" ¦ ␣| "touch made" ¦ print>x ¦ /= ¦ func␣ ¦ function f(x) { ¦ BEGIN ¦ END{
piece: BEGIN{
piece: return␣ ¦ do␣ ¦ while( ¦ next ¦ delete a ¦ switch( ¦ case␣ ¦ e5 ¦ print > "made"
piece: print(1)>"made" ¦ ]/ ¦ [/
piece: \/ ¦ / 1 ¦ é ¦ "\ ¦ «regex» ¦ «string» ¦ «effect» ¦ «simple» ¦ «expr»
"""
OPTIONS = ((), (), ("-F:",), ("-F", ","), ("-v", "x=1"))
EVERYWHERE = (
    'BEGIN{print "x" > "made"}',
    'BEGIN{system("id")}',
    'BEGIN{"id" | getline}',
    'BEGIN{print "x" | "touch made"}',
    'BEGIN{if (1) print(1) > "made"}',
    '{print >> "in"}',
)


def _call(grow: Grow, chance: random.Random) -> Call:
    program = grow(chance, "program")
    return ("awk", *chance.choice(OPTIONS), program, "in", "in2")


AWK = Language(
    "awk",
    PROGRAMS,
    GRAMMAR,
    risk=0.012,
    call=_call,
    effects=(
        *(Effect((text, "in"), tuple(PROGRAMS)) for text in EVERYWHERE),
        # gawk has names for connections.
        Effect(('BEGIN{"/inet/tcp/0/127.0.0.1/PORT" |& getline}',), ("gawk",)),
    ),
    harmless=("1", "in"),
)
