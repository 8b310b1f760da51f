"""Pages by their addresses, redirects followed one by one."""

import time
from collections.abc import Callable
from typing import TypeAlias

import attrs

from permitry.port import ToolError, read_url
from permitry_tools.web.exchange import Answer, Exchanger, Request
from permitry_tools.web.pages import read_page

__all__ = ["Fetcher", "MayConnect", "Page"]

MayConnect: TypeAlias = Callable[[str], bool | str]
"""Says whether a redirect to an address may be followed: True, or False, or why not."""


@attrs.frozen
class Page:
    """A page as a model reads it; `url` is where it was found in the end."""

    url: str
    title: str
    text: str


@attrs.frozen
class Fetcher:
    """Fetches pages. A redirect is followed when `may_connect` says so; without it, when it stays at its origin."""

    exchanger: Exchanger
    may_connect: MayConnect | None = None

    def fetch(self, url: str) -> Page:
        """Return the page at `url`.

        Raises: `ToolError` for an address that is refused, a failed or late answer, or content that is not text.
        """
        deadline = time.monotonic() + self.exchanger.settings.timeout
        answer = self._follow(url, deadline)
        if not 200 <= answer.status < 300:  # noqa: PLR2004 -- the statuses of HTTP that mean success
            raise ToolError(f"the server answers {answer.status}")
        title, text = read_page(answer.headers.get("content-type", ""), answer.body)
        return Page(answer.url, title, text)

    def _follow(self, url: str, deadline: float) -> Answer:
        seen = {url}
        for _ in range(self.exchanger.settings.max_redirects + 1):
            answer = self.exchanger.send(Request(url), deadline)
            target = answer.location
            if target is None:
                return answer
            if target in seen:
                raise ToolError(f"it redirects in a circle, to `{target}`")
            self._check(url, target)
            seen.add(target)
            url = target
        raise ToolError(f"it redirects more than {self.exchanger.settings.max_redirects} times")

    def _check(self, url: str, target: str) -> None:
        """Raise unless the redirect may be followed: what was allowed is the first address, and no other."""
        answer = _is_same_origin(url, target) if self.may_connect is None else self.may_connect(target)
        # INVARIANT: only True itself lets a redirect pass; a reason is text, and text is true as well.
        if answer is not True:
            why = f" ({answer})" if isinstance(answer, str) and answer else ""
            raise ToolError(f"it redirects to `{target}`, which was not allowed with it{why}; fetch that by itself")


def _is_same_origin(url: str, target: str) -> bool:
    here, there = read_url(url), read_url(target)
    return there.is_certain and (here.scheme, here.host, here.port) == (there.scheme, there.host, there.port)
