"""What a careless or hostile caller can hand to the core, and what comes of it."""

import copy
import pickle
from typing import Any, ClassVar, cast

import pytest
from tests.tables import for_each

from permitry.conditions.mode import ModeCondition
from permitry.conditions.tools import ToolSelector
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request
from permitry.core.spec import ArgumentRole, ToolSpec
from permitry.core.template import Template
from permitry.errors import CallError, RuleError
from permitry.guard.session import Session
from permitry.rules.configured import ConfiguredRule


class Liar(str):
    """A text that equals everything."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


class Mute(Exception):  # noqa: N818 -- it says nothing, not even that it is an error
    """An exception that cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError

    __repr__ = __str__


class Blocking:
    """A rule that blocks everything."""

    id: ClassVar[str] = "blocking"
    reason: ClassVar[str] = ""
    message: ClassVar[str | None] = "no"
    source: ClassVar[str | None] = None
    effect: Any = Verdict.BLOCK

    def priority(self) -> int:
        """Return the middle of the restrictions."""
        return 150

    def matches(self, _: Request) -> Any:  # noqa: ANN401 -- what a rule answers is up to it
        """Return True."""
        return True

    def near_miss(self, _: Request) -> str | None:
        """Return None."""
        return None


class Raising(Blocking):
    """A rule whose failure cannot be shown."""

    def matches(self, _: Request) -> bool:
        """Raise."""
        raise Mute


class Answering(Blocking):
    """A rule whose answer cannot be shown."""

    def matches(self, _: Request) -> Any:  # noqa: ANN401 -- what a rule answers is up to it
        """Return no bool."""
        return Mute()


class Two:
    """A rule of two methods."""

    def priority(self) -> int:
        """Return a place among the permissions."""
        return 250

    def should_allow_without_confirmation(self, tool_name: str, context: AuthContext) -> bool:  # noqa: ARG002 -- the seed's signature
        """Return True."""
        return True


class Sneaky(Two, Blocking):
    """A restriction whose effect cannot be read, and which also has the two methods of a permission."""

    @property
    def effect(self) -> Verdict:
        """Fail."""
        raise AttributeError("typo")

    @effect.setter
    def effect(self, _: object) -> None:
        """Ignore."""


@for_each("fields", [{"name": Liar("rm")}, {"name": "x", "server": Liar("s")}, {"name": "x", "call_id": Liar("c")}])
def test_a_text_that_equals_everything_is_no_name(fields: dict[str, Any]) -> None:
    """A name is compared with those of rules; it must be what it looks like."""
    with pytest.raises(CallError):
        ToolCall(**fields)


@for_each("name", ["mcp: docs/x", "mcp:docs/ x", "mcp:docs /x"])
def test_the_parts_of_a_server_name_are_checked(name: str) -> None:
    """Splitting a name is not a way around the checks of its parts."""
    with pytest.raises(CallError):
        ToolCall(name)


def test_a_number_with_thousands_of_digits_is_no_argument() -> None:
    """Python cannot even print it."""
    with pytest.raises(CallError, match="too many digits"):
        ToolCall("x", {"a": 10**5000})


def test_one_string_is_no_ignore_list_of_a_session() -> None:
    """Its letters would be names."""
    with pytest.raises(TypeError):
        AuthContext.from_state(Session(tool_ignore_list=cast("Any", "bash")))


def test_one_string_is_no_set_of_labels() -> None:
    """Its letters would be labels."""
    with pytest.raises(TypeError):
        AuthContext(labels=cast("Any", "secret"))


@for_each("rule", [Raising(), Answering()])
def test_a_failure_that_cannot_be_shown_still_blocks(rule: Blocking) -> None:
    """What cannot even be reported must not end the decision either."""
    decision = AuthorizationPolicy([rule]).decide(ToolCall("a"), AuthContext())
    assert (decision.verdict, len(decision.errors)) == (Verdict.BLOCK, 1)


@for_each(
    "rule",
    [type("Text", (Blocking,), {"effect": "block"})(), Sneaky(), type("Nameless", (), {"effect": Verdict.BLOCK})()],
)
def test_a_rule_that_is_none_is_refused(rule: Any) -> None:  # noqa: ANN401 -- anything may be handed over
    """A bad rule is an error when the policy is built, never a permission."""
    with pytest.raises(RuleError):
        AuthorizationPolicy([rule])


def test_generated_ids_avoid_the_ones_in_use() -> None:
    """A decision names one rule."""
    policy = AuthorizationPolicy([ConfiguredRule("two-2", Verdict.ALLOW, 260), Two(), Two()])
    assert sorted(rule.rule_id for rule in policy.explain(ToolCall("a"), AuthContext()).rules) == [
        "two",
        "two-2",
        "two-3",
    ]


def test_a_misspelt_trait_selector_is_refused() -> None:
    """A restriction on `@write` would never match."""
    with pytest.raises(RuleError, match="unknown trait selector"):
        ToolSelector("@write")


def test_one_string_is_no_list_of_modes() -> None:
    """`mode in "plan"` would look for parts of the word."""
    with pytest.raises(RuleError):
        ModeCondition(cast("Any", "plan"))


def test_a_template_extends_templates_only() -> None:
    """A name in place of a template would fail when it is asked."""
    with pytest.raises(TypeError):
        Template("a", extends=cast("Any", ["b"]))


def test_contexts_and_specs_can_be_copied_and_hashed() -> None:
    """They travel between processes, and stand in sets."""
    spec = ToolSpec("x", parameters={"type": "object"}, roles={"path": ArgumentRole.READ_PATH})
    context = AuthContext(counts={"x": 1}, labels=frozenset({"web"}))
    for thing in (spec, context):
        assert pickle.loads(pickle.dumps(thing)) == thing == copy.deepcopy(thing)  # noqa: S301 -- our own bytes
        assert hash(thing) == hash(copy.copy(thing))


def test_json_text_is_text() -> None:
    """What is not text is reported, without a crash."""
    with pytest.raises(CallError, match="JSON text must be a string"):
        ToolCall.from_json("x", cast("Any", None))
