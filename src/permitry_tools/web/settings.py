"""What the web tools may do, and where they search."""

from typing import Any

import attrs

from permitry.port import read_url

__all__ = ["WebSettings"]

SHAPES = ("searxng", "exa")
WEB_PORTS = {"http": 80, "https": 443}
NO_SERVICE = "no search service is configured; the host sets `WebSettings(search_endpoint=…)`"

_at_least_one = attrs.validators.ge(1)
_above_zero = attrs.validators.gt(0.0)


def _check_endpoint(_: object, __: "attrs.Attribute[Any]", value: str) -> None:
    found = read_url(value)
    if not found.is_certain or found.scheme not in WEB_PORTS:
        raise ValueError(f"the search endpoint `{value}` is not a plain http or https address; write `https://host`")


@attrs.frozen
class WebSettings:
    """The settings of the web tools; nothing is read from the environment.

    `search_endpoint` is the address of a search service, without `/search`; `search_shape` is how it is asked,
    `searxng` or `exa`; `search_key` is its key. `allow_private` lets `fetch_url` reach the machine itself, its network
    and its cloud's metadata. `timeout` is in seconds, for one page with its redirects; `max_bytes` bounds a page before
    and after it is unpacked. `ca_file` holds certificate authorities to trust instead of the usual ones.

    Raises: `ValueError` for an endpoint that is not an http or https address, an unknown shape, or a limit below 1.
    """

    search_endpoint: str | None = attrs.field(default=None, validator=attrs.validators.optional(_check_endpoint))
    search_shape: str = attrs.field(default="searxng", validator=attrs.validators.in_(SHAPES))
    search_key: str | None = attrs.field(default=None, repr=False)
    allow_private: bool = attrs.field(default=False, validator=attrs.validators.instance_of(bool), kw_only=True)
    timeout: float = attrs.field(default=20.0, validator=_above_zero, kw_only=True)
    max_bytes: int = attrs.field(default=2 * 1024 * 1024, validator=_at_least_one, kw_only=True)
    max_redirects: int = attrs.field(default=5, validator=attrs.validators.ge(0), kw_only=True)
    ca_file: str | None = attrs.field(default=None, kw_only=True)
