"""What a rule is about: the tools it selects, and its conditions in `when` and `unless`.

A condition is asked in one of two ways. *Surely*: for what permits, and for what takes a restriction back.
*Generously*: for what restricts, and for what takes a permission back. Where the truth is not known, the first says no
and the second says yes or `Unsure`; a condition that cannot be evaluated at all raises, and law 2 says what that means.
"""

from collections.abc import Callable, Iterator

import attrs

from permitry.core.action import Action, Run, Touch, phrase
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Question, Rest, Unsure
from permitry.errors import UnevaluableError
from permitry.rules.conditions._always import every, opposite, some
from permitry.rules.conditions._compiled import Compiled, rest_of
from permitry.rules.conditions._conditions import Condition, Conditions, Part
from permitry.rules.conditions._meeting import BY_NAME, guesses, may_be_anything, met, met_at_once, parts, parts_of
from permitry.rules.conditions.label import LabelCondition
from permitry.rules.conditions.mode import ModeCondition
from permitry.rules.conditions.tools import ToolSelector

__all__ = ["Condition", "Conditions", "Scope"]

_NOTHING = Conditions()


@attrs.frozen
class Scope:
    """The tools a rule selects (none named: every tool), and when it applies to them."""

    selectors: tuple[ToolSelector, ...] = ()
    when: Conditions = _NOTHING
    unless: Conditions | None = None

    @property
    def specificity(self) -> tuple[int, int]:
        """How narrow the conditions are: those on commands go before those on paths or hosts, then literal words count.

        Of several patterns the widest counts; `*` is no condition on commands.
        """
        when = self.when
        written = min((each.literals for each in when.commands or when.paths), default=0)
        if when.commands:
            return (2, written) if written else (0, 0)
        return int(when.are_about_actions), written

    @property
    def modes(self) -> frozenset[str]:
        """The words for modes that the conditions name."""
        return frozenset(mode for each in self._plain if isinstance(each, ModeCondition) for mode in each.modes)

    @property
    def labels(self) -> frozenset[str]:
        """The labels that the conditions ask for."""
        return frozenset(label for each in self._plain if isinstance(each, LabelCondition) for label in each.labels)

    @property
    def _plain(self) -> tuple[Condition, ...]:
        return (*self.when.plain, *(self.unless.plain if self.unless is not None else ()))

    def selects(self, question: Question, *, is_generous: bool) -> bool:
        """Return whether the call's tool is meant, whatever the conditions."""
        return not self.selectors or any(each.selects(question, is_generous=is_generous) for each in self.selectors)

    def permits(self, question: Question, *, is_alone: bool = True) -> bool:
        """Return whether a permission with this scope permits the whole call.

        Unless it `is_alone`, the parts of a command that only read are left aside: others may permit them.
        """
        if not self.when.are_about_actions:
            return self._applies_surely(question)
        certain, covered = question.actions.certain, self.covers(question)
        reads = not is_alone and question.tool is not None and question.tool.is_shell
        return bool(covered) and all(
            i in covered or (reads and _only_reads(action)) for i, action in enumerate(certain)
        )

    def covers(self, question: Question) -> frozenset[int]:
        """Return the indices of the certain actions that a permission with this scope permits."""
        if not self.when.are_about_actions or not self._applies_surely(question):
            return frozenset()
        actions = question.actions
        fitting = ((i, Part(action)) for i, action in enumerate(actions.certain))
        return frozenset(i for i, part in fitting if self.when.fit(part, actions) and not self._excepts(part, question))

    def restricts(self, question: Question) -> bool | Unsure:
        """Return whether a restriction with this scope applies, whatever the tool may be by its name.

        Raises: `UnevaluableError`.
        """
        answer = self._restricts(question)
        for other in question.otherwise if question.likely else ():
            if answer is not True:
                answer = self._restricts(other) or answer
        return answer

    def _restricts(self, question: Question) -> bool | Unsure:
        if not self.selects(question, is_generous=True) or self._is_taken_back(question):
            return False
        trouble: UnevaluableError | None = None
        try:
            if not self.when.plain_hold(question, is_generous=True):
                return False
        except UnevaluableError as error:
            trouble = error
        answer = self._fires(question) if self.when.are_about_actions else True
        if trouble is not None and answer is True:
            raise trouble
        return answer

    def always_permits(self, question: Question) -> bool | None:
        """Return `permits` for every call of the tool, whatever its arguments; None when it depends on them.

        Raises: `UnevaluableError`.
        """
        return self._always(question, is_generous=False)

    def always_restricts(self, question: Question) -> bool | None:
        """Return `restricts` for every call of the tool, whatever its arguments; None when it depends on them.

        Raises: `UnevaluableError`.
        """
        return self._always(question, is_generous=True)

    def residue(self, question: Question, *, is_generous: bool, is_selected: bool) -> Rest | bool | None:
        """Return what is left of `restricts`, or of `permits` and `covers`, once the tool is known; None for all of it.

        `is_selected` says that a pattern among the selectors fits the tool.
        """
        if not self._is_plain(is_selected=is_selected) or (is_generous and question.likely):
            return None
        selected = is_selected or not self.selectors or self._always_selects(question, is_generous=is_generous)
        if selected is False:
            return False
        lifted = self._lifted(question, is_generous=is_generous)
        # What takes a restriction back is judged before its conditions, and so has its failures first.
        held = None if lifted is None and is_generous else self.when.compiled(question, is_generous=is_generous)
        if held is None or held is False:
            return held
        if lifted is None or selected is None or self.when.are_about_actions:
            return Rest(_holds if isinstance(held, bool) else held.test, is_final=False, is_about_call=True)
        return rest_of(held, lifted, is_generous=is_generous)

    def _is_plain(self, *, is_selected: bool) -> bool:
        """Return whether all that would be left out is of our own kind."""
        are_known = is_selected or all(type(each) is ToolSelector for each in self.selectors)
        return are_known and type(self.when) is Conditions and type(self.unless) in (Conditions, type(None))

    def _always_selects(self, question: Question, *, is_generous: bool) -> bool | None:
        return some([each.always_selects(question, is_generous=is_generous) for each in self.selectors])

    def _lifted(self, question: Question, *, is_generous: bool) -> Compiled | bool | None:
        """Return what is left of `unless` for the whole call; None when that takes the actions, or a closer look."""
        unless = self.unless
        if unless is None:
            return False
        if unless.are_about_actions:
            # Judged action by action where the rule itself is.
            return False if self.when.are_about_actions else None
        return unless.compiled(question, is_generous=not is_generous)

    def _always(self, question: Question, *, is_generous: bool) -> bool | None:
        selected = [each.always_selects(question, is_generous=is_generous) for each in self.selectors]
        is_lifted = False if self.unless is None else self.unless.always_hold(question, is_generous=not is_generous)
        is_held = self.when.always_hold(question, is_generous=is_generous)
        return every((not selected or some(selected), is_held, opposite(is_lifted)))

    def facts(self, question: Question, *, is_generous: bool) -> Iterator[str]:
        """Yield what keeps the conditions from holding, for a human."""
        yield from self.when.facts(question, is_generous=is_generous)
        unless = self.unless
        if unless is not None and not unless.are_about_actions and not any(unless.facts(question, is_generous=False)):
            yield "`unless` holds"
        if self.when.are_about_actions and question.tool is not None and question.tool.roles:
            yield from self._uncovered(question, is_generous=is_generous)

    def _uncovered(self, question: Question, *, is_generous: bool) -> Iterator[str]:
        if is_generous:
            return
        covered = self.covers(question)
        for i, action in enumerate(question.actions.certain):
            if i not in covered and not (question.tool is not None and question.tool.is_shell and _only_reads(action)):
                yield f"`{phrase(action)}` is not covered"

    # Permissions ---------------------------------------------------------------------------------------------------

    def _applies_surely(self, question: Question) -> bool:
        if not self.selects(question, is_generous=False) or not self.when.plain_hold(question, is_generous=False):
            return False
        return not self._is_excepted(question)

    def _is_excepted(self, question: Question) -> bool:
        """Return whether `unless` may take the permission back from the whole call."""
        unless = self.unless
        if unless is None or (unless.plain and not unless.plain_hold(question, is_generous=True)):
            return False
        if not unless.are_about_actions:
            return True
        # Judged action by action where the permission is; otherwise by whatever the call may do.
        if self.when.are_about_actions:
            return False
        actions = question.actions
        # What an undeclared tool does with a path is not known.
        anyhow = attrs.evolve(unless, accesses=frozenset())
        found = (*((unless, part) for part in parts(actions)), *((anyhow, part) for part in guesses(actions)))
        return actions.unknown is not None or any(
            about.may_fit(part, actions) or may_be_anything(about, part) is not None for about, part in found
        )

    def _excepts(self, part: Part, question: Question) -> bool:
        """Return whether `unless` may take the permission back from one part of the call."""
        unless = self.unless
        if unless is None or not unless.are_about_actions or not unless.plain_hold(question, is_generous=True):
            return False
        run = part.subject
        # What a program touches besides what it names may be what the exception is about.
        if isinstance(run, Run) and (unless.paths or unless.hosts) and not run.operands.is_listed:
            return True
        return any(unless.may_fit(each, question.actions) for each in parts_of(part.subject))

    # Restrictions --------------------------------------------------------------------------------------------------

    def _is_taken_back(self, question: Question) -> bool:
        """Return whether `unless` surely lifts the restriction from the whole call."""
        unless = self.unless
        if unless is None or (unless.are_about_actions and self.when.are_about_actions):
            return False
        if not self._plain_unless_holds(question):
            return False
        if not unless.are_about_actions:
            return True
        actions = question.actions
        # What a wrapper runs is an action of its own.
        possible = (each for each in actions.possible if not (isinstance(each, Run) and each.is_wrapper))
        parts = [Part(action) for action in (*actions.certain, *possible)]
        return bool(parts) and not actions.guessed and all(unless.fit(part, actions) for part in parts)

    def _plain_unless_holds(self, question: Question) -> bool:
        try:
            return self.unless is not None and self.unless.plain_hold(question, is_generous=False)
        except UnevaluableError:
            # INVARIANT: law 2. An exception that cannot be evaluated lifts nothing.
            return False

    def _fires(self, question: Question) -> bool | Unsure:
        """Return whether every kind of condition on actions is met by some action that `unless` leaves."""
        lifts = self._lifter(question)
        unsure: Unsure | None = None
        kinds = tuple(self._kinds())
        for kind in kinds:
            answer = met(kind, question.actions, lifts)
            if answer is False:
                return False
            if isinstance(answer, Unsure):
                # A program that is what the rule names makes it likely that the rest is.
                unsure = unsure or (answer if kind is kinds[0] else attrs.evolve(answer, likeness=BY_NAME))
        if unsure is None and self.when.commands and len(kinds) > 1:
            return met_at_once(kinds, question.actions, lifts)
        return unsure or True

    def _lifter(self, question: Question) -> Callable[[Part], bool]:
        unless, actions = self.unless, question.actions
        if unless is None or not unless.are_about_actions or not self._plain_unless_holds(question):
            return lambda _: False
        return lambda part: unless.fit(part, actions)

    def _kinds(self) -> Iterator[Conditions]:
        """Yield the conditions on commands, on paths and on hosts apart."""
        when = self.when
        names_programs = any(not pattern.is_any for pattern in when.commands)
        paths = Conditions(paths=when.paths, accesses=when.accesses, names_programs=names_programs)
        for kind in (Conditions(commands=when.commands), paths, Conditions(hosts=when.hosts)):
            if kind.are_about_actions:
                yield kind


def _holds(_: ToolCall, __: AuthContext) -> bool:
    return True


def _only_reads(action: Action) -> bool:
    match action:
        case Run():
            return action.doubt is None
        case Touch():
            return action.access.value == "read"
        case _:
            return False
