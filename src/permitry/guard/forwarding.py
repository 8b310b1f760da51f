"""Parts and methods of a guard, as those of what has one as its `guard`."""

import functools
from collections.abc import Callable
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

from permitry.guard.guard import Guard

__all__ = ["Part", "forward"]

T = TypeVar("T")
P = ParamSpec("P")


class _HasGuard(Protocol):
    guard: Guard


class Part(Generic[T]):
    """An attribute that is its guard's: read and set there."""

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    def __get__(self, owner: "_HasGuard | None", _: type) -> T:
        found: Any = self if owner is None else getattr(owner.guard, self._name)
        part: T = found
        return part

    def __set__(self, owner: _HasGuard, part: T) -> None:
        setattr(owner.guard, self._name, part)


def forward(method: Callable[Concatenate[Guard, P], T]) -> "Callable[Concatenate[Any, P], T]":
    """Return a method that is its guard's."""

    @functools.wraps(method)
    def call_guard(owner: _HasGuard, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return method(owner.guard, *args, **kwargs)

    return call_guard
