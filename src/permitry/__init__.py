"""permitry decides, before a tool call of an LLM agent runs, whether it may run: allow, confirm or block.

::

    model output ── messages/ ──> ToolCall ──> ToolHandler.handle                        handler.py
                                                 │ Guard                                 guard/
                                                 │   AuthContext, which never changes    core/context.py
                                                 │   AuthorizationPolicy.decide          core/policy.py
                                                 │     overrides     present-plan 0      rules/present_plan.py
                                                 │     restrictions  plan-mode 100       rules/plan_mode.py
                                                 │     permissions   read-only 200       rules/read_only.py
                                                 │                   template 210        rules/template.py
                                                 │                   yolo 300            rules/yolo.py
                                                 │                   ignore-list 310     rules/ignore_list.py
                                                 │     and those of files, in each       rules/configured.py
                                                 │   grants, and budgets that are shared guard/stages/
                                                 │   what is changed is kept first       undo/
                                                 │   the record, before anything runs    store/  audit/
        BLOCK   ──> ToolRejectionNotifier ──> the model: why, and what to do instead     channels/
        CONFIRM ──> ConfirmationRequestFactory ──> a human: yes or no to this one call   channels/
        ALLOW   ──> AuthorizedCall ──> ToolRegistry.dispatch ──> ToolResult              dispatch/

>>> from permitry import AuthContext, ToolCall, create_default_authorization_policy
>>> policy = create_default_authorization_policy()
>>> policy.decide(ToolCall("write_file", {"path": "a.txt"}), AuthContext(is_plan_mode=True)).verdict.value
'block'
"""

import importlib

# The name is known to type checkers; `typing` itself takes longer to import than all that is done here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    # decide
    from permitry.config.default import create_default_authorization_policy as create_default_authorization_policy
    from permitry.core.call import PayloadKind as PayloadKind
    from permitry.core.call import ToolCall as ToolCall
    from permitry.core.context import AuthContext as AuthContext
    from permitry.core.decision import Decision as Decision
    from permitry.core.decision import Phase as Phase
    from permitry.core.decision import Verdict as Verdict
    from permitry.core.explanation import Explanation as Explanation
    from permitry.core.policy import AuthorizationPolicy as AuthorizationPolicy
    from permitry.core.spec import ArgumentRole as ArgumentRole
    from permitry.core.spec import ToolSpec as ToolSpec
    from permitry.core.spec import ToolTraits as ToolTraits
    from permitry.core.template import Template as Template
    from permitry.testing import AuthContextBuilder as AuthContextBuilder

    # isort: split
    # rules
    from permitry.config.load import load_policy as load_policy
    from permitry.config.load import load_rules as load_rules
    from permitry.config.reload import PolicyReloader as PolicyReloader
    from permitry.config.ruleset import RuleSet as RuleSet
    from permitry.core.rule import AuthorizationRule as AuthorizationRule
    from permitry.core.rule import Question as Question
    from permitry.core.rule import Request as Request

    # isort: split
    # ask
    from permitry.channels.channel import AsyncCallbackChannel as AsyncCallbackChannel
    from permitry.channels.channel import CallbackChannel as CallbackChannel
    from permitry.channels.notifier import ToolRejectionNotifier as ToolRejectionNotifier
    from permitry.channels.request import ConfirmationRequestFactory as ConfirmationRequestFactory
    from permitry.channels.request import ToolConfirmationRequest as ToolConfirmationRequest
    from permitry.channels.response import Approve as Approve
    from permitry.channels.response import Deny as Deny
    from permitry.channels.response import Respond as Respond
    from permitry.channels.response import ToolConfirmationResponse as ToolConfirmationResponse

    # isort: split
    # run
    from permitry.core.result import MediaPart as MediaPart
    from permitry.core.result import ToolResult as ToolResult
    from permitry.dispatch.discovery import ToolPlugin as ToolPlugin
    from permitry.dispatch.registry import ToolRegistry as ToolRegistry
    from permitry.dispatch.scope import CallScope as CallScope
    from permitry.handler import Blocked as Blocked
    from permitry.handler import Pending as Pending
    from permitry.handler import Ready as Ready
    from permitry.handler import ToolHandler as ToolHandler
    from permitry.messages.text import TextCallStream as TextCallStream
    from permitry.messages.text import parse_text as parse_text

    # isort: split
    # record
    from permitry.dispatch.events import ToolEvent as ToolEvent
    from permitry.dispatch.events import ToolEventKind as ToolEventKind
    from permitry.errors import ConfigError as ConfigError
    from permitry.errors import PermitryError as PermitryError
    from permitry.guard.guard import Guard as Guard
    from permitry.guard.guards import Guards as Guards
    from permitry.guard.outcome import Ask as Ask
    from permitry.guard.outcome import Permit as Permit
    from permitry.guard.outcome import Refusal as Refusal
    from permitry.guard.outcome import Silence as Silence
    from permitry.guard.session import Session as Session

# Names are loaded on first use (PEP 562): `import permitry` itself costs next to nothing.
_HOMES = {
    # decide: whether a call may run
    "AuthContext": "core.context",
    "AuthorizationPolicy": "core.policy",
    "ToolCall": "core.call",
    "PayloadKind": "core.call",
    "ToolSpec": "core.spec",
    "ToolTraits": "core.spec",
    "ArgumentRole": "core.spec",
    "Template": "core.template",
    "Decision": "core.decision",
    "Phase": "core.decision",
    "Verdict": "core.decision",
    "Explanation": "core.explanation",
    "create_default_authorization_policy": "config.default",
    "AuthContextBuilder": "testing",
    # rules: from files, and of your own
    "load_policy": "config.load",
    "load_rules": "config.load",
    "RuleSet": "config.ruleset",
    "PolicyReloader": "config.reload",
    "AuthorizationRule": "core.rule",
    "Request": "core.rule",
    "Question": "core.rule",
    # ask: a human, and tell the model
    "AsyncCallbackChannel": "channels.channel",
    "CallbackChannel": "channels.channel",
    "ConfirmationRequestFactory": "channels.request",
    "ToolConfirmationRequest": "channels.request",
    "Approve": "channels.response",
    "Deny": "channels.response",
    "Respond": "channels.response",
    "ToolConfirmationResponse": "channels.response",
    "ToolRejectionNotifier": "channels.notifier",
    # run: what is allowed, and nothing else
    "ToolHandler": "handler",
    "Ready": "handler",
    "Pending": "handler",
    "Blocked": "handler",
    "ToolRegistry": "dispatch.registry",
    "ToolPlugin": "dispatch.discovery",
    "CallScope": "dispatch.scope",
    "ToolResult": "core.result",
    "MediaPart": "core.result",
    "parse_text": "messages.text",
    "TextCallStream": "messages.text",
    # record: what was decided and what came of it; the parts that hosts and adapters share
    "Session": "guard.session",
    "Guard": "guard.guard",
    "Guards": "guard.guards",
    "Ask": "guard.outcome",
    "Permit": "guard.outcome",
    "Refusal": "guard.outcome",
    "Silence": "guard.outcome",
    "ToolEvent": "dispatch.events",
    "ToolEventKind": "dispatch.events",
    "PermitryError": "errors",
    "ConfigError": "errors",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605 -- one table says it all


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__]
