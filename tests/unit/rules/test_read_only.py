"""The rule `read-only`."""

import pytest

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.rule import Question
from permitry.core.spec import DEFAULT_READ_ONLY_TOOLS, ToolSpec, ToolTraits
from permitry.rules.read_only import ReadOnlyToolRule


def _question(call: ToolCall, spec: ToolSpec | None = None) -> Question:
    return Question(call, AuthContext(), spec)


@pytest.mark.parametrize("name", sorted(DEFAULT_READ_ONLY_TOOLS))
def test_it_matches_the_familiar_names(name: str) -> None:
    """Without a spec a short list of names reads."""
    assert ReadOnlyToolRule().matches(_question(ToolCall(name)))


def test_it_matches_what_says_that_it_reads() -> None:
    """With a spec the traits decide, for a server's tool too."""
    spec = ToolSpec("mcp:docs/x", traits=ToolTraits(read_only=True))
    assert ReadOnlyToolRule().matches(_question(ToolCall("mcp:docs/x"), spec))


@pytest.mark.parametrize(
    ("call", "spec"),
    [
        (ToolCall("bash"), None),
        (ToolCall("mcp:docs/read_file"), None),
        (ToolCall("read_file", kind=PayloadKind.CUSTOM), None),
        (ToolCall("read_file"), ToolSpec("read_file")),
        (ToolCall("bash"), ToolSpec("bash", traits=ToolTraits(read_only=True, destructive=True))),
        (ToolCall("bash"), ToolSpec("read_file", traits=ToolTraits(read_only=True))),
    ],
)
def test_it_does_not_match_what_may_write(call: ToolCall, spec: ToolSpec | None) -> None:
    """An unknown tool, a borrowed name, and traits that do not say so."""
    assert not ReadOnlyToolRule().matches(_question(call, spec))


def test_it_is_a_permission_of_priority_200() -> None:
    """Its place in the order."""
    rule = ReadOnlyToolRule()
    assert (rule.id, rule.priority(), rule.effect, rule.source) == ("read-only", 200, Verdict.ALLOW, "built-in")


@pytest.mark.parametrize(
    ("call", "spec", "near_miss"),
    [
        (ToolCall("bash"), None, None),
        (ToolCall("read_file"), ToolSpec("read_file"), "the tool's own traits, which do not say read_only"),
        (ToolCall("mcp:a/grep"), None, "kind = mcp; the name alone speaks only for function tools"),
        (
            ToolCall("grep", kind=PayloadKind.CUSTOM),
            None,
            "kind = custom; the name alone speaks only for function tools",
        ),
    ],
)
def test_its_near_miss_is_what_a_familiar_name_lacks(
    call: ToolCall, spec: ToolSpec | None, near_miss: str | None
) -> None:
    """A familiar name that does not count says why; any other name missed nothing."""
    assert ReadOnlyToolRule().near_miss(_question(call, spec)) == near_miss
