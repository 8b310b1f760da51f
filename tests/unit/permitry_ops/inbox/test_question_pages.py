"""The pages of questions: everything is shown, and nothing of it is more than text."""

import json
from typing import Any

import attrs
from tests.tables import for_each
from tests.unit.permitry_ops.inbox.documents import read
from tests.unit.permitry_ops.inbox.people import ANN, EVE, QUESTION
from tests.unit.permitry_ops.inbox.probes import PROBES

from permitry.channels.request import EffectLine
from permitry.core.json_values import parse_json
from permitry.core.origin import Origin
from permitry_ops.inbox.access import Login
from permitry_ops.inbox.question_pages import arguments_text, list_page, open_count, question_page, without_secrets
from permitry_ops.inbox.stored import Shown

LOGIN = Login(ANN, 0.0, csrf="token")


def filled(text: str) -> Shown:
    """Return a question with a text in every field that is shown."""
    return Shown(
        text, text, text, {text: text, "list": [text, {text: text}]}, text, rule=text, source=text, session=text,
        agent=text, folder=text, path=text, preview=f"+{text}\n{text}", errors=[text], remember=text,
        effects=[EffectLine(0, text), EffectLine(1, text)], origins=[Origin(text, text, (text,))], may_grant=True,
    )  # fmt: skip


def pages(text: str) -> list[str]:
    """Return all pages with a text wherever one of others can be."""
    shown, other = filled(text), Login(attrs.evolve(ANN, name=text), 0.0, csrf="token", notice=text)
    return [
        list_page([shown], attrs.evolve(other)),
        question_page(shown, attrs.evolve(other)),
        question_page(shown, LOGIN, problem=text, edited=text, guidance=text, result=text),
        question_page(attrs.evolve(shown, approvers=[text]), LOGIN),
        question_page(attrs.evolve(shown, outcome=text), LOGIN),
        question_page(shown, Login(EVE, 0.0)),
    ]


@for_each("probe", PROBES)
def test_a_probe_in_every_field_changes_no_page(probe: str) -> None:
    """The elements and their attributes are those of the page with a plain word in its place."""
    expected = [read(page).tags for page in pages("word")]
    assert [read(page).tags for page in pages(probe)] == expected


def test_the_probes_are_in_the_pages() -> None:
    """The test before would find nothing where nothing is shown: each field is."""
    page = question_page(QUESTION, LOGIN)
    for each in ("Deletes files.", "ask-rm (rules.toml:3)", "s1", "main", "d1", "odd: failed", "90 s left", "3"):
        assert each in read(page).text, each
    shown = " ".join(read(page).text)
    for each in (
        "`command` = rm -r build occurs in look #2, field `task`; not in the user's messages",
        "-old",
        "+new",
        "do not ask again",
        "May this run?",
    ):
        assert each in shown, each


def test_the_form_is_bound_to_what_is_shown() -> None:
    """It carries the digest, and the token of the session."""
    page = question_page(QUESTION, LOGIN)
    assert 'name="digest" value="d1"' in page
    assert 'name="csrf" value="token"' in page
    assert 'action="/questions/q1/answer"' in page


def test_the_enter_key_rejects() -> None:
    """A browser takes the first button of a form for it."""
    page = question_page(QUESTION, LOGIN)
    form = page[page.index('id="answer"') :]
    assert form.index('value="reject"') < form.index('value="approve"')


def test_a_closed_question_has_no_form() -> None:
    """What became of it is said, and the script may replace the form of another browser."""
    page = question_page(attrs.evolve(QUESTION, outcome="rejected by bob"), LOGIN)
    assert '<form method="post" action="/questions' not in page
    assert "rejected by bob" in page
    assert "data-closed" in page


def test_only_those_who_may_answer_have_a_form() -> None:
    """The others are told who may."""
    page = question_page(attrs.evolve(QUESTION, approvers=("bob",)), LOGIN)
    assert 'name="action"' not in page
    assert "Only bob may answer" in page


