"""The mutable state of a session, and the contexts read from it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.tables import for_each

from permitry.config.load import load_rules
from permitry.config.ruleset import RuleSet
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.history import Bounds, Ran
from permitry.core.shared import SideEffects
from permitry.core.template import Template
from permitry.golden.counts import GivenCounts
from permitry.guard.session import Session


def test_a_new_session_gives_the_default_context() -> None:
    """Nothing is widened to begin with."""
    assert AuthContext.from_state(Session()) == AuthContext()


@for_each(
    ("mode", "plan", "yolo"),
    [("plan", True, False), ("yolo", False, True), ("default", False, False), ("review", False, False)],
)
@for_each("before", ["default", "plan", "yolo", "review"])
def test_a_switch_of_mode_leaves_the_mode_before(*, before: str, mode: str, plan: bool, yolo: bool) -> None:
    """Plan and YOLO are left by entering another mode, and the context says the same."""
    session = Session()
    session.switch_mode(before)
    session.switch_mode(mode)
    context = AuthContext.from_state(session)
    for state in (session, context):
        assert (state.mode, state.is_plan_mode, state.yolo_mode) == (mode, plan, yolo)


def test_the_flags_of_the_seed_work_without_a_switch() -> None:
    """A host may set the flags themselves; what they said is over when they are cleared."""
    session = Session()
    session.yolo_mode = True
    assert (session.mode, AuthContext.from_state(session).yolo_mode) == ("yolo", True)
    session.is_plan_mode = True
    assert (session.mode, AuthContext.from_state(session).mode) == ("plan", "plan")
    session.is_plan_mode = session.yolo_mode = False
    assert (session.mode, AuthContext.from_state(session).mode) == ("default", "default")


def test_a_hosts_mode_is_not_lost_to_yolo() -> None:
    """A restriction on the host's own mode still sees the word; only a plan in the making hides it."""
    for session in (Session(yolo_mode=True, mode="review"), Session(mode="review")):
        session.yolo_mode = True
        context = AuthContext.from_state(session)
        assert (session.mode, context.mode, context.yolo_mode) == ("review", "review", True)
        session.is_plan_mode = True
        assert session.mode == "plan"
        session.is_plan_mode = False
        assert session.mode == "review"


@for_each("mode", ["default", "plan", "yolo", "review"])
@for_each("plan", [True, False])
@for_each("yolo", [True, False])
def test_a_session_says_what_a_context_of_the_same_words_says(*, plan: bool, yolo: bool, mode: str) -> None:
    """However flags and word are combined, no flag is lost on the way, plan mode least of all."""
    session = Session(is_plan_mode=plan, yolo_mode=yolo, mode=mode)
    wanted = AuthContext(is_plan_mode=plan, yolo_mode=yolo, mode=mode)
    context = AuthContext.from_state(session)
    assert (session.mode, context.mode, context.is_plan_mode) == (wanted.mode, wanted.mode, wanted.is_plan_mode)
    assert context.is_plan_mode or context == wanted


def test_a_mode_is_switched_not_assigned() -> None:
    """A word written over another could leave a flag behind that says something else."""
    session: Any = Session(mode="plan")
    with pytest.raises(AttributeError):
        session.mode = "default"
    assert session.is_plan_mode


@for_each("mode", ["plan", "yolo"])
def test_clearing_a_flag_leaves_the_mode(mode: str) -> None:
    """However the mode was entered, its flag alone keeps it."""
    session, entered = Session(mode=mode), Session()
    entered.switch_mode(mode)
    for state in (session, entered):
        assert (state.is_plan_mode, state.yolo_mode) == (mode == "plan", mode == "yolo")
        state.is_plan_mode = state.yolo_mode = False
        assert AuthContext.from_state(state) == AuthContext()


def test_an_ignored_tool_is_on_the_list() -> None:
    """The list keeps the order of the approvals."""
    session = Session()
    session.ignore("bash")
    session.ignore("mcp:docs/search")
    assert AuthContext.from_state(session).tool_ignore_list == ("bash", "mcp:docs/search")


def test_runs_are_counted_by_tool() -> None:
    """A tool that never ran counts nothing."""
    session = Session()
    for tool in ("bash", "grep", "bash"):
        session.apply(ToolCall(tool), SideEffects())
    counts = AuthContext.from_state(session).counts
    assert counts == {"bash": 2, "grep": 1}
    assert session.counts["never"] == 0


def test_every_field_reaches_the_context() -> None:
    """What the host says of its session, rules can see."""
    template = Template("docs", ["grep"])
    session = Session(True, True, ["bash"], template, agent="sub", workspace="/w", attended=False)
    session.labels.add("tainted")
    assert AuthContext.from_state(session) == AuthContext(
        True,
        True,
        ("bash",),
        template,
        mode="plan",
        agent="sub",
        workspace="/w",
        attended=False,
        labels=frozenset({"tainted"}),
    )


