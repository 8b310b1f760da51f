"""How far a pattern matches an effect, in one answer for each reader."""

import functools
import itertools

import pytest
from tests.matching import is_graded
from tests.tables import for_each

from permitry.actions.extract import ReadActions
from permitry.conditions.command import ArgvPattern
from permitry.conditions.host import HostPattern
from permitry.conditions.match import Match, best_of, why, why_open, why_uncertain, why_unread
from permitry.conditions.path import PathPattern
from permitry.conditions.written import WrittenPattern
from permitry.core.action import UNSEEN_ADDRESS, UNSEEN_NAME, Access, Connect, Place, Run, Touch, Unknown, Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.effects import Effect, effects_of, guesses_of
from permitry.core.spec import ArgumentRole, ToolSpec

SHELL = ToolSpec("run_shell", roles={"command": ArgumentRole.COMMAND})
READER = ReadActions("/home/ann", has_disk=False)
COMMANDS = ("git push *", "git * push", "rm *", "rm -rf *", "{cat,cp} *", "*", "find *", "FOO=* git push *")
PATHS = ("**", "src/**", "~/.ssh/**", "*.py", ".env", "/etc/**", "**/a")
HOSTS = ("example.com", "*", "private", "http://example.com", "x.org:80")
PATTERNS: tuple[WrittenPattern, ...] = (
    *map(ArgvPattern, COMMANDS), *map(PathPattern, PATHS), *(HostPattern.parse(text, str) for text in HOSTS),
)  # fmt: skip
TEXTS = (
    "git push", "/usr/bin/git push", "git -C x push", "git $x", "$x push", "rm -fr a", "rm *.py", 'rm -- "$x"',
    "cat ~/.ssh/id src/a", "cp -r . /tmp", "find . -name a", "curl https://example.com", "curl http://x.org",
    'curl "$u"', "sudo rm -rf /etc", "echo a > SRC/b.py", "cat .ENV", "grep -r x src", "git push '$x'", "x src/a",
    "FOO=1 git push", "nc -z localhost $p", "rm -rf src", "echo x > /dev/tcp/example.com/80",
)  # fmt: skip


def _effects(text: str) -> list[Effect]:
    actions = READER(ToolCall("run_shell", {"command": text}), AuthContext(workspace="/work"), SHELL)
    return [*effects_of((*actions.certain, *actions.possible), actions), *guesses_of(actions).every]


@for_each("text", TEXTS)
def test_one_answer_serves_each_reader(text: str) -> None:
    """Who permits, who restricts, and who asks."""
    for pattern, effect in itertools.product(PATTERNS, _effects(text)):
        assert is_graded(functools.partial(pattern.match, effect)), (pattern, effect)


@for_each("enough", Match)
def test_what_is_enough_ends_the_search(enough: Match) -> None:
    """The answer is the same as far as the reader can see."""
    some = (Match.NO, Match.MAYBE, Match.ALIKE, Match.YES)
    assert min(best_of(some, enough), enough) is min(max(some), enough)
    assert best_of((), enough) is Match.NO


def test_a_pattern_must_say_what_it_matches() -> None:
    """The base class has nothing to say."""
    with pytest.raises(NotImplementedError):
        WrittenPattern().match(Effect(Connect("x")))


TREE = Place("src", ("/w/src",), ("/w/src",), is_tree=True)
XARGS = Run((Word("xargs"), Word("rm")))


@for_each(
    ("effect", "reason"),
    [
        (Effect(Run((Word("rm"), Word("$x", is_open=True)))), "`$x` is not known before it runs"),
        (Effect(Run((Word("rm"),))), "`rm` may be such a command"),
        (Effect(Touch(Access.READ, Place("$x", is_open=True))), "`$x` is not known before it runs"),
        (
            Effect(Touch(Access.READ, Place(UNSEEN_NAME, is_open=True)), XARGS),
            "what `xargs` reads is not known before it runs",
        ),
        (Effect(Touch(Access.READ, TREE)), "`read src` reaches all below `src`"),
        (Effect(Touch(Access.READ, Place("a*", is_glob=True))), "`a*` may be such a path"),
        (Effect(Connect("x:$p")), "`x:$p` may be such an address"),
    ],
)
def test_why_it_is_not_certain_depends_on_the_effect(effect: Effect, reason: str) -> None:
    """And is worded for a human."""
    assert why(effect) == reason


@for_each(
    ("subject", "reason"),
    [
        (Touch(Access.READ, Place("$x", is_open=True)), "`$x` is not known before it runs"),
        (Touch(Access.READ, Place("x")), "`x` may lead anywhere"),
        (Connect("::"), "`::` is not a valid address"),
        (Connect(UNSEEN_ADDRESS), f"{UNSEEN_ADDRESS} is not known before it runs"),
    ],
)
def test_why_it_may_be_anything_is_said_as_well(subject: Touch | Connect, reason: str) -> None:
    """Of a path and of an address."""
    assert why_open(Effect(subject)) == reason


def test_what_could_not_be_read_is_named() -> None:
    """An expansion by its own text."""
    assert why_unread(Unknown("cat $HOME/x", "an expansion", 4)) == "`$HOME` is not known before it runs"
    assert why_unread(Unknown("x", "a brace")) == "a brace"


@for_each(
    ("place", "reason"),
    [
        (Place("$x", is_open=True), "it is not known before it runs"),
        (Place("*.py", is_glob=True), "its wildcards become names that are not known"),
        (Place("x"), "`make` may change where it leads"),
    ],
)
def test_why_a_path_is_not_certain_is_said(place: Place, reason: str) -> None:
    """By the first reason there is; last by a program before it."""
    assert why_uncertain(place, [Run((Word("make"),)), XARGS]) == reason
    assert why_uncertain(Place("x"), []) == "where it leads is not known"
