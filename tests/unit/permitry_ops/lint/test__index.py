"""The index of lint: it leaves out nothing that a comparison of all pairs finds, and nearly all of the comparisons."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.tables import for_each

from permitry.conditions.args import argument_condition
from permitry.conditions.command import ArgvPattern
from permitry.conditions.path import PathPattern
from permitry.conditions.scope import Conditions, Scope
from permitry.conditions.tools import ToolSelector
from permitry.config.drafts import drafts_of
from permitry.config.load import RuleSet, load_rules
from permitry.core.decision import Verdict
from permitry.rules.configured import ConfiguredRule
from permitry_ops.lint import lint
from permitry_ops.lint._index import Index
from permitry_ops.lint.unreachable_example import Restrictions

TOOLS = (
    "*", "run_*", "run_shell", "write_file", "edit_file", "read_file", "web_fetch", "mcp:*/x", "mcp:s/?", "mcp:s/*",
    "@reads", "@writes", "@shell", "@network", "*_mail", "send_*", "send_mail", "s*l", "*e*", "x?", "xy",
)  # fmt: skip
COMMANDS = (
    "*", "git *", "git push *", "git push", "git {push,fetch} *", "{git,hg} push *", "git p* --all", "g?t push",
    "git ** push", "git * push", "git push -f *", "git push --force origin", "/usr/bin/git push *", "GIT push",
    "g* push *", r"git \\* x", "git 'a b' *", "rm ? *", "rm -rf *", "rm -r -f x", "./a.sh *", "npm run {a,b}",
)  # fmt: skip
PATHS = (
    "**", "/**", "src/**", "src/*", "src/a", "./src", "src/**/b", "src/[ab]", "SRC/a", "src/.env", "**/.env",
    "/**/.env", "~/**", "~/src/**", "/etc/*", "/*/src",
)  # fmt: skip
HOSTS = (
    "*", "example.com", "*.example.com", "a.example.com", "*.a.example.com", "http://example.com", "example.com:8080",
    "private",
)  # fmt: skip
PLAIN = (
    'mode = "plan"', 'mode = ["plan", "review"]', 'mode = "yolo"', 'server = "s"', 'agent = "x"', "args.n = 1",
    'args.n = "prod"', "args.n = { le = 5 }", 'args.n = { regex = "a+" }', 'args.m = { in = ["a", "b"] }',
    "repaired = true", "repeat = 2",
)  # fmt: skip
# Calls that a permission with such a pattern alone covers.
EXAMPLES = {
    "git *": ("git push", "git fetch *.py", "git push -f origin"),
    "git push *": ("git push", "git push --all"),
    "rm -rf *": ("rm -rf x", "rm -rf src/.env"),
    "src/**": ("src/a", "src/x/b", "src/.env"),
    "/etc/*": ("/etc/passwd",),
    "example.com": ("https://example.com/x",),
}

texts = {"command": st.sampled_from(COMMANDS), "path": st.sampled_from(PATHS), "host": st.sampled_from(HOSTS)}


@st.composite
def conditions(draw: st.DrawFn, key: str) -> list[str]:
    """Return the lines of a `when` or `unless`."""
    kinds = draw(st.lists(st.sampled_from(["command", "command", "path", "host"]), max_size=2, unique=True))
    lines = [f"{key}.{k} = {json.dumps(draw(st.lists(texts[k], min_size=1, max_size=2, unique=True)))}" for k in kinds]
    return lines + [f"{key}.{each}" for each in draw(st.lists(st.sampled_from(PLAIN), max_size=1))]


@st.composite
def rule_lines(draw: st.DrawFn) -> list[str]:
    """Return the lines of one rule, but for its id."""
    effect = draw(st.sampled_from(["allow", "allow", "confirm", "block"]))
    tools = draw(st.lists(st.sampled_from(TOOLS), min_size=1, max_size=2, unique=True))
    lines = [f'effect = "{effect}"', f"tools = {json.dumps(tools)}"]
    if draw(st.booleans()):
        # Of one pattern it is known which example it takes.
        pattern = draw(st.sampled_from(list(EXAMPLES)))
        key, tool = _kind_of(pattern)
        example = draw(st.sampled_from(EXAMPLES[pattern]))
        return [lines[0], f'tools = ["{tool}"]', f'when.{key} = ["{pattern}"]', f'match = [{{ {key} = "{example}" }}]']
    lines += draw(conditions("when"))
    lines += draw(conditions("unless")) if draw(st.integers(0, 4)) == 0 else []
    if effect != "allow":
        lines += draw(st.sampled_from([[], [], ['message = "Ask Ann."'], ["budget = { calls = 3 }"]]))
    return lines


def _kind_of(pattern: str) -> tuple[str, str]:
    if " " in pattern:
        return "command", "run_shell"
    return ("path", "write_file") if "/" in pattern else ("host", "web_fetch")


def _all_of(index: Index, _: object) -> Iterator[ConfiguredRule]:
    return iter(index.rules)


def _all_restrictions(near: Restrictions, _: object) -> Sequence[ConfiguredRule]:
    return near.rules


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file that each example writes again."""
    return tmp_path_factory.mktemp("lint") / "rules.toml"


