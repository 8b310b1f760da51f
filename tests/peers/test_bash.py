"""The strict reader against bash itself: an argv that bash runs must have been reported, or the text refused.

Real bash reads each command with every builtin switched off and every program replaced by a logger, in a scratch
folder; slashes are taken out first, so that nothing on the machine can be named. Each command is read twice, with all
programs succeeding and with all failing, so that both sides of `&&` and `||` are seen.
"""

import collections
import json
import os
import random
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from permitry.actions.strict import UnreadableError, Word, read_strictly

SAMPLES = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases" / "security" / "shell_cases.jsonl"
BASH = shutil.which("bash")
SEED = 20261120
OWN = (
    "ls -la | head -3", "git log --oneline && echo done", "grep -n 'a b' x.txt || true", "cat <<'E'\n$x\nE\nls",
    "cat <<E\nplain\nE", 'echo "a\\"b" c\\ d', "A=1 B='x y' env", "ls # note; rm x\npwd", "cat < in > out 2>&1",
    "find . -name '*.py' -exec wc -l {} +", "git show HEAD~1:x stash@{0}", "timeout 5 nice -n 3 ls", "sort 2>err -u f",
    "echo a;echo b\n\necho c", "[ -f x ] && cat x", "true|false||pwd", "echo \"cost $\" 'x'\"y\"z", "printf %s\\n a",
)  # fmt: skip
PIECES = (
    " ", " ", "\t", "\n", ";", "&&", "||", "|", "&", "(", ")", "<", ">", ">>", "<<", "<<-", "<<<", "2>&1", ">&2",
    "2>", "'", '"', "\\", "\\\n", "$", "$(", "`", "${x}", "$'a'", "{", "}", "{a,b}", "~", "#", " #", "!", "! ", "*",
    "?", "[", "]", "=", "A=1 ", "if ", "then ", "fi", "done", "esac", "in ", "for ", "[[ ", "time ", "a", "b c", "-x",
    "E\n", "<<E\n", "<<'E'\n", "x=", "x+=1 ", "x[0]=1 ", "&>", "|&", ";;", ">|", "<>", "<(", "function ", "f() ",
    "coproc ", "select ", "é", "}", "{ ", "a{b}c", "@{1}", "~x", "=~",
)  # fmt: skip
SETUP = """
command_not_found_handle() {{
  /usr/bin/printf '%s\\037' "$@" END_OF_ARGV >>"$LOG_OF_ARGV"
  /usr/bin/{status}
}}
enable -n {builtins} enable
"""


@attrs.frozen
class Bash:
    """Real bash in which nothing is really executed."""

    folder: Path
    builtins: str

    def argvs(self, command: str) -> set[tuple[str, ...]]:
        """Return every argv bash would run for `command`, whatever the programs return."""
        return {argv for status in ("true", "false") for argv in self.run(command, status)}

    def run(self, command: str, status: str) -> Iterator[tuple[str, ...]]:
        """Yield what bash runs when every program returns `status`."""
        scratch = self.folder / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        log = self.folder / "log"
        log.unlink(missing_ok=True)
        setup = self.folder / f"setup{status}"
        if not setup.exists():
            setup.write_text(SETUP.format(status=status, builtins=self.builtins), encoding="utf-8")
        environment = {
            "PATH": "/nowhere",
            "HOME": "home",
            "BASH_ENV": str(setup),
            "LOG_OF_ARGV": str(log),
            "LC_ALL": "C.UTF-8",
        }
        process = subprocess.Popen(
            [str(BASH), "--norc", "-c", command], cwd=scratch, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
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


def unreported(command: str, bash: Bash) -> set[tuple[str, ...]] | None:
    """Return what bash runs and the strict reader did not report, or None where it refused."""
    try:
        commands = read_strictly(command)
    except UnreadableError:
        return None
    if any(word.is_glob for each in commands for word in each.words):
        # A pattern may stand for any files; which, only the folder knows.
        return set()
    return bash.argvs(command) - {tuple(map(passed, each.words)) for each in commands}


def passed(word: Word) -> str:
    """Return what bash passes for a word when the home folder is called `home`."""
    return f"home{word.text[1:]}" if word.is_home else word.text


def fuzz(bash: Bash, count: int) -> collections.Counter[str]:
    """Compare `count` commands and return how many were read and refused; a miss fails."""
    chance = random.Random(SEED + count)  # noqa: S311 -- a seed for tests
    seeds = samples()
    seen: collections.Counter[str] = collections.Counter()
    for _ in range(count):
        command = mutated(chance, seeds)
        missed = unreported(command, bash)
        assert not missed, f"{command!r} runs {missed}"
        seen["refused" if missed is None else "read"] += 1
    return seen


def test_bash_runs_nothing_the_strict_reader_did_not_report(bash: Bash) -> None:
    """A thousand mutated commands, and enough of them read for the comparison to mean something."""
    seen = fuzz(bash, 1_000)
    assert seen["read"] > 250, seen


@pytest.mark.large
def test_bash_runs_nothing_unreported_in_twenty_thousand_commands(bash: Bash) -> None:
    """The same, twenty times as long."""
    fuzz(bash, 20_000)


def test_the_oracle_sees_what_bash_runs(bash: Bash) -> None:
    """The comparison is worth something only if the logger really sees substitutions and both branches."""
    assert bash.argvs("echo $(id) && pwd || ls -l") >= {("id",), ("echo",), ("pwd",), ("ls", "-l")}


@pytest.mark.parametrize("command", OWN)
def test_the_reader_reads_what_people_write(command: str) -> None:
    """Refusing everything would be safe and useless."""
    assert read_strictly(command)
