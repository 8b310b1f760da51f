"""The decorator and the context manager, and the conformance of a loop that is made of them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from tests.adapters.cases import INSTEAD
from tests.tables import for_each

from permitry.audit.record import MemoryRecorder
from permitry.channels.channel import CallbackChannel
from permitry.channels.response import ToolConfirmationResponse
from permitry.conditions.provenance.normal_form import normal
from permitry.config.load import load_policy
from permitry.core.spec import ToolSpec, ToolTraits
from permitry.errors import CallBlockedError, ReplayError
from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.guard.outcome import Ask, Permit, Refusal
from permitry.guard.session import Session
from permitry.testing import conformance
from permitry.testing.conformance import Made, Progress, Tools
from permitry_hosts.adapters.plain import CAPABILITIES, apermitted, guarded, permitted

_READS = "schema = 1\n[[rule]]\nid = 'reads'\neffect = 'allow'\ntools = ['@reads']\n"


class _Loop:
    """A loop of plain Python: a dictionary of tools, and `permitted` around each of them."""

    capabilities: Capabilities = CAPABILITIES

    def run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> Progress:
        """Run the calls one after the other."""
        known = {"look": tools.look, "write": tools.write}
        shown = []
        for made in calls:
            try:
                with permitted(guard, made.tool, made.json, call_id=made.call_id) as arguments:
                    shown.append(known[made.tool](**arguments))
            except CallBlockedError as error:
                shown.append(str(error))
        return Progress(tuple(shown))

    def resume(
        self, guard: Guard, tools: Tools, progress: Progress, answers: Mapping[str, ToolConfirmationResponse]
    ) -> Progress:
        """Do nothing: a loop that waits is never resumed."""
        raise NotImplementedError


class _Suspending(_Loop):
    """A loop that keeps its questions in a state of plain JSON, and goes on in any process."""

    capabilities = Capabilities(asks="suspend", outlives=True)

    def run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> Progress:
        """Check all calls, and run them if none has to be asked about."""
        return self.resume(guard, tools, Progress((), state=(tuple(calls), frozenset())), {})

    def resume(
        self, guard: Guard, tools: Tools, progress: Progress, answers: Mapping[str, ToolConfirmationResponse]
    ) -> Progress:
        """Check them again, knowing which were asked about."""
        calls, asked = progress.state
        outcomes = [
            guard.check(guard.call(made.tool, made.json, call_id=made.call_id), asked=made.path in asked)
            for made in calls
        ]
        outcomes = [
            guard.answer(each.id, answers[made.path]) if isinstance(each, Ask) and made.path in answers else each
            for each, made in zip(outcomes, calls, strict=True)
        ]
        waiting = tuple(made.path for each, made in zip(outcomes, calls, strict=True) if isinstance(each, Ask))
        if waiting:
            return Progress((), waiting, (calls, asked | set(waiting)))
        shown = []
        for each, made in zip(outcomes, calls, strict=True):
            if isinstance(each, Refusal):
                shown.append(each.text)
            elif isinstance(each, Permit):
                with each as arguments:
                    shown.append({"look": tools.look, "write": tools.write}[made.tool](**arguments))
        return Progress(tuple(shown))


@for_each("host", [_Loop(), _Suspending()], ids=["waits", "suspends"])
@for_each("case", [*conformance.CASES, INSTEAD], ids=str)
def test_a_loop_keeps_what_the_guard_says(case: conformance.Case, host: conformance.Host) -> None:
    """In every case that it can be asked."""
    if case.needs(host.capabilities):
        conformance.check(case, host)
    else:
        with pytest.raises(LookupError):
            conformance.check(case, host)


# The decorator ----------------------------------------------------------------------------------------------------


def test_a_guarded_function_runs_only_where_it_may() -> None:
    """Rules see its name and its arguments, defaults included; the model is shown why it did not run."""
    rules = """
        schema = 1
        [[rule]]
        id = "ours"
        effect = "allow"
        tools = ["send_mail"]
        when.args.to = { suffix = "@ours.example" }
        when.args.subject = "hello"
        [policy]
        unmatched = "block"
    """
    sent = []

    @guarded(Guard(load_policy(rules)))
    def send_mail(to: str, subject: str = "hello") -> int:
        """Send a mail."""
        sent.append((to, subject))
        return len(sent)

    assert send_mail("ann@ours.example") == 1
    with pytest.raises(CallBlockedError, match="The call of `send_mail` was blocked"):
        send_mail(to="eve@theirs.example", subject="x")
    assert sent == [("ann@ours.example", "hello")]
    assert send_mail.__doc__ == "Send a mail."
    with pytest.raises(TypeError):
        send_mail()  # type: ignore[call-arg]


def test_what_a_function_gave_is_where_values_come_from() -> None:
    """Of both kinds of functions."""
    guard = Guard(session=Session(yolo_mode=True))

    @guarded(guard)
    def look(path: str) -> dict[str, str]:
        return {"id": path + "9"}

    @guarded(guard)
    async def alook(path: str) -> dict[str, str]:
        return {"id": path + "8"}

    look("x")
    asyncio.run(alook("x"))
    known = guard.session.provenance
    assert known.seen("look", ("id",), normal("x9"))
    assert known.seen("alook", ("id",), normal("x8"))


def test_an_async_function_is_awaited() -> None:
    """After the answer, which may take its time."""

    @guarded(Guard(load_policy(_READS)), name="peek", spec=ToolSpec("peek", traits=ToolTraits(read_only=True)))
    async def look(path: str) -> str:
        return path

    assert asyncio.run(look("a")) == "a"


def test_an_async_function_that_may_not_run_does_not() -> None:
    """It is refused when it is awaited."""

    @guarded(Guard())
    async def look(path: str) -> str:
        return path

    with pytest.raises(CallBlockedError, match="needs the user's confirmation"):
        asyncio.run(look("a"))


def test_a_block_of_async_code_waits_for_the_answer() -> None:
    """On the event loop, and gets what the answer permits."""

    class Slow:
        def ask(self, _: object) -> ToolConfirmationResponse:
            raise NotImplementedError

        async def aask(self, _: object) -> ToolConfirmationResponse:
            await asyncio.sleep(0)
            return ToolConfirmationResponse(approved=True, arguments={"path": "b"})

    async def look() -> dict[str, object]:
        async with apermitted(Guard(channel=Slow()), "look", '{"path": "a"}') as arguments:
            return arguments

    assert asyncio.run(look()) == {"path": "b"}


def test_a_function_is_run_with_what_was_permitted() -> None:
    """Not with what the caller changes in the meantime, nor with what a human edited away."""
    edited = ToolConfirmationResponse(approved=True, arguments={"lines": ["safe"]})

    @guarded(Guard(channel=CallbackChannel(lambda _: edited)))
    def write(lines: list[str]) -> list[str]:
        return lines

    assert write(["rm -rf /"]) == ["safe"]


def test_a_crash_of_the_function_is_recorded_and_raised() -> None:
    """With the run that it ended."""
    guard = Guard(session=Session(yolo_mode=True))

    @guarded(guard)
    def crash(path: str) -> None:
        raise OSError(path)

    with pytest.raises(OSError, match="a"):
        crash("a")
    assert isinstance(guard.recorder, MemoryRecorder)
    assert guard.recorder.records[-1]["outcome"] == "crashed"


def test_a_guard_that_leaves_calls_to_its_host_is_refused() -> None:
    """There is no host here that asks, and no record of what it would run."""
    guard = Guard(unmatched="silence")
    with pytest.raises(ValueError, match="nothing else asks"):
        guarded(guard)
    with pytest.raises(ValueError, match="nothing else asks"):
        permitted(guard, "look", {"path": "a"})


@for_each("manager", [permitted, apermitted])
def test_a_context_manager_is_not_a_decorator(manager: Any) -> None:  # noqa: ANN401 -- either of two functions
    """The function would run with arguments that were never decided about, and again and again."""
    block = manager(Guard(session=Session(yolo_mode=True)), "write", {"path": "a"})
    with pytest.raises(TypeError, match="not callable"):
        block(len)


@for_each(("call_id", "error"), [("c1", CallBlockedError), (None, ReplayError)])
def test_a_block_of_async_code_runs_once(call_id: str | None, error: type[Exception]) -> None:
    """What was permitted once, is not permitted again."""
    guard = Guard(session=Session(yolo_mode=True))

    async def twice() -> None:
        block = apermitted(guard, "write", {"path": "a"}, call_id=call_id)
        async with block:
            pass
        async with block:
            raise NotImplementedError

    with pytest.raises(error):
        asyncio.run(twice())
    assert isinstance(guard.recorder, MemoryRecorder)
    assert [record["event"] for record in guard.recorder.records].count("started") == 1


def test_a_function_without_names_for_its_arguments_cannot_be_guarded() -> None:
    """Rules would not see them."""
    with pytest.raises(TypeError, match=r"`run` cannot be guarded: its parameter `\*args: str`"):

        @guarded(Guard())
        def run(*args: str) -> None:
            raise NotImplementedError(args)


def test_a_function_that_yields_cannot_be_guarded() -> None:
    """It would run after its end was recorded."""
    with pytest.raises(TypeError, match="`lines` cannot be guarded: it yields"):

        @guarded(Guard())
        def lines(path: str) -> Iterator[str]:
            yield path


@for_each("arguments", [{"path": "a"}, {}, {"path": "a", "mode": "keep", "force": True}])
def test_an_edit_is_of_all_arguments(arguments: dict[str, object]) -> None:
    """No rule has seen the default that the function would take."""
    edited = ToolConfirmationResponse(approved=True, arguments=arguments)
    guard = Guard(channel=CallbackChannel(lambda _: edited))

    @guarded(guard)
    def run(path: str, mode: str = "wipe") -> None:
        raise NotImplementedError(path, mode)

    with pytest.raises(CallBlockedError, match="they must be `path`, `mode`"):
        run("b", "keep")
    assert isinstance(guard.recorder, MemoryRecorder)
    assert "started" not in [record["event"] for record in guard.recorder.records]


async def _work(path: str) -> str:
    raise NotImplementedError(path)


def _lines(path: str) -> Iterator[str]:
    yield path


async def _alines(path: str) -> AsyncIterator[str]:
    yield path


async def _late(path: str) -> object:
    return _work(path)


@for_each("function", [_work, _lines, _alines])
def test_what_has_yet_to_run_is_not_returned(function: Callable[..., object]) -> None:
    """Its end was recorded before it began."""
    guard = Guard(session=Session(yolo_mode=True))

    @guarded(guard)
    def run(path: str) -> object:
        return function(path)

    with pytest.raises(TypeError, match="`run` cannot be guarded: what it returns has yet to run"):
        run("a")
    with pytest.raises(TypeError, match="has yet to run"):
        asyncio.run(guarded(guard)(_late)("a"))
    assert isinstance(guard.recorder, MemoryRecorder)
    assert guard.recorder.records[-1]["outcome"] == "crashed"


def test_a_task_that_is_returned_is_cancelled() -> None:
    """It has not begun."""
    tasks = []

    @guarded(Guard(session=Session(yolo_mode=True)))
    def run(path: str) -> object:
        tasks.append(asyncio.ensure_future(_work(path)))
        return tasks[0]

    async def main() -> None:
        with pytest.raises(TypeError, match="has yet to run"):
            run("a")
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]

    asyncio.run(main())


def test_an_object_that_yields_cannot_be_guarded() -> None:
    """It is called like a function."""

    class Lines:
        def __call__(self, path: str) -> Iterator[str]:
            yield path

    with pytest.raises(TypeError, match="`lines` cannot be guarded: it yields"):
        guarded(Guard(), name="lines")(Lines())


def test_a_method_is_guarded_with_its_object() -> None:
    """The object itself is not JSON."""

    class Files:
        def look(self, path: str) -> str:
            return path

    guard = Guard(session=Session(yolo_mode=True))
    with pytest.raises(TypeError, match="`look` cannot be guarded: it is a method"):
        guarded(guard)(Files.look)
    assert guarded(guard)(Files().look)("a") == "a"
