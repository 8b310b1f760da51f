"""The immutable context of one request."""

import copy
import enum
import pickle
from types import SimpleNamespace
from typing import Any, cast

import attrs
import pytest
from tests.tables import for_each

from permitry.core.context import AuthContext, misspelt_mode
from permitry.core.history import History, Ran
from permitry.core.template import Template
from permitry.golden.counts import GivenCounts

RAN = Ran(1.0, "bash", "helper", "d1")


def _state() -> Any:  # noqa: ANN401 -- a state of any shape, which the tests change
    return SimpleNamespace(
        is_plan_mode=False,
        yolo_mode=True,
        tool_ignore_list=["bash"],
        active_template=Template("docs", ["grep"]),
        host_mode="review",
        agent="helper",
        workspace="work",
        attended=False,
        counts={"bash": 2},
        labels={"tainted"},
        history=History.of([RAN]),
        now=5.0,
        parent=None,
    )


# Fields -----------------------------------------------------------------------------------------------------------


def test_a_bare_context_widens_nothing() -> None:
    """By default: no plan, no YOLO, no ignored tool, no template, someone there."""
    context = AuthContext()
    assert (context.is_plan_mode, context.yolo_mode, context.tool_ignore_list) == (False, False, ())
    assert (context.active_template, context.mode, context.agent) == (None, "default", "main")
    assert (context.workspace, context.attended, dict(context.counts), set(context.labels)) == (None, True, {}, set())


@for_each("field", ["is_plan_mode", "yolo_mode", "attended"])
@for_each("value", [1, 0, "no", None, []])
def test_a_flag_is_a_bool(field: str, value: object) -> None:
    """A truthy mistake is an error, not a wider context."""
    with pytest.raises(TypeError, match=field):
        AuthContext(**{field: cast("Any", value)})


@for_each("field", ["mode", "agent"])
@for_each("value", [None, 1, b"plan"])
def test_a_name_is_text(field: str, value: object) -> None:
    """Mode and agent are strings."""
    with pytest.raises(TypeError, match=field):
        AuthContext(**{field: cast("Any", value)})


def test_a_name_may_be_a_kind_of_text() -> None:
    """As the members of an enum of words are."""

    class Mode(enum.StrEnum):
        REVIEW = "review"

    assert AuthContext(mode=Mode.REVIEW).mode == "review"


class _Careless(str):
    """A text that is equal to others, or cannot be looked up."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        raise TypeError("on purpose")


@for_each("field", ["mode", "agent", "workspace"])
def test_what_is_kept_of_a_kind_of_text_is_the_text(field: str) -> None:
    """Its comparisons could say anything, and what is decided for one text would be for another."""
    kept = getattr(AuthContext(**{field: cast("Any", _Careless("a"))}), field)
    assert (type(kept), kept) == (str, "a")


def test_a_context_is_checked_by_a_host_that_switched_validators_off() -> None:
    """A truthy mistake must not widen access there either."""
    with attrs.validators.disabled(), pytest.raises(TypeError, match="yolo_mode"):
        AuthContext(yolo_mode=cast("Any", "no"))


def test_an_ignore_list_is_no_string() -> None:
    """One string is an error, not a list of letters."""
    with pytest.raises(TypeError, match="a list of names is needed"):
        AuthContext(tool_ignore_list=cast("Any", "bash"))


@for_each("template", ["docs", {"name": "docs"}, True])
def test_a_template_is_a_template(template: object) -> None:
    """Nothing else can be the active template."""
    with pytest.raises(TypeError, match="active_template"):
        AuthContext(active_template=cast("Template", template))


@for_each("field", [field.name for field in attrs.fields(AuthContext)])
def test_no_field_can_be_set(field: str) -> None:
    """A context never changes."""
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(AuthContext(), field, None)


def test_a_context_keeps_no_alias() -> None:
    """What a context was made from cannot change it."""
    ignored, counts, labels = ["bash"], {"bash": 1}, {"tainted"}
    context = AuthContext(tool_ignore_list=cast("Any", ignored), counts=counts, labels=cast("Any", labels))
    ignored.append("rm")
    counts["bash"] = 9
    labels.clear()
    with pytest.raises(TypeError):
        cast("Any", context.counts)["bash"] = 9
    assert context == AuthContext(tool_ignore_list=("bash",), counts={"bash": 1}, labels=frozenset({"tainted"}))


def test_equal_contexts_are_one_key() -> None:
    """Contexts go by content, counts included."""
    assert len({AuthContext(counts={"a": 1}), AuthContext(counts={"a": 1}), AuthContext(counts={"a": 2})}) == 2


# Modes ------------------------------------------------------------------------------------------------------------


@for_each(("given", "plan", "yolo", "mode"))
def test_words_and_flags_say_the_same(*, given: dict[str, Any], plan: bool, yolo: bool, mode: str) -> None:
    """Either sets the other, and plan wins the name."""
    context = AuthContext(**given)
    assert (context.is_plan_mode, context.yolo_mode, context.mode) == (plan, yolo, mode)


# from_state -------------------------------------------------------------------------------------------------------


def test_a_context_is_read_from_a_state() -> None:
    """Every field of the state arrives."""
    assert AuthContext.from_state(_state()) == AuthContext(
        yolo_mode=True,
        tool_ignore_list=("bash",),
        active_template=Template("docs", ["grep"]),
        mode="review",
        agent="helper",
        workspace="work",
        attended=False,
        counts={"bash": 2},
        labels=frozenset({"tainted"}),
        history=History.of([RAN]),
        now=5.0,
    )


def test_a_state_brings_those_above_it() -> None:
    """The context of the agent that started this one is read with it."""
    state = _state()
    state.parent = _state()
    assert AuthContext.from_state(state).parent == AuthContext.from_state(_state())
    assert AuthContext.from_state(state).now == 5.0


def test_a_later_change_of_the_state_is_a_later_context() -> None:
    """A context holds its moment; the next one holds the next."""
    state = _state()
    before = AuthContext.from_state(state)
    state.is_plan_mode = True
    state.tool_ignore_list.append("rm")
    state.counts["rm"] = 1
    state.labels.add("more")
    state.active_template = None
    assert before == AuthContext.from_state(_state())
    assert AuthContext.from_state(state).is_plan_mode


def test_a_state_with_a_truthy_flag_is_refused() -> None:
    """A host's mistake stays an error: a method is not a flag."""
    state = _state()
    state.yolo_mode = lambda: False
    with pytest.raises(TypeError, match="yolo_mode"):
        AuthContext.from_state(state)


