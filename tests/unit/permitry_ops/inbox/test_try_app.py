"""The page to try rules as a browser meets it: who gets in, what is refused, and what is answered."""

import time
from typing import Any

import attrs
import httpx
import pytest
from tests.tables import for_each
from tests.unit.permitry_ops.inbox.inboxes import ORIGIN, PORT, Browser, trying
from tests.unit.permitry_ops.inbox.people import ANN, EVE

from permitry_ops.inbox.security import HEADERS, Site
from permitry_ops.inbox.trial import Start
from permitry_ops.inbox.try_app import TryApp

HEAD = "schema = 1\n"
RULE = '[[rule]]\nid = "no-push"\neffect = "block"\nreason = "publishes"\nwhen.command = ["git push *"]\n'
CALL = {"what": "command", "command": "git push", "mode": "", "workspace": "/srv/shop"}


@pytest.fixture
def page() -> TryApp:
    """Return the page to try rules."""
    return TryApp(Start(HEAD + RULE), Site.local(PORT), "/srv/shop")


@pytest.fixture
def tester(page: TryApp) -> Browser:
    """Return the browser of one who has logged in."""
    return Browser(page).log_in(EVE)


def send(browser: Browser, rules: str, **fields: str) -> Any:  # noqa: ANN401 -- a response of httpx
    """Send the form as its page has it."""
    return browser.post("/", csrf=browser.field("/", "csrf"), rules=rules, **{**CALL, **fields})


def test_it_is_for_those_who_log_in(page: TryApp) -> None:
    """Others are led to the login, and a form of theirs is refused."""
    stranger = Browser(page)
    assert (stranger.get("/").status_code, stranger.get("/").headers["location"]) == (303, "/login")
    assert stranger.post("/", rules=HEAD).status_code == 401
    assert "no-push" not in stranger.get("/login").text


def test_it_is_the_only_page(tester: Browser, ann: Browser) -> None:
    """No question, no record and no health; and an inbox takes no rules."""
    for path in ("/questions/q1", "/audit", "/stats", "/events", "/health", "/try"):
        assert tester.get(path).status_code == 404
    assert 'id="try"' not in ann.get("/").text
    assert ann.post("/", csrf=ann.field("/", "csrf"), rules=HEAD).status_code == 405
    assert ann.get("/try").status_code == 404


def test_it_begins_with_the_rules_of_the_start(tester: Browser) -> None:
    """And an example of a call."""
    text = tester.get("/").text
    assert "id = &quot;no-push&quot;" in text
    assert "Allowed" in text
    assert "Change the rules to see" in text


def test_without_scripts_the_button_does_it_all(tester: Browser) -> None:
    """The lines come as browsers send them; the answer has what is typed, the verdict and the change."""
    text = send(tester, HEAD.replace("\n", "\r\n")).text
    assert '<textarea id="rules"' in text
    assert "Before your change" in text
    assert "More is allowed: 1 way." in text


def test_a_quick_answer_leaves_out_the_change(tester: Browser) -> None:
    """It comes at once; the other one is on its way."""
    text = send(tester, HEAD, quick="1").text
    assert "Before your change" in text
    assert "Looking for calls" in text


def test_rules_that_do_not_load_decide_nothing(tester: Browser) -> None:
    """They are said, with what is typed."""
    text = send(tester, "schema = 1\nx = <script>alert(1)</script>\n").text
    assert "Nothing is decided" in text
    assert "<script>alert" not in text


@for_each("rules", ["\0", "schema = 1\n\0", "\ud800".encode("utf-8", "replace").decode(), "\u202e", ""])
def test_no_character_is_too_odd(tester: Browser, rules: str) -> None:
    """What cannot be loaded is a problem; nothing fails."""
    response = send(tester, rules, command=rules)
    assert response.status_code == 200
    assert "1 problem" in response.text


def test_a_form_needs_the_token_of_the_session(page: TryApp, tester: Browser) -> None:
    """None, and the one of another session, try nothing."""
    theirs = Browser(page).log_in(ANN).field("/", "csrf")
    for fields in ({}, {"csrf": ""}, {"csrf": theirs}):
        assert tester.post("/", rules=HEAD, **CALL, **fields).status_code == 403


@for_each("headers", [{"Origin": "http://evil.example"}, {"Origin": "null"}, {}, {"Origin": ORIGIN, "Host": "evil"}])
def test_another_site_tries_nothing(tester: Browser, headers: dict[str, str]) -> None:
    """Also with the token of the session."""
    fields = {"csrf": tester.field("/", "csrf"), "rules": HEAD, **CALL}
    response = tester.client.post("/", data=fields, headers=headers)
    assert response.status_code == 403
    assert {name: response.headers.get(name) for name in HEADERS} == HEADERS


def test_what_is_too_large_is_refused(tester: Browser) -> None:
    """A form of more than a megabyte, and rules that would take too long."""
    assert send(tester, "#" * 1024 * 1024).status_code == 413
    assert "is larger than" in send(tester, "#" * 300 * 1024).text


def test_what_is_no_form_is_refused(tester: Browser) -> None:
    """Such as JSON, which a page of another site could send without being asked."""
    headers = {"Origin": ORIGIN, "Content-Type": "application/json"}
    assert tester.client.post("/", content="{}", headers=headers).status_code == 415


def test_what_takes_too_long_is_ended(page: TryApp) -> None:
    """It says so, and decides nothing."""
    tester = Browser(attrs.evolve(page, seconds=0.0)).log_in(ANN)
    text = send(tester, HEAD).text
    assert "This took too long, and was ended. Nothing is known of the call." in text
    assert "Not proven: it took too long" in text


SLOW = HEAD + "".join(
    f'[[rule]]\nid = "r{n}"\neffect = "allow"\nwhen.command = ["git push{n} *"]\n'
    f'match = ["git push{n} a && git push{n} b", "git push{n} c | git push{n} d"]\n'
    for n in range(1_500)
)


def test_who_goes_on_typing_does_not_wait_for_an_older_text() -> None:
    """What is on its way is ended when the browser hangs up: here it would take many seconds."""
    with (
        trying(Start(HEAD + RULE)) as (app, origin),
        httpx.Client(base_url=origin, headers={"Origin": origin}) as client,
    ):
        client.post("/login", data={"token": app.access.link(ANN)})
        csrf = client.get("/").text.partition('name="csrf" value="')[2].partition('"')[0]
        fields = {"csrf": csrf, **CALL}
        for _ in range(2):
            with pytest.raises(httpx.ReadTimeout):
                client.post("/", data={**fields, "rules": SLOW}, timeout=0.5)
        start = time.monotonic()
        assert "Before your change" in client.post("/", data={**fields, "rules": HEAD, "quick": "1"}, timeout=60).text
        assert time.monotonic() - start < 8
