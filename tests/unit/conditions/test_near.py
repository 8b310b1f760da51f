"""Why conditions do not match: what a permission does not cover, or an exception does not lift."""

from tests.matching import Given
from tests.tables import for_each

from permitry.actions.extract import ReadActions
from permitry.conditions.command import ArgvPattern
from permitry.conditions.host import HostPattern
from permitry.conditions.match import Match
from permitry.conditions.near import say_plain
from permitry.conditions.path import PathPattern
from permitry.conditions.scope import Conditions, Scope
from permitry.core.action import Access
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request
from permitry.core.spec import ArgumentRole, ToolSpec

SHELL = ToolSpec("run_shell", roles={"command": ArgumentRole.COMMAND})
READER = ReadActions("/home/ann", has_disk=False)
WHEN = Conditions(
    commands=(ArgvPattern("{cp,cat,curl,x} *"),),
    paths=(PathPattern("docs/**"),),
    hosts=(HostPattern("a.example", "https", "a.example", 443),),
)
EXPECTED = "(expected: run `{cp,cat,curl,x} *` and touch `docs/**` and connect to `a.example`)"

BECAUSE = "is not certain, because its wildcards become names that are not known"
OPEN = "is not certain, because it is not known before it runs"
LEADS = "is not certain, because where it leads is not known"


def asked(command: str) -> Request:
    """Return the request of a command that runs in a workspace."""
    call = ToolCall("run_shell", {"command": command})
    return Request(call, AuthContext(workspace="/work"), SHELL, READER)


@for_each(
    ("command", "fact"),
    [
        ("cp README.md docs/a", f"`read README.md` of `cp README.md docs/a` is not covered {EXPECTED}"),
        ("curl http://b.example", f"`connect http://b.example` of `curl http://b.example` is not covered {EXPECTED}"),
        ("rm docs/a", f"`rm docs/a` is not covered {EXPECTED}"),
        ("x docs/a", "`x docs/a` is not certain, because not all that it touches is known"),
        ("cp docs/*.md docs/a", f"`read docs/*.md` of `cp docs/*.md docs/a` {BECAUSE}"),
        ("cp *.md docs/a", f"`read *.md` of `cp *.md docs/a` is not covered {EXPECTED}"),
        ("cp docs/a docs/b/../c", f"`write docs/b/../c` of `cp docs/a docs/b/../c` {LEADS}"),
        ('cp -- docs/a "$x"', f'`read $x` of `cp -- docs/a "$x"` {OPEN}'),
    ],
)  # fmt: skip
def test_a_permission_names_the_part_that_it_does_not_cover(command: str, fact: str) -> None:
    """All kinds of conditions must hold, and what is not certain is not said to be something else."""
    assert list(Scope(when=WHEN).facts(asked(command), Match.YES)) == [fact]


def test_a_program_before_it_may_change_where_a_path_leads() -> None:
    """The program is named, and not the path that the author of the rule sees in its pattern."""
    when = Conditions(commands=(ArgvPattern("echo *"),), paths=(PathPattern("docs/**"),))
    _, fact = Scope(when=when).facts(asked("make && echo hi > docs/a.md"), Match.YES)
    assert fact == "`write docs/a.md` is not certain, because `make` may change where it leads"


def test_an_exception_names_what_is_not_certain() -> None:
    """`*.txt` is below the workspace as it is written, and what the shell makes of it is not known."""
    scope = Scope(when=Conditions(paths=(PathPattern("**/*.txt"),)), unless=Conditions(paths=(PathPattern("**"),)))
    assert list(scope.not_lifted(asked("cat *.txt"))) == [f"`read *.txt` {BECAUSE}"]


def test_an_exception_to_a_permission_is_said_to_take_it_back() -> None:
    """What `when` is about would be covered without it."""
    command = Conditions(commands=(ArgvPattern("rm *"),))
    scope = Scope(when=command, unless=Conditions(commands=(ArgvPattern("rm -f *"),)))
    fact = "`unless` takes `rm -f a` back"
    assert list(scope.facts(asked("rm b; rm -f a"), Match.YES)) == [fact]


WRITER = ToolSpec("write_file", roles={"path": ArgumentRole.WRITE_PATH})


@for_each(
    ("path", "hint"),
    [("docs/a/b", "; what is below it is `docs/**`"), ("src/docs", ""), ("docs-2/a", ""), ("/docs/a", "")],
)
def test_what_is_below_a_folder_has_a_pattern_of_its_own(path: str, hint: str) -> None:
    """The author of `docs` may have meant all of the folder."""
    scope = Scope(when=Conditions(paths=(PathPattern("docs"),), accesses=frozenset({Access.WRITE})))
    call = ToolCall("write_file", {"path": path})
    request = Request(call, AuthContext(workspace="/work"), WRITER, READER)
    fact = f"`write {path}` is not covered (expected: write `docs`{hint})"
    assert list(scope.facts(request, Match.YES)) == [fact]


def test_what_is_the_case_instead_is_reported() -> None:
    """Of each condition that does not hold, or cannot be evaluated."""
    conditions = Conditions((Given(answer=True), Given(answer=False), Given(None)))
    facts = say_plain(conditions, Request(ToolCall("t"), AuthContext()), Match.YES)
    assert list(facts) == ["answer = False", "no answer, needed is YES"]


def test_a_command_that_may_do_more_than_look_is_said_to() -> None:
    """It is not the words of the pattern that it lacks."""
    when = Conditions(commands=(ArgvPattern("gh *"),), looks=True)
    (fact,) = Scope(when=when).facts(asked("gh pr merge 1"), Match.YES)
    assert fact == "`gh pr merge 1` is not known to only look"


def test_without_a_workspace_a_relative_pattern_is_said_to_permit_nothing() -> None:
    """A path is what it would be relative to."""
    spec = ToolSpec("read", roles={"path": ArgumentRole.READ_PATH})
    request = Request(ToolCall("read", {"path": "docs/a"}), AuthContext(), spec, READER)
    (fact,) = Scope(when=Conditions(paths=WHEN.paths)).facts(request, Match.YES)
    assert fact.endswith("; the session has no `workspace`, the folder that patterns are relative to)")
