"""The operator `links` of `when.args`."""

import pickle
from typing import Any

import pytest
from tests.matching import matches
from tests.tables import for_each

from permitry.conditions.args import LinkCondition
from permitry.conditions.listed import ListedValues
from permitry.conditions.match import Match
from permitry.conditions.provenance.provenance import Provenance
from permitry.config.conditions import scope_of
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request
from permitry.errors import RuleError, UnevaluableError

_KNOWN = Provenance.of(
    ["Post https://a.com/x and www.b.com, tell ann@c.com."],
    [("read", {}, {"body": "see https://d.com/y", "url": "https://e.com/z"})],
)


def _request(value: object, known: Provenance = _KNOWN) -> Request:
    return Request(ToolCall("send", {"body": value}), AuthContext(provenance=known))


def _condition(more: dict[str, Any] | None = None, /, **links: object) -> LinkCondition:
    return _of(links, more)


def _of(links: object, more: dict[str, Any] | None = None) -> LinkCondition:
    scope = scope_of((), {"args": {"body": {"links": links, **(more or {})}}}, None)
    (condition,) = scope.when.plain
    assert isinstance(condition, LinkCondition)
    return condition


def _holds(value: object, **links: object) -> tuple[bool, bool]:
    """Return what a permission, and what a restriction makes of a text."""
    condition = _condition(**links)
    return (
        matches(condition, _request(value)),
        matches(condition, _request(value), Match.ALIKE),
    )


@for_each(
    ("text", "expected"),
    [
        ("nothing", (True, False)),
        ("https://a.com/x", (True, True)),
        ("https://a.com/x https://b.a.com", (True, True)),
        ("https://a.com/x https://evil.com", (False, True)),
        ("https://evil.com", (False, False)),
        ("http://a.com", (False, True)),
        ("a.com", (False, True)),
        ("https://a.com@evil.com", (False, True)),
        ("https://a.com:8443", (False, True)),
        ("ann@a.com", (False, True)),
        ("javascript:x", (False, False)),
        (["https://a.com", "x"], (True, True)),
        (["https://a.com", "https://evil.com"], (False, True)),
        ([], None),
    ],
)
def test_a_permission_needs_every_link_and_a_restriction_one(text: object, expected: tuple[bool, bool] | None) -> None:
    """A pattern without a scheme is of https for a permission."""
    if expected is None:
        with pytest.raises(UnevaluableError, match="is missing"):
            _holds(text, host=["a.com", "*.a.com"])
    else:
        assert _holds(text, host=["a.com", "*.a.com"]) == expected


@for_each(
    ("text", "expected"),
    [
        ("nothing", (True, False)),
        ("https://a.com/x", (False, False)),
        ("https://a.com/x https://b.com", (False, True)),
        ("https://b.com", (True, True)),
        ("https://a.com@b.com", (False, True)),
        ("javascript:x", (True, True)),
        ("a.com", (False, True)),
    ],
)
def test_links_elsewhere(text: str, expected: tuple[bool, bool]) -> None:
    """A permission needs that all certainly lead elsewhere, a restriction that one may."""
    assert _holds(text, not_host=["a.com"]) == expected


@for_each(("text", "hosts", "expected"))
def test_every_link_may_be_meant(text: str, hosts: list[str], *, expected: bool) -> None:
    """A star means links without a host as well."""
    assert matches(_condition(host=hosts), _request(text), Match.ALIKE) is expected


def test_mail_is_a_scheme_of_its_own() -> None:
    """A bare name is opened by http and by https."""
    assert _holds("ann@a.com", host=["mailto://a.com"]) == (True, True)
    assert _holds("a.com", host=["a.com", "http://a.com"]) == (True, True)


def test_what_cannot_be_read_is_no_answer_for_a_restriction() -> None:
    """Law 2 makes a match of it; a permission does not match."""
    request = _request("https://%/")
    assert not matches(_condition(host=["a.com"]), request)
    with pytest.raises(UnevaluableError, match="has no host that can be read"):
        matches(_condition(host=["a.com"]), request, Match.ALIKE)
    assert matches(_condition(not_host=["a.com"]), request, Match.ALIKE)


