"""Search services, and the two shapes in which they are asked."""

import json
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from permitry.errors import ToolError
from permitry_tools.web.exchange import Exchanger
from permitry_tools.web.searching import Found, SearchProvider, search_provider
from permitry_tools.web.settings import WebSettings

Site: TypeAlias = Any  # the one of the conftest

Provide = Callable[..., SearchProvider]


@pytest.fixture
def provide(site: Site) -> Provide:
    """Return a maker of providers that ask the site; private addresses are not allowed."""

    def make(shape: str, key: str | None = None, path: str = "") -> SearchProvider:
        settings = WebSettings(site.url(path), shape, key)
        return search_provider(Exchanger(settings, lambda _, __: ["127.0.0.1"]))

    return make


def _answer(site: Site, results: object, path: str = "/search") -> None:
    site.page(path, json.dumps({"results": results}), "application/json")


def test_searxng_is_asked_in_its_shape(site: Site, provide: Provide) -> None:
    """The query travels whole, whatever is in it."""
    _answer(site, [{"url": "https://a.example/", "title": "A", "content": "about a", "engine": "x"}])
    assert provide("searxng").search("a&b=c ü#", count=5, include_text=True) == [
        Found("https://a.example/", "A", "about a")
    ]
    assert (site.seen[0].method, site.seen[0].path) == ("GET", "/search?q=a%26b%3Dc+%C3%BC%23&format=json")
    assert "authorization" not in site.seen[0].headers


def test_searxng_behind_a_key(site: Site, provide: Provide) -> None:
    """A key goes where proxies look for one."""
    _answer(site, [], "/deep/search")
    assert provide("searxng", "word", "/deep/").search("a", count=5, include_text=False) == []
    assert site.seen[0].headers["authorization"] == "Bearer word"


def test_exa_is_asked_in_its_shape(site: Site, provide: Provide) -> None:
    """The key is in its header, the question in the body."""
    _answer(site, [{"url": "https://a.example/", "title": None, "text": "t" * 9000}])
    found = provide("exa", "word").search("q", count=3, include_text=True)
    assert [(each.url, each.title, len(each.snippet), len(each.text or "")) for each in found] == [
        ("https://a.example/", "", 500, 4000)
    ]
    seen = site.seen[0]
    assert (seen.method, seen.path, seen.headers["x-api-key"]) == ("POST", "/search", "word")
    assert json.loads(seen.body) == {"query": "q", "numResults": 3, "contents": {"text": {"maxCharacters": 4000}}}


def test_texts_come_only_when_asked_for(site: Site, provide: Provide) -> None:
    """They are long."""
    _answer(site, [{"url": "https://a.example/", "title": "A", "text": "text"}])
    found = provide("exa").search("q", count=3, include_text=False)
    assert found == [Found("https://a.example/", "A", "text", None)]


@pytest.mark.parametrize("shape", ["searxng", "exa"])
def test_no_more_than_asked_for_and_nothing_without_an_address(site: Site, provide: Provide, shape: str) -> None:
    """A service may give what it likes."""
    results = [{"title": "none"}, "text", None, {"url": 5}, *({"url": f"https://{n}.example/"} for n in range(9))]
    _answer(site, results)
    found = provide(shape).search("q", count=2, include_text=False)
    assert [each.url for each in found] == ["https://0.example/", "https://1.example/"]


@pytest.mark.parametrize("body", ["", "<html>", "[]", '{"results": {}}', "[" * 100_000, '{"a": 1}'])
def test_an_answer_of_another_shape_is_reported(site: Site, provide: Provide, body: str) -> None:
    """The tool has not crashed."""
    site.page("/search", body, "application/json")
    with pytest.raises(ToolError, match="the search service"):
        provide("searxng").search("q", count=2, include_text=False)


def test_a_refusal_is_reported(site: Site, provide: Provide) -> None:
    """With its status, and without the key."""
    site.status("/search", 401)
    with pytest.raises(ToolError, match="answers 401") as caught:
        provide("exa", "word").search("q", count=2, include_text=False)
    assert "word" not in str(caught.value)


def test_the_key_is_not_carried_on(site: Site, provide: Provide) -> None:
    """A service that leads elsewhere is not followed."""
    site.redirect("/search", "/elsewhere")
    with pytest.raises(ToolError, match="answers 302"):
        provide("exa", "word").search("q", count=2, include_text=False)
    assert len(site.seen) == 1


def test_without_a_service_it_says_how_to_name_one() -> None:
    """To the model, which tells the one who can."""
    with pytest.raises(ToolError, match=r"WebSettings\(search_endpoint"):
        search_provider(Exchanger(WebSettings(), lambda _, __: []))
