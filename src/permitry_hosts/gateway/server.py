"""What names an MCP server that the gateway is in front of."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import attrs

from permitry.core.json_values import canonical_json

__all__ = ["Server"]


@attrs.frozen
class Server:
    """An MCP server: a program with its arguments (`command`), or an address (`url`).

    A program gets the variables of `env`, and none that hold secrets. Times are in seconds. What one
    that `is_trusted` says in favour of its tools is believed.
    """

    name: str
    command: tuple[str, ...] = ()
    url: str | None = attrs.field(default=None, kw_only=True)
    env: Mapping[str, str] = attrs.field(factory=dict, kw_only=True, repr=False)
    folder: str | None = attrs.field(default=None, kw_only=True)
    headers: Mapping[str, str] = attrs.field(factory=dict, kw_only=True, repr=False)
    timeout: float = attrs.field(default=60.0, kw_only=True)
    start_timeout: float = attrs.field(default=30.0, kw_only=True)
    is_trusted: bool = attrs.field(default=False, kw_only=True)

    @property
    def described(self) -> str:
        """The server for its user, with the program to try by hand; arguments and an address may hold secrets."""
        program = f", started by `{self.command[0]}`," if self.url is None else ""
        return f"the MCP server `{self.name}`{program}"

    @property
    def identity(self) -> str:
        """A digest of its name and of how and where it is started or reached: what pinned definitions belong to."""
        folder = str(Path(self.folder or "").resolve()) if self.url is None else None
        words = canonical_json((self.name, self.command, folder, self.url))
        return hashlib.sha256(words.encode()).hexdigest()
