"""Sessions of mixed calls with questions and grants in a store, in processes of their own: to be killed, or to race.

`python -m tests.mixing kill ADDRESS FOLDER COUNT SEED` kills COUNT sessions at random moments, while another
process answers their questions, and then goes on with all of them until nothing is open. In FOLDER a file `ran` gets a
line before and behind each run of a tool, and `made-SESSION` one before each call.

`python -m tests.mixing use ADDRESS COUNT` makes COUNT calls that a grant permits, and prints how many ran.
`python -m tests.mixing race ADDRESS NAME` answers all open questions as NAME, and prints which answers counted.
`python -m tests.mixing claim ADDRESS SESSION CALL...` makes these calls of a session, and prints which ran.
The last three print `ready` and wait for a line before they begin, so that several can begin at the same moment.
"""

import itertools
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from permitry.channels.clock import Moment
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_question import StoredQuestion, answer_to
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import LedgerError
from permitry.guard.grants import Grant
from permitry.guard.ledgers import grants_at, ledger_at, questions_at
from permitry.guard.outcome import Pending
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry.store.questions import StoredQuestions
from permitry.store.records import recorder_at

__all__ = ["FORMS", "SESSIONS", "USES", "add_grant", "form_of", "handler_of"]

SESSIONS = ("s0", "s1")
USES = 5
FORMS = ("look", "write", "send", "write", "wipe", "send")
"""Allowed; asked about; granted for a number of uses, and asked about when these are used up; blocked."""

_LONGEST = 0.2
_AT_WORK = 0.8
_GRANT_EVERY = 8
_AGAIN = 40
_PATIENCE = 120.0
_RULES = """
schema = 1
[[rule]]
id = "looks"
effect = "allow"
tools = ["look"]
[[rule]]
id = "writes"
effect = "confirm"
priority = 160
tools = ["write"]
[[rule]]
id = "wipes"
effect = "block"
tools = ["wipe"]
"""


def form_of(call: str) -> str:
    """Return the tool of a call by its id, such as `s0-17`."""
    return FORMS[int(call.rpartition("-")[2]) % len(FORMS)]


