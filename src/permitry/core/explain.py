"""How an explanation is made: a decision, with every rule's part in it, and what each action would get alone."""

from collections.abc import Iterable

from permitry.core._evaluate import Evaluate, Phases, with_actions
from permitry.core.action import Action, Actions, Run, Touch, Unknown
from permitry.core.decision import Decision, Verdict
from permitry.core.explanation import ActionTrace, Explanation
from permitry.core.likely_roles import declaration, folder_declaration
from permitry.core.rule import Question, Rule

__all__ = ["explain"]


def explain(question: Question, phases: Phases, decision: Decision, evaluate: Evaluate) -> Explanation:
    """Return a decision with every rule's part in it, and the decision each action would get alone."""
    entries = (*phases.overrides, *phases.restrictions, *phases.permissions)
    rules = tuple(entry.trace(question, decision.rule_id) for entry in entries)
    draft: tuple[str, ...] = ()
    if decision.verdict is not Verdict.ALLOW:
        draft = _draft(question, [entry.rule for entry in entries])
    return Explanation(decision, rules, tuple(_each_action(question, phases, evaluate)), question.context.agent, draft)


def _draft(question: Question, rules: Iterable[Rule]) -> tuple[str, ...]:
    """Return a declaration of the tool that could make a rule permit the call; empty if none is lacking."""
    draft = declaration(question.call) if any(rule.lacks_roles(question) for rule in rules) else ()
    if not draft and _lacks_folder(question):
        return folder_declaration(question.call)
    return draft


def _lacks_folder(question: Question) -> bool:
    """Return whether it is not known where a path starts, only because a tool of a server does not say so."""
    if question.call.server is None or question.tool is None or question.tool.folder is not None:
        return False
    return any(not touch.place.names and not touch.place.is_open for touch in question.actions.touches())


def _each_action(question: Question, phases: Phases, evaluate: Evaluate) -> Iterable[ActionTrace]:
    if question.tool is None or not question.tool.roles:
        return
    actions = question.actions
    for group in ("certain", "possible", "guessed"):
        for action in getattr(actions, group):
            kept = {"guessed" if group == "guessed" else "certain": (action,)}
            alone = Actions(**kept, roots=actions.roots, doubt=_doubt_of(action, actions))
            decision = evaluate(with_actions(question, alone), phases)
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
