"""The one door: nothing runs without an `AuthorizedCall` that a handler created, and each runs once."""

import contextlib
import copy
import gc
import os
import pickle
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import attrs
import pytest

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.core.spec import ToolSpec
from permitry.dispatch.authorized import AuthorizedCall
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import ReplayError
from permitry.guard.session import Session
from permitry.handler import Ready, ToolHandler

Authorize = Callable[[ToolCall], AuthorizedCall]
Ran = list[dict[str, Any]]

_WORK = ToolCall("work", {"n": 1})


class _Subclass(AuthorizedCall):
    def __init__(self) -> None:
        """Skip the refusal of the base."""


class _Disguised:
    __slots__ = ("__weakref__",)


class _Equal:
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


def _in_disguise() -> object:
    disguised: Any = _Disguised()
    disguised.__class__ = AuthorizedCall
    return disguised


# Making one -------------------------------------------------------------------------------------------------------


def test_it_cannot_be_built() -> None:
    """The class refuses to make one."""
    with pytest.raises(TypeError, match="created by a Guard, never built"):
        AuthorizedCall()


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_it_cannot_be_copied(ran: Ran, authorize: Authorize, duplicate: Callable[[object], object]) -> None:
    """One authorization stays one."""
    with pytest.raises(TypeError, match="cannot be copied"):
        duplicate(authorize(_WORK))
    assert ran == []


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_it_cannot_be_pickled(ran: Ran, authorize: Authorize, protocol: int) -> None:
    """It does not travel to another process, nor back into this one."""
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(authorize(_WORK), protocol)
    assert ran == []


def test_what_holds_one_cannot_be_duplicated_either(ran: Ran, handler: ToolHandler) -> None:
    """A `Ready` is as unique as the authorization in it."""
    ready = handler.begin(_WORK)
    with pytest.raises(TypeError, match="cannot be copied"):
        copy.deepcopy(ready)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(ready)
    assert ran == []


@pytest.mark.parametrize("name", ["call", "arguments", "anything", "_call"])
def test_nothing_can_be_written_onto_it(ran: Ran, authorize: Authorize, name: str) -> None:
    """It has no attributes that could be changed, and still runs what was authorized."""
    assert ran == []
    authorized = authorize(_WORK)
    with pytest.raises(AttributeError):
        setattr(authorized, name, ToolCall("work", {"n": 2}))


@pytest.mark.parametrize(
    "forge",
    [
        lambda: object.__new__(AuthorizedCall),
        _Subclass,
        _in_disguise,
        _Equal,
        lambda: None,
        lambda: "work",
        lambda: _WORK,
        lambda: {"tool": "work"},
        lambda: AuthorizedCall,
    ],
)
def test_nothing_else_opens_the_door(
    registry: ToolRegistry, ran: Ran, authorize: Authorize, forge: Callable[[], Any]
) -> None:
    """While a true authorization is outstanding, nothing that looks like one is taken."""
    kept = authorize(_WORK)
    with pytest.raises(ReplayError):
        registry.dispatch(forge())
    assert ran == []
    assert registry.dispatch(kept).ok


def test_a_reference_is_not_the_thing(registry: ToolRegistry, ran: Ran, handler: ToolHandler) -> None:
    """Neither a proxy nor what holds the authorization is in for it."""
    ready: Any = handler.begin(_WORK)
    stand_ins: list[Any] = [ready, weakref.proxy(ready.authorized), [ready.authorized]]
    for stand_in in stand_ins:
        with pytest.raises(ReplayError):
            registry.dispatch(stand_in)
    assert ran == []


def test_an_authorization_goes_with_its_token(registry: ToolRegistry, ran: Ran) -> None:
    """What everybody forgot is not kept for ever; and no new object with the same identity can take its place."""
    ready: Any = ToolHandler(Session(yolo_mode=True), registry=registry).begin(_WORK)
    taken = id(ready.authorized)
    del ready
    gc.collect()
    assert len(registry._outstanding._kept) == 0  # noqa: SLF001 -- a leak shows nowhere else
    forged = [object.__new__(AuthorizedCall) for _ in range(2_000)]
    for each in (each for each in forged if id(each) == taken):
        with pytest.raises(ReplayError):
            registry.dispatch(each)
    assert ran == []


def test_the_id_of_a_used_one_opens_nothing(registry: ToolRegistry, ran: Ran) -> None:
    """A new object in the place of a used authorization is as worthless as any."""
    ready: Any = ToolHandler(Session(yolo_mode=True), registry=registry).begin(_WORK)
    registry.dispatch(ready.authorized)
    del ready
    gc.collect()
    for forged in [object.__new__(AuthorizedCall) for _ in range(2_000)]:
        with pytest.raises(ReplayError):
            registry.dispatch(forged)
    assert len(ran) == 1


# Using one --------------------------------------------------------------------------------------------------------


def test_it_runs_once(registry: ToolRegistry, ran: Ran, authorize: Authorize) -> None:
    """The second time, it is refused."""
    authorized = authorize(_WORK)
    registry.dispatch(authorized)
    with pytest.raises(ReplayError):
        registry.dispatch(authorized)
    assert ran == [{"n": 1}]


