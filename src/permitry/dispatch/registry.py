"""The registry: tools by name, and `dispatch`, which takes nothing but an `AuthorizedCall`."""

import asyncio
import concurrent.futures
import contextvars
import inspect
import os
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, NoReturn, Protocol, TypeAlias, TypeVar, cast

import attrs

from permitry.core.call import ToolCall
from permitry.core.spec import ToolSpec
from permitry.dispatch.result import ToolResult, clip
from permitry.errors import FatalToolError, RegistryError, ReplayError, ToolError, UnknownToolError, told

__all__ = ["AuthorizedCall", "Handler", "RunObserver", "ToolRegistry", "in_thread"]

Outcome: TypeAlias = ToolResult | tuple[bool, str] | str
Handler: TypeAlias = Callable[[dict[str, Any]], Outcome | Awaitable[Outcome]]
T = TypeVar("T")
R = TypeVar("R")
Preview: TypeAlias = Callable[[dict[str, Any]], str | None]


class RunObserver(Protocol):
    """Who is told of every run; `started` may raise, and then the tool does not run."""

    def started(self, call: ToolCall) -> None:
        """Take note that the tool is about to run."""
        ...

    def finished(self, call: ToolCall, result: ToolResult, *, seconds: float, error: str | None) -> None:
        """Take note of the result; `error` is the traceback of a crash."""
        ...


class AuthorizedCall:
    """A call that may run once: minted by a `ToolHandler`, redeemed by the registry it was minted for.

    It cannot be built, copied or pickled. What runs is what was authorized: the registry keeps the call itself and
    looks it up by this object's identity, so nothing written onto the object matters.
    """

    __slots__ = ("__weakref__",)

    def __init__(self) -> None:
        raise TypeError("an AuthorizedCall is minted by a ToolHandler, never built")

    def __copy__(self) -> NoReturn:
        raise TypeError("an AuthorizedCall cannot be copied")

    def __deepcopy__(self, memo: object) -> NoReturn:
        raise TypeError("an AuthorizedCall cannot be copied")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("an AuthorizedCall cannot be pickled")


@attrs.frozen
class _Tool:
    spec: ToolSpec
    handler: Handler
    preview: Preview | None


@attrs.frozen
class _Authorization:
    token: AuthorizedCall
    call: ToolCall
    observer: RunObserver
    process: int = attrs.field(factory=os.getpid)