@for_each(
    ("text", "sources", "holds"),
    [
        ("nothing", ["user"], True),
        ("https://a.com/x", ["user"], True),
        ("[x](https://a.com/x), www.b.com.", ["user"], True),
        ("ann@c.com and mailto:ann@c.com", ["user"], True),
        ("https://a.com/x?secret", ["user"], False),
        ("https://a.com/x)secret", ["user"], False),
        ("<a href='https://a.com/x secret'>", ["user"], False),
        ("https://a.com/x&#63;secret", ["user"], False),
        ("http://a.com/x", ["user"], False),
        ("b.com", ["user"], False),
        ("https://d.com/y", ["user"], False),
        ("https://d.com/y", ["read#body"], True),
        ("https://e.com/z https://a.com/x", ["user", "read#url"], True),
        (f"https://a.com/{'x' * 5_000}", ["user"], False),
        (["https://a.com/x", "https://e.com/z"], ["user"], False),
    ],
)
def test_links_come_from_sources_as_a_whole(text: object, sources: list[str], *, holds: bool) -> None:
    """Every link, with its path and query."""
    assert matches(_condition(**{"from": sources}), _request(text)) is holds
    assert matches(_condition(not_from=sources), _request(text), Match.ALIKE) is not holds


def test_where_a_link_may_come_from_is_not_known() -> None:
    """As for `from` itself."""
    assert matches(_condition(**{"from": ["user"]}), _request("https://z.com"), Match.ALIKE)
    assert not matches(_condition(not_from=["user"]), _request("https://z.com"))


def test_a_user_who_is_not_heard_is_no_answer() -> None:
    """Except for texts without links, and for links that need no user."""
    silent = Provenance.of([], [("read", {}, {"url": "https://e.com/z"})])
    condition = _condition(**{"from": ["user", "read#url"]})
    with pytest.raises(UnevaluableError, match="no message of the user is known"):
        matches(condition, _request("https://a.com/x", silent))
    assert matches(condition, _request("https://e.com/z", silent))
    assert matches(condition, _request("x", silent))
    other = _condition(**{"from": ["read#url"]})
    assert not matches(other, _request("https://a.com/x", silent))


@for_each("value", [None, 5, True, {"a": "b"}, ["a", 5], [None], [["https://a.com"]]])
@for_each("links", [{"host": ["a.com"]}, {"from": ["user"]}])
def test_links_are_of_texts(value: object, links: dict[str, object]) -> None:
    """There is no answer for anything else."""
    with pytest.raises(UnevaluableError, match="neither a text"):
        matches(_condition(**links), _request(value))


@for_each("value", [None, "", []])
def test_an_optional_argument_has_no_links(value: object) -> None:
    """It may be left out."""
    condition = _condition({"optional": True}, host=["a.com"])
    assert matches(condition, _request(value))
    assert not matches(condition, _request(value), Match.ALIKE)
    assert condition.fact(_request(value)) == "args.body has no links"


def test_a_text_with_too_many_links_is_no_answer() -> None:
    """The explanation names the argument."""
    with pytest.raises(UnevaluableError, match=r"`args.body`: a text with more than 1,000 links"):
        matches(_condition(host=["a.com"]), _request("https://a.com " * 1_001))


def test_near_misses_name_the_links_that_fail() -> None:
    """And what the rule asks for."""
    hosts = _condition(host=["a.com", "*.b.com"])
    assert hosts.expected == "links to `a.com` or `*.b.com`"
    assert hosts.fact(_request("https://a.com https://evil.com/x https://a.com@e.com javascript:x https://%/")) == (
        "args.body: the link `https://evil.com/x` leads to evil.com, the link `https://a.com@e.com` may lead to e.com, "
        "the link `https://a.com@e.com` may lead to a.com, ..."
    )
    assert hosts.fact(_request("javascript:x")) == "args.body: the link `javascript:x` has no host"
    assert hosts.fact(_request("https://a.com")) == "args.body: the link `https://a.com` leads to a.com"
    assert _condition(not_host=["a.com"]).expected == "links not to `a.com`"
    assert _condition(host=[ListedValues.of("ours", ("b.com",))]).expected == "links to `b.com` of `@ours`"
    assert _condition(host=[ListedValues.of("ours", ())]).expected == "links to an empty list"
    sources = _condition(**{"from": ["user", "read#url"]})
    assert sources.expected == "links from user or read#url"
    assert sources.fact(_request("https://a.com/x https://evil.com")) == (
        "args.body: the link `https://evil.com` is in none of its sources"
    )
    assert sources.fact(_request("https://e.com/z")) == (
        "args.body: the link `https://e.com/z` is in read #1, field `url`"
    )
    assert _condition(not_from=["user"]).expected == "links not from user"


