"""How an explanation is made: a decision, with every rule's part in it, and what each action would get alone."""

from collections.abc import Iterable

from permitry.core._evaluate import Evaluate, Phases, with_actions
from permitry.core.action import Action, Actions, Run, Touch, Unknown
from permitry.core.decision import Decision, Verdict
from permitry.core.explanation import ActionTrace, Explanation
from permitry.core.likely_roles import declaration, folder_declaration
from permitry.core.rule import Request, Rule

__all__ = ["explain"]


def explain(request: Request, phases: Phases, decision: Decision, evaluate: Evaluate) -> Explanation:
    """Return a decision with every rule's part in it, and the decision each action would get alone."""
    rules = tuple(rule.trace(request, decision.rule_id) for rule in phases.every)
    draft: tuple[str, ...] = ()
    if decision.verdict is not Verdict.ALLOW:
        draft = _draft(request, [rule.rule for rule in phases.every])
    return Explanation(decision, rules, tuple(_each_action(request, phases, evaluate)), request.context.agent, draft)


def _draft(request: Request, rules: Iterable[Rule]) -> tuple[str, ...]:
    """Return a declaration of the tool that could make a rule permit the call; empty if none is lacking."""
    draft = declaration(request.call) if any(rule.lacks_roles(request) for rule in rules) else ()
    if not draft and _lacks_folder(request):
        return folder_declaration(request.call)
    return draft


def _lacks_folder(request: Request) -> bool:
    """Return whether it is not known where a path starts, only because a tool of a server does not say so."""
    if request.call.server is None or request.tool is None or request.tool.folder is not None:
        return False
    return any(not touch.place.names and not touch.place.is_open for touch in request.actions.touches())


def _each_action(request: Request, phases: Phases, evaluate: Evaluate) -> Iterable[ActionTrace]:
    if request.tool is None or not request.tool.roles:
        return
    actions = request.actions
    for group in ("certain", "possible", "guessed"):
        for action in getattr(actions, group):
            kept = {"guessed" if group == "guessed" else "certain": (action,)}
            alone = Actions(**kept, roots=actions.roots, doubt=_doubt_of(action, actions))
            decision = evaluate(with_actions(request, alone), phases)
            yield ActionTrace(action, decision, is_certain=group == "certain")


def _doubt_of(action: Action, actions: Actions) -> str | None:
    match action:
        case Run():
            return action.doubt
        case Touch() if action.access.value == "read":
            return None
        case Unknown():
            return action.reason
        case _:
            return actions.doubt or "it does more than read"
