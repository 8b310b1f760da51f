"""What three more agents say about commands, against the same rules of ours.

opencode matches text. OpenHands rates what it sees, and asks about what
is risky or unknown: a rule set of ours names what it looks for. Roo Code flags substitutions.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from tests.tables import for_each

from permitry.actions.reading.strict import read_strictly
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.decision import Verdict
from permitry_hosts.importers.claude_code import EFFECTS
from permitry_hosts.importers.commands import narrow_pattern, restrict

Case: TypeAlias = dict[str, Any]
Rule: TypeAlias = dict[str, Any]
Published: TypeAlias = Callable[[str], dict[str, Any]]
Decide: TypeAlias = Callable[..., tuple[Verdict, str | None]]
Stricter: TypeAlias = Callable[[Mapping[str, tuple[Verdict, Verdict]]], set[str]]

STRICTER = {
    "openhands-005": "code that comes through a pipe is not known; OpenHands lists it as something it should see",
    "opencode-116": "a restriction is a floor; a narrower permission does not lift it",
    **dict.fromkeys(
        ("openhands-002", "openhands-003"),
        "a letter that looks like another does not name a program; OpenHands lists it as something it should see",
    ),
    **dict.fromkeys(
        ("openhands-014", "openhands-015", "openhands-019", "openhands-020", "openhands-111"),
        "it is not a command that bash would run as it is written, and what cannot be read is asked about",
    ),
    **dict.fromkeys(
        ("openhands-086", "openhands-087"),
        "a shell is asked to run a file, and what the file does is not known",
    ),
    **dict.fromkeys(
        ("openhands-102", "openhands-103"),
        "a restriction compares flags generously, behind `--` as well: not every program heeds it",
    ),
    **dict.fromkeys(("openhands-104", "openhands-105"), "a variable may hold the flag that is restricted"),
    "openhands-109": "more shells stand inside each other than the strict reader follows",
}
"""Calls a peer lets run and we do not, with the reason why ours is the safer answer."""

PRECISE = {
    "roo-013": "the command of the substitution is permitted as well",
    "openhands-017": "bash runs three commands on three lines, and none of them deletes anything",
}
"""Calls a peer asks about and we do not, as nothing that is restricted runs."""

BESIDE = {
    "openhands-025": "the risk stands in the model's reasoning, not in the command",
    "openhands-035": "words meant for a model, which are not a command",
    "openhands-036": "words meant for a model, which are not a command",
}
"""Cases that are not about commands."""


def _on_commands(effect: str, *patterns: str) -> Rule:
    return {"effect": effect, "when.command": list(patterns)}


@for_each("command", ["flock x rm y", "flock -x y -c 'rm z'"])
def test_what_flock_runs_needs_a_permission(decide: Decide, command: str) -> None:
    """A permission for `flock` lets it run alone, and with a command only what may run anyway."""
    rules = [_on_commands("allow", "flock *")]
    assert decide(rules, "flock x")[0] is Verdict.ALLOW
    assert decide(rules, command)[0] is Verdict.CONFIRM


# opencode --------------------------------------------------------------------------------------------------------


def _opencode_answers(cases: Iterable[Case], decide: Decide) -> Iterator[tuple[str, Verdict, Verdict]]:
    for case in cases:
        call: ToolCall | str = ""
        match case["kind"]:
            case "wildcard_all_structured":
                rules, wanted = case["patterns"], case["expected"]["value"] or "ask"
                call = ToolCall("local_shell", {"command": case["command"]}, kind=PayloadKind.LOCAL_SHELL)
            case "ask":
                rules = {rule["pattern"]: rule["action"] for rule in case["config"]["rules"]}
                call, wanted = " && ".join(case["tool_call"]["patterns"]), case["expected"]["decision"]
            case _:
                rules, call = {case["pattern"]: "allow"}, case["string"]
                wanted = "allow" if case["expected"]["match"] else "ask"
        translated = [_on_commands(EFFECTS[effect], *_patterns(pattern, effect)) for pattern, effect in rules.items()]
        yield case["id"], Verdict(EFFECTS[wanted]), decide(translated, call, has_built_in=False)[0]


def _patterns(text: str, effect: str) -> list[str]:
    if effect == "allow":
        return [narrow_pattern(text) or ""]
    return [pattern for when in restrict(text) for pattern in when.get("command", ())]


def test_opencode_decides_alike(published: Published, decide: Decide, stricter: Stricter) -> None:
    """Every decision on words, chains and wildcards is opencode's, or a stricter one for a reason that is listed."""
    cases = [
        case
        for case in published("opencode.json")["cases"]
        if case["kind"] == "wildcard_all_structured"
        or (case["kind"] == "ask" and case["tool_call"]["permission"] == "bash")
        or (case["kind"] == "wildcard_match" and re.match("ls|git", case["string"]))
    ]
    answers = {name: (theirs, ours) for name, theirs, ours in _opencode_answers(cases, decide)}
    assert len(answers) == 27
    assert stricter(answers) == _listed("opencode")


