"""The mutable state of one agent session, from which every context is read."""

import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable

import attrs

from permitry.conditions.provenance.provenance import Heard, Provenance
from permitry.core.call import ToolCall
from permitry.core.context import MODES, misspelt_mode
from permitry.core.history import Bounds, History, Log, Ran
from permitry.core.shared import SharedLimits, SideEffects
from permitry.core.source import Lists, RuleSource, lists_of
from permitry.core.template import Template

__all__ = ["Session"]

_NO_LABELS = frozenset[str]()


def _new_id() -> str:
    return secrets.token_hex(8)


def _check_workspace(_: object, __: object, value: str | None) -> None:
    # Rules on paths would permit nothing under any other one, and not say why.
    workspace: object = value
    if workspace is not None and not (isinstance(workspace, str) and workspace.startswith("/")):
        raise ValueError(f"`workspace` must be an absolute path, not {workspace!r}; write str(Path(...).resolve())")


@attrs.define
class Session:
    """What changes while an agent works: modes, ignore list, template, labels, and what ran.

    A handler reads an `AuthContext` from it for every question, so a change counts from the next call on.
    `messages` collects what the host must show the model (see `ToolHandler.process_confirmation`). `clock` gives
    seconds. The session of a sub-agent has the one of its parent: see `child`.

    Raises: `ValueError` for a `mode` as in `switch_mode`, and for a workspace that is not an absolute path.
    """

    is_plan_mode: bool = False
    yolo_mode: bool = False
    tool_ignore_list: list[str] = attrs.field(factory=list)
    active_template: Template | None = None
    _word: str = attrs.field(default="default", kw_only=True, alias="mode")
    agent: str = attrs.field(default="main", kw_only=True)
    workspace: str | None = attrs.field(default=None, kw_only=True, validator=_check_workspace)
    attended: bool = attrs.field(default=True, kw_only=True)
    counts: Counter[str] = attrs.field(factory=Counter, kw_only=True)
    labels: set[str] = attrs.field(factory=set, kw_only=True)
    messages: list[str] = attrs.field(factory=list, kw_only=True)
    clock: Callable[[], float] = attrs.field(default=time.time, kw_only=True, repr=False)
    parent: "Session | None" = attrs.field(default=None, kw_only=True)
    rules: RuleSource | None = attrs.field(default=None, kw_only=True, repr=False)
    """Rules that count besides those of the policy, for the calls of this session and of its sub-agents."""
    lists: Lists | None = attrs.field(default=None, kw_only=True, repr=False, converter=lists_of)
    """Values by name, which are added to the named lists in the rules; a list that no rule uses is an error."""
    shared: SharedLimits | None = attrs.field(default=None, kw_only=True, repr=False, eq=False)
    """Where the budgets of its principal and organisation are counted, also for its sub-agents: see `counters_at`."""
    id: str = attrs.field(factory=_new_id, kw_only=True, repr=False, eq=False, on_setattr=attrs.setters.frozen)
    """Like that of no other session, those of sub-agents included: whose calls and questions are meant.

    Give it to go on with the questions of a session whose process has ended.
    """
    _turn: str = attrs.field(default="", kw_only=True, repr=False, eq=False)
    _of_turn: tuple[RuleSource | None, RuleSource | None] = attrs.field(
        default=(None, None), init=False, repr=False, eq=False
    )
    lock: threading.RLock = attrs.field(factory=threading.RLock, init=False, repr=False, eq=False)
    """Held while a call is decided and noted, as no two are decided on the same budget."""
    bounds: Bounds = attrs.field(factory=Bounds, kw_only=True, repr=False)
    """How much of the past is remembered."""
    _modes_met: set[str] = attrs.field(factory=lambda: {"default"}, init=False, repr=False, eq=False)
    _log: Log = attrs.field(init=False, repr=False, eq=lambda log: log.history)
    _heard: Heard = attrs.field(init=False, repr=False, eq=lambda heard: heard.provenance)

    def __attrs_post_init__(self) -> None:
        self._log = Log(self.bounds, threading.Lock())
        self._heard = Heard(self.bounds, threading.Lock())
        _check_mode(self._word)
        self.is_plan_mode = self.is_plan_mode or self._word == "plan"
        self.yolo_mode = self.yolo_mode or self._word == "yolo"
        self._word = _host_word(self._word)

    @property
    def host_mode(self) -> str:
        """The word of the host for its mode; `default` when it has none of its own."""
        return self._word

    @property
    def mode(self) -> str:
        """The mode in force: `plan` while its flag is set, then the word of the host, then `yolo` or `default`."""
        if self.is_plan_mode:
            return "plan"
        return "yolo" if self.yolo_mode and self._word == "default" else self._word

    def switch_mode(self, mode: str) -> None:
        """Enter `plan`, `yolo`, `default`, or a mode of the host; plan and YOLO are left by entering another.

        Raises: `ValueError` for what is not a word, and for `Plan` and its like; then the mode stays as it is.
        """
        _check_mode(mode)
        # INVARIANT: the flags alone say plan and yolo, so that clearing a flag always leaves the mode.
        self.is_plan_mode = mode == "plan"
        self.yolo_mode = mode == "yolo"
        self._word = _host_word(mode)

    def meet_mode(self) -> bool:
        """Return whether the host's word for its mode is another than at each call before."""
        is_new = self._word not in self._modes_met
        if is_new:
            self._modes_met.add(self._word)
        return is_new

    def ignore(self, tool: str) -> None:
        """Do not ask about `tool` again in this session."""
        if tool not in self.tool_ignore_list:
            self.tool_ignore_list.append(tool)

    @property
    def now(self) -> float:
        """The time in seconds."""
        return self.clock()

    @property
    def turn(self) -> str:
        """An id of what the user wrote last, the same for all sub-agents; empty if unknown."""
        if self.parent is None:
            return self._turn
        return self.parent.turn

    def begin_turn(self, turn: str | None = None) -> None:
        """Note that the user has written again: what is granted for the request before ends.

        `turn` is the id that the host has for what the user wrote, empty if that is not known; otherwise it gets one.
        """
        self._turn = _new_id() if turn is None else turn
        ending, lasting = self._of_turn
        # Other rules that were set meanwhile stay.
        if ending is not None and self.rules is ending:
            self.rules = lasting
        self._of_turn = (None, None)

    def permit_for_turn(self, rules: RuleSource, lasting: RuleSource | None) -> None:
        """Let these rules count until the user writes again, and then those that last."""
        self.rules, self._of_turn = rules, (rules, lasting)

    @property
    def history(self) -> History:
        """The calls that were let run so far, those of the whole family of agents."""
        return History(self._log, self._log.length)

    @property
    def provenance(self) -> Provenance:
        """Where values were seen so far, by the whole family of agents."""
        return self._heard.provenance

    def heard(self, text: str, *, turn: str | None = None) -> None:
        """Keep a message that the user wrote; never one of a tool, a file or a page. It begins a turn: see there.

        Those of a sub-agent are not kept, as it is another agent that writes to it.
        """
        if self.parent is None:
            self.begin_turn(turn)
            self._heard.hear(text)
        else:
            self._heard.miss()

    def missed(self) -> None:
        """Note that there may be a message of the user that is not known here."""
        self._heard.miss()

    def returned(self, call: ToolCall, result: object) -> None:
        """Keep the result of a call that ran: a JSON value, or a text."""
        heard = self._heard
        # Most sessions have no labels.
        labels = heard.labels.get(call.digest, _NO_LABELS) if heard.labels else _NO_LABELS
        heard.keep(call.tool, call.arguments, result, len(call.canonical), labels=labels)

    def apply(self, call: ToolCall, effects: SideEffects) -> None:
        """Count a call that may run, and apply its labels and its entries for budgets."""
        tool = call.tool
        self.counts[tool] += 1
        if effects.labels:
            self.labels |= effects.labels
            self._heard.label(call.digest, effects.labels)
        self._log.add(Ran(self.clock(), tool, self.agent, call.digest, effects.rules, effects.targets))

    def recall(self, ran: Ran, labels: frozenset[str]) -> None:
        """Note a call that another process of this session let run, and the labels that there were then."""
        self.counts[ran.tool] += 1
        self.labels |= labels
        if not self.provenance.messages:
            # INVARIANT: law 4. There was a message that made it run.
            self._heard.miss()
        self._log.add(ran)

    def child(self, agent: str, *, id: str | None = None) -> "Session":  # noqa: A002 -- the name of the field
        """Return the session of a sub-agent: it starts with these modes, and is never allowed more.

        Labels, history, lock and what was heard are one for the whole family: what one has read, the others have read
        through it.
        """
        child: Session = attrs.evolve(
            self,
            tool_ignore_list=list(self.tool_ignore_list),
            agent=agent,
            counts=Counter(),
            messages=[],
            parent=self,
            id=_new_id() if id is None else id,
        )
        child._log = self._log
        child._heard = self._heard
        child.lock = self.lock
        return child


def _check_mode(mode: object) -> None:
    if not isinstance(mode, str) or not mode.strip():
        raise ValueError(f"a mode is a word such as plan, yolo or default, not {mode!r}")
    # Another case, a blank or a slip would be another mode, and a session without plan mode.
    word = misspelt_mode(mode.strip().casefold()) or mode.strip().casefold()
    if word in MODES and mode != word:
        raise ValueError(f"unknown mode {mode!r}; did you mean `{word}`?")


def _host_word(mode: str) -> str:
    return "default" if mode in ("plan", "yolo") else mode
