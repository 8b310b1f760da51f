"""The line format of `permitry check`, `explain` and golden cases."""

from typing import Any

import pytest
from tests.tables import for_each

from permitry.conditions.provenance.provenance import Provenance
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.history import History, Ran
from permitry.core.rule import Request
from permitry.core.spec import ToolSpec, ToolTraits
from permitry.core.template import Template
from permitry.errors import CallError
from permitry.golden.counts import GivenCounts
from permitry.golden.request import read_request

_REVIEW = Template("review", ("read_*",))


def _read(**line: object) -> Request:
    return read_request({"name": "look", "arguments": {}, **line}, {"review": _REVIEW})


def test_a_bare_line_is_a_call_in_a_plain_context() -> None:
    """Name and arguments are enough."""
    assert _read(arguments={"path": "a"}) == Request(ToolCall("look", {"path": "a"}), AuthContext())


def test_kind_and_server_are_the_calls() -> None:
    """The call is read as in a session."""
    assert _read(server="docs").call == ToolCall("mcp:docs/look")
    assert _read(kind="custom").call == ToolCall("look", kind=PayloadKind.CUSTOM)


@for_each(("repaired", "wanted"), [(True, True), (False, False), (None, False)])
def test_a_line_may_say_that_the_call_was_repaired(*, repaired: object, wanted: bool) -> None:
    """The one who repaired the text of a call says so here; what else the call says stays."""
    call = _read(repaired=repaired, server="docs", arguments={"path": "a"}).call
    assert call == ToolCall("mcp:docs/look", {"path": "a"}, repaired=wanted)


def test_the_id_is_not_the_calls() -> None:
    """The id names the line in the output; it may be anything JSON can hold."""
    assert _read(id=17).call == ToolCall("look")


@for_each(
    ("context", "wanted"),
    [
        ({"is_plan_mode": True}, AuthContext(is_plan_mode=True)),
        ({"yolo_mode": True}, AuthContext(yolo_mode=True)),
        ({"tool_ignore_list": ["look", "write"]}, AuthContext(tool_ignore_list=("look", "write"))),
        ({"template": "review"}, AuthContext(active_template=_REVIEW)),
        ({"mode": "night"}, AuthContext(mode="night")),
        ({"attended": False}, AuthContext(attended=False)),
        ({"workspace": "work"}, AuthContext(workspace="work")),
        ({"labels": ["web", "mail", "web"]}, AuthContext(labels=("mail", "web"))),
        ({"heard": ["Pay Ann."]}, AuthContext(provenance=Provenance.of(["Pay Ann."]))),
        (
            {"results": [{"tool": "look", "arguments": {"q": "x"}, "result": ["y"]}]},
            AuthContext(provenance=Provenance.of([], [("look", {"q": "x"}, ["y"])])),
        ),
        (
            {"results": [{"tool": "look", "arguments": {}, "result": "y", "labels": ["web"]}]},
            AuthContext(provenance=Provenance.of([], [("look", {}, "y", ["web"])])),
        ),
        ({"heard": [], "results": []}, AuthContext()),
        ({"history": []}, AuthContext()),
        (
            {"history": [{"at": 7, "tool": "look"}]},
            AuthContext(history=History.of([Ran(7, "look", "main", "")])),
        ),
        (
            {
                "history": [
                    {"at": 0.5, "tool": "a", "agent": "sub", "digest": "d", "rules": ["r"], "targets": ["host:h"]},
                    {"at": -1, "tool": "b"},
                ]
            },
            AuthContext(
                history=History.of(
                    [Ran(0.5, "a", "sub", "d", frozenset({"r"}), frozenset({"host:h"})), Ran(-1, "b", "main", "")]
                )
            ),
        ),
        ({"mode": None, "template": None, "attended": None, "labels": None, "history": None}, AuthContext()),
        (None, AuthContext()),
    ],
)
def test_every_key_of_the_context_is_read(context: object, wanted: AuthContext) -> None:
    """Each key sets its part of the context, and null leaves the default."""
    assert _read(context=context).context == wanted


@for_each(("now", "wanted"), [(7, 7), (0, 0), (0.5, 0.5), (None, None)])
def test_the_time_is_read(now: object, wanted: float | None) -> None:
    """In seconds, on the clock of the history; without one, nothing that needs a clock can be counted."""
    assert _read(context={"now": now}).context.now == wanted


def test_a_workspace_may_be_given_for_lines_that_name_none() -> None:
    """The one of the line comes first."""
    for context, wanted in (({}, "w"), ({"workspace": "mine"}, "mine"), (None, "w")):
        line = {"name": "look", "arguments": {}, "context": context}
        assert read_request(line, {}, workspace="w").context.workspace == wanted


