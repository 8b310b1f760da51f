"""The registry: tools by name, and running what was authorized."""

import asyncio
import contextvars
import functools
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, cast

import attrs
import pytest
from tests.tables import for_each

from permitry.audit.recorder import MemoryRecorder, RunRecord
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.result import ToolResult
from permitry.core.spec import ToolSpec
from permitry.dispatch.arguments import with_check
from permitry.dispatch.authorized import AuthorizedCall
from permitry.dispatch.limits import ToolLimits
from permitry.dispatch.registry import Handler, ToolRegistry
from permitry.errors import FatalToolError, RegistryError, ToolError, UnknownToolError

Run = Callable[[Handler], ToolResult]
AsyncRun = Callable[[Handler], Coroutine[Any, Any, ToolResult]]


def _work(_: dict[str, Any]) -> tuple[bool, str]:
    return True, "done"


def _raising(error: BaseException) -> Handler:
    def tool(_: dict[str, Any]) -> tuple[bool, str]:
        raise error

    return tool


async def _async_work(arguments: dict[str, Any]) -> tuple[bool, str]:
    await asyncio.sleep(0)
    return True, f"done {arguments['items']}"


@attrs.frozen
class Watcher(RunRecord):
    """Keeps the results it is notified of."""

    results: list[ToolResult] = attrs.field(factory=list)

    def started(self, call: ToolCall) -> None:
        """Let every run begin."""

    def finished(self, call: ToolCall, result: ToolResult, *, outcome: str, seconds: float, error: str | None) -> None:
        """Keep the result."""
        assert (call.tool, error is None, outcome == "ok", seconds >= 0) == ("tool", result.ok, result.ok, True)
        self.results.append(result)


@pytest.fixture
def watcher() -> Watcher:
    """Return an observer of runs."""
    return Watcher(MemoryRecorder())


# Tools by name ----------------------------------------------------------------------------------------------------


def test_a_registry_is_a_collection_of_specs(registry: ToolRegistry) -> None:
    """Tools are counted, listed and found by name."""
    spec = ToolSpec("look")
    registry.register(spec, _work)
    assert (len(registry), list(registry), registry.get("look")) == (1, [spec], spec)
    assert "look" in registry


def test_an_unknown_name_is_no_tool(registry: ToolRegistry) -> None:
    """An empty registry knows nothing."""
    assert registry.get("look") is None
    assert "look" not in registry
    assert len(registry) == 0


def test_a_name_is_given_once(registry: ToolRegistry) -> None:
    """A tool cannot be put in the place of another one: what was decided about is what runs."""
    registry.register(ToolSpec("look", "the first"), _work)
    with pytest.raises(RegistryError, match="`look` is already registered"):
        registry.register(ToolSpec("look", "the second"), _work)
    assert [spec.description for spec in registry] == ["the first"]


@pytest.mark.parametrize("name", ["look", "unknown"])
def test_a_tool_without_a_preview_shows_none(registry: ToolRegistry, name: str) -> None:
    """No preview is no error, for unknown tools neither."""
    registry.register(ToolSpec("look"), _work)
    assert registry.preview(ToolCall(name)) is None


def test_a_preview_is_made_from_a_copy_of_the_arguments(registry: ToolRegistry) -> None:
    """What a preview does to its arguments does not reach the call."""
    call = ToolCall("write", {"lines": ["a"]})
    registry.register(ToolSpec("write"), _work, preview=lambda given: f"+{given['lines'].pop()}")
    assert registry.preview(call) == "+a"
    assert call.to_dict() == {"lines": ["a"]}


def test_a_preview_that_fails_says_so(registry: ToolRegistry) -> None:
    """The human is still asked, and sees why nothing is shown."""

    def preview(_: dict[str, Any]) -> str:
        raise ValueError("no such file")

    registry.register(ToolSpec("write"), _work, preview=preview)
    assert registry.preview(ToolCall("write")) == "(no preview: no such file)"


def test_an_unknown_tool_is_never_authorized(registry: ToolRegistry, watcher: Watcher) -> None:
    """The registry itself does not mint for what it could not run."""
    registry.register(ToolSpec("look"), _work)
    with pytest.raises(UnknownToolError, match="no tool `missing` is registered"):
        registry._authorize(ToolCall("missing"), None, AuthContext(), watcher)  # noqa: SLF001 -- the handler never asks for it


# Results ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", [(False, "no such file"), ToolResult(False, "no such file")])
def test_a_tool_returns_a_pair_or_a_result(run: Run, outcome: tuple[bool, str] | ToolResult) -> None:
    """Both forms mean the same."""
    assert run(lambda _: outcome) == ToolResult(False, "no such file")


