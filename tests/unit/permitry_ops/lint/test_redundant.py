"""The finding `redundant`."""

from collections.abc import Callable

from tests.tables import for_each

from permitry_ops.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Kinds = Callable[..., list[tuple[str, str | None]]]
Rule = Callable[..., str]

SHORT = "0123456789abcdef"
COMMANDS = 'tools = ["@shell"]\nwhen.command = '


def test_a_rule_within_another(linted: Linted, rule: Rule) -> None:
    """The wider rule says it already."""
    (found,) = linted(
        rule("a", "allow", COMMANDS + '["git log --oneline"]') + rule("wide", "allow", COMMANDS + '["git log *"]')
    )
    assert (found.kind, found.rule_id, found.source) == ("redundant", "a", "rules.toml:2")
    assert found.reason == "`wide` (rules.toml:7) already says the same about everything it is about"


@for_each(
    ("wide", "narrow"),
    [
        (COMMANDS + '["git {log,show} *"]', COMMANDS + '["git show *"]'),
        ('when.path = ["src/**"]', 'when.path = ["src/*.py", "./src/a/**"]'),
        ('when.path = ["src/**"]', 'when.path = ["src/a"]\nwhen.access = "read"'),
        ('when.path = ["src/**"]\nwhen.access = ["read", "write"]', 'when.path = ["src/a"]\nwhen.access = "read"'),
        ('when.host = ["*.example.com"]', 'when.host = ["a.example.com"]'),
        ('tools = ["send_*"]\nwhen.mode = ["a", "b"]', 'tools = ["send_mail"]\nwhen.mode = "a"'),
        ('tools = ["send_*"]\nwhen.agent = "x"', 'tools = ["send_mail"]\nwhen.agent = "x"\nwhen.mode = "a"'),
        ('tools = ["x"]\nwhen.agent = "x"', 'tools = ["x"]\nwhen.agent = "x"\nunless.mode = "a"'),
        ('tools = ["x_*"]\nwhen.repaired = false', 'tools = ["x_y"]\nwhen.repaired = false'),
        (f'tools = ["x"]\nwhen.tool_digest = "{SHORT}"', f'tools = ["x"]\nwhen.tool_digest = "{SHORT}0"'),
    ],
)
def test_what_lies_within(kinds: Kinds, rule: Rule, wide: str, narrow: str) -> None:
    """Patterns, tools and words are compared by what they mean."""
    assert kinds(rule("wide", "allow", wide) + rule("a", "allow", narrow)) == [("redundant", "a")]


@for_each(
    ("one", "other"),
    [
        (COMMANDS + '["git log *"]', COMMANDS + '["git *log"]'),
        (COMMANDS + '["git log"]', COMMANDS + '["git log *"]\nwhen.agent = "x"'),
        ('when.path = ["src/**"]', 'when.path = ["src"]'),
        ('when.path = ["src/**"]\nwhen.access = "read"', 'when.path = ["src/a"]'),
        ('when.path = ["src/**"]\nwhen.access = "read"', 'when.path = ["src/a"]\nwhen.access = "write"'),
        ('when.path = ["src/*"]', 'when.path = ["src/[ab]/c"]'),
        ('when.path = ["/w/src/**"]', 'when.path = ["~/src/a"]'),
        ('when.host = ["*.example.com"]', 'when.host = ["example.com"]'),
        ('when.host = ["example.com"]', 'when.host = ["http://example.com"]'),
        ('tools = ["send_mail"]\nwhen.agent = "x"', 'tools = ["send_*"]\nwhen.mode = "a"'),
        ('when.path = ["src/**"]', 'when.path = ["src/a"]\nwhen.command = ["cp *"]'),
        ('tools = ["x"]\nwhen.agent = "x"\nunless.mode = "a"', 'tools = ["x"]\nwhen.agent = "x"'),
        ('tools = ["a_?"]\nwhen.agent = "x"', 'tools = ["a_*"]\nwhen.agent = "x"\nwhen.mode = "a"'),
        ('tools = ["x"]\nwhen.repaired = true', 'tools = ["x"]\nwhen.repaired = false'),
        (f'tools = ["x"]\nwhen.tool_digest = "{SHORT}0"', f'tools = ["x"]\nwhen.tool_digest = "{SHORT}"'),
    ],
)
def test_what_says_something_of_its_own(kinds: Kinds, rule: Rule, one: str, other: str) -> None:
    """Where it is not sure that one contains the other, nothing is said."""
    found = kinds(rule("a", "allow", one) + rule("b", "allow", other))
    assert ("redundant", "b") not in found


