"""What a rule is about: the tools it selects, and its conditions in `when` and `unless`.

A condition is asked in one of two ways. *Surely*: for what permits, and for what takes a restriction back.
*Generously*: for what restricts, and for what takes a permission back. Where the truth is not known, the first says no
and the second says yes or `Unsure`; a condition that cannot be evaluated at all raises, and law 2 says what that means.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import attrs

from permitry.core.action import Action, Actions, Connect, Run, Touch, Unknown, phrase
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Question, Rest, Unsure
from permitry.errors import UnevaluableError
from permitry.rules.conditions._always import every, opposite, some
from permitry.rules.conditions._compiled import Compiled, compile_all, rest_of
from permitry.rules.conditions.command import ArgvPattern
from permitry.rules.conditions.host import HostPattern
from permitry.rules.conditions.mode import ModeCondition
from permitry.rules.conditions.path import PathPattern
from permitry.rules.conditions.tools import ToolSelector

__all__ = ["Condition", "Conditions", "Scope"]


class Condition(Protocol):
    """A condition on the call and its context, as opposed to one on the actions of the call."""

    @property
    def is_about_call(self) -> bool:
        """Whether it may hold for one call of a tool and not for another in the same context."""
        ...

    def holds(self, question: Question, *, is_generous: bool) -> bool:
        """Return whether it holds.

        Raises: `UnevaluableError` when the call gives no answer.

        A condition may also have `compiled(question, is_generous=...)`: what is left of `holds` once the tool is known,
        True, False, a `Test`, or None for "ask me". The question has no arguments and no context to look at.
        """
        ...

    def fact(self, question: Question) -> str:
        """Return what is the case instead, as in `mode = default`."""
        ...


@attrs.frozen
class _Part:
    """One thing a condition on actions looks at, and the program it belongs to, if any."""

    subject: Action
    run: Run | None = None


@attrs.frozen
class Conditions:
    """The conditions of one `when` or `unless`; all that are given must hold.

    `plain` are about the call and its context; `commands`, `paths` and `hosts` about its actions: of each, one pattern
    must fit.
    """

    plain: tuple[Condition, ...] = ()
    commands: tuple[ArgvPattern, ...] = ()
    paths: tuple[PathPattern, ...] = ()
    hosts: tuple[HostPattern, ...] = ()

    @property
    def are_about_actions(self) -> bool:
        """Whether something of it is about actions."""
        return bool(self.commands or self.paths or self.hosts)

    def are_about(self, what: str) -> bool:
        """Return whether an unknown action could be one they look at; `what` is empty when it could be anything."""
        return not what or (what == "path" and bool(self.paths)) or (what == "host" and bool(self.hosts))

    def plain_hold(self, question: Question, *, is_generous: bool) -> bool:
        """Return whether every plain condition holds; one that does not hold outweighs one that cannot be evaluated.

        Raises: `UnevaluableError`.
        """
        trouble: UnevaluableError | None = None
        for condition in self.plain:
            try:
                if not condition.holds(question, is_generous=is_generous):
                    return False
            except UnevaluableError as error:
                trouble = trouble or error
        if trouble is not None:
            raise trouble
        return True

    def always_hold(self, question: Question, *, is_generous: bool) -> bool | None:
        """Return whether they hold for every call of the tool, whatever its arguments; None when it depends on them.

        Raises: `UnevaluableError`.
        """
        ahead = attrs.evolve(self, plain=tuple(condition for condition in self.plain if not condition.is_about_call))
        if not ahead.plain_hold(question, is_generous=is_generous):
            return False
        return None if self.are_about_actions or len(ahead.plain) < len(self.plain) else True

    def compiled(self, question: Question, *, is_generous: bool) -> Compiled | bool | None:
        """Return what is left of `plain_hold` once the tool is known; None when a condition has to be asked itself."""
        return compile_all(self.plain, question, is_generous=is_generous)

    def facts(self, question: Question, *, is_generous: bool) -> Iterator[str]:
        """Yield what is the case instead of each plain condition that does not hold."""
        for condition in self.plain:
            try:
                if not condition.holds(question, is_generous=is_generous):
                    yield condition.fact(question)
            except UnevaluableError as error:
                yield str(error)

    def fit(self, part: _Part, actions: Actions) -> bool:
        """Return whether the conditions on actions surely hold for one part of a call."""
        match part.subject:
            case Run() as run:
                return self._fits_run(run, actions)
            case Touch() as touch:
                # A redirection is an action of its own: a condition on commands alone says nothing about its file.
                fits = self._fits_path(touch, actions) if self.paths else part.run is not None
                return fits and not self.hosts and self._fits_program(part)
            case Connect() as connect:
                fits = not self.hosts or self._fits_host(connect)
                return fits and not self.paths and self._fits_program(part)
            case _:
                return False

    def may_fit(self, part: _Part, actions: Actions) -> bool:
        """Return whether one of the conditions on actions may hold for one part of a call."""
        match part.subject:
            case Run() as run:
                return any(pattern.may_hold(run.words) for pattern in self.commands)
            case Touch() as touch:
                return any(pattern.may_hold(touch.place, actions.roots) for pattern in self.paths)
            case Connect() as connect:
                return any(pattern.may_hold(connect) for pattern in self.hosts)
            case _:
                return False

    def _fits_run(self, run: Run, actions: Actions) -> bool:
        if not any(pattern.holds(run.words) for pattern in self.commands):
            return False
        # What the program's operands name must be known, before a condition on it can hold.
        is_known = run.operands.is_listed or not (self.paths or self.hosts)
        return (
            is_known
            and (not self.paths or all(self._fits_path(touch, actions) for touch in run.operands.touches))
            and (not self.hosts or all(self._fits_host(connect) for connect in run.operands.connects))
        )

    def _fits_program(self, part: _Part) -> bool:
        """Return whether a condition on commands, if there is one, holds for the program the part belongs to."""
        words = part.run.words if part.run is not None else getattr(part.subject, "words", ())
        return not self.commands or (bool(words) and any(each.holds(words) for each in self.commands))

    def _fits_path(self, touch: Touch, actions: Actions) -> bool:
        return any(pattern.holds(touch.place, actions.roots) for pattern in self.paths)

    def _fits_host(self, connect: Connect) -> bool:
        return any(pattern.holds(connect) for pattern in self.hosts)


@attrs.frozen
class Scope:
    """The tools a rule selects (none named: every tool), and when it applies to them."""

    selectors: tuple[ToolSelector, ...] = ()
    when: Conditions = Conditions()
    unless: Conditions | None = None

    @property
    def modes(self) -> frozenset[str]:
        """The words for modes that the conditions name."""
        plain = (*self.when.plain, *(self.unless.plain if self.unless is not None else ()))
        return frozenset(mode for each in plain if isinstance(each, ModeCondition) for mode in each.modes)

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
        fitting = ((i, _Part(action)) for i, action in enumerate(actions.certain))
        return frozenset(i for i, part in fitting if self.when.fit(part, actions) and not self._excepts(part, question))

    def restricts(self, question: Question) -> bool | Unsure:
        """Return whether a restriction with this scope applies.

        Raises: `UnevaluableError`.
        """
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
        if not self._is_plain(is_selected=is_selected):
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
        return actions.unknown is not None or any(unless.may_fit(part, actions) for part in _parts(actions))

    def _excepts(self, part: _Part, question: Question) -> bool:
        """Return whether `unless` may take the permission back from one part of the call."""
        unless = self.unless
        if unless is None or not unless.are_about_actions or not unless.plain_hold(question, is_generous=True):
            return False
        run = part.subject
        # What a program touches besides what it names may be what the exception is about.
        if isinstance(run, Run) and (unless.paths or unless.hosts) and not run.operands.is_listed:
            return True
        return any(unless.may_fit(each, question.actions) for each in _parts_of(part.subject))

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
        parts = [_Part(action) for action in actions.certain]
        return bool(parts) and not actions.possible and all(unless.fit(part, actions) for part in parts)

    def _plain_unless_holds(self, question: Question) -> bool:
        try:
            return self.unless is not None and self.unless.plain_hold(question, is_generous=False)
        except UnevaluableError:
            # INVARIANT: law 2. An exception that cannot be evaluated lifts nothing.
            return False

    def _fires(self, question: Question) -> bool | Unsure:
        """Return whether every kind of condition on actions is met by some action that `unless` leaves."""
        actions = question.actions
        lifts = self._lifter(question)
        parts = list(_parts(actions))
        guessed = [part for action in actions.guessed for part in _parts_of(action)]
        unsure: Unsure | None = None
        for kind in self._kinds():
            # Asked in this order: nearly no part fits, and the exceptions are dearer to look at.
            if any(kind.may_fit(_as_written(part), actions) and not lifts(part) for part in parts):
                continue
            answer = _doubtful(kind, parts, guessed, actions)
            if answer is None:
                return False
            unsure = unsure or answer
        return unsure or True

    def _lifter(self, question: Question) -> Callable[[_Part], bool]:
        unless, actions = self.unless, question.actions
        if unless is None or not unless.are_about_actions or not self._plain_unless_holds(question):
            return lambda _: False
        return lambda part: unless.fit(part, actions)

    def _kinds(self) -> Iterator[Conditions]:
        """Yield the conditions on commands, on paths and on hosts apart."""
        when = self.when
        for kind in (Conditions(commands=when.commands), Conditions(paths=when.paths), Conditions(hosts=when.hosts)):
            if kind.are_about_actions:
                yield kind


def _holds(_: ToolCall, __: AuthContext) -> bool:
    return True


def _doubtful(kind: Conditions, left: Iterable[_Part], guessed: Iterable[_Part], actions: Actions) -> Unsure | None:
    """Return why a restriction cannot be sure that nothing it is about happens, or None when it is."""
    for action in (*actions.certain, *actions.possible, *actions.guessed):
        if isinstance(action, Unknown) and kind.are_about(action.about):
            return Unsure(action.reason)
    for part in left:
        if isinstance(part.subject, Run) and kind.may_fit(part, actions):
            return Unsure(f"`{phrase(part.subject)}` may be any command")
    # Any text could be some command; only a pattern that names one makes it a guess worth asking about.
    named = attrs.evolve(kind, commands=tuple(pattern for pattern in kind.commands if not pattern.is_any))
    if any(named.may_fit(part, actions) for part in guessed):
        return Unsure("nothing declares what the arguments of the tool are, and one of them fits")
    for part in left:
        match part.subject:
            case Connect(host=None) as connect if kind.hosts:
                return Unsure(f"`{connect.text}` is no address")
            case Touch() as touch if kind.paths and (touch.place.is_open or not touch.place.names):
                return Unsure(f"`{touch.place.text}` may lead anywhere")
    return None


def _as_written(part: _Part) -> _Part:
    """Return a part with its expansions taken as they are written: what fits then does not only because of them."""
    run = part.subject
    if not isinstance(run, Run) or not any(word.is_open for word in run.words):
        return part
    words = tuple(attrs.evolve(word, is_open=False) if word.is_open and word.text else word for word in run.words)
    return attrs.evolve(part, subject=attrs.evolve(run, words=words))


def _parts(actions: Actions) -> Iterator[_Part]:
    """Yield everything a call does or may do, and what its programs touch."""
    for action in (*actions.certain, *actions.possible):
        yield from _parts_of(action)


def _parts_of(action: Action) -> Iterator[_Part]:
    yield _Part(action)
    if isinstance(action, Run):
        yield from (_Part(touch, action) for touch in action.operands.touches)
        yield from (_Part(connect, action) for connect in action.operands.connects)


def _only_reads(action: Action) -> bool:
    match action:
        case Run():
            return action.doubt is None
        case Touch():
            return action.access.value == "read"
        case _:
            return False