def test_a_context_does_not_follow_the_session() -> None:
    """A context holds its moment; a change counts from the next one on."""
    session = Session()
    before = AuthContext.from_state(session)
    session.switch_mode("yolo")
    session.ignore("bash")
    session.apply(ToolCall("bash"), SideEffects(frozenset({"web"})))
    session.active_template = Template("docs")
    assert before == AuthContext()
    assert AuthContext.from_state(session) != before


def test_sessions_share_nothing() -> None:
    """Lists, counts, labels and messages belong to one session."""
    first, second = Session(), Session()
    first.ignore("bash")
    first.apply(ToolCall("bash"), SideEffects())
    first.labels.add("x")
    first.messages.append("m")
    assert second == Session()


# What ran, and for whom -------------------------------------------------------------------------------------------


def test_a_run_is_noted_with_what_it_leaves() -> None:
    """When, what, for whom, on which budgets, and to which targets; its labels stay on the session."""
    session, call = Session(agent="sub", clock=lambda: 7.0), ToolCall("bash", {"command": "ls"})
    session.apply(call, SideEffects(frozenset({"web"}), frozenset({"few"}), frozenset({"host:a"})))
    ran = Ran(7.0, "bash", "sub", call.digest, frozenset({"few"}), frozenset({"host:a"}))
    assert list(session.history.latest()) == [ran]
    assert session.labels == {"web"}
    assert AuthContext.from_state(session).now == 7.0


def test_a_history_does_not_follow_the_session() -> None:
    """A context holds the past of its moment."""
    session = Session()
    before = session.history
    session.apply(ToolCall("bash"), SideEffects())
    assert (len(before), len(session.history)) == (0, 1)


def test_every_agent_above_hears_of_a_run() -> None:
    """What a sub-agent has read, the agents above have read through it; the counts of tools are its own."""
    top = Session()
    middle = top.child("middle")
    low = middle.child("low")
    low.apply(ToolCall("bash"), SideEffects(frozenset({"web"})))
    for session in (top, middle, low):
        assert [ran.agent for ran in session.history.latest()] == ["low"]
        assert session.labels == {"web"}
    assert (dict(top.counts), dict(low.counts)) == ({}, {"bash": 1})


def test_labels_and_history_are_one_for_the_whole_family() -> None:
    """What one agent has read, every other may have read through it, whenever that one was started."""
    top = Session()
    low, other = top.child("low"), top.child("other")
    top.apply(ToolCall("bash"), SideEffects(frozenset({"web"})))
    low.apply(ToolCall("bash"), SideEffects(frozenset({"mail"})))
    for session in (top, low, other, low.child("lowest")):
        assert (len(session.history), session.labels) == (2, {"web", "mail"})


def test_a_family_remembers_as_much_as_its_first_session() -> None:
    """The bounds go with the log, which is one for all of them."""
    top = Session(bounds=Bounds(calls=2))
    for session in (top, top.child("low"), top.child("other")):
        session.apply(ToolCall("bash"), SideEffects())
    assert (len(top.history), len(list(top.history.latest()))) == (3, 2)


def test_a_tool_is_ignored_once() -> None:
    """However often a human says so, the list does not grow."""
    session = Session()
    for _ in range(3):
        session.ignore("bash")
    assert session.tool_ignore_list == ["bash"]


@for_each("workspace", [".", "~/project", "", Path("/home/ann")])
def test_a_workspace_is_an_absolute_path(workspace: Any) -> None:  # noqa: ANN401 -- mistakes of a caller
    """Under any other one rules on paths permit nothing, and would not say why."""
    with pytest.raises(ValueError, match=r"`workspace` must be an absolute path, not .*; write str\(Path"):
        Session(workspace=workspace)
    session = Session(workspace="/home/ann")
    with pytest.raises(ValueError, match="absolute path"):
        session.workspace = workspace


def test_a_child_starts_from_its_parent() -> None:
    """Modes, list, template and workspace are those of the parent; the list is its own from then."""
    top = Session(True, True, ["bash"], Template("t"), mode="review", workspace="/w", attended=False, labels={"web"})
    low = top.child("low")
    own, above = AuthContext.from_state(low), AuthContext.from_state(top)
    assert (own.agent, own.parent) == ("low", above)
    assert (own.modes, own.tool_ignore_list, own.active_template) == (above.modes, ("bash",), Template("t"))
    assert (own.labels, own.workspace, own.attended) == (frozenset({"web"}), "/w", False)
    low.ignore("rm")
    assert AuthContext.from_state(top) == above


@for_each("mode", ["Plan", "plan ", "PLAN", "Yolo", " default", "", " ", None, 3])
def test_what_is_nearly_a_mode_is_refused(mode: Any) -> None:  # noqa: ANN401 -- what a host may hand over
    """It would be another mode, and plan mode would be off; the mode stays as it is."""
    session = Session(mode="plan")
    with pytest.raises(ValueError, match="mode"):
        session.switch_mode(mode)
    assert session.is_plan_mode
    with pytest.raises(ValueError, match="mode"):
        Session(mode=mode)


