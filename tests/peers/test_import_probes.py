"""What importers know of the hosts' matchers, against the hosts' own published cases."""

import shlex
from collections.abc import Callable, Iterator
from typing import Any

from tests.peers.compared import Case

from permitry_hosts.importers import claude_code_matcher, codex, gemini, opencode

Published = Callable[[str], Any]

WRAPPED = {f"claude-{number:03}" for number in (*range(59, 67), 71)}
"""Programs that Claude Code takes off before it compares; no probe has one."""
OTHERWISE = {f"claude-{number:03}" for number in (69, 74, 75, 76, 77, 78, 79, 110, 111, 170, 171, 173)}
"""What is asked about for another reason: a variable, a redirection, a program that runs others, a critical path."""


def test_claude_codes_matcher_says_what_is_documented(published: Published) -> None:
    """Of every sentence about one rule for commands."""
    found = list(_of_claude_code(published("claude_code.json")["cases"]))
    assert len(found) > 60
    wrong = {name for name, (theirs, ours) in found if theirs != ours}
    assert wrong <= WRAPPED | OTHERWISE


def _of_claude_code(cases: list[Case]) -> Iterator[tuple[str, tuple[bool, bool]]]:
    for case in cases:
        lists = (case.get("config") or {}).get("permissions", {})
        rules = [(kind, rule) for kind, listed in lists.items() for rule in listed]
        command = case.get("tool_call", {}).get("input", {}).get("command")
        is_about_one = len(rules) == 1 and rules[0][1].startswith("Bash(") and ":true" not in rules[0][1]
        if not is_about_one or command is None or case.get("mode", "default") != "default":
            continue
        kind, rule = rules[0]
        expected = case["expected"]
        theirs = expected.get("rule_matches", expected.get("decision") == kind)
        yield case["id"], (theirs, claude_code_matcher.matcher(kind, rule[5:-1])(command))


def test_codexs_matcher_says_what_its_binary_said(published: Published) -> None:
    """Of every command without a folder, and every rule that matched."""
    kinds = [case for case in published("codex.json")["cases"] if case["kind"] == "execpolicy_check"]
    count = 0
    for case in kinds:
        theirs = {tuple(each["matchedPrefix"]) for each in case["expected"]["matched_prefix_rules"]}
        for prefix in theirs:
            names = [argv for argv in case["commands"] if "/" not in argv[0]]
            count += len(names)
            match = codex.matcher(list(prefix), "confirm")
            assert not names or any(match(shlex.join(argv)) for argv in names), case["id"]
    assert count > 10


def test_opencodes_matcher_says_what_its_tests_do(published: Published) -> None:
    """Of every text and pattern."""
    cases = [case for case in published("opencode.json")["cases"] if case["kind"] == "wildcard_match"]
    assert cases
    for case in cases:
        rule = opencode.Rule("edit", case["pattern"], "deny", "case")
        text = case["string"].replace("\\", "/")
        is_windows = "win" in str(case.get("platform", ""))
        assert is_windows or opencode.matcher(rule)(text) == case["expected"]["match"], case["id"]


def test_geminis_matcher_says_what_its_tests_do(published: Published) -> None:
    """Of every set with one rule over commands that decides a single one."""
    content, count = published("gemini.json"), 0
    for case in content["cases"]:
        rules = content["rulesets"][case["config"]["ruleset"]]
        command = str((case["tool_call"]["args"] or {}).get("command", ""))
        pattern = str(rules[0].get("argsPattern", {}).get("$regex", "")) if len(rules) == 1 else ""
        is_plain = command != "" and not set(command) & set(";&|<>$`()\n'\"")
        is_denied = pattern != "" and rules[0]["decision"] == "deny"
        if not is_denied or not is_plain or rules[0].get("toolName") not in gemini.SHELLS:
            continue
        match = gemini.matcher(gemini.Rule({**rules[0], "argsPattern": pattern}, "case"))
        assert match is not None
        assert match(command) == (case["expected"]["decision"] == "deny"), case["id"]
        count += 1
    assert count > 0
