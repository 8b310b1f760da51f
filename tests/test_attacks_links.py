"""Attacks on rules about links: a text that leads elsewhere than the rule permits, in every way that we know of."""

import json

from permitry.conditions.provenance.provenance import Provenance
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.json_values import MAX_BYTES
from tests.tables import for_each, stored_rows
from tests.whole_calls import policy_of

_POLICY = policy_of("""schema = 1

[[rule]]
id = "foreign-links"
effect = "block"
tools = ["post"]
when.args.body.links.host = ["evil.com", "*.evil.com", "private"]

[[rule]]
id = "posts"
effect = "allow"
tools = ["post"]

[[rule]]
id = "our-links"
effect = "allow"
tools = ["send"]
when.args.body.links.host = ["good.com", "*.good.com", "good.co", "http://good.com", "mailto://good.com"]

[[rule]]
id = "your-links"
effect = "allow"
tools = ["tell"]
when.args.body.links.from = ["user", "look#url"]

[[rule]]
id = "other-links"
effect = "confirm"
tools = ["say"]
when.args.body.links.not_from = ["user"]

[[rule]]
id = "says"
effect = "allow"
tools = ["say"]

[[rule]]
id = "our-links-that-you-wrote"
effect = "allow"
tools = ["send-both"]
when.args.body.links = { host = ["good.com", "http://good.com", "mailto://good.com"], from = ["user", "read#body"] }

[[rule]]
id = "our-links-or-yours"
effect = "allow"
tools = ["send-either"]
when.args.body.links = [{ host = ["good.com"] }, { from = ["user"] }]

[[rule]]
id = "links-of-neither"
effect = "confirm"
tools = ["say-either"]
when.args.body.links = { not_host = ["good.com"], not_from = ["user"] }

[[rule]]
id = "says-either"
effect = "allow"
tools = ["say-either"]
""")
_KNOWN = Provenance.of(
    ["Tell them of https://good.com/x and www.good.com/y, and ann@good.com."],
    [("look", {}, {"url": "https://good.com/z"}), ("read", {}, {"body": "https://good.com/x?secret https://evil.com"})],
)

