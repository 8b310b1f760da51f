"""One spelling of a URI for each resource."""

import string

from tests.tables import for_each

from permitry_hosts.gateway.uris import is_plain


@for_each(
    "uri",
    [
        "file:///handbook/a",
        "file:///",
        "file:///C:/x",
        "file:///a%20b/c%2Fd",
        "notes://all/secret",
        "notes://a/caf%C3%A9",
        "ui://x/.hidden/a..b",
        "http://host:8080/a?u=http://b/c&x=%26#part",
        "https://host",
        "https://a-1.b_c.example:444?x",
        "http://127.0.0.1:80443/",
        "https://[::1]/",
        "postgres://DB:5432/Table",
        "repo://Owner/Name@1",
        "memo:hello",
    ],
)
def test_what_servers_list_is_served(uri: str) -> None:
    """An agent is not stopped for nothing."""
    assert is_plain(uri)


@for_each(
    "uri",
    [
        "file:///handbook/../etc",
        "file:///handbook/%2e%2E/etc",
        "file:///handbook/..%2Fetc",
        "notes://a/caf%c3%a9",
        "file:///handbook/..%5Cetc",
        "file:///handbook\\..\\etc",
        "file:///handbook/./a",
        "file:///handbook/..?x",
        "file:////etc",
        "file:/etc",
        "file://localhost/etc",
        "FILE:///handbook/a",
        "file:///handbook/a\0",
        "file:///handbook/\n",
        "notes:../x",
        "notes://all//x",
        "notes://all/s%65cret",
        "notes://all/\u00e9",
        "notes://all/a b",
        "notes://all/%zz",
        "notes://all/%4",
        "https://HOST/a",
        "https://host:443/a",
        "http://host:80",
        "http://host:080/",
        "http://host:/",
        "https://user@host/",
        "https://host./",
        "https://host%2Fa",
        "https:host/a",
        "https:///host/a",
        "http://127.1/",
        "http://0x7f.1/",
        "http://010.0.0.1/",
        "http://2130706433/",
        "/etc",
        "",
    ],
)
def test_another_spelling_is_not(uri: str) -> None:
    """A rule about the plain one would not see it."""
    assert not is_plain(uri)


def test_what_needs_no_percent_sign_has_none() -> None:
    """Letters, digits and four marks are written as they are; all other characters may need one."""
    unreserved = f"{string.ascii_letters}{string.digits}-._~"
    refused = [chr(code) for code in range(256) if not is_plain(f"notes://a/b%{code:02X}")]
    assert sorted(refused) == sorted(unreserved)
