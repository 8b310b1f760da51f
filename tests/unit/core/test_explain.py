"""An explanation: every rule's part in a decision, what each action would get alone, and a draft of a declaration."""

import tomllib
from collections.abc import Callable

from tests.tables import for_each
from tests.unit.core.stubs import PlainRule, always, never

from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Phase, Verdict
from permitry.core.explain import declaration, folder_declaration, likely_roles
from permitry.core.explanation import RuleOutcome
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import AnyRule, Request
from permitry.core.spec import ToolSpec

ALLOW, CONFIRM, BLOCK = Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK


class SeedRule:
    """A rule of two methods."""

    def priority(self) -> int:
        """Return its place."""
        return 50

    def should_allow_without_confirmation(self, tool_name: str, context: AuthContext) -> bool:
        """Return True."""
        return bool(tool_name and context)


def _noting(seen: list[Request]) -> Callable[[Request], bool]:
    def note(request: Request) -> bool:
        seen.append(request)
        return True

    return note


def test_an_explanation_tells_every_rule_in_order() -> None:
    """Phases first, priorities within, two-method rules among the permissions."""
    rules: list[AnyRule] = [
        PlainRule("p", ALLOW, 250),
        SeedRule(),
        PlainRule("r2", BLOCK, 160, never),
        PlainRule("r1", CONFIRM, 150),
        PlainRule("o", ALLOW, 0, never),
    ]
    explanation = AuthorizationPolicy(rules).explain(ToolCall("bash"), AuthContext())
    assert [(rule.rule_id, rule.outcome.value, rule.deciding) for rule in explanation.rules] == [
        ("o", "not matched", False),
        ("r1", "matched", True),
        ("r2", "not matched", False),
        ("seed-rule", "matched", False),
        ("p", "matched", False),
    ]


def test_a_trace_tells_what_the_rule_is() -> None:
    """Phase, priority, effect, source and reason are the rule's."""
    rule = PlainRule("r", CONFIRM, 150, reason="why", source="f:1")
    trace = AuthorizationPolicy([rule]).explain(ToolCall("bash"), AuthContext()).rules[0]
    assert (trace.phase, trace.priority, trace.effect) == (Phase.RESTRICTION, 150, CONFIRM)
    assert (trace.source, trace.reason, trace.near_miss, trace.error) == ("f:1", "why", None, None)


def test_an_explanation_asks_what_the_decision_asked() -> None:
    """Call, context and spec reach every rule once more, as they were."""
    seen: list[Request] = []
    asked = (ToolCall("tool", {"a": 1}), AuthContext(agent="x"), ToolSpec("tool"))
    AuthorizationPolicy([PlainRule("r", ALLOW, 250, _noting(seen))]).explain(*asked)
    assert seen == [Request(*asked), Request(*asked)]


def test_a_near_miss_is_asked_of_rules_that_did_not_match() -> None:
    """A rule that matched missed nothing."""
    rules = [
        PlainRule(name, ALLOW, 250, test, near=lambda _: "mode = plan")
        for name, test in (("no", never), ("yes", always))
    ]
    explanation = AuthorizationPolicy(rules).explain(ToolCall("bash"), AuthContext())
    assert [(rule.rule_id, rule.near_miss) for rule in explanation.rules] == [("no", "mode = plan"), ("yes", None)]


def test_a_near_miss_that_fails_costs_nothing() -> None:
    """A courtesy that raises is left out."""

    def fail(_: Request) -> str:
        raise RuntimeError("no")

    trace = (
        AuthorizationPolicy([PlainRule("r", BLOCK, 150, never, near=fail)])
        .explain(ToolCall("a"), AuthContext())
        .rules[0]
    )
    assert (trace.outcome, trace.near_miss, trace.error) == (RuleOutcome.NOT_MATCHED, None, None)


@for_each(
    ("name", "value", "role"),
    [
        ("command", "ls", "command"),
        ("cmd", "ls", "command"),
        ("url", "x", "url"),
        ("page_url", "x", "url"),
        ("imageUrl", "x", "url"),
        ("file", "x", "write_path"),
        ("file_path", "x", "write_path"),
        ("fileName", "x", "write_path"),
        ("dir", "x", "write_path"),
        ("target", "https://a.example/", "url"),
        ("target", "./notes", "write_path"),
        ("target", "~/notes", "write_path"),
        ("path", "https://a.example/", "write_path"),
        ("url", "./notes", "url"),
        ("command", "/bin/ls", "command"),
        ("target", "/a b", None),
        ("profile_text", "x", None),
        ("text", "hello", None),
    ],
)
def test_an_argument_looks_like_something(name: str, value: str, role: str | None) -> None:
    """By its name, else by its value."""
    found = likely_roles(ToolCall("t", {name: value}))
    assert {key: each.value for key, each in found.items()} == ({} if role is None else {name: role})


def test_only_texts_look_like_something() -> None:
    """A number is no path."""
    assert likely_roles(ToolCall("t", {"path": 7, "url": ["https://a.example/"]})) == {}


def test_the_declaration_is_a_table_of_a_rule_file() -> None:
    """Names that need quotes have them; whether a path is only read, the author knows."""
    lines = declaration(ToolCall("mcp:wiki/save", {"page path": "a", "url": "b", "text": "c"}))
    assert lines == (
        '[tool."mcp:wiki/save"]',
        'roles."page path" = "write_path"  # or read_path, delete_path',
        'roles.url = "url"',
    )
    (name,) = tomllib.loads("\n".join(lines))["tool"]
    assert name == "mcp:wiki/save"
    assert tomllib.loads("\n".join(declaration(ToolCall('a"b\\', {"url": "x"}))))["tool"] == {
        'a"b\\': {"roles": {"url": "url"}}
    }


def test_a_call_without_such_arguments_needs_no_declaration() -> None:
    """There is nothing to suggest."""
    assert declaration(ToolCall("send_mail", {"text": "hello"})) == ()


PAGES = """schema = 1
[[rule]]
id = "pages"
effect = "allow"
tools = ["save"]
when.path = "pages/**"
"""


@for_each(("tool", "is_shown"), [("save", True), ("other", False)])
def test_an_explanation_shows_the_draft_where_a_permission_needs_it(tool: str, *, is_shown: bool) -> None:
    """After the near misses; where the call is allowed, there is nothing to declare."""
    policy, call = load_policy(PAGES), ToolCall(tool, {"file": "pages/a"})
    explained = policy.explain(call, AuthContext())
    assert explained.declaration == (declaration(call) if is_shown else ())
    assert ("\n    [tool.save]\n" in str(explained)) is is_shown
    assert policy.explain(call, AuthContext(yolo_mode=True)).declaration == ()


def test_the_folder_of_a_server_is_for_its_author_to_say() -> None:
    """The lines are a part of the table of the tool."""
    table = tomllib.loads("\n".join(folder_declaration(ToolCall("mcp:wiki/save", {"path": "a"}))))
    assert table == {"tool": {"mcp:wiki/save": {"folder": "."}}}
