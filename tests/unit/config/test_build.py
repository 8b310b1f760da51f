"""Checked tables become rules and templates, and what is wrong in context is found."""

import attrs
import pytest
from tests.tables import for_each

from permitry.conditions.agent import AgentCondition
from permitry.conditions.budget import Budget
from permitry.conditions.mode import ModeCondition
from permitry.conditions.scope import Scope
from permitry.conditions.template import TemplateCondition
from permitry.conditions.tools import ToolSelector
from permitry.config.build import DEEPEST, Known, build_templates, plain_rule, plain_tool, read_rule
from permitry.config.conditions import read_scope
from permitry.config.diagnostics import SourceText
from permitry.config.drafts import RuleDraft, TemplateDraft, ToolDraft
from permitry.config.origin import Origin
from permitry.config.plain import flows_of, rule_of, tool_of
from permitry.config.schema import RuleTable, TemplateTable, ToolTable
from permitry.core.decision import Verdict
from permitry.core.pattern import Pattern
from permitry.core.shared import Limit
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits
from permitry.core.template import Template
from permitry.rules.configured import ConfiguredRule
from permitry.rules.flow import FlowRule


def _source(text: str) -> SourceText:
    return SourceText("rules.toml", text)


SOURCE = _source('schema = 1\n[[rule]]\nid = "r"\n')
READER = Template("reader", ("read_*",))
EDITOR = Template("editor", extends=(READER,))
TEMPLATES = {"reader": READER, "editor": EDITOR}


def _draft(**keys: object) -> RuleDraft:
    table = RuleTable.model_validate({"id": "r", "effect": "block", "tools": ["x"], **keys})
    return RuleDraft(SOURCE, ("rule", 0), table)


def _admin_draft(effect: str, priority: int) -> RuleDraft:
    return attrs.evolve(_draft(effect=effect, priority=priority), origin=Origin("rules.toml", is_admin=True))


def _template(name: str, **keys: object) -> TemplateDraft:
    return TemplateDraft(SOURCE, ("template", name), TemplateTable.model_validate(keys))


def _messages(draft: RuleDraft) -> list[str]:
    return [problem.message for problem in read_rule(draft, TEMPLATES, TEMPLATES, Known())[1]]


def _rule(draft: RuleDraft) -> ConfiguredRule:
    return rule_of(plain_rule(draft), read_scope(draft)[0])


@for_each(("effect", "priority"), [("block", 150), ("confirm", 160), ("allow", 250)])
def test_the_priority_of_a_rule_defaults_by_effect(effect: str, priority: int) -> None:
    """Restrictions stand in the middle of their band, permissions among the allowlists."""
    rule = _rule(_draft(effect=effect))
    assert (rule.effect, rule.priority()) == (Verdict(effect), priority)


def test_priority_zero_is_not_taken_for_no_priority() -> None:
    """The number of the file counts, also when it is 0."""
    assert _rule(_admin_draft("allow", 0)).priority() == 0


def test_a_rule_carries_everything_its_table_says() -> None:
    """Nothing that is in the file is lost on the way."""
    when = {"mode": ["plan", "review"], "agent": "sub*", "template": "editor"}
    rule = _rule(_draft(when=when, reason="why", message="go on", tools=["a*", "@writes"]))
    assert rule.scope.selectors == (ToolSelector("a*"), ToolSelector("@writes"))
    assert rule.scope.when.plain == (
        ModeCondition(("plan", "review")),
        AgentCondition((Pattern("sub*"),)),
        TemplateCondition(("editor",)),
    )
    assert (rule.reason, rule.message) == ("why", "go on")


def test_a_rule_without_more_has_no_conditions_and_default_texts() -> None:
    """The operator is shown no reason, and the model gets the text of the policy."""
    rule = _rule(_draft())
    assert rule.scope == Scope((ToolSelector("x"),))
    assert rule.budget is None
    assert (rule.reason, rule.message) == ("", None)


def test_a_message_is_a_reason_as_well() -> None:
    """What the model may read, the operator may too."""
    rule = _rule(_draft(message="Use the staging host."))
    assert (rule.reason, rule.message) == ("Use the staging host.", "Use the staging host.")


def test_a_rule_without_tools_selects_by_condition_alone() -> None:
    """Left-out `tools` means every tool."""
    assert _rule(_draft(tools=None, when={"mode": "plan"})).scope.selectors == ()


def test_a_rule_knows_where_it_stands() -> None:
    """The source is the line of the header."""
    assert _rule(_draft()).source == "rules.toml:2"