def test_a_tool_gets_arguments_of_its_own(run: Run) -> None:
    """Plain dicts and lists, as the model wrote them."""
    assert run(lambda given: (type(given["items"]) is list, repr(given))) == ToolResult(True, "{'items': [1, 2]}")


_WRONG = [None, b"done", True, (1, "done"), (True, b"done"), (True, "a", "b"), (True,), {"ok": True}]


@pytest.mark.parametrize("text", ["done", ""])
def test_a_tool_may_return_text_alone(run: Run, text: str) -> None:
    """Plain text is what a tool that succeeded says."""
    assert run(lambda _: text) == ToolResult(True, text)


@pytest.mark.parametrize("outcome", _WRONG)
def test_a_result_of_another_type_is_a_crash(run: Run, outcome: Any) -> None:  # noqa: ANN401 -- wrong types are the point
    """A tool that returns something else has not succeeded."""
    assert run(lambda _: outcome) == ToolResult(False, "The tool `tool` crashed (TypeError). Try another way.")


def test_a_long_result_is_clipped_to_the_tools_limit(run: Run) -> None:
    """The spec says how much of a text the model gets."""
    result = run(lambda _: (True, "x" * 1000))
    assert result.ok is True
    assert "...[900 characters left out]..." in result.text


def test_a_long_error_is_clipped_too(run: Run) -> None:
    """An error is no way around the limit."""
    assert "...[900 characters left out]..." in run(_raising(ToolError("x" * 1000))).text


# Failures ---------------------------------------------------------------------------------------------------------


def test_a_tool_error_is_told_to_the_model(run: Run, recorder: MemoryRecorder) -> None:
    """An expected failure is a result like any other, and no crash."""
    assert run(_raising(ToolError("There is no file `a`."))) == ToolResult(False, "There is no file `a`.")
    assert recorder.records[-1]["ok"] is False
    assert recorder.records[-1]["error"] is None


def test_a_tool_error_that_cannot_be_shown_is_still_one(run: Run, recorder: MemoryRecorder) -> None:
    """It is reported in other words, and recorded as the end of the run."""

    class MuteError(ToolError):
        def __str__(self) -> str:
            raise ValueError

    assert run(_raising(MuteError())) == ToolResult(False, "a MuteError that cannot be shown")
    assert (recorder.records[-1]["event"], recorder.records[-1]["ok"]) == ("finished", False)


def test_a_crash_is_told_without_its_inside(run: Run) -> None:
    """The model learns the kind of the error, and nothing of its text or place."""
    result = run(_raising(ValueError("password=hunter2")))
    assert result == ToolResult(False, "The tool `tool` crashed (ValueError). Try another way.")


def test_a_crash_is_recorded_with_its_traceback(run: Run, recorder: MemoryRecorder) -> None:
    """The operator gets what the model does not."""
    run(_raising(ValueError("password=hunter2")))
    trace = str(recorder.records[-1]["error"])
    assert trace.startswith("Traceback")
    assert trace.endswith("ValueError: password=hunter2\n")


def test_a_fatal_error_ends_the_run_and_is_recorded(run: Run, recorder: MemoryRecorder) -> None:
    """The host gets the error itself; the record has its end all the same."""
    with pytest.raises(FatalToolError, match="disk gone"):
        run(_raising(FatalToolError("disk gone")))
    assert [each["event"] for each in recorder.records] == ["decided", "started", "finished"]
    assert recorder.records[-1]["ok"] is False


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), GeneratorExit(), asyncio.CancelledError()])
def test_the_end_of_the_process_goes_on_and_is_recorded(
    run: Run, recorder: MemoryRecorder, error: BaseException
) -> None:
    """What is not a failure of the tool is not swallowed, and the run is still on record."""
    with pytest.raises(type(error)):
        run(_raising(error))
    finished = recorder.records[-1]
    assert (finished["event"], finished["ok"], finished["error"]) == ("finished", False, type(error).__name__)


def test_an_interrupted_tool_is_not_said_to_have_crashed(registry: ToolRegistry, watcher: Watcher) -> None:
    """It was stopped from outside, and no one knows how far it came."""
    spec = ToolSpec("tool")
    registry.register(spec, _raising(KeyboardInterrupt()))
    authorized = registry._authorize(ToolCall("tool"), spec, AuthContext(), watcher)  # noqa: SLF001 -- to see what the observer is told
    with pytest.raises(KeyboardInterrupt):
        registry.dispatch(authorized)
    assert watcher.results == [ToolResult(False, "The tool `tool` was interrupted; it may have had effects.")]


