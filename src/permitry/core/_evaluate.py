"""The evaluation of a question: every rule is asked, phase by phase."""

from collections.abc import Collection, Iterable, Sequence

import attrs

from permitry.core._entry import Entry
from permitry.core._version import Version
from permitry.core.action import Actions
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase, RuleFailure, Verdict
from permitry.core.rule import Question, Unsure
from permitry.core.spec import ToolSpec

__all__ = ["Phases", "decided", "with_actions"]

# Looked up once: that takes longer than to compare them.
_RESTRICTION, _PERMISSION, _ALLOW, _BLOCK = Phase.RESTRICTION, Phase.PERMISSION, Verdict.ALLOW, Verdict.BLOCK


@attrs.frozen
class Phases:
    """The rules of a policy by phase, in order; `version.default` decides when none matches.

    `unsure` are the ids of restrictions that, for the question they are for, are unsure at most and without likeness.
    """

    overrides: Sequence[Entry]
    restrictions: Sequence[Entry]
    permissions: Sequence[Entry]
    version: Version
    unsure: Collection[str] = frozenset()

    @classmethod
    def of(cls, entries: Iterable[Entry], version: Version, unsure: Collection[str] = frozenset()) -> "Phases":
        """Return entries, which come in their order, by phase."""
        overrides: list[Entry] = []
        restrictions: list[Entry] = []
        permissions: list[Entry] = []
        for entry in entries:
            phase = entry.phase
            (permissions if phase is _PERMISSION else restrictions if phase is _RESTRICTION else overrides).append(
                entry
            )
        return cls(overrides, restrictions, permissions, version, unsure)


def decided(question: Question, phases: Phases) -> Decision:
    """Return the decision the rules come to. Never raises for a failing rule, never guesses ALLOW."""
    failures: list[RuleFailure] = []
    chosen = (
        _first(phases.overrides, question, failures)
        or _restricted(phases, question, failures)
        or _permitted(phases.permissions, question, failures)
        or [phases.version.default]
    )[0]
    return phases.version.failed(chosen, failures) if failures else chosen


# A Decision is neither true nor false, so the steps return it in a list: empty where none was made.


def _first(entries: Sequence[Entry], question: Question, failures: list[RuleFailure]) -> list[Decision]:
    for entry in entries:
        decision = entry.decides(question, failures)
        if decision is not None:
            return [decision]
    return []


def _restricted(phases: Phases, question: Question, failures: list[RuleFailure]) -> list[Decision]:
    found = _strictest(phases, question, failures)
    if not found or phases.version.unmatched is not _BLOCK or found[0].verdict is _BLOCK:
        return found
    # INVARIANT: law 4. What nothing permits is blocked here, and a restriction that asks about it changes that not.
    return found if _permitted(phases.permissions, question, failures) else [phases.version.default]


def _strictest(phases: Phases, question: Question, failures: list[RuleFailure]) -> list[Decision]:
    matched: list[tuple[Entry, bool | Unsure | None]] = []
    for entry in phases.restrictions:
        # All others are asked, also after a match: a failure further on belongs in the record.
        if not (matched and entry.rule_id in phases.unsure):
            answer = entry.answer(question, failures)
            if answer is not False:
                matched.append((entry, answer))
    if not matched:
        return []
    # As max keeps the first of equals, of those that look like nothing in the call the most general one is named.
    entry, answer = matched[0] if len(matched) == 1 else max(matched, key=_weight)
    decision = entry.decided(answer)
    return [] if decision is None else [decision]


def _weight(pair: tuple[Entry, bool | Unsure | None]) -> tuple[int, bool, int, int, int, int]:
    """Return how strict a restriction is, whether it is sure, if not its likeness to the call, and how narrow it is.

    An unsure one only confirms, whatever its effect. One that failed counts as a sure match. Of equals a lower priority
    number goes first, and then the narrower rule; not so for those without likeness.
    """
    entry, answer = pair
    if isinstance(answer, Unsure):
        narrow = entry.specificity if answer.likeness else (0, 0)
        return Verdict.CONFIRM.strictness, False, answer.likeness, -entry.priority, *narrow
    return entry.effect.strictness, True, 0, -entry.priority, *entry.specificity


def _permitted(entries: Sequence[Entry], question: Question, failures: list[RuleFailure]) -> list[Decision]:
    covered: frozenset[int] = frozenset()
    keeps = False
    for entry in entries:
        before = len(failures)
        # A rule that confirms is about the actions that no permission before it has covered.
        asked = _without(question, covered) if covered and entry.effect is not _ALLOW else question
        decision = entry.decides(asked, failures)
        if decision is not None:
            return [decision]
        if entry.can_cover and len(failures) == before and _is_divisible(question):
            own = entry.covered(question, failures)
            keeps = keeps or (entry.keeps and not own <= covered)
            covered |= own
            # INVARIANT: law 3. A call is permitted by its parts only when not one of them is left.
            if covered.issuperset(range(len(question.actions.certain))):
                return [attrs.evolve(entry.decision, keeps=keeps) if keeps else entry.decision]
    return []


def _is_divisible(question: Question) -> bool:
    """Return whether several permissions could share the call: it has several actions, and all are known."""
    if question.tool is None or not question.tool.roles:
        return False
    return len(question.actions.certain) > 1 and question.actions.unknown is None


def _without(question: Question, covered: frozenset[int]) -> Question:
    actions = question.actions
    left = tuple(action for number, action in enumerate(actions.certain) if number not in covered)
    return with_actions(question, attrs.evolve(actions, certain=left))


def with_actions(question: Question, actions: Actions) -> Question:
    """Return the same question about a call that does only these of its actions."""
    return attrs.evolve(question, reader=_Reading(actions))


@attrs.frozen
class _Reading:
    """A reader that has read already."""

    actions: Actions

    def __call__(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> Actions:  # noqa: ARG002 -- the protocol's
        return self.actions