@for_each(("effect", "priority"), [("block", 100), ("confirm", 199), ("allow", 200), ("allow", 399)])
def test_a_priority_in_the_band_of_the_effect_is_fine(effect: str, priority: int) -> None:
    """Restrictions at 100 to 199, permissions at 200 to 399, both ends included."""
    assert _messages(_draft(effect=effect, priority=priority)) == []


@for_each(
    ("effect", "priority"),
    [("block", 99), ("confirm", 0), ("block", 200), ("confirm", 99), ("allow", 99), ("allow", 100), ("allow", 199)],
)
def test_a_priority_outside_the_band_of_the_effect_is_told(effect: str, priority: int) -> None:
    """One step past either end is a mistake."""
    [message] = _messages(_draft(effect=effect, priority=priority))
    assert f"priority {priority}" in message


@for_each("priority", [0, 99])
def test_an_admin_may_allow_before_every_restriction(priority: int) -> None:
    """Overrides are for the admin layer."""
    assert _messages(_admin_draft("allow", priority)) == []


@for_each("effect", ["block", "confirm"])
def test_an_admin_may_not_restrict_before_the_restrictions(effect: str) -> None:
    """A restriction below 100 has no phase to be asked in."""
    assert _messages(_admin_draft(effect, 50)) == [f"a `{effect}` rule cannot have priority 50"]


def test_a_restriction_may_be_scoped_by_a_condition_alone() -> None:
    """A block of a whole mode or agent needs no tools."""
    assert _messages(_draft(tools=None, when={"agent": "guest"})) == []


def test_an_empty_condition_does_not_scope_a_rule() -> None:
    """Both are reported: that the rule is about everything, and that its condition is empty."""
    assert _messages(_draft(tools=None, when={})) == [
        "`when` is empty",
        "the rule names neither tools nor a condition",
    ]


@for_each("key", ["match", "no_match"])
def test_an_example_in_an_unknown_template_is_told_and_not_tried(key: str) -> None:
    """Whether it would match or not, it waits until its template is known; the others are tried."""
    examples = [{"tool": "x", "template": "redaer"}, {"tool": "y", "template": "redaer"}, "x", "y"]
    unknown, another, failing = _messages(_draft(**{key: examples}))
    assert unknown == another == "unknown template `redaer`"
    assert f"the `{key}` example" in failing


def test_a_template_with_mistakes_of_its_own_is_known() -> None:
    """What is wrong with a template is reported once, not again at every rule and example that names it."""
    draft = _draft(when={"template": "broken"}, match=[{"tool": "x", "template": "broken"}])
    assert read_rule(draft, {}, {"broken"}, Known())[1] == []


def test_every_unknown_template_is_told_at_its_own_place() -> None:
    """Two slips of the pen in one list are two problems, and the second caret is not under the first."""
    text = '[[rule]]\nwhen.template = ["reader", "raeder", "edotir"]\n'
    draft = attrs.evolve(_draft(when={"template": ["reader", "raeder", "edotir"]}), source=_source(text))
    _, problems = read_rule(draft, TEMPLATES, TEMPLATES, Known())
    assert [(problem.column, problem.hint) for problem in problems] == [
        (28, "did you mean `reader`?"),
        (38, "did you mean `editor`?"),
    ]


@for_each("example")
def test_an_example_matches_when_what_it_gives_holds(example: object) -> None:
    """A condition the example does not give is taken to hold; a template holds for those that extend it."""
    when = {"mode": "plan", "agent": "sub*", "template": "reader"}
    assert _messages(_draft(when=when, match=[example])) == []
    assert len(_messages(_draft(when=when, no_match=[example]))) == 1


@for_each("example")
def test_an_example_does_not_match_when_one_thing_it_gives_fails(example: object) -> None:
    """The tool and every given condition must hold."""
    when = {"mode": "plan", "agent": "sub*", "template": "reader"}
    assert _messages(_draft(when=when, no_match=[example])) == []
    assert len(_messages(_draft(when=when, match=[example]))) == 1


def test_an_example_is_tried_against_traits_and_server_tools() -> None:
    """Examples go the way of real calls."""
    assert _messages(_draft(tools=["@reads"], match=["read_file"], no_match=["mcp:x/read_file", "write_file"])) == []
    assert _messages(_draft(tools=["mcp:x/*"], match=["mcp:x/y"], no_match=["y", "mcp:z/y"])) == []


def test_every_failing_example_is_told() -> None:
    """Not only the first one."""
    assert len(_messages(_draft(match=["a", "x", "b"], no_match=["x", "c"]))) == 3


