"""The gateway over HTTP: who gets in, and what does not."""

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal, TypeAlias

import httpx
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.auth.provider import AccessToken
from mcp.shared._httpx_utils import create_mcp_http_client
from tests.tables import for_each
from tests.unit.permitry_hosts.gateway.conftest import Scene, answers, text_of

from permitry.errors import AdapterError
from permitry_hosts.gateway.asking import ANSWER
from permitry_hosts.gateway.serve import Address, http_server, read_token, serve_http

Era: TypeAlias = Literal["legacy", "auto"]

TOKEN = "t" * 40
MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
}


def free_port() -> int:
    """Return a port that no one listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def served(scene: Scene, work: Callable[[str], Awaitable[Any]], *, origins: tuple[str, ...] = ()) -> Any:  # noqa: ANN401
    """Return what `work` gives with the address of a gateway that is served."""
    address = Address("127.0.0.1", free_port())

    async def main() -> object:
        server = http_server(scene.gateway, address, TOKEN, origins=origins)
        serving = asyncio.create_task(serve_http(scene.gateway, server))
        try:
            async with asyncio.timeout(10):
                while not serving.done():
                    with contextlib.suppress(OSError):
                        (await asyncio.open_connection(address.host, address.port))[1].close()
                        return await work(f"http://{address}/mcp")
                    await asyncio.sleep(0.05)
            return serving.result()
        finally:
            server.should_exit = True
            await asyncio.gather(serving, return_exceptions=True)

    return asyncio.run(main())


def body(method: str = "tools/call", **params: Any) -> dict[str, Any]:  # noqa: ANN401 -- JSON
    """Return a request of the modern era."""
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}


def headers(**more: str | None) -> dict[str, str]:
    """Return the headers of a good request that calls `look`; None leaves one out."""
    usual = {
        "authorization": f"Bearer {TOKEN}", "accept": "application/json, text/event-stream",
        "content-type": "application/json", "mcp-protocol-version": MODERN,
        "mcp-method": "tools/call", "mcp-name": "look",
    }  # fmt: skip
    found = {**usual, **{name.replace("_", "-"): value for name, value in more.items()}}
    return {name: value for name, value in found.items() if value is not None}


LOOK = body(name="look", arguments={"path": "a"})
INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
}  # fmt: skip


def posted(
    scene: Scene,
    request: object = LOOK,
    *,
    origins: tuple[str, ...] = (),
    **more: Any,  # noqa: ANN401 -- of httpx
) -> httpx.Response:
    """Return the answer to one request."""

    async def work(url: str) -> httpx.Response:
        async with httpx.AsyncClient() as http:
            given: dict[str, Any] = {"json": request, "headers": headers()} | more
            return await http.post(url, **given)

    response: httpx.Response = served(scene, work, origins=origins)
    return response


def test_the_official_client_is_served(tmp_path: Path, mode: Era) -> None:
    """Listed, called, blocked and asked, in both eras."""
    scene = Scene(tmp_path)

    async def elicited(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        del context
        assert isinstance(params, types.ElicitRequestFormParams)
        scene.asked.append(params.message)
        return answers(approve=True)(params)

    async def work(url: str) -> list[str]:
        async with create_mcp_http_client(headers={"authorization": f"Bearer {TOKEN}"}) as http:
            transport = streamable_http_client(url, http_client=http)
            async with Client(transport, mode=mode, elicitation_callback=elicited) as client:
                listed = [each.name for each in (await client.list_tools()).tools]
                calls = [("look", "a"), ("look", "/private/a"), ("write", "b"), ("drop", "b")]
                return [*listed, *[text_of(await client.call_tool(name, {"path": path})) for name, path in calls]]

    assert served(scene, work) == [
        "look", "write", "did it with {'path': 'a'}", "The call of `look` was blocked. Look elsewhere.",
        "did it with {'path': 'b'}", "There is no tool `drop`.",
    ]  # fmt: skip
    assert len(scene.asked) == 1
    assert [name for name, _ in scene.ran] == ["look", "write"]


def test_a_good_request_runs(tmp_path: Path) -> None:
    """Without which the refusals below would show nothing."""
    scene = Scene(tmp_path)
    assert posted(scene).json()["result"]["isError"] is False
    assert len(scene.ran) == 1


@for_each(
    "authorization",
    [None, "", "Bearer", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN, "Bearer " + "u" * 40],
)
@for_each("era", ["modern", "legacy"])
def test_without_the_token_nothing_is_served(tmp_path: Path, authorization: str | None, era: str) -> None:
    """Not even a list."""
    scene = Scene(tmp_path)
    request, version = (LOOK, MODERN) if era == "modern" else (INITIALIZE, None)
    given = headers(authorization=authorization, mcp_protocol_version=version)
    assert posted(scene, request, headers=given).status_code == 401
    assert (scene.ran, scene.events) == ([], [])


@for_each("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost:3000.evil.example"])
@for_each("era", ["modern", "legacy"])
def test_a_web_page_is_refused(tmp_path: Path, origin: str, era: str) -> None:
    """Although it has the token; only pages that are named may."""
    scene = Scene(tmp_path)
    request, version = (LOOK, MODERN) if era == "modern" else (INITIALIZE, None)
    given = headers(origin=origin, mcp_protocol_version=version)
    assert posted(scene, request, headers=given, origins=("http://localhost:3000",)).status_code == 403
    assert scene.ran == []


def test_what_watches_the_process_learns_that_it_serves(tmp_path: Path) -> None:
    """Without the token."""

    async def work(url: str) -> tuple[int, str]:
        async with httpx.AsyncClient() as http:
            found = await http.get(f"{url.removesuffix('/mcp')}/health")
            return found.status_code, found.text

    assert served(Scene(tmp_path), work) == (200, "ok")


def test_a_web_page_that_is_named_is_served(tmp_path: Path) -> None:
    """By its exact origin."""
    given = headers(origin="http://localhost:3000")
    assert posted(Scene(tmp_path), headers=given, origins=("http://localhost:3000",)).status_code == 200


@for_each("origin", ["http://localhost:3000", "http://evil.example"])
def test_a_browser_learns_which_pages_may_call(tmp_path: Path, origin: str) -> None:
    """It asks before it sends the token, and gives the answer to no other page."""
    pages = ("http://localhost:3000",)
    wanted = {"access-control-request-method": "POST", "access-control-request-headers": "authorization,mcp-param-path"}

    async def work(url: str) -> list[httpx.Response]:
        async with httpx.AsyncClient() as http:
            asked = await http.options(url, headers={"origin": origin, **wanted})
            return [asked, await http.post(url, json=LOOK, headers=headers(origin=origin))]

    asked, answered = served(Scene(tmp_path), work, origins=pages)
    is_named = origin in pages
    assert (asked.status_code, answered.status_code) == ((200, 200) if is_named else (400, 403))
    for each in (asked, answered):
        assert each.headers.get("access-control-allow-origin") == (origin if is_named else None)


def test_without_a_page_no_browser_learns_anything(tmp_path: Path) -> None:
    """As before."""
    wanted = {"origin": "http://localhost:3000", "access-control-request-method": "POST"}

    async def work(url: str) -> httpx.Response:
        async with httpx.AsyncClient() as http:
            return await http.options(url, headers=wanted)

    response = served(Scene(tmp_path), work)
    assert response.status_code == 401
    assert "access-control-allow-origin" not in response.headers


@for_each("host", ["evil.example", "127.0.0.1.evil.example", "127.0.0.1:1"])
def test_another_host_is_refused(tmp_path: Path, host: str) -> None:
    """A name that was made to lead here."""
    scene = Scene(tmp_path)
    assert posted(scene, headers=headers(host=host)).status_code == 421
    assert scene.ran == []


@for_each(
    "given",
    [
        headers(mcp_name="write"), headers(mcp_name=None), headers(mcp_method="tools/list"), headers(mcp_method=None),
        headers(mcp_protocol_version="2027-01-01"),
    ],
)  # fmt: skip
def test_headers_that_do_not_fit_the_body_are_refused(tmp_path: Path, given: dict[str, str]) -> None:
    """What a gateway on the way reads there must be what runs here."""
    scene = Scene(tmp_path)
    assert posted(scene, headers=given).status_code == 400
    assert scene.ran == []


def test_headers_do_not_tell_a_hidden_tool_from_none(tmp_path: Path) -> None:
    """Those that its schema asks for are not asked for."""
    scene = Scene(tmp_path)
    argument = {"type": "string", "x-mcp-header": "Path"}
    schema = {"type": "object", "properties": {"path": argument}}
    scene.fake.tools = [types.Tool(name=name, input_schema=schema) for name in ("look", "drop")]
    codes = {
        name: posted(scene, body(name=name, arguments={"path": "a"}), headers=headers(mcp_name=name)).status_code
        for name in ("look", "drop", "none")
    }
    assert codes == {"look": 400, "drop": 200, "none": 200}
    assert scene.ran == []


def test_headers_that_come_twice_are_refused(tmp_path: Path) -> None:
    """One of them would not be looked at."""
    scene = Scene(tmp_path)
    given = [*headers().items(), ("mcp-name", "write")]
    assert posted(scene, headers=given).status_code == 400
    assert scene.ran == []


@for_each("size", [4 * 1024 * 1024 + 1, 20 * 1024 * 1024])
def test_a_body_that_is_too_large_is_refused(tmp_path: Path, size: int) -> None:
    """Whether it says so in its header or not."""
    scene = Scene(tmp_path)

    async def pieces() -> Any:  # noqa: ANN401 -- an iterator of bytes
        for _ in range(size // 65_536 + 1):
            yield b" " * 65_536

    for content in (b" " * size, pieces()):
        with contextlib.suppress(httpx.TransportError):  # it may hang up before all is sent
            assert posted(scene, None, json=None, content=content).status_code == 413
    assert scene.ran == []


@for_each(
    "request_",
    [[LOOK], "text", {**LOOK, "params": []}, body(name="look", arguments=[1]), body(arguments={}), body(name=1)],
)
def test_a_body_that_is_no_call_runs_nothing(tmp_path: Path, request_: object) -> None:
    """Nor do several in one."""
    scene = Scene(tmp_path)
    response = posted(scene, request_)
    assert response.status_code >= 400 or "error" in response.json()
    assert (scene.ran, scene.events) == ([], [])


def test_a_body_that_is_not_json_runs_nothing(tmp_path: Path) -> None:
    """Half a request is none."""
    scene = Scene(tmp_path)
    assert posted(scene, None, json=None, content=b'{"jsonrpc": "2.0", "id"').status_code == 400
    assert scene.ran == []


def test_numbers_that_are_not_json_run_nothing(tmp_path: Path) -> None:
    """Python would read them."""
    scene = Scene(tmp_path)
    content = httpx.Request("POST", "http://a", json=LOOK).content.replace(b'"a"}', b'"a","n":NaN}')
    assert b"NaN" in content
    result = posted(scene, None, json=None, content=content).json()
    assert "error" in result or result["result"]["isError"]
    assert scene.ran == []


def test_a_server_that_is_not_there_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is served without it."""
    scene = Scene(tmp_path)
    (upstream,) = scene.gateway.upstreams

    async def gone(_: object) -> Client:
        raise OSError("gone")

    monkeypatch.setattr(type(upstream), "_new_client", lambda _, stack: gone(stack))
    with pytest.raises(AdapterError, match=r"`fs`.* cannot be used: gone"):
        served(scene, lambda _: asyncio.sleep(0))


