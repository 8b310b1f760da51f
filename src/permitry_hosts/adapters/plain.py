"""For code without a framework: a decorator and context managers that run what is permitted."""

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, ParamSpec, TypeVar, assert_never, cast

import attrs

from permitry.core.call import ToolCall
from permitry.core.spec import ToolSpec
from permitry.dispatch.arguments import is_async
from permitry.errors import CallBlockedError, ReplayError
from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.guard.outcome import Permit, Refusal, Silence
from permitry_hosts.adapters._outcomes import SILENT, ended

__all__ = ["CAPABILITIES", "apermitted", "guarded", "permitted"]

CAPABILITIES = Capabilities(asks="inline", in_parallel=True)

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def guarded(
    guard: Guard, *, name: str | None = None, spec: ToolSpec | None = None
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Return a decorator: the function, async or not, runs only where the guard permits its call.

    Rules see `name`, or else the name of the function, and its arguments by their names. The function gets the
    arguments that were permitted.

    Raises: `ValueError` for a guard that leaves calls to its host. When the function is called: `CallBlockedError` with
    the text for the model; `TypeError` for arguments that the function does not take.
    """
    if guard.unmatched == "silence":
        raise ValueError(SILENT)

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        tool, signature = name or function.__name__, inspect.signature(function)
        _check(tool, function, signature)

        def asked(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> ToolCall | Refusal:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            return guard.call(tool, bound.arguments)

        if is_async(function):
            work = cast("Callable[..., Awaitable[Any]]", function)

            @functools.wraps(function)
            async def arun(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 -- those of the function
                with (permit := _fit(await guard.ainline(asked(args, kwargs), spec), signature)) as arguments:
                    return _end(tool, permit, await work(**arguments))

            return cast("Callable[Parameters, Result]", arun)

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 -- those of the function
            with (permit := _fit(guard.inline(asked(args, kwargs), spec), signature)) as arguments:
                return _end(tool, permit, cast("Callable[..., Any]", function)(**arguments))

        return cast("Callable[Parameters, Result]", run)

    return decorate


def permitted(guard: Guard, name: str, arguments: Mapping[str, Any] | str, *, call_id: str | None = None) -> Permit:
    """Return the permit of a call, for a block of code that runs once, with the arguments that were permitted.

    Raises: `CallBlockedError` with the text for the model; then the block does not run.
    """
    return _permit(guard.inline(guard.call(name, arguments, call_id=call_id)))


def apermitted(
    guard: Guard, name: str, arguments: Mapping[str, Any] | str, *, call_id: str | None = None
) -> "AsyncPermit":
    """Do what `permitted` does, for `async with`, without blocking the event loop while a human thinks."""
    return AsyncPermit(guard, guard.call(name, arguments, call_id=call_id))


# Neither is made by contextlib: such a context manager is a decorator as well, of functions with other arguments.
@attrs.define(eq=False)
class AsyncPermit:
    """A block of async code that runs once, and only where its guard permits the call."""

    _guard: Guard = attrs.field(repr=False)
    _call: ToolCall | Refusal
    _permit: Permit | None = attrs.field(default=None, init=False, repr=False)

    async def __aenter__(self) -> dict[str, Any]:
        permit = _permit(await self._guard.ainline(self._call))
        if self._permit is not None:
            raise ReplayError("this block has already run")
        self._permit = permit
        return permit.take()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._permit is not None:
            self._permit.__exit__(kind, error, traceback)


def _permit(outcome: Permit | Refusal | Silence) -> Permit:
    match outcome:
        case Permit():
            return outcome
        case Refusal():
            raise CallBlockedError(outcome.text, outcome.decision)
        case Silence():
            raise ValueError(SILENT)
        case _:
            assert_never(outcome)


def _fit(outcome: Permit | Refusal | Silence, signature: inspect.Signature) -> Permit:
    """Return a permit for all arguments: of one that an edit left out, the function would take its default."""
    permit = _permit(outcome)
    if set(permit.call.arguments) != set(signature.parameters):
        names = ", ".join(f"`{name}`" for name in signature.parameters) or "none"
        raise CallBlockedError(f"The edited arguments cannot be used: they must be {names}.", permit.decision)
    return permit


def _end(tool: str, permit: Permit, result: object) -> object:
    """Record and return what a function gave, unless that has yet to run: its end would come before its start."""
    if inspect.isawaitable(result) or inspect.isgenerator(result) or inspect.isasyncgen(result):
        close = getattr(result, "close", None) or getattr(result, "cancel", None)
        if close is not None:
            close()
        raise TypeError(f"`{tool}` cannot be guarded: what it returns has yet to run; guard the function that runs it")
    ended(permit, ok=True, result=result)
    return result


def _check(tool: str, function: Callable[..., object], signature: inspect.Signature) -> None:
    """Refuse a function that yields, a method without its object, and arguments that have no names for rules."""
    for each in (function, getattr(function, "__call__", None)):  # noqa: B004 -- its kind is asked, not whether it is there
        if inspect.isgeneratorfunction(each) or inspect.isasyncgenfunction(each):
            raise TypeError(f"`{tool}` cannot be guarded: it yields, and its run would have no end")
    if next(iter(signature.parameters), None) in ("self", "cls"):
        raise TypeError(
            f"`{tool}` cannot be guarded: it is a method; guard that of an object, as in `guarded(guard)(a.b)`"
        )
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"`{tool}` cannot be guarded: its parameter `{parameter}` has no name that rules could see")