def test_templates_are_built_with_what_they_extend() -> None:
    """Whatever the order of the file, a parent is the very template of that name."""
    drafts = {"edit": _template("edit", extends=["read"], allow_tools=["write"]), "read": _template("read")}
    templates, problems = build_templates(drafts)
    assert problems == []
    assert templates["edit"] == Template("edit", ("write",), extends=(templates["read"],))


def test_a_template_keeps_its_description() -> None:
    """The description is for whoever chooses a template."""
    assert build_templates({"a": _template("a", description="why")})[0]["a"].description == "why"


def test_two_templates_may_share_a_parent() -> None:
    """A diamond is no circle."""
    drafts = {
        "top": _template("top"),
        "left": _template("left", extends=["top"]),
        "right": _template("right", extends=["top"]),
        "all": _template("all", extends=["left", "right"]),
    }
    templates, problems = build_templates(drafts)
    assert problems == []
    assert templates["all"].names() == {"top", "left", "right", "all"}


@for_each("name", ["a", "Read-Only", "v1.2", "a_b", "7"])
def test_one_word_is_a_template_name(name: str) -> None:
    """Letters, digits, hyphens, underscores and dots."""
    assert build_templates({name: _template(name)})[1] == []


@for_each("name", ["", "a b", "-a", ".a", "a/b", "ä", "a\n", "@reads"])
def test_anything_else_is_no_template_name(name: str) -> None:
    """A template's name is typed on command lines."""
    [problem] = build_templates({name: _template(name)})[1]
    assert problem.message == f"the template name `{name}` is not one word"


def test_no_template_is_built_when_one_is_wrong() -> None:
    """A template without the links it was written with would be another template."""
    drafts = {"a": _template("a", extends=["a"]), "b": _template("b", extends=["nobody"]), "c": _template("c")}
    templates, problems = build_templates(drafts)
    assert templates == {}
    assert len(problems) == 2


def test_one_circle_is_told_once_and_two_circles_twice() -> None:
    """Each circle is reported at its alphabetically first member, and what leads into one is not in it."""
    links = {"c": "b", "b": "c", "d": "e", "e": "d", "a": "b"}
    drafts = {name: _template(name, extends=[parent]) for name, parent in links.items()}
    told = [problem.message.rpartition(": ")[2] for problem in build_templates(drafts)[1]]
    assert told == ["b -> c -> b", "d -> e -> d"]


def test_a_circle_through_an_unknown_template_is_only_an_unknown_template() -> None:
    """What is not there cannot close a circle."""
    [problem] = build_templates({"a": _template("a", extends=["gone"])})[1]
    assert problem.message == "unknown template `gone`"


def _chain(length: int, step: int) -> dict[str, TemplateDraft]:
    """Return templates that extend the next (1) or the previous (-1) by name, in one row."""
    names = [f"t{i:03}" for i in range(length)][::step]
    links = zip(names, [*names[1:], None], strict=True)
    return {name: _template(name, extends=[parent] if parent else []) for name, parent in links}


both_ways = pytest.mark.parametrize("step", [1, -1], ids=["parents-last", "parents-first"])


@both_ways
def test_a_chain_of_templates_may_be_as_long_as_is_said(step: int) -> None:
    """The last template of the row carries the names of all."""
    templates, problems = build_templates(_chain(DEEPEST, step))
    assert problems == []
    assert max(len(template.names()) for template in templates.values()) == DEEPEST


@both_ways
@for_each("length", [DEEPEST + 1, DEEPEST + 2, 2000])
def test_a_longer_chain_of_templates_is_refused(length: int, step: int) -> None:
    """Whether the row is entered at its end or at its beginning, no recursion is deeper than the limit."""
    templates, problems = build_templates(_chain(length, step))
    assert templates == {}
    assert {problem.message for problem in problems} == {f"templates extend each other more than {DEEPEST} deep"}
    assert problems[0].hint == "name the tools themselves"


def test_a_template_may_extend_one_that_is_defined_with_a_mistake() -> None:
    """The mistake is reported where it is; nothing is built, and the parent is not called unknown."""
    drafts = {"a": _template("a", extends=["broken"]), "b": _template("b")}
    assert build_templates(drafts, {"a", "b", "broken"}) == ({}, [])


def test_the_names_of_all_templates_serve_the_hint_too() -> None:
    """A slip of the pen is recognised though the template meant has a mistake of its own."""
    [problem] = build_templates({"a": _template("a", extends=["borken"])}, {"a", "broken"})[1]
    assert (problem.message, problem.hint) == ("unknown template `borken`", "did you mean `broken`?")