def test_a_template_may_be_spelled_out() -> None:
    """A context can bring the tools of its template along."""
    template = _read(context={"template": {"name": "mine", "allow_tools": ["look", "w*"]}}).context.active_template
    assert template == Template("mine", ("look", "w*"))


@for_each(("agent", "wanted"), [("helper", "helper"), (None, "main")])
def test_the_agent_is_read(agent: object, wanted: str) -> None:
    """The agent is next to the context, and is `main` by default."""
    assert _read(agent=agent).context.agent == wanted


@for_each(
    ("annotations", "traits"),
    [
        ({"readOnlyHint": True}, ToolTraits(read_only=True)),
        ({"read_only_hint": True}, ToolTraits(read_only=True)),
        ({"destructiveHint": False}, ToolTraits(destructive=False)),
        ({"destructive_hint": True}, ToolTraits(destructive=True)),
        ({"idempotentHint": True}, ToolTraits(idempotent=True)),
        ({"idempotent_hint": False}, ToolTraits(idempotent=False)),
        ({"openWorldHint": True}, ToolTraits(open_world=True)),
        ({"open_world_hint": True, "title": "Look"}, ToolTraits(open_world=True)),
    ],
)
def test_annotations_are_traits_in_either_spelling(annotations: dict[str, object], traits: ToolTraits) -> None:
    """The hints of a server count when the operator writes them down."""
    assert _read(annotations=annotations).spec == ToolSpec("look", traits=traits)


@for_each("annotations", [None, {}, {"title": "Look"}, {"readOnlyHint": None}])
def test_annotations_that_hint_at_nothing_make_no_spec(annotations: object) -> None:
    """Without a hint, the tool is as unknown as before."""
    assert _read(annotations=annotations).spec is None


def test_the_spec_bears_the_name_rules_see() -> None:
    """The annotations of a server's tool are that tool's."""
    request = _read(server="docs", annotations={"readOnlyHint": True})
    assert request.spec is not None
    assert request.spec.name == "mcp:docs/look"


def test_foreign_keys_are_passed_over() -> None:
    """A line of another program may carry more."""
    assert _read(timestamp=1, session_id="s", model="m").call == ToolCall("look")


def test_a_key_like_one_that_is_there_is_passed_over() -> None:
    """What resembles a key that is given too is someone else's."""
    assert _read(names=["a"]).call == ToolCall("look")


@for_each("line", [None, [], "look", 3])
def test_only_an_object_is_a_line(line: object) -> None:
    """Anything else is refused."""
    with pytest.raises(CallError, match="a line is a JSON object"):
        read_request(line, {})


@for_each(("line", "expected"))
def test_a_missing_or_misspelt_key_is_named(line: dict[str, Any], expected: str) -> None:
    """A key that was meant is not skipped: a context that is not read would judge another request."""
    with pytest.raises(CallError) as caught:
        read_request(line, {})
    assert expected in str(caught.value)


@for_each(("rest", "expected"))
def test_every_mistake_is_named(rest: dict[str, Any], expected: str) -> None:
    """Each field is checked, and the message says which one is wrong and what it should be."""
    with pytest.raises(CallError) as caught:
        _read(**rest)
    assert expected in str(caught.value)


def test_a_template_without_any_known_ones_says_so() -> None:
    """The hint does not invent names."""
    with pytest.raises(CallError, match="unknown template `review`; known: none"):
        read_request({"name": "look", "arguments": {}, "context": {"template": "review"}}, {})


@for_each("line", [{"role": "assistant"}, {"choices": []}, {"type": "tool_use", "input": {}}])
def test_a_message_of_a_model_is_reported_apart(line: dict[str, object]) -> None:
    """Who gives a message where a call is asked for is shown which command reads it."""
    with pytest.raises(CallError, match=r"a message of a model, which `permitry run` reads"):
        read_request(line, {})


@for_each(("mode", "meant"), [("Plan", "plan"), ("yol", "yolo"), ("Default", "default")])
def test_a_misspelt_mode_is_refused(mode: str, meant: str) -> None:
    """A misspelt `plan` would be judged as a session without plan mode."""
    with pytest.raises(CallError, match=f"unknown mode `{mode}`; did you mean `{meant}`"):
        _read(context={"mode": mode})


def test_what_is_used_of_shared_budgets_is_given() -> None:
    """By the ids of their rules; without it each counts as spent."""
    line = {"name": "look", "arguments": {}}
    shared = read_request({**line, "context": {"shared": {"web": 2}}}, {}).context.shared
    assert shared == GivenCounts({"web": 2})
    assert read_request({**line, "context": {"shared": None}}, {}).context.shared is None
