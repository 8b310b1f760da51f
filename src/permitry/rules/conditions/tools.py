"""Which tools a rule is about."""

import attrs

from permitry.core.names import NamePattern
from permitry.core.rule import Question
from permitry.errors import RuleError

__all__ = ["TRAIT_SELECTORS", "ToolSelector"]

TRAIT_SELECTORS = ("@agent", "@network", "@reads", "@shell", "@writes")
"""The selectors for traits of a tool instead of its name."""

_OF_COMMANDS = frozenset({"@network", "@reads", "@writes"})


def _known_selector(_: object, __: object, value: str) -> None:
    if value.startswith("@") and value not in TRAIT_SELECTORS:
        raise RuleError(f"unknown trait selector `{value}`; known: {', '.join(TRAIT_SELECTORS)}")


@attrs.frozen
class ToolSelector:
    """One word of a rule's `tools`: a name, a glob, `mcp:server/tool`, or a trait selector.

    `@reads` selects calls known to change nothing, `@writes` all others; `@shell` tools that take a
    command; `@network` tools that reach the world outside; `@agent` tools that start agents. If
    that is not known of a tool, `@network` and `@agent` select it for a restriction and not for a
    permission. For a permission, names must be equal; for a restriction, every name that the name
    in the call may mean counts.
    """

    text: str = attrs.field(validator=_known_selector)
    _pattern: NamePattern = attrs.field(init=False, repr=False, eq=False)

    @_pattern.default
    def _compiled(self) -> NamePattern:
        return NamePattern(self.text)

    @property
    def pattern(self) -> NamePattern | None:
        """The pattern of names; None for a trait selector."""
        return None if self.text.startswith("@") else self._pattern

    def selects(self, question: Question, *, over_approximate: bool) -> bool:
        """Return whether it selects the call, or with `over_approximate` may select it."""
        match self.text:
            case "@reads":
                return question.is_read_only or (over_approximate and _may_read(question))
            case "@writes":
                return not question.is_read_only
            case "@shell":
                return question.tool is not None and question.tool.is_shell
            case "@network":
                return _trait(_reaches_out(question), over_approximate=over_approximate)
            case "@agent":
                spawns = None if question.tool is None else question.tool.traits.spawns_agent
                return _trait(spawns, over_approximate=over_approximate)
            case _:
                call = question.call
                return self._pattern.matches(call.tool) or (over_approximate and self._pattern.may_mean(call.readings))


def _may_read(question: Question) -> bool:
    # INVARIANT: law 4. A restriction on `@reads` also applies to a command that cannot be read.
    return question.tool is not None and question.tool.is_shell and question.actions.unknown is not None


def _trait(value: bool | None, *, over_approximate: bool) -> bool:  # noqa: FBT001 -- it is the value that is examined
    return over_approximate if value is None else value


def _reaches_out(question: Question) -> bool | None:
    tool = question.tool
    if tool is None:
        return None
    # A command that only reads opens no connection, whatever its tool could do.
    return False if tool.is_shell and question.is_read_only else tool.traits.open_world
