"""The findings `star-without-blank`, `no-further-arguments` and `glob-in-operand`, about patterns of commands."""

import re
from collections.abc import Iterator

from permitry.actions.shell.runners import runs_others
from permitry.config.lint._subject import Finding, Subject, finding_in
from permitry.core.action import Word
from permitry.core.decision import Verdict
from permitry.rules.conditions.command import ArgvPattern

__all__ = ["findings"]

_GLUED = re.compile(r"[A-Za-z][\w-]*\*")
# A program, or a program and its sub-commands.
_PLAIN = re.compile(r"[A-Za-z][\w-]*(?: [A-Za-z][\w-]*)*")


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the patterns of commands that fit fewer commands than they seem to."""
    for rule in (*subject.permissions, *subject.questions, *subject.restrictions):
        patterns = rule.scope.when.commands
        for pattern in patterns:
            others = tuple(each for each in patterns if each is not pattern)
            for kind, reason, suggestion in _odd(pattern, others, is_permission=rule.effect is Verdict.ALLOW):
                yield finding_in(rule, kind, reason, suggestion)


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
    # `make test` as a permission is meant as it is written, and so is `bash` as a restriction.
    elif (len(words) == 1) is is_permission and _PLAIN.fullmatch(pattern.text) and not _is_continued(pattern, others):
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
    if is_permission and runs_others([Word(pattern.text)]):
        return
    effect = "with arguments it is not permitted" if is_permission else "with further arguments the rule does not apply"
    yield (
        "no-further-arguments",
        f"`{pattern}` fits the command without any further argument only: {effect}",
        f"write `{pattern} *` for any arguments, or none",
    )


def _is_continued(pattern: ArgvPattern, others: tuple[ArgvPattern, ...]) -> bool:
    """Return whether another pattern of the rule begins alike: then its author has thought of arguments."""
    return any(each.text.startswith(f"{pattern.text} ") for each in others)


def _is_path_glob(word: str) -> bool:
    return "*" in word and bool(word.strip("*")) and not word.startswith("-") and any(char in word for char in "./")
