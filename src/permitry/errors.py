"""Every exception permitry raises.

::

    PermitryError
    ├── CallError            (ValueError)   a tool call that is not valid: bad name, bad JSON, too deep, too large
    ├── ConfigError          (ValueError)   rule files that cannot be used; carries every problem with its place
    ├── RuleError            (ValueError)   a rule that cannot be part of a policy (a bad rule, not a failing one)
    ├── UnevaluableError                    a condition of a rule that this call gives no answer to
    ├── RegistryError                       misuse of the tool registry
    │   ├── UnknownToolError (LookupError)  no tool of that name
    │   └── ReplayError                     an authorization that was not created here, or was already used
    ├── LedgerError                         an answer without a question: unknown or already used
    │   ├── LateAnswerError                 an answer past the deadline of its question
    │   └── FullLedgerError                 too many questions are open to ask one more
    ├── ChannelError                        a question that could not be put to a human, or an answer not to be trusted
    ├── ForgottenSessionError (LookupError) a session of which too much was forgotten to go on with it
    ├── AuditError                          the record cannot be written
    ├── StoreError                          a store cannot be opened, read or written
    ├── UndoError                           what a call changes cannot be kept, or cannot be brought back
    ├── AdapterError                        a host or framework did something an adapter cannot carry
    ├── GoldenMismatchError                 a golden case that does not hold
    ├── CallBlockedError                    a call that does not run, for hosts that want an exception
    └── ToolError                           a tool's failure, shown to the model
        ├── UnavailableError                what a tool needs is not there, whatever the call
        └── FatalToolError                  a tool's failure that ends the run

A block is a `Decision`, not an exception: `CallBlockedError` is raised only by `permitry_hosts.adapters.plain`.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

__all__ = [
    "AdapterError",
    "AuditError",
    "CallBlockedError",
    "CallError",
    "ChannelError",
    "ConfigError",
    "FatalToolError",
    "ForgottenSessionError",
    "FullLedgerError",
    "GoldenMismatchError",
    "LateAnswerError",
    "LedgerError",
    "PermitryError",
    "Problem",
    "RegistryError",
    "ReplayError",
    "RuleError",
    "StoreError",
    "ToolError",
    "UnavailableError",
    "UndoError",
    "UnevaluableError",
    "UnknownToolError",
]


class PermitryError(Exception):
    """The root of everything permitry raises on purpose."""


class CallError(PermitryError, ValueError):
    """A tool call that cannot be decided on because it is not valid."""


class Problem(NamedTuple):
    """One mistake in a configuration file: where it is, what it is, and the way out.

    Lines and columns are 1-based, and 0 where the problem is the file itself; `span` is the number of characters to
    underline; `text` is the line itself.
    """

    path: str
    line: int
    column: int
    span: int
    message: str
    hint: str = ""
    text: str = ""

    def __str__(self) -> str:
        """Return the problem with its source line, a caret line, and the hint."""
        place = f"{self.path}:{self.line}:{self.column}" if self.line else self.path
        lines = [_one_line(f"{place}: {self.message}")]
        if self.text:
            gutter = f"{self.line:>5} | "
            lines += [gutter + _one_line(self.text), " " * (len(gutter) + self.column - 1) + "^" * max(1, self.span)]
        if self.hint:
            lines.append(_one_line(f"      hint: {self.hint}"))
        return "\n".join(lines)


def _one_line(text: str) -> str:
    """Return `text` with every blank a space and every other invisible character marked; no column moves."""
    return "".join(char if char.isprintable() else " " if char.isspace() else "\ufffd" for char in text)


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: `1 rule`, `3 rules`."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def safe_str(thing: object, show: Callable[[object], str] = str) -> str:
    """Return `show(thing)`, or its class where even that fails: what foreign code hands over may be anything."""
    try:
        return show(thing)
    except Exception:  # noqa: BLE001 -- an error that cannot be shown is still an error
        return f"a {type(thing).__name__} that cannot be shown"


class ConfigError(PermitryError, ValueError):
    """Configuration that cannot be used. All problems of all files are collected before it is raised."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        """Return every problem, in the order of the files and lines."""
        return "\n".join([*map(str, self.problems), count(len(self.problems), "problem")])


class RuleError(PermitryError, ValueError):
    """A rule that cannot be part of a policy: no priority, a wrong band, a duplicate id."""


class UnevaluableError(PermitryError):
    """A condition that cannot be evaluated for this call: an argument is missing or of the wrong type."""


class RegistryError(PermitryError):
    """The tool registry was used in a way it does not allow."""


class UnknownToolError(RegistryError, LookupError):
    """No tool of that name is registered."""


class ReplayError(RegistryError):
    """An `AuthorizedCall` that was not created for this registry, or was already used."""


class LedgerError(PermitryError):
    """An answer that fits no open question: unknown, already answered, or late."""


class LateAnswerError(LedgerError):
    """An answer past its deadline; `pending` is what was asked, closed by now."""

    def __init__(self, message: str, pending: Any) -> None:  # noqa: ANN401 -- a type of a higher ring
        self.pending = pending
        super().__init__(message, pending)

    def __str__(self) -> str:
        return str(self.args[0])


class FullLedgerError(LedgerError):
    """Too many questions are open to ask one more."""


class ChannelError(PermitryError):
    """A question that could not be put to a human, or an answer to it that cannot be trusted: the call is blocked."""


class ForgottenSessionError(PermitryError, LookupError):
    """A session whose guard was dropped for others; its calls are refused."""


class AuditError(PermitryError):
    """The record could not be written; nothing runs without a record."""


class StoreError(PermitryError):
    """A store cannot be opened, read or written."""


class UndoError(PermitryError):
    """What a call changes cannot be kept, so that it could not be undone, or cannot be brought back."""


class AdapterError(PermitryError):
    """A host or framework did something its adapter cannot carry."""


class GoldenMismatchError(PermitryError):
    """A golden case that does not hold."""


class CallBlockedError(PermitryError):
    """A call that does not run, for hosts that want an exception: its text is for the model, `decision` is in full.

    `decision` is None for what is not a call.
    """

    def __init__(self, text: str, decision: object = None) -> None:
        self.decision = decision
        super().__init__(text, decision)

    def __str__(self) -> str:
        return str(self.args[0])


class ToolError(PermitryError):
    """A failure of a tool that the model may read and act on."""


class UnavailableError(ToolError):
    """What a tool needs is not there, such as a service that was not configured: no other arguments would help."""


class FatalToolError(ToolError):
    """A failure of a tool after which the run cannot go on."""