def test_opencode_finds_the_same_commands(published: Published) -> None:
    """What opencode asks about is what the strict reader finds; it leaves out `cd`, and keeps redirections as text."""
    cases = [case for case in published("opencode.json")["cases"] if case["kind"] == "shell_request"]
    compared = [case for case in cases if not re.search("^cd |>", case["command"])]
    assert len(compared) == 6
    for case in compared:
        found = [" ".join(command.argv) for command in read_strictly(case["command"])]
        assert found == case["computed_request"]["patterns"], case["id"]


# OpenHands -------------------------------------------------------------------------------------------------------

_RISKY = [
    _on_commands("confirm", "{rm,RM} -{rf,Rf,RF} *", "rm --recursive --force *", "sudo rm *"),
    _on_commands("confirm", "mkfs* *", "dd ** of=/dev/* *", "{bash,sh}"),
    _on_commands("allow", "*"),
]


def test_openhands_asks_alike(published: Published, decide: Decide, stricter: Stricter) -> None:
    """What OpenHands asks about, however it is quoted, spelled or wrapped, is asked about."""
    answers = {}
    for case in published("openhands.json")["cases"]:
        if case["id"] not in {*PRECISE, *BESIDE}:
            asks = case["expected"]["risk"] in ("HIGH", "UNKNOWN")
            ours = decide(_RISKY, case["action"]["arguments"]["command"], has_built_in=False)[0]
            answers[case["id"]] = (Verdict.CONFIRM if asks else Verdict.ALLOW, ours)
    assert len(answers) == 107
    assert stricter(answers) == _listed("openhands")


def test_a_command_on_three_lines_is_three(published: Published) -> None:
    """The case we do not ask about is one in which the flags are commands of their own."""
    (case,) = (case for case in published("openhands.json")["cases"] if case["id"] in PRECISE)
    assert [len(command.words) for command in read_strictly(case["action"]["arguments"]["command"])] == [1, 1, 1]


# Roo Code --------------------------------------------------------------------------------------------------------


def test_roo_code_decides_alike(published: Published, decide: Decide, stricter: Stricter) -> None:
    """No substitution that Roo Code flags is covered by a permission for every program."""
    answers = {}
    for case in published("roo_code.json")["cases"]:
        command, programs = (*case["args"], ["*"])[:2]
        runs = case["expected"] in (False, "auto_approve")
        rules = [_on_commands("allow", "*" if program == "*" else f"{program} *") for program in programs]
        theirs = Verdict.ALLOW if runs else Verdict.CONFIRM
        if case["id"] not in PRECISE:
            answers[case["id"]] = (theirs, decide(rules, command, has_built_in=False)[0])
    assert len(answers) == 18
    assert stricter(answers) == _listed("roo")


def _listed(peer: str) -> set[str]:
    return {name for name in STRICTER if name.startswith(f"{peer}-")}
