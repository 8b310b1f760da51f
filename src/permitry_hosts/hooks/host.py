"""What every host has: how its payload is read, and how each effect is written for it."""

import enum
import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from permitry.errors import CallError

__all__ = [
    "OR_BLOCK",
    "PATIENT",
    "Effect",
    "Event",
    "Host",
    "Kind",
    "Reply",
    "Settings",
    "Verb",
    "arguments_in",
    "optional",
    "returned",
    "text_in",
]


class Kind(enum.Enum):
    """What a host asks about, or reports."""

    BEFORE = "before a call"
    PERMISSION = "a permission that the host would ask the user for"
    AFTER = "after a call"
    PROMPT = "a message of the user"
    SETTINGS = "settings that a session is about to take over"


@attrs.frozen
class Event:
    """One payload of a host, in our words.

    `folder` is where the agent is now, `workspace` the folder of its project. `can_ask` says that the host asks a human
    when it is answered `ask`: where it would run the call, hang, or ignore the answer, it is false.
    """

    kind: Kind
    name: str = attrs.field(kw_only=True)
    """The event, as the host names it."""
    session: str = attrs.field(kw_only=True)
    tool: str = attrs.field(default="", kw_only=True)
    arguments: Mapping[str, Any] = attrs.field(factory=dict, kw_only=True)
    call_id: str | None = attrs.field(default=None, kw_only=True)
    server: str | None = attrs.field(default=None, kw_only=True)
    agent: str = attrs.field(default="main", kw_only=True)
    names: str | None = attrs.field(default=None, kw_only=True)
    """The host whose names the tools have, where it is another one."""
    folder: str = attrs.field(kw_only=True)
    workspace: str = attrs.field(kw_only=True)
    mode: str = attrs.field(default="default", kw_only=True)
    turn: str | None = attrs.field(default=None, kw_only=True)
    """Which message of the user made the agent do this, where the host says so."""
    text: str | None = attrs.field(default=None, kw_only=True, repr=False)
    """What the user wrote, or so the host says; None where it cannot be the user's."""
    result: Any = attrs.field(default=None, kw_only=True, repr=False)
    """What a call returned; None where it did not run well, or that is not known."""
    transcript: str | None = attrs.field(default=None, kw_only=True)
    """The file in which the host keeps the session."""
    changed: str | None = attrs.field(default=None, kw_only=True)
    """The file of settings that has changed."""
    is_attended: bool = attrs.field(default=False, kw_only=True)
    can_ask: bool = attrs.field(default=False, kw_only=True)


class Verb(enum.Enum):
    """What permitry says about a call. Silence leaves it to the host, and to the permissions that the user gave it."""

    SILENCE = "silence"
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@attrs.frozen
class Effect:
    """An answer, before it is written for a host; `text` is for the model, or for the human who is asked."""

    verb: Verb
    text: str = ""


@attrs.frozen
class Reply:
    """What the hook prints, and its exit code: 0, or 2, which blocks whatever the document says."""

    out: str = ""
    err: str = ""
    code: int = 0

    @classmethod
    def of(cls, document: Mapping[str, object]) -> "Reply":
        """Return the reply of one JSON document."""
        return cls(json.dumps(document))

    def refuse(self, text: str) -> "Reply":
        """Return a refusal that also holds where the shell of the host printed something before it.

        With exit code 0, Codex takes the document for a text then, and runs the call.
        """
        return attrs.evolve(self, err=text, code=2)


def _block(text: str) -> Reply:
    return Reply(err=text, code=2)


def _no_entries(_: str, __: int) -> Mapping[str, Any]:
    return {}


# A program that is killed, or cannot be started, has other exit codes, with which some hosts run
# the call; some do so with 2 as well where it comes without a word. A host may have any shell.
OR_BLOCK = " || /bin/sh -c 'echo permitry did not permit this >&2; exit 2' || exit 2"
"""What blocks a call where the hook cannot even be started."""
PATIENT = 300
"""The spare seconds where a host runs the call when they are over: the hook gives up first, also on a busy machine."""


