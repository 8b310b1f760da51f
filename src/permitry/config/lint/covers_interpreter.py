"""The finding `covers-interpreter`."""

import functools
import itertools
from collections.abc import Iterator

from permitry.actions.programs.catalogue import catalogue
from permitry.actions.shell.runners import program_of, runs_others, unfolded
from permitry.actions.shell.running import LISTED_OPTIONS, SUBCOMMANDS, WRAPPERS
from permitry.config.lint._subject import Finding, Subject, finding_in, is_unconditional
from permitry.core.action import Word
from permitry.rules.conditions.command import ArgvPattern
from permitry.rules.conditions.scope import Scope
from permitry.rules.configured import ConfiguredRule

__all__ = ["findings"]

_KIND = "covers-interpreter"
_PROBE = "permitry-probe"
_RUNS = ("runs a program text", "runs what it is given", "runs commands", "starts other programs", "fetches and runs")
# Programs that run code of the workspace by design, and also take code from their arguments.
_ARGUMENTS_ARE_CODE = {"go": "runs the code of the workspace", "make": "runs what the Makefile says"}
_CODE_OPTIONS = ("-c", "-e", "-m", "-r")


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the permissions for commands whose further arguments are programs, or code, that no rule checks."""
    for rule in subject.permissions:
        # With paths as well it covers no program of which it is not known what it touches.
        for pattern in () if rule.scope.when.paths else rule.scope.when.commands:
            shown = _shown(pattern, rule.scope)
            if shown is not None:
                yield finding_in(rule, _KIND, _reason(pattern, shown), _suggestion(pattern))
        yield from _shells(rule, subject)


def _shells(rule: ConfiguredRule, subject: Subject) -> Iterator[Finding]:
    if not is_unconditional(rule):
        return
    for selector in rule.scope.selectors:
        spec = subject.specs.get(selector.text)
        if selector.text == "@shell" or (spec is not None and spec.is_shell):
            reason = f"`{selector.text}` runs any command there is"
            yield finding_in(rule, _KIND, reason, "list the commands that may run: `when.command = [...]`")


def _shown(pattern: ArgvPattern, scope: Scope) -> str | None:
    """Return a command line with arbitrary code that the rule permits, or None."""
    if pattern.text.split() == ["*"]:
        return "every program"
    for words in itertools.chain.from_iterable(map(_probes, _programs(pattern))):
        if pattern.holds(words) and not _is_excepted(words, scope):
            return f"`{_as_text(words)}`"
    return None


def _reason(pattern: ArgvPattern, shown: str) -> str:
    name, _, rest = shown.strip("`").partition(" ")
    if rest != "...":
        return f"`{pattern}` also covers {shown}, and with it any code at all"
    does = _ARGUMENTS_ARE_CODE.get(program_of([Word(name)]))
    return f"`{pattern}` lets `{name}` run any code" if does is None else f"`{pattern}`: `{name}` {does}"


def _as_text(words: tuple[Word, ...]) -> str:
    texts = (word.text.replace(_PROBE, "...") for word in words)
    return " ".join(text for text, _ in itertools.groupby(texts))


def _is_excepted(words: tuple[Word, ...], scope: Scope) -> bool:
    return any(each.may_hold(words) for unless in scope.unless for each in unless.commands)


@functools.lru_cache(maxsize=1_024)
def _probes(name: str) -> tuple[tuple[Word, ...], ...]:
    """Return command lines of a program that run the text `_PROBE` in them as code."""
    forms = [tuple(map(Word, (name, *form))) for form in _forms(program_of([Word(name)]))]
    takes_code = _takes_code(program_of([Word(name)]))
    return tuple(words for words in forms if takes_code or _runs_text(words))


def _runs_text(words: tuple[Word, ...]) -> bool:
    """Return whether the program runs a text among its arguments.

    That `-c` of a program that is not known here may do so is a guess, and `isort -c` only checks.
    """
    is_known = program_of(words) in catalogue() or runs_others(words)
    return any(is_known or not each.is_guess for each in unfolded(words))


def _forms(name: str) -> Iterator[tuple[str, ...]]:
    # The best known option comes first, so that it is the one shown.
    yield from (
        (option, _PROBE) for option in sorted(LISTED_OPTIONS.get(name, ()), key=lambda option: (option != "-c", option))
    )
    yield from ((sub, _PROBE, _PROBE) for program, sub in SUBCOMMANDS if program == name)
    yield (_PROBE, _PROBE, _PROBE)
    yield from ((option, _PROBE) for option in _CODE_OPTIONS)
    yield (".", "-exec", _PROBE, ";")
    yield (_PROBE, "-x", _PROBE)
    yield (_PROBE, "--", _PROBE)
    yield (f'BEGIN{{system("{_PROBE}")}}',)


def _takes_code(name: str) -> bool:
    entry = catalogue().get(name)
    if entry is None:
        return False
    return entry.never.startswith(_RUNS) or entry.script == "sed" or name in _ARGUMENTS_ARE_CODE


def _programs(pattern: ArgvPattern) -> Iterator[str]:
    for program in pattern.tokens[0].alternatives:
        if program.is_exact:
            yield program.text
        else:
            yield from (name for name in sorted({*catalogue(), *WRAPPERS}) if program.matches(name))


def _suggestion(pattern: ArgvPattern) -> str:
    names = [program_of([Word(name)]) for name in _programs(pattern)]
    only = catalogue().get(names[0]) if len(names) == 1 else None
    if only is None or only.never or only.network or only.wraps or only.shell:
        return "name what may run: the sub-commands, the scripts, the arguments"
    return f"name the sub-commands or arguments; where `{names[0]}` only reads, it needs no rule"