def test_a_draft_is_named_by_the_last_part_of_its_path() -> None:
    """The name of a template is its key."""
    assert attrs.evolve(_template("a"), path=("template", "b")).name == "b"


# Budgets and labels -----------------------------------------------------------------------------------------------


@for_each(
    ("table", "budget"),
    [
        ({"calls": 3}, Budget("r", 3)),
        ({"targets": 2}, Budget("r", 2, "targets")),
        ({"calls": 3, "per": "90s"}, Budget("r", 3, seconds=90)),
        ({"calls": 3, "per": "2m", "by": "agent"}, Budget("r", 3, seconds=120, by="agent")),
        ({"targets": 3, "per": "1h", "by": "tool"}, Budget("r", 3, "targets", seconds=3600, by="tool")),
        ({"calls": 3, "per": "7d", "by": "session"}, Budget("r", 3, seconds=604_800)),
        ({"calls": 3, "per": "1m", "by": "principal"}, Budget("r", 3, seconds=60, by="principal")),
        ({"calls": 3, "per": "1h", "by": "organisation"}, Budget("r", 3, seconds=3600, by="organisation")),
    ],
)
def test_a_budget_is_what_its_table_says(table: dict[str, object], budget: Budget) -> None:
    """It counts under the id of its rule."""
    assert _rule(_draft(budget=table)).budget == budget


@for_each("table", [{}, {"per": "1h"}, {"calls": 1, "targets": 1}])
def test_a_budget_is_of_one_thing(table: dict[str, object]) -> None:
    """Of neither or of both it is reported."""
    assert _messages(_draft(budget=table)) == ["a budget is of `calls` or of `targets`"]


@for_each(("table", "messages"))
def test_a_budget_that_sessions_share_counts_calls_in_a_window(table: dict[str, object], messages: list[str]) -> None:
    """Anything else is reported, with what to write."""
    assert _messages(_draft(budget=table)) == messages


@for_each(("effect", "messages"), [("allow", []), ("confirm", ["`keep` without a permission"])])
def test_only_a_permission_keeps(effect: str, messages: list[str]) -> None:
    """What restricts, or asks, permits nothing that would have to be undone."""
    draft = _draft(effect=effect, keep=True)
    assert _messages(draft) == messages
    assert _rule(draft).keeps


@for_each(
    ("effect", "when", "is_wrong"),
    [("allow", {"command": "x"}, False), ("allow", {"path": "x"}, True), ("block", {"command": "x"}, True)],
)
def test_only_a_permission_of_commands_runs_any(effect: str, when: dict[str, object], *, is_wrong: bool) -> None:
    """A restriction looks at each program by itself."""
    wrong = ["`runs_any` without a permission of commands"]
    assert _messages(_draft(effect=effect, when=when, runs_any=True)) == (wrong if is_wrong else [])


SCOPE = Scope((ToolSelector("x"),))


@for_each(
    ("keys", "flows"),
    [
        ({}, []),
        ({"effect": "confirm", "adds_label": "web"}, [FlowRule("r", SCOPE, "web")]),
        ({"budget": {"calls": 1}}, [FlowRule("r", SCOPE, None, counts=True)]),
        (
            {"budget": {"calls": 1, "per": "1h", "by": "principal"}},
            [FlowRule("r", SCOPE, None, counts=True, limit=Limit("r", "principal", 1, 3600.0))],
        ),
        ({"effect": "allow", "adds_label": "web", "budget": {"calls": 1}}, [FlowRule("r", SCOPE, "web", counts=True)]),
        ({"effect": None, "adds_label": "web"}, [FlowRule("r", SCOPE, "web")]),
    ],
)
def test_a_rule_leaves_behind_what_it_says(keys: dict[str, object], flows: list[FlowRule]) -> None:
    """A label, a count, both in one, or nothing; in the scope of the rule."""
    draft = _draft(**keys)
    assert list(flows_of(plain_rule(draft), read_scope(draft)[0])) == flows


@for_each(("keys", "messages"))
def test_a_rule_without_an_effect_only_labels(keys: dict[str, object], messages: list[str]) -> None:
    """Then it decides nothing, and says nothing about deciding."""
    assert _messages(_draft(effect=None, **keys)) == messages


def test_a_blocked_call_leaves_no_label() -> None:
    """It never runs."""
    assert _messages(_draft(adds_label="web")) == ["a blocked call never runs, so it leaves no label"]
    assert _messages(_draft(effect="confirm", adds_label="web")) == []


