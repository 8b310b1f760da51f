"""The finding `never-matches`."""

from collections.abc import Callable

import attrs
from tests.tables import for_each

from permitry.config.drafts import drafts_of
from permitry.config.load import Origin, load_rules
from permitry_ops.lint import Finding, lint

Linted = Callable[..., tuple[Finding, ...]]
Kinds = Callable[..., list[tuple[str, str | None]]]
Rule = Callable[..., str]

FOUND = [("never-matches", "a")]
DIGEST = "0123456789abcdef" * 4


@for_each(
    ("effect", "lines"),
    [
        ("block", ('when.agent = "x"', 'unless.agent = "x"')),
        ("block", ('when.agent = "x"', 'when.template = "t"', 'unless.agent = "x"')),
        ("allow", ('when.path = ["x"]', 'unless.path = ["x"]')),
        ("allow", ('when.path = ["src/*", "src/a/b"]', 'unless.path = ["src/**"]')),
        ("allow", ('when.path = "x"', 'when.access = "write"', 'unless.path = ["x"]')),
        ("allow", ('when.mode = "review"', 'unless.mode = "review"')),
    ],
)
def test_unless_that_takes_all_back(kinds: Kinds, rule: Rule, effect: str, lines: tuple[str, ...]) -> None:
    """What `when` asks for is what `unless` excludes."""
    template = '[template.t]\nallow_tools = ["grep"]\n'
    assert kinds(template + rule("a", effect, 'tools = ["write_file"]', *lines)) == FOUND


@for_each(("tools", "found"), [('"read_file", "web_fetch"', FOUND), ('"grep", "run_shell"', []), ('"x"', [])])
def test_a_permission_for_commands_of_tools_that_run_none(kinds: Kinds, rule: Rule, tools: str, found: object) -> None:
    """Whatever the patterns are; of a tool that is not known, it is not known whether it runs commands."""
    reported = kinds(rule("a", "allow", f"tools = [{tools}]", 'when.command = "ls *"'))
    assert [each for each in reported if each in FOUND] == found


@for_each(
    "condition",
    ['path = ["x.py"]', 'mode = "m"', "args.n = 1", "args.n = { exists = false }", f'tool_digest = "{DIGEST}"'],
)
def test_a_restriction_still_fires_in_doubt(kinds: Kinds, rule: Rule, condition: str) -> None:
    """What may fit, or cannot be answered, fires, and only what surely fits is excepted."""
    assert kinds(rule("a", "block", 'tools = ["write_file"]', f"when.{condition}", f"unless.{condition}")) == []
    assert kinds(rule("a", "allow", 'tools = ["write_file"]', f"when.{condition}", f"unless.{condition}")) == FOUND


@for_each(
    "condition",
    ['agent = "x"', f'digest = "{DIGEST}"', "repaired = true", "repeat = 2", 'template = "t"'],
)
def test_what_is_always_answered_is_taken_back_for_good(kinds: Kinds, rule: Rule, condition: str) -> None:
    """No call is in doubt, so no call is left."""
    rest = '[template.t]\nallow_tools = ["grep"]\n'
    lines = (f"when.{condition}", f"unless.{condition}")
    found = kinds(rest + rule("a", "block", 'tools = ["write_file"]', *lines))
    assert FOUND[0] in found


@for_each(
    "lines",
    [
        ('when.agent = "x"', 'unless.agent = "y"'),
        ('when.agent = "x"', 'unless.agent = "x"', 'unless.mode = "plan"'),
        ('when.path = ["x/**"]', 'unless.path = ["x/y"]'),
        ('when.agent = "x"', 'unless.agent = "x"', 'unless.path = ["x"]'),
    ],
)
def test_unless_that_leaves_something(kinds: Kinds, rule: Rule, lines: tuple[str, ...]) -> None:
    """An exception is there to be narrower."""
    assert kinds(rule("a", "block", 'tools = ["write_file"]', *lines)) == []


def test_an_exception_for_one_access_leaves_the_others(kinds: Kinds, rule: Rule) -> None:
    """A permission for a path, but not to delete it, still permits to write."""
    lines = ('when.path = ["x"]', 'unless.path = ["x"]', 'unless.access = "delete"')
    assert kinds(rule("a", "allow", 'tools = ["write_file"]', *lines)) == []


@for_each("test")
def test_operators_that_exclude_each_other(linted: Linted, rule: Rule, test: str) -> None:
    """No value passes, so no call is ever meant."""
    (found,) = linted(rule("a", "block", 'tools = ["x"]', f"when.args.n = {test}"))
    assert found.kind == "never-matches"
    assert found.reason.startswith("no value passes `args.n ")


@for_each(
    "test",
    ["{ ge = 5, le = 5 }", '{ eq = "a", in = ["a", "b"] }', '{ in = ["a", "b"], ne = "b" }', "{ gt = 1, lt = 2 }"],
)
def test_operators_that_some_value_passes(kinds: Kinds, rule: Rule, test: str) -> None:
    """One value is enough."""
    assert kinds(rule("a", "block", 'tools = ["x"]', f"when.args.n = {test}")) == []


@for_each("tools", ["send_mail", "send_*", "mcp:mail/*"])
def test_a_server_that_none_of_the_tools_belongs_to(kinds: Kinds, rule: Rule, tools: str) -> None:
    """An own tool belongs to no server, and a server's tool to its own."""
    assert kinds(rule("a", "block", f'tools = ["{tools}"]', 'when.server = "docs"')) == FOUND