class _Seed:
    """A state with the four fields of the seed, and nothing next to them."""

    def __init__(self, **fields: object) -> None:
        given = {"is_plan_mode": False, "yolo_mode": False, "tool_ignore_list": [], "active_template": None, **fields}
        vars(self).update(given)


def _read(state: object) -> AuthContext:
    return AuthContext.from_state(state)


def test_a_state_may_have_the_four_fields_alone() -> None:
    """What it does not have is as in a bare context."""
    docs = Template("docs", ["grep"])
    state = _Seed(is_plan_mode=True, yolo_mode=True, tool_ignore_list=("bash",), active_template=docs)
    assert _read(state) == AuthContext(True, True, ("bash",), docs)


@for_each("name", ["is_plan_mode", "yolo_mode", "tool_ignore_list", "active_template"])
def test_a_state_without_one_of_the_four_fields_is_refused(name: str) -> None:
    """Nothing says that plan mode is off."""
    state = _Seed()
    del vars(state)[name]
    with pytest.raises(TypeError, match=f"from a _Seed, which has no `{name}`; give a Session"):
        _read(state)


def test_a_state_may_have_some_of_the_other_fields() -> None:
    """What is there counts, in the parent as well."""
    state = _Seed(host_mode="review", labels={"tainted"}, parent=_Seed(is_plan_mode=True))
    context = _read(state)
    assert (context.mode, set(context.labels), context.agent) == ("review", {"tainted"}, "main")
    assert context.parent == AuthContext(is_plan_mode=True)
    assert _read(_Seed(parent=None)) == AuthContext()


@for_each("name", ["is_plan_mode", "labels", "parent"])
def test_a_field_that_fails_is_not_absent(name: str) -> None:
    """A mistake in a property of a host leaves no label and no parent behind."""

    def fail(_: object) -> object:
        raise AttributeError("a mistake")

    state = type("Broken", (_Seed,), {name: property(fail, lambda _, __: None)})()
    vars(state).pop(name, None)
    with pytest.raises(AttributeError, match="a mistake"):
        _read(state)


def test_a_context_read_as_a_state_stays_itself() -> None:
    """Its mode, its labels and those above it are not lost."""
    context = AuthContext(mode="review", labels=frozenset({"tainted"})).child("low")
    assert _read(context) is context


