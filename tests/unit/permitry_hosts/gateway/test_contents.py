"""Resources and prompts: listed and got as the rules say."""

from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs
import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp.server.lowlevel.server import Server as McpServer
from tests.tables import for_each
from tests.unit.permitry_hosts.gateway.conftest import Fake, Scene, answers, text_of, tool

from permitry.errors import ConfigError
from permitry_hosts.gateway.asking import ANSWER

Era: TypeAlias = Literal["legacy", "auto"]

RULES = """
schema = 1
[[rule]]
id = "docs"
effect = "allow"
tools = ["mcp:*/resources/read"]
when.args.uri = { prefix = "file:///docs/" }
[[rule]]
id = "keys"
effect = "block"
tools = ["mcp:*/resources/read"]
when.args.uri = { glob = "*key*" }
message = "Keys are not read."
[[rule]]
id = "greet"
effect = "allow"
tools = ["mcp:*/prompts/get"]
when.args.name = "greet"
"""
URIS = ("file:///docs/a", "file:///docs/key", "file:///other")
YES = answers(approve=True)


@attrs.define(eq=False)
class Library(Fake):
    """A server with resources and prompts as well."""

    tools: list[types.Tool] = attrs.field(factory=list)
    uris: tuple[str, ...] = URIS
    is_broken: bool = False

    def server(self) -> McpServer[Any]:
        """Return it for the SDK."""
        server = Fake.server(self)

        async def resources(_: object, __: object) -> types.ListResourcesResult:
            if self.is_broken:
                raise MCPError(-32603, "no luck")
            return types.ListResourcesResult(resources=[types.Resource(uri=uri, name="x") for uri in self.uris])

        async def templates(_: object, __: object) -> types.ListResourceTemplatesResult:
            template = types.ResourceTemplate(uri_template="file:///{path}", name="x")
            return types.ListResourceTemplatesResult(resource_templates=[template])

        async def read(_: object, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
            self.ran.append(("read", {"uri": params.uri}))
            if self.is_broken:
                raise MCPError(-32603, "no luck")
            contents = types.TextResourceContents(uri=params.uri, text=f"{self.name} has {params.uri}")
            return types.ReadResourceResult(contents=[contents], ttl_ms=99_000, cache_scope="public")

        async def prompts(_: object, __: object) -> types.ListPromptsResult:
            return types.ListPromptsResult(prompts=[types.Prompt(name=name) for name in ("greet", "part")])

        async def prompt(_: object, params: types.GetPromptRequestParams) -> types.GetPromptResult:
            self.ran.append((params.name, dict(params.arguments or {})))
            content = types.TextContent(text=f"{params.name} {params.arguments}")
            return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])

        server.add_request_handler("resources/list", types.PaginatedRequestParams, resources)
        server.add_request_handler("resources/templates/list", types.PaginatedRequestParams, templates)
        server.add_request_handler("resources/read", types.ReadResourceRequestParams, read)
        server.add_request_handler("prompts/list", types.PaginatedRequestParams, prompts)
        server.add_request_handler("prompts/get", types.GetPromptRequestParams, prompt)
        return server


def library(folder: Path, **rest: Any) -> Scene:  # noqa: ANN401 -- fields of a scene
    """Return a gateway in front of one."""
    return Scene(folder, **{"rules": RULES, "fakes": (Library(),), **rest})


def read(scene: Scene, uri: str) -> str:
    """Return the text of a resource, or of the error."""

    async def work(client: Client) -> str:
        try:
            (contents,) = (await client.read_resource(uri)).contents
        except MCPError as error:
            return error.message
        assert isinstance(contents, types.TextResourceContents)
        return contents.text

    text: str = scene.run(work)
    return text


def refused_prompt(scene: Scene, name: str) -> str:
    """Return the error for a prompt."""

    async def work(client: Client) -> str:
        with pytest.raises(MCPError) as caught:
            await client.get_prompt(name)
        return caught.value.message

    text: str = scene.run(work)
    return text


def test_resources_are_listed_unless_they_are_blocked(tmp_path: Path, mode: Era) -> None:
    """For this client alone."""
    listed = library(tmp_path, mode=mode).run(lambda client: client.list_resources())
    assert [each.uri for each in listed.resources] == ["file:///docs/a", "file:///other"]
    assert (listed.ttl_ms, listed.cache_scope) == (0, "private")


def test_a_resource_that_cannot_be_decided_on_is_not_listed(tmp_path: Path) -> None:
    """Its address is too long for a call."""
    scene = library(tmp_path, fakes=(Library(uris=("file:///docs/" + "a" * 2_000_000, URIS[0])),))
    assert [each.uri for each in scene.run(lambda client: client.list_resources()).resources] == [URIS[0]]


