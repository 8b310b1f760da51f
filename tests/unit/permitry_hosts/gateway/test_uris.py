"""One spelling of a URI for each resource."""

import string

from tests.tables import for_each

from permitry_hosts.gateway.contents import is_plain


@for_each("uri")
def test_what_servers_list_is_served(uri: str) -> None:
    """An agent is not stopped for nothing."""
    assert is_plain(uri)


@for_each("uri")
def test_another_spelling_is_not(uri: str) -> None:
    """A rule about the plain one would not see it."""
    assert not is_plain(uri)


def test_what_needs_no_percent_sign_has_none() -> None:
    """Letters, digits and four marks are written as they are; all other characters may need one."""
    unreserved = f"{string.ascii_letters}{string.digits}-._~"
    refused = [chr(code) for code in range(256) if not is_plain(f"notes://a/b%{code:02X}")]
    assert sorted(refused) == sorted(unreserved)
