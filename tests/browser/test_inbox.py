"""The inbox in real browsers: two approvers, probes, keyboard, accessibility. Run with `pytest -m large`."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import attrs
import pytest
from tests.browser.chromium import PROGRAM, Page, browsing
from tests.unit.channels.stored_calls import asked, fresh
from tests.unit.permitry_ops.inbox.inboxes import MemoryInbox, serving
from tests.unit.permitry_ops.inbox.people import ANN, BOB, EVE, QUESTION
from tests.unit.permitry_ops.inbox.probes import PROBES
from tests.unit.permitry_ops.inbox.records import keep
from tests.unit.permitry_ops.inbox.test_question_pages import filled

from permitry.errors import StoreError
from permitry.guard.ledgers import questions_at
from permitry.store.questions import StoredQuestions
from permitry_ops.inbox.app import InboxApp
from permitry_ops.inbox.stored import StoreInbox

pytestmark = [
    pytest.mark.large,
    pytest.mark.skipif(PROGRAM is None, reason="needs the program chromium"),
]
AXE = Path(os.environ.get("PERMITRY_TEST_NODE_MODULES", "")) / "axe-core" / "axe.min.js"
TAB, ENTER = ("Tab", 9), ("Enter", 13, "\r")
LOGGED_IN = "location.pathname === '/' && document.querySelector('.who')"


@pytest.fixture
def first(tmp_path: Path) -> Iterator[Page]:
    """Yield a browser."""
    with browsing(tmp_path / "first") as page:
        yield page


@pytest.fixture
def second(tmp_path: Path) -> Iterator[Page]:
    """Yield another browser."""
    with browsing(tmp_path / "second") as page:
        yield page


def log_in(page: Page, app: InboxApp, origin: str, user: Any = ANN) -> None:  # noqa: ANN401 -- a user
    """Open a link, as it is printed."""
    page.open(f"{origin}/login#{app.access.link(user)}")
    page.wait(LOGGED_IN)


def test_two_approvers_see_each_others_answers(first: Page, second: Page, tmp_path: Path) -> None:
    """What one answers is on the other one's page at once, and only one answer counts."""
    path = tmp_path / "permitry.db"
    guard = fresh(path)
    inbox = StoreInbox(cast("StoredQuestions", _Elsewhere(questions_at(path))))
    with serving(inbox) as (app, origin):
        log_in(first, app, origin)
        log_in(second, app, origin, BOB)
        question = asked(guard)
        for page in (first, second):
            page.wait("document.querySelector('.questions a')")
            page.run("document.querySelector('.questions a').click()")
            page.wait("document.getElementById('answer')")
        first.run("document.querySelector('button[value=approve]').click()")
        first.wait(f"document.body.innerText.includes('{question.id} is approved')")
        assert second.wait("document.querySelector('[data-closed]')") < 2
        assert "This question is closed: approved by ann." in second.run("document.getElementById('live').innerText")
        assert "approved by ann" in second.run("document.getElementById('status').innerText")
        assert second.run("document.querySelectorAll('button[name=action]').length") == 0
    response = guard.ledger.answer(question.id)
    assert response is not None
    assert response.is_approval


@attrs.frozen
class _Elsewhere:
    """A store whose questions were asked by another process than the one that runs the tests."""

    store: Any

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- whatever the store has
        return getattr(self.store, name)

    def find(self, name: str) -> Any:  # noqa: ANN401 -- a row
        """Return a question."""
        row = self.store.find(name)
        return row and {**row, "above": "[1]"}


def test_no_probe_runs_in_a_browser(first: Page, tmp_path: Path) -> None:
    """Fifty in every field of questions and records: no dialog, no element of theirs, no request elsewhere."""
    questions = {f"q{n}": attrs.evolve(filled(probe), id=f"q{n}") for n, probe in enumerate(PROBES)}
    for number, probe in enumerate(PROBES):
        keep(tmp_path / f"{number}.jsonl", probe)
    record = tmp_path / "audit.jsonl"
    record.write_text("".join((tmp_path / f"{n}.jsonl").read_text() for n in range(len(PROBES))))
    foreign = "document.querySelectorAll('img,iframe,object,embed,video,audio,style,base,template,math,marquee').length"
    with serving(MemoryInbox(questions), record) as (app, origin):
        log_in(first, app, origin)
        for path in ("/", "/audit", "/stats", *(f"/questions/{name}" for name in questions)):
            first.open(f"{origin}{path}")
            assert first.run("document.scripts.length") == 1, path
            assert first.run(foreign) == 0, path
            assert first.run(
                "[...document.querySelectorAll('*')].every((e) => ![...e.attributes].some((a) => /^on/.test(a.name)))"
            )
    names = [event["method"] for event in first.events]
    assert "Page.javascriptDialogOpening" not in names
    assert not [event for event in first.events if "Content Security Policy" in str(event)]