@for_each(
    ("keys", "is_refused"),
    [
        ({"effect": "allow", "when": {"label": "web"}}, True),
        ({"effect": "allow", "unless": {"label": "web"}}, False),
        ({"effect": "block", "when": {"label": "web"}}, False),
        ({"effect": "block", "unless": {"label": "web"}}, True),
        ({"effect": "confirm", "unless": {"label": "web", "mode": "plan"}}, True),
        ({"effect": None, "adds_label": "x", "when": {"label": "web"}}, False),
        ({"effect": None, "adds_label": "x", "unless": {"label": "web"}}, True),
    ],
)
def test_a_label_only_restricts(*, keys: dict[str, object], is_refused: bool) -> None:
    """Any call can leave one, so none may let a call run."""
    refused = "a label that lets a call run could be set by any call"
    assert _messages(_draft(**keys)) == ([refused] if is_refused else [])


# What a rule is about ---------------------------------------------------------------------------------------------


@for_each("key", ["command", "path", "host"])
def test_a_permission_over_actions_needs_no_tools(key: str) -> None:
    """It covers what it names, whatever tool does it; any other permission says which tools it is for."""
    assert _messages(_draft(effect="allow", tools=None, when={key: "x"})) == []
    other = _messages(_draft(effect="allow", tools=None, when={"mode": "plan"}))
    assert other == ["an `allow` rule must name its tools"]


@for_each("key", ["when", "unless"])
def test_an_empty_table_of_conditions_is_told(key: str) -> None:
    """It would hold always, or never."""
    assert _messages(_draft(**{key: {}})) == [f"`{key}` is empty"]


def test_a_condition_that_cannot_be_read_is_told_and_its_examples_are_not_tried() -> None:
    """One mistake is one problem."""
    assert _messages(_draft(when={"path": "a\\b"}, match=["x"], no_match=["x"])) == [
        "the path pattern `a\\b` holds a backslash"
    ]


# Tools ------------------------------------------------------------------------------------------------------------


def _tool(**keys: object) -> ToolSpec:
    return tool_of(plain_tool(ToolDraft(SOURCE, ("tool", "t"), ToolTable.model_validate(keys))))


def test_of_a_tool_without_traits_nothing_is_known() -> None:
    """Left out is unknown; roles that are left out are none, as the tool is declared."""
    spec = _tool(description="what")
    assert (spec.name, spec.description, spec.traits, spec.roles) == ("t", "what", ToolTraits(), {})


@for_each(
    ("traits", "destructive"),
    [
        ([], None),
        (["open_world"], None),
        (["read_only"], False),
        (["destructive"], True),
        (["read_only", "destructive"], True),
    ],
)
def test_a_trait_that_a_list_leaves_out_is_not_so(traits: list[str], destructive: bool | None) -> None:  # noqa: FBT001 -- a parameter of the test
    """But a tool that is not said to read may well destroy."""
    given = {name: name in traits for name in ("read_only", "idempotent", "open_world", "spawns_agent")}
    assert _tool(traits=traits).traits == ToolTraits(**given, destructive=destructive)


def test_roles_are_what_the_table_says() -> None:
    """Nested tables are dots."""
    roles = _tool(roles={"url": "url", "a": {"b": {"c": "text"}}, "items[].path|x?": "read_path"}).roles
    assert roles == {
        "url": ArgumentRole.URL,
        "a.b.c": ArgumentRole.TEXT,
        "items[].path|x?": ArgumentRole.READ_PATH,
    }


# Where values come from -------------------------------------------------------------------------------------------


@for_each(("effect", "place", "test", "is_refused"))
def test_a_source_is_certain_or_it_is_not(
    *, effect: str, place: str, test: dict[str, object], is_refused: bool
) -> None:
    """What may come from anywhere decides nothing."""
    given = {"a": {"to": test}}
    keys = {place: {"args": given}} if place == "when" else {"when": {"mode": "x"}, "unless": {"args": given}}
    draft = _draft(effect=effect, **keys)
    assert [message.partition("` would decide")[0] for message in _messages(draft)] == (
        [f"`{place}.args.a.to.{_dotted(test)}"] if is_refused else []
    )


def _dotted(test: dict[str, object]) -> str:
    (name, *_), (inner, *_) = test, test.values()
    if isinstance(inner, list) and isinstance(inner[0], dict):
        return f"{name}.0.{_dotted(inner[0])}"
    return f"{name}.{_dotted(inner)}" if isinstance(inner, dict) else name
