"""How a restriction reads matches: it applies from `ALIKE` on, and asks at any other but `NO`.

Its exceptions must be certain: `unless` lifts it from an effect only by `YES`.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from posixpath import basename
from typing import NamedTuple

import attrs

from permitry.conditions._conditions import Conditions
from permitry.conditions._patterns import AnyPatterns, PathPatterns
from permitry.conditions.host import HostPattern
from permitry.conditions.match import Match, why, why_open, why_several, why_unread
from permitry.conditions.permit import fits
from permitry.core.action import Connect, Place, Run, Touch
from permitry.core.effects import Effect
from permitry.core.rule import Request, Unsure

__all__ = ["meets", "restricts", "say_joined"]

_BEFORE_CODE = re.compile(r"-\w*[ceEpr]|--(?:command|eval|execute|print)")
_LONGEST = 120


class _Found(NamedTuple):
    """How far an effect matches, and the patterns with which it was compared."""

    match: Match
    patterns: AnyPatterns
    effect: Effect


def restricts(when: Conditions, unless: Sequence[Conditions], request: Request) -> bool | Unsure:
    """Return whether a restriction applies. Raises: what a condition raised, if it would."""
    failure: Exception | None = None
    try:
        if not when.plain_match(request, Match.ALIKE):
            return False
    except Exception as error:  # noqa: BLE001 -- raised below, unless the rest does not apply
        failure = error
    lifting: list[Conditions] = []
    for each in unless:
        try:
            lifting += [each] if each.plain_match(request, Match.YES) else []
        except Exception as error:  # noqa: BLE001 -- as above
            # INVARIANT: law 2. An exception that cannot be evaluated lifts nothing.
            failure = failure or error
    if lifting and _lift_whole_call(lifting, when, request):
        return False
    answer = meets(when, lifting, request) if when.are_about_actions else True
    if failure is not None and answer is True:
        raise failure
    return answer


def _lift_whole_call(lifting: Sequence[Conditions], when: Conditions, request: Request) -> bool:
    """Return whether exceptions certainly lift a restriction from all of a call."""
    if not all(each.are_about_actions for each in lifting):
        return True
    if when.are_about_actions:
        return False
    actions = request.actions
    # What a wrapper such as `sudo` runs is listed as an action itself.
    possible = (each for each in actions.possible if not (isinstance(each, Run) and each.is_wrapper))
    effects = [Effect(action, None, actions) for action in (*actions.certain, *possible)]
    return bool(effects) and not actions.guessed and all(_lift(lifting, each) for each in effects)


def _lift(lifting: Sequence[Conditions], effect: Effect) -> bool:
    return any(fits(unless, effect) for unless in lifting)


def meets(when: Conditions, lifting: Sequence[Conditions], request: Request) -> bool | Unsure:
    """Return whether effects that are not lifted meet every kind of condition; `Unsure` if they may.

    One program must meet all kinds; where several do a part of it each, it is `Unsure`. `lifting` are
    the exceptions whose plain conditions hold.
    """
    kinds = when.on_actions
    if len(kinds) > 1 and not all(kind.may_match(request.facts) for kind in kinds):
        return False
    unsure: Unsure | None = None
    for kind in kinds:
        answer = _meets_kind(kind, lifting, request)
        if answer is False:
            return False
        if isinstance(answer, Unsure):
            # If the first kind is certain, an unsure one after it is reported as likely.
            unsure = unsure or (answer if kind is kinds[0] else attrs.evolve(answer, likeness=int(Match.MAYBE)))
    if unsure is None and when.commands and len(kinds) > 1:
        return _meets_at_once(kinds, lifting, request)
    return unsure or True


def _meets_kind(kind: AnyPatterns, lifting: Sequence[Conditions], request: Request) -> bool | Unsure:
    """Return whether an effect is of one kind of condition, or `Unsure` if it may be."""
    found = _find_best(kind, lifting, request)
    if found is not None:
        match, patterns, effect = found
        return match >= Match.ALIKE or Unsure(why(effect), patterns.does_by(effect), int(match))
    unread = next((each for each in request.actions.unread if each.about in ("", kind.about)), None)
    if unread is not None:
        return Unsure(why_unread(unread), kind.does)
    guesses = ((kind.for_guess(effect), effect) for effect in request.guesses.open)
    for patterns, effect in itertools.chain(((kind, effect) for effect in request.parts.open), guesses):
        match = patterns.match_open(effect)
        if match is not Match.NO:
            return Unsure(why_open(effect), patterns.does, int(match))
    return False


def _find_best(kind: AnyPatterns, lifting: Sequence[Conditions], request: Request) -> _Found | None:
    """Return the effect that matches best; a guess only where no other one does as well."""
    narrowed = kind.narrow(request.facts)
    if narrowed is None:
        return None
    # What is lifted is asked last because that is slow, and few effects match.
    left = (each for each in _compare_known(narrowed, request) if not _lifts_all(lifting, kind, each.effect))
    known = _pick(left, Match.ALIKE)
    if known is not None and known.match >= Match.MAYBE:
        return known
    pairs = ((narrowed.for_guess(effect), effect) for effect in narrowed.among(request.guesses))
    compared = _compare(pairs, most=Match.MAYBE)
    guesses = (each for each in compared if not _lifts_all(lifting, kind, each.effect))
    return _pick(itertools.chain(() if known is None else (known,), guesses), Match.MAYBE)


def _pick(found: Iterable[_Found], enough: Match) -> _Found | None:
    """Return the first that matches far `enough`, or else the first of those that match best."""
    best: _Found | None = None
    for each in found:
        if best is None or each.match > best.match:
            best = each
        if best.match >= enough:
            break
    return best


def _compare_known(kind: AnyPatterns, request: Request) -> Iterator[_Found]:
    """Yield the effects of a call that match by what is known of them."""
    return _compare((kind.in_doubt(effect), effect) for effect in kind.among(request.parts))


def _compare(pairs: Iterable[tuple[AnyPatterns, Effect]], most: Match = Match.ALIKE) -> Iterator[_Found]:
    """Yield the effects that match by what is known of them; a path is compared once.

    INVARIANT: law 3. A guess never makes a restriction certain, nor does an unknown access.
    """
    known: dict[tuple[int, int, Match], Match] = {}
    for patterns, effect in pairs:
        if not patterns.is_about(effect):
            continue
        is_certain = not effect.is_guess and patterns.is_certainly_about(effect)
        enough = most if is_certain else Match.MAYBE
        key = id(patterns), id(effect.target), enough
        if key not in known:
            known[key] = min(patterns.match(effect, enough=enough), enough)
        # What is not known at all comes last, in `_meets_kind`.
        if known[key] > Match.ACCESS:
            yield _Found(known[key], patterns, effect)


def _lifts_all(lifting: Sequence[Conditions], kind: AnyPatterns, effect: Effect) -> bool:
    """Return whether exceptions lift an effect, or every match below its folder."""
    if _lift(lifting, effect):
        return True
    touch = effect.subject
    if not isinstance(kind, PathPatterns) or not isinstance(touch, Touch) or not touch.place.tops:
        return False
    if kind.may_name(effect, touch.place):
        # The folder itself may match, which no exception for what is below it lifts.
        return False
    is_met = False
    for name in kind.names_below(effect, touch.place):
        is_met = True
        if name is None:
            return False
        below = attrs.evolve(touch, place=Place(name, (name,), (name,), is_certain=touch.place.is_certain))
        if not _lift(lifting, attrs.evolve(effect, subject=below)):
            return False
    return is_met


def _meets_at_once(kinds: Sequence[AnyPatterns], lifting: Sequence[Conditions], request: Request) -> bool | Unsure:
    """Return whether one program meets the conditions of every kind, if the call does.

    Otherwise `Unsure`: one program matches the pattern of commands, and another touches the path.
    """
    runs, *others = found = [_find_certain(kind, lifting, request) for kind in kinds]
    for run in runs:
        # An effect that belongs to no program counts for every one.
        if all(any(each.words in ((), run.words) for each in effects) for effects in others):
            return True
    does = " and ".join(kind.does for kind in kinds)
    unsure = Unsure(why_several(effects[0] for effects in found if effects), does, int(Match.BELOW))
    # What a program runs comes from any host, and a rule about one host is about what connects to it.
    patterns = itertools.chain.from_iterable(kind.patterns for kind in kinds)
    is_any = any(isinstance(each, HostPattern) and each.text == "*" for each in patterns)
    by = say_joined(runs, itertools.chain.from_iterable(others)) if is_any else ""
    return attrs.evolve(unsure, by=by, likeness=int(Match.ALIKE)) if by else unsure


def _find_certain(kind: AnyPatterns, lifting: Sequence[Conditions], request: Request) -> list[Effect]:
    """Return the effects that a kind is certainly about, and that no exception lifts."""
    certain = [found.effect for found in _compare_known(kind, request) if found.match >= Match.ALIKE]
    return [effect for effect in certain if not _lifts_all(lifting, kind, effect)]


def say_joined(runs: Iterable[Effect], effects: Iterable[Effect]) -> str:
    """Return from where a program gets what it runs: "https://a.example/x (`curl | sh`)".

    Empty unless one of `runs` certainly runs what the program of a connection prints.
    """
    return next(filter(None, itertools.starmap(_say_pair, itertools.product(runs, effects))), "")


def _say_pair(effect: Effect, other: Effect) -> str:
    run, source = effect.subject, other.run
    if source is None or not (isinstance(run, Run) and isinstance(other.subject, Connect)):
        return ""
    how = _by_pipe(run, source, other.actions.runs()) or _by_substitution(run, source)
    return how and f"{other.subject.text[:_LONGEST]} (`{how}`)"


def _by_pipe(run: Run, source: Run, every: Iterable[Run]) -> str:
    """Return how what a program prints gets to another by pipes alone; empty where it does not."""
    stages, last = [_name(source)], source
    behind = itertools.dropwhile(lambda each: each is not source, every)
    for each in itertools.islice(behind, 1, None):
        if each.is_piped:
            stages.append(_name(each))
        elif each.within == (*last.within, _name(last)):
            stages[-1] += f" {_name(each)}"
        else:
            break
        if each is run:
            return " | ".join(stages) if len(stages) > 1 else ""
        last = each
    return ""


def _by_substitution(run: Run, source: Run) -> str:
    """Return how a program runs what another prints, which is a word of it."""
    is_inside = run.start <= source.start and source.end <= run.end and run.words != source.words
    words = enumerate(run.words)
    at = next((at for at, word in words if word.is_open and source.words[0].text in word.text), 0)
    if not (is_inside and at):
        return ""
    is_code = at == 1 or _BEFORE_CODE.fullmatch(run.words[at - 1].text) is not None
    mark = "<" if run.words[at].text.startswith("<(") else "$"
    return f"{_name(run)} {mark}({_name(source)})" if is_code else ""


def _name(run: Run) -> str:
    return basename(run.words[0].text)
