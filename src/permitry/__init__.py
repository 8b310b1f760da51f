"""permitry decides, before a tool call of an LLM agent runs, whether it may run: allow, confirm or block.

>>> from permitry import AuthContext, ToolCall, create_default_authorization_policy
>>> policy = create_default_authorization_policy()
>>> policy.decide(ToolCall("write_file", {"path": "a.txt"}), AuthContext(is_plan_mode=True)).verdict.value
'block'
"""

import importlib

# The name is known to type checkers; `typing` itself takes longer to import than all that is done here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from permitry.config.default import create_default_authorization_policy as create_default_authorization_policy
    from permitry.config.load import load_policy as load_policy
    from permitry.config.load import load_rules as load_rules
    from permitry.config.reload import PolicyReloader as PolicyReloader
    from permitry.config.ruleset import RuleSet as RuleSet
    from permitry.confirm.channel import CallbackChannel as CallbackChannel
    from permitry.confirm.notifier import ToolRejectionNotifier as ToolRejectionNotifier
    from permitry.confirm.request import ConfirmationRequestFactory as ConfirmationRequestFactory
    from permitry.confirm.request import ToolConfirmationRequest as ToolConfirmationRequest
    from permitry.confirm.response import ToolConfirmationResponse as ToolConfirmationResponse
    from permitry.core.call import PayloadKind as PayloadKind
    from permitry.core.call import ToolCall as ToolCall
    from permitry.core.context import AuthContext as AuthContext
    from permitry.core.decision import Decision as Decision
    from permitry.core.decision import Phase as Phase
    from permitry.core.decision import Verdict as Verdict
    from permitry.core.explanation import Explanation as Explanation
    from permitry.core.policy import AuthorizationPolicy as AuthorizationPolicy
    from permitry.core.result import MediaPart as MediaPart
    from permitry.core.result import ToolResult as ToolResult
    from permitry.core.rule import AuthorizationRule as AuthorizationRule
    from permitry.core.rule import Question as Question
    from permitry.core.rule import Request as Request
    from permitry.core.spec import ArgumentRole as ArgumentRole
    from permitry.core.spec import ToolSpec as ToolSpec
    from permitry.core.spec import ToolTraits as ToolTraits
    from permitry.core.template import Template as Template
    from permitry.dispatch.discovery import ToolPlugin as ToolPlugin
    from permitry.dispatch.events import ToolEvent as ToolEvent
    from permitry.dispatch.events import ToolEventKind as ToolEventKind
    from permitry.dispatch.registry import ToolRegistry as ToolRegistry
    from permitry.dispatch.scope import CallScope as CallScope
    from permitry.errors import ConfigError as ConfigError
    from permitry.errors import PermitryError as PermitryError
    from permitry.guard import Guard as Guard
    from permitry.guards import Guards as Guards
    from permitry.handler import Blocked as Blocked
    from permitry.handler import Pending as Pending
    from permitry.handler import Ready as Ready
    from permitry.handler import ToolHandler as ToolHandler
    from permitry.messages.text import TextCallStream as TextCallStream
    from permitry.messages.text import parse_text as parse_text
    from permitry.outcome import Ask as Ask
    from permitry.outcome import Permit as Permit
    from permitry.outcome import Refusal as Refusal
    from permitry.outcome import Silence as Silence
    from permitry.session import Session as Session
    from permitry.testing import AuthContextBuilder as AuthContextBuilder

# Names are loaded on first use (PEP 562): `import permitry` itself costs next to nothing.
_HOMES = {
    "ArgumentRole": "core.spec",
    "Ask": "outcome",
    "AuthContext": "core.context",
    "AuthContextBuilder": "testing",
    "AuthorizationPolicy": "core.policy",
    "AuthorizationRule": "core.rule",
    "Blocked": "handler",
    "CallScope": "dispatch.scope",
    "CallbackChannel": "confirm.channel",
    "ConfigError": "errors",
    "ConfirmationRequestFactory": "confirm.request",
    "Decision": "core.decision",
    "Explanation": "core.explanation",
    "Guard": "guard",
    "Guards": "guards",
    "MediaPart": "core.result",
    "PayloadKind": "core.call",
    "Pending": "handler",
    "PermitryError": "errors",
    "Permit": "outcome",
    "Phase": "core.decision",
    "PolicyReloader": "config.reload",
    "Question": "core.rule",
    "Request": "core.rule",
    "Ready": "handler",
    "Refusal": "outcome",
    "RuleSet": "config.ruleset",
    "Session": "session",
    "Silence": "outcome",
    "Template": "core.template",
    "TextCallStream": "messages.text",
    "ToolCall": "core.call",
    "ToolConfirmationRequest": "confirm.request",
    "ToolConfirmationResponse": "confirm.response",
    "ToolHandler": "handler",
    "ToolEvent": "dispatch.events",
    "ToolEventKind": "dispatch.events",
    "ToolPlugin": "dispatch.discovery",
    "ToolRegistry": "dispatch.registry",
    "ToolRejectionNotifier": "confirm.notifier",
    "ToolResult": "core.result",
    "ToolSpec": "core.spec",
    "ToolTraits": "core.spec",
    "Verdict": "core.decision",
    "create_default_authorization_policy": "config.default",
    "load_policy": "config.load",
    "load_rules": "config.load",
    "parse_text": "messages.text",
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
