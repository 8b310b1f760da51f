"""How a permission reads matches: it needs `YES`, for the whole call or each action it covers.

Its `unless` takes back whatever it may match. That of a restriction `fits` as a permission does.
"""

import itertools
from collections.abc import Iterable, Sequence

from permitry.conditions._conditions import Conditions
from permitry.conditions._patterns import AnyPatterns
from permitry.conditions.match import Match, best_of
from permitry.core.action import Connect, Run, Touch
from permitry.core.effects import Effect, effects_of
from permitry.core.rule import Request

__all__ = ["cover", "find_left", "fits", "fits_operand", "is_taken_back", "permits", "runs"]


def permits(when: Conditions, unless: Sequence[Conditions], request: Request) -> bool:
    """Return whether the conditions hold and no exception may. Raises: what a condition raised."""
    holds = when.plain_match(request, Match.YES)
    return holds and not (unless and any(_takes_call_back(each, when, request) for each in unless))


def cover(when: Conditions, unless: Sequence[Conditions], request: Request) -> frozenset[int]:
    """Return the indices of the certain actions that are permitted. Raises: as `permits`, if any are."""
    failure: Exception | None = None
    try:
        if not permits(when, unless, request):
            return frozenset()
    except Exception as error:  # noqa: BLE001 -- raised below, unless nothing is covered anyway
        failure = error
    actions = request.actions
    numbered = ((at, Effect(action, None, actions)) for at, action in enumerate(actions.certain))
    covered = frozenset(at for at, each in numbered if fits(when, each) and not is_taken_back(unless, each, request))
    if covered and failure is not None:
        raise failure
    return covered


def fits(conditions: Conditions, effect: Effect) -> bool:
    """Return whether conditions on actions certainly hold for one effect of a call."""
    if conditions.looks and not (isinstance(effect.subject, Run) and effect.subject.looks):
        return False
    match effect.subject:
        case Run() as run:
            return runs(conditions, effect) and _fits_operands(conditions, run, effect)
        case Touch() as touch:
            # A redirection is an effect of its own: a condition on commands alone does not cover its file. `is_all` is
            # what a tool does without a program.
            is_of_program = effect.run is not None or touch.is_all
            is_exact = fits_operand(conditions, effect) and (bool(conditions.paths) or is_of_program)
            return is_exact and not conditions.hosts and _fits_program(conditions, effect)
        case Connect():
            is_exact = fits_operand(conditions, effect)
            return is_exact and not conditions.paths and _fits_program(conditions, effect)
        case _:
            return False


def runs(conditions: Conditions, effect: Effect) -> bool:
    """Return whether the words of a program match exactly, whatever paths and addresses they name.

    So may those of a command that it is a part of, if they spell the program out: `sudo ls *`.
    """
    if conditions.on_commands.match(effect, least=Match.YES) is Match.YES:
        return True
    run = effect.subject
    if not isinstance(run, Run) or run.line is None:
        return False
    return any(each.spells(run, runs_any=conditions.runs_any) for each in conditions.commands)


def fits_operand(conditions: Conditions, effect: Effect) -> bool:
    """Return whether a path or an address matches exactly, if there are conditions of its kind."""
    kind = conditions.on_paths.for_permission if isinstance(effect.subject, Touch) else conditions.on_hosts
    return not kind.patterns or kind.match(effect, least=Match.YES) is Match.YES


def _fits_operands(conditions: Conditions, run: Run, effect: Effect) -> bool:
    """Return whether all that a program names is known, and matches."""
    if not (conditions.paths or conditions.hosts):
        return True
    return run.operands.is_listed and find_left(conditions, run, effect) is None


def find_left(conditions: Conditions, run: Run, effect: Effect) -> Effect | None:
    """Return the first path or address of a program that does not match."""
    operands = itertools.islice(effects_of((run,), effect.actions), 1, None)
    return next((each for each in operands if not fits_operand(conditions, each)), None)


def _fits_program(conditions: Conditions, effect: Effect) -> bool:
    """Return whether a condition on commands holds for the program of a path or host."""
    # An assignment before the program may make it do something else with it.
    words, sets = effect.words, effect.sets
    matches = (each.match_words(words, sets=sets, least=Match.YES) for each in conditions.commands)
    return not conditions.commands or Match.YES in matches


def is_taken_back(unless: Sequence[Conditions], effect: Effect, request: Request) -> bool:
    """Return whether an exception may match an action, or something its program touches."""
    return any(_takes_back(each, effect, request) for each in unless)


def _takes_back(unless: Conditions, effect: Effect, request: Request) -> bool:
    if not unless.are_about_actions or not unless.plain_match(request, Match.ALIKE):
        return False
    run = effect.subject
    # The program may also touch what is not listed, and the exception may be about that.
    if isinstance(run, Run) and (unless.paths or unless.hosts) and not run.operands.is_listed:
        return True
    if isinstance(run, Run) and run.line is not None:
        # It may be about the command that the program is a part of.
        line, sets = run.line.words, [word.text for word in run.line.assigned]
        matches = (each.match_words(line, sets=sets, enough=Match.MAYBE) for each in unless.commands)
        if best_of(matches, Match.MAYBE) is not Match.NO:
            return True
    return any(_may_match(unless.on_actions, each) for each in effects_of((run,), effect.actions))


def _takes_call_back(unless: Conditions, when: Conditions, request: Request) -> bool:
    if not unless.plain_match(request, Match.ALIKE):
        return False
    if not unless.are_about_actions:
        return True
    # If `when` is about actions as well, each of them is looked at alone; otherwise one that may match is enough.
    if when.are_about_actions:
        return False
    if request.actions.unknown is not None:
        return True
    # A guessed path may be accessed in any way.
    of_any_access = [each.of_any_access for each in unless.on_actions]
    groups = ((unless.on_actions, request.parts), (of_any_access, request.guesses))
    return any(_may_match(kinds, each) for kinds, effects in groups for each in effects.every)


def _may_match(kinds: Iterable[AnyPatterns], effect: Effect) -> bool:
    return any(kind.in_doubt(effect).match(effect, enough=Match.MAYBE) is not Match.NO for kind in kinds)
