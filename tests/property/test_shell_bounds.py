"""No construct of a shell multiplies the work of a decision: each is doubled, in a process with little time and memory.

What is bounded is processor time and the memory of the whole process, so that work within one call is seen too.
"""

import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import settings
from tests.compare.requests import DENY as RULES

from permitry import AuthContext, ToolCall, Verdict, load_policy
from permitry.actions.reading.strict import read_strictly
from permitry.actions.reading.words import LONGEST_VALUE, MOST_OF_VALUES

LONGEST = 1024 if settings().max_examples > 100 else 512
"""How long a text gets by doubling, at most."""
MOST_SECONDS = 15
MOST_MEBIBYTES = 192

Make = Callable[[int], str]


def steps(first: str, step: str, last: str) -> Make:
    """Return texts with a chain of steps, each with its number `n` and that before it, `b`."""
    return lambda many: first + "".join(step.format(n=at, b=at - 1) for at in range(1, many + 1)) + last.format(n=many)


def around(before: str, inside: str, after: str) -> Make:
    """Return texts in which a construct stands within itself."""
    return lambda many: before * many + inside + after * many


def many(text: str, *, before: str = "", after: str = "") -> Make:
    """Return texts in which a construct is repeated."""
    return lambda count: before + text * count + after


CONSTRUCTS: dict[str, Make] = {
    "values": steps("v0=ab;", "v{n}=$v{b}$v{b};", "cat $v{n}"),
    "values in quotes": steps("v0=ab;", 'v{n}="$v{b}-$v{b}";', 'cat "$v{n}"'),
    "values of several words": steps("v0='a b';", 'v{n}="$v{b} $v{b}";', "cat $v{n}"),
    "exported values": steps("export v0=ab;", "export v{n}=$v{b}$v{b};", "cat $v{n}"),
    "values before a command": steps("v0=ab ", "v{n}=$v{b}$v{b} ", "env"),
    "values used": many(" $v$v", before=f"v={'a' * 4000}; cat "),
    "values in a loop": many(" $v", before=f"v='{'a ' * 1000}'; for x in 1 2 3 4 5 6; do cat", after="; done"),
    "appended": many("v+=$v$v;", before="v=ab;", after="cat $v"),
    "replaced": steps("v0=ab;", "v{n}=${{v{b}//a/aaa}};", "cat $v{n}"),
    "printed into a variable": steps("v0=ab;", "printf -v v{n} %s%s $v{b} $v{b};", "cat $v{n}"),
    "arrays": steps("v0=(a b);", 'v{n}=("${{v{b}[@]}}" "${{v{b}[@]}}");', 'cat "${{v{n}[@]}}"'),
    "positional": many("set -- $@ $@;", before="set -- a;", after="cat $@"),
    "braces": many("{a,b}", before="cat "),
    "braces in each other": around("{a,", "b", "}"),
    "braces in words": many("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b} ", before="cat "),
    "braces of numbers": many("{1..60}", before="cat "),
    "a number without an end": many("9", before="cat {1..", after="}"),
    "substitutions": many("$(id) ", before="cat "),
    "substitutions in each other": around("$(cat ", "a", ")"),
    "substitutions in quotes": around('"$(cat ', "a", ')"'),
    "processes": around("<(cat ", "a", ")"),
    "backticks": many("\\`", before="cat `", after="`"),
    "defaults": around("${v:-", "a", "}"),
    "arithmetic": around("(", "1", ")"),
    "subshells": around("( ", "id", " )"),
    "groups": around("{ ", "id;", " }"),
    "branches": around("if id; then ", "id", "; fi"),
    "cases": around("case a in a) ", "id", ";; esac"),
    "loops in each other": steps("", "for v{n} in 1 2 3 4 5 6 7 8 9; do ", "id"),
    "closed loops in each other": lambda count: "for v in 1 2 3 4 5; do " * count + "id" + "; done" * count,
    "loops": many("for v in 1 2 3 4 5 6 7 8 9; do cat $v; done; "),
    "words of a loop": many("a ", before="for v in ", after="; do cat $v; done"),
    "endless loops": around("while true; do ", "id", "; done"),
    "functions": steps("f0() { id; };", "f{n}() {{ f{b}; f{b}; }};", "f{n}"),
    "functions with parameters": steps("f0() { cat $@; };", "f{n}() {{ f{b} $@ $@; }};", "f{n} a"),
    "here-documents": steps("", "cat <<E{n}\n$(id)\nE{n}\n", "id"),
    "here-documents for shells": lambda count: "bash <<'E'\n" * count + "id\n" + "E\n" * count,
    "here-strings": many("id;", before="bash <<< '", after="'"),
    "shells in pipelines": many("| sh", before="echo id"),
    "printed commands": many("echo id | sh;"),
    "patterns": many("*a?", before="cat "),
    "sets": many("[a-z]*", before="cat "),
    "extended patterns": around("@(a|", "b", ")"),
    "folders": many("cd a || cd b; ", after="cat c"),
    "folders in branches": many("if id; then cd a; else cd b; fi; ", after="cat c"),
    "links": steps("", "ln -s l{b}/l{b} l{n};", "cat l{n}/a"),
    "copies": steps("", "cp -r c{b} c{n};", "cat c{n}"),
    "made programs": steps("", "cp /bin/id p{n}; ./p{n} a;", "id"),
    "eval": many("eval ", after="id"),
    "eval of values": many("eval $v;", before="v=id;"),
    "shells": many('bash -c "', after="id"),
    "sudo": many("sudo -u a ", after="id"),
    "unknown options": many("sudo --what ", after="id"),
    "xargs": many("xargs -I{} ", after="id"),
    "mixed wrappers": many("xargs env nice timeout 5 ", after="id"),
    "watch": many("watch ", after="id"),
    "ssh": many("ssh h ", after="id"),
    "parallel": many("::: 'id a' ", before="parallel id "),
    "find": many("-exec find . ", before="find . ", after="\\;"),
    "find with ends": around("find . -exec ", "id", " \\;"),
    "find in a pipeline": lambda count: "echo id | " + "find . -exec " * count + "sh" + " \\;" * count,
    "fd": many("fd -x ", after="id"),
    "fd in a pipeline": many("fd -x ", before="echo id | ", after="sh"),
    "containers": many("docker run a ", after="id"),
    "aliases of git": many("-c alias.a='!git b' ", before="git ", after="a"),
    "awk": many('system("id");', before="awk 'BEGIN{", after="}'"),
    "awk in awk": many('system("awk BEGIN{', before="awk 'BEGIN{", after="}'"),
    "values of awk": many("a=a a;", before='awk \'BEGIN{a="a";', after="system(a)}'"),
    "sed": many("s/a/id/e;", before="sed '", after="' f"),
    "blocks of sed": lambda count: "sed '" + "/a/{" * count + "p" + "}" * count + "' f",
    "expressions of sed": many("\\(a*\\)*", before="sed 's/", after="/b/' f"),
    "python": many('os.system("id");', before="python3 -c '", after="'"),
    "python without an end": many("os.system(", before="python3 -c '", after="'"),
    "backslashes": many("\\", before="python3 -c '", after="\"'"),
    "node": many("`${", before="node -e '", after="'"),
    "perl": many("qx{", before="perl -e '", after="'"),
    "make": many("A=$(A)$(A) ", before="make "),
    "addresses": many("{a,b}[1-9]", before="curl 'http://", after=".example/'"),
    "operands": steps("cat ", "/etc/a{n} ", ""),
    "open words": many("$v ", before="cat "),
    "quotes without an end": many("'\"", before="cat "),
    "nothing that ends": many('"$(${`', before="cat "),
}

