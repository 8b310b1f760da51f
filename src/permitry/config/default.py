"""The default policy: the built-in rules, and a reader that determines the actions of calls."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from permitry.actions.extract import ReadActions
from permitry.actions.programs.records import Records
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import AnyRule
from permitry.rules import BUILT_IN_RULES

__all__ = ["create_default_authorization_policy", "read_with"]


def create_default_authorization_policy(
    extra: Iterable[AnyRule] = (),
    **rest: Any,  # noqa: ANN401 -- AuthorizationPolicy's own keywords
) -> AuthorizationPolicy:
    """Return the policy of the six built-in rules, and of the `extra` ones given.

    `rest` are further arguments of `AuthorizationPolicy`; by default `reader` is that of this machine.
    """
    return AuthorizationPolicy((*BUILT_IN_RULES, *extra), **{"reader": read_with(Records()), **rest})


def read_with(records: Records, *, has_disk: bool = True) -> ReadActions:
    """Return the reader for this machine, with records of programs; links count if it `has_disk`."""
    return ReadActions(_home(), has_disk, records=records)


def _home() -> str | None:
    try:
        return str(Path.home())
    except RuntimeError:
        return None
