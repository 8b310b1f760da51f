"""Resources and prompts behind the gateway: rules see each as a call of the method that gets it.

One spelling of a URI is served, so that a rule about it cannot be evaded by another.
"""

import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import attrs
import mcp_types as types
from mcp import MCPError

from permitry.core.call import PayloadKind
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.spec import ToolSpec
from permitry.core.texts import visible
from permitry.errors import ToolError, safe_str
from permitry.guard.outcome import Permit, Refusal
from permitry_hosts.gateway.definitions import Definition
from permitry_hosts.gateway.gateway import Context, Gateway, Offered
from permitry_hosts.gateway.upstream import Upstream
from permitry_hosts.gateway.words import why_not

__all__ = ["Contents", "is_plain"]

_LOG = logging.getLogger("permitry.gateway")
# What rules see besides tools: a call of the method itself, with the parameters of the protocol as its arguments.
_GET_PROMPT = "prompts/get"
_READ_RESOURCE = "resources/read"
_NOT_PLAIN = (
    "Write the URI plainly: ASCII, its scheme in lower case, no `..`, no `//` in its path, no needless percent sign,"
    " and on the web a host in lower case, without a user and the usual port"
)
_NEEDLESS = re.compile(r"%(?:2[DE]|3\d|[46][1-9A-F]|[57][\dA]|5F|7E)")
"""An unreserved character that is percent-encoded means what it means bare (RFC 3986, section 2.3)."""
_URI = re.compile(r"[a-z][a-z0-9+.-]*:(?:[!-$&-\[\]^-~]|%[0-9A-F]{2})*")
"""A scheme in lower case; ASCII that is visible, without the backslash that some take for a slash; `%2F`, not `%2f`."""
_ON_THE_WEB = re.compile(r"(?:https?|wss?|ftp):")
_HOST = r"(?:(?:[a-z\d_-]+\.)*[a-z_][a-z\d_-]*|(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})|\[[\da-f:]+\])"
_AUTHORITY = re.compile(rf"[a-z]+://{_HOST}(?::[1-9]\d{{0,4}})?(?![^/?#])")
"""A host in lower case, no user, no dot at its end, and an address of four numbers or in brackets."""
_USUAL_PORT = re.compile(r"(?:(?:http|ws)://[^/?#]*:80|(?:https|wss)://[^/?#]*:443|ftp://[^/?#]*:21)(?!\d)")
_SEPARATOR = re.compile(r"[/:?#]|%2F|%5C")

Item = TypeVar("Item")
Result = TypeVar("Result", types.ReadResourceResult, types.GetPromptResult)


