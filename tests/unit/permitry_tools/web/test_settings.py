"""The settings of the web tools."""

import contextlib
from typing import Any

import pytest
from tests.tables import for_each

from permitry_tools.web.settings import WebSettings


def test_private_addresses_are_not_allowed_by_default() -> None:
    """Who says nothing gets the safe answer."""
    assert WebSettings().allow_private is False


def test_the_key_is_not_printed() -> None:
    """Settings end up in logs."""
    assert "word" not in repr(WebSettings("https://search.example", "exa", "word"))


@for_each("wrong")
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    """At once, not at the first call."""
    with pytest.raises((ValueError, TypeError)):
        WebSettings(**wrong)


@for_each(("url", "is_one"))
def test_only_plain_http_addresses_are_of_the_web(url: str, *, is_one: bool) -> None:
    """What readers take for different addresses is none."""
    with contextlib.nullcontext() if is_one else pytest.raises(ValueError, match="plain http"):
        WebSettings(url)
