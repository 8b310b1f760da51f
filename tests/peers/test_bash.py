"""The strict reader against bash itself: an argv that bash runs must have been reported, or the text refused.

Real bash reads each command with every builtin switched off and every program replaced by a logger, in a scratch
folder; slashes are taken out first, so that nothing on the machine can be named. Each command is read twice, with all
programs succeeding and with all failing, so that both sides of `&&` and `||` are seen. Patterns are left as they are
written. The files bash makes for redirections must have been reported as well.

The commands come from two sources: mutations of what people write, and trees printed in random spelling. Of the
latter none may be refused, and where nothing depends on how a program ends, bash must run each as often as reported.
"""

import collections
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import attrs
import pytest
from tests.tables import for_each

from permitry.actions.command import Command
from permitry.actions.reading.strict import UnreadableError, read_strictly
from permitry.core.action import Word

SAMPLES = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases" / "security" / "shell_cases.jsonl"
BASH = shutil.which("bash")
SEED = 20261120
FILE = "/dev/fd/63"
LONGEST = 20
"""How many commands a tree may print: long ones only take longer."""
OWN = (
    "ls -la | head -3", "git log --oneline && echo done", "grep -n 'a b' x.txt || true", "cat <<'E'\n$x\nE\nls",
    "cat <<E\nplain\nE", 'echo "a\\"b" c\\ d', "A=1 B='x y' env", "ls # note; rm x\npwd", "cat < in > out 2>&1",
    "find . -name '*.py' -exec wc -l {} +", "git show HEAD~1:x stash@{0}", "timeout 5 nice -n 3 ls",
    "sort 2>err -u f",
    "echo a;echo b\n\necho c", "[ -f x ] && cat x", "true|false||pwd", "echo \"cost $\" 'x'\"y\"z", "printf %s\\n a",
    "ls -l &>out; make &>> log", "ls x |& head", "! grep -q x f && echo none", "(cd x && ls) | head",
    "{ ls; pwd; } >out",
    "cat <<-E\n\tplain\n\tE\nls", "wc -w <<<'a b'", 'for f in a b.txt; do wc -l $f "x $f"; done',
    "for x in 1 2\ndo for y in a 'b c'\ndo echo ${x}-\"${y}\"\ndone\ndone | sort", "(ls; (pwd) ; { id\n})&& ! { a;}",
    "for f in a b; do cat <<E >$f\nplain\nE\ndone; ls",
    'git log $x "$x" y$x"z" ${x:-a b} "${x%.*}" ${#x} "$@" $?', 'echo $(id -u) `pwd` "$(ls | head -n $(wc -l f))"',
    "git commit -m \"$(cat <<'E'\nit's\nE\n)\"", "cat <<E\n$x $(id) `pwd` ${x}\nE\nls",
    "echo $((1+2)) $(( (3*4) % $# ))",
    "diff <(sort a) <(sort -r b) > >(tee c) 2>&1", 'while read -r l; do echo "$l" $l; done < <(ls; id)',
    "sleep 1 & ls; (a; b) & c && d & wait", "if a x; then b; elif c; then d; else e; fi >f",
    "until a; do b | c; done",
    'case $x in a|"b c") ls;; (*.py) ;; *) pwd; esac; id', 'for f in *.py $x a; do wc "$f" $f; done; ls $f',
    "x=a; y='b c'; ls $x \"$y\" $y; x=b cat $z", 'a=1 b=$(id); ls $a "${b}c"', "export A=b B=$x; env",
    "x=a; (y=b; ls $y); ls $y $x", "a && x=b; ls $x; true || z=c; ls $z", "x=$x; ls $x | y=b; ls $y",
    'for f in $(ls) "$x"; do for g in 1 2; do a $g "$f$g"; done; done', "f=a & ls $f; for f in b; do c $f; done",
    'v=(a "b c" $x $(id)); ls "${v[@]}" ${v[0]} "${#v[@]}" "${v[@]:1}"', "v=(\n a\n b\n); ls ${v[1]}",
    'foo() { ls "$1" "$@"; pwd; } >f; foo a && foo "b c" | cat', 'select v in a "b c"; do ls $v "$v"; done',
    "for ((i = 0; i < 3; i++)); do ls $i; done", "for ((i=9;i>=7;i-=2))\ndo a $i | b; done; c",
    "if [[ $x =~ ^v(a|[0-9]+)\\.b$ ]]; then ls; fi", "foo() { a; }; foo; (foo; b) & foo",
    "wc `find a \\! -b 'c\\d' -e \\;` \"`ls a\\ b \\|`\"",
)  # fmt: skip
PIECES = (
    " ", " ", "\t", "\n", ";", "&&", "||", "|", "&", "(", ")", "<", ">", ">>", "<<", "<<-", "<<<", "2>&1", ">&2",
    "2>", "'", '"', "\\", "\\\n", "$", "$(", "`", "${x}", "$'a'", "{", "}", "{a,b}", "~", "#", " #", "!", "! ", "*",
    "?", "[", "]", "=", "A=1 ", "if ", "then ", "fi", "done", "esac", "in ", "for ", "[[ ", "time ", "a", "b c", "-x",
    "E\n", "<<E\n", "<<'E'\n", "x=", "x+=1 ", "x[0]=1 ", "&>", "|&", ";;", ">|", "<>", "<(", "function ", "f() ",
    "coproc ", "select ", "é", "}", "{ ", "a{b}c", "@{1}", "~x", "=~", "&>>", "&>f ", "|& ", "<<<a ",
    "<<-E\n", "\tE\n",
    "; }", "( ", " )", "do ", "; do ", "; done", "for f in a b; do ", "$f", '"$f"', "${f}", "f=", " read f;",
    "{fd}>x", "$(a b)", '"$(a "b")"', "`c d`", "`c\\d`", '"`c\\;`"', "${x:-y}",
    '"${x#v}"', "${#x}", "$((1+2))", "$((", "))", "$@",
    '"$@"', "$?",
    "<(a b)", ">(c)", " < <(d)", " & ", "if a; then ", "; fi", "else ", "elif b; then ", "while a; do ",
    "until b; do ",
    "case $x in ", "a) ", "*) ", ";; ", "; esac", "x=a; ", "x=b c; ", "x=$(d); ", "export x=a; ",
    "unset x; ", "$x", '"$x"',
    "IFS=a; ", "${x/v/w}", "${x:0:1}", "${!x}", "${x@P}", "${x:=a}", "$[1]", "for f in *; do ",
    "for f in $x; do ", "read x; ",
    "declare -i x; ", "x+=a; ", "[[ a ]] ", "v=$x; ", "$v", "readonly x; ", "&& x=c; ", "|| x=d; ", "| x=e; ",
    "[[ #b ]] ", " read -ax;", " eval x=b; ", " shopt -s extglob; ",
    "v=(a b)", "v=(", "=(", " v=($x) ", "(a) ", "[0]=b", "${v[@]}", '"${v[@]}"', "${v[1]}", "foo() { ", "foo ()\n{ ",
    "foo() ", "foo", " foo; ", "foo() { a; }; ", "$1", '"$@"', "shift; ", "return; ", "local x=a; ",
    "select v in a b; do ", "for ((i=0;i<2;i++)); do ", "for ((", "i=b; ", "$i", " =~ ", " =~ (a|b)+ ", " =~ ^a$ ",
    "[[ $x =~ a ]] ", "[[ $x =~ (", "$((i+1))",
    "n=1; ", "n=$((n+1)); ", "$((n*2))", "$((n=2))", "n=a; ", "$((n++))",
)  # fmt: skip
CONSTRUCTS = (
    "!", "(…)", "{…}", "for", "$(…)", "<(…)", ">(…)", "&", "if", "while", "until", "case", "function", "select",
)  # fmt: skip
SETUP = """
command_not_found_handle() {{
  /usr/bin/printf '%s\\037' "$@" END_OF_ARGV >>"$LOG_OF_ARGV"
  if [[ $MAY_LOOP && $(/usr/bin/wc -c <"$LOG_OF_ARGV") -gt 1500 ]]; then /usr/bin/kill -9 0; fi
  {output}
  /usr/bin/{status}
}}
enable -n {builtins} enable
"""


