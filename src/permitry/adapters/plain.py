"""For code without a framework: a decorator and context managers that run what is permitted."""

import contextlib
import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any, ParamSpec, TypeVar, cast

from permitry.capabilities import Capabilities
from permitry.core.call import ToolCall
from permitry.core.spec import ToolSpec
from permitry.dispatch.arguments import is_async
from permitry.errors import CallBlockedError
from permitry.guard import Guard
from permitry.outcome import Permit, Refusal, Silence

__all__ = ["CAPABILITIES", "apermitted", "guarded", "permitted"]

CAPABILITIES = Capabilities(asks="inline", in_parallel=True)

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def guarded(
    guard: Guard, *, name: str | None = None, spec: ToolSpec | None = None
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Return a decorator: the function, async or not, runs only where the guard permits its call.

    Rules see `name`, or else the name of the function, and its arguments by their names. The function gets the
    arguments that were permitted. One that the guard leaves to the host runs.

    Raises, when the function is called: `CallBlockedError` with the text for the model; `TypeError` for arguments that
    the function does not take.
    """

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
                with _taken(await guard.ainline(asked(args, kwargs), spec)) as arguments:
                    return await work(**arguments)

            return cast("Callable[Parameters, Result]", arun)

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 -- those of the function
            with _taken(guard.inline(asked(args, kwargs), spec)) as arguments:
                return cast("Callable[..., Any]", function)(**arguments)

        return cast("Callable[Parameters, Result]", run)

    return decorate


@contextlib.contextmanager
def permitted(
    guard: Guard, name: str, arguments: Mapping[str, Any] | str, *, call_id: str | None = None
) -> Iterator[dict[str, Any]]:
    """Run a block with the arguments that were permitted, and record how it ended.

    Raises: `CallBlockedError` with the text for the model; then the block does not run.
    """
    with _taken(guard.inline(guard.call(name, arguments, call_id=call_id))) as taken:
        yield taken


@contextlib.asynccontextmanager
async def apermitted(
    guard: Guard, name: str, arguments: Mapping[str, Any] | str, *, call_id: str | None = None
) -> AsyncIterator[dict[str, Any]]:
    """Do what `permitted` does without blocking the event loop while a human thinks."""
    with _taken(await guard.ainline(guard.call(name, arguments, call_id=call_id))) as taken:
        yield taken


@contextlib.contextmanager
def _taken(outcome: Permit | Refusal | Silence) -> Iterator[dict[str, Any]]:
    match outcome:
        case Refusal():
            raise CallBlockedError(outcome.text, outcome.decision)
        case Silence():
            yield outcome.call.to_dict()
        case Permit():
            with outcome as arguments:
                yield arguments


def _check(tool: str, function: Callable[..., object], signature: inspect.Signature) -> None:
    """Refuse a function that yields, or whose arguments have no names that rules could see."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"`{tool}` cannot be guarded: it yields, and its run would have no end")
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"`{tool}` cannot be guarded: its parameter `{parameter}` has no name that rules could see")
