"""The tools `web_search` and `fetch_url`, behind a handler."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import pytest

from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.core.spec import ArgumentRole
from permitry.core.well_known import WELL_KNOWN
from permitry.dispatch.registry import ToolRegistry
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools import web
from permitry_tools.web.searching import Found
from permitry_tools.web.settings import WebSettings

Site: TypeAlias = Any  # the one of the conftest

CASES = Path(__file__).resolve().parents[4].parent / "shared" / "cases" / "openplanter_tool_golden.jsonl"
Use: TypeAlias = Callable[..., ToolResult]


def _resolver(_: str, __: int) -> Sequence[str]:
    return ["127.0.0.1"]


@pytest.fixture
def registry() -> ToolRegistry:
    """Return the web tools; private addresses are allowed, every name is this machine."""
    registry = ToolRegistry()
    web.register(registry, WebSettings(allow_private=True, timeout=10), resolver=_resolver)
    return registry


def test_a_page_is_read(site: Site, use: Use) -> None:
    """The result is JSON: the pages, and how many."""
    site.page("/", "<title>A</title><p>caf\u00e9</p>", "text/html; charset=utf-8")
    result = use("fetch_url", urls=[site.url()])
    assert result == ToolResult(
        True, f'{{"pages": [{{"url": "{site.url()}", "title": "A", "text": "caf\u00e9"}}], "total": 1}}'
    )


def test_what_failed_is_next_to_what_worked(site: Site, use: Use) -> None:
    """One bad address does not take the others away."""
    site.page("/a", "a")
    result = use("fetch_url", urls=[site.url("/missing"), site.url("/a"), site.url("/a")])
    assert result.ok is True
    shown = json.loads(result.text)
    assert [page["text"] for page in shown["pages"]] == ["a"]
    assert shown["total"] == 1
    assert shown["errors"] == [{"url": site.url("/missing"), "error": "the server answers 404"}]


def test_when_all_fail_the_call_has_failed(site: Site, use: Use) -> None:
    """With every reason."""
    result = use("fetch_url", urls=[site.url("/b"), "file:///etc/passwd"])
    assert result.ok is False
    assert result.text == (
        f"Fetch URL failed: `{site.url('/b')}`: the server answers 404; "
        "`file:///etc/passwd`: `file:///etc/passwd` is not a plain http or https address."
    )


def test_ten_long_pages_fit(site: Site, use: Use) -> None:
    """The limit of the output does not cut the JSON."""
    for number in range(10):
        site.page(f"/{number}", 'a "quoted" line\n' * 2000, "text/plain")
    shown = json.loads(use("fetch_url", urls=[site.url(f"/{number}") for number in range(10)]).text)
    assert [len(page["text"]) for page in shown["pages"]] == [8000] * 10


def test_eleven_are_too_many(use: Use) -> None:
    """Ten at most."""
    result = use("fetch_url", urls=["https://a.example/"] * 11)
    assert result.ok is False
    assert "The arguments do not fit: `urls`" in result.text


def test_a_search_gives_results(site: Site) -> None:
    """The result is JSON: the query, the results, and how many."""
    site.page("/search", '{"results": [{"url": "https://a.example/", "title": "A", "content": "\\ud800"}]}')
    registry = ToolRegistry()
    web.register(registry, WebSettings(site.url()), resolver=_resolver)
    result = _used(registry, "web_search", query="q")
    assert result.ok is True
    assert json.loads(result.text) == {
        "query": "q",
        "results": [{"url": "https://a.example/", "title": "A", "snippet": "?"}],
        "total": 1,
    }


def test_a_search_that_fails_is_reported(site: Site) -> None:
    """In the words models know."""
    registry = ToolRegistry()
    web.register(registry, WebSettings(site.url()), resolver=_resolver)
    assert _used(registry, "web_search", query="q") == ToolResult(
        False, "Web search failed: the search service answers 404."
    )


@attrs.frozen
class _Own:
    """A search service of the host program."""

    def search(self, query: str, *, count: int, include_text: bool) -> list[Found]:
        """Return one result that tells what was asked."""
        return [Found(query, str(count), "", "text" if include_text else None)]


def test_a_search_of_one_s_own_is_asked() -> None:
    """Anything that can search will do."""
    registry = ToolRegistry()
    web.register(registry, search=_Own())
    result = _used(registry, "web_search", query="q", num_results=3, include_text=True)
    assert json.loads(result.text)["results"] == [{"url": "q", "title": "3", "snippet": "", "text": "text"}]


def test_refusals_read_as_they_were_recorded(use: Use) -> None:
    """Empty queries and wrong lists, in the words of the recorded tools."""
    if not CASES.exists():
        pytest.skip("needs the shared cases")
    lines = map(json.loads, CASES.read_text(encoding="utf-8").splitlines())
    steps = next(case for case in lines if case["id"] == "op-025-web-no-key")["steps"]
    for step in (step for step in steps if "EXA" not in step["observation"]):
        assert use(step["tool"], **step["args"]).text == step["observation"]


def test_without_a_service_the_search_says_so(registry: ToolRegistry) -> None:
    """Recorded: `Web search failed: …`; no question is asked about a call that cannot work."""
    result = ToolHandler(Session(), registry=registry).handle(ToolCall("web_search", {"query": "x"}))
    assert result.text.startswith("Web search failed: no search service is configured")


def test_the_tools_declare_what_well_known_ones_are(registry: ToolRegistry) -> None:
    """Addresses are judged one by one; a search goes only to the service that was chosen."""
    for name in ("web_search", "fetch_url"):
        spec = registry.get(name)
        assert spec is not None
        assert spec.traits == WELL_KNOWN[name].traits
        assert spec.only_reads is False
    fetch, search = registry.get("fetch_url"), registry.get("web_search")
    assert fetch is not None
    assert search is not None
    assert dict(fetch.roles or {}) == {"urls[]": ArgumentRole.URL}
    assert search.roles == {}


def test_a_host_that_is_blocked_is_not_fetched(site: Site, registry: ToolRegistry, tmp_path: Path) -> None:
    """One bad address among good ones blocks the call: nothing is fetched at all."""
    rules = tmp_path / "rules.toml"
    rules.write_text(
        'schema = 1\n[[rule]]\nid = "web"\neffect = "allow"\ntools = ["fetch_url"]\n'
        f'when.host = ["http://good.example:{site.port}"]\n'
        '[[rule]]\nid = "bad"\neffect = "block"\nwhen.host = ["bad.example"]\nmessage = "Not there."\n',
        encoding="utf-8",
    )
    site.page("/", "a")
    handler = ToolHandler(Session(), registry=registry, policy=load_policy(str(rules)))
    good, bad = site.url(host="good.example"), site.url(host="bad.example")
    assert handler.handle(ToolCall("fetch_url", {"urls": [good, bad]})).ok is False
    assert site.seen == []
    assert handler.handle(ToolCall("fetch_url", {"urls": [good]})).ok is True


def test_a_missing_package_is_reported(use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the extra that brings it; the tools are there all the same."""
    for name in ("exchange", "fetching", "searching"):
        monkeypatch.delitem(sys.modules, f"permitry_tools.web.{name}", raising=False)
        monkeypatch.delattr(web, name, raising=False)
    monkeypatch.setitem(sys.modules, "httpx", None)
    assert use("fetch_url", urls=["https://a.example/"]).text.endswith("install `permitry[web]`")
    registry = ToolRegistry()
    web.register(registry, WebSettings(search_endpoint="https://search.example"))
    assert "permitry[web]" in _used(registry, "web_search", query="a").text


def test_foreign_packages_are_loaded_on_first_use() -> None:
    """The one who does not fetch need not have them."""
    code = (
        "import sys; from permitry.dispatch.registry import ToolRegistry; from permitry_tools import mcp, web\n"
        "web.register(ToolRegistry()); mcp.McpConnection(mcp.McpServer('a', 'b'))\n"
        "assert not {'httpx', 'mcp', 'anyio'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def _used(registry: ToolRegistry, tool: str, **arguments: Any) -> ToolResult:  # noqa: ANN401 -- the tool's own
    return ToolHandler(Session(yolo_mode=True), registry=registry).handle(ToolCall(tool, arguments))
