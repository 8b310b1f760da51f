"""What is left of a policy for one tool: most rules are out, and most of the others answer without a question.

A slice only ever leaves out rules that surely have nothing to say about any call of the tool. Where one of those that
are left cannot answer quickly, the obvious evaluation takes over, for the rules that may have something to say.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from permitry.core._entry import Entry
from permitry.core._evaluate import Phases, decided
from permitry.core._version import Version
from permitry.core.action import ActionReader
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase, RuleFailure, Verdict
from permitry.core.rule import Question, Rest, Test
from permitry.core.spec import ToolSpec

Reference = Callable[[], ToolSpec | None]

# Looked up once: that takes longer than to compare them.
_OVERRIDE, _RESTRICTION, _PERMISSION = Phase.OVERRIDE, Phase.RESTRICTION, Phase.PERMISSION


class Step(NamedTuple):
    """One rule that may speak: `test` answers for it, or says None for "ask the rule itself".

    A step that `is_sure` answers by the context alone, and never fails; one that `may_know` may answer ahead of a call.
    """

    test: Test
    decision: Decision
    entry: Entry
    is_block: bool
    is_sure: bool
    may_know: bool
    rest: Rest | bool | None


def step_of(entry: Entry, rest: Rest | bool | None) -> Step:  # noqa: FBT001 -- it is the answer that is judged
    """Return how a rule is asked of which `rest` is left: True for a rule that always matches, None for all of it."""
    decision = entry.decision
    is_block = entry.effect is Verdict.BLOCK
    if rest is True:
        return Step(_always, decision, entry, is_block, True, True, rest)
    if not isinstance(rest, Rest):
        return Step(_unknown, decision, entry, is_block, False, True, rest)
    test = rest.test if rest.is_final else _guarded(rest.test)
    is_context = not rest.is_about_call
    return Step(test, decision, entry, is_block, rest.is_final and is_context, is_context, rest)


class Subject(NamedTuple):
    """Which calls a slice is for: name as rules see it, kind, and the declaration it holds for, not kept alive."""

    name: str
    kind: PayloadKind
    spec: Reference


def _always(_: ToolCall, __: AuthContext) -> bool:
    return True


def _unknown(_: ToolCall, __: AuthContext) -> None:
    return None


def _guarded(guard: Test) -> Test:
    def test(call: ToolCall, context: AuthContext) -> bool | None:
        return None if _may_speak(guard, call, context) else False

    return test


class Slice:
    """The rules that may speak about one tool, in their order."""

    __slots__ = (
        "_ahead", "_default", "_likely", "_overrides", "_own_tool", "_permissions", "_restrictions", "_spec", "_steps",
        "_version", "is_slow", "kind", "name", "spec",
    )  # fmt: skip

    def __init__(self, subject: Subject, steps: Sequence[Step], version: Version, question: Question) -> None:
        self.name, self.kind, self.spec = subject
        # What was put together for this slice may be kept; the declaration itself lives as long as its registry wants.
        self._spec = None if question.spec is question.own else question.spec
        self._own_tool = None if question.tool is question.own else question.tool
        self._likely = question.likely
        self._version = version
        self._default = version.default
        self._steps = tuple(steps)
        self._ahead: Ahead | None = None
        overrides, restrictions, permissions = _by_phase(steps)
        overrides, is_settled = _up_to_sure(overrides)
        restrictions, is_restricted = ([], True) if is_settled else _not_outdone(restrictions)
        permissions = [] if is_restricted else _up_to_sure(permissions)[0]
        self._overrides, self._restrictions = tuple(overrides), tuple(restrictions)
        self._permissions = tuple(permissions)
        self.is_slow = _unknown in [step.test for step in (*overrides, *restrictions)]

    def quick(self, call: ToolCall, context: AuthContext) -> Decision | None:
        """Return the decision when every rule that is needed for it can answer at once, else None."""
        failures: list[RuleFailure] = []
        if self._overrides:
            found = self._quick_override(call, context, failures)
            if found is not False:
                return found
        chosen = None
        has_block = False
        for test, decision, entry, is_block, _, _, _ in self._restrictions:
            try:
                answer = test(call, context)
            except Exception as error:  # noqa: BLE001 -- law 2: a restriction that fails has matched
                failures.append(self._version.failure(entry.rule_id, error))
                answer = True
            if answer is False:
                continue
            if type(answer) is str:
                failures.append(self._version.unanswered(entry.rule_id, answer))
            elif answer is not True:
                return None
            if chosen is None or (is_block and not has_block):
                chosen, has_block = decision, is_block
        if chosen is None:
            return self._quick_permission(call, context, failures)
        return self._version.failed(chosen, failures) if failures else chosen

    def _quick_override(
        self, call: ToolCall, context: AuthContext, failures: list[RuleFailure]
    ) -> Decision | Literal[False] | None:
        """Return the decision of an override, False when none matches, None when one has to be asked."""
        for step in self._overrides:
            try:
                answer = step.test(call, context)
            except Exception as error:  # noqa: BLE001 -- law 2: an override that fails has not matched
                failures.append(self._version.failure(step.entry.rule_id, error))
                continue
            if answer is True:
                return self._version.failed(step.decision, failures) if failures else step.decision
            if type(answer) is str:
                failures.append(self._version.unanswered(step.entry.rule_id, answer))
            elif answer is not False:
                return None
        return False

    def _quick_permission(self, call: ToolCall, context: AuthContext, failures: list[RuleFailure]) -> Decision | None:
        chosen = self._default
        for test, decision, entry, _, _, _, _ in self._permissions:
            try:
                answer = test(call, context)
            except Exception as error:  # noqa: BLE001 -- law 2: a permission that fails has not matched
                failures.append(self._version.failure(entry.rule_id, error))
                continue
            if answer is True:
                chosen = decision
                break
            if type(answer) is str:
                failures.append(self._version.unanswered(entry.rule_id, answer))
            elif answer is not False:
                return None
        return self._version.failed(chosen, failures) if failures else chosen

    def slow(self, question: Question) -> Decision:
        """Return the decision of the obvious evaluation, for the rules that may speak about this very call."""
        call, context = question.call, question.context
        overrides, restrictions, permissions = (
            [step.entry for step in steps if _may_speak(step.test, call, context)]
            for steps in (self._overrides, self._restrictions, self._permissions)
        )
        return decided(question, Phases(overrides, restrictions, permissions, self._version))

    def question(
        self, call: ToolCall, context: AuthContext, spec: ToolSpec | None, reader: ActionReader | None
    ) -> Question:
        """Return the question to the rules; what was found out about the tool before is part of it."""
        declared = spec if self._spec is None else self._spec
        question = Question(call, context, declared, reader, own=spec, likely=self._likely)
        if self._own_tool is not None:
            object.__setattr__(question, "tool", self._own_tool)
        return question

    def blocks_all(self, call: ToolCall, context: AuthContext, spec: ToolSpec, reader: ActionReader | None) -> bool:
        """Return whether every call of the tool is surely blocked; `call` is one without arguments."""
        ahead = self._ahead
        if ahead is None:
            self._ahead = ahead = Ahead(self._steps)
        answer = ahead.blocks_all(call, context)
        return ahead.asked_blocks_all(self.question(call, context, spec, reader)) if answer is None else answer


class Ahead:
    """What can be said about a tool before it is called: whether every call of it is blocked."""

    __slots__ = ("_blocks", "_overrides")

    def __init__(self, steps: Iterable[Step]) -> None:
        self._overrides = tuple([step for step in steps if step.entry.phase is _OVERRIDE])
        self._blocks = tuple([step for step in steps if step.is_block and step.may_know and step.entry.can_tell])

    def blocks_all(self, call: ToolCall, context: AuthContext) -> bool | None:
        """Return whether all calls are blocked as far as that needs no question, None where it does."""
        is_open = False
        for step in self._overrides:
            if not _is_told(step):
                is_open = True
            elif step.test(call, context) is not False:
                return False
        if is_open:
            return None
        for step in self._blocks:
            answer = step.test(call, context)
            if answer is True and step.is_sure:
                return True
            is_open = is_open or answer is not False
        return None if is_open else False

    def asked_blocks_all(self, question: Question) -> bool:
        """Return whether all calls are blocked, now that rules can be asked; no override but these may match."""
        if any(not _is_told(step) and step.entry.always(question) is not False for step in self._overrides):
            return False
        return any(
            step.test(question.call, question.context) is not False
            and (step.is_sure or step.entry.always(question) is True)
            for step in self._blocks
        )


def _is_told(step: Step) -> bool:
    """Return whether an override needs no question to tell what it answers to every call."""
    return step.is_sure and step.entry.can_tell


def _may_speak(test: Test, call: ToolCall, context: AuthContext) -> bool:
    try:
        return test(call, context) is not False
    except Exception:  # noqa: BLE001 -- the rule itself is asked, and its failure kept
        return True


def _by_phase(steps: Iterable[Step]) -> tuple[list[Step], list[Step], list[Step]]:
    overrides: list[Step] = []
    restrictions: list[Step] = []
    permissions: list[Step] = []
    for step in steps:
        phase = step.entry.phase
        (permissions if phase is _PERMISSION else restrictions if phase is _RESTRICTION else overrides).append(step)
    return overrides, restrictions, permissions


def _up_to_sure(steps: list[Step]) -> tuple[list[Step], bool]:
    """Return the steps up to the first that always matches, and whether there is one; none behind it is ever asked."""
    for number, step in enumerate(steps):
        if step.test is _always:
            return steps[: number + 1], True
    return steps, False


def _not_outdone(steps: list[Step]) -> tuple[list[Step], bool]:
    """Return the restrictions that may decide or fail, beside those that always match, and whether there are such."""
    always = [step for step in steps if step.test is _always]
    if not always:
        return steps, False
    best = next((step for step in always if step.is_block), always[0])
    at = steps.index(best)
    left = [
        step
        for number, step in enumerate(steps)
        if step is best
        or not step.is_sure
        or (step.is_block > best.is_block)
        or (step.is_block is best.is_block and number < at)
    ]
    return left, True