CHILD = f"""
import resource, sys, time
from permitry import AuthContext, ToolCall, load_policy
from tests.property.test_shell_bounds import CONSTRUCTS, RULES

context = AuthContext(workspace="/nowhere/space", attended=True)
policies = [load_policy(RULES), load_policy("permitry:coding-agent")]
for policy in policies:
    policy.decide(ToolCall("run_shell", {{"command": "id; awk 1 a | sed p; $(id) b"}}), context)
limit = {MOST_MEBIBYTES} * 2**20 + int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for name in sys.argv[1:]:
    many = 12
    while len(text := CONSTRUCTS[name](many)) <= {LONGEST}:
        for policy in policies:
            begin = time.process_time()
            resource.setrlimit(resource.RLIMIT_CPU, (int(begin) + {MOST_SECONDS} + 1, resource.RLIM_INFINITY))
            print(name, many, flush=True)
            policy.decide(ToolCall("run_shell", {{"command": text}}), context)
            assert time.process_time() - begin < {MOST_SECONDS}
        many *= 2
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limits are those of Linux")
def test_no_construct_multiplies_the_work() -> None:
    """Twice as often, and again, up to a length: a decision ends in time and with little memory."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *CONSTRUCTS], check=False, capture_output=True, text=True, timeout=3_600
    )
    assert done.stdout.splitlines()[-1:] == ["done"], done.stderr[-2000:]