def test_the_rules_of_a_session_reach_its_contexts_and_its_children() -> None:
    """A child may have others, and is then bound by those of its parent as well."""
    rules, other = RuleSet(), RuleSet(files=("other",))
    session = Session(rules=rules)
    child = session.child("sub")
    assert (AuthContext.from_state(session).rules, AuthContext.from_state(child).rules) == (rules, rules)
    child.rules = other
    context = AuthContext.from_state(child)
    assert context.parent is not None
    assert (context.rules, context.parent.rules) == (other, rules)


def test_what_another_process_noted_is_taken_over() -> None:
    """A sub-agent that is there already knows it, too."""
    session = Session(labels={"web"})
    child = session.child("sub")
    ran = Ran(1.0, "fetch", "main", "d", frozenset({"few"}))
    session.recall(ran, frozenset({"secret"}))
    assert (list(child.history.latest()), child.labels, session.counts["fetch"]) == ([ran], {"web", "secret"}, 1)


def test_what_is_written_to_a_sub_agent_is_not_the_users() -> None:
    """Another agent wrote it; as a user may have, not all that was written is known any more."""
    session = Session()
    session.heard("ann")
    session.child("helper").heard("bob")
    assert session.provenance.texts == ("ann",)
    assert not session.provenance.is_complete


def test_what_was_heard_before_a_restart_is_not_known() -> None:
    """Another process noted a run, so there was a message."""
    session = Session()
    for _ in range(2):
        session.recall(Ran(0, "look", "main", "d", frozenset(), frozenset()), frozenset())
    session.heard("ann")
    assert session.provenance.messages == len("ab")
    assert not session.provenance.is_complete


def test_a_result_has_the_labels_that_its_call_put_on_the_session() -> None:
    """Not those of other calls, nor those that are there already."""
    session = Session(labels={"mail"})
    look, fetch = ToolCall("look"), ToolCall("fetch")
    session.apply(fetch, SideEffects(labels=frozenset({"web"})))
    session.apply(look, SideEffects())
    for call in (look, fetch):
        session.returned(call, "AT11")
    assert session.provenance.places("text:AT11") == {("look", ""): [1], ("fetch", " (labelled `web`)"): [2]}


def test_a_child_counts_for_the_shared_budgets_of_its_parent() -> None:
    """They are of one principal."""
    shared = cast("Any", SimpleNamespace(snapshot=GivenCounts))
    session = Session(shared=shared)
    assert session.child("helper").shared is shared
    assert AuthContext.from_state(session).shared == GivenCounts()


@for_each(
    "mode, meant", [("yoloo", "yolo"), ("pln", "plan"), ("defualt", "default"), (" Plan ", "plan"), ("YOLO", "yolo")]
)
def test_a_slip_in_a_mode_is_an_error(mode: str, meant: str) -> None:
    """It would be a mode of a host, in which plan mode is off."""
    for act in (lambda: Session(mode=mode), lambda: Session().switch_mode(mode)):
        with pytest.raises(ValueError, match=f"did you mean `{meant}`"):
            act()


@for_each(
    "mode", ["acceptEdits", "auto_edit", "autoEdit", "bypassPermissions", "dontAsk", "auto", "manual", "ask", "build"]
)
def test_the_words_of_hosts_are_modes(mode: str) -> None:
    """None of them is nearly one of ours."""
    assert Session(mode=mode).mode == mode


def test_each_message_of_the_user_begins_a_turn() -> None:
    """Also one of which only that is known; sub-agents work in that of the session above them."""
    session = Session()
    child = session.child("helper")
    assert session.turn == child.turn == ""
    session.heard("do it")
    turns = [session.turn]
    session.begin_turn()
    turns.append(session.turn)
    session.heard("and that")
    turns.append(session.turn)
    assert len(set(turns)) == 3
    assert child.turn == session.turn
    child.heard("work")
    assert child.turn == session.turn == turns[-1]


def test_rules_for_a_turn_end_with_it() -> None:
    """Those that last are in force again."""
    lasting, more = load_rules("schema = 1\n"), load_rules("schema = 1\n")
    session = Session(rules=lasting)
    session.permit_for_turn(more, lasting)
    assert session.rules is more
    session.heard("next")
    assert session.rules is lasting
    session.permit_for_turn(more, lasting)
    session.rules = other = load_rules("schema = 1\n")
    session.begin_turn()
    assert session.rules is other


def test_a_turn_may_have_the_id_of_the_host() -> None:
    """An empty one is a turn that is not known."""
    session = Session()
    session.heard("a", turn="t1")
    assert session.turn == "t1"
    session.begin_turn("")
    assert session.turn == ""
    session.begin_turn()
    assert session.turn not in ("", "t1")
