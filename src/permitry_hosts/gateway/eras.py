"""What a server says, for a client of another version of the protocol, which may have no form for it."""

import mcp_types as types
from mcp_types.methods import validate_server_result

__all__ = ["result_for", "tool_for"]


def tool_for(version: str, tool: types.Tool) -> types.Tool | None:
    """Return a tool for a client, without an output schema that does not fit; None if more does not.

    One tool that does not fit would cost the client the list of all servers.
    """
    each = (tool, tool.model_copy(update={"output_schema": None}))
    return next((one for one in each if _fits(version, "tools/list", types.ListToolsResult(tools=[one]))), None)


def result_for(version: str, result: types.CallToolResult) -> types.CallToolResult:
    """Return the result of a call that has run for a client, without its structured content if that does not fit.

    One that does not fit would look as if the call had failed, and be made again.
    """
    unknown = "The call has run; its result has a form that this client cannot take."
    each = (result, result.model_copy(update={"structured_content": None}))
    fallback = types.CallToolResult(content=[types.TextContent(text=unknown)], is_error=True)
    return next((one for one in each if _fits(version, "tools/call", one)), fallback)


def _fits(version: str, method: str, result: types.Result) -> bool:
    try:
        validate_server_result(method, version, result.model_dump(by_alias=True, mode="json", exclude_none=True))
    except (ValueError, RecursionError):
        return False
    return True
