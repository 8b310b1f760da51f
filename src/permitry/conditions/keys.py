"""The keys of `when` and `unless`: each a file here, loaded when a rule first has the key."""

import functools
import importlib

from permitry.conditions.written import Written

__all__ = ["CONDITIONS", "condition"]

CONDITIONS = (
    "mode", "agent", "attended", "template", "server", "tools", "traits", "label", "digest", "tool_digest", "repeat",
    "repaired", "prompt", "args", "text", "command", "looks", "path", "access", "host",
)  # fmt: skip
"""All conditions, in the order in which they are evaluated and listed. A new one needs a file, and its name here."""


@functools.cache
def condition(key: str) -> type[Written]:
    """Return the class of a condition. Raises: `ValueError` for another key."""
    if key not in CONDITIONS:
        raise ValueError(f"there is no condition `{key}`")
    module = importlib.import_module(f"permitry.conditions.{key}")
    found: type[Written] = next(each for each in vars(module).values() if getattr(each, "key", None) == key)
    return found