@for_each(("links", "message"))
def test_what_is_not_a_table_of_links_is_an_error(links: object, message: str) -> None:
    """With the way out."""
    with pytest.raises(RuleError, match=message):
        scope_of((), {"args": {"body": {"links": links}}}, None)
    with pytest.raises(RuleError, match="`optional` is true"):
        scope_of((), {"args": {"body": {"links": {"host": "a.com"}, "optional": False}}}, None)


_BOTH = {"host": ["a.com"], "from": ["user"]}
_NEITHER = {"not_host": ["a.com"], "not_from": ["user"]}
_EITHER = [{"host": ["a.com"]}, {"from": ["user"]}]


@for_each(("text", "both", "either", "neither"))
def test_links_by_host_and_by_source(text: str, *, both: bool, either: bool, neither: bool) -> None:
    """Each link passes all of a table, and one table of a list; what `either` permits, `neither` does not restrict."""
    assert matches(_of(_BOTH), _request(text)) is both
    assert matches(_of(_EITHER), _request(text)) is either
    assert matches(_of(_NEITHER), _request(text), Match.ALIKE) is neither


def test_one_way_that_has_an_answer_is_enough() -> None:
    """Where no user is heard, a host still permits, and what fails one test fails the table."""
    ours, others, silent = "https://a.com/x", "https://evil.com", Provenance()
    assert matches(_of(_EITHER), _request(ours, silent))
    assert not matches(_of(_BOTH), _request(others, silent))
    assert not matches(_of(_NEITHER), _request(ours, silent), Match.ALIKE)
    for links, text, needed in (
        (_EITHER, others, Match.YES),
        (_BOTH, ours, Match.YES),
        (_NEITHER, others, Match.ALIKE),
    ):
        with pytest.raises(UnevaluableError, match=r"`args.body`: no message of the user is known"):
            matches(_of(links), _request(text, silent), needed)


def test_near_misses_name_each_test_that_a_link_fails() -> None:
    """In the words of both."""
    assert _of(_BOTH).expected == "links to `a.com`, and from user"
    assert _of(_EITHER).expected == "links to `a.com`, or from user"
    assert _of(_EITHER).fact(_request("https://evil.com https://a.com/y")) == (
        "args.body: the link `https://evil.com` leads to evil.com and is in none of its sources"
    )
    assert _of(_EITHER).fact(_request("https://a.com/x")) == (
        "args.body: the link `https://a.com/x` leads to a.com and is in the user's messages"
    )


def test_it_says_where_links_were_seen() -> None:
    """If a test asks that; of many links, of the first ten."""
    text = "https://a.com/x, https://d.com/y, https://a.com/x and javascript:z"
    origins = list(_of([{"host": ["a.com"]}, {"from": ["user"]}]).origins(_request(text)))
    assert [(each.argument, each.value, each.is_said) for each in origins] == [
        ("body.links", '"https://a.com/x"', True),
        ("body.links", '"https://d.com/y"', False),
        ("body.links", '"javascript:z"', False),
    ]
    assert origins[1].places == ("read #1, field `body`",)
    many = " ".join(f"https://a.com/{number}" for number in range(20))
    assert len(list(_of(_BOTH).origins(_request(many)))) == 10
    assert list(_of({"host": ["a.com"]}).origins(_request(text))) == []
    assert list(_of(_BOTH).origins(_request(5))) == []


def test_they_can_be_sent_to_another_process() -> None:
    """With what finds the links."""
    for condition in (_condition(host="a.com"), _condition(not_from=["user"])):
        assert pickle.loads(pickle.dumps(condition)) == condition  # noqa: S301 -- made here


@for_each(("links", "needs"))
def test_some_links_pass_only_where_the_user_is_heard(links: object, *, needs: bool) -> None:
    """If each way needs a message of the user; what was seen in the session matters if one way has a source."""
    condition = _of(links)
    assert condition.needs_user is needs
    assert condition.needs_sources is ("from" in str(links))
