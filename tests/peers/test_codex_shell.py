"""How Codex takes commands apart and which it lets run, against the same rules of ours.

`shell_split` and `heredoc_prefix` are compared command by command. What its rules decide by themselves is compared in
`test_codex.py`; here it is with what Codex knows of programs.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import pytest
from tests.peers.translate_codex import call_of, rules_of

from permitry.actions.command import Command
from permitry.actions.derive.unwrap import Classified, Refused, classify, why_not_reading
from permitry.actions.reading.strict import UnreadableError, read_strictly
from permitry.core.action import Word
from permitry.core.decision import Verdict

Case: TypeAlias = dict[str, Any]
Argv: TypeAlias = list[list[str]]
Answers: TypeAlias = Mapping[str, tuple[Verdict, Verdict]]

READ: dict[str, Argv] = {
    # Subshells: bash runs what is inside, and the fuzz against bash holds that we report just that.
    "codex-200": [["ls"]],
    "codex-201": [["ls"], ["pwd"], ["echo", "hi"]],
    # A redirection is a write of its own, which a permission must cover besides the command.
    "codex-202": [["ls"]],
    "codex-223": [["echo", "hello"]],
    # An expansion is a word of unknown text, the commands of a substitution run as well, and a variable is set.
    "codex-197": [["echo", "hi ${USER}"]],
    "codex-198": [["echo", "$HOME"]],
    "codex-203": [["echo", "hi"], ["echo", "bye"]],
    "codex-204": [["pwd"], ["echo", "$(pwd)"]],
    "codex-205": [["pwd"], ["echo", "`pwd`"]],
    "codex-206": [["echo", "$HOME"]],
    "codex-207": [["echo", "hi $USER"]],
    "codex-208": [["ls"]],
    "codex-216": [["rg", "-g$VAR", "pattern"]],
    "codex-217": [["rg", "-g${VAR}", "pattern"]],
    "codex-218": [["pwd"], ["rg", "-g$(pwd)", "pattern"]],
    "codex-219": [["echo", "*.py"], ["rg", "-g$(echo '*.py')", "pattern"]],
    "codex-226": [["rm", "-rf", "/"], ["python3"]],
    "codex-227": [["echo", "$((1<<2))"]],
    "codex-228": [["python3", "$((1<<2))"]],
    # Nothing is cut off at the first command: each is judged.
    "codex-222": [["python3"], ["echo", "done"]],
    "codex-225": [["echo", "hello"], ["cat", "/tmp/out.txt"]],  # noqa: S108 -- text of a command; nothing is opened
}
"""Texts Codex does not take apart and we do, and what we find in them."""

ZSH = {"codex-213", "codex-220", "codex-221"}
"""Text for zsh, which reads in its own way: Codex takes it apart as if for bash; we only report that zsh runs."""

WRITES = {"codex-202", "codex-223", "codex-224", "codex-225"}
"""Texts with a redirection into a file."""

STRICTER = {
    "codex-047": "a restriction on a program counts wherever the program lies, as copies are easy",
    "codex-068": "a pattern that names the shell does not cover what the shell runs",
    **dict.fromkeys(
        ("codex-066", "codex-067", "codex-070", "codex-073"),
        "Codex runs it in a sandbox instead of asking; there is no sandbox here that would hold it",
    ),
}
"""Calls Codex lets run and we do not, with the reason why ours is the safer answer."""

UNASKED = {"codex-049", "codex-051", "codex-053", "codex-072", "codex-074"}
"""Calls Codex would ask about, and refuses as the session asks nobody: the verdict here is CONFIRM, with nobody to ask
no run either."""


@pytest.fixture(scope="module")
def cases(published: Callable[[str], Any]) -> list[Case]:
    """Return the published cases."""
    found: list[Case] = published("codex.json")["cases"]
    return found


def _of(cases: list[Case], *kinds: str) -> list[Case]:
    return [case for case in cases if case["kind"] in kinds]


# Taking commands apart -------------------------------------------------------------------------------------------


def _argv(words: Iterable[str]) -> tuple[Command, ...]:
    return (Command(tuple(map(Word, words))),)


def _taken_apart(case: Case) -> list[Classified] | None:
    """Return the commands that run, or None when the text is refused."""
    try:
        found = classify(read_strictly(case["script"]) if "script" in case else _argv(case["command"]))
    except UnreadableError:
        return None
    return None if any(isinstance(each, Refused) for each in found) else [e for e in found if isinstance(e, Classified)]


def _words(found: list[Classified] | None) -> Argv | None:
    return None if found is None else [list(each.command.argv) for each in found]


def _expected(case: Case) -> Argv | None:
    """Return the commands Codex finds; of a here-document's script it names the one command there is."""
    if case["kind"] == "heredoc_prefix":
        return None if case["expected"]["prefix"] is None else [case["expected"]["prefix"]]
    commands: Argv | None = case["expected"]["commands"]
    return commands


