"""Parts and methods of a guard, as those of what has one."""

import functools
from collections.abc import Callable
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

from permitry.guard.guard import Guard

__all__ = ["HasGuard", "Part", "forward"]

T = TypeVar("T")
P = ParamSpec("P")


class HasGuard(Protocol):
    """What is combined of a guard and something else."""

    guard: Guard


class Part(Generic[T]):
    """An attribute that is the guard's: read and set there."""

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    def __get__(self, owner: "HasGuard | None", _: type) -> T:
        found: Any = self if owner is None else getattr(owner.guard, self._name)
        part: T = found
        return part

    def __set__(self, owner: "HasGuard", part: T) -> None:
        setattr(owner.guard, self._name, part)


def forward(method: Callable[Concatenate[Guard, P], T]) -> "Callable[Concatenate[Any, P], T]":
    """Return a method that is its guard's."""

    @functools.wraps(method)
    def call_guard(owner: HasGuard, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return method(owner.guard, *args, **kwargs)

    return call_guard
