"""What holds for each request and each answer."""

import pytest
from tests.unit.permitry_ops.inbox.inboxes import ORIGIN, Browser, MemoryInbox

from permitry_ops.inbox.security import HEADERS, Site


def test_every_answer_has_the_headers(stranger: Browser, ann: Browser) -> None:
    """Pages, files, redirections and refusals."""
    form = {"token": "x"}
    answers = [
        *(ann.get(path) for path in ("/", "/questions/q1", "/nothing")),
        *(stranger.get(path) for path in ("/", "/static/inbox.js")),
        stranger.post("/login", **form),
        ann.post("/questions/q1/answer", digest="d1"),
        ann.client.get("/", headers={"Host": "evil"}),
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 404, 303, 200, 401, 403, 403]
    for answer in answers:
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS


def test_the_policy_permits_nothing_inline_and_nothing_foreign() -> None:
    """Word for word: one more source would be a way in."""
    assert HEADERS["Content-Security-Policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    )


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:80", "localhost:8710.evil.example", ""])
def test_another_name_reaches_nothing(ann: Browser, host: str) -> None:
    """A name of another site could lead here: it must not see a page."""
    response = ann.client.get("/", headers={"Host": host})
    assert response.status_code == 403
    assert "rm -r" not in response.text


@pytest.mark.parametrize("host", ["localhost:8710", "[::1]:8710", "127.0.0.1:8710"])
def test_the_names_of_this_machine_reach_it(stranger: Browser, host: str) -> None:
    """With the port that it listens on."""
    assert stranger.client.get("/login", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9", "https://127.0.0.1:8710", ""])
def test_a_form_of_another_site_is_refused(ann: Browser, inbox: MemoryInbox, origin: str) -> None:
    """Also with the right token, and the cookie."""
    fields = {each: ann.field("/questions/q1", each) for each in ("csrf", "digest")} | {"action": "approve"}
    response = ann.client.post("/questions/q1/answer", data=fields, headers={"Origin": origin})
    assert response.status_code == 403
    assert inbox.answers == []


def test_a_form_without_an_origin_is_refused(ann: Browser, inbox: MemoryInbox) -> None:
    """Browsers name it with each form."""
    fields = {each: ann.field("/questions/q1", each) for each in ("csrf", "digest")} | {"action": "approve"}
    assert ann.client.post("/questions/q1/answer", data=fields).status_code == 403
    assert inbox.answers == []


def test_a_login_from_another_site_is_refused(stranger: Browser) -> None:
    """It could log a human in as someone else."""
    response = stranger.client.post("/login", data={"token": "x"}, headers={"Origin": "http://evil.example"})
    assert response.status_code == 403


@pytest.mark.parametrize(
    ("kind", "content", "code"),
    [
        ("application/json", "{}", 415),
        ("multipart/form-data; boundary=x", "--x--", 415),
        ("application/x-www-form-urlencoded", "token=" + "x" * 1024 * 1024, 413),
        ("application/x-www-form-urlencoded", "token=x&token=y", 400),
        ("application/x-www-form-urlencoded", "token=%ff", 400),
        ("application/x-www-form-urlencoded", "&".join(f"a{n}=1" for n in range(30)), 400),
    ],
)
def test_what_is_not_a_form_is_refused(stranger: Browser, kind: str, content: str, code: int) -> None:
    """So is one that is too large, or that says two things."""
    headers = {"Origin": ORIGIN, "Content-Type": kind}
    assert stranger.client.post("/login", content=content, headers=headers).status_code == code


def test_a_site_behind_tls_is_one_name() -> None:
    """Without a port where the address has none."""
    site = Site(("https://inbox.example",))
    assert (site.hosts, site.is_secure) == (frozenset({"inbox.example"}), True)
    assert not Site.local(1).is_secure
