"""A rule that was written in a rule file."""

from collections.abc import Iterable

import attrs

from permitry.core.decision import Verdict
from permitry.core.pattern import Pattern
from permitry.core.rule import Question
from permitry.errors import RuleError

__all__ = ["TRAIT_SELECTORS", "ConfiguredRule", "ToolSelector"]

TRAIT_SELECTORS = ("@reads", "@writes")
"""The selectors that look at what a tool is rather than at its name."""


def _known_selector(_: object, __: object, value: str) -> None:
    if value.startswith("@") and value not in TRAIT_SELECTORS:
        raise RuleError(f"unknown trait selector `{value}`; known: {', '.join(TRAIT_SELECTORS)}")


def _words(value: Iterable[str]) -> tuple[str, ...]:
    if isinstance(value, str):
        raise RuleError(f"a list of words is needed, not the one string `{value}`")
    return tuple(value)


@attrs.frozen
class ToolSelector:
    """One word of a rule's `tools`: a name, a glob, `mcp:server/tool`, or a trait selector.

    `@reads` selects calls known to change nothing; `@writes` selects all others, unknown tools included.
    """

    text: str = attrs.field(validator=_known_selector)
    _pattern: Pattern = attrs.field(init=False, repr=False, eq=False)

    @_pattern.default
    def _compiled(self) -> Pattern:
        return Pattern(self.text)

    def selects(self, question: Question) -> bool:
        """Return whether the call's tool is meant."""
        if self.text == "@reads":
            return question.is_read_only
        if self.text == "@writes":
            return not question.is_read_only
        return self._pattern.matches(question.call.tool)


@attrs.frozen
class ConfiguredRule:
    """A rule from a file: a selection of tools, and conditions on mode, agent and template.

    It matches when one selector selects the tool and every condition that is given holds. `templates` holds when
    the active template is named there or extends one that is. Empty `selectors` select every tool.
    """

    id: str
    effect: Verdict
    priority_number: int
    selectors: tuple[ToolSelector, ...] = ()
    modes: tuple[str, ...] = attrs.field(default=(), converter=_words)
    agents: tuple[Pattern, ...] = ()
    templates: tuple[str, ...] = attrs.field(default=(), converter=_words)
    reason: str = ""
    message: str | None = None
    source: str | None = attrs.field(default=None, repr=False)

    def priority(self) -> int:
        """Return the priority of the file, or the default of the effect."""
        return self.priority_number

    def matches(self, question: Question) -> bool:
        """Return whether the tool is selected and all conditions hold."""
        return self.selects(question) and not self.unmet(question)

    def selects(self, question: Question) -> bool:
        """Return whether the call's tool is meant, whatever the conditions."""
        return not self.selectors or any(selector.selects(question) for selector in self.selectors)

    def unmet(self, question: Question) -> tuple[str, ...]:
        """Return the conditions that do not hold, as facts: `mode = default`."""
        context = question.context
        unmet = []
        # A permission looks at the mode by its name; a restriction at every mode that is true.
        in_force = {context.mode} if self.effect is Verdict.ALLOW else context.modes
        if self.modes and in_force.isdisjoint(self.modes):
            unmet.append(f"mode = {context.mode}")
        if self.agents and not any(agent.matches(context.agent) for agent in self.agents):
            unmet.append(f"agent = {context.agent}")
        if self.templates and not self._has_template(question):
            template = context.active_template
            unmet.append("no active template" if template is None else f"template = {template.name}")
        return tuple(unmet)

    def near_miss(self, question: Question) -> str | None:
        """Return the conditions that failed, when the tool was the right one."""
        return ", ".join(self.unmet(question)) or None if self.selects(question) else None

    def _has_template(self, question: Question) -> bool:
        template = question.context.active_template
        return template is not None and not template.names().isdisjoint(self.templates)
