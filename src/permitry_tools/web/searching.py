"""Search services, and the two shapes in which they are asked."""

import json
import time
import urllib.parse
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import attrs

from permitry.port import ToolError
from permitry_tools.web.exchange import Exchanger, Request
from permitry_tools.web.settings import NO_SERVICE

__all__ = ["ExaSearch", "Found", "SearchProvider", "SearxngSearch", "search_provider"]

LONGEST_FOUND = 4000
_LONGEST_SNIPPET = 500
_LONGEST_FIELD = 1000


@attrs.frozen
class Found:
    """One result of a search; `text` is the text of the page, None when it was not asked for or is not known."""

    url: str
    title: str
    snippet: str
    text: str | None = None


class SearchProvider(Protocol):
    """Searches the web."""

    def search(self, query: str, *, count: int, include_text: bool) -> list[Found]:
        """Return up to `count` results, best first.

        Raises: `ToolError` when the service cannot be reached or gives no results in its shape.
        """
        ...


@attrs.frozen
class SearxngSearch:
    """A SearXNG instance, asked by `GET /search?q=…&format=json`; it knows no page texts."""

    exchanger: Exchanger
    endpoint: str

    def search(self, query: str, *, count: int, include_text: bool) -> list[Found]:
        """Return up to `count` results, best first."""
        del include_text
        asked = urllib.parse.urlencode({"q": query, "format": "json"})
        key = self.exchanger.settings.search_key
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        results = _results(self.exchanger, Request(f"{_base(self.endpoint)}/search?{asked}", headers=headers))
        return [
            Found(_text(each, "url"), _text(each, "title"), _text(each, "content", _LONGEST_SNIPPET))
            for each in results
        ][:count]


@attrs.frozen
class ExaSearch:
    """A service of Exa's shape, asked by `POST /search` with the key in `x-api-key`."""

    exchanger: Exchanger
    endpoint: str

    def search(self, query: str, *, count: int, include_text: bool) -> list[Found]:
        """Return up to `count` results, best first."""
        longest = LONGEST_FOUND if include_text else _LONGEST_SNIPPET
        asked = {"query": query, "numResults": count, "contents": {"text": {"maxCharacters": longest}}}
        key = self.exchanger.settings.search_key
        headers = {"content-type": "application/json", **({} if key is None else {"x-api-key": key})}
        content = json.dumps(asked).encode()
        request = Request(f"{_base(self.endpoint)}/search", method="POST", headers=headers, content=content)
        return [
            Found(
                _text(each, "url"),
                _text(each, "title"),
                _text(each, "text", _LONGEST_SNIPPET),
                _text(each, "text", LONGEST_FOUND) if include_text else None,
            )
            for each in _results(self.exchanger, request)
        ][:count]


def search_provider(exchanger: Exchanger) -> SearchProvider:
    """Return the search service that the settings name.

    Raises: `ToolError` when they name none.
    """
    endpoint = exchanger.settings.search_endpoint
    if endpoint is None:
        raise ToolError(NO_SERVICE)
    if exchanger.settings.search_shape == "exa":
        return ExaSearch(exchanger, endpoint)
    return SearxngSearch(exchanger, endpoint)


def _base(endpoint: str) -> str:
    return endpoint.rstrip("/")


def _results(exchanger: Exchanger, request: Request) -> Iterable[Mapping[str, Any]]:
    """Return the results that have an address, as the service gives them."""
    # The host named the service, so it may be on this machine. It cannot send the key elsewhere.
    request = attrs.evolve(request, may_be_private=True)
    answer = exchanger.send(request, time.monotonic() + exchanger.settings.timeout)
    if not 200 <= answer.status < 300:  # noqa: PLR2004 -- the statuses of HTTP that mean success
        raise ToolError(f"the search service answers {answer.status}")
    try:
        data = json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise ToolError("the search service does not answer in JSON") from error
    results = data.get("results") if isinstance(data, dict) else None
    if not isinstance(results, list):
        raise ToolError("the search service gives no results in its shape")
    return [each for each in results if isinstance(each, dict) and _text(each, "url")]


def _text(result: Mapping[str, Any], name: str, longest: int = _LONGEST_FIELD) -> str:
    value = result.get(name)
    return value[:longest] if isinstance(value, str) else ""