@attrs.define
class ToolRegistry:
    """Tools by name. A tool takes its arguments as a dict and returns `(ok, text)`, text alone, or a `ToolResult`.

    Source: seed 000, "Handler signature"; seed 001, "ToolRegistry".
    """

    _tools: dict[str, _Tool] = attrs.field(factory=dict, init=False)
    # INVARIANT: an entry is here exactly while its AuthorizedCall has been minted and not yet redeemed.
    _outstanding: dict[int, _Authorization] = attrs.field(factory=dict, init=False, repr=False)

    def register(self, spec: ToolSpec, handler: Handler, *, preview: Preview | None = None) -> None:
        """Add a tool; `preview` describes what a call would change, for the human who is asked.

        Raises: `RegistryError` when the name is taken.
        """
        if spec.name in self._tools:
            raise RegistryError(f"the tool `{spec.name}` is already registered")
        self._tools[spec.name] = _Tool(spec, handler, preview)

    def get(self, name: str) -> ToolSpec | None:
        """Return the spec of the tool `name`, or None."""
        tool = self._tools.get(name)
        return None if tool is None else tool.spec

    def preview(self, call: ToolCall) -> str | None:
        """Return what `call` would change, if its tool can tell; a preview that fails says so instead."""
        tool = self._tools.get(call.tool)
        if tool is None or tool.preview is None:
            return None
        try:
            return tool.preview(call.thawed())
        except Exception as error:  # noqa: BLE001 -- a preview that fails must not keep the question from the human
            return f"(no preview: {' '.join(told(error).split())})"

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[ToolSpec]:
        return (tool.spec for tool in self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def dispatch(self, authorized: AuthorizedCall) -> ToolResult:
        """Run an authorized call and return its result. A crash becomes a result; its traceback goes to the record.

        Raises: `ReplayError` for an object not minted here or already used; `FatalToolError` from the tool.
        """
        run = _Run(self._redeem(authorized), self._tools)
        with run:
            outcome = run.tool.handler(run.authorization.call.thawed())
            if inspect.isawaitable(outcome):
                outcome = _waited_for(outcome)
            run.result = _checked(outcome)
        return run.finish()

    async def adispatch(self, authorized: AuthorizedCall) -> ToolResult:
        """Run an authorized call on the event loop; a tool that is not async runs in a thread.

        Raises: as `dispatch`.
        """
        run = _Run(self._redeem(authorized), self._tools)
        with run:
            arguments = run.authorization.call.thawed()
            if inspect.iscoroutinefunction(run.tool.handler):
                outcome = await run.tool.handler(arguments)
            else:
                outcome = await in_thread(run.tool.handler, arguments)
                if inspect.isawaitable(outcome):
                    outcome = await outcome
            run.result = _checked(outcome)
        return run.finish()

    def _authorize(self, call: ToolCall, observer: RunObserver) -> AuthorizedCall:
        """Mint the one authorization of `call`. The handler alone calls this, after a decision."""
        if call.tool not in self._tools:
            raise UnknownToolError(f"no tool `{call.tool}` is registered")
        token = object.__new__(AuthorizedCall)
        self._outstanding[id(token)] = _Authorization(token, call, observer)
        return token

    def _redeem(self, authorized: AuthorizedCall) -> _Authorization:
        # The pop is atomic: of two threads with one token, one gets the entry. Holding the token in the entry keeps
        # its id from being reused while it is outstanding.
        authorization = self._outstanding.get(id(authorized))
        # A fork copies the entry as well; the authorization stays with the process that got it.
        if authorization is None or authorization.token is not authorized or authorization.process != os.getpid():
            raise ReplayError("this call was not authorized here, or has already run")
        if self._outstanding.pop(id(authorized), None) is not authorization:
            raise ReplayError("this call has already run")
        return authorization


_NOTHING = ToolResult(False, "The tool gave no result.")


@attrs.define
class _Run:
    """One run of one tool, told to its observer whatever happens."""

    authorization: _Authorization
    tools: Mapping[str, _Tool]
    result: ToolResult = _NOTHING
    trace: str | None = None
    _begun: float = 0.0

    @property
    def tool(self) -> _Tool:
        return self.tools[self.authorization.call.tool]

    def __enter__(self) -> None:
        self.authorization.observer.started(self.authorization.call)
        self._begun = time.perf_counter()

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        name = self.tool.spec.name
        if isinstance(error, ToolError):
            self.result = ToolResult(False, told(error))
        elif isinstance(error, Exception):
            self.trace = "".join(traceback.format_exception(error))
            text = f"The tool `{name}` crashed ({type(error).__name__}). Try another way."
            self.result = ToolResult(False, text)
        elif error is not None:
            # A thread cannot be stopped: what was interrupted may still be at work.
            self.trace = type(error).__name__
            self.result = ToolResult(False, f"The tool `{name}` was interrupted; it may have had effects.")
        self.result = attrs.evolve(self.result, text=clip(self.result.text, self.tool.spec.output_limit))
        seconds = time.perf_counter() - self._begun
        call = self.authorization.call
        self.authorization.observer.finished(call, self.result, seconds=seconds, error=self.trace)
        # Only what a tool may raise is turned into a result; the end of the run and of the process go on.
        return isinstance(error, Exception) and not isinstance(error, FatalToolError)

    def finish(self) -> ToolResult:
        return self.result


async def in_thread(function: Callable[[T], R], argument: T) -> R:
    """Return `function(argument)`, run in a thread of its own: a slow one holds up neither the loop nor another."""

    def called() -> R:
        try:
            return function(argument)
        except StopIteration as error:
            # A future cannot carry it: whoever waits would wait for ever.
            raise RuntimeError("raised StopIteration") from error

    thread = concurrent.futures.ThreadPoolExecutor(1)
    try:
        return await asyncio.get_running_loop().run_in_executor(thread, contextvars.copy_context().run, called)
    finally:
        thread.shutdown(wait=False)


def _is_on_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _waited_for(outcome: Awaitable[Outcome]) -> Outcome:
    """Return the outcome of an async tool to a caller that is not async, even on the thread of a running loop."""

    async def awaited() -> Outcome:
        return await outcome

    if not _is_on_a_loop():
        return asyncio.run(awaited())
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        return thread.submit(contextvars.copy_context().run, asyncio.run, awaited()).result()


def _checked(outcome: object) -> ToolResult:
    if isinstance(outcome, ToolResult):
        return ToolResult(outcome.ok, outcome.text)
    match outcome:
        case str():
            return ToolResult(True, outcome)
        case (bool(), str()):
            return ToolResult(*cast("tuple[bool, str]", outcome))
        case _:
            raise TypeError(f"a tool returns (ok, text), text, or a ToolResult, not {type(outcome).__name__}")
