"""The findings `star-without-blank`, `no-further-arguments` and `glob-in-operand`, about patterns of commands."""

import re
from collections.abc import Iterator

from permitry.actions.derive.runners import runs_others
from permitry.actions.programs.candidates import reads_code
from permitry.actions.programs.catalogue import record_of
from permitry.conditions.command import ArgvPattern
from permitry.core.action import Word
from permitry.core.decision import Verdict
from permitry_ops.lint._subject import Finding, Subject, report_finding

__all__ = ["findings"]

_GLUED = re.compile(r"[A-Za-z][\w-]*\*")
_WORD = re.compile(r"[\w.-]+")
# A program, or a program and its sub-commands.
_PLAIN = re.compile(r"[A-Za-z][\w-]*(?: [A-Za-z][\w-]*)*")
_WITH_OPTIONS = re.compile(r"[A-Za-z][\w-]*(?: -{0,2}[A-Za-z][\w-]*)*")


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the patterns of commands that fit fewer commands than they seem to."""
    for rule in (*subject.permissions, *subject.questions, *subject.restrictions):
        patterns = rule.scope.when.commands
        for pattern in patterns:
            others = tuple(each for each in patterns if each is not pattern)
            is_permission = rule.effect is Verdict.ALLOW
            # A bare program of a restriction that is shown by examples is meant as it is written.
            is_bare = len(pattern.tokens) == 1 and _PLAIN.fullmatch(pattern.text) is not None
            if is_bare and not is_permission and subject.has_examples(rule.id):
                continue
            for kind, reason, suggestion in _odd(pattern, others, is_permission=is_permission):
                more = "" if is_permission else _as_one(pattern, patterns)
                yield report_finding(rule, kind, reason, f"{suggestion}{more}")


def _odd(
    pattern: ArgvPattern, others: tuple[ArgvPattern, ...], *, is_permission: bool
) -> Iterator[tuple[str, str, str]]:
    words = pattern.text.split()
    if _GLUED.fullmatch(words[-1]):
        word = words[-1][:-1]
        yield (
            "star-without-blank",
            f"`{pattern}` fits words that begin with `{word}`, and no arguments after them",
            f"write `{' '.join([*words[:-1], word])} *` for any arguments, or none",
        )
    elif (_PLAIN if is_permission else _WITH_OPTIONS).fullmatch(pattern.text) and not _is_continued(pattern, others):
        yield from _without_arguments(pattern, is_permission=is_permission)
    if is_permission:
        for word in words[1:]:
            if _is_path_glob(word):
                yield (
                    "glob-in-operand",
                    f"`{pattern}` fits one name as it is written, not `{word}`, which the shell replaces by names",
                    f'write `{words[0]} *`, and what it may touch as when.path = ["{word}"]',
                )


def _without_arguments(pattern: ArgvPattern, *, is_permission: bool) -> Iterator[tuple[str, str, str]]:
    # `make test` as a permission is meant as it is written, and so is `bash` as a restriction.
    words = [Word(word) for word in pattern.text.split()]
    is_meant = (
        len(words) > 1 or runs_others(words)
        if is_permission
        else record_of(words[0].text).shell != "" or reads_code(words)
    )
    if is_meant:
        return
    effect = "with arguments it is not permitted" if is_permission else "with further arguments the rule does not apply"
    yield (
        "no-further-arguments",
        f"`{pattern}` fits the command without any further argument only: {effect}",
        f"write `{pattern} *` for any arguments, or none",
    )


def _as_one(pattern: ArgvPattern, patterns: tuple[ArgvPattern, ...]) -> str:
    """Return what to write where the patterns are meant to be the words of one command, after the first of them."""
    words = [each.text for each in patterns]
    is_first = pattern is patterns[0] and len(words) > 1 and all(map(_WORD.fullmatch, words))
    return f"; or `{' '.join(words)} *` if these are the words of one command" if is_first else ""


def _is_continued(pattern: ArgvPattern, others: tuple[ArgvPattern, ...]) -> bool:
    """Return whether another pattern of the rule begins alike: then its author has thought of arguments."""
    return any(each.text.startswith(f"{pattern.text} ") for each in others)


def _is_path_glob(word: str) -> bool:
    return "*" in word and bool(word.strip("*")) and not word.startswith("-") and any(char in word for char in "./")
