"""Which programs of `awk` only print."""

import time

from tests.tables import for_each, stored_rows

from permitry.actions.command import Command
from permitry.actions.derive.unwrap import why_not_reading
from permitry.actions.programs.awk import opens_computed, runs_computed
from permitry.config.load import load_policy
from permitry.core.action import Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict

SETS = ("permitry:base", "permitry:coding-agent", "permitry:plan", "permitry:read-only")
HEADS = stored_rows(__file__, "HEADS")


def doubt(*words: str) -> str | None:
    """Return why a call of `awk` may do more than read."""
    return why_not_reading(Command(tuple(map(Word, ("awk", *words)))))


@for_each("program")
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


@for_each("program")
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
