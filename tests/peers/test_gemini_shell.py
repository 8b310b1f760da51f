"""What Gemini CLI decides about shell commands, against the same rules of ours.

Its rules are translated for one call: those for its tool, mode and kind of session, the highest priority first, up to
the first that speaks of any command; that one is what happens to the rest. A pattern over the text of the arguments
becomes one over words: a prefix ends in `*`, a whole command is itself. Leave to redirect becomes a permission for any
path, distrust of the folder a restriction on `git`. Cases in which the test replaced the parser or the
sandbox are left out.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import pytest

from permitry.actions.programs.classify import why_not_reading_all
from permitry.actions.shell.strict import read_strictly
from permitry.core.call import ToolCall
from permitry.core.decision import Verdict

Case: TypeAlias = dict[str, Any]
Rule: TypeAlias = dict[str, Any]
Decide: TypeAlias = Callable[..., tuple[Verdict, str | None]]
Answers: TypeAlias = Mapping[str, tuple[Verdict, Verdict]]

STRICTER = {
    **dict.fromkeys(
        ("gemini-100", "gemini-184", "gemini-205", "gemini-212"),
        "what a substitution puts into the command is not known before it runs, so no pattern can cover the words",
    ),
    "gemini-182": "a command in the background goes on when the call is over; the strict reader does not read `&`",
    **dict.fromkeys(
        ("gemini-023", "gemini-103"),
        "Gemini CLI runs it unasked because of its sandbox; there is no sandbox here that would hold it",
    ),
    **dict.fromkeys(
        ("gemini-155", "gemini-156"),
        "the call asks for more rights in an argument nobody declared, and no permission speaks of those",
    ),
}
"""Calls Gemini CLI lets run and we do not, with the reason why ours is the safer answer."""

READING = {"gemini-175", "gemini-177", "gemini-178", "gemini-179"}
"""Calls Gemini CLI asks about and we do not: all they run only reads. Gemini CLI lets each of the commands run unasked
when it comes alone, but does not ask itself whether it only reads when it stands in a chain."""

_EFFECTS = {"allow": "allow", "ask_user": "confirm", "deny": "block"}
_WORD_ENDS = r'(?:[\s"]|\\")'
_COMMAND = '"command":"'


@pytest.fixture(scope="module")
def gemini(published: Callable[[str], Any]) -> dict[str, Any]:
    """Return the published cases and the rules they use."""
    found: dict[str, Any] = published("gemini.json")
    return found


@pytest.fixture(scope="module")
def cases(gemini: dict[str, Any]) -> list[Case]:
    """Return the cases about commands that the real engine decides."""
    about = [case for case in gemini["cases"] if case["tool_call"]["name"] in ("run_shell_command", "shell")]
    return [c for c in about if "command" in (c["tool_call"]["args"] or ()) and c["reproduced_by_real_engine"]]


# Translating rules -----------------------------------------------------------------------------------------------


def _applies(rule: Rule, case: Case) -> bool:
    """Return whether a rule is for the case's tool, mode and kind of session."""
    is_meant = rule["toolName"] in ("*", case["tool_call"]["name"]) and "mcpName" not in rule
    is_moded = case["mode"] in rule.get("modes", [case["mode"]])
    return is_meant and is_moded and rule.get("interactive") in (None, not case["non_interactive"])


def _condition(regex: str) -> Rule:
    """Return the condition a pattern over the text of arguments means."""
    is_prefix = regex.endswith(_WORD_ENDS)
    text = re.sub(r"\\(.)", r"\1", regex.removesuffix(_WORD_ENDS)).removeprefix(_COMMAND)
    text = text.replace('\\"', '"').replace('[^"]*', " ").removesuffix("b" if regex.endswith(r"\b") else "")
    if not is_prefix and text.endswith('"'):
        return {"when.args.command": text[:-1]} if "&&" in text else {"when.command": [text[:-1]]}
    return {"when.command": [f"{text} *"]}


def _own_rules(gemini: dict[str, Any], case: Case) -> tuple[list[Rule], Rule]:
    """Return the rules that speak of some commands, and the one that speaks of all the rest."""
    rules = [rule for rule in gemini["rulesets"][case["config"]["ruleset"]] if _applies(rule, case)]
    rules.sort(key=lambda rule: -rule.get("priority", 0))
    rest: Rule = {"decision": case["default_decision"]}
    for at, rule in enumerate(rules):
        if "argsPattern" not in rule:
            return rules[:at], rule
    return rules, rest


def _translated(gemini: dict[str, Any], case: Case) -> list[Rule]:
    special, rest = _own_rules(gemini, case)
    # A condition on other arguments than the command only ever narrows a permission here.
    special = [rule for rule in special if "dir_path" not in rule["argsPattern"]["$regex"]]
    rules = [{"effect": _EFFECTS[r["decision"]], **_condition(r["argsPattern"]["$regex"])} for r in special]
    named = [pattern for rule in rules for pattern in rule.get("when.command", ())]
    tools = {"tools": [case["tool_call"]["name"]]}
    if rest["decision"] == "deny":
        rules.append({"effect": "block", **tools, **({"unless.command": named} if named else {})})
    elif rest["decision"] == "allow":
        rules.append({"effect": "allow", "when.command": ["*"]})
    if any(rule.get("allowRedirection") for rule in (*special, rest)):
        rules.append({"effect": "allow", "when.path": ["/**"]})
    if not case["trusted_folder"]:
        rules.append({"effect": "confirm", "when.command": ["git *"]})
    return rules


# Decisions -------------------------------------------------------------------------------------------------------


def _decided(gemini: dict[str, Any], case: Case, decide: Decide, command: str | None = None) -> Verdict:
    """Return our verdict on a case, or on another command in its place."""
    name, arguments = case["tool_call"]["name"], dict(case["tool_call"]["args"])
    call = ToolCall(name, {**arguments, "command": command or arguments["command"]})
    # A tool called `shell` is not a shell to Gemini CLI: nothing runs there because it only reads.
    has_built_in = name == "run_shell_command"
    rules = _translated(gemini, case)
    return decide(rules, call, has_built_in=has_built_in, mode=case["mode"], attended=not case["non_interactive"])[0]


def test_decisions_are_alike(
    gemini: dict[str, Any], cases: list[Case], decide: Decide, stricter: Callable[[Answers], set[str]]
) -> None:
    """Every decision is Gemini's, or a stricter one for a reason that is listed."""
    compared = [case for case in cases if case["id"] not in READING]
    expected = {case["id"]: Verdict(_EFFECTS[case["expected"]["decision"]]) for case in compared}
    answers = {case["id"]: (expected[case["id"]], _decided(gemini, case, decide)) for case in compared}
    assert len(answers) == 82
    assert stricter(answers) == set(STRICTER)


def test_chains_that_only_read_run(gemini: dict[str, Any], cases: list[Case], decide: Decide) -> None:
    """The calls of the second list run; with a command that writes in the place of the last, they are asked about."""
    reading = [case for case in cases if case["id"] in READING]
    assert len(reading) == len(READING)
    for case in reading:
        command = case["tool_call"]["args"]["command"]
        assert why_not_reading_all(read_strictly(command)) is None
        assert _decided(gemini, case, decide) is Verdict.ALLOW, case["id"]
        writing = command[: read_strictly(command)[-1].start] + "touch written"
        assert _decided(gemini, case, decide, writing) is Verdict.CONFIRM, case["id"]


def test_the_note_names_every_difference(noted: set[str]) -> None:
    """A case in a list here is explained in the note on the design."""
    assert {*STRICTER, *READING} <= noted