@settings(max_examples=50, deadline=None, database=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(rules=st.lists(rule_lines(), min_size=2, max_size=25))
def test_the_findings_are_those_of_all_pairs(rules: list[list[str]], file: Path) -> None:
    """What is not compared would have had no finding."""
    written = ("\n".join(("[[rule]]", f'id = "r{at}"', *lines, "")) for at, lines in enumerate(rules))
    file.write_text("\n".join(("schema = 1", *written)), encoding="utf-8")
    loaded = load_rules([file])
    found = lint(loaded, drafts=drafts_of(loaded))
    with patch.object(Index, "near", _all_of), patch.object(Restrictions, "near", _all_restrictions):
        assert found == lint(loaded, drafts=drafts_of(loaded))


# What it costs ----------------------------------------------------------------------------------------------------


def _rule(number: int, effect: Verdict, scope: Scope) -> ConfiguredRule:
    priority = {Verdict.BLOCK: 150, Verdict.CONFIRM: 160, Verdict.ALLOW: 250}[effect]
    return ConfiguredRule(f"r{number}", effect, priority, scope, source=f"rules.toml:{number}")


def _of_one_tool(number: int) -> Scope:
    """Return a scope about commands of one shell tool: a few wide, most of them narrow."""
    program = f"tool{number % 97}"
    if number < 97:
        return Scope((ToolSelector("run_shell"),), Conditions(commands=(ArgvPattern(f"{program} version"),)))
    forms = (
        "{p} do{n} *",
        "{p} do{n} --all *",
        "{p} {{do{n},see{n}}} *",
        "./bin/{p} -f x{n}",
        "{p} ** end{n}",
        "{p} x {n}",
    )
    text = forms[number % len(forms)].format(p=program, n=number // 6)
    return Scope((ToolSelector("run_shell"),), Conditions(commands=(ArgvPattern(text),)))


def _of_many_tools(number: int) -> Scope:
    """Return a scope about one of many tools, and an argument that others look at as well."""
    tool = ("crm_do_{}", "mcp:server{}/*", "*_of_{}", "mcp:crm/do_{}")[number % 4].format(number // 8)
    condition = argument_condition("limit", {"le": number % 3})
    return Scope((ToolSelector(tool),), Conditions((condition,) if number % 2 else ()))


def _of_paths(number: int) -> Scope:
    """Return a scope about a folder of its own, for all tools that write."""
    forms = ("src/m{}/**", "src/m{}/*.py", "/srv/m{}/x/**", "~/m{}/a")
    path = PathPattern(forms[number % 4].format(number // 4))
    return Scope((ToolSelector("@writes"),), Conditions(paths=(path,)))


def _compared(scope_of: Any, count: int) -> int:  # noqa: ANN401 -- one of the functions above
    """Return how many pairs of rules are compared."""
    effects = (Verdict.ALLOW, Verdict.ALLOW, Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK)
    rules = tuple(_rule(number, effects[number % 5], scope_of(number)) for number in range(count))
    near, pairs = Index.near, 0

    def counted(index: Index, facts: Any) -> Iterator[ConfiguredRule]:  # noqa: ANN401 -- whatever `near` takes
        nonlocal pairs
        for rule in near(index, facts):
            pairs += 1
            yield rule

    with patch.object(Index, "near", counted):
        lint(RuleSet(rules, files=("rules.toml",)))
    return pairs


@for_each("scope_of", [_of_one_tool, _of_many_tools, _of_paths])
def test_twice_the_rules_are_about_twice_the_comparisons(scope_of: Any) -> None:  # noqa: ANN401 -- as above
    """Each rule is compared with a few, however many there are."""
    few, many = _compared(scope_of, 2_000), _compared(scope_of, 4_000)
    assert many <= 2.5 * few
    assert many <= 10 * 4_000