@for_each("tools", ["mcp:docs/*", "mcp:*/find", "*", "*_mail", "m*", "?cp*", "@reads"])
def test_a_server_that_a_tool_may_belong_to(kinds: Kinds, rule: Rule, tools: str) -> None:
    """A glob may fit the name of a server's tool."""
    assert kinds(rule("a", "block", f'tools = ["{tools}"]', 'when.server = "docs"')) == []


@for_each(("effect", "tools", "mode", "is_found"))
def test_plan_mode_blocks_what_writes(
    kinds: Kinds, rule: Rule, effect: str, tools: str, mode: str, *, is_found: bool
) -> None:
    """A permission for plan mode comes too late for a tool that is known to write."""
    conditions = (f'when.mode = "{mode}"', "when.args.n = 1")
    found = kinds(rule("a", effect, f'tools = ["{tools}"]', *conditions))
    assert (found == FOUND) is is_found


def test_hosts_alone_cover_no_command(kinds: Kinds, rule: Rule) -> None:
    """A permission for hosts does not permit the programs that connect."""
    host = 'when.host = ["example.com"]'
    assert kinds(rule("a", "allow", 'tools = ["@shell"]', host)) == FOUND
    assert kinds(rule("a", "allow", 'tools = ["run_shell"]', host)) == FOUND
    assert kinds(rule("a", "allow", 'tools = ["run_shell"]', host, 'when.command = ["curl *"]')) == []
    assert kinds(rule("a", "allow", 'tools = ["run_shell", "web_fetch"]', host)) == []
    assert kinds(rule("a", "block", 'tools = ["run_shell"]', 'when.host = ["www.example.com"]')) == []


def test_a_template_that_lists_nothing(linted: Linted) -> None:
    """Activating it changes nothing; an exclusive one blocks everything, which may be meant."""
    (found,) = linted("[template.t]\n\n[template.none]\nexclusive = true\n\n[template.heir]\nextends = ['t']\n")
    assert (found.kind, found.rule_id, found.source) == ("never-matches", None, "rules.toml:2")


ASKING = 'tools = ["send_mail"]'


@for_each(
    "lines",
    [
        ("allow", ASKING, 'when.template = "t"'),
        ("block", ASKING, 'when.template = ["other", "t"]'),
        ("confirm", ASKING, 'unless.template = "t"'),
        ("allow", ASKING, 'when.agent = "x"', 'unless.template = "t"'),
        ("confirm", ASKING, 'adds_label = "mail"', 'when.template = "t"'),
    ],
)
def test_a_template_that_a_rule_asks_for(kinds: Kinds, rule: Rule, lines: tuple[str, ...]) -> None:
    """It need not list a tool: that it is active is what counts."""
    templates = '[template.t]\n[template.other]\nallow_tools = ["x"]\n'
    found = kinds(templates + rule("a", *lines))
    assert [kind for kind, _ in found if kind == "never-matches"] == []


def test_a_template_that_only_labels_ask_for(kinds: Kinds) -> None:
    """A rule without an effect is a rule."""
    labelling = '[[rule]]\nid = "a"\ntools = ["x"]\nadds_label = "mail"\nwhen.template = "t"\n'
    assert "never-matches" not in dict(kinds("[template.t]\n" + labelling))


def test_a_template_is_asked_for_by_an_heir_of_its_own(kinds: Kinds, rule: Rule) -> None:
    """While `heir` is active so is `t`, and the rule holds."""
    templates = '[template.t]\n[template.heir]\nextends = ["t"]\nallow_tools = ["x"]\n'
    assert kinds(templates + rule("a", "allow", ASKING, 'when.template = "t"')) == []
    assert kinds(templates + rule("a", "allow", ASKING, 'when.template = "heir"')) == [("never-matches", None)]


def test_a_template_that_another_file_asks_for(write: Callable[[str, str], Origin], rule: Rule) -> None:
    """The file that extends it is where its rules are, or the other way round."""
    write("base.toml", "schema = 1\n[template.t]\n")
    asking = rule("a", "allow", ASKING, 'when.template = "t"')
    rules = load_rules([write("rules.toml", f'schema = 1\nextends = ["base.toml"]\n{asking}')])
    assert lint(rules, drafts=drafts_of(rules)) == ()


def test_a_rule_that_is_dropped_asks_all_the_same(write: Callable[[str, str], Origin], rule: Rule) -> None:
    """The permissions of a project that is not trusted yet are no reason to find fault with its template."""
    text = "schema = 1\n[template.t]\n" + rule("a", "allow", ASKING, 'when.template = "t"')
    origin = attrs.evolve(write("rules.toml", text), is_trusted=False)
    rules = load_rules([origin])
    assert (rules.rules, lint(rules, drafts=drafts_of(rules))) == ((), ())


@for_each(("allowed", "blocked", "is_found"))
def test_a_permission_for_what_is_blocked(
    kinds: Kinds, rule: Rule, allowed: str, blocked: str, *, is_found: bool
) -> None:
    """A block comes first, so a permission for nothing else permits nothing."""
    found = kinds(rule("a", "allow", allowed) + rule("b", "block", blocked))
    assert (FOUND[0] in found) is is_found


def test_what_is_only_asked_about_can_match(kinds: Kinds, rule: Rule) -> None:
    """Only a block makes a permission pointless for good: the confirmation may be narrowed by a mode elsewhere."""
    assert kinds(rule("a", "allow", 'tools = ["send_mail"]') + rule("b", "confirm", 'tools = ["send_*"]')) == []


@for_each(("patterns", "is_found"))
def test_a_variable_that_is_not_compared(kinds: Kinds, rule: Rule, patterns: str, *, is_found: bool) -> None:
    """Only those that change what runs are known of a command, so that a pattern with another one fits none."""
    found = kinds(rule("some", "block", f"when.command = {patterns}"))
    assert ("never-matches" in str(found)) is is_found
