"""The inbox as a browser meets it: roles, answers."""

from urllib.parse import quote

import attrs
import pytest
from tests.tables import for_each
from tests.unit.permitry_ops.inbox.documents import Tag, read
from tests.unit.permitry_ops.inbox.inboxes import Browser, MemoryInbox
from tests.unit.permitry_ops.inbox.people import ANN, BOB, QUESTION
from tests.unit.permitry_ops.inbox.probes import PROBES
from tests.unit.permitry_ops.inbox.test_question_pages import filled

from permitry.channels.response import ToolConfirmationResponse
from permitry.errors import StoreError
from permitry_ops.inbox.live import Live


def test_an_approver_approves_once(ann: Browser, inbox: MemoryInbox) -> None:
    """The answer is of the one who has logged in; the list says so, once."""
    assert ann.answer("approve").status_code == 303
    [(name, response, by)] = inbox.answers
    assert (name, by, response.is_approval, response.skip_future, response.arguments) == (
        "q1",
        "ann",
        True,
        False,
        None,
    )
    assert "The question q1 is approved." in ann.get("/").text
    assert "is approved" not in ann.get("/").text


def test_a_rejection_has_words_to_the_model(ann: Browser, inbox: MemoryInbox) -> None:
    """They are handed on as they are."""
    ann.answer("reject", guidance=" use the trash \n")
    [(_, response, _)] = inbox.answers
    assert (response.approved, response.abort, response.instructions) == (False, False, "use the trash")


def test_a_rejection_can_end_the_session(ann: Browser, inbox: MemoryInbox) -> None:
    """That is `abort`."""
    ann.answer("abort")
    assert inbox.answers[0][1].abort


def test_an_approval_can_be_remembered(ann: Browser, inbox: MemoryInbox) -> None:
    """Where that is offered; a rejection is not remembered."""
    ann.answer("approve", remember="1")
    assert inbox.answers[0][1].is_remembered


def test_the_very_call_can_be_permitted_for_a_time(ann: Browser, inbox: MemoryInbox) -> None:
    """By the one who approves; for the times that are offered."""
    assert ann.answer("approve", again="1h").status_code == 303
    assert (inbox.grants, inbox.requests) == ([("q1", 3600.0, "ann")], [])
    assert "permitted for a time" in ann.get("/").text


def test_the_very_call_can_be_permitted_until_the_user_writes(ann: Browser, inbox: MemoryInbox) -> None:
    """For at most eight hours."""
    assert ann.answer("approve", again="request").status_code == 303
    assert (inbox.grants, inbox.requests) == ([("q1", 8 * 3600.0, "ann")], ["q1"])


@pytest.mark.parametrize(("action", "again", "code"), [
    ("reject", "1h", 303), ("abort", "8h", 303), ("approve", "", 303), ("approve", "9h", 422), ("edit", "1h", 422),
])  # fmt: skip
def test_nothing_else_permits_a_call_again(
    ann: Browser, inbox: MemoryInbox, action: str, again: str, code: int
) -> None:
    """A rejection remembers nothing, and an edited call is another one."""
    assert ann.answer(action, again=again, arguments="{}").status_code == code
    assert inbox.grants == []


def test_an_answer_that_is_refused_grants_nothing(ann: Browser, bob: Browser, inbox: MemoryInbox) -> None:
    """Of two answers only the first can."""
    form = {each: bob.field("/questions/q1", each) for each in ("csrf", "digest")}
    ann.answer("reject")
    assert bob.post("/questions/q1/answer", **form, action="approve", again="8h").status_code == 409
    assert inbox.grants == []


