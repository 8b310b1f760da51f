"""Exceptions: what is open may be what they are about, and a program that an assignment changes is another one."""

from hypothesis import example, given
from hypothesis import strategies as st

from permitry.actions.extract import ReadActions
from permitry.actions.hosts import read_host
from permitry.conditions.command import ArgvPattern
from permitry.conditions.host import HostPattern
from permitry.conditions.path import PathPattern
from permitry.conditions.scope import Conditions, Scope
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.spec import ArgumentRole, ToolSpec
from permitry.rules.configured import ConfiguredRule

_SPEC = ToolSpec("bash", roles={"command": ArgumentRole.COMMAND})
_CONTEXT = AuthContext(workspace="/nowhere/work")
_READER = ReadActions("/nowhere/home")
_ANYTHING = ConfiguredRule("anything", Verdict.ALLOW, 399)


def _conditions(commands: list[str], paths: list[str], hosts: list[str]) -> Conditions:
    return Conditions(
        commands=tuple(map(ArgvPattern, commands)),
        paths=tuple(map(PathPattern, paths)),
        hosts=tuple(HostPattern.parse(host, read_host) for host in hosts),
    )


def _few(*texts: str) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(texts), max_size=1)


_exceptions = st.builds(
    _conditions, _few("rm -rf *", "cat *", "git *", "bash *"), _few("secret/**", "~/.ssh/**"), _few("evil.com", "*")
).filter(lambda found: found.are_about_actions)
_opened = st.sampled_from(
    (
        *((f'{program} -- "$x"', text) for program in ("rm", "cat", "touch") for text in ("a", "secret/a")),
        ('curl -- "$x"', "https://evil.com/a"),
        ('curl -- "https://$x/a"', "evil.com"),
        ('cp -- a "$x"', "secret/a"),
        ('rm -- src/"$x"', "../secret/a"),
    )
)
_commands = st.sampled_from(
    ("cat ~/.ssh/id", "git checkout secret/a", "rm -rf secret", "bash -c 'cat ~/.ssh/id'", "cat < secret/a")
)
_assignments = st.sampled_from(("LD_PRELOAD=./e.so", "PATH=./bin", "GIT_EXTERNAL_DIFF=./e", "BASH_ENV=e"))


def _decide(rule: ConfiguredRule, command: str, *others: ConfiguredRule) -> Decision:
    policy = AuthorizationPolicy((rule, *others), reader=_READER)
    return policy.decide(ToolCall("bash", {"command": command}), _CONTEXT, _SPEC)


@given(_exceptions, _opened)
@example(_conditions([], ["secret/**"], []), ('rm -- "$x"', "secret/a"))
@example(_conditions([], [], ["evil.com"]), ('curl -- "$x"', "https://evil.com"))
def test_what_is_open_is_permitted_only_if_all_that_it_may_be_is(unless: Conditions, opened: tuple[str, str]) -> None:
    """An exception that takes one value back takes back the operand that may have it."""
    command, value = opened
    program = command.partition(" ")[0]
    when = Conditions(commands=(ArgvPattern(f"{program} *"),))
    rule = ConfiguredRule("some", Verdict.ALLOW, 250, Scope((), when, unless))
    closed = command.replace("$x", value)
    assert _decide(rule, closed).verdict is Verdict.ALLOW or _decide(rule, command).verdict is not Verdict.ALLOW


@given(_exceptions, st.sampled_from(("secret/**", "~/.ssh/**")), _commands, _assignments)
@example(_conditions(["cat *"], [], []), "~/.ssh/**", "cat ~/.ssh/id", "LD_PRELOAD=./e.so")
@example(_conditions(["bash *"], [], []), "~/.ssh/**", "bash -c 'cat ~/.ssh/id'", "LD_PRELOAD=./e.so")
@example(_conditions(["cat *"], ["secret/**"], []), "secret/**", "cat < secret/a", "PATH=./bin")
def test_an_assignment_lifts_no_restriction(unless: Conditions, path: str, command: str, assignment: str) -> None:
    """An exception for a program is none for what an assignment makes of it."""
    rule = ConfiguredRule("secrets", Verdict.BLOCK, 150, Scope((), Conditions(paths=(PathPattern(path),)), unless))
    before, after = _decide(rule, command, _ANYTHING), _decide(rule, f"{assignment} {command}", _ANYTHING)
    assert after.verdict >= before.verdict
    # Where the rule would be about this command without an exception for a program, the exception is gone.
    bare = ConfiguredRule("secrets", Verdict.BLOCK, 150, Scope((), Conditions(paths=(PathPattern(path),))))
    is_about = _decide(bare, command, _ANYTHING).verdict is Verdict.BLOCK
    assert not (unless.commands and is_about) or after.verdict is not Verdict.ALLOW