def test_a_value_is_followed_up_to_a_length() -> None:
    """A longer one is not known any more: the word is an open one."""
    followed, too_long = "a" * LONGEST_VALUE, "a" * (LONGEST_VALUE + 1)
    assert read_strictly(f"v={followed}; cat $v")[-1].argv == ("cat", followed)
    assert read_strictly(f"v={too_long}; cat $v")[-1].words[1].is_open


def test_values_are_followed_up_to_a_length_in_all() -> None:
    """What comes after that is open; an assignment of it too."""
    value, uses = "a" * LONGEST_VALUE, MOST_OF_VALUES // LONGEST_VALUE
    command = read_strictly(f"v={value}; cat {'$v ' * (uses + 1)}")[-1]
    assert [word.is_open for word in command.words[1:]] == [False] * uses + [True]


def test_a_value_that_is_too_long_is_asked_about() -> None:
    """It may be what is blocked; a value that is followed is not, or certainly is."""
    rules = RULES + '[[rule]]\nid = "no-x"\neffect = "block"\nwhen.command = ["cat xx* *"]\n'
    policy, context = load_policy(rules), AuthContext(workspace="/nowhere/space", attended=True)
    chain = "v0=x;" + "".join(f"v{at}=$v{at - 1}$v{at - 1};" for at in range(1, 14))
    verdicts = [
        policy.decide(ToolCall("run_shell", {"command": f"{chain}cat $v{at} a"}), context).verdict for at in (0, 12, 13)
    ]
    assert verdicts == [Verdict.ALLOW, Verdict.BLOCK, Verdict.CONFIRM]


def test_a_number_with_thousands_of_digits_is_refused() -> None:
    """In braces; Python itself refuses to read it."""
    policy, context = load_policy(RULES), AuthContext(workspace="/nowhere/space", attended=True)
    decision = policy.decide(ToolCall("run_shell", {"command": "cat {1.." + "9" * 5000 + "}"}), context)
    assert (decision.verdict, decision.errors) == (Verdict.CONFIRM, ())


def test_many_operands_of_a_program_that_only_reads_are_no_reason_to_ask() -> None:
    """It is not looked for nested commands."""
    policy, context = load_policy("permitry:read-only"), AuthContext(workspace="/nowhere/space", attended=True)
    for text in (f"git log -- {'a ' * 600}", f"cat {'a ' * 600}", f"find . {'-name a -o ' * 100}-name b"):
        assert policy.decide(ToolCall("run_shell", {"command": text}), context).verdict is Verdict.ALLOW
