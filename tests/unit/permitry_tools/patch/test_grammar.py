"""The grammar of a patch: what it allows, the reader reads; and the usual patches are in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.lark import from_lark
from lark import Lark
from lark.exceptions import LarkError
from tests.tables import for_each

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.spec import ToolSpec
from permitry.dispatch.registry import ToolRegistry
from permitry.dispatch.schema import exported
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools.patch.grammar import GRAMMAR
from permitry_tools.patch.parse import parse_patch

PARSER = Lark(GRAMMAR, parser="lalr")
PATHS = st.text("ab/. ä-*@+", min_size=1, max_size=8).filter(lambda path: path == path.strip())


def _patch(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


@given(from_lark(Lark(GRAMMAR), explicit={"PATH": PATHS}, alphabet=st.characters(codec="utf-8")))
def test_what_the_grammar_allows_is_a_patch(text: str) -> None:
    """Whatever a model is held to can be read, and does something."""
    assert parse_patch(text, is_lenient=False).hunks


@for_each(
    "text",
    [
        _patch("*** Add File: a", "+one", "+", "+*** End Patch"),
        _patch("*** Add File: empty"),
        _patch("*** Delete File: dir/ä b.txt"),
        _patch("*** Update File: a", "-old", "+new"),
        _patch("*** Update File: a", "*** Move to: b", "@@", " one", "-old", "@@ def f():", "+new", "*** End of File"),
        _patch("*** Update File: a", "@@ @@", " ", "+@@", "*** Delete File: b", "*** Add File: c", "+c") + "\n",
    ],
)
def test_usual_patches_are_in_the_grammar(text: str) -> None:
    """Nothing a model needs is left out."""
    PARSER.parse(text)
    assert parse_patch(text).hunks


@for_each(
    "text",
    [
        "",
        "*** Begin Patch\n*** End Patch",
        _patch("*** Update File: a"),
        _patch("*** Update File: a", "@@ only"),
        _patch("*** Update File: a", "*** End of File"),
        _patch("*** Add File: a", "one"),
        _patch("*** Add File: ", "+one"),
        _patch("*** Delete File: a", "+one"),
        _patch("*** Update File: a", "*** Move to: b"),
        "*** Begin Patch\n*** Delete File: a",
        "diff --git a/a b/a",
    ],
)
def test_what_is_no_patch_is_not_in_the_grammar(text: str) -> None:
    """A model that is held to it makes none of these mistakes."""
    with pytest.raises(LarkError):
        PARSER.parse(text)


@pytest.mark.parametrize("shape", ["openai-responses", "openai-chat"])
def test_apply_patch_is_exported_in_both_forms(registry: ToolRegistry, shape: str) -> None:
    """As a function, and as a custom tool with its grammar; a custom call runs as the function does."""
    spec = registry.get("apply_patch")
    assert spec is not None
    assert exported(spec, shape)["type"] == "function"
    custom = exported(spec, shape, free_form=True)
    assert custom["type"] == "custom"
    if shape == "openai-responses":
        assert (custom["name"], custom["format"]) == (
            "apply_patch", {"type": "grammar", "syntax": "lark", "definition": GRAMMAR}
        )  # fmt: skip
    else:
        text = {"type": "grammar", "grammar": {"syntax": "lark", "definition": GRAMMAR}}
        assert (custom["custom"]["name"], custom["custom"]["format"]) == ("apply_patch", text)
    call = ToolCall("apply_patch", {"input": _patch("*** Add File: a", "+one")}, kind=PayloadKind.CUSTOM)
    assert ToolHandler(Session(yolo_mode=True), registry=registry).handle(call).ok


@pytest.mark.parametrize("shape", ["anthropic", "gemini", "mcp"])
def test_other_providers_have_the_function_alone(registry: ToolRegistry, shape: str) -> None:
    """They have no free text."""
    spec = registry.get("apply_patch")
    assert spec is not None
    assert exported(spec, shape, free_form=True) == exported(spec, shape)


def test_other_tools_are_functions_in_either_form() -> None:
    """Only what takes free text is exported so; without a grammar as plain text."""
    assert exported(ToolSpec("read"), "openai-responses", free_form=True) == exported(
        ToolSpec("read"), "openai-responses"
    )
    free = ToolSpec("say", kinds=(PayloadKind.FUNCTION, PayloadKind.CUSTOM))
    assert exported(free, "openai-responses", free_form=True)["format"] == {"type": "text"}
