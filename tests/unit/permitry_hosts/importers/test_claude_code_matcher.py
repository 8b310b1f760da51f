"""What Claude Code says of calls that are no commands."""

from tests.tables import for_each

from permitry_hosts.importers.claude_code_matcher import path_matcher, probes


@for_each(
    ("pattern", "fits", "differs"),
    [
        ("*.env", ["a.env", "x/a.env", "a.env/x"], ["a.envx"]),
        ("src/*.py", ["src/a.py", "./src/a.py"], ["x/src/a.py", "src/x/a.py"]),
        ("docs/", ["docs", "docs/a/b", "x/docs/a"], ["docs2"]),
        ("/docs/**", ["docs/a", "docs/x/a"], ["x/docs/a", "doc"]),
        ("//etc/**/a?", ["/etc/ab", "/etc/x/y/ab"], ["etc/ab", "/etc/a"]),
        ("~/.ssh/[ab]", ["/home/user/.ssh/a", "~/.ssh/b"], ["~/.ssh/c", ".ssh/a"]),
        ("src/[!a].c", ["src/b.c"], ["src/a.c"]),
    ],
)
def test_a_path_is_one_of_gitignore(pattern: str, fits: list[str], differs: list[str]) -> None:
    """It is about all below it, and a name alone at any depth."""
    matches = path_matcher(pattern, root="")
    assert [text for text in (*fits, *differs) if matches(text)] == fits


@for_each(
    ("tool", "content", "about", "not_about"),
    [
        ("mcp__s", "*", "mcp__s__a()", "xmcp__s__a()"),
        ("Edit", "*", "Write()", "Writ()"),
        ("WebFetch", "domain:*.a.com", "https://a.a.com:444/", "https://a.a.com.invalid/"),
        ("Agent", "a*", "ax", "x/a"),
        ("Skill", "deploy:*", "deploya", "x/deploy"),
        ("Bash", "run_in_background:true", "run_in_background=True", "run_in_background=False"),
    ],
)
def test_calls_are_made_of_every_kind_of_rule(tool: str, content: str, about: str, not_about: str) -> None:
    """Some that it is about, and others."""
    found = {probe.shown: probe.matches for probe in probes("deny", tool, content, root="")}
    assert (found[about], found[not_about]) == (True, False)


def test_no_call_is_made_where_the_host_is_not_known() -> None:
    """Of a rule of a reader only that for Read is sure to hold."""
    assert not probes("deny", "Grep", "src/**", root="")