def test_a_page_begins_with_the_call_and_why_it_is_asked_about() -> None:
    """Then comes what it would do and change, then the answer, and the facts at the end, the digest last."""
    page = question_page(QUESTION, LOGIN)
    order = (
        '<pre class="call">rm -r build</pre>', "Deletes files.", "What it would do", "What it would change",
        "Your answer", "About this question", "ask-rm (rules.toml:3)", "/home/ann/p", "Digest",
    )  # fmt: skip
    assert sorted(order, key=page.index) == list(order)
    assert page.index("<span>d1</span>") == page.rindex("<span>")


def test_what_a_diff_shows_is_folded() -> None:
    """Short arguments are not, nor is anything where there is no diff."""
    edit = attrs.evolve(QUESTION, arguments={"file_path": "a", "content": "x\ny", "mode": "600"})
    page = question_page(edit, LOGIN)
    assert '<pre class="call">run_shell a</pre>' in page
    assert page.index(">600<") < page.index("The arguments in full") < page.index(">x\ny<")
    assert "The arguments in full" not in question_page(attrs.evolve(edit, preview=""), LOGIN)


def test_the_list_shows_calls_as_people_say_them() -> None:
    """Command, reason, folder, session and age; a sub-agent is named."""
    shown = attrs.evolve(QUESTION, session="claude-code:0c1f2d3e-4a5b", agent="helper")
    text = " ".join(read(list_page([shown], LOGIN)).text)
    about = "run_shell · /home/ann/p · claude-code:0c1f2d3e · helper · asked 3 min ago · 90 s left"
    for each in ("rm -r build", "Deletes files.", about):
        assert each in text, each
    assert "· main ·" not in " ".join(read(list_page([QUESTION], LOGIN)).text)


def test_actions_are_nested_lists() -> None:
    """A screen reader says how deep one is."""
    effects = [EffectLine(0, "a"), EffectLine(1, "b"), EffectLine(2, "c"), EffectLine(0, "d")]
    page = question_page(attrs.evolve(QUESTION, effects=effects), LOGIN)
    inner = '<li><code>b</code><ul class="tree"><li><code>c</code></li></ul></li>'
    assert f'<li><code>a</code><ul class="tree">{inner}</ul></li><li><code>d</code></li>' in page


@for_each("value", ["a\u200bb", "\U000e0100", "\u3164", "\ud800", "é", "\x00\x1b", '<&">', "a\r\nb"])
def test_arguments_are_edited_as_they_are(value: str) -> None:
    """What is invisible is escaped as JSON does, so that what comes back unchanged is the same call."""
    shown = attrs.evolve(QUESTION, arguments={"x": value})
    text = arguments_text(shown)
    assert parse_json(text) == {"x": value} if value != "\ud800" else "\\ud800" in text
    assert read(question_page(shown, LOGIN)).text.count(f"\n{text}") == 1


def test_a_viewer_sees_a_question_without_secrets() -> None:
    """In none of its fields."""
    word: Any = "password=hunter22"
    shown = without_secrets(attrs.evolve(filled(word), id="q", digest="d", tool="t", remember=""))
    assert "hunter22" not in json.dumps([str(shown.arguments["list"][0]), shown.preview, shown.reason, shown.path])
    assert "hunter22" not in str([shown.effects, shown.origins, shown.errors])
    secret = Origin("auth.password", '"hunter22"', ("look #1",), is_said=False)
    [origin] = without_secrets(attrs.evolve(QUESTION, origins=[secret])).origins
    assert str(origin) == "`auth.password` = [redacted] occurs in look #1; not in the user's messages"


def test_open_questions_are_counted_in_words() -> None:
    """One is one."""
    assert [open_count(n) for n in (0, 1, 2)] == ["No question is open.", "1 open question.", "2 open questions."]


def test_a_permission_for_the_request_is_offered_first_where_there_are_turns() -> None:
    """Elsewhere it would never count."""
    page = question_page(attrs.evolve(QUESTION, has_turn=True), LOGIN)
    assert page.index('value="request"') < page.index('value="1h"')
    assert 'value="request"' not in question_page(QUESTION, LOGIN)
