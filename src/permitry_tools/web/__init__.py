"""The tools `web_search` and `fetch_url`.

They need the package httpx, which the extra `permitry[web]` installs; it is loaded on first use.
"""

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field

from permitry.port import ToolError, ToolRegistry, ToolTraits, UnavailableError
from permitry_tools._spec import ROLES, Arguments, tool
from permitry_tools.web.addresses import Resolve, resolve
from permitry_tools.web.pages import LONGEST_TEXT
from permitry_tools.web.settings import NO_SERVICE, WebSettings

if TYPE_CHECKING:
    from permitry_tools.web.exchange import Exchanger
    from permitry_tools.web.fetching import Fetcher, MayConnect
    from permitry_tools.web.searching import SearchProvider

__all__ = ["WebSettings", "register"]

_MOST_URLS = 10
_MOST_RESULTS = 20
_LONGEST_QUERY = 1000
# Room for all pages, and for what JSON adds to them.
_OUTPUT = _MOST_URLS * LONGEST_TEXT * 5 // 4

# Reading, but not only: an address or a query can carry out what it holds.
_READS_THE_WEB = ToolTraits(destructive=False, open_world=True, spawns_agent=False)


class WebSearch(Arguments):
    """The arguments of `web_search`."""

    query: str = Field(min_length=1, max_length=_LONGEST_QUERY, description="What to search for.")
    num_results: int = Field(10, ge=1, le=_MOST_RESULTS, description="How many results to give at most.")
    include_text: bool = Field(False, description="Whether to give the text of the pages, where it is known.")


class FetchUrl(Arguments):
    """The arguments of `fetch_url`."""

    urls: list[str] = Field(
        min_length=1, max_length=_MOST_URLS, description="The http or https addresses of the pages, ten at most."
    )


def register(
    registry: ToolRegistry,
    settings: WebSettings | None = None,
    may_connect: "MayConnect | None" = None,
    *,
    search: "SearchProvider | None" = None,
    resolver: Resolve = resolve,
) -> None:
    """Add `web_search` and `fetch_url` to `registry`.

    `may_connect` says whether a redirect to an address may be followed: True, or False, or a reason why not. Without
    it only redirects within one origin are. `search` is asked instead of the service that `settings` name; `resolver`
    finds the addresses of hosts.
    """
    chosen = settings or WebSettings()
    has_service = search is not None or chosen.search_endpoint is not None

    def check_service(_: dict[str, Any]) -> None:
        if not has_service:
            raise UnavailableError(f"Web search failed: {NO_SERVICE}.")

    @tool(
        registry, WebSearch, "Search the web.", _READS_THE_WEB, _check_query, check_service,
        timeout=chosen.timeout + 5, output_limit=_OUTPUT,
    )  # fmt: skip
    def web_search(arguments: WebSearch) -> tuple[bool, str]:
        return _search(arguments, lambda: search or _search_provider(chosen, resolver))

    @tool(
        registry, FetchUrl, "Read pages of the web, as text.", _READS_THE_WEB, _check_urls,
        roles={"urls[]": ROLES.URL}, timeout=chosen.timeout * _MOST_URLS + 5, output_limit=_OUTPUT,
    )  # fmt: skip
    def fetch_url(arguments: FetchUrl) -> tuple[bool, str]:
        return _fetch(arguments, _fetcher(chosen, resolver, may_connect))


def _exchanger(settings: WebSettings, resolver: Resolve) -> "Exchanger":
    try:
        from permitry_tools.web.exchange import Exchanger  # noqa: PLC0415 -- an extra, loaded on first use
    except ImportError as error:
        raise ToolError("the package httpx is missing; install `permitry[web]`") from error
    return Exchanger(settings, resolver)


def _fetcher(settings: WebSettings, resolver: Resolve, may_connect: "MayConnect | None") -> "Fetcher":
    exchanger = _exchanger(settings, resolver)
    from permitry_tools.web.fetching import Fetcher  # noqa: PLC0415 -- as above

    return Fetcher(exchanger, may_connect)


def _search_provider(settings: WebSettings, resolver: Resolve) -> "SearchProvider":
    exchanger = _exchanger(settings, resolver)
    from permitry_tools.web.searching import search_provider  # noqa: PLC0415 -- as above

    return search_provider(exchanger)


def _check_query(arguments: dict[str, Any]) -> None:
    query = arguments.get("query", "")
    if isinstance(query, str) and not query.strip():
        raise ToolError("web_search requires non-empty query")


def _check_urls(arguments: dict[str, Any]) -> None:
    urls = arguments.get("urls")
    if not isinstance(urls, list) or not all(isinstance(url, str) for url in urls):
        raise ToolError("fetch_url requires a list of URL strings")
    if not urls:
        raise ToolError("fetch_url requires at least one valid URL")


def _search(arguments: WebSearch, provider: "Callable[[], SearchProvider]") -> tuple[bool, str]:
    try:
        found = provider().search(arguments.query, count=arguments.num_results, include_text=arguments.include_text)
    except ToolError as error:
        raise ToolError(f"Web search failed: {error}.") from error
    results = [
        {"url": each.url, "title": each.title, "snippet": each.snippet}
        | ({"text": each.text} if each.text is not None else {})
        for each in found
    ]
    return True, _json({"query": arguments.query, "results": results, "total": len(results)})


def _fetch(arguments: FetchUrl, fetcher: "Fetcher") -> tuple[bool, str]:
    """Return the pages; those that failed are listed next to them, and if all did, the call did."""
    pages: list[dict[str, str]] = []
    errors: list[dict[str, str]] = []
    for url in dict.fromkeys(arguments.urls):
        try:
            page = fetcher.fetch(url)
        except ToolError as error:
            errors.append({"url": url, "error": str(error)})
        else:
            pages.append({"url": page.url, "title": page.title, "text": page.text})
    if not pages:
        failures = "; ".join(f"`{each['url']}`: {each['error']}" for each in errors)
        return False, f"Fetch URL failed: {failures}."
    return True, _json({"pages": pages, "total": len(pages)} | ({"errors": errors} if errors else {}))


def _json(value: Mapping[str, Any]) -> str:
    # Half a surrogate pair, which JSON can spell, is not text.
    return json.dumps(value, ensure_ascii=False).encode(errors="replace").decode()