def test_a_grant_that_cannot_be_kept_is_said(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer counts all the same."""

    def fail(*_: object, **__: object) -> None:
        raise StoreError("the store is away")

    monkeypatch.setattr(MemoryInbox, "grant", fail)
    assert ann.answer("approve", again="1h").status_code == 303
    assert "is approved. The next such call is asked about: the store is away." in ann.get("/").text


def test_arguments_can_be_edited(ann: Browser, inbox: MemoryInbox) -> None:
    """They are JSON."""
    ann.answer("edit", arguments='{"command": "rm -r build/x"}')
    assert inbox.answers[0][1].arguments == {"command": "rm -r build/x"}


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"a": NaN}', '{"a": 1, "a": 2}', "null", "[" * 5_000])
def test_edited_arguments_that_are_not_an_object_answer_nothing(ann: Browser, inbox: MemoryInbox, text: str) -> None:
    """What was written is not lost."""
    response = ann.answer("edit", arguments=text, guidance="")
    assert response.status_code == 422
    assert f"\n{text}</textarea>".replace('"', "&quot;") in response.text
    assert inbox.answers == []


def test_an_approval_with_words_to_the_model_is_not_taken(ann: Browser, inbox: MemoryInbox) -> None:
    """They would be lost, and with them what the human wanted."""
    response = ann.answer("approve", guidance="but only <b>src</b>")
    assert response.status_code == 422
    assert "but only &lt;b&gt;src" in response.text
    assert inbox.answers == []


def test_a_result_in_place_of_the_tools_can_be_given(ann: Browser, inbox: MemoryInbox) -> None:
    """With its lines as they were written."""
    assert ann.answer("respond", result=" 3 files\r\n4 folders").status_code == 303
    assert inbox.answers[0][1] == ToolConfirmationResponse(False, result=" 3 files\n4 folders")
    assert "The question q1 is responded to." in ann.get("/").text


@pytest.mark.parametrize(
    ("action", "fields"),
    [
        ("respond", {}), ("respond", {"result": " "}), ("respond", {"result": "<b>3", "guidance": "x"}),
        *((action, {"result": "<b>3"}) for action in ("approve", "reject", "abort", "edit")),
    ],
)  # fmt: skip
def test_a_result_goes_with_its_own_button(
    ann: Browser, inbox: MemoryInbox, action: str, fields: dict[str, str]
) -> None:
    """Nothing that was written is lost."""
    response = ann.answer(action, **{"arguments": "{}", **fields})
    assert response.status_code == 422
    assert ("&lt;b&gt;3</textarea>" in response.text) is ("<b>3" in fields.values())
    assert inbox.answers == []


@pytest.mark.parametrize("action", ["", "APPROVE", "yes", "allow"])
def test_an_unknown_answer_is_none(ann: Browser, inbox: MemoryInbox, action: str) -> None:
    """Nothing but the five words counts."""
    assert ann.answer(action).status_code == 422
    assert inbox.answers == []


def test_the_second_answer_is_refused(ann: Browser, bob: Browser, inbox: MemoryInbox) -> None:
    """It is shown that it came too late; the first one counts."""
    form = {each: bob.field("/questions/q1", each) for each in ("csrf", "digest")}
    ann.answer("reject")
    response = bob.post("/questions/q1/answer", **form, action="approve")
    assert response.status_code == 409
    assert "not open any more" in response.text
    assert [by for _, _, by in inbox.answers] == ["ann"]


def test_an_answer_is_to_the_call_that_was_shown(ann: Browser, inbox: MemoryInbox) -> None:
    """A form for another digest, or without one, is refused."""
    for digest in ("d2", ""):
        assert ann.answer("approve", digest=digest).status_code == 409
    csrf = ann.field("/", "csrf")
    assert ann.post("/questions/q1/answer", csrf=csrf, action="approve").status_code == 409
    assert inbox.answers == []


def test_a_viewer_looks_and_does_not_answer(eve: Browser, inbox: MemoryInbox) -> None:
    """There is no form, and one that is sent all the same is refused."""
    page = eve.get("/questions/q1")
    assert page.status_code == 200
    assert 'name="action"' not in page.text
    csrf = eve.field("/questions/q1", "csrf")
    assert eve.post("/questions/q1/answer", csrf=csrf, digest="d1", action="approve").status_code == 403
    assert inbox.answers == []


def test_a_viewer_sees_no_secrets(eve: Browser, ann: Browser, inbox: MemoryInbox) -> None:
    """An approver answers for the whole call, and sees all of it."""
    inbox.questions["q1"] = attrs.evolve(
        QUESTION, arguments={"password": "hunter22"}, preview="+password=hunter22", reason="password=hunter22"
    )
    assert "hunter22" not in eve.get("/questions/q1").text
    assert ann.get("/questions/q1").text.count("hunter22") >= 3


def test_a_question_that_is_not_there_is_not_found(ann: Browser) -> None:
    """Also where its id is odd."""
    for name in ("q2", "..%2F..", "%00", "a" * 5_000):
        assert ann.get(f"/questions/{name}").status_code == 404


def test_a_store_that_is_away_answers_nothing(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page says so; nothing is taken for an answer."""

    def fail(*_: object) -> None:
        raise StoreError("the store is away")

    form = {each: ann.field("/questions/q1", each) for each in ("csrf", "digest")}
    for name in ("open", "find", "answer"):
        monkeypatch.setattr(MemoryInbox, name, fail)
    assert [ann.get(path).status_code for path in ("/", "/questions/q1")] == [503, 503]
    response = ann.post("/questions/q1/answer", **form, action="approve")
    assert response.status_code == 503
    assert "the store is away" in response.text


def test_too_many_listeners_are_refused(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each costs a connection."""
    monkeypatch.setattr(Live, "is_full", True)
    assert ann.get("/events").status_code == 503


@for_each("probe", PROBES)
def test_no_response_takes_a_text_for_html(inbox: MemoryInbox, ann: Browser, eve: Browser, probe: str) -> None:
    """Pages, refusals of answers, and addresses that are not there: each is as with a plain word."""
    csrf = ann.field("/", "csrf")

    def pages(text: str) -> list[list[Tag]]:
        inbox.questions = {"q1": attrs.evolve(filled(text), id="q1", digest="d1")}
        answer = {"csrf": csrf, "digest": "d1"}
        edited = {"action": "edit", "arguments": text, "guidance": text}
        responses = [
            *(ann.get(path) for path in ("/", "/questions/q1", f"/{quote(text, safe='')}")), eve.get("/questions/q1"),
            ann.post("/questions/q1/answer", **answer, **edited), ann.post("/login", token=text),
            ann.post("/questions/q1/answer", csrf=csrf, digest=text, action="approve"),
            ann.post(f"/questions/{quote(text, safe='')}/answer", **answer, action="approve"),
        ]  # fmt: skip
        return [read(response.text).tags for response in responses]

    assert pages(probe) == pages("word")


def test_two_answer_two_questions(inbox: MemoryInbox, ann: Browser, bob: Browser) -> None:
    """Each session answers for itself."""
    inbox.questions["q2"] = attrs.evolve(QUESTION, id="q2", digest="d2")
    ann.answer("approve")
    bob.answer("reject", name="q2")
    assert [(name, by) for name, _, by in inbox.answers] == [("q1", ANN.name), ("q2", BOB.name)]
