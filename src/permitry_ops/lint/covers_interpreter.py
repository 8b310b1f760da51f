"""The finding `covers-interpreter`."""

import functools
import itertools
import shlex
from collections.abc import Iterator

import attrs

from permitry.actions.derive.runners import program_of, runs_others, unfolded
from permitry.actions.programs.catalogue import catalogue, record_of
from permitry.actions.programs.entries import Entry
from permitry.conditions.command import ArgvPattern
from permitry.conditions.scope import Scope
from permitry.config.default import create_default_authorization_policy
from permitry.core.action import Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.rules.configured import ConfiguredRule
from permitry_ops.lint._scopes import matches
from permitry_ops.lint._subject import Finding, Subject, is_unconditional, report_finding

__all__ = ["findings"]

_KIND = "covers-interpreter"
_PROBE = "permitry-probe"
_RUNS = frozenset({"given", "text"})
# Programs that run code of the workspace by design, and also take code from their arguments.
_ARGUMENTS_ARE_CODE = {"go": "runs the code of the workspace", "make": "runs what the Makefile says"}
_CONTEXT = AuthContext(workspace="/workspace")
_CODE_OPTIONS = ("-c", "-e", "-m", "-r")


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the permissions for commands whose further arguments are programs, or code, that no rule checks."""
    for rule in subject.permissions:
        # With paths as well it covers no program of which it is not known what it touches.
        is_narrow = rule.scope.when.paths or rule.scope.when.looks
        for pattern in () if is_narrow else rule.scope.when.commands:
            shown = _show(pattern, rule.scope)
            if shown is not None:
                yield report_finding(rule, _KIND, _reason(pattern, shown), _suggestion(pattern))
        yield from _shells(rule, subject)


def _shells(rule: ConfiguredRule, subject: Subject) -> Iterator[Finding]:
    if not is_unconditional(rule):
        return
    for selector in rule.scope.selectors:
        spec = subject.specs.get(selector.text)
        if selector.text == "@shell" or (spec is not None and spec.is_shell):
            reason = f"`{selector.text}` runs any command there is"
            yield report_finding(rule, _KIND, reason, "list the commands that may run: `when.command = [...]`")


def _show(pattern: ArgvPattern, scope: Scope) -> str | None:
    if pattern.text.split() == ["*"]:
        return "every program"
    behind = _behind(pattern)
    for words in itertools.chain.from_iterable(_probes(name, behind) for name in _programs(pattern)):
        if matches(pattern, words) and _is_permitted(pattern, scope, words):
            return f"`{_as_text(words)}`"
    return None


def _is_permitted(pattern: ArgvPattern, scope: Scope, words: tuple[Word, ...]) -> bool:
    """Return whether a command line would run unasked if this pattern were all that there is."""
    when = attrs.evolve(scope.when, commands=(pattern,), plain=())
    rule = ConfiguredRule("tried", Verdict.ALLOW, 250, Scope((), when, scope.unless))
    call = ToolCall("run_shell", {"command": shlex.join(word.text for word in words)})
    decision = create_default_authorization_policy((rule,)).decide(call, _CONTEXT)
    return decision.verdict is Verdict.ALLOW and decision.rule_id == rule.id


def _reason(pattern: ArgvPattern, shown: str) -> str:
    name, _, rest = shown.strip("`").partition(" ")
    if rest != "...":
        return f"`{pattern}` also covers {shown}, and with it any code at all"
    does = _ARGUMENTS_ARE_CODE.get(program_of([Word(name)]))
    return f"`{pattern}` lets `{name}` run any code" if does is None else f"`{pattern}`: `{name}` {does}"


def _as_text(words: tuple[Word, ...]) -> str:
    texts = (word.text.replace(_PROBE, "...") for word in words)
    return " ".join(text for text, _ in itertools.groupby(texts))


def _behind(pattern: ArgvPattern) -> tuple[str, ...]:
    """Return words that the pattern asks for behind the program, before it takes any words."""
    tokens = itertools.takewhile(lambda token: not token.is_any, pattern.tokens[1:])
    return tuple(token.patterns[0].replace("*", "x").replace("?", "x") for token in tokens)


@functools.lru_cache(maxsize=1_024)
def _probes(name: str, behind: tuple[str, ...]) -> tuple[tuple[Word, ...], ...]:
    """Return command lines of a program that run the text `_PROBE` in them as code; `behind` are its first words."""
    program = program_of([Word(name)])
    forms = [tuple(map(Word, (name, *form))) for form in _forms(program)]
    found = [words for words in forms if _takes_code(program) or _runs_text(words)]
    longer = [tuple(map(Word, (name, *behind, *form))) for form in _forms_behind(program)] if behind else []
    return (*found, *(words for words in longer if _runs_probe(words)))


def _runs_text(words: tuple[Word, ...]) -> bool:
    """Return whether the program runs a text; a guess counts only for one that is known."""
    is_known = record_of(program_of(words)).is_known or runs_others(words)
    return any(is_known or not each.is_guess for each in unfolded(words))


def _runs_probe(words: tuple[Word, ...]) -> bool:
    """Return whether the program runs the very text `_PROBE`, and not only another with it."""
    known = (each for each in unfolded(words) if not each.by.endswith("?"))
    return any(_PROBE in (each.text or "") or each.words[:1] == (Word(_PROBE),) for each in known)


def _forms(name: str) -> Iterator[tuple[str, ...]]:
    yield from _options(name)
    yield from ((sub, _PROBE, _PROBE) for sub in record_of(name).runs_behind)
    yield (_PROBE, _PROBE, _PROBE)
    yield from ((option, _PROBE) for option in _CODE_OPTIONS)
    yield (".", "-exec", _PROBE, ";")
    yield (_PROBE, "-x", _PROBE)
    yield (_PROBE, "--", _PROBE)


def _options(name: str) -> Iterator[tuple[str, ...]]:
    # The best known option comes first, so that it is the one shown.
    options = sorted(record_of(name).runs_values, key=lambda option: (option != "-c", option))
    yield from ((option, _PROBE) for option in options)


def _forms_behind(name: str) -> Iterator[tuple[str, ...]]:
    yield (_PROBE, _PROBE)
    # Behind a sub-command the options of the program are others.
    if not record_of(name).commands:
        yield from (*_options(name), ("-x", _PROBE), ("-exec", _PROBE, ";"))


def _takes_code(name: str) -> bool:
    entry = record_of(name)
    return not _RUNS.isdisjoint(entry.does) or entry.guess == "editor" or name in _ARGUMENTS_ARE_CODE


def _programs(pattern: ArgvPattern) -> Iterator[str]:
    for program in pattern.tokens[0].alternatives:
        if program.is_exact:
            yield program.text
        else:
            known = ((name, record_of(name)) for name in sorted(catalogue()) if program.matches(name))
            yield from (name for name, record in known if record.is_known or record.runs is not None)


def _suggestion(pattern: ArgvPattern) -> str:
    names = [program_of([Word(name)]) for name in _programs(pattern)]
    only = record_of(names[0]) if len(names) == 1 else Entry()
    if not only.is_known or only.does or only.wraps or only.shell:
        return "name what may run: the sub-commands, the scripts, the arguments"
    return f"name the sub-commands or arguments; where `{names[0]}` only reads, it needs no rule"
