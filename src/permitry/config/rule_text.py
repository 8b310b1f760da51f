"""A rule that is not written yet, and its text in a rule file."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import attrs

from permitry.core.texts import visible

__all__ = ["Conditions", "Draft", "draft_text", "rule_lines", "write_key", "write_value"]

Conditions: TypeAlias = Mapping[str, Any]
"""The table `when` of a rule, or one of `unless`."""


@attrs.frozen
class Draft:
    """A rule of ours that is not written yet."""

    effect: str
    tools: tuple[str, ...] = ()
    when: Conditions = attrs.field(factory=dict)
    unless: tuple[Conditions, ...] = ()
    priority: int | None = None
    message: str = ""
    match: tuple[str, ...] = ()
    no_match: tuple[str, ...] = ()

    def wider(self) -> "Draft | None":
        """Return a restriction without what cannot be said, or None; a permission is never widened."""
        if self.effect == "allow":
            return None
        if self.unless:
            return attrs.evolve(self, unless=())
        if self.when:
            return attrs.evolve(self, tools=self.tools or ("*",), when={}, match=(), no_match=())
        everything = attrs.evolve(self, tools=("*",), match=(), no_match=())
        return None if self.tools == ("*",) else everything


def draft_text(draft: Draft, name: str, reason: str) -> str:
    """Return a rule as TOML."""
    return "\n".join(line for _, line in rule_lines(draft, name, reason)) + "\n"


def rule_lines(draft: Draft, name: str, reason: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a rule, each with the key that it is about."""
    yield "rule", "[[rule]]"
    yield "id", f"id = {write_value(name)}"
    yield "effect", f"effect = {write_value(draft.effect)}"
    if draft.priority is not None:
        yield "priority", f"priority = {draft.priority}"
    if draft.tools:
        yield "tools", f"tools = {write_value(draft.tools)}"
    yield "reason", f"reason = {write_value(reason)}"
    if draft.message.strip():
        yield "message", f"message = {write_value(draft.message)}"
    yield from _condition_lines("when", draft.when)
    if len(draft.unless) == 1:
        yield from _condition_lines("unless", draft.unless[0])
    elif draft.unless:
        yield "unless", "unless = ["
        yield from (("unless", f"  {write_value(each)},") for each in draft.unless)
        yield "unless", "]"
    if draft.match:
        yield "match", f"match = {write_value(draft.match)}"
    if draft.no_match:
        yield "no_match", f"no_match = {write_value(draft.no_match)}"


def _condition_lines(table: str, conditions: Conditions) -> Iterator[tuple[str, str]]:
    return ((table, f"{table}.{write_key(key)} = {write_value(value)}") for key, value in conditions.items())


def write_key(name: str) -> str:
    """Return a key of TOML."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else write_value(name)


def write_value(value: Any) -> str:  # noqa: ANN401 -- any value of TOML
    """Return a value as TOML, in one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{write_key(key)} = {write_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(write_value, value)) + "]"
    # A text of JSON is one of TOML. What no one would see, or would see in another order, is written as its number.
    text = json.dumps(value, ensure_ascii=False)
    return "".join(char if visible(char) == char else f"\\U{ord(char):08x}" for char in text)