@attrs.frozen
class Settings:
    """Where a host looks for hooks, below the home folder and below a project, and what is to be put there.

    Either `text` is a whole file for the words of a command, or `entries` are what a table `hooks` gets, by event,
    in a JSON document that has at least `frame`; both are given the seconds after which the host waits no longer.
    The shell of the host does what `or_block` says where the command of `entries` fails.
    `reports` are the entries for what is only reported: their command never blocks.
    `note` says what else the user has to know. `switches` are keys of the document, in dotted form, with the value that
    switches hooks off, or that does so in a list; `elsewhere` has such keys of other files, named from the same folder.
    `programs` are keys of the document that name programs, which the host starts by itself.
    `pinned` is a command that starts the host so that no project switches hooks off, `managed` the file of a machine
    that does so, by platform. `is_inherited` says that the settings of the folders above count as well.
    `protected` are patterns of all files by which an agent could take the hook away: the shipped rule
    `protect-agent-hooks` has those of each host.
    No hook may take more than `longest` seconds, whatever the settings say; the host waits `spare` seconds longer than
    its hook may take.
    """

    user: str
    project: str
    entries: Callable[[str, int], Mapping[str, Any]] = _no_entries
    reports: Callable[[str, int], Mapping[str, Any]] = _no_entries
    or_block: str = attrs.field(default=OR_BLOCK, kw_only=True)
    frame: Mapping[str, Any] = attrs.field(factory=dict)
    text: Callable[[Sequence[str], int], str] | None = None
    is_program: bool = False
    note: str = ""
    switches: Sequence[tuple[str, object]] = ()
    elsewhere: Mapping[str, Sequence[tuple[str, object]]] = attrs.field(factory=dict)
    programs: frozenset[str] = frozenset()
    pinned: str = ""
    managed: Mapping[str, str] = attrs.field(factory=dict)
    protected: Sequence[str] = attrs.field()
    is_inherited: bool = False
    longest: float = math.inf
    spare: int = 10

    @protected.default
    def _protect_both(self) -> Sequence[str]:
        return tuple(dict.fromkeys((f"/**/{self.project}", f"/**/{self.user}")))

    @property
    def folder(self) -> str:
        """The folder of the host below the home folder, which it makes when it is started for the first time."""
        first, second, *_ = Path(self.user).parts
        return f"{first}/{second}" if first == ".config" else first


@attrs.frozen
class Host:
    """A coding agent. `wrote` recognizes its payloads, `read` raises `CallError` for one that it cannot read.

    `fail` is the reply that blocks the call when nothing is known about it; `rules` is the set for its calls.
    `joint` is what it writes between server and tool, where names may hold that as well. `folders` are the arguments of
    its own tools that name a folder: it ignores all others.

    `hears` has the kinds of reports that count: what the user wrote, and what calls returned. Where others' texts are
    reported in the same way, `proven` returns turn and text of what the user wrote, as known when a call is made.

    `sample` returns a payload as the host writes one before its shell runs a command: for command, folder and session.
    `takes_permissions` says that it runs a call unasked when the hook allows it, and `asks` that it can ask its user.
    `unseen` are tools whose calls reach no hook. `program` is how it is started where that is not its name,
    and `least` its first version that can block a call whose hook has crashed.
    """

    name: str
    wrote: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any], Mapping[str, str]], Event]
    write: Callable[[Effect, Event], Reply]
    sample: Callable[[str, str, str], Mapping[str, Any]]
    settings: Settings
    fail: Callable[[str], Reply] = _block
    rules: str = "permitry:hooks"
    joint: str = ""
    folders: frozenset[str] = frozenset({"path"})
    hears: frozenset[Kind] = frozenset()
    proven: Callable[[Event], Collection[tuple[str, str]]] | None = None
    takes_permissions: bool = True
    asks: bool = False
    unseen: frozenset[str] = frozenset()
    program: str = ""
    least: tuple[int, int, int] = (0, 0, 0)

    def servers(self, name: str) -> Iterator[tuple[str, str]]:
        """Yield each server and tool that the name of a call may mean."""
        if self.joint:
            cuts = (at for at, sign in enumerate(name) if sign == self.joint and 0 < at < len(name) - 1)
            yield from ((name[:at], name[at + 1 :]) for at in cuts)

    def shipped(self, event: Event) -> tuple[str, str]:
        """Return the shipped sets in force where no other rules are named: rules, and the tools of the host."""
        return self.rules, f"permitry:tools-{event.names or self.name}"


def text_in(payload: Mapping[str, Any], key: str) -> str:
    """Return a text that must be there.

    Raises: `CallError`.
    """
    value = payload.get(key)
    if not isinstance(value, str) or not value:
        raise CallError(f"the payload has no text `{key}`")
    return value


def optional(payload: Mapping[str, Any], key: str) -> str | None:
    """Return a text, or None where it is absent or empty.

    Raises: `CallError` for anything else.
    """
    return text_in(payload, key) if payload.get(key) not in (None, "") else None


def arguments_in(payload: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the arguments of a call.

    Raises: `CallError`.
    """
    value = payload.get(key)
    if not isinstance(value, Mapping):
        raise CallError(f"the payload has no object `{key}`")
    return value


def returned(value: object) -> object:
    """Return the result of a call: of blocks that are all texts, as servers give them, the text; None for an error."""
    if isinstance(value, Mapping) and value.get("isError") is True:
        return None
    blocks: object = value
    if isinstance(value, Mapping) and {"content"} <= value.keys() <= {"content", "isError"}:
        blocks = value["content"]
    if not isinstance(blocks, list) or not blocks:
        return value
    texts = [_text(each) for each in blocks]
    return value if None in texts else "\n".join(map(str, texts))


def _text(block: object) -> str | None:
    """Return the text of a block of text, and None for any other."""
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case _:
            return None