def test_a_resource_is_read_as_the_rules_say(tmp_path: Path, mode: Era) -> None:
    """Allowed, blocked, and asked about without anyone to answer; only what is allowed reaches the server."""
    scene = library(tmp_path, mode=mode)
    assert read(scene, URIS[0]) == "fs has file:///docs/a"
    assert "Keys are not read." in read(scene, URIS[1])
    assert "got none" in read(scene, URIS[2])
    assert scene.ran == [("read", {"uri": URIS[0]})]
    assert scene.events == ["decided", "started", "finished", "decided", "decided", "asked", "answered"]


@for_each("uri", ["file:///docs/../other", "file:///docs/k%65y", "FILE:///docs/a"])
def test_another_spelling_of_a_resource_is_refused(tmp_path: Path, uri: str) -> None:
    """Rules are about the plain one; a list does not show the other one either."""
    scene = library(tmp_path, fakes=(Library(uris=(uri, "file:///docs/a")),))
    assert read(scene, uri).startswith("Write the URI plainly")
    assert scene.ran == []
    listed = scene.run(lambda client: client.list_resources()).resources
    assert [resource.uri for resource in listed] == ["file:///docs/a"]


def test_a_resource_is_asked_about(tmp_path: Path, mode: Era) -> None:
    """A yes reads it."""
    scene = library(tmp_path, mode=mode, answer=YES)
    assert read(scene, URIS[2]) == "fs has file:///other"
    (asked,) = scene.asked
    assert asked.startswith("The agent wants to call mcp:fs/resources/read.")


def test_what_is_blocked_is_so_whether_it_exists_or_not(tmp_path: Path) -> None:
    """The answer says nothing of the server."""
    scene = library(tmp_path)
    assert read(scene, "file:///docs/key") == read(scene, "file:///docs/no-such-key")
    assert scene.ran == []


def test_no_client_keeps_what_it_read(tmp_path: Path) -> None:
    """The rules may say no the next time."""
    scene = library(tmp_path, mode="auto")
    result = scene.run(lambda client: client.read_resource(URIS[0]))
    assert (result.ttl_ms, result.cache_scope) == (0, "private")


def test_where_no_reading_could_run_nothing_is_listed(tmp_path: Path) -> None:
    """Neither resources nor their templates."""
    rules = 'schema = 1\n[[rule]]\nid = "no"\neffect = "block"\ntools = ["mcp:*/resources/*", "mcp:*/prompts/*"]'
    for given, count in ((RULES, 1), (rules, 0)):
        scene = library(tmp_path, rules=given)
        assert len(scene.run(lambda client: client.list_resource_templates()).resource_templates) == count
        assert bool(scene.run(lambda client: client.list_resources()).resources) == bool(count)
        assert bool(scene.run(lambda client: client.list_prompts()).prompts) == bool(count)


def test_a_prompt_is_got_as_the_rules_say(tmp_path: Path, mode: Era) -> None:
    """With the arguments that were decided on."""
    scene = library(tmp_path, mode=mode)
    assert [each.name for each in scene.run(lambda client: client.list_prompts()).prompts] == ["greet", "part"]
    (message,) = scene.run(lambda client: client.get_prompt("greet", {"who": "ann"})).messages
    assert message.content.text == "greet {'who': 'ann'}"
    assert "got none" in refused_prompt(scene, "part")
    assert scene.ran == [("greet", {"who": "ann"})]


def test_those_of_several_servers_are_kept_apart(tmp_path: Path, mode: Era) -> None:
    """Prompts by name; a resource that both list is no one's, and there are no templates."""
    fakes = (Library("a", uris=(URIS[0], "file:///docs/b")), Library("b", uris=(URIS[0],)))
    scene = library(tmp_path, fakes=fakes, mode=mode)

    async def work(client: Client) -> list[Any]:
        prompts = [each.name for each in (await client.list_prompts()).prompts]
        uris = [each.uri for each in (await client.list_resources()).resources]
        templates = (await client.list_resource_templates()).resource_templates
        (contents,) = (await client.read_resource("file:///docs/b")).contents
        return [prompts, uris, templates, contents.text]  # type: ignore[union-attr]  # it is text

    assert scene.run(work) == [
        ["a__greet", "a__part", "b__greet", "b__part"], ["file:///docs/b"], [], "a has file:///docs/b",
    ]  # fmt: skip
    assert read(scene, URIS[0]) == f"There is no resource `{URIS[0]}`."
    assert scene.run(lambda client: client.get_prompt("b__greet")).messages
    assert refused_prompt(scene, "greet") == "There is no prompt `greet`."
    assert [len(fake.ran) for fake in fakes] == [1, 1]


