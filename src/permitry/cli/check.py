"""`permitry check`: what would happen to calls; nothing runs."""

import argparse
import json
from collections.abc import Callable, Iterable, Iterator

import attrs

from permitry.actions.extract import ReadActions
from permitry.actions.programs.records import Record
from permitry.cli.inputs import add_call_options, add_rules_option, only_tool, requests, rules_from, tell
from permitry.cli.main import ExitCode
from permitry.cli.python_registry import add_python_option, registry_at
from permitry.core.decision import Decision, Phase, RuleFailure, Verdict
from permitry.core.origin import Origin
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request
from permitry.core.spec import Specs
from permitry.core.texts import one_line
from permitry.errors import CallError
from permitry.guard.value_lines import value_lines

__all__ = ["answer_each", "configure", "decision_line", "exit_code", "invalid", "records_used"]

_EXIT = {Verdict.ALLOW: ExitCode.OK, Verdict.CONFIRM: ExitCode.NEEDS_CONFIRMATION, Verdict.BLOCK: ExitCode.BLOCKED}
# Of several outcomes the process reports the one that needs most attention.
_ORDER = (ExitCode.OK, ExitCode.NEEDS_CONFIRMATION, ExitCode.BLOCKED, ExitCode.INVALID)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry check`."""
    add_rules_option(parser)
    add_call_options(parser)
    add_python_option(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """Decide each call and print one line for it, in order."""
    registry = None if options.python is None else registry_at(options.python)

    def answer(policy: AuthorizationPolicy, call_id: object, request: Request | Decision) -> Decision:
        if registry is not None and isinstance(request, Request):
            request = _declare(request, registry)
        if isinstance(request, Decision):
            decision, name = request, "?"
            origins: tuple[Origin, ...] = ()
        else:
            decision, name = policy.decide(request.call, request.context, request.spec), request.call.tool
            origins = policy.origins(request.call, request.context, request.spec)
        shown = decision_line(call_id, decision, origins)
        # Flushed line by line, so that another program can ask and read in turn.
        print(json.dumps(shown) if options.json else _as_text(name, decision, origins), flush=True)
        if isinstance(request, Request) and (options.tool or options.call):
            tell((*_by_name(policy, request, decision), *_warn_of_undeclared(policy, request, decision)))
            tell(map(str, records_used(policy, request)))
            tell(_values_in(policy, request, decision))
        return decision

    return answer_each(options, answer, only_tool(options))


def _declare(request: Request, registry: Specs) -> Request:
    spec = registry.get(request.call.tool)
    if spec is None:
        tell([f"no tool `{request.call.tool}` is registered, so that its calls would not run"])
        return request
    return attrs.evolve(request, spec=spec, own=spec)


def records_used(policy: AuthorizationPolicy, request: Request) -> "tuple[Record, ...]":
    """Return the records of rule files that say what the programs of a call do."""
    if not isinstance(policy.reader, ReadActions):
        return ()
    asked = policy.request(request.call, request.context, request.spec)
    return policy.reader.records.records_used_in(asked.actions)


def _values_in(policy: AuthorizationPolicy, request: Request, decision: Decision) -> tuple[str, ...]:
    """Return what expansions in a command that is not permitted become, as far as that is known."""
    if decision.verdict is Verdict.ALLOW:
        return ()
    return value_lines(policy.request(request.call, request.context, request.spec))


def _by_name(policy: AuthorizationPolicy, request: Request, decision: Decision) -> Iterator[str]:
    spec = policy.request(request.call, request.context).tool
    name = request.call.tool
    if decision.rule_id == "read-only" and name not in policy.declared and spec is not None and not spec.is_shell:
        yield f"`{name}` reads only by its name; a registered tool counts as what it declares, as does `[tool.{name}]`"


def _warn_of_undeclared(policy: AuthorizationPolicy, request: Request, decision: Decision) -> Iterator[str]:
    if decision.verdict is Verdict.ALLOW:
        # Nothing is lacking, and an explanation takes as long as several decisions.
        return
    if policy.explain(request.call, request.context, request.spec).declaration:
        tool = policy.request(request.call, request.context, request.spec).tool
        has_roles = tool is not None and tool.roles is not None
        name = f"`{request.call.tool}`"
        arguments = f"a permission needs to know what the arguments of {name} are"
        needed = f"it is not known where {name} looks for relative paths" if has_roles else arguments
        yield f"{needed}; `permitry explain` prints a table to paste"


def answer_each(
    options: argparse.Namespace,
    answer: Callable[[AuthorizationPolicy, object, Request | Decision], Decision],
    tool: str | None = None,
) -> ExitCode:
    """Have every call of the options answered, with the policy for a `tool`; return the exit code.

    `answer` gets the policy, the id, and the request, or for an invalid call the decision to block it.
    """
    rules = rules_from(options, options.workspace, tool)
    policy = rules.policy()
    worst = ExitCode.OK
    for number, call_id, request in requests(options, rules):
        asked = invalid(number if options.calls else None, request) if isinstance(request, CallError) else request
        worst = max(worst, exit_code(answer(policy, call_id, asked)), key=_ORDER.index)
    return worst


def invalid(line: int | None, error: CallError) -> Decision:
    """Return the decision for what is not a valid call: it is blocked, and the error says where; None for no line."""
    failure = RuleFailure("the call" if line is None else f"line {line}", str(error))
    return Decision(Verdict.BLOCK, None, Phase.INPUT, "not a valid call", "The call was not understood.", (failure,))


def exit_code(decision: Decision) -> ExitCode:
    """Return the exit code of one decision."""
    return ExitCode.INVALID if decision.phase is Phase.INPUT else _EXIT[decision.verdict]


def decision_line(call_id: object, decision: Decision, origins: Iterable[Origin] = ()) -> dict[str, object]:
    """Return a decision in the output format; `origins` say where values were seen."""
    return {
        "id": call_id,
        "verdict": decision.verdict.value,
        "rule": decision.rule_id,
        "phase": decision.phase.value,
        "reason": decision.reason,
        "message": decision.message,
        "source": decision.source,
        "errors": [str(error) for error in decision.errors],
        "origins": [attrs.asdict(each) for each in origins],
    }


def _as_text(name: str, decision: Decision, origins: Iterable[Origin] = ()) -> str:
    rule = decision.rule_id or "-"
    source = f" ({decision.source})" if decision.source else ""
    reason = f": {one_line(decision.reason)}" if decision.reason else ""
    lines = [f"{decision.verdict.value:<8}{one_line(name)}  {rule}{one_line(source)}{reason}"]
    lines += [f"        error: {one_line(str(error))}" for error in decision.errors]
    lines += [f"        value: {one_line(str(origin))}" for origin in origins]
    return "\n".join(lines)
