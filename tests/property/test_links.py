"""Links: what the linkifiers and renderers of others make a link of is found, and none is taken for another one."""

import contextlib
import re
import unicodedata
from collections.abc import Callable
from html.parser import HTMLParser
from urllib.parse import unquote

import mistune
import pytest
from ada_url import URL
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tests.tables import stored_rows

from permitry.actions.links import links_in
from permitry.conditions.match import Match
from permitry.conditions.provenance.provenance import Provenance
from permitry.config.conditions import scope_of
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request
from permitry.errors import UnevaluableError

_ATTRIBUTES = frozenset(("href", "src", "action", "formaction", "background", "poster", "cite", "ping", "longdesc"))
_HERE = "https://here.invalid/"
# No host that can be registered has one of these in a label.
_SIGNS = re.compile(r"[^\w.-]", re.ASCII)

_gfm = MarkdownIt("gfm-like", {"html": True, "linkify": True})
assert _gfm.linkify is not None
_linkify = _gfm.linkify.set({"fuzzy_ip": True})
_common = MarkdownIt("commonmark", {"html": True})
_mistune = mistune.create_markdown(escape=False, plugins=["url"])


class _Attributes(HTMLParser):
    """What a page links to, or loads."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in _ATTRIBUTES and value]


def _attributes(page: str) -> list[str]:
    parser = _Attributes()
    # It gives up on what follows `<![`.
    with contextlib.suppress(AssertionError):
        parser.feed(page)
    return parser.found


_READERS: dict[str, Callable[[str], list[str]]] = {
    "linkify": lambda text: [found.url for found in _linkify.match(text) or ()],
    "gfm": lambda text: _attributes(_gfm.render(text)),
    "commonmark": lambda text: _attributes(_common.render(text)),
    "mistune": lambda text: _attributes(str(_mistune(text))),
    "html": _attributes,
}

_FRAGMENTS = stored_rows(__file__, "_FRAGMENTS")
_texts = st.lists(st.sampled_from(_FRAGMENTS), min_size=1, max_size=9).map("".join)


def _leads(link: str) -> str | None:
    """Return the host that a link leads to, or its scheme if it needs none; None where no one can be there."""
    mail = re.match(r"mailto:[^@?]*@([^?]*)", link, re.IGNORECASE)
    try:
        url = URL(f"https://{mail[1]}" if mail else link, _HERE)
    except ValueError:
        return None
    if url.protocol not in ("http:", "https:", "ftp:"):
        return url.protocol
    labels = unquote(url.hostname).strip(".").split(".")
    if url.hostname == "here.invalid" or len(labels) == 1 or any(_SIGNS.search(each) for each in labels):
        return None
    if not _is_top_level(labels[-1]):
        return None
    return url.hostname.strip(".") if all(labels) else None


def _is_top_level(label: str) -> bool:
    """Return whether there can be a top-level domain with this name: none has a quote or a dash of print in it."""
    decoded = label[4:].encode().decode("punycode") if label.startswith("xn--") else label
    return not any(unicodedata.category(char) in ("Pi", "Pf", "Pd") and not char.isascii() for char in decoded)


def _missed(text: str, reader: str) -> list[str]:
    """Return the links to hosts that are not known, unless something in the text is not certain: then none passes."""
    found = links_in(text)
    if not all(link.is_certain for link in found):
        return []
    known = {*(link.host for link in found), *(f"{link.scheme}:" for link in found), None}
    return [link for link in _READERS[reader](text) if _leads(link) not in known]


@pytest.mark.parametrize("reader", _READERS)
@given(text=_texts)
@example(text="//see.com\u00e9mailto:https:@h")
@example(text="http://1.2.3.4._see")
def test_no_permission_misses_a_link(reader: str, text: str) -> None:
    """A host that another reader finds is known, or the text has something that is not certain."""
    assert _missed(text, reader) == []


_hosts = st.sampled_from(("evil.com", "www.evil.com", "x.evil.co.uk", "xn--e1afmkfd.xn--p1ai", "10.1.2.3"))
_forms = st.sampled_from(
    (
        *("{}", "{}/p", "https://{}", "http://{}/p?q=1#r", "//{}", "see {}.", "({})", "<https://{}>", "**https://{}**"),
        *("[a](https://{})", "[a](//{})", "[a][b]\n\n[b]: https://{}", "![a](<https://{}/p q>)", "a@{}", "mailto:a@{}"),
        *("<a href=https://{}>", "<img src='//{}'>", '<a href="\nhttps://{}\n">', "https://good.com@{}", "https:{}"),
        *("https://good.com\\@{}", "https://{}:8443/", "ftp://{}/", "&#104;ttps://{}", "https&colon;//{}", "url({})"),
    )
)


@given(_hosts, _forms, _texts)
def test_a_restriction_finds_every_host(host: str, form: str, more: str) -> None:
    """Whatever else is in the text."""
    assert host in {link.host for link in links_in(f"{more}\n\n {form.format(host)}")} or "=" in more


@given(_texts | st.text(), _texts | st.text())
def test_every_text_can_be_searched(text: str, more: str) -> None:
    """It never raises for a short one, and a certain link has a host or needs none."""
    for link in links_in(f"{text} {more}"):
        assert link.text
        assert not link.is_certain or link.host is not None or link.scheme not in (None, "http", "https")


@given(_texts)
def test_text_around_it_hides_no_link(text: str) -> None:
    """More text only adds doubt: what leads somewhere in a part of it may lead there in all of it."""
    more = links_in(f"{text}\n\nend")
    # An attribute that is not closed goes on.
    assert {link.host for link in links_in(text)} <= {link.host for link in more} or "=" in text


def test_too_many_links_are_no_answer() -> None:
    """A text of only links is refused, however short each is."""
    with pytest.raises(UnevaluableError):
        links_in("a.bc " * 1_000)


# What a `links` with several tests means ---------------------------------------------------------------------------

_TESTS: tuple[tuple[str, list[str]], ...] = (
    ("host", ["a.com"]),
    ("not_host", ["a.com", "https://b.com"]),
    ("from", ["user"]),
    ("from", ["look#url"]),
    ("not_from", ["user", "look#url"]),
)
_ways = st.lists(st.lists(st.sampled_from(_TESTS), min_size=1, max_size=3).map(dict), min_size=1, max_size=3)
_a_link = st.sampled_from((
    "https://a.com/x", "https://a.com/y", "https://b.com", "http://a.com", "https://c.com", "https://a.com@b.com",
    "javascript:x", "https://%/", "ann@a.com",
))  # fmt: skip
_knowledge = st.sampled_from(
    (
        Provenance(),
        Provenance.of(["see https://a.com/x"]),
        Provenance.of([], [("look", {}, {"url": "https://c.com"})]),
        Provenance.of(["see https://b.com"], [("look", {}, {"url": "https://a.com/y"})]),
    )
)


def _answer(links: object, text: str, known: Provenance, needed: Match) -> bool | None:
    """Return what a condition answers; None where it has no answer."""
    (condition,) = scope_of((), {"args": {"to": {"links": links}}}, None).when.plain
    request = Request(ToolCall("send", {"to": text}), AuthContext(provenance=known))
    try:
        return condition.match(request, needed) is needed
    except UnevaluableError:
        return None


def _settled(answers: list[bool | None], *, by: bool) -> bool | None:
    """Return what a strong Kleene `any` (by True), or `all` (by False), makes of answers."""
    return by if by in answers else None if None in answers else not by


@given(_ways, st.lists(_a_link, max_size=3), _knowledge, st.sampled_from(("permission", "restriction")))
def test_tables_and_lists_of_tests_are_what_each_test_says_of_each_link(
    ways: list[dict[str, list[str]]], links: list[str], known: Provenance, phase: str
) -> None:
    """A table needs all of its tests, a list one of its tables; a permission needs every link, a restriction one."""
    needed = Match.ALIKE if phase == "restriction" else Match.YES

    def passes(link: str) -> bool | None:
        tables = []
        for way in ways:
            tests = [_answer({key: value}, link, known, needed) for key, value in way.items()]
            tables.append(_settled(tests, by=False))
        return _settled(tables, by=True)

    wanted = _settled([passes(link) for link in links], by=needed is Match.ALIKE)
    text = " ".join(links) or "nothing"
    assert _answer(ways, text, known, needed) is wanted
    if len(ways) == 1:
        assert _answer(ways[0], text, known, needed) is wanted