def test_a_resource_is_read_without_a_list_before(tmp_path: Path, mode: Era) -> None:
    """Clients may know a URI already; it is looked up whose it is."""
    scene = library(tmp_path, fakes=(Library("a"), Library("b", uris=("file:///docs/z",))), mode=mode)
    assert read(scene, "file:///docs/z") == "b has file:///docs/z"
    assert read(scene, "file:///docs/none") == "There is no resource `file:///docs/none`."


def test_a_tool_cannot_pass_for_a_method(tmp_path: Path) -> None:
    """A rule about reading is not one about a tool of that name."""
    scene = library(tmp_path, fakes=(Library(tools=[tool("resources/read"), tool("prompts/get")]),))
    assert scene.run(lambda client: client.list_tools()).tools == []
    result = scene.call("resources/read", {"uri": URIS[0]})
    assert (text_of(result), scene.ran) == ("There is no tool `resources/read`.", [])


def test_a_state_is_for_one_resource(tmp_path: Path) -> None:
    """And counts once."""
    scene = library(tmp_path, mode="auto", answer=YES)
    yes: types.InputResponses = {ANSWER: types.ElicitResult(action="accept", content={"approve": True})}

    async def work(client: Client) -> None:
        asked = await client.session.read_resource(URIS[2], allow_input_required=True)
        assert isinstance(asked, types.InputRequiredResult)
        state = asked.request_state
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await client.session.read_resource("file:///another", request_state=state, input_responses=yes)
        await client.session.read_resource(URIS[2], request_state=state, input_responses=yes)
        with pytest.raises(MCPError, match="No question about this call is open"):
            await client.session.read_resource(URIS[2], request_state=state, input_responses=yes)

    scene.run(work)
    assert scene.ran == [("read", {"uri": URIS[2]})]


def test_a_server_without_any_has_none(tmp_path: Path, mode: Era) -> None:
    """One with tools alone."""
    scene = Scene(tmp_path, mode=mode)
    assert scene.run(lambda client: client.list_resources()).resources == []
    assert scene.run(lambda client: client.list_resource_templates()).resource_templates == []
    assert scene.run(lambda client: client.list_prompts()).prompts == []


def test_a_server_that_fails_is_reported(tmp_path: Path) -> None:
    """Its list is empty; the error of a request is that of the server."""
    scene = library(tmp_path, fakes=(Library(is_broken=True),))
    assert scene.run(lambda client: client.list_resources()).resources == []
    assert read(scene, URIS[0]) == "The MCP server `fs` failed: no luck."
    assert scene.events == ["decided", "started", "finished"]


def test_what_a_server_does_not_offer_is_not_asked_about(tmp_path: Path) -> None:
    """A yes would be for nothing."""
    scene = Scene(tmp_path, answer=YES)
    assert read(scene, URIS[0]) == f"There is no resource `{URIS[0]}`."
    assert refused_prompt(scene, "greet") == "There is no prompt `greet`."
    assert (scene.asked, scene.events) == ([], [])


def test_a_gateway_that_fails_reads_nothing(tmp_path: Path) -> None:
    """Whatever fails."""
    scene = library(tmp_path, answer=YES)

    def crash() -> None:
        raise ZeroDivisionError

    scene.gateway.before = crash
    assert read(scene, URIS[0]) == "The gateway failed (ZeroDivisionError), so the call did not run."
    assert scene.ran == []


def test_rules_with_mistakes_get_nothing(tmp_path: Path) -> None:
    """What is listed stays."""
    scene = library(tmp_path, answer=YES)

    def broken() -> None:
        raise ConfigError([])

    scene.gateway.before = broken
    assert scene.run(lambda client: client.list_resources()).resources != []
    assert read(scene, URIS[0]).startswith("The user's rule files have mistakes")
    assert scene.ran == []


@for_each(("event", "done"), [("decided", 0), ("started", 0), ("finished", 1)])
def test_what_cannot_be_recorded_is_not_read(tmp_path: Path, event: str, done: int) -> None:
    """And what could not be recorded to its end is no success."""
    scene = library(tmp_path)
    before = scene.recorder.record

    def record(name: str, *rest: Any, **more: Any) -> None:  # noqa: ANN401 -- as the recorder takes them
        if name == event:
            raise OSError("the disk is full")
        before(name, *rest, **more)

    scene.gateway.guard.recorder = type("Failing", (), {"record": staticmethod(record)})()
    assert "fs has" not in read(scene, URIS[0])
    assert len(scene.ran) == done
