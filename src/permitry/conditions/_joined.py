"""How one program of a call runs what another one brings: `curl … | sh`, `sh -c "$(curl …)"`."""

import itertools
import re
from collections.abc import Iterable
from posixpath import basename

from permitry.core.action import Connect, Run
from permitry.core.effects import Effect

__all__ = ["say_joined"]

_BEFORE_CODE = re.compile(r"-\w*[ceEpr]|--(?:command|eval|execute|print)")
_LONGEST = 120


def say_joined(runs: Iterable[Effect], effects: Iterable[Effect]) -> str:
    """Return from where a program gets what it runs: "https://a.example/x (`curl | sh`)".

    Empty unless one of `runs` certainly runs what the program of a connection prints.
    """
    return next(filter(None, itertools.starmap(_say, itertools.product(runs, effects))), "")


def _say(effect: Effect, other: Effect) -> str:
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
