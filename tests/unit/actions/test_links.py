"""What clients may make links of, and which of it is certain."""

import contextlib
import time

import pytest
from tests.tables import for_each

from permitry.actions.links import links_in
from permitry.core.action import Connect
from permitry.errors import UnevaluableError


def _certain(text: str) -> set[str]:
    return {_shown(link) for link in links_in(text) if link.is_certain}


def _doubtful(text: str) -> set[str]:
    return {_shown(link) for link in links_in(text) if not link.is_certain}


def _shown(link: Connect) -> str:
    return f"{link.scheme or '?'}:{link.host or ''}"


@for_each(
    ("text", "found"),
    [
        ("See https://a.com/x.", {"https:a.com"}),
        ("HTTPS://A.com", {"https:a.com"}),
        ("http://a.com:8080/x?y#z, or https://b.com", {"http:a.com", "https:b.com"}),
        ("https://[::1]/", {"https:[::1]"}),
        ("a.com is it", {"http:a.com", "https:a.com"}),
        ("(www.a.com/x)", {"http:www.a.com", "https:www.a.com"}),
        ("**a.com** _a.com_ a.com...", {"http:a.com", "https:a.com"}),
        ("xn--80ak6aa92e.com", {"http:xn--80ak6aa92e.com", "https:xn--80ak6aa92e.com"}),
        ("at 10.0.0.1 now", {"http:10.0.0.1", "https:10.0.0.1"}),
        ("to ann.lee@a.com.", {"mailto:a.com"}),
        ("mailto:ann@a.com", {"mailto:a.com"}),
        ("[a](https://a.com) ![b](https://b.com/i.png 'c')", {"https:a.com", "https:b.com"}),
        ("[a][b]\n\n[b]: <https://a.com>", {"https:a.com"}),
        ("<https://a.com/x> <ann@b.com>", {"https:a.com", "mailto:b.com"}),
        ("<a href='https://a.com'>https://a.com</a>", {"https:a.com"}),
        ('<img src="https://a.com/i.png"><a href=https://b.com>', {"https:a.com", "https:b.com"}),
        ("<p>**https://a.com/*x***</p>", {"https:a.com"}),
        ("ftp://a.com slack://b.com", {"ftp:a.com", "slack:b.com"}),
        ("javascript:alert(1) tel:+49 javascript:'x'", {"javascript:", "tel:"}),
        ("[a](foo:bar) <foo:bar> <a href=foo:bar>", {"foo:"}),
        ("file:///etc/passwd x://?y", {"file:", "x:"}),
        ("https://en.a.com/wiki/A_(b)", {"https:en.a.com"}),
        ("https://a.com/?u=a.b&amp;c=%41.d", {"https:a.com"}),
        ("https://a.com/?u=https://b.com", {"https:a.com", "https:b.com"}),
    ],
)
def test_plain_links_are_certain(text: str, found: set[str]) -> None:
    """Every client finds the same host in them."""
    assert _certain(text) == found
    assert not _doubtful(text)


@for_each("text")
def test_other_texts_have_none(text: str) -> None:
    """Nothing is a link that no client makes one of."""
    assert links_in(text) == ()


@for_each(
    ("text", "wholes"),
    [
        ("\u201cb.com\u201d", {"b.com"}),
        ("\u2018https://b.com/x\u2019,", {"https://b.com/x"}),
        ("\u201ehttps://b.com\u201c.", {"https://b.com"}),
        ("see \xabb.com\xbb, or \u2039www.b.com\u203a", {"b.com", "www.b.com"}),
        ("on b.com\u2014and here", {"b.com\u2014and"}),
        ("https://b.com\u2019s page", {"https://b.com\u2019s"}),
        ("(\u201chttps://b.com:80\u201d)", {"https://b.com:80"}),
        ("mail \u201cann@b.com\u201d", {"ann@b.com"}),
        ("mail \u201cmailto:ann@b.com\u201d.", {"ann@b.com"}),
    ],
)
def test_quotes_and_dashes_of_print_are_around_a_link(text: str, wholes: set[str]) -> None:
    """A client that takes them for a part of the name finds no host, as no top-level domain has one."""
    links = links_in(text)
    assert {link.text for link in links} == wholes
    assert {link.host for link in links} <= {"b.com", "www.b.com"}
    assert all(link.is_certain for link in links)


@for_each(("text", "host"))
def test_hidden_and_ambiguous_links_are_found(text: str, host: str) -> None:
    """Clients disagree on them, so none is certain where it leads there."""
    found = [link for link in links_in(text) if link.host == host]
    assert found
    assert not all(link.is_certain for link in links_in(text))


@for_each(("text", "scheme"))
def test_links_without_a_host_are_found(text: str, scheme: str) -> None:
    """They run code, or open another program."""
    assert scheme in {link.scheme for link in links_in(text) if link.host is None}


@for_each(
    "text",
    ["<base href='https://a.com/'>", "<form action='https://a.com'>", "<script>x</script>", "<img src=x onerror = x>"],
)
def test_markup_that_does_more_cannot_be_read(text: str) -> None:
    """It changes where other addresses lead, sends what is typed, or runs a program."""
    assert "?:" in _doubtful(text)


@for_each("text", ["https://x_.\u00e9%zz/", "https://a b@", "http://%", "[a](//%)"])
def test_some_links_cannot_be_read(text: str) -> None:
    """They have no host, and no scheme that would need none."""
    assert all(not link.is_certain for link in links_in(text) if link.host is None)


@for_each(("text", "whole"))
def test_a_link_is_all_that_a_client_may_open(text: str, whole: str) -> None:
    """Only what closes or ends a sentence is left out, a few signs of it."""
    assert {link.text for link in links_in(text)} == {whole}


@for_each("text", [f"https://a.com{')' * 9_000}@2130706433/", f"a.com/{'x' * 9_000}"])
def test_a_link_that_is_too_long_cannot_be_read(text: str) -> None:
    """What is behind the end that is read could change it."""
    assert "?:" in _doubtful(text)


def test_there_is_a_bound() -> None:
    """Beyond it there is no answer."""
    with pytest.raises(UnevaluableError, match="1,000 links"):
        links_in("a.com " * 501)
    assert len(links_in("a.com " * 500)) == 2


@for_each("unit")
def test_it_takes_linear_time(unit: str) -> None:
    """Ten times the text takes nothing like a hundred times as long."""
    seconds = []
    for size in (4_000, 40_000):
        text = (unit * size)[:size]
        start = time.process_time()
        with contextlib.suppress(UnevaluableError):
            links_in(text)
        seconds.append(time.process_time() - start)
    assert seconds[1] < max(60 * seconds[0], 1)


def test_numbers_of_entities_may_have_any_length() -> None:
    """Python reads no longer ones than 4,300 digits."""
    assert links_in(f"a&#{'1' * 9_000};b") == ()
    assert links_in(f"a&#x{'1' * 9_000};b") == ()
    assert {link.host for link in links_in(f"a&#{'0' * 9_000}46;com")} == {"a.com"}
