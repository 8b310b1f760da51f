"""Pages by their addresses, redirects followed one by one."""

import socket
from collections.abc import Callable
from typing import Any, TypeAlias

import attrs
import pytest

from permitry.errors import ToolError
from permitry_tools.web.fetching import Fetcher

Site: TypeAlias = Any  # the one of the conftest

Make = Callable[..., Fetcher]


@attrs.frozen
class Judge:
    """Allows everything, and remembers what it was asked."""

    asked: list[str] = attrs.field(factory=list)

    def __call__(self, url: str) -> bool:
        """Return that the address is allowed."""
        self.asked.append(url)
        return True


def test_a_page_is_fetched(site: Site, fetcher: Make) -> None:
    """Address, title and text."""
    site.page("/", "<title>A</title><p>b</p>")
    page = fetcher().fetch(site.url())
    assert (page.url, page.title, page.text) == (site.url(), "A", "b")


def test_a_redirect_within_the_origin_is_followed(site: Site, fetcher: Make) -> None:
    """The page is reported where it was found."""
    site.redirect("/a", "b")
    site.page("/b", "text")
    assert fetcher().fetch(site.url("/a")).url == site.url("/b")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_every_kind_of_redirect_is_judged(site: Site, fetcher: Make, status: int) -> None:
    """And reads again: no answer makes the tool send something else."""
    site.redirect("/a", "/b", status)
    site.page("/b", "text")
    judge = Judge()
    fetcher(judge).fetch(site.url("/a"))
    assert judge.asked == [site.url("/b")]
    assert [seen.method for seen in site.seen] == ["GET", "GET"]


def test_a_redirect_elsewhere_needs_someone_who_allows_it(site: Site, fetcher: Make) -> None:
    """No one to ask means no; the refusal names the address, so that the model can ask for it."""
    site.redirect("/", site.url("/b", host="other.example"))
    with pytest.raises(ToolError, match=r"redirects to `http://other\.example:\d+/b`, which was not allowed"):
        fetcher().fetch(site.url())
    assert len(site.seen) == 1


@pytest.mark.parametrize("answer", [False, "blocked by `egress`", "", None, 1, "True"])
def test_only_a_plain_yes_is_one(site: Site, fetcher: Make, *, answer: bool | str) -> None:
    """A reason is a refusal, although text is true."""
    site.redirect("/", "/b")
    site.page("/b", "text")
    with pytest.raises(ToolError, match="was not allowed") as caught:
        fetcher(lambda _: answer).fetch(site.url())
    assert str(answer) in str(caught.value) or not isinstance(answer, str)
    assert [seen.path for seen in site.seen] == ["/"]


def test_a_redirect_to_another_host_goes_where_it_is_allowed(site: Site, fetcher: Make) -> None:
    """Each step is asked about by its own address."""
    site.redirect("/", site.url("/b", host="second.example"))
    site.redirect("/b", site.url("/c", host="third.example"))
    site.page("/c", "text")
    judge = Judge()
    page = fetcher(judge).fetch(site.url(host="first.example"))
    assert page.url == site.url("/c", host="third.example")
    assert judge.asked == [site.url("/b", host="second.example"), site.url("/c", host="third.example")]
    assert [seen.headers["host"].split(":")[0] for seen in site.seen] == [
        "first.example",
        "second.example",
        "third.example",
    ]


def test_a_redirect_cannot_lead_to_a_private_address(
    site: Site, fetcher: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even when the rules allow every host: rules see the name, the name may lead anywhere."""
    site.redirect("/", site.url("/secret", host="inner.example"))
    site.page("/secret", "secret")
    connect = socket.create_connection
    monkeypatch.setattr(
        socket, "create_connection", lambda to, *rest, **more: connect(("127.0.0.1", to[1]), *rest, **more)
    )
    answers = {"outer.example": ["1.1.1.1"], "inner.example": ["127.0.0.1"]}
    strict = fetcher(lambda _: True, lambda host, _: answers[host], allow_private=False)
    with pytest.raises(ToolError, match=r"`inner\.example` is a private address"):
        strict.fetch(site.url(host="outer.example"))
    assert [seen.path for seen in site.seen] == ["/"]


@pytest.mark.parametrize(
    "target",
    [
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
        "javascript:alert(1)",
        "data:text/plain,a",
        "http://user@other.example/",
    ],
)
def test_a_redirect_to_what_is_no_web_address_is_refused(site: Site, fetcher: Make, target: str) -> None:
    """The one who says yes to everything."""
    site.redirect("/", target)
    with pytest.raises(ToolError, match="not a plain http or https address"):
        fetcher(lambda _: True).fetch(site.url())


def test_a_redirect_to_what_is_no_address_at_all_is_reported(site: Site, fetcher: Make) -> None:
    """The tool has not crashed."""
    site.redirect("/", "http://[::1")
    with pytest.raises(ToolError, match="not an address"):
        fetcher(lambda _: True).fetch(site.url())


def test_a_circle_ends(site: Site, fetcher: Make) -> None:
    """At the first address that was there before."""
    site.redirect("/a", "/b")
    site.redirect("/b", "/a#again")
    with pytest.raises(ToolError, match="in a circle"):
        fetcher().fetch(site.url("/a"))
    assert len(site.seen) == 2


def test_a_long_way_ends(site: Site, fetcher: Make) -> None:
    """After as many redirects as the settings say."""
    for number in range(9):
        site.redirect(f"/{number}", f"/{number + 1}")
    with pytest.raises(ToolError, match="more than 3 times"):
        fetcher(max_redirects=3).fetch(site.url("/0"))
    assert len(site.seen) == 4


@pytest.mark.parametrize("status", [204, 304, 401, 404, 500])
def test_any_other_status_is_reported(site: Site, fetcher: Make, status: int) -> None:
    """A page of errors is not a page."""
    site.status("/", status)
    with pytest.raises(ToolError, match=f"answers {status}|no type"):
        fetcher().fetch(site.url())


def test_what_is_no_text_is_reported(site: Site, fetcher: Make) -> None:
    """With its type."""
    site.page("/", b"%PDF", "application/pdf")
    with pytest.raises(ToolError, match="`application/pdf`, not text"):
        fetcher().fetch(site.url())


def test_all_steps_share_one_time(site: Site, fetcher: Make) -> None:
    """Many slow redirects take no longer than one slow page."""

    def reply(handler: Any) -> None:  # noqa: ANN401 -- the server's own
        site.is_over.wait(0.15)
        handler.send_response(302)
        handler.send_header("Location", f"/{len(site.seen)}")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    site.replies = {f"/{number}": reply for number in range(100)}
    with pytest.raises(ToolError, match=r"too long|timed out"):
        fetcher(timeout=0.5, max_redirects=90).fetch(site.url("/0"))
