"""Does an adapter keep what its guard says? The same cases for every host, whose model makes the calls of a case.

::

    @pytest.mark.parametrize("case", conformance.CASES, ids=str)
    def test_the_host_keeps_the_rules(case):
        conformance.check(case, MyHost())
"""

import contextlib
import functools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import attrs

from permitry.audit.recorder import MemoryRecorder
from permitry.channels.channel import CallbackChannel
from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request
from permitry.errors import AuditError
from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.guard.outcome import Permit

__all__ = ["CASES", "Case", "Host", "Made", "Progress", "Tools", "check"]

_RULES = """
schema = 1
[[rule]]
id = "secrets"
effect = "block"
tools = ["*"]
when.text = { contains = "secret" }
message = "Secrets are off limits."
[[rule]]
id = "look"
effect = "allow"
tools = ["look"]
"""
_ALLOWS_WRITE = f'{_RULES}[[rule]]\nid = "write"\neffect = "allow"\ntools = ["write"]\n'
_YES = ToolConfirmationResponse(approved=True)
_STOP = ToolConfirmationResponse(approved=True, abort=True)
_NO = ToolConfirmationResponse(approved=False, instructions="Leave the file alone.")


@attrs.frozen
class Made:
    """A call as the model makes it: `look`, `write`, or a tool that does not exist, with a `path`.

    `text` replaces the arguments where the model writes something else than JSON.
    """

    tool: str
    path: str
    call_id: str = "c1"
    text: str | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments: the path."""
        return {"path": self.path}

    @property
    def json(self) -> str:
        """The arguments as the model writes them."""
        return json.dumps(self.arguments) if self.text is None else self.text


@attrs.define
class Tools:
    """The tools of a case, `look` and `write`: what they were run with, in order.

    `started` are the runs whose start is in the record by now; `early` those that began before theirs was.
    """

    ran: list[tuple[str, str]] = attrs.field(factory=list)
    started: Sequence[tuple[str, str]] = attrs.field(default=(), kw_only=True)
    early: list[tuple[str, str]] = attrs.field(factory=list, init=False)

    def look(self, path: str) -> str:
        """Show a file."""
        self._run("look", path)
        return f"looked at {path}"

    def write(self, path: str) -> str:
        """Write a file."""
        self._run("write", path)
        return f"wrote {path}"

    def _run(self, tool: str, path: str) -> None:
        if self.started.count((tool, path)) <= self.ran.count((tool, path)):
            self.early.append((tool, path))
        self.ran.append((tool, path))


@attrs.frozen
class Progress:
    """What the model was shown, the paths that a human is asked about, and how the host goes on."""

    shown: tuple[str, ...]
    asked: tuple[str, ...] = ()
    state: Any = None


class Host(Protocol):
    """A framework behind its adapter, with a model that makes the given calls and then ends."""

    @property
    def capabilities(self) -> Capabilities:
        """What the adapter says of itself."""
        ...

    def run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> Progress:
        """Let the model make all calls in one message, and carry on until the end, or until a human is asked."""
        ...

    def resume(
        self, guard: Guard, tools: Tools, progress: Progress, answers: Mapping[str, ToolConfirmationResponse]
    ) -> Progress:
        """Go on with the answers to the questions that were asked, by path. Only for hosts that suspend."""
        ...


@attrs.frozen
class Case:
    """Calls of a model, answers of a human, and what must have run and been shown at the end.

    `answers` are by path; to any other question the answer is no. `meanwhile` are the rules that come into force while
    the human thinks; with `restarts`, the answers come to a new guard. With `is_unrecorded`, no start of a run can be
    recorded, and the host may fail. `needs` says whether a host can be asked this case at all.
    """

    name: str
    calls: tuple[Made, ...]
    ran: tuple[tuple[str, str], ...]
    shown: tuple[str, ...] = ()
    answers: Mapping[str, ToolConfirmationResponse] = attrs.field(factory=dict)
    policy: AuthorizationPolicy = attrs.field(factory=lambda: load_policy(_RULES), repr=False)
    meanwhile: str | None = attrs.field(default=None, repr=False)
    restarts: bool = False
    is_unrecorded: bool = False
    needs: Callable[[Capabilities], bool] = attrs.field(default=lambda _: True, repr=False)

    def __str__(self) -> str:
        return self.name


@attrs.frozen
class _Crashes:
    """A restriction that cannot be evaluated, so that it counts as matched."""

    id: str = "crashes"
    effect: Verdict = Verdict.BLOCK
    reason: str = ""
    message: str | None = "A rule failed."
    source: str | None = None

    def priority(self) -> int:
        """Return the default of a block."""
        return 150

    def matches(self, request: Request) -> bool:
        """Fail."""
        raise ZeroDivisionError(request.call.tool)

    def near_miss(self, _: Request) -> str | None:
        """Return None."""


def _edit(path: str) -> ToolConfirmationResponse:
    return ToolConfirmationResponse(approved=True, arguments={"path": path})


def _asks(host: Capabilities) -> bool:
    return host.asks != "refuse"


def _edits(host: Capabilities) -> bool:
    return _asks(host) and host.edits


def _sees_text(host: Capabilities) -> bool:
    return host.sees_text


def _repeats_ids(host: Capabilities) -> bool:
    return _asks(host) and host.repeats_ids


def _outlives(host: Capabilities) -> bool:
    return host.asks == "suspend" and host.outlives


_WRITE = Made("write", "a")
_BOTH = (Made("write", "a", "c1"), Made("write", "b", "c2"))
_MANY = tuple(Made("look", f"f{number}", f"c{number}") for number in range(6))

CASES: tuple[Case, ...] = (
    Case("an allowed call runs", (Made("look", "a"),), (("look", "a"),), ("looked at a",)),
    Case("a blocked call is refused in words", (Made("look", "secret"),), (), ("Secrets are off limits.",)),
    Case("a yes lets the call run", (_WRITE,), (("write", "a"),), ("wrote a",), {"a": _YES}, needs=_asks),
    Case("a no reaches the model in words", (_WRITE,), (), ("Leave the file alone.",), {"a": _NO}, needs=_asks),
    Case("an edited call runs as edited", (_WRITE,), (("write", "b"),), ("wrote b",), {"a": _edit("b")}, needs=_edits),
    Case("an edit is decided again", (_WRITE,), (), ("Secrets are",), {"a": _edit("secret")}, needs=_edits),
    Case(
        "a rule that crashes blocks",
        (Made("look", "a"),), (), ("A rule failed.",), policy=AuthorizationPolicy((_Crashes(),)),
    ),
    Case(
        "a rule that changes makes no run of a no",
        (_WRITE,), (), ("Leave the file alone.",), {"a": _NO}, meanwhile=_ALLOWS_WRITE, needs=_asks,
    ),
    Case(
        "nor does it in another process",
        (_WRITE,), (), ("Leave the file alone.",), {"a": _NO}, meanwhile=_ALLOWS_WRITE, restarts=True, needs=_outlives,
    ),
    Case(
        "a yes counts in another process",
        (_WRITE,), (("write", "a"),), ("wrote a",), {"a": _YES}, restarts=True, needs=_outlives,
    ),
    Case(
        "two questions have an answer each",
        _BOTH, (("write", "b"),), ("Leave the file alone.", "wrote b"), {"b": _YES, "a": _NO}, needs=_asks,
    ),
    Case(
        "so have two with one call id",
        (Made("write", "a", "c1"), Made("write", "b", "c1")), (("write", "b"),), ("Leave the file alone.", "wrote b"),
        {"b": _YES, "a": _NO}, needs=_repeats_ids,
    ),
    Case("a yes that ends the session lets nothing run", (_WRITE,), (), ("The user",), {"a": _STOP}, needs=_asks),
    Case("a run whose start is not recorded does not begin", (Made("look", "a"),), (), is_unrecorded=True),
    Case("an unknown tool does not run", (Made("steal", "a"),), ()),
    Case("broken JSON does not run", (Made("look", "a", text='{"path": "a"'),), ()),
    Case(
        "an argument that is given twice does not run",
        (Made("look", "a", text='{"path": "secret", "path": "a"}'),), (), needs=_sees_text,
    ),
    Case("calls of one message all run", _MANY, tuple((made.tool, made.path) for made in _MANY)),
    Case("and so do two that are the same", (Made("look", "a", "c1"), Made("look", "a", "c2")), (("look", "a"),) * 2),
    Case(
        "of calls of one message each is decided",
        (Made("look", "a", "c1"), Made("look", "secret", "c2"), Made("look", "b", "c3")),
        (("look", "a"), ("look", "b")), ("looked at a", "Secrets are off limits.", "looked at b"),
    ),
)  # fmt: skip


@attrs.define
class _Runs(MemoryRecorder):
    """A record that also keeps which calls were started, as `Tools` keep which ran; one that `fails` keeps none."""

    fails: bool = attrs.field(default=False, kw_only=True)
    started: list[tuple[str, str]] = attrs.field(factory=list, init=False)

    def record(self, event: str, call: ToolCall, /, **details: object) -> None:
        """Keep one event."""
        if event == "started" and self.fails:
            raise AuditError("the record is full")
        super().record(event, call, **details)
        if event == "started":
            self.started.append((call.tool, str(call.arguments["path"])))


def check(case: Case, host: Host) -> None:
    """Play a case on a host.

    Raises: `AssertionError` that says what ran instead; `LookupError` for a case that the host leaves out.
    """
    if not case.needs(host.capabilities):
        raise LookupError(f"the host cannot be asked: {case}")
    runs = _Runs(fails=case.is_unrecorded)
    tools = Tools(started=runs.started)
    try:
        progress, guard = _play(case, host, Guard(case.policy, recorder=runs), tools)
    except Exception as error:
        if not case.is_unrecorded:
            raise
        if tools.ran:
            raise AssertionError(f"{case}: {tools.ran} ran") from error
        return
    # Calls of one message may run in any order.
    if sorted(tools.ran) != sorted(case.ran):
        raise AssertionError(f"{case}: {tools.ran} ran, and {list(case.ran)} should have")
    if tools.early:
        raise AssertionError(f"{case}: {tools.early} ran before the record said so")
    _check_record(case, runs)
    if host.capabilities.refuses_in_words:
        _check_shown(case, progress.shown)
    _check_second_answers(case, guard, runs)


def _check_record(case: Case, runs: _Runs) -> None:
    """Raise unless each run has a start and an end in the record."""
    if sorted(runs.started) != sorted(case.ran):
        raise AssertionError(f"{case}: {runs.started} is in the record, and {list(case.ran)} ran")
    ended = sum(record["event"] == "finished" for record in runs.records)
    if ended != len(case.ran):
        raise AssertionError(f"{case}: of {len(case.ran)} runs the record has the end of {ended}")


def _check_shown(case: Case, shown: Sequence[str]) -> None:
    if len(shown) < len(case.shown):
        raise AssertionError(f"{case}: the model was shown {len(shown)} results")
    for expected, text in zip(case.shown, shown, strict=False):
        if expected not in text:
            raise AssertionError(f"{case}: the model was shown {text!r}, and not {expected!r}")


def _play(case: Case, host: Host, guard: Guard, tools: Tools) -> tuple[Progress, Guard]:
    def answer(request: ToolConfirmationRequest) -> ToolConfirmationResponse:
        _change(case, guard)
        return case.answers.get(str(request.call.arguments["path"]), _NO)

    if host.capabilities.asks == "inline":
        guard.channel = CallbackChannel(answer)
    progress = host.run(guard, tools, case.calls)
    if progress.asked and tools.ran:
        raise AssertionError(f"{case}: {tools.ran} ran before the answer")
    while progress.asked:
        if case.restarts:
            guard = Guard(guard.policy, recorder=guard.recorder)
        _change(case, guard)
        # Not in the order in which they were asked.
        answers = {path: case.answers.get(path, _NO) for path in reversed(progress.asked)}
        resume = functools.partial(host.resume, guard, tools, progress, answers)
        progress = resume()
        if not answers.keys().isdisjoint(progress.asked):
            raise AssertionError(f"{case}: asked about {progress.asked} once more")
        if not progress.asked:
            _answer_again(case, tools, resume)
    return progress, guard


def _change(case: Case, guard: Guard) -> None:
    if case.meanwhile is not None:
        guard.policy = load_policy(case.meanwhile)


def _answer_again(case: Case, tools: Tools, resume: Callable[[], Progress]) -> None:
    ran = list(tools.ran)
    with contextlib.suppress(Exception):
        resume()
    if tools.ran != ran:
        raise AssertionError(f"{case}: {tools.ran[len(ran) :]} ran once more")


def _check_second_answers(case: Case, guard: Guard, runs: _Runs) -> None:
    asked = [str(record["pending_id"]) for record in runs.records if record["event"] == "asked"]
    if any(isinstance(guard.answer(pending_id, _YES), Permit) for pending_id in asked):
        raise AssertionError(f"{case}: the same question was answered twice")
