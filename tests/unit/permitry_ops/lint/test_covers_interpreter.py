"""The finding `covers-interpreter`."""

from collections.abc import Callable

from tests.tables import for_each

from permitry_ops.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Kinds = Callable[..., list[tuple[str, str | None]]]
Rule = Callable[..., str]

FOUND = [("covers-interpreter", "a")]


@for_each("command")
def test_programs_that_run_what_they_are_given(kinds: Kinds, rule: Rule, command: str) -> None:
    """No one looks at the code in the arguments, so the permission is one for everything."""
    assert kinds(rule("a", "allow", f'when.command = ["{command}"]')) == FOUND


@for_each("command")
def test_what_a_wildcard_runs_is_not_permitted_by_it(kinds: Kinds, rule: Rule, command: str) -> None:
    """A command that is run by another is looked at by itself, so no code slips in."""
    assert FOUND[0] not in kinds(rule("a", "allow", f'when.command = ["{command}"]'))


def test_what_says_that_it_runs_any_covers_all(kinds: Kinds, rule: Rule) -> None:
    """The rule says so itself, and lint repeats it."""
    assert kinds(rule("a", "allow", "runs_any = true", 'when.command = ["env *"]')) == FOUND


@for_each("command")
def test_programs_whose_arguments_are_no_code(kinds: Kinds, rule: Rule, command: str) -> None:
    """A permission that names the program, the script or the sub-command is as it should be."""
    assert FOUND[0] not in kinds(rule("a", "allow", f'when.command = ["{command}"]'))


def test_an_example_and_a_way_out_are_told(linted: Linted, rule: Rule) -> None:
    """The reader sees which command slips in, and that reading needs no rule."""
    (found,) = linted(rule("a", "allow", 'when.command = ["docker *"]'))
    assert found.reason == "`docker *` also covers `docker run ...`, and with it any code at all"
    assert found.suggestion == "name what may run: the sub-commands, the scripts, the arguments"
    (found,) = linted(rule("a", "allow", 'when.command = ["perl *"]'))
    assert "needs no rule" not in found.suggestion


@for_each(("command", "reason"))
def test_an_example_that_shows_nothing_is_left_out(linted: Linted, rule: Rule, command: str, reason: str) -> None:
    """Where any argument is code, what the program does is said instead."""
    (found,) = linted(rule("a", "allow", f'when.command = ["{command}"]'))
    assert found.reason == reason


def test_what_is_excepted_is_not_covered(kinds: Kinds, rule: Rule) -> None:
    """An exception for every option that runs programs closes the hole."""
    command = 'when.command = ["docker exec c *"]'
    assert kinds(rule("a", "allow", command, 'unless.command = ["docker exec c {sh,bash} *"]')) == FOUND
    assert kinds(rule("a", "allow", command, 'unless.command = ["docker exec c * *"]')) == []


def test_with_paths_no_code_is_covered(kinds: Kinds, rule: Rule) -> None:
    """What a program touches that runs code is not known, as the examples show."""
    conditions = ('when.command = ["{git,make,perl,python,sed} *"]', 'when.path = ["src/**"]')
    examples = 'no_match = ["git -c core.pager=x log", "make x", "perl -e 1", "python src/a.py", "sed 1e src/a"]'
    assert kinds(rule("a", "allow", *conditions, examples)) == []


def test_a_restriction_may_cover_them(kinds: Kinds, rule: Rule) -> None:
    """Asking about interpreters is the right thing to do."""
    assert kinds(rule("a", "confirm", 'when.command = ["python *"]')) == []


@for_each("tool", ["run_shell", "@shell", "bash"])
def test_a_shell_without_conditions(kinds: Kinds, rule: Rule, tool: str) -> None:
    """A tool that takes commands runs any."""
    assert kinds(rule("a", "allow", f'tools = ["{tool}"]')) == FOUND
    assert kinds(rule("a", "allow", f'tools = ["{tool}"]', 'when.agent = "x"')) == []
