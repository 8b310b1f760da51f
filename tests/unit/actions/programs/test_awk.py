"""Which programs of `awk` only print."""

import time

from tests.tables import for_each

from permitry.actions.command import Command
from permitry.actions.derive.unwrap import why_not_reading
from permitry.actions.programs.awk import opens_computed, runs_computed
from permitry.config.load import load_policy
from permitry.core.action import Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict

SETS = ("permitry:base", "permitry:coding-agent", "permitry:plan", "permitry:read-only")
HEADS = (
    'BEGIN{for(print "x" > "/home/u/.ssh/authorized_keys";0;);}',
    'BEGIN{for(;i++<1;print "x" > "made");}',
    'BEGIN{for(printf "x" > "made";0;) x = 1}',
    'BEGIN{for(print("x") > "made";0;);}',
    'BEGIN{for(print "x" >> "made";0;);}',
    "BEGIN{for(print x > y;0;);}",
    'BEGIN{for(print > "made";0;);}',
    'BEGIN { for (printf("x") > "made"; 0; ) ; }',
    'BEGIN{for(;;print "x">"made") exit}',
    'BEGIN{for(delete a;0;print > "made");}',
    'function f(x) {for(print "x" > "made";0;);} {f(1)}',
    'END{if (1) for(print $1 > "made";0;);}',
    "{while (x) for(print > $1;0;) {}}",
    'BEGIN{for(getline x < "made";0;);}',
    "BEGIN{if (print > x) y}",
    "{while (print > x) y}",
    "{(print > x)}",
    "{a[print > x]}",
    "{f = sub(/a/, print > x)}",
    "{x = (print > y)}",
)
ORDINARY = (
    "!seen[$0]++",
    "NR==FNR{a[$1]=$2;next} ($1 in a){print $0, a[$1]}",
    'BEGIN{FS=OFS="\\t"} {$3=""; print}',
    '{sum[$1]+=$2} END{for (k in sum) printf "%-10s %d\\n", k, sum[k]}',
    '{print ($3 > 100) ? "big" : "small"}',
    "$3 > 100 && $4 !~ /^#/ {n++} END{print n+0}",
    "/start/,/end/",
    "/start/{f=1} f; /end/{f=0}",
    'length($0) > 72 {print FILENAME":"FNR": "length}',
    '{for(i=NF;i>0;i--) printf "%s%s", $i, (i>1 ? OFS : ORS)}',
    '{gsub(/[ \\t]+$/, ""); print}',
    "BEGIN{while(i<3) print i++}",
    "{ if (!($2 in c)) { c[$2] = 1 } else c[$2]++ }\nEND { for (k in c) print c[k], k }",
    "function max(a, b) { return (a > b) ? a : b } { m = max(m, $1) } END { print m }",
    "NR % 2 == 0",
    "(NR-1)%4==0 {print substr($0,2)}",
    "{split($0, p, /[,;]/); print p[1] / p[2]}",
    "$1 ~ /^(GET|POST)$/ {print $1, $7}",
    "END{print NR?s/NR:0}",
    "{a[NR]=$0} END{do print a[NR]; while (NR-- > 1)}",
    'BEGIN{printf("%s %d\\n", "x", 2)} # a note\n{ print } # > "made"',
    "{delete a[$1, $2]; if ((1, 2) in a) print; else exit 1}",
    "BEGIN {if (1) print 1; else if (2) print 2; else print 3}",
    "{$(NF-1) = $NF; x ^= 2; y /= 2; print -x, +y, !z, x^-1}",
    "{print $1,\n  $2}",
    "$1 == 1 &&\n$2 == 2",
    "{print (x > 1) ? 2 : 3}",
    "{received += /time=.+ ms/}",
    "BEGIN{print length()}",
    "{print toupper(substr($0,1,1)) tolower(substr($0,2))}",
)  # fmt: skip
REFUSED = (
    "{print $1 >= 2}", "{print a || b}", "{print a, b >= c}", "{print (a) > b}",
    '{printf "x" || "sh"}',
    "{print (a)(b) > c}", "{print a > b ? c : d}", "{print $1, $2 > $3}", "{print -1 > x}",
    "{print a in b > c}",
    "{print !a > b}", "{if (x) print > y; else print}", "{do print > x; while (0)}", "{x = a > b}",
    "{return a > b}", "{exit a > b}", "{a > b}", "{a[1] > b}", "{print a; b > c}", "{print a\n> b}",
    "{print a ? b : c > d}", "{print a, \n b > c}", "{@f(x)}", "{x y(z)}",
    "{f (x)} function f(y) {}", "{sub = 1}",
    "function log(x) {}", "{print length / 2}", "{print /a/}", "BEGIN BEGIN", "{a[}", "{a b: c}",
    "{a ? b}",
    "for (;;) x", "{for (a; b) c}", "{for (a b in c; d) e}", "{in}", "{delete}", "{1 2}}",
    "{a ! b}", "{=a}",
    "{switch (x) { case 1: print }}", "{printf}} {", 'print > "made"', "{x}\r", "{\\\nx}",
    "# a \\\n{print > x}",
    "/[[]/", "/[[:alpha:]/]/", "/[a\\]/", "{x = y /[/] > z/}", '{"\\"}', '{"a\\\nb"}', "{a &&}",
    "{,}", "{()}",
)  # fmt: skip


def doubt(*words: str) -> str | None:
    """Return why a call of `awk` may do more than read."""
    return why_not_reading(Command(tuple(map(Word, ("awk", *words)))))


@for_each("program", ORDINARY)
def test_ordinary_programs_only_print(program: str) -> None:
    """What people write on one line is read."""
    assert doubt(program, "f") is None


@for_each("program", HEADS)
def test_a_statement_never_stands_within_parentheses(program: str) -> None:
    """Some implementations take one in the head of a `for`, where a `>` is then a redirection."""
    assert doubt(program, "f") is not None


@for_each("rules", SETS)
@for_each("program", HEADS[:9])
def test_no_set_lets_such_a_program_run(rules: str, program: str) -> None:
    """Neither unasked, nor in plan mode at all."""
    policy, call = load_policy(rules), ToolCall("run_shell", {"command": f"awk '{program}'"})
    assert policy.decide(call, AuthContext()).verdict is not Verdict.ALLOW
    assert policy.decide(call, AuthContext(is_plan_mode=True)).verdict is Verdict.BLOCK


@for_each("program", REFUSED)
def test_what_the_grammar_does_not_produce_is_refused(program: str) -> None:
    """A redirection, what may be one to some implementation, and what is not a program."""
    assert doubt(program, "f") is not None


@for_each("option", ["--assign", "--field-separator", "--assign=x=1", "--exec"])
def test_an_option_that_some_do_not_know_is_refused(option: str) -> None:
    """They pass over it, and take its value for the program."""
    assert doubt(option, 'BEGIN{system("x")}', "1") is not None


@for_each("piece", ["(", "{", "!(", "a[", "if(1)", "$(", "x=(", "f(", "do "])
def test_a_deep_program_is_refused_in_no_time(piece: str) -> None:
    """The reader descends no deeper than a program of a human does."""
    begin = time.process_time()
    assert doubt("{" + piece * 20_000) is not None
    assert time.process_time() - begin < 8


@for_each(("program", "runs", "opens"))
def test_what_awk_runs_or_opens_may_be_computed(program: str, *, runs: bool, opens: bool) -> None:
    """By the look of it; a literal is known, and a comparison opens nothing."""
    assert (runs_computed(program), opens_computed(program)) == (runs, opens)
