"""The findings `sql-by-prefix`, `command-by-prefix`, `url-by-prefix` and `mail-by-suffix`."""

from collections.abc import Callable

from tests.tables import for_each

from permitry_ops.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Kinds = Callable[..., list[tuple[str, str | None]]]
Rule = Callable[..., str]


@for_each(("line", "kind", "lets"))
def test_a_part_of_a_text_permits_more(linted: Linted, rule: Rule, line: str, kind: str, lets: str) -> None:
    """The finding shows a text that passes."""
    (found,) = linted(rule("a", "allow", 'tools = ["t"]', line))
    assert (found.kind, found.rule_id) == (kind, "a")
    assert f"lets `{lets}` through" in found.reason
    (found,) = linted(rule("a", "block", 'tools = ["t"]', line.replace("when", "unless")))
    assert found.kind == kind


@for_each(("url", "host"), [("https://a.example", "a.example"), ("http://a.example", "http://a.example")])
def test_the_way_out_for_an_address_is_the_same_host(linted: Linted, rule: Rule, url: str, host: str) -> None:
    """A host without a scheme is one of `https`."""
    (found,) = linted(rule("a", "allow", 'tools = ["t"]', f'when.args.url = {{ prefix = "{url}" }}'))
    assert f'`when.host = "{host}"`' in found.suggestion


@for_each(("role", "is_found"), [("command", True), ("text", False)])
def test_a_declared_role_says_what_is_a_command(kinds: Kinds, rule: Rule, *, role: str, is_found: bool) -> None:
    """Whatever the argument is called."""
    declared = f'[tool.t]\nroles.what = "{role}"\nroles.cmd = "text"\n'
    for name, is_meant in (("what", is_found), ("cmd", False)):
        text = declared + rule("a", "allow", 'tools = ["t"]', f'when.args.{name} = {{ prefix = "git" }}')
        assert (("command-by-prefix", "a") in kinds(text)) is is_meant


def test_a_domain_is_no_beginning_of_an_address(linted: Linted, rule: Rule) -> None:
    """A prefix was written for a suffix."""
    (found,) = linted(rule("a", "allow", 'tools = ["t"]', 'when.args.to = { prefix = "@ours.example" }'))
    assert found.kind == "never-matches"
    assert found.reason.endswith("fits no address: the domain is at its end")


def test_the_way_out_for_mail_fits_whole_addresses(linted: Linted, rule: Rule) -> None:
    """What it suggests has no finding."""
    (found,) = linted(rule("a", "allow", 'tools = ["t"]', 'when.args.to = { suffix = "@ours.example" }'))
    assert found.suggestion.endswith(r"`each = { regex = '[a-z0-9][a-z0-9._-]*@ours\.example' }`")
    test = found.suggestion.partition("`")[2].rstrip("`")
    assert linted(rule("a", "allow", 'tools = ["t"]', f"when.args.to = {{ {test} }}")) == ()


@for_each("line")
def test_other_parts_of_texts(kinds: Kinds, rule: Rule, line: str) -> None:
    """Titles, file names and hosts are no statements and no addresses, and a `regex` looks at the whole text."""
    assert kinds(rule("a", "allow", 'tools = ["t"]', line)) == []


def test_a_restriction_on_a_part_asks_once_too_often(kinds: Kinds, rule: Rule) -> None:
    """It lets nothing through that would be permitted without it."""
    assert kinds(rule("a", "confirm", 'tools = ["t"]', 'when.args.to = { suffix = "@evil.example" }')) == []
