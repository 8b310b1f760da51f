"""The way in: links and tokens, the session of a browser, and what is shown without one."""

import asyncio

import attrs
import pytest
from tests.unit.permitry_ops.inbox.inboxes import Browser, MemoryInbox, app_of
from tests.unit.permitry_ops.inbox.people import ANN

from permitry_ops.inbox.app import InboxApp


def test_what_is_inside_needs_a_login(stranger: Browser) -> None:
    """A page leads to the login; a form is refused, and nothing of a question is shown."""
    for path in ("/", "/questions/q1", "/events", "/questions/q1/events"):
        response = stranger.get(path)
        assert (response.status_code, response.headers["location"]) == (303, "/login")
    response = stranger.post("/questions/q1/answer", digest="d1", action="approve")
    assert response.status_code == 401
    assert "rm -r" not in response.text


def test_a_link_is_for_one_login(app: InboxApp) -> None:
    """The second browser that brings it stays outside."""
    token = app.access.link(ANN)
    assert Browser(app).post("/login", token=token).status_code == 303
    second = Browser(app)
    assert second.post("/login", token=token).status_code == 401
    assert second.get("/").status_code == 303


def test_looking_at_a_link_does_not_use_it_up(app: InboxApp, stranger: Browser) -> None:
    """A program that loads links beforehand gets the page that takes a token, and nothing else."""
    token = app.access.link(ANN)
    assert stranger.get(f"/login?token={token}").status_code == 200
    assert stranger.post("/login", token=token).status_code == 303


def test_a_token_may_be_used_again(app: InboxApp) -> None:
    """It is for those who come back."""
    form = {"token": "t" * 40}
    app.access.add_token(form["token"], ANN)
    assert [Browser(app).post("/login", **form).status_code for _ in range(2)] == [303, 303]


def test_the_cookie_is_out_of_reach_of_scripts_and_of_other_sites(app: InboxApp, stranger: Browser) -> None:
    """HttpOnly, SameSite=Strict, for this host alone, and not for ever."""
    cookie = stranger.post("/login", token=app.access.link(ANN)).headers["set-cookie"]
    assert cookie.startswith("permitry-inbox-8710=")
    assert {"HttpOnly", "SameSite=strict", "Path=/", "Max-Age=43200"} <= set(cookie.split("; "))
    assert "Domain" not in cookie


def test_behind_tls_the_cookie_is_for_tls_alone(inbox: MemoryInbox) -> None:
    """Its prefix keeps another host from setting it."""
    app = attrs.evolve(app_of(inbox), site=attrs.evolve(app_of(inbox).site, origins=("https://inbox.example",)))
    browser = Browser(app)
    browser.client.base_url = "https://inbox.example"
    headers = {"Origin": "https://inbox.example"}
    response = browser.client.post("/login", data={"token": app.access.link(ANN)}, headers=headers)
    cookie = response.headers["set-cookie"]
    assert cookie.startswith("__Host-permitry-inbox=")
    assert "Secure" in cookie.split("; ")


def test_wrong_tokens_are_slowed_and_right_ones_get_in(app: InboxApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """All behind a proxy are one address: a guesser must not keep the others out."""
    waits: list[float] = []

    async def wait(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("permitry_ops.inbox.sessions.asyncio.sleep", wait)
    wrong = {"token": "x"}
    assert [Browser(app).post("/login", **wrong).status_code for _ in range(12)] == [401] * 12
    assert waits == [0.0] * 9 + [1.0] * 3
    assert Browser(app).post("/login", token=app.access.link(ANN)).status_code == 303
    assert len(waits) == 12


def test_no_more_than_a_hundred_wrong_tokens_wait(app: InboxApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each costs a connection; a right one gets in all the same."""
    monkeypatch.setattr(asyncio.Semaphore, "locked", lambda _: True)
    wrong = {"token": "x"}
    assert Browser(app).post("/login", **wrong).status_code == 429
    assert Browser(app).post("/login", token=app.access.link(ANN)).status_code == 303


def test_after_logging_out_the_cookie_counts_no_more(ann: Browser) -> None:
    """Also where the browser would keep it."""
    kept = dict(ann.client.cookies)
    assert ann.post("/logout", csrf=ann.field("/", "csrf")).status_code == 303
    ann.client.cookies.update(kept)
    assert ann.get("/").status_code == 303


def test_a_form_needs_the_token_of_the_session(ann: Browser, bob: Browser, inbox: MemoryInbox) -> None:
    """None, and the one of another session, answer nothing."""
    theirs = bob.field("/questions/q1", "csrf")
    for fields in ({}, {"csrf": ""}, {"csrf": theirs}, {"csrf": "\u00fc"}):
        assert ann.post("/questions/q1/answer", digest="d1", action="approve", **fields).status_code == 403
    assert inbox.answers == []


def test_the_files_of_the_page_are_its_own(stranger: Browser) -> None:
    """Script, style and icon, and no other file."""
    scripts = (("inbox.js", "text/javascript"), ("try.js", "text/javascript"))
    for name, kind in (*scripts, ("inbox.css", "text/css"), ("inbox.svg", "image/svg+xml")):
        response = stranger.get(f"/static/{name}")
        assert response.status_code == 200
        assert response.headers["content-type"].startswith(kind)
    for name in ("app.py", "..%2Fapp.py", "inbox.js%00"):
        assert stranger.get(f"/static/{name}").status_code == 404