def test_of_two_equal_rules_the_later_is_too_many(kinds: Kinds, rule: Rule) -> None:
    """Only one of them is to be taken out."""
    lines = ('tools = ["x"]', 'when.agent = "x"')
    assert kinds(rule("a", "confirm", *lines) + rule("b", "confirm", *lines)) == [("redundant", "b")]


@for_each(
    "line",
    ['message = "Ask Ann."', 'adds_label = "mail"', "budget = { calls = 2 }"],
    ids=["message", "adds_label", "budget"],
)
def test_what_a_rule_does_besides_counts(kinds: Kinds, rule: Rule, line: str) -> None:
    """A message of its own and a label are more than a verdict; a budget in the wider rule leaves calls free."""
    wide = rule("wide", "confirm", 'tools = ["send_*"]', line if "budget" in line else "")
    found = kinds(wide + rule("a", "confirm", 'tools = ["send_mail"]', "" if "budget" in line else line))
    assert ("redundant", "a") not in found


def test_another_effect_is_another_rule(kinds: Kinds, rule: Rule) -> None:
    """A block within a confirmation is stricter."""
    text = rule("wide", "confirm", 'tools = ["send_*"]', 'when.agent = "x"')
    assert kinds(text + rule("a", "block", 'tools = ["send_mail"]', 'when.agent = "x"')) == []


@for_each("tools", ['"read_file", "docs"', '"@reads"', '"docs"'])
def test_reading_needs_no_permission(linted: Linted, rule: Rule, tools: str) -> None:
    """The built-in rule `read-only` lets those tools run."""
    declared = "".join(f'[tool.{name}]\ntraits = ["read_only"]\n' for name in ("docs", "read_file"))
    (found,) = linted(declared + rule("a", "allow", f"tools = [{tools}]", 'when.agent = "x"'))
    assert (found.kind, found.rule_id) == ("redundant", "a")
    assert "`read-only`" in found.reason


@for_each("tools", ['"read_file", "write_file"', '"read_file", "grep"', '"run_shell"', '"my_tool"', '"read_*"'])
def test_other_tools_need_one(kinds: Kinds, rule: Rule, tools: str) -> None:
    """What is not declared to only read is not let run by itself: another tool may have a well-known name."""
    assert kinds(rule("a", "allow", f"tools = [{tools}]", 'when.agent = "x"')) == []


def test_yolo_mode_needs_no_permission(kinds: Kinds, rule: Rule) -> None:
    """The built-in rule `yolo` lets everything run in that mode."""
    assert kinds(rule("a", "allow", 'tools = ["x"]', 'when.mode = "yolo"')) == [("redundant", "a")]
    assert kinds(rule("a", "allow", 'tools = ["x"]', 'when.mode = ["yolo", "default"]')) == []


def test_what_keeps_permits_less(kinds: Kinds, rule: Rule) -> None:
    """So a permission that keeps makes no other redundant; the other way round it does."""
    lines, keep = ('tools = ["x"]', 'when.agent = "x"'), "keep = true"
    assert kinds(rule("a", "allow", *lines, keep) + rule("b", "allow", *lines)) == [("redundant", "a")]
    assert kinds(rule("a", "allow", *lines, keep) + rule("b", "allow", *lines, keep)) == [("redundant", "b")]
