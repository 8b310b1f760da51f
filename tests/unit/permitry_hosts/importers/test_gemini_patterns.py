"""Patterns over the JSON of all arguments, as conditions."""

from tests.tables import for_each

from permitry_hosts.importers.gemini_patterns import on_arguments, on_commands, prefix_of


def test_a_prefix_ends_with_a_word() -> None:
    """Whatever follows."""
    assert prefix_of("git push ") == {"command": ["git push *"]}
    assert prefix_of("git * @x") == {"command": [r"git \* \@x *"]}


@for_each(
    ("regex", "effect", "conditions"),
    [
        (r'git\ log(?:[\s"]|\\")', "allow", [{"command": ["git log *"]}]),
        (r"mkdir\b", "allow", [{"command": ["mkdir *"]}]),
        ("rm", "block", [{"command": ["rm* *"]}]),
        ("rm", "allow", [{"command": ["rm *"]}]),
        ('git status"', "allow", [{"command": ["git status"]}]),
        ('a && b"', "allow", [{"args": {"command": {"exists": True, "eq": "a && b"}}}]),
        (r"rm\s+-rf", "allow", [{"command": ["rm -rf *"]}]),
        (r"rm\s+-rf", "block", [{"command": ["rm -rf* *"]}]),
        (r"rm\b", "block", [{"command": ["rm *", "rm{-,.,/,:,=,+,%}* *"]}]),
        ("^(cat|mkdir)( |$)", "allow", [{"command": ["cat *", "mkdir *"]}]),
        ("^sudo(?: |$)", "block", [{"command": ["sudo *"]}]),
        ("^npm run (build|test)$", "allow", [{"command": ["npm run build", "npm run test"]}]),
        ("git (log|show) ", "allow", [{"command": ["git log * **", "git show * **"]}]),
        ("git (log|show) ", "block", [{"command": ["git log *", "git show *"]}]),
        ("docker(-compose)? up.*$", "allow", [{"command": ["docker up *", "docker-compose up *"]}]),
        ("npm i @x", "allow", [{"command": [r"npm i \@x *"]}]),
        (".*", "allow", [{"command": ["*"]}]),
        ("rm|curl", "allow", [{"command": ["rm *", "curl *"]}]),
        ("rm|curl", "block", [{"args": {"command": {"regex": "(?s).*(?:rm|curl).*"}}}]),
        ("a{2}", "allow", []),
        ("(a", "allow", []),
        ("a)", "allow", []),
        ("?a", "allow", []),
        ("a$b", "allow", []),
        ("()", "allow", []),
        ("(a|b)" * 9, "allow", []),
        ("(" + "|".join("abcdefgh") + ")" + "(a|b|c|d|e|f|g|h|i)", "allow", []),
        (r"echo 'x\b", "block", [{"command": ["echo 'x* *"]}]),
        ("a.b", "allow", [{"command": ["a.b *"]}]),
        ("a.b", "block", [{"args": {"command": {"regex": "(?s).*(?:a.b).*"}}}]),
    ],
)
def test_a_pattern_over_a_command(regex: str, effect: str, conditions: object) -> None:
    """Narrower in a permission, wider in a restriction."""
    assert on_commands(regex, effect) == conditions


_EXACT = [{"args": {"path": {"exists": True, "regex": "[a-z]+"}}}]


@for_each(
    ("regex", "effect", "is_flat", "conditions"),
    [
        (r'\x00"path":"[a-z]+"\x00', "block", False, _EXACT),
        ('"path":"[a-z]+"', "allow", False, _EXACT),
        ('"path":"[a-z]+"', "block", True, _EXACT),
        ('"path":"[a-z]+"', "block", False, [{}]),
        ('"path":"secret', "allow", False, [{"args": {"path": {"exists": True, "regex": "secret.*"}}}]),
        ('"path":"a.*secret"', "block", True, [{"text": {"contains": "secret"}}]),
        ('"on":true', "allow", False, [{"args": {"on": {"exists": True, "eq": True}}}]),
        ('"on":true', "block", False, [{}]),
        ('"on":1', "allow", False, []),
        ('"a":"x".*"b":"y"', "allow", False, []),
        (r"gha-creds-.*\.json", "block", False, [{"text": {"contains": "gha-creds-"}}]),
        ("secrets?", "block", False, [{"text": {"contains": "secret"}}]),
        ("ab", "block", False, [{}]),
        ("abc|abd", "block", False, [{}]),
        ("abc+de", "block", False, [{"text": {"contains": "abc"}}]),
    ],
)
def test_a_pattern_over_all_arguments(regex: str, effect: str, conditions: object, *, is_flat: bool) -> None:
    """What it needs in any case is looked for in a restriction; a permission must name one argument."""
    assert on_arguments(regex, effect, is_shell=False, is_flat=is_flat) == conditions


def test_the_command_of_a_shell_is_a_command() -> None:
    """Whether the quotes are escaped or not."""
    for regex in ('"command":"git log', r"\"command\":\"git\ log"):
        assert on_arguments(regex, "allow", is_shell=True) == [{"command": ["git log *"]}]
