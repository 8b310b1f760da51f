"""The router: specs and handlers together, and from a provider's item to a call."""

from collections.abc import Mapping
from typing import Any

import pytest

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.spec import ToolSpec
from permitry.dispatch.registry import ToolRegistry
from permitry.dispatch.router import Router
from permitry.errors import FatalToolError, RegistryError, ToolError
from permitry.guard.session import Session
from permitry.handler import ToolHandler


def _family(registry: ToolRegistry, context: AuthContext) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    registry.register(ToolSpec("look", parameters=schema), lambda _: "seen")
    registry.register(ToolSpec("mcp:docs/search"), lambda _: "found")
    registry.register(ToolSpec("patch", kinds={PayloadKind.CUSTOM}), lambda _: "patched")
    registry.register(ToolSpec("exec", kinds={PayloadKind.UNIFIED_EXEC}), lambda _: "ran")
    registry.register(ToolSpec("off"), lambda _: "never", enabled=lambda _: False)
    if context.agent == "main":
        registry.register(ToolSpec("subtask"), lambda _: "worked")


@pytest.fixture
def router() -> Router:
    """Return the router of a main agent."""
    return Router.from_context(AuthContext(), [_family])


def test_a_spec_is_there_with_its_handler(router: Router) -> None:
    """What is shown can be called, under the name it is shown by."""
    handler = ToolHandler(Session(yolo_mode=True), registry=router.registry)
    shown = [each["name"] for each in router.exported("openai-responses")]
    assert shown == ["look", "mcp__docs__search", "patch", "exec", "subtask"]
    payloads: dict[str, tuple[Any, PayloadKind]] = {
        "patch": ("*** Begin", PayloadKind.CUSTOM), "exec": ({"cmd": "ls"}, PayloadKind.FUNCTION),
    }  # fmt: skip
    for name in shown:
        payload, kind = payloads.get(name, ("{}", PayloadKind.FUNCTION))
        assert handler.handle(router.call(name, payload, kind=kind)).ok


def test_another_context_has_other_tools() -> None:
    """And a shape without a kind leaves its tools out."""
    router = Router.from_context(AuthContext(agent="child"), [_family])
    assert [spec.name for spec in router.specs] == ["look", "mcp:docs/search", "patch", "exec"]
    assert [each["name"] for each in router.exported("anthropic")] == ["look", "mcp__docs__search", "exec"]


def test_a_registry_may_be_routed_again(router: Router) -> None:
    """The wire names are there already; two tools with one are refused."""
    again = Router.from_context(AuthContext(), [], registry=router.registry)
    assert again.specs == router.specs
    clash = ToolRegistry()
    for name in ("mcp:docs/search", "mcp__docs__search"):
        clash.register(ToolSpec(name), lambda _: "found")
    with pytest.raises(RegistryError, match="is `mcp__docs__search` for providers, and another one is"):
        Router.from_context(AuthContext(), [], registry=clash)


@pytest.mark.parametrize("payload", ['{"n": 1}', {"n": 1}])
def test_arguments_are_text_or_an_object(router: Router, payload: str | Mapping[str, Any]) -> None:
    """Both are the same call; no text at all is no arguments, and null is left out where it cannot be meant."""
    assert router.call("look", payload, call_id="c1") == ToolCall("look", {"n": 1}, call_id="c1")
    assert router.call("look", "").arguments == router.call("look", '{"n": null}').arguments == {}


@pytest.mark.parametrize(
    ("name", "payload", "told"),
    [
        ("missing", "{}", "unsupported call: missing"), ("off", "{}", "unsupported call: off"),
        ("a\nb", "{}", "was not understood"), ("look", "{", "The call of `look` was not understood"),
        ("look", "[1]", "must be a JSON object"), ("look", '{"a": 1, "a": 2}', "was not understood"),
    ],
)  # fmt: skip
def test_what_is_no_call_is_told_to_the_model(router: Router, name: str, payload: str, told: str) -> None:
    """It may try again."""
    with pytest.raises(ToolError, match=told) as caught:
        router.call(name, payload)
    assert not isinstance(caught.value, FatalToolError)


def test_a_wrong_kind_ends_the_run(router: Router) -> None:
    """The host has wired something wrongly."""
    for name, kind in (("patch", PayloadKind.FUNCTION), ("look", PayloadKind.LOCAL_SHELL)):
        with pytest.raises(FatalToolError, match=f"the tool `{name}` takes calls of kind"):
            router.call(name, {}, kind=kind)
