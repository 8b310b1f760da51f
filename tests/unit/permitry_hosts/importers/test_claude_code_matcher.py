"""What Claude Code says of calls that are no commands."""

from tests.tables import for_each

from permitry_hosts.importers.claude_code_matcher import path_matcher, probes


@for_each(("pattern", "fits", "differs"))
def test_a_path_is_one_of_gitignore(pattern: str, fits: list[str], differs: list[str]) -> None:
    """It is about all below it, and a name alone at any depth."""
    matches = path_matcher(pattern, root="")
    assert [text for text in (*fits, *differs) if matches(text)] == fits


@for_each(("tool", "content", "about", "not_about"))
def test_calls_are_made_of_every_kind_of_rule(tool: str, content: str, about: str, not_about: str) -> None:
    """Some that it is about, and others."""
    found = {probe.shown: probe.matches for probe in probes("deny", tool, content, root="")}
    assert (found[about], found[not_about]) == (True, False)


def test_no_call_is_made_where_the_host_is_not_known() -> None:
    """Of a rule of a reader only that for Read is sure to hold."""
    assert not probes("deny", "Grep", "src/**", root="")
