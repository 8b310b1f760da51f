"""The findings about commands that a pattern fits, or permits, less than it seems to.

They are `star-without-blank`, `no-further-arguments`, `glob-in-operand`, `nested-command` and `always-restricted`.
"""

import itertools
import re
from collections.abc import Iterator

from permitry.actions.derive.runners import runs_others
from permitry.actions.programs.candidates import reads_code
from permitry.actions.programs.catalogue import record_of
from permitry.conditions.command import ArgvPattern
from permitry.core.action import Run, Word, phrase
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Phase, Verdict
from permitry.core.explanation import ActionTrace, Explanation
from permitry.core.policy import AuthorizationPolicy
from permitry.rules.configured import ConfiguredRule
from permitry_ops.lint._subject import Finding, Subject, is_about_commands_alone, report_finding

__all__ = ["findings"]

_GLUED = re.compile(r"[A-Za-z][\w-]*\*")
_WORD = re.compile(r"[\w.-]+")
# A program, or a program and its sub-commands.
_PLAIN = re.compile(r"[A-Za-z][\w-]*(?: [A-Za-z][\w-]*)*")
_WITH_OPTIONS = re.compile(r"[A-Za-z][\w-]*(?: -{0,2}[A-Za-z][\w-]*)*")
_CONTEXT = AuthContext(workspace="/workspace")
_PROBE = "permitry-probe"
_MOST = 2_000


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the patterns of commands that fit fewer than they seem to, and those that permit none."""
    for rule in (*subject.permissions, *subject.questions, *subject.restrictions):
        patterns = rule.scope.when.commands
        is_permission = rule.effect is Verdict.ALLOW
        for pattern in patterns:
            # A bare program of a restriction that is shown by examples is meant as it is written.
            is_bare = len(pattern.tokens) == 1 and _PLAIN.fullmatch(pattern.text) is not None
            if is_bare and not is_permission and subject.has_examples(rule.id):
                continue
            for kind, reason, suggestion in _odd(pattern, patterns, is_permission=is_permission):
                more = "" if is_permission else _as_one(pattern, patterns)
                yield report_finding(rule, kind, reason, f"{suggestion}{more}")
    yield from _find_useless(subject)


def _odd(
    pattern: ArgvPattern, patterns: tuple[ArgvPattern, ...], *, is_permission: bool
) -> Iterator[tuple[str, str, str]]:
    words = pattern.text.split()
    # Where another pattern begins alike, the author of the rule has thought of arguments.
    is_continued = any(each.text.startswith(f"{pattern.text} ") for each in patterns)
    if _GLUED.fullmatch(words[-1]):
        word = words[-1][:-1]
        reason = f"`{pattern}` fits words that begin with `{word}`, and no arguments after them"
        hint = f"write `{' '.join([*words[:-1], word])} *` for any arguments, or none"
        yield "star-without-blank", reason, hint
    elif (_PLAIN if is_permission else _WITH_OPTIONS).fullmatch(pattern.text) and not is_continued:
        yield from _without_arguments(pattern, is_permission=is_permission)
    if is_permission:
        for word in filter(_is_path_glob, words[1:]):
            yield (
                "glob-in-operand",
                f"`{pattern}` fits one name as it is written, not `{word}`, which the shell replaces by names",
                f'write `{words[0]} *`, and what it may touch as when.path = ["{word}"]',
            )


def _without_arguments(pattern: ArgvPattern, *, is_permission: bool) -> Iterator[tuple[str, str, str]]:
    # `make test` as a permission is meant as it is written, and so is `bash` as a restriction.
    words = [Word(word) for word in pattern.text.split()]
    if is_permission:
        is_meant = len(words) > 1 or runs_others(words)
        effect = "with arguments it is not permitted"
    else:
        is_meant = record_of(words[0].text).shell != "" or reads_code(words)
        effect = "with further arguments the rule does not apply"
    if not is_meant:
        yield (
            "no-further-arguments",
            f"`{pattern}` fits the command without any further argument only: {effect}",
            f"write `{pattern} *` for any arguments, or none",
        )


def _as_one(pattern: ArgvPattern, patterns: tuple[ArgvPattern, ...]) -> str:
    """Return what to write where the patterns are the words of one command, after the first."""
    words = [each.text for each in patterns]
    is_first = pattern is patterns[0] and len(words) > 1 and all(map(_WORD.fullmatch, words))
    return f"; or `{' '.join(words)} *` if these are the words of one command" if is_first else ""


def _is_path_glob(word: str) -> bool:
    return "*" in word and bool(word.strip("*")) and not word.startswith("-") and any(char in word for char in "./")


def _find_useless(subject: Subject) -> Iterator[Finding]:
    """Yield the permissions for commands that do not run all the same: something in them is asked about."""
    policy = subject.rules.policy()
    rules = (rule for rule in subject.permissions if is_about_commands_alone(rule) and not rule.scope.selectors)
    tried = ((rule, pattern) for rule in rules for pattern in rule.scope.when.commands)
    for rule, pattern in itertools.islice(tried, _MOST):
        command = _example(pattern)
        if command is not None:
            yield from _try(policy, rule, pattern, command)
            if pattern.tokens[-1].is_any and not rule.scope.when.runs_any:
                yield from _find_nested(policy, rule, pattern, f"{command} {_PROBE}")


def _example(pattern: ArgvPattern) -> str | None:
    words = [token.texts for token in pattern.tokens if not token.is_any]
    if not words or any(texts is None for texts in words):
        return None
    command = " ".join(texts[0] for texts in words if texts)
    return command if command.replace(" ", "").replace("-", "").isalnum() else None


def _try(policy: AuthorizationPolicy, rule: ConfiguredRule, pattern: ArgvPattern, command: str) -> Iterator[Finding]:
    decision = policy.decide(ToolCall("run_shell", {"command": command}), _CONTEXT)
    if decision.verdict is not Verdict.ALLOW and decision.phase is Phase.RESTRICTION and not decision.errors:
        does = "blocks" if decision.verdict is Verdict.BLOCK else "asks about"
        reason = f"`{pattern}` permits nothing: `{decision.rule_id}` ({decision.source}) {does} `{command}`"
        hint = "take the pattern out; a restriction is lifted only where it is defined"
        yield report_finding(rule, "always-restricted", reason, hint)


def _find_nested(
    policy: AuthorizationPolicy, rule: ConfiguredRule, pattern: ArgvPattern, command: str
) -> Iterator[Finding]:
    """Yield that a pattern does not permit what its last wildcard names, where that is a command."""
    call = ToolCall("run_shell", {"command": command})
    if policy.decide(call, _CONTEXT).verdict is Verdict.ALLOW:
        return
    nested = _not_permitted(policy.explain(call, _CONTEXT), rule)
    if nested is not None and phrase(nested.action) == _PROBE:
        shown = command.replace(_PROBE, "...")
        reason = f"`{pattern}` permits no command that is run by it: of `{shown}` no rule permits what is run"
        yield report_finding(rule, "nested-command", reason, "spell out what it runs, or write `runs_any = true`")


def _not_permitted(explained: Explanation, rule: ConfiguredRule) -> ActionTrace | None:
    """Return the nested command that no rule matched, if this rule permits the rest."""
    decided = [each.decision for each in explained.actions]
    if not any(each.rule_id == rule.id and each.verdict is Verdict.ALLOW for each in decided):
        return None
    runs = (each for each in explained.actions if isinstance(each.action, Run))
    asked = (each for each in runs if each.decision.verdict is Verdict.CONFIRM)
    return next((each for each in asked if each.decision.phase is not Phase.RESTRICTION), None)