def handler_of(address: str, session: str, note: Path | None = None, patience: float = 10.0) -> ToolHandler:
    """Return a handler with record, questions and grants at an address; each run adds two lines to the file `note`."""
    registry = ToolRegistry()
    file = None if note is None else os.open(note, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def added(tool: str, call: str, what: str) -> None:
        if file is not None:
            os.write(file, f"{tool} {call} {what}\n".encode())
            os.fsync(file)

    def tool_of(name: str) -> Callable[[str], str]:
        def tool(call: str) -> str:
            """Do something."""
            added(name, call, "begins")
            added(name, call, "ends")
            return "done"

        tool.__name__ = name
        return tool

    for name in set(FORMS):
        registry.tool(tool_of(name))
    recorder = recorder_at(address, session=session, patience=patience)
    ledger, grants = ledger_at(address, patience=patience), grants_at(address, patience=patience)
    return ToolHandler(
        Session(id=session), load_policy(_RULES), registry=registry, recorder=recorder, ledger=ledger, grants=grants
    )


def add_grant(address: str, uses: int) -> None:
    """Grant so many calls of `send`."""
    grants_at(address).store.add(Grant('tools = ["send"]', uses_left=uses, made_at=time.time()).row())


# Sessions that are killed ---------------------------------------------------------------------------------------------


def _call(name: str) -> ToolCall:
    return ToolCall(form_of(name), {"call": name}, call_id=name)


def _is_settled(handler: ToolHandler, name: str) -> bool:
    """Return whether a call has run or is blocked; its question may be open still."""
    outcome = handler.begin(_call(name))
    if isinstance(outcome, Pending):
        return False
    handler.run(outcome)
    return True


def _live(address: str, folder: Path, session: str) -> None:
    """Go on with the calls of a session, first with the last ones once more, for ever."""
    handler, made = handler_of(address, session, folder / "ran"), _made(folder, session)
    names = made.read_text().split()
    waiting = [name for name in names[-_AGAIN:] if form_of(name) != "look"]
    for number in itertools.count(len(names)):
        waiting = [name for name in waiting if not _is_settled(handler, name)]
        if not _make(handler, made, name := f"{session}-{number}"):
            waiting.append(name)


def _finish(address: str, folder: Path, session: str) -> None:
    """Make calls until all grants are used up, and all that are not allowed anyway once more, until none is open."""
    handler, made = handler_of(address, session, folder / "ran"), _made(folder, session)
    names, until = made.read_text().split(), time.monotonic() + _PATIENCE
    for number in itertools.count(len(names)):
        is_settled = _make(handler, made, name := f"{session}-{number}")
        if form_of(name) == "send" and not is_settled:
            break
    left = [name for name in made.read_text().split() if form_of(name) != "look"]
    while left := [name for name in left if not _is_settled(handler, name)]:
        assert time.monotonic() < until, f"never answered: {left[:5]}"


def _made(folder: Path, session: str) -> Path:
    return folder / f"made-{session}"


def _make(handler: ToolHandler, made: Path, name: str) -> bool:
    """Make a new call, and return whether it has run or is blocked."""
    with made.open("a") as file:
        file.write(f"{name}\n")
    if form_of(name) == "look":
        return bool(handler.handle(_call(name)).text)
    return _is_settled(handler, name)


def _respond(address: str) -> None:
    """Answer questions as they come, for ever: reject what is sent, and approve, edit or reject what is written."""
    questions = questions_at(address)
    while True:
        for question in _open(questions):
            _answered(questions, question, "someone")
        time.sleep(0.01)


def _open(questions: StoredQuestions) -> list[StoredQuestion]:
    return [StoredQuestion.of(row) for row in questions.open(Moment.now())]


def _answered(questions: StoredQuestions, question: StoredQuestion, by: str) -> bool:
    assert question.request is not None
    try:
        answer_to(questions, question, _answer(question.request.call), by=by)
    except LedgerError:
        return False  # another one was first
    return True


def _answer(call: ToolCall) -> ToolConfirmationResponse:
    name = call.call_id or "-0"
    kind = int(name.rpartition("-")[2]) // len(FORMS) % 3 if call.tool == "write" else 2
    edited = {"call": f"edited-{name}"} if kind == 1 else None
    return ToolConfirmationResponse(kind < 2, arguments=edited)


def _forked(work: Callable[..., None], *arguments: object) -> int:
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work(*arguments)
        status = 0
    finally:
        os._exit(status)


def _await_call(made: Path, size: int) -> None:
    until = time.monotonic() + _PATIENCE
    while made.stat().st_size <= size:
        assert time.monotonic() < until, "a session does nothing"
        time.sleep(0.002)


def _end(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"it ended by itself: {status}"


def kill(address: str, folder: Path, count: int, chance: random.Random) -> None:
    """Kill sessions, and now and then the one who answers, at random moments; then finish all of them."""
    _warm(address, folder)
    for session in SESSIONS:
        _made(folder, session).touch()
    responder = _forked(_respond, address)
    for killed in range(0, count, len(SESSIONS)):
        if not killed % _GRANT_EVERY:
            _waited(_forked(add_grant, address, USES))
            _end(responder)
            responder = _forked(_respond, address)
        sizes = [_made(folder, session).stat().st_size for session in SESSIONS]
        children = [_forked(_live, address, folder, session) for session in SESSIONS]
        for session, size, child in zip(SESSIONS, sizes, children, strict=True):
            # Most are killed at work, on however busy a machine; some before that.
            if chance.random() < _AT_WORK:
                _await_call(_made(folder, session), size)
            time.sleep(chance.uniform(0, _LONGEST))
            _end(child)
    for session in SESSIONS:
        _waited(_forked(_finish, address, folder, session))
    _end(responder)


def _warm(address: str, folder: Path) -> None:
    """Load what is loaded at the first call: sessions are to be killed at work."""
    handler = handler_of(str(folder / "warm.db"), "warm")
    for number in range(len(FORMS)):
        _is_settled(handler, f"warm-{number}")
    recorder_at(address).close()


def _waited(child: int) -> None:
    assert os.waitpid(child, 0)[1] == 0


# Processes that race --------------------------------------------------------------------------------------------------


def use(address: str, count: int) -> int:
    """Return how many of so many calls ran."""
    handler = handler_of(address, f"p{os.getpid()}")
    _await_others()
    return sum(handler.handle(ToolCall("send", {"call": f"c{number}"})).ok for number in range(count))


def race(address: str, name: str) -> list[str]:
    """Return the questions of which the answer counted."""
    questions = questions_at(address)
    found = _open(questions)
    _await_others()
    return [each.id for each in found if _answered(questions, each, name)]


def claim(address: str, session: str, names: Sequence[str]) -> list[str]:
    """Return the calls that ran."""
    handler = handler_of(address, session)
    _await_others()
    return [name for name in names if handler.handle(_call(name)).ok]


def _await_others() -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()


def main(action: str, address: str, *arguments: str) -> None:
    """Do what the command line says."""
    match action, arguments:
        case "kill", (folder, count, seed):
            kill(address, Path(folder), int(count), random.Random(int(seed)))  # noqa: S311 -- the moments of a test
            sys.stdout.write(count)
        case "use", (count,):
            sys.stdout.write(json.dumps(use(address, int(count))))
        case "race", (name,):
            sys.stdout.write(json.dumps(race(address, name)))
        case "claim", (session, *names):
            sys.stdout.write(json.dumps(claim(address, session, names)))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