def test_a_port_that_is_taken_is_an_error(tmp_path: Path) -> None:
    """With the way out; uvicorn would end the process with a code of its own."""
    scene = Scene(tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        server = http_server(scene.gateway, Address("127.0.0.1", taken.getsockname()[1]), TOKEN)
        with pytest.raises(AdapterError, match=r"cannot listen at 127\.0\.0\.1:[0-9]+; free the port"):
            asyncio.run(serve_http(scene.gateway, server))


@for_each(
    "text", ["8931", "127.0.0.1", "127.0.0.1:", ":80", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:a", "127.0.0.1:٣"]
)
def test_an_address_has_a_host_and_a_port(text: str) -> None:
    """Anything else is an error."""
    with pytest.raises(AdapterError, match="is not HOST:PORT, such as"):
        Address.parse(text)


@for_each("host", ["0.0.0.0", "192.0.2.1", "example.com", "[::]"])  # noqa: S104 -- refused
def test_it_listens_on_this_machine_alone(host: str) -> None:
    """Tokens do not go over a network in plain sight."""
    with pytest.raises(AdapterError, match="of this machine alone"):
        Address.parse(f"{host}:8931")


def test_an_address_is_written_as_in_a_url() -> None:
    """That of the sixth version in brackets."""
    assert [str(Address.parse(each)) for each in ("127.0.0.1:1", "localhost:65535", "[::1]:80", "::1:80")] == [
        "127.0.0.1:1", "localhost:65535", "[::1]:80", "[::1]:80",
    ]  # fmt: skip


def test_a_token_is_made_once(tmp_path: Path) -> None:
    """For its owner alone."""
    file = tmp_path / "state" / "token"
    token = read_token(file)
    assert (read_token(file), len(token) >= 32) == (token, True)
    assert file.stat().st_mode & 0o777 == 0o600


@for_each(("content", "mode"), [(b"short", 0o600), (b"", 0o600), (b"t" * 40, 0o644), (b"\xff" * 40, 0o600)])
def test_a_bad_token_is_refused(tmp_path: Path, content: bytes, mode: int) -> None:
    """One that others read, or guess."""
    file = tmp_path / "token"
    file.write_bytes(content)
    file.chmod(mode)
    with pytest.raises(AdapterError, match="token"):
        read_token(file)


def test_a_token_is_not_read_through_a_link(tmp_path: Path) -> None:
    """It may lead to what others write."""
    (tmp_path / "other").write_text("t" * 40)
    (tmp_path / "token").symlink_to(tmp_path / "other")
    with pytest.raises(AdapterError, match="cannot use the token file"):
        read_token(tmp_path / "token")


def test_clients_that_are_asked_at_once_answer_for_themselves(tmp_path: Path, mode: Era) -> None:
    """The yes of one user is not that of another one, whoever is faster."""
    scene = Scene(tmp_path)

    async def work(url: str) -> list[tuple[str, bool]]:
        async def one(number: int) -> tuple[str, bool]:
            async def elicited(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
                del context
                assert isinstance(params, types.ElicitRequestFormParams)
                assert f'"path": "{number}"' in params.message
                await asyncio.sleep(0.1 * (4 - number))
                return types.ElicitResult(action="accept", content={"approve": number % 2 == 0})

            async with create_mcp_http_client(headers={"authorization": f"Bearer {TOKEN}"}) as http:
                transport = streamable_http_client(url, http_client=http)
                async with Client(transport, mode=mode, elicitation_callback=elicited) as client:
                    result = await client.call_tool("write", {"path": str(number)})
                    return str(number), result.is_error is True

        return list(await asyncio.gather(*map(one, range(4))))

    assert served(scene, work) == [("0", False), ("1", True), ("2", False), ("3", True)]
    assert sorted(arguments["path"] for _, arguments in scene.ran) == ["0", "2"]


def test_a_state_is_for_one_principal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one client was asked, another one does not answer, although it may call the same tool."""
    scene = Scene(tmp_path)
    other = "o" * 40

    async def verify(_: object, token: str) -> AccessToken | None:
        name = {TOKEN: "one", other: "two"}.get(token)
        return None if name is None else AccessToken(token="", client_id=name, scopes=[])

    monkeypatch.setattr("permitry_hosts.gateway.serve._OneToken.verify_token", verify)

    async def work(url: str) -> list[Any]:
        async with httpx.AsyncClient() as http:

            async def post(token: str, **more: Any) -> Any:  # noqa: ANN401 -- JSON
                request = body(name="write", arguments={"path": "b"}, **more)
                given = headers(authorization=f"Bearer {token}", mcp_name="write")
                return (await http.post(url, json=request, headers=given)).json()

            state = (await post(TOKEN))["result"]["requestState"]
            answer = {ANSWER: {"action": "accept", "content": {"approve": True}}}
            found = [await post(token, requestState=state, inputResponses=answer) for token in (other, TOKEN)]
            return [found[0]["error"]["message"], found[1]["result"]["isError"]]

    assert served(scene, work) == ["Invalid or expired requestState", False]
    assert len(scene.ran) == 1