_HOSTS = (
    *("https://evil.com", "https://good.com.evil.com", "https://good.com@evil.com", "https://good.com:443@evil.com"),
    *(
        "https://evil.com#good.com",
        "https://evil.com?good.com",
        "https://evil.com/good.com",
        "https://evil.com\\good.com",
    ),
    *("https://good.com\\@evil.com", "https://good.com%2f@evil.com", "https://good.com%00.evil.com", "HtTpS:evil.com"),
    *("https://good.com\u201d.evil.com", "https://good.com\u2019s.evil.com", "https://good.com\u201d@evil.com"),
    *(
        "good.com\u2014x.evil.com",
        "good.com\u201devil.com",
        "\u201cevil.com\u201d",
        "https://good.com\u201d\\@evil.com",
    ),
    *("https://good.com\u201d\uff0eevil.com", "https://good.com\u201d&#46;evil.com", "\u201cann@evil.com\u201d"),
    *("evil.com", "www.evil.com/x", "good.com@evil.com", "ann@good.com@evil.com", "ann@evil.com", "//evil.com"),
    *("[https://good.com](https://evil.com)", "[a](//evil.com)", "[a](evil.com)", "![](https://x.evil.com/?q=secret)"),
    *(
        "[good.com][a]\n\n[a]: //evil.com",
        "[a](<https://evil.com/a b>)",
        "<https://evil.com>",
        "<evil.com>",
        "[a](\n//evil.com)",
    ),
    *(
        "<https://good.com|https://evil.com>",
        "[[https://evil.com][good.com]]",
        "{evil.com}",
        "`evil.com`",
        "'evil.com'",
    ),
    *(
        '<a href="https://evil.com">https://good.com</a>',
        "<a href=evil.com>x</a>",
        "<img src=//evil.com/x>",
        "<a\nhref='//evil.com'>",
    ),
    *(
        '<a href="\nhttps://evil.com">',
        '<a href="https://evil\n.com">',
        "<a href='ht\ttps://evil.com'>",
        "<a href='\x01//evil.com'>",
    ),
    *(
        '<a href="https:\\\\evil.com">',
        '<a href="/\\evil.com">',
        "<a href=\\\\evil.com>",
        '<a href="https:///evil.com">',
    ),
    *(
        '<img srcset="https://good.com/a 1x, https://evil.com/b 2x">',
        '<meta content="0;url=//evil.com">',
        "<p style='x:url(//evil.com/x)'>",
    ),
    *(
        "<style>@import '//evil.com/x.css'</style>",
        "url(\\2f\\2f evil\\2e com)",
        "<base href=//evil.com>",
        "<svg><use href='//evil.com'>",
    ),
    *(
        "&lt;a href=&quot;//evil.com&quot;&gt;",
        "https&#58;//evil.com",
        "https://evil&#46com",
        "evil&#x0000002e;com",
        "evil&amp;period;com",
    ),
    *(
        "<a href='https://good.com&#64;evil.com'>",
        "<a href='https://good.com&Tab;.evil.com'>",
        "<a href='//evil&NewLine;.com'>",
    ),
    *(
        "evil\\.com",
        "https\\:\\/\\/evil.com",
        "ev\u200bil.com",
        "ev\u00adil.com",
        "e\u2060vil\uff0ecom",
        "evil\u3002com",
        "evil\uff61com",
    ),
    *(
        "https://good.com\u3000.evil.com",
        "https://good.com\u2028@evil.com",
        "https://good.com\uff0f.evil.com",
        "https://good.com\u200b.evil.com",
    ),
    *(
        "https://good.com\x00.evil.com",
        "https://good.com).evil.com",
        "https://good.com,evil.com",
        "https://good.com;.evil.com",
    ),
    *(
        "ev**il**.com",
        "ev<b>il</b>.com",
        "ev<!---->il.com",
        "<i>evil</i>.com",
        "ev*i*l.com",
        "[evil](https://good.com).com",
        "e%76il.com",
    ),
    *(
        "mailto:ann@good.com?bcc=eve@evil.com",
        "mailto:ann@good.com,eve@evil.com",
        "mailto:eve@evil.com",
        "xhttps://evil.com",
        "1https://evil.com",
    ),
    *(
        "ftp://evil.com",
        "slack://evil.com",
        "hxxp://evil.com",
        "view-source:https://evil.com",
        "jar:https://evil.com!/",
        "blob:https://evil.com",
    ),
    *(
        "see/evil.com",
        "x=evil.com",
        "text:evil.com",
        "#evil.com",
        "@evil.com",
        "evil.com:443",
        "evil.com.",
        "(evil.com)",
        "_evil.com_",
    ),
    *(
        "https://2130706433",
        "https://0x7f.1/",
        "[a](//2130706433)",
        "<img src='//0177.0.0.1'>",
        "https://good.com)@2130706433/",
    ),
    *(
        '<a href="https://good.com>@2130706433/">',
        '<a href=" https://good.com @2130706433/">',
        "[a](https://good.com<@2130706433/)",
    ),
    *(f"https://good.com{')' * 9_000}@2130706433/", f"{'word ' * 2_000}evil.com"),
)
_OTHERS = (
    *(
        "javascript:fetch('x')",
        "[a](JavaScript:x)",
        "<a href='java\nscript:x'>",
        "[a](java&#115;cript&colon;x)",
        "data:text/html,x",
    ),
    *(
        "<a href=vbscript:x>",
        "[a](ms-settings:x)",
        "<search-ms:query=x>",
        "tel:+1",
        "https://g\u043e\u043ed.com",
        "https://xn--gd-jbbb.com",
    ),
    *(
        "http://x.good.com",
        "https://good.com:8443",
        "https://good.co\x00m.nu",
        "x.good.com@good.com/",
        "https://%/",
    ),
    *(
        "<form action='https://good.com'>",
        "<img src='https://good.com/x' onerror=x>",
        "<script src='https://good.com'>",
        "good.com " * 600,
    ),
)
_WHOLE = stored_rows(__file__, "_WHOLE")


def _verdict(tool: str, body: object) -> Verdict:
    return _POLICY.decide(ToolCall(tool, {"body": body}), AuthContext(provenance=_KNOWN)).verdict


@for_each("body", [*_HOSTS, *_OTHERS])
def test_no_other_host_is_permitted(body: str) -> None:
    """Neither alone, nor among good ones, nor as one text of a list."""
    assert _verdict("send", body) is Verdict.CONFIRM
    assert _verdict("send", f"See https://good.com/a and\n\n{body}") is Verdict.CONFIRM
    assert _verdict("send", ["https://good.com", body]) is Verdict.CONFIRM


