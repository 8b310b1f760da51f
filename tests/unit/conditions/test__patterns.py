"""The patterns of one kind: found by an index, and about less or more for what is not certain."""

import attrs
from tests.tables import for_each

from permitry.conditions._patterns import AnyPatterns, CommandPatterns, HostPatterns, PathPatterns
from permitry.conditions.command import ArgvPattern
from permitry.conditions.host import HostPattern
from permitry.conditions.match import Match
from permitry.conditions.path import PathPattern
from permitry.core.action import Access, Actions, Connect, Place, Run, Touch, Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.effects import Effect
from permitry.core.rule import Request

KEY = Place("key", ("/w/key",), ("/w/key",))
OPEN = Place("$X", is_certain=False, is_open=True)
ON_KEY = PathPatterns((PathPattern("key"),))
ON_HOST = HostPatterns((HostPattern("*", None, "*", None),))
ON_WRITING = attrs.evolve(ON_KEY, accesses=frozenset({Access.WRITE}))


@for_each(
    ("program", "near"),
    [
        (Word("a"), "a"), (Word("/bin/a"), "a"), (Word("x"), ""), (Word("a*", is_glob=True), "abcde"),
        (Word("~", is_home=True), "abcde"), (Word("a", is_open=True), "abcde"),
    ],
)  # fmt: skip
def test_patterns_of_commands_are_found_by_the_name_of_the_program(program: Word, near: str) -> None:
    """All of them where the shell has yet to expand it: the home folder itself may have any name."""
    patterns = CommandPatterns(tuple(map(ArgvPattern, "abcde")))
    assert [each.text for each in patterns.near(Effect(Run((program,))))] == list(near)


@for_each(
    ("patterns", "subject", "match"),
    [
        (ON_KEY, Touch(Access.READ, OPEN), Match.OPEN),
        (ON_KEY, Touch(Access.READ, Place("x", is_certain=False)), Match.OPEN),
        (ON_KEY, Touch(Access.READ, KEY), Match.NO),
        (ON_WRITING, Touch(Access.READ, OPEN), Match.NO),
        (ON_WRITING, Touch(Access.WRITE, OPEN), Match.ACCESS),
        (ON_WRITING, Touch(Access.WRITE, OPEN, instead=frozenset({Access.DELETE})), Match.OPEN),
        (ON_HOST, Touch(Access.READ, OPEN), Match.NO),
        (ON_HOST, Connect("::"), Match.OPEN),
        (ON_KEY, Connect("::"), Match.NO),
    ],
)
def test_an_open_name_may_be_any(patterns: AnyPatterns, subject: Touch | Connect, match: Match) -> None:
    """For patterns of its kind, and of what happens to it."""
    assert patterns.match_open(Effect(subject)) is match


def test_any_command_is_about_no_wrapper_and_no_guess() -> None:
    """What a wrapper runs is an action of its own, and any text could be some command."""
    patterns = CommandPatterns((ArgvPattern("*"), ArgvPattern("sudo *")))
    for run, texts in ((Run((Word("ls"),)), "* sudo *"), (Run((Word("ls"),), is_wrapper=True), "sudo *")):
        effect = Effect(run)
        assert " ".join(each.text for each in patterns.in_doubt(effect).patterns) == texts
        assert [each.text for each in patterns.for_guess(effect).patterns] == ["sudo *"]


def test_an_undeclared_tool_may_access_a_path_in_any_way() -> None:
    """A program is known by what it does."""
    touch, run = Touch(Access.READ, KEY), Run((Word("cat"), Word("key")))
    assert ON_WRITING.for_guess(Effect(touch)).is_about(Effect(touch))
    assert not ON_WRITING.for_guess(Effect(touch, run)).is_about(Effect(touch, run))
    assert ON_WRITING.of_any_access.verb == "touch"
    assert ON_HOST.of_any_access is ON_HOST


@for_each(("programs", "found"), [("b", "b"), ("bd", "bd"), ("abcde", "abcde"), ("x", None), ("", None)])
def test_only_patterns_that_may_match_are_left_of_many(programs: str, found: str | None) -> None:
    """None of them where no program of the call is one of theirs."""
    runs = Actions(tuple(Run((Word(program),)) for program in programs))
    request = Request(ToolCall("bash"), AuthContext(), reader=lambda *_: runs)
    narrowed = CommandPatterns(tuple(map(ArgvPattern, "abcde"))).narrow(request.facts)
    assert found == (None if narrowed is None else "".join(each.text for each in narrowed.patterns))