def test_commands_are_taken_apart_alike(cases: list[Case]) -> None:
    """In every case the same commands with the same arguments, but for what is listed."""
    compared = _of(cases, "shell_split", "heredoc_prefix")
    assert len(compared) == 39
    for case in compared:
        expected = [case["command"]] if case["id"] in ZSH else READ.get(case["id"], _expected(case))
        assert _words(_taken_apart(case)) == expected, case["id"]


def test_what_is_read_besides_differs_from_codex(cases: list[Case]) -> None:
    """Each text of the list is one that Codex refuses."""
    assert {case["id"] for case in _of(cases, "shell_split", "heredoc_prefix") if _expected(case) is None} > set(READ)


def test_a_redirection_is_kept(cases: list[Case], decide: Callable[..., tuple[Verdict, str | None]]) -> None:
    """A permission for the commands does not cover the files they are redirected into."""
    writing = [case for case in cases if case["id"] in WRITES]
    assert len(writing) == len(WRITES)
    for case in writing:
        call = case["script"] if "script" in case else call_of(case["command"])
        assert decide([{"effect": "allow", "when.command": ["*"]}], call)[0] is Verdict.CONFIRM, case["id"]


def test_text_for_zsh_never_reads(cases: list[Case]) -> None:
    """The strict reader knows bash's way of reading, and vouches for no other."""
    for case in (case for case in cases if case["id"] in ZSH):
        assert why_not_reading(_argv(case["command"])[0]) is not None, case["id"]


def test_a_shell_without_commands_is_refused(cases: list[Case]) -> None:
    """Where Codex falls back to the shell itself as the command, nothing counts as read."""
    empty = _of(cases, "commands_for_exec_policy")
    assert [_taken_apart(case) for case in empty] == [None, None]


def test_dangerous_commands_never_read(cases: list[Case], decide: Callable[..., tuple[Verdict, str | None]]) -> None:
    """What Codex calls dangerous is not run unasked."""
    dangerous = _of(cases, "might_be_dangerous")
    assert [case["expected"] for case in dangerous] == [{"dangerous": True}] * 2
    for case in dangerous:
        assert decide([], call_of(case["command"])) == (Verdict.CONFIRM, None), case["id"]


# Rules -----------------------------------------------------------------------------------------------------------

_TYPES = {"skip": Verdict.ALLOW, "needs_approval": Verdict.CONFIRM, "forbidden": Verdict.BLOCK}


def test_approvals_are_asked_for_alike(
    cases: list[Case],
    decide: Callable[..., tuple[Verdict, str | None]],
    stricter: Callable[[Answers], set[str]],
) -> None:
    """With the built-in rules a call runs unasked only where it does in Codex."""
    answers = {}
    for case in _of(cases, "approval_requirement"):
        source = case["config"]["policy_src"]
        ours = decide(rules_of([] if source is None else [source]), call_of(case["command"]))[0]
        expected = Verdict.CONFIRM if case["id"] in UNASKED else _TYPES[case["expected"]["type"]]
        answers[case["id"]] = (expected, ours)
    assert len(answers) == 35
    assert stricter(answers) == STRICTER.keys() & answers.keys()


def test_refusals_without_a_question_are_those_of_sessions_that_ask_nobody(cases: list[Case]) -> None:
    """In each case of the list Codex refuses only because it may not ask."""
    for case in (case for case in cases if case["id"] in UNASKED):
        assert case["expected"]["type"] == "forbidden"
        assert case["approval_policy"] == "never" or False in case["approval_policy"]["granular"].values()


def test_unknown_programs_are_asked_about(cases: list[Case], decide: Callable[..., tuple[Verdict, str | None]]) -> None:
    """A program no rule names is a question in both."""
    unmatched = _of(cases, "unmatched_decision")
    assert [case["expected"]["decision"] for case in unmatched] == ["prompt"] * 2
    assert {decide([], call_of(case["command"])) for case in unmatched} == {(Verdict.CONFIRM, None)}