@for_each("body", _HOSTS)
def test_a_restriction_finds_a_bad_host(body: str) -> None:
    """However it is hidden."""
    assert _verdict("post", body) is Verdict.BLOCK
    assert _verdict("post", ["https://good.com", f"See https://good.com/a\n\n{body}"]) is Verdict.BLOCK


@for_each("body", [*_WHOLE, *_HOSTS])
def test_no_address_comes_from_a_part_of_it(body: str) -> None:
    """What is added to the user's own address may carry away what was read."""
    for text in (body, f"https://good.com/x\n\n{body}"):
        assert _verdict("tell", text) is Verdict.CONFIRM
        assert _verdict("say", text) is Verdict.CONFIRM


@for_each("body")
def test_ordinary_texts_run(body: str) -> None:
    """With no links but the good ones."""
    for tool in ("send", "post", "tell", "say"):
        assert _verdict(tool, body) is Verdict.ALLOW


@for_each("body", [None, 5, {"a": "https://good.com"}, ["https://good.com", 5], [["https://evil.com"]]])
def test_what_is_no_text_is_no_way_around(body: object) -> None:
    """Law 2: a permission does not match, and a restriction does."""
    assert _verdict("send", body) is Verdict.CONFIRM
    assert _verdict("tell", body) is Verdict.CONFIRM
    assert _verdict("say", body) is Verdict.CONFIRM
    assert _verdict("post", body) is Verdict.BLOCK
    assert _POLICY.decide(ToolCall("post", {}), AuthContext()).verdict is Verdict.BLOCK


def test_a_text_of_a_megabyte_is_searched() -> None:
    """Padding hides nothing."""
    room = MAX_BYTES - len(json.dumps({"body": ""})) - 100
    assert _verdict("send", "word " * (room // 5) + "https://evil.com") is Verdict.CONFIRM
    assert _verdict("send", "word " * (room // 5)) is Verdict.ALLOW


_BY_BOTH = ("send-both", "send-either", "say-either")


@for_each("body", _HOSTS)
@for_each("tool", _BY_BOTH)
def test_no_bad_link_passes_by_host_and_source_together(tool: str, body: str) -> None:
    """Neither alone, nor next to a link that passes one test, and one that passes the other."""
    assert _verdict(tool, body) is Verdict.CONFIRM
    for good in ("https://good.com/x", "https://good.com/other", "ann@good.com"):
        assert _verdict(tool, f"{good} and\n\n{body}") is Verdict.CONFIRM
        assert _verdict(tool, [good, body]) is Verdict.CONFIRM


@for_each("tool", _BY_BOTH)
def test_no_two_links_share_their_tests(tool: str) -> None:
    """One that is on the host, and another that is from the source, are not one that is both."""
    shared = "https://good.com/other https://evil.com"
    assert _verdict(tool, shared) is Verdict.CONFIRM
    assert _verdict("send-both", "https://good.com/other") is Verdict.CONFIRM
    # What a page says comes from there, and is elsewhere; what is ours carries what no one wrote.
    assert _verdict("send-both", "https://evil.com and https://good.com/x") is Verdict.CONFIRM
    assert _verdict("send-both", "https://good.com/x?secret") is Verdict.ALLOW
    assert _verdict("send-both", "https://good.com/x?secrets") is Verdict.CONFIRM


@for_each("tool", ["send-both", "send-either", "say-either"])
def test_what_no_one_heard_is_no_way_around(tool: str) -> None:
    """Law 2: without the user's messages nothing comes from them; hosts still count where one test is enough."""
    call = ToolCall(tool, {"body": "https://evil.com"})
    assert _POLICY.decide(call, AuthContext()).verdict is Verdict.CONFIRM
    ours = ToolCall(tool, {"body": "https://good.com/x"})
    is_enough = tool != "send-both"
    assert _POLICY.decide(ours, AuthContext()).verdict is (Verdict.ALLOW if is_enough else Verdict.CONFIRM)


@for_each("body", [None, 5, {"a": "https://good.com"}, ["https://good.com", 5], [["https://evil.com"]]])
@for_each("tool", _BY_BOTH)
def test_what_is_no_text_passes_no_way(tool: str, body: object) -> None:
    """A restriction counts as matched, and a permission does not match."""
    assert _verdict(tool, body) is Verdict.CONFIRM
    assert _POLICY.decide(ToolCall(tool, {}), AuthContext(provenance=_KNOWN)).verdict is Verdict.CONFIRM