@pytest.mark.parametrize("ok", [True, False])
def test_a_tool_cannot_end_the_session(run: Run, ok: bool) -> None:  # noqa: FBT001 -- a table of flags
    """Only the user ends it; what a tool says of that is dropped, and the rest of its result is not."""
    assert run(lambda _: ToolResult(ok, "stop", ends_session=True)) == ToolResult(ok, "stop")


def test_a_tools_own_kind_of_result_becomes_a_plain_one(run: Run) -> None:
    """What a subclass adds, or says of itself, stays with the tool."""

    @attrs.frozen
    class Boastful(ToolResult):
        more: str = "inside"

    result = run(lambda _: Boastful(False, "no", ends_session=True))
    assert (type(result), result) == (ToolResult, ToolResult(False, "no"))


def test_an_async_tool_cannot_end_the_session_either(arun: AsyncRun) -> None:
    """The other way to run drops it, too."""

    async def tool(_: dict[str, Any]) -> ToolResult:
        return ToolResult(True, "stop", ends_session=True)

    assert asyncio.run(arun(tool)) == ToolResult(True, "stop")


# Waiting ----------------------------------------------------------------------------------------------------------


def test_an_async_tool_runs_where_nothing_is_awaited(run: Run) -> None:
    """A sync dispatch waits for the tool's own result."""
    assert run(_async_work) == ToolResult(True, "done [1, 2]")


def test_an_async_tool_runs_on_the_thread_of_a_running_loop(run: Run) -> None:
    """A sync dispatch inside a coroutine waits as well; the tool gets a loop of its own."""

    async def host() -> ToolResult:
        return run(_async_work)

    assert asyncio.run(host()) == ToolResult(True, "done [1, 2]")


_CONTEXT = contextvars.ContextVar("_CONTEXT", default="nothing")


@pytest.mark.parametrize("in_loop", [True, False])
def test_an_async_tool_sees_the_context_of_its_caller(run: Run, in_loop: bool) -> None:  # noqa: FBT001 -- a table
    """Context variables reach the tool, in whichever thread its loop runs."""

    async def tool(_: dict[str, Any]) -> tuple[bool, str]:
        return True, _CONTEXT.get()

    async def host() -> ToolResult:
        return run(tool)

    def called() -> ToolResult:
        _CONTEXT.set("something")
        return asyncio.run(host()) if in_loop else run(tool)

    assert contextvars.copy_context().run(called).text == "something"


def test_an_async_tool_runs_on_the_thread_of_its_caller(run: Run) -> None:
    """Without a running loop no other thread is needed."""

    async def tool(_: dict[str, Any]) -> tuple[bool, str]:
        return True, str(threading.get_ident())

    assert run(tool).text == str(threading.get_ident())


def test_ctrl_c_stops_an_async_tool_that_is_waited_for(run: Run, recorder: MemoryRecorder) -> None:
    """The tool is cancelled, the interrupt goes on, and the run is on record."""
    ends: list[str] = []

    async def slow(_: dict[str, Any]) -> tuple[bool, str]:
        asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGINT)
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            ends.append("cancelled")
            raise
        return True, "done"

    with pytest.raises(KeyboardInterrupt):
        run(slow)
    assert (ends, recorder.records[-1]["error"]) == (["cancelled"], "KeyboardInterrupt")


def test_an_async_crash_in_a_running_loop_is_a_result(run: Run, recorder: MemoryRecorder) -> None:
    """The failure comes back from the other thread as itself."""

    async def tool(_: dict[str, Any]) -> tuple[bool, str]:
        raise ValueError("inside")

    async def host() -> ToolResult:
        return run(tool)

    assert asyncio.run(host()) == ToolResult(False, "The tool `tool` crashed (ValueError). Try another way.")
    assert "inside" in str(recorder.records[-1]["error"])


def test_an_async_tool_is_awaited(arun: AsyncRun) -> None:
    """An async dispatch runs the tool on the loop it is called on."""
    assert asyncio.run(arun(_async_work)) == ToolResult(True, "done [1, 2]")


def test_a_plain_tool_does_not_hold_up_the_loop(arun: AsyncRun) -> None:
    """It runs in another thread."""
    threads: list[int] = []

    def tool(_: dict[str, Any]) -> tuple[bool, str]:
        threads.append(threading.get_ident())
        return True, "done"

    assert asyncio.run(arun(tool)) == ToolResult(True, "done")
    assert threads != [threading.get_ident()]