@attrs.define(eq=False)
class Contents:
    """Lists and gets what servers offer besides tools.

    Rules see calls of `mcp:SERVER/resources/read`, and of `mcp:SERVER/prompts/get`.
    """

    gateway: Gateway

    async def list_resources(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        """Return the resources that are not blocked; of those that two servers list, none."""
        found = await self._list(_READ_RESOURCE, Upstream.resources)
        uris = [resource.uri for _, resource in found]
        shown = [
            resource
            for upstream, resource in found
            if uris.count(resource.uri) == 1 and not self._is_blocked(upstream, resource.uri)
        ]
        return types.ListResourcesResult(resources=shown, ttl_ms=0, cache_scope="private")

    async def list_templates(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Return the templates of one server; with several it would be unknown whose is meant."""
        found = await self._list(_READ_RESOURCE, Upstream.templates) if len(self.gateway.upstreams) == 1 else []
        shown = [template for _, template in found]
        return types.ListResourceTemplatesResult(resource_templates=shown, ttl_ms=0, cache_scope="private")

    async def list_prompts(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        """Return the prompts, under the names that tools would have."""
        found = await self._list(_GET_PROMPT, Upstream.prompts)
        names = [self.gateway.shown(upstream, prompt.name) for upstream, prompt in found]
        shown = [
            prompt.model_copy(update={"name": name})
            for (_, prompt), name in zip(found, names, strict=True)
            if names.count(name) == 1
        ]
        return types.ListPromptsResult(prompts=shown, ttl_ms=0, cache_scope="private")

    async def _list(
        self, method: str, listed: Callable[[Upstream], Awaitable[list[Item]]]
    ) -> list[tuple[Upstream, Item]]:
        found: list[tuple[Upstream, Item]] = []
        for upstream in self.gateway.upstreams:
            self.gateway.renew()
            if not self.gateway.could_run(_offer(upstream, method)):
                continue
            try:
                found += [(upstream, item) for item in await listed(upstream)]
            except ToolError as error:
                # What the others have is still there.
                _LOG.warning("%s", error)
        return found

    def _is_blocked(self, upstream: Upstream, uri: str) -> bool:
        if not is_plain(uri):
            return True
        guard, server = self.gateway.guard, upstream.server.name
        call = guard.call(_READ_RESOURCE, {"uri": uri}, server=server, kind=PayloadKind.MCP)
        if isinstance(call, Refusal):
            return True
        spec = _offer(upstream, _READ_RESOURCE).definition.spec
        return guard.policy.decide(call, AuthContext.from_state(guard.session), spec).verdict is Verdict.BLOCK

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        """Return what a resource holds. Raises: `MCPError` with the reason why not."""
        if not is_plain(params.uri):
            # INVARIANT: what rules see is the one spelling of it, and the server gets the same.
            raise MCPError(types.INVALID_PARAMS, f"{_NOT_PLAIN}: `{visible(params.uri)}`.")
        owners = self._owners(params.uri)
        if not owners:
            # Clients may know a URI without a list.
            await self._list(_READ_RESOURCE, Upstream.resources)
            owners = self._owners(params.uri)
        if len(owners) != 1:
            raise MCPError(types.INVALID_PARAMS, f"There is no resource `{params.uri}`.")
        (upstream,) = owners
        offered = _offer(upstream, _READ_RESOURCE)

        async def read(arguments: dict[str, Any]) -> types.ReadResourceResult:
            result = await upstream.read(arguments["uri"])
            return result.model_copy(update={"ttl_ms": 0, "cache_scope": "private"})

        return await self._got(context, offered, {"uri": params.uri}, params, read)

    def _owners(self, uri: str) -> list[Upstream]:
        """Return whose resource it may be: of one server that offers some, any is its own."""
        upstreams = self.gateway.upstreams
        return [each for each in upstreams if uri in each.uris or (len(upstreams) == 1 and each.has("resources"))]

    async def get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        """Return a prompt. Raises: `MCPError` with the reason when it may not be had."""
        shown = self.gateway.shown
        owners = (each for each in self.gateway.upstreams if params.name.startswith(shown(each, "")))
        upstream = next(owners, None)
        if upstream is None or not upstream.has("prompts"):
            raise MCPError(types.INVALID_PARAMS, f"There is no prompt `{params.name}`.")
        name = params.name.removeprefix(shown(upstream, ""))

        async def get(given: dict[str, Any]) -> types.GetPromptResult:
            return await upstream.prompt(given["name"], given["arguments"])

        arguments = {"name": name, "arguments": params.arguments or {}}
        return await self._got(context, _offer(upstream, _GET_PROMPT), arguments, params, get)

    async def _got(
        self,
        context: Context,
        offered: Offered,
        arguments: dict[str, Any],
        params: types.InputResponseRequestParams,
        work: Callable[[dict[str, Any]], Awaitable[Result]],
    ) -> Result | types.InputRequiredResult:
        try:
            self.gateway.before()
            outcome = await self.gateway.outcome(context, offered, arguments, params)
            if isinstance(outcome, Permit):
                return await _run(outcome, work)
        except MCPError:
            raise
        except Exception as error:
            # INVARIANT: law 2. What cannot be decided, asked about or recorded is not done.
            raise MCPError(types.INTERNAL_ERROR, why_not(error)) from error
        if isinstance(outcome, Refusal):
            raise MCPError(types.INVALID_REQUEST, outcome.text)
        return outcome


async def _run(permit: Permit, work: Callable[[dict[str, Any]], Awaitable[Result]]) -> Result:
    started = False
    try:
        with permit as arguments:
            started = True
            return await work(arguments)
    except ToolError as error:
        raise MCPError(types.INTERNAL_ERROR, safe_str(error)) from error
    except Exception as error:
        if not started:
            raise
        _LOG.exception("the end of a request could not be recorded")
        text = f"The gateway failed ({type(error).__name__}); it was done, at least in part."
        raise MCPError(types.INTERNAL_ERROR, text) from error


def _offer(upstream: Upstream, method: str) -> Offered:
    """Return a method of a server as one of its tools."""
    spec = ToolSpec(f"mcp:{upstream.server.name}/{method}")
    return Offered(method, upstream, Definition(method, spec, "", {}))


def is_plain(uri: str) -> bool:
    """Return whether this is the one spelling of a URI; whether two paths that differ in case are one is not known.

    Source: RFC 3986, section 6.2.2; for `file`, RFC 8089, appendix B, which gives one file several URIs; for the web,
    section 4.4 of the URL standard of the WHATWG.
    """
    if _URI.fullmatch(uri) is None or _NEEDLESS.search(uri):
        return False
    if uri.startswith("file:") and not uri.startswith("file:///"):
        return False
    if _ON_THE_WEB.match(uri) and (_AUTHORITY.match(uri) is None or _USUAL_PORT.match(uri)):
        return False
    path = re.split(r"[?#]", uri.partition(":")[2].removeprefix("//"))[0]
    return "//" not in path and not {".", ".."} & set(_SEPARATOR.split(uri))
