"""The findings `nested-command` and `always-restricted`: what becomes of the commands that a permission names."""

import itertools
from collections.abc import Iterator

from permitry.conditions.command import ArgvPattern
from permitry.conditions.scope import Conditions
from permitry.core.action import Run, phrase
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.explanation import ActionTrace, Explanation
from permitry.core.policy import AuthorizationPolicy
from permitry.rules.configured import ConfiguredRule
from permitry_ops.lint._subject import Finding, Subject, report_finding

__all__ = ["findings"]

_CONTEXT = AuthContext(workspace="/workspace")
_PROBE = "permitry-probe"
_MOST = 2_000


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the permissions for commands that do not run all the same: something in them is asked about."""
    policy = subject.rules.policy()
    tried = ((rule, pattern) for rule in subject.permissions if _is_plain(rule) for pattern in rule.scope.when.commands)
    for rule, pattern in itertools.islice(tried, _MOST):
        command = _example(pattern)
        if command is not None:
            yield from _try(policy, rule, pattern, command)
            if pattern.tokens[-1].is_any and not rule.scope.when.runs_any:
                yield from _find_nested(policy, rule, pattern, f"{command} {_PROBE}")


def _is_plain(rule: ConfiguredRule) -> bool:
    """Return whether the rule permits commands wherever and whenever they run."""
    when = rule.scope.when
    is_narrow = rule.scope.selectors or rule.scope.unless or rule.budget is not None
    return not is_narrow and when == Conditions(commands=when.commands)


def _example(pattern: ArgvPattern) -> str | None:
    """Return a command that fits a pattern, without its wildcards; None if a word has a wildcard."""
    words = [token.texts for token in pattern.tokens if not token.is_any]
    if not words or any(texts is None for texts in words):
        return None
    command = " ".join(texts[0] for texts in words if texts)
    return command if command.replace(" ", "").replace("-", "").isalnum() else None


def _try(policy: AuthorizationPolicy, rule: ConfiguredRule, pattern: ArgvPattern, command: str) -> Iterator[Finding]:
    call = ToolCall("run_shell", {"command": command})
    decision = policy.decide(call, _CONTEXT)
    if decision.verdict is not Verdict.ALLOW and decision.phase is Phase.RESTRICTION and not decision.errors:
        does = "blocks" if decision.verdict is Verdict.BLOCK else "asks about"
        yield report_finding(
            rule,
            "always-restricted",
            f"`{pattern}` permits nothing: `{decision.rule_id}` ({decision.source}) {does} `{command}`",
            "take the pattern out; a restriction is lifted only where it is defined",
        )


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
    """Return the nested command that is asked about because no rule matched, if this rule permits the rest."""
    is_permitted = any(
        each.decision.rule_id == rule.id and each.decision.verdict is Verdict.ALLOW for each in explained.actions
    )
    asked = (each for each in explained.actions if isinstance(each.action, Run) and _is_unmatched(each.decision))
    return next(asked, None) if is_permitted else None


def _is_unmatched(decision: Decision) -> bool:
    return decision.verdict is Verdict.CONFIRM and decision.phase is not Phase.RESTRICTION