def test_a_question_is_answered_by_keyboard(first: Page) -> None:
    """From the list to the answer with Tab and Enter; what has the focus is marked."""
    inbox = MemoryInbox()
    with serving(inbox) as (app, origin):
        log_in(first, app, origin)
        walk(first, "document.activeElement.matches('.questions a')")
        first.press(*ENTER)
        first.wait("document.getElementById('answer')")
        walk(first, "document.activeElement.id === 'guidance'")
        first.call("Input.insertText", text="use the trash")
        walk(first, "document.activeElement.value === 'reject'")
        assert first.run("getComputedStyle(document.activeElement).outlineWidth") == "3px"
        first.press(*ENTER)
        first.wait("location.pathname === '/' && document.body.innerText.includes('rejected')")
    [(_, response, by)] = inbox.answers
    assert (response.approved, response.instructions, by) == (False, "use the trash", "ann")


def walk(page: Page, until: str) -> None:
    """Press Tab until something has the focus."""
    for _ in range(30):
        if page.run(until):
            return
        page.press(*TAB)
    raise AssertionError(until)


def test_the_enter_key_in_a_form_rejects(first: Page) -> None:
    """In a field of one line a browser sends the form with its first button."""
    inbox = MemoryInbox()
    with serving(inbox) as (app, origin):
        log_in(first, app, origin)
        first.open(f"{origin}/questions/q1")
        first.run("document.getElementById('remember').focus()")
        first.press(*ENTER)
        first.wait("location.pathname === '/'")
    assert [response.approved for _, response, _ in inbox.answers] == [False]


def test_half_an_answer_is_not_thrown_away(first: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the store was away for a while, which the page says."""

    def fail(*_: object) -> None:
        raise StoreError("away")

    with serving(MemoryInbox()) as (app, origin):
        log_in(first, app, origin)
        first.open(f"{origin}/questions/q1")
        first.run("document.getElementById('guidance').value = 'half'")
        with monkeypatch.context() as patch:
            patch.setattr(MemoryInbox, "find", fail)
            first.wait("document.getElementById('status').innerText.includes('cannot be read')")
        first.wait("document.getElementById('status').innerText === ''")
        first.run("new Promise((done) => setTimeout(done, 300))")
        assert first.run("document.getElementById('guidance').value") == "half"


def test_the_record_is_followed(first: Page, tmp_path: Path) -> None:
    """A new event is on the page without loading it again."""
    record = tmp_path / "audit.jsonl"
    keep(record)
    with serving(MemoryInbox(), record) as (app, origin):
        log_in(first, app, origin, EVE)
        first.open(f"{origin}/audit?verdict=block")
        assert first.run("document.querySelectorAll('tbody tr').length") == 1
        keep(record, "another session")
        first.wait("document.querySelectorAll('tbody tr').length === 2")


@pytest.mark.skipif(not AXE.is_file(), reason="needs the npm package axe-core")
@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing(first: Page, tmp_path: Path, width: int, *, dark: bool) -> None:
    """On every page, on a phone and on a large screen; and nothing is wider than the screen."""
    record = tmp_path / "audit.jsonl"
    keep(record, "word", count=3)
    closed = attrs.evolve(QUESTION, id="q2", outcome="approved by bob")
    with serving(MemoryInbox({"q1": QUESTION, "q2": closed}), record) as (app, origin):
        first.look(width=width, dark=dark)
        first.open(f"{origin}/login")
        found = {"/login": violations(first)}
        log_in(first, app, origin)
        for path in ("/", "/questions/q1", "/questions/q2", "/questions/q3", "/audit?verdict=block", "/stats"):
            first.open(f"{origin}{path}")
            first.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
            found[path] = violations(first)
            assert first.run("document.documentElement.scrollWidth") <= width, path
    assert {path: each for path, each in found.items() if each} == {}
    assert len(found) == 7


def violations(page: Page) -> list[str]:
    """Return what axe has against a page."""
    page.run(f"{AXE.read_text(encoding='utf-8')}; 0")
    found = page.run("axe.run().then((result) => result.violations)")
    assert page.run("axe.run().then((result) => result.passes.length)") > 10
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found]
