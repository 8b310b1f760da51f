"""`AuthorizedCall`: the only thing the registry runs."""

from typing import NoReturn, Protocol

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult

__all__ = ["AuthorizedCall", "RunObserver"]


class RunObserver(Protocol):
    """Receives the start and the end of every run; if `started` raises, the tool does not run."""

    def started(self, call: ToolCall) -> None:
        """Receive that the tool is about to run."""
        ...

    def finished(self, call: ToolCall, result: ToolResult, *, outcome: str, seconds: float, error: str | None) -> None:
        """Receive the result, once; `outcome` is a value of `Outcome`, `error` the traceback of a crash."""
        ...


class AuthorizedCall:
    """A call that may run once: created by a `ToolHandler`, redeemed by the registry it was created for.

    It cannot be built, copied or pickled. What runs is what was authorized: the registry keeps the call itself and
    looks it up by this object's identity, so nothing written onto the object matters.
    """

    __slots__ = ("__weakref__",)

    def __init__(self) -> None:
        raise TypeError("an AuthorizedCall is created by a ToolHandler, never built")

    def __copy__(self) -> NoReturn:
        raise TypeError("an AuthorizedCall cannot be copied")

    def __deepcopy__(self, memo: object) -> NoReturn:
        raise TypeError("an AuthorizedCall cannot be copied")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("an AuthorizedCall cannot be pickled")
