"""The finding `covers-interpreter`."""

from collections.abc import Callable

from tests.tables import for_each

from permitry_ops.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Kinds = Callable[..., list[tuple[str, str | None]]]
Rule = Callable[..., str]

FOUND = [("covers-interpreter", "a")]


@for_each(
    "command",
    [
        "python *", "python3 -m *", "/usr/bin/python *", "bash *", "bash -c *", "sh *", "node *", "node -e *", "perl *",
        "ruby *", "php *", "env *", "git *", "git -c *", "sudo *", "xargs *", "find *", "find . -exec *", "make *",
        "npm *", "npm exec *", "npx *", "docker *", "docker run *", "ssh *", "awk *", "sed *", "*", "kubectl *",
        "timeout *", "eval *", "rg *", "tar *", "vim *", "go *", "uv run *", "{ls,perl} *", "py* *", "watch *", "fd *",
        "find build *", "find src -type f *", "find {src,lib} *", "fd x *", "xargs -0 *", "tar -xf a.tar *",
        "git -C x *", "git --no-pager *", "git grep *", "git bisect *", "git submodule *", "git bisect run *",
        "rsync -a src/ *", "scp a *", "ssh host *", "awk -F: *", "sed -n *", "env A=1 *", "timeout 5 *", "sudo -u x *",
        "docker exec c *", "sort -u *", "flock x *",
    ],
)  # fmt: skip
def test_programs_that_run_what_they_are_given(kinds: Kinds, rule: Rule, command: str) -> None:
    """No one looks at the code in the arguments, so the permission is one for everything."""
    assert kinds(rule("a", "allow", f'when.command = ["{command}"]')) == FOUND


@for_each(
    "command",
    [
        "git log *", "git status", "git commit *", "npm run {test,lint}", "npm install *", "python -m pytest *",
        "python scripts/build.py *", "make test", "pytest *", "cargo build *", "go test *", "mypy *", "ls *", "cat *",
        "grep *", "mkdir *", "cp *", "curl *", "uv run pytest *", "docker ps *", "echo *", "head *", "jq *", "bash",
        "isort *", "flake8 *", "gofmt *", "find build", "find . -name ?", "git -C x log *", "git --no-pager diff *",
        "git blame *", "npm run *", "xargs grep *", "awk '{print}' *", "awk -f x.awk *", "sed s/a/b/ *", "make -C x *",
        "npx tsc *", "docker -H x ps *", "kubectl get *", "python -m json.tool *",
    ],
)  # fmt: skip
def test_programs_whose_arguments_are_no_code(kinds: Kinds, rule: Rule, command: str) -> None:
    """A permission that names the program, the script or the sub-command is as it should be."""
    assert FOUND[0] not in kinds(rule("a", "allow", f'when.command = ["{command}"]'))


def test_an_example_and_a_way_out_are_told(linted: Linted, rule: Rule) -> None:
    """The reader sees which command slips in, and that reading needs no rule."""
    (found,) = linted(rule("a", "allow", 'when.command = ["git *"]'))
    assert found.reason == "`git *` also covers `git -c ...`, and with it any code at all"
    assert found.suggestion.endswith("where `git` only reads, it needs no rule")
    (found,) = linted(rule("a", "allow", 'when.command = ["perl *"]'))
    assert "needs no rule" not in found.suggestion


@for_each(
    ("command", "reason"),
    [
        ("make *", "`make *`: `make` runs what the Makefile says"),
        ("go *", "`go *`: `go` runs the code of the workspace"),
        ("python *", "`python *` lets `python` run any code"),
        ("*", "`*` also covers every program, and with it any code at all"),
    ],
)
def test_an_example_that_shows_nothing_is_left_out(linted: Linted, rule: Rule, command: str, reason: str) -> None:
    """Where any argument is code, what the program does is said instead."""
    (found,) = linted(rule("a", "allow", f'when.command = ["{command}"]'))
    assert found.reason == reason


@for_each(
    ("command", "shown"),
    [
        ("find build *", "find build -exec ... ;"),
        ("tar -xf a.tar *", "tar -xf a.tar --checkpoint-action ..."),
        ("git -C x *", "git -C x -c ..."),
        ("git grep *", "git grep -O ..."),
        ("sed -n *", "sed -n 1e..."),
    ],
)
def test_the_option_that_runs_a_program_is_shown_behind_the_words_of_the_pattern(
    linted: Linted, rule: Rule, command: str, shown: str
) -> None:
    """As permitry reads such commands: an option that the sub-command lacks is not tried."""
    (found,) = linted(rule("a", "allow", f'when.command = ["{command}"]'))
    assert found.reason == f"`{command}` also covers `{shown}`, and with it any code at all"


def test_what_is_excepted_behind_words_is_not_covered(kinds: Kinds, rule: Rule) -> None:
    """An exception for each such option of the program."""
    command = 'when.command = ["find build *"]'
    assert kinds(rule("a", "allow", command, 'unless.command = ["find * {-exec,-execdir,-ok,-okdir} *"]')) == []


def test_what_is_excepted_is_not_covered(kinds: Kinds, rule: Rule) -> None:
    """An exception for every option that runs programs closes the hole."""
    command = 'when.command = ["rg *"]'
    assert kinds(rule("a", "allow", command, 'unless.command = ["rg --pre *"]')) == FOUND
    assert kinds(rule("a", "allow", command, 'unless.command = ["rg --pre *", "rg --hostname-bin *"]')) == []


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
