"""Aliases: another name for the same tool, which rules, record and tool do not see."""

from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

from permitry.audit.record import MemoryRecorder
from permitry.config.load import load_policy
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits
from permitry.dispatch.arguments import Check, with_check
from permitry.dispatch.registry import ToolRegistry
from permitry.dispatch.schema import exported
from permitry.errors import RegistryError, UnknownToolError
from permitry.guard.session import Session
from permitry.handler import ToolHandler

_NO_BEES = """
schema = 1

[[rule]]
id = "no-bees"
effect = "block"
tools = ["mcp:bees/*"]
reason = "the bees sleep"
"""


@pytest.mark.parametrize(
    ("alias", "of"), [("look", "view"), ("mcp__docs__search", "mcp:docs/search"), ("mcp:docs/view", "view")]
)
def test_a_call_of_an_alias_is_a_call_of_the_tool(
    registry: ToolRegistry, handler: ToolHandler, recorder: MemoryRecorder, alias: str, of: str
) -> None:
    """The record has the tool's own name, and its kind fits, too."""
    registry.register(ToolSpec(of), lambda _: "seen")
    registry.alias(alias, of)
    assert handler.handle(ToolCall(alias)).text == "seen"
    assert {each["tool"] for each in recorder.records} == {of}
    assert registry.resolved(ToolCall(alias)).digest == ToolCall(of).digest
    assert registry.resolved(ToolCall(of, kind=PayloadKind.CUSTOM)).kind is PayloadKind.CUSTOM


def test_an_alias_is_no_way_around_a_block(registry: ToolRegistry) -> None:
    """Plan mode blocks the tool, whatever it is called."""
    registry.register(ToolSpec("write"), lambda _: "wrote")
    registry.alias("look", "write")
    told = ToolHandler(Session(is_plan_mode=True), registry=registry).handle(ToolCall("look"))
    assert (told.ok, "plan" in told.text.lower()) == (False, True)


def test_a_taken_name_is_refused(registry: ToolRegistry) -> None:
    """Neither a tool's nor another alias's, in both directions."""
    for name in ("a", "b"):
        registry.register(ToolSpec(name), lambda _: "done")
    registry.alias("c", "a")
    for name in ("a", "c"):
        with pytest.raises(RegistryError, match=f"`{name}` is already registered"):
            registry.alias(name, "b")
    with pytest.raises(RegistryError, match="`c` is already registered"):
        registry.register(ToolSpec("c"), lambda _: "done", replace=True)
    with pytest.raises(UnknownToolError, match="no tool `x` is registered, for which `d` could stand"):
        registry.alias("d", "x")


def test_an_alias_goes_with_its_tool(registry: ToolRegistry) -> None:
    """Afterwards the name is free."""
    registry.register(ToolSpec("a"), lambda _: "done")
    registry.alias("c", "a")
    registry.unregister("a")
    registry.register(ToolSpec("c"), lambda _: "done")
    with pytest.raises(UnknownToolError):
        registry.unregister("a")


def test_a_tool_answers_to_its_name_at_providers(handler: ToolHandler, recorder: MemoryRecorder) -> None:
    """What is shown to a model is what it calls; rules and record have the tool's own name."""
    handler.registry.register(ToolSpec("mcp:bees/hives"), lambda _: "three")
    shown = exported(ToolSpec("mcp:bees/hives"), "anthropic")["name"]
    assert handler.handle(ToolCall(shown)).text == "three"
    assert {each["tool"] for each in recorder.records} == {"mcp:bees/hives"}


def test_a_name_at_providers_is_no_way_around_a_block(registry: ToolRegistry, tmp_path: Path) -> None:
    """A rule on the tools of the server sees the call."""
    registry.register(ToolSpec("mcp:bees/hives"), lambda _: "three")
    (tmp_path / "rules.toml").write_text(_NO_BEES)
    policy = load_policy(tmp_path / "rules.toml")
    told = ToolHandler(Session(yolo_mode=True), policy, registry=registry).handle(ToolCall("mcp__bees__hives"))
    assert (told.ok, "mcp:bees/hives" in told.text) == (False, True)