@for_each(
    ("field", "value", "named"),
    [
        ("is_plan_mode", lambda: False, "is_plan_mode"),
        ("yolo_mode", 0, "yolo_mode"),
        ("active_template", "docs", "active_template"),
        ("tool_ignore_list", {"bash": False}, "a list of names is needed, not a dict"),
        ("tool_ignore_list", None, "a list of names is needed, not a NoneType"),
        ("tool_ignore_list", [object], "is not a name"),
        ("tool_ignore_list", b"ab", "is not a name"),
        ("labels", "tainted", "the one string"),
        ("labels", {b"tainted"}, "is not a name"),
        ("workspace", ["/w"], "workspace"),
        ("counts", None, "`counts` maps"),
        ("counts", ["bash"], "`counts` maps"),
        ("history", [], "history"),
        ("now", "noon", "now"),
        ("parent", object(), "from a object, which has no `is_plan_mode`"),
    ],
)
def test_a_field_of_a_wrong_type_is_refused(field: str, value: object, named: str) -> None:
    """The error names it, and nothing is guessed."""
    with pytest.raises(TypeError, match=named):
        _read(_Seed(**{field: value}))


def test_names_may_be_kinds_of_text_in_any_list() -> None:
    """As the members of an enum of words are, and what is read once."""

    class Name(enum.StrEnum):
        BASH = "bash"

    assert _read(_Seed(tool_ignore_list=iter([Name.BASH]))).tool_ignore_list == ("bash",)


# Those above ------------------------------------------------------------------------------------------------------


def test_a_child_starts_from_its_parent_and_knows_it() -> None:
    """Only what is given differs; the parent is behind it, and so does the parent's own parent."""
    top = AuthContext(tool_ignore_list=("bash",), workspace="w")
    middle = top.child("middle", yolo_mode=True)
    low = middle.child("low")
    assert (low.agent, low.yolo_mode, low.workspace, low.tool_ignore_list) == ("low", True, "w", ("bash",))
    assert list(low.lineage()) == [low, middle, top]


def test_agents_start_each_other_thirty_two_deep() -> None:
    """An endless row of agents is refused."""
    context = AuthContext()
    for _ in range(31):
        context = context.child("next")
    assert len(list(context.lineage())) == 32
    with pytest.raises(ValueError, match="more than 32 agents"):
        context.child("too many")


@for_each("flags", [(False, False), (False, True), (True, False), (True, True)])
@for_each("mode", ["auto", "default", "plan", "yolo"])
def test_a_copy_is_in_the_same_modes(flags: tuple[bool, bool], mode: str) -> None:
    """A restriction for the host's own mode applies to a copy as well, also in plan mode."""
    context = AuthContext(*flags, mode=mode)
    for again in (copy.copy(context), pickle.loads(pickle.dumps(context))):  # noqa: S301 -- our own bytes
        assert (again, again.modes) == (context, context.modes)


def test_a_child_travels_with_its_parent_and_its_past() -> None:
    """Copies and pickles keep both."""
    child = AuthContext(history=History.of([RAN]), now=5.0).child("low")
    again = pickle.loads(pickle.dumps(child))  # noqa: S301 -- our own bytes
    assert again == child
    assert (again.parent, again.now, list(again.history.latest())) == (child.parent, 5.0, [RAN])
    assert hash(again) == hash(child)


# Modes ------------------------------------------------------------------------------------------------------------


@for_each(("mode", "meant"))
def test_a_misspelt_mode_is_known(mode: str, meant: str) -> None:
    """What is nearly one of the three words is taken for a misspelling of it."""
    assert misspelt_mode(mode) == meant


@for_each("mode", ["plan", "yolo", "default", "night", "review", "planning", ""])
def test_a_mode_that_is_right_or_another_word_is_not_misspelt(mode: str) -> None:
    """The three words themselves, and words of the host's own, are what they are."""
    assert misspelt_mode(mode) is None


# Shared budgets ---------------------------------------------------------------------------------------------------


class _Counting:
    """Counts that differ each time, and their snapshot, which does not."""

    def snapshot(self) -> GivenCounts:
        """Return what is counted now."""
        return GivenCounts({"web": 1})


def test_a_context_has_the_shared_counts_of_its_moment() -> None:
    """Also those above it, and a child."""
    state = _state()
    state.shared = _Counting()
    context = AuthContext.from_state(state)
    assert context.shared == GivenCounts({"web": 1})
    assert context.child("helper").shared is context.shared
    assert AuthContext.from_state(_state()).shared is None


@for_each("shared", [{"web": 1}, 7, SimpleNamespace(snapshot=lambda: None)])
def test_what_counts_nothing_is_refused(shared: object) -> None:
    """It would fail in the middle of a decision."""
    with pytest.raises(TypeError, match="`shared` is where budgets are counted"):
        AuthContext(shared=cast("Any", shared))
