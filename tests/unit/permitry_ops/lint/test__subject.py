"""What every check looks at: the rules in the order in which they are asked, and the tools that are known."""

from collections.abc import Callable, Collection

import pytest

from permitry.conditions.tools import ToolSelector
from permitry.config.drafts import drafts_of
from permitry.config.load import Origin, load_rules
from permitry.core.pattern import Pattern
from permitry.core.well_known import WELL_KNOWN
from permitry_ops.lint._subject import BUILT_IN_TOOLS, Subject, is_unconditional, report_finding

Read = Callable[..., Subject]


@pytest.fixture
def read(write: Callable[[str, str], Origin]) -> Read:
    """Return a function that loads a text as `rules.toml`, and returns the subject."""

    def loaded(text: str, tools: Collection[str] | None = None) -> Subject:
        rules = load_rules([write("rules.toml", f"schema = 1\n{text}")])
        return Subject(rules, drafts_of(rules), None if tools is None else frozenset(tools))

    return loaded


@pytest.fixture
def three(read: Read, rule: Callable[..., str]) -> Subject:
    """Return a subject of a permission, a block, and a question before both, written in another order."""
    tools = 'tools = ["x"]'
    return read(
        rule("allow", "allow", tools, 'when.mode = "m"')
        + rule("block", "block", tools)
        + rule("ask", "confirm", tools, "priority = 110")
    )


def test_rules_are_in_the_order_in_which_they_are_asked(three: Subject) -> None:
    """By phase, and within it by priority."""
    assert [rule.id for rule in three.restrictions] == ["ask", "block"]
    assert [rule.id for rule in three.blocks] == ["block"]
    assert [rule.id for rule in three.permissions] == ["allow"]
    assert list(three.order) == ["ask", "block", "allow"]


def test_a_rule_without_conditions_always_holds(three: Subject) -> None:
    """Any condition makes it one that may not."""
    assert [rule.id for rule in three.rules.rules if is_unconditional(rule)] == ["block", "ask"]


def test_a_finding_names_the_place_of_its_rule(three: Subject) -> None:
    """A rule that came from no file is from code."""
    (rule,) = three.permissions
    assert report_finding(rule, "k", "r", "s").source == three.source_of("allow") == "rules.toml:2"
    assert three.source_of("unknown") == "code"


def test_tools_are_not_known_unless_they_are_listed(read: Read) -> None:
    """An empty list is one: then only what is declared and built in is there."""
    declared = '[tool.mine]\ntraits = ["read_only"]\n'
    assert read(declared).names is None
    assert read(declared, tools=()).names == sorted({"mine", *BUILT_IN_TOOLS})


def test_what_files_declare_comes_before_what_is_known(read: Read) -> None:
    """Of every other name, what it is known for holds."""
    name = next(name for name, spec in WELL_KNOWN.items() if spec.only_reads)
    specs = read(f'[tool.{name}]\ntraits = ["destructive"]\n').specs
    assert not specs[name].only_reads
    assert set(WELL_KNOWN) <= set(specs)


def test_names_are_found_by_their_pattern(read: Read) -> None:
    """All that fit it, and no others."""
    subject = read("", tools=("read_a", "read_b", "reader", "write_a"))
    assert list(subject.fitting(Pattern("read_*"))) == ["read_a", "read_b"]
    assert list(subject.fitting(Pattern("*_a"))) == ["read_a", "write_a"]
    assert list(read("").fitting(Pattern("*"))) == []


def test_a_tool_of_which_nothing_is_known_may_be_any(read: Read) -> None:
    """So every trait may select it; the tools of permitry itself are left out."""
    subject = read("", tools=("unknown_tool",))
    assert subject.selected(ToolSelector("@reads")) == ("unknown_tool",)
    assert subject.selected(ToolSelector("other")) == ("other",)
