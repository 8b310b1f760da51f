"""How an explanation is made: a decision, with every rule's part in it, and what each action would get alone.

Where the tool is not declared, a draft of its declaration is in it, by what its arguments seem to be.
"""

import re
from collections.abc import Iterable, Mapping

from permitry.core._evaluate import Evaluate, Phases, with_actions
from permitry.core.action import Action, Actions, Run, Touch, Unknown
from permitry.core.call import ToolCall
from permitry.core.decision import Decision, Verdict
from permitry.core.explanation import ActionTrace, Explanation
from permitry.core.rule import Request, Rule
from permitry.core.spec import ArgumentRole

__all__ = ["declaration", "explain", "folder_declaration", "likely_roles"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_NAMES = (
    (re.compile(r"(shell_?)?(command|cmd|script)", re.IGNORECASE), ArgumentRole.COMMAND),
    (re.compile(r"(.*_)?(url|uri|href|link|endpoint)|.*(Url|Uri|URL)"), ArgumentRole.URL),
    (re.compile(r".*(path|file|folder|directory)(_?name)?|dir", re.IGNORECASE), ArgumentRole.WRITE_PATH),
)
_VALUES = (
    (re.compile(r"[a-z][a-z0-9+.-]*://.*", re.DOTALL), ArgumentRole.URL),
    (re.compile(r"(/|~/|\.\.?/)\S*"), ArgumentRole.WRITE_PATH),
)


def explain(request: Request, phases: Phases, decision: Decision, evaluate: Evaluate) -> Explanation:
    """Return a decision with every rule's part in it, and the decision each action would get alone."""
    rules = tuple(rule.trace(request, decision.rule_id) for rule in phases.every)
    draft: tuple[str, ...] = ()
    if decision.verdict is not Verdict.ALLOW:
        draft = _draft(request, [rule.rule for rule in phases.every])
    return Explanation(decision, rules, tuple(_each_action(request, phases, evaluate)), request.context.agent, draft)


def _draft(request: Request, rules: Iterable[Rule]) -> tuple[str, ...]:
    """Return a declaration of the tool that could make a rule permit the call, if it lacks one."""
    draft = declaration(request.call) if any(rule.lacks_roles(request) for rule in rules) else ()
    if not draft and _lacks_folder(request):
        return folder_declaration(request.call)
    return draft


def _lacks_folder(request: Request) -> bool:
    """Return whether a path may start anywhere only because the tool of a server does not say it."""
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


def likely_roles(call: ToolCall) -> Mapping[str, ArgumentRole]:
    """Return the arguments that look like a command, an address or a path, by their names, else by their values."""
    found = {name: _role(name, value) for name, value in call.arguments.items() if isinstance(value, str)}
    return {name: role for name, role in found.items() if role is not None}


def declaration(call: ToolCall) -> tuple[str, ...]:
    """Return the lines of a table `[tool.NAME]` with the likely roles; empty if there are none."""
    roles = likely_roles(call)
    if not roles:
        return ()
    return (f"[tool.{_key(call.tool)}]", *(f"roles.{_key(name)} = {_value(role)}" for name, role in roles.items()))


def folder_declaration(call: ToolCall) -> tuple[str, ...]:
    """Return the lines to add where it is not known in which folder the tool of a server looks for relative paths."""
    return (f"[tool.{_key(call.tool)}]", 'folder = "."  # where its server looks for relative paths, such as "~/notes"')


def _role(name: str, value: str) -> ArgumentRole | None:
    by_name = (role for pattern, role in _NAMES if pattern.fullmatch(name))
    by_value = (role for pattern, role in _VALUES if pattern.fullmatch(value))
    return next(by_name, None) or next(by_value, None)


def _value(role: ArgumentRole) -> str:
    # Whether a path is read or written cannot be seen; a path that is written is judged more strictly.
    return f'"{role.value}"' + ("  # or read_path, delete_path" if role is ArgumentRole.WRITE_PATH else "")


def _key(name: str) -> str:
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return name if _BARE.fullmatch(name) else f'"{quoted}"'