ShellTree: TypeAlias = Callable[[random.Random], tuple[str, list[Command]]]


@attrs.frozen
class Bash:
    """Real bash in which nothing is really executed."""

    folder: Path
    builtins: str

    def effects(self, command: str) -> set[tuple[str, ...]]:
        """Return every argv bash runs for `command`, whatever the programs return, and `>` with each file it makes."""
        seen: set[tuple[str, ...]] = set()
        for status in ("true", "false"):
            seen.update(
                tuple(re.sub(r"/dev/fd/\d+", FILE, text) for text in argv) for argv in self.run(command, status)
            )
            seen.update((">", path.name) for path in (self.folder / "scratch").iterdir())
        return seen

    def run(self, command: str, status: str) -> Iterator[tuple[str, ...]]:
        """Yield what bash runs when every program returns `status`."""
        scratch = self.folder / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        log = self.folder / "log"
        log.unlink(missing_ok=True)
        setup = self.folder / f"setup{status}"
        if not setup.exists():
            output = "/usr/bin/printf '%s\\n' 'p -q' 7" if status == "true" else ""
            text = SETUP.format(status=status, builtins=self.builtins, output=output)
            setup.write_text(text, encoding="utf-8")
        environment = {
            "PATH": "/nowhere",
            "HOME": "home",
            "BASH_ENV": str(setup),
            "LOG_OF_ARGV": str(log),
            "LC_ALL": "C.UTF-8",
            "MAY_LOOP": "yes" if "while" in command or "until" in command else "",
            "x": "v -w",
        }
        process = subprocess.Popen(
            [str(BASH), "--norc", "-f", "-c", command], cwd=scratch, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            # The end of the output is that of what goes on in the background as well.
            process.communicate(timeout=3)
            wait_for_group(process.pid)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        text = log.read_bytes().decode(errors="replace") if log.exists() else ""
        # One write for each program: those of a pipeline run side by side.
        for record in text.split("END_OF_ARGV\x1f")[:-1]:
            yield tuple(record.split("\x1f")[:-1])


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> Bash:
    """Return a bash to ask."""
    if BASH is None:
        pytest.skip("bash is not installed")
    listed = subprocess.run([BASH, "-c", "compgen -b"], check=True, capture_output=True, text=True).stdout.split()
    return Bash(tmp_path_factory.mktemp("bash"), " ".join(name for name in listed if name != "enable"))


def wait_for_group(number: int) -> None:
    """Wait until no process of a group is left: one whose output goes to a file may still write to the log."""
    for _ in range(300):
        try:
            os.killpg(number, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    os.killpg(number, signal.SIGKILL)


def samples() -> list[str]:
    """Return commands to mutate: our own, and the shared ones when they are there."""
    lines = SAMPLES.read_text(encoding="utf-8").splitlines() if SAMPLES.exists() else []
    shared = [json.loads(line)["command"] for line in lines]
    return [*OWN, *shared]


def mutated(chance: random.Random, seeds: list[str]) -> str:
    """Return a command with a few pieces put in, taken out, doubled or joined with another command."""
    text = chance.choice(seeds)
    for _ in range(chance.randint(0, 4)):
        at = chance.randint(0, len(text))
        match chance.randrange(6):
            case 0 | 1 | 2:
                text = text[:at] + chance.choice(PIECES) + text[at:]
            case 3:
                text = text[:at] + text[at + chance.randint(1, 3) :]
            case 4:
                end = min(len(text), at + chance.randint(1, 8))
                text = text[:end] + text[at:end] + text[end:]
            case 5:
                text = text[:at] + chance.choice(PIECES) + chance.choice(seeds)
    return text.replace("/", "%").replace("\0", "")


def unreported(commands: tuple[Command, ...], text: str, bash: Bash) -> set[tuple[str, ...]]:
    """Return what bash runs or writes for a text and the strict reader did not report."""
    written = (Word(text, is_home=is_home, is_open=is_open) for text, is_home, is_open in targets(commands))
    reported = [each.words for each in commands] + [(Word(">"), word) for word in written]
    return {argv for argv in bash.effects(text) if not any(fits(argv, words) for words in reported)}


def fits(argv: tuple[str, ...], words: Sequence[Word]) -> bool:
    """Return whether words may become an argv: an open one any words, or one word if it is single."""
    ends = {0}
    for word in words:
        if word.is_open and not word.is_single:
            ends = set(range(min(ends), len(argv) + 1))
        elif word.is_open:
            ends = {end + 1 for end in ends if end < len(argv)}
        else:
            ends = {end + 1 for end in ends if argv[end : end + 1] == (passed(word),)}
        if not ends:
            return False
    return len(argv) in ends


def targets(commands: tuple[Command, ...]) -> Iterator[tuple[str, bool, bool]]:
    """Yield the files the strict reader says are written, whether they begin with the home folder, and are open."""
    for command in commands:
        for each in command.redirections:
            if each.target is not None and each.operator != "<":
                yield each.target, each.is_home, each.is_open


def passed(word: Word) -> str:
    """Return what bash passes for a word when the home folder is called `home`."""
    return f"home{word.text[1:]}" if word.is_home else word.text


def fuzz(bash: Bash, shell_tree: ShellTree, count: int) -> collections.Counter[str]:
    """Compare our own commands and `count` mutated ones, and return how many were read and refused; a miss fails."""
    chance = random.Random(SEED + count)  # noqa: S311 -- a seed for tests
    seeds = samples()
    seeds += [shell_tree(chance)[0] for _ in range(len(seeds) // 2)]
    seen: collections.Counter[str] = collections.Counter()
    # Our own come first as they are: they have every construct.
    for text in itertools.chain(OWN, (mutated(chance, seeds) for _ in range(count))):
        try:
            commands = read_strictly(text)
        except UnreadableError:
            seen["refused"] += 1
            continue
        missed = unreported(commands, text, bash)
        assert not missed, f"{text!r} runs {missed}"
        seen["read"] += 1
        seen.update({word for command in commands for word in command.within})
    return seen


def compare_trees(bash: Bash, shell_tree: ShellTree, count: int) -> collections.Counter[str]:
    """Compare `count` commands printed from trees and return how many were compared run for run."""
    chance = random.Random(SEED + count)  # noqa: S311 -- a seed for tests
    seen: collections.Counter[str] = collections.Counter()
    while seen["read"] < count:
        text, expected = shell_tree(chance)
        if len(expected) > LONGEST:
            continue
        commands = read_strictly(text)
        missed = unreported(commands, text, bash)
        assert not missed, f"{text!r} runs {missed}"
        seen["read"] += 1
        if all(each.follows in ("", ";", "|") and not opens_files(each) for each in commands):
            runs = collections.Counter(bash.run(text, "true"))
            assert runs == collections.Counter(tuple(map(passed, each.words)) for each in commands), text
            seen["run for run"] += 1
    return seen


def opens_files(command: Command) -> bool:
    """Return whether a file that is not there may keep a command from running."""
    return any(each.target is not None for each in command.redirections)


def test_bash_runs_nothing_the_strict_reader_did_not_report(bash: Bash, shell_tree: ShellTree) -> None:
    """Some mutated commands, and enough of them read for the comparison to mean something."""
    seen = fuzz(bash, shell_tree, 100)
    assert seen["read"] > len(OWN) + 20, seen
    assert min(seen[construct] for construct in CONSTRUCTS) > 0, seen


def test_bash_runs_what_a_tree_was_built_from(bash: Bash, shell_tree: ShellTree) -> None:
    """Some printed trees: none is refused, and bash runs what is in them."""
    seen = compare_trees(bash, shell_tree, 30)
    assert seen["run for run"] > 3, seen


@pytest.mark.large
def test_bash_runs_nothing_unreported_in_twenty_thousand_commands(bash: Bash, shell_tree: ShellTree) -> None:
    """The same, more than a hundred times as long."""
    seen = fuzz(bash, shell_tree, 16_000) + compare_trees(bash, shell_tree, 4_000)
    sys.stdout.write(f"{dict(seen)}\n")


def test_the_oracle_sees_what_bash_runs(bash: Bash) -> None:
    """The comparison is worth something only if the logger really sees substitutions, branches and files."""
    assert bash.effects("echo $(id) && pwd || ls -l >f") >= {("id",), ("echo",), ("pwd",), ("ls", "-l"), (">", "f")}


@for_each("command", OWN)
def test_the_reader_reads_what_people_write(command: str) -> None:
    """Refusing everything would be safe and useless."""
    assert read_strictly(command)
