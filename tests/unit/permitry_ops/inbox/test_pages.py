"""The frame of the pages."""

from pathlib import Path

from tests.unit.permitry_ops.inbox.documents import read
from tests.unit.permitry_ops.inbox.people import ANN

from permitry_ops.inbox import pages
from permitry_ops.inbox.access import Login
from permitry_ops.inbox.pages import frame, link, login_page, message_page, token_field


def test_a_page_is_for_people_with_any_browser() -> None:
    """It has a language, a title, a way past the header, one heading, and a place where news are read out."""
    page = frame("Open questions", login=Login(ANN, 0.0), here="/")
    assert page.startswith('<!doctype html><html lang="en">')
    assert "<title>Open questions - permitry</title>" in page
    assert '<a href="#main" class="skip">' in page
    assert page.count("<h1>") == 1
    assert 'role="status"' in page
    assert '<a href="/" aria-current="page">' in page


def test_nothing_in_a_page_is_inline_or_foreign() -> None:
    """The policy of the page forbids it, so that it would not work either."""
    for page in (frame("t", login=Login(ANN, 0.0)), login_page("no"), message_page("t", "x")):
        document = read(page)
        assert not [name for _, names in document.tags for name in names if name == "style" or name.startswith("on")]
        assert "style" not in [tag for tag, _ in document.tags]
        assert "//" not in page


def test_a_notice_is_shown_once() -> None:
    """The next page has none."""
    login = Login(ANN, 0.0, notice="done")
    assert "done" in frame("t", login=login)
    assert "done" not in frame("t", login=login)


def test_each_field_has_a_label() -> None:
    """The token as well."""
    assert '<label for="token">Token</label><input id="token"' in login_page()


def test_a_link_is_a_link() -> None:
    """Its text is escaped."""
    assert str(link("<", "/x")) == '<a href="/x">&lt;</a>'


def test_a_message_leads_back() -> None:
    """To the questions, or to the login."""
    assert 'href="/login"' in message_page("t", "x")
    assert 'href="/"' in message_page("t", "x", login=Login(ANN, 0.0))


def test_the_token_of_the_session_is_hidden() -> None:
    """It is for the form alone."""
    assert str(token_field(Login(ANN, 0.0, csrf="c"))) == '<input type="hidden" name="csrf" value="c">'


def test_the_script_makes_no_html_of_a_text() -> None:
    """What it shows was escaped by the server, or is set as text."""
    script = (Path(pages.__file__).parent / "static" / "inbox.js").read_text(encoding="utf-8")
    ways = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(")
    assert [way for way in ways if way in script] == []