def test_a_run_that_crashed_was_the_one_run(registry: ToolRegistry, authorize: Authorize) -> None:
    """A crash gives no second try with the same authorization."""
    registry.register(ToolSpec("crash"), lambda _: (True, 1 / 0))  # type: ignore[arg-type, return-value]  # it crashes
    authorized = authorize(ToolCall("crash"))
    assert not registry.dispatch(authorized).ok
    with pytest.raises(ReplayError):
        registry.dispatch(authorized)


def test_it_opens_no_other_registry(ran: Ran, authorize: Authorize) -> None:
    """The same tool elsewhere does not run for it."""
    elsewhere = ToolRegistry()
    elsewhere.register(ToolSpec("work"), lambda _: (True, "elsewhere"))
    with pytest.raises(ReplayError):
        elsewhere.dispatch(authorize(_WORK))
    assert ran == []


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("first", ["parent", "child"])
def test_of_two_processes_the_one_that_got_it_runs(
    registry: ToolRegistry, ran: Ran, authorize: Authorize, first: str
) -> None:
    """A fork copies everything but the right to run, whoever of the two tries first."""
    authorized = authorize(_WORK)
    if first == "parent":
        registry.dispatch(authorized)
    child = os.fork()
    if child == 0:  # pragma: no cover -- measured in the parent
        with contextlib.suppress(ReplayError):
            registry.dispatch(authorized)
        os._exit(len(ran))
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == (1 if first == "parent" else 0)
    if first == "child":
        registry.dispatch(authorized)
    assert ran == [{"n": 1}]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_may_authorize_its_own(registry: ToolRegistry, ran: Ran, authorize: Authorize) -> None:
    """After a fork the child decides for itself, and runs what it authorized."""
    child = os.fork()
    if child == 0:  # pragma: no cover -- measured in the parent
        with contextlib.suppress(ReplayError):
            registry.dispatch(authorize(_WORK))
        os._exit(len(ran))
    _, status = os.waitpid(child, 0)
    assert (os.waitstatus_to_exitcode(status), ran) == (1, [])


def test_an_equal_call_needs_one_of_its_own(registry: ToolRegistry, ran: Ran, authorize: Authorize) -> None:
    """Two authorizations of one call are two runs, and no more."""
    both = [authorize(attrs.evolve(_WORK, call_id="a")), authorize(attrs.evolve(_WORK, call_id="b"))]
    assert [registry.dispatch(each).ok for each in both] == [True, True]
    for each in both:
        with pytest.raises(ReplayError):
            registry.dispatch(each)
    assert len(ran) == 2


def test_of_many_threads_one_runs(registry: ToolRegistry, ran: Ran, authorize: Authorize) -> None:
    """Thirty-two threads with one authorization run the tool once."""
    together = threading.Barrier(32)
    authorized = authorize(_WORK)

    def dispatches() -> bool:
        together.wait()
        try:
            return registry.dispatch(authorized).ok
        except ReplayError:
            return False

    with ThreadPoolExecutor(32) as pool:
        results = [pool.submit(dispatches) for _ in range(32)]
    assert sum(result.result() for result in results) == 1
    assert len(ran) == 1


def test_a_thread_that_comes_second_in_the_middle_is_refused(
    registry: ToolRegistry, ran: Ran, authorize: Authorize, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An authorization that another thread takes between looking and taking does not run twice."""

    class TakenInBetween(dict[int, Any]):
        def get(self, key: int, default: object = None) -> object:
            return self.pop(key, default)

    authorized = authorize(_WORK)
    outstanding: Any = registry._outstanding  # noqa: SLF001 -- a race, made certain
    monkeypatch.setattr(outstanding, "_kept", TakenInBetween(outstanding._kept))  # noqa: SLF001 -- as above
    with pytest.raises(ReplayError, match="has already run"):
        registry.dispatch(authorized)
    assert ran == []


def test_what_was_authorized_is_what_runs(registry: ToolRegistry, ran: Ran, authorize: Authorize) -> None:
    """Changing the caller's own arguments afterwards, at any depth, changes nothing."""
    mine: dict[str, Any] = {"path": "a", "deep": {"list": [1, {"x": 1}]}}
    authorized = authorize(ToolCall("work", mine))
    mine["path"] = "b"
    mine["deep"]["list"][1]["x"] = 2
    mine["deep"]["list"].append(3)
    registry.dispatch(authorized)
    assert ran == [{"path": "a", "deep": {"list": [1, {"x": 1}]}}]


def test_a_swapped_call_does_not_run(ran: Ran, handler: ToolHandler) -> None:
    """Putting another call into a `Ready` changes the label, not what runs."""
    ready = handler.begin(_WORK)
    assert isinstance(ready, Ready)
    assert handler.run(attrs.evolve(ready, call=ToolCall("work", {"n": 666}))) == ToolResult(True, "done")
    assert ran == [{"n": 1}]


def test_an_authorization_leaves_no_trace_in_the_text_of_a_registry(
    registry: ToolRegistry, ran: Ran, authorize: Authorize
) -> None:
    """Whoever prints a registry gives no authorization away."""
    authorize(_WORK)
    assert "AuthorizedCall" not in repr(registry)
    assert ran == []
