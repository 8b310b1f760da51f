"""The finding `never-heard`."""

from collections.abc import Iterator

from permitry.conditions.args import LinkCondition, SourceCondition
from permitry.conditions.prompt import PromptCondition
from permitry.conditions.scope import Condition, Scope
from permitry_ops.lint._subject import Finding, Subject

__all__ = ["findings"]


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the conditions on what the user wrote, where the host does not pass it on."""
    for rule_id, scope in () if subject.has_prompts else subject.scopes.items():
        for shown in dict.fromkeys(_describe_unanswered(scope)):
            reason = f"the host does not pass on what the user writes, so {shown} never has an answer"
            hint = "pass it on, by `heard` of the session, or ask for something else, such as `list:NAME`"
            yield Finding("never-heard", rule_id, subject.source_of(rule_id), reason, hint, level="error")


def _describe_unanswered(scope: Scope) -> Iterator[str]:
    for conditions in (scope.when, *scope.unless):
        yield from filter(None, map(_show, conditions.plain))


def _show(condition: Condition) -> str | None:
    """Return a condition as text, if it has an answer only where messages of the user are known."""
    match condition:
        case PromptCondition():
            return "`prompt`"
        case SourceCondition(is_optional=False) if condition.needs_user:
            return f"where `{'.'.join(('args', *condition.path))}` comes from"
        case LinkCondition() if condition.needs_user:
            return f"where the links in `{'.'.join(('args', *condition.path))}` come from"
        case _:
            return None
