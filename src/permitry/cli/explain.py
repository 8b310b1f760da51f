"""`permitry explain`: why a call is decided as it is."""

import argparse
import json
import sys
from typing import assert_never

import attrs

from permitry.actions.programs.records import Record
from permitry.cli.check import answer_each, decision_line, records_used
from permitry.cli.inputs import add_call_options, add_rules_option, tell
from permitry.cli.main import ExitCode
from permitry.core.action import Action, Connect, Delegate, Run, Touch, Unknown
from permitry.core.decision import Decision
from permitry.core.explanation import ActionTrace, Explanation, RuleTrace
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request

__all__ = ["configure"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry explain`."""
    add_rules_option(parser, observes=True)
    add_call_options(parser)
    parser.add_argument("--verbose", action="store_true", help="show what the call only may do as well")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """Explain each call, in order."""
    from permitry.cli import render

    def answer(policy: AuthorizationPolicy, call_id: object, request: Request | Decision) -> Decision:
        records: tuple[Record, ...] = ()
        if isinstance(request, Decision):
            explained, tool, digest = Explanation(request, ()), "?", None
        else:
            explained = policy.explain(request.call, request.context, request.spec)
            tool, digest = request.call.tool, request.call.digest
            records = records_used(policy, request)
        if options.json:
            programs = [_record(each) for each in records]
            line = {**_line(call_id, explained), "programs": programs, "digest": digest}
            print(json.dumps(line), flush=True)
        else:
            console = render.console_on(sys.stdout)
            render.explanation(console, tool, explained, is_verbose=options.verbose)
            tell(map(str, records))
        return explained.decision

    return answer_each(options, answer)


def _line(call_id: object, explained: Explanation) -> dict[str, object]:
    line = {
        **decision_line(call_id, explained.decision, explained.origins),
        "agent": explained.agent,
        "rules": [_trace(rule) for rule in explained.rules],
        "actions": [_action(each) for each in explained.actions],
        "declaration": "\n".join(explained.declaration) or None,
    }
    if (would := explained.would) is not None:
        line["would"] = {"verdict": would.verdict.value, "rule": would.rule_id}
    return line


def _record(each: Record) -> dict[str, object]:
    return {"name": each.name, "source": each.source, "is_trusted": each.rank > 0}


def _action(each: ActionTrace) -> dict[str, object]:
    kind, details = _describe(each.action)
    return {
        "action": kind,
        **details,
        "is_certain": each.is_certain,
        "verdict": each.decision.verdict.value,
        "rule": each.decision.rule_id,
    }


def _describe(action: Action) -> tuple[str, dict[str, object]]:
    match action:
        case Run():
            named = action.operands
            operands: tuple[Action, ...] = (*named.touches, *named.connects, *named.guessed)
            inner = [_describe(each) for each in operands]
            touches = [{"action": kind, **details} for kind, details in inner]
            return "run", {
                "argv": action.argv, "only_reads": action.doubt is None, "doubt": action.doubt, "within": action.within,
                "touches": touches,
            }  # fmt: skip
        case Touch():
            return action.access.value, {"path": action.place.text, "real": action.place.real}
        case Connect():
            host = {"scheme": action.scheme, "host": action.host, "port": action.port}
            return "connect", {"url": action.text, **host}
        case Delegate():
            return "delegate", {"agent": action.agent}
        case Unknown():
            return "unknown", {"text": action.text, "reason": action.reason, "offset": action.offset}
        case _:
            assert_never(action)


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
        "unless": rule.unless,
        "error": rule.error,
        "lists": rule.lists,
        "origins": [attrs.asdict(each) for each in rule.origins],
    }