def test_a_plain_tool_that_ends_an_iterator_has_crashed(arun: AsyncRun, recorder: MemoryRecorder) -> None:
    """A future cannot carry StopIteration; the loop goes on all the same, and the record has the cause."""
    result = asyncio.run(asyncio.wait_for(arun(_raising(StopIteration())), 5))
    assert result == ToolResult(False, "The tool `tool` crashed (RuntimeError). Try another way.")
    assert "StopIteration" in str(recorder.records[-1]["error"])


def test_a_plain_tool_may_return_an_awaitable(arun: AsyncRun) -> None:
    """A wrapped coroutine function is awaited like a bare one."""

    def wrapped(arguments: dict[str, Any]) -> Awaitable[tuple[bool, str]]:
        return _async_work(arguments)

    assert asyncio.run(arun(wrapped)) == ToolResult(True, "done [1, 2]")


def test_a_partial_coroutine_function_is_awaited(arun: AsyncRun) -> None:
    """`functools.partial` hides nothing."""
    assert asyncio.run(arun(functools.partial(_async_work))) == ToolResult(True, "done [1, 2]")


def test_an_async_crash_is_a_result_too(arun: AsyncRun, recorder: MemoryRecorder) -> None:
    """Async tools fail in the same words as others."""

    async def tool(_: dict[str, Any]) -> tuple[bool, str]:
        raise ValueError("inside")

    told = asyncio.run(arun(tool))
    assert told == ToolResult(False, "The tool `tool` crashed (ValueError). Try another way.")
    assert "inside" in str(recorder.records[-1]["error"])


def test_an_async_result_of_another_type_is_a_crash(arun: AsyncRun) -> None:
    """Awaiting does not make a wrong type right."""

    async def tool(_: dict[str, Any]) -> Any:  # noqa: ANN401 -- a wrong type is the point
        return 1

    assert "crashed (TypeError)" in asyncio.run(arun(tool)).text


def test_a_cancelled_tool_is_recorded(
    registry: ToolRegistry, authorize: Callable[[ToolCall], AuthorizedCall], recorder: MemoryRecorder
) -> None:
    """A task that is cancelled while the tool works leaves an end in the record."""

    async def forever(_: dict[str, Any]) -> tuple[bool, str]:
        await asyncio.Event().wait()
        return True, "never"

    async def cancel() -> None:
        task = asyncio.create_task(registry.adispatch(authorize(ToolCall("forever"))))
        await asyncio.sleep(0.01)
        task.cancel()
        await task

    registry.register(ToolSpec("forever"), forever)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel())
    assert [each["event"] for each in recorder.records] == ["decided", "started", "finished"]


@for_each(
    ("words", "rest", "told"),
    [
        (("look", print), {}, "a tool is registered by its ToolSpec, not 'look'"),
        ((ToolSpec("look"), "print"), {}, "the handler of `look` is a function, not 'print'"),
        ((ToolSpec("look"), print), {"preview": "diff"}, "`preview` is a function or None, not 'diff'"),
        ((ToolSpec("look"), print), {"enabled": True}, "`enabled` is a function or None, not True"),
        ((ToolSpec("look"), print), {"limits": 3}, "`limits` is a ToolLimits, not 3"),
        ((ToolSpec("look"), print), {"limits": ToolLimits(rate=cast("Any", 3))}, "`rate` is a RateLimit, such as"),
    ],
)
@for_each("way", ["register", "register_call_time", "register_with_context"])
def test_what_is_no_tool_is_not_registered(
    registry: ToolRegistry, way: str, words: tuple[Any, ...], rest: dict[str, Any], told: str
) -> None:
    """The error says what it should be, and the name stays free."""
    with pytest.raises(RegistryError, match=told):
        getattr(registry, way)(*words, **rest)
    assert len(registry) == 0


def _quiet() -> None:
    """Do nothing."""


def test_a_decorator_that_fails_registers_nothing(registry: ToolRegistry) -> None:
    """Whatever of its words is wrong."""
    with pytest.raises(RegistryError, match=r"write `tool\(name=…\)`"):
        registry.tool(cast("Any", "look"))
    with pytest.raises(RegistryError, match="`limits` is a ToolLimits"):
        registry.tool(name="look", limits=3)(_quiet)
    with pytest.raises(TypeError, match="`traits` is a ToolTraits"):
        registry.tool(name="look", traits={})(_quiet)
    assert len(registry) == 0


def test_a_schema_that_cannot_be_used_is_an_error_when_registering(registry: ToolRegistry) -> None:
    """It names the tool; nothing is registered. A tool with a check of its own needs none."""
    spec = ToolSpec("t", parameters={"type": "objekt"})
    with pytest.raises(RegistryError, match="the tool `t`: the schema of the arguments cannot be used"):
        registry.register(spec, str)
    assert "t" not in registry
    registry.register(spec, with_check(str, str))
