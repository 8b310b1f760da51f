"""`permitry explain`: why a call is decided as it is."""

import argparse
import json
import sys

from permitry.cli.check import answer_each, decision_line
from permitry.cli.inputs import add_call_options, add_rules_option
from permitry.cli.main import ExitCode
from permitry.core.decision import Decision, Explanation, RuleTrace
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Question

__all__ = ["configure"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry explain`."""
    add_rules_option(parser)
    add_call_options(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """Explain each call, in order."""
    from permitry.cli import render

    def answer(policy: AuthorizationPolicy, call_id: object, question: Question | Decision) -> Decision:
        if isinstance(question, Decision):
            told, tool = Explanation(question, ()), "?"
        else:
            told, tool = policy.explain(question.call, question.context, question.spec), question.call.tool
        if options.json:
            print(json.dumps(_line(call_id, told)), flush=True)
        else:
            render.explanation(render.console_on(sys.stdout), tool, told)
        return told.decision

    return answer_each(options, answer)


def _line(call_id: object, told: Explanation) -> dict[str, object]:
    return {**decision_line(call_id, told.decision), "rules": [_trace(rule) for rule in told.rules]}


def _trace(rule: RuleTrace) -> dict[str, object]:
    return {
        "rule": rule.rule_id,
        "phase": rule.phase.value,
        "priority": rule.priority,
        "effect": rule.effect.value,
        "outcome": rule.outcome.value,
        "deciding": rule.deciding,
        "source": rule.source,
        "near_miss": rule.near_miss,
        "error": rule.error,
    }