def test_a_name_that_two_tools_have_at_providers_is_neither(registry: ToolRegistry) -> None:
    """Until one of them is gone, or an alias says which."""
    for name in ("bees/hives", "bees:hives"):
        registry.register(ToolSpec(name), lambda _: "three")
    assert registry.resolved(ToolCall("bees__hives")).tool == "bees__hives"
    registry.unregister("bees:hives")
    assert registry.resolved(ToolCall("bees__hives")).tool == "bees/hives"
    registry.register(ToolSpec("bees:hives"), lambda _: "three")
    registry.alias("bees__hives", "bees:hives")
    assert registry.resolved(ToolCall("bees__hives")).tool == "bees:hives"


def test_a_tool_of_that_very_name_goes_first(registry: ToolRegistry) -> None:
    """And once more when a tool is replaced, its name at providers is still its own."""
    for _ in range(2):
        registry.register(ToolSpec("mcp:bees/hives"), lambda _: "three", replace=True)
    assert registry.resolved(ToolCall("mcp__bees__hives")).tool == "mcp:bees/hives"
    registry.register(ToolSpec("mcp__bees__hives"), lambda _: "four")
    assert registry.resolved(ToolCall("mcp__bees__hives")).tool == "mcp__bees__hives"


def test_arguments_come_in_the_form_of_the_tool_under_every_name() -> None:
    """Under its own, an alias, and that for providers; what has no such form stays as it is."""
    registry = ToolRegistry()

    def canonical(given: dict[str, Any]) -> dict[str, Any]:
        return given if "word" in given else {"word": given["words"][0]}

    handler = with_check(lambda given: str(given["word"]), lambda _: None, canonical=canonical)
    registry.register(ToolSpec("mcp:s/say"), handler)
    registry.alias("speak", of="mcp:s/say")
    for name in ("mcp:s/say", "speak", "mcp__s__say"):
        assert registry.resolved(ToolCall(name, {"words": ["a"]})).to_dict() == {"word": "a"}
    assert registry.resolved(ToolCall("speak", {"word": "a"})).to_dict() == {"word": "a"}
    assert registry.resolved(ToolCall("speak", {"other": "a"})).to_dict() == {"other": "a"}


def _form_of_say(given: dict[str, Any]) -> dict[str, Any]:
    return {"word": given["word"]} if "word" in given else {"word": given["words"][0]}


def _no_mistake(_: dict[str, Any]) -> None:
    pass


def _failing_check(_: dict[str, Any]) -> None:
    raise KeyError("a mistake in the check")


@for_each("check", [_no_mistake, _failing_check])
@for_each("arguments", [{"other": "a"}, {"words": []}])
def test_what_rules_do_not_see_in_its_form_does_not_run(arguments: dict[str, Any], check: Check) -> None:
    """Whatever the check of the tool says: the roles are about the names of that form."""
    registry, ran = ToolRegistry(), list[dict[str, Any]]()
    spec = ToolSpec("say", roles={"word?": ArgumentRole.COMMAND}, traits=ToolTraits(read_only=True))
    registry.register(spec, with_check(ran.append, check, canonical=_form_of_say))
    handler = ToolHandler(Session(yolo_mode=True), registry=registry)
    result = handler.handle(ToolCall("say", arguments))
    assert (result.ok, result.text[:28], ran) == (False, "The arguments do not fit: th", [])


def test_arguments_beside_the_form_are_not_in_it() -> None:
    """As where a host authorizes a call that it has not had resolved."""
    registry = ToolRegistry()
    registry.register(ToolSpec("say"), with_check(lambda _: "said", _no_mistake, canonical=_form_of_say))
    raw = ToolCall("say", {"word": "a", "words": ["b"]})
    assert registry.misfit(raw) is not None
    assert registry.misfit(registry.resolved(raw)) is None
