"""What patterns are about, as languages."""

import itertools
from pathlib import PurePosixPath

import pytest

from permitry.actions.hosts import read_host
from permitry.conditions.command import ArgvPattern
from permitry.conditions.host import HostPattern
from permitry.conditions.match import Match
from permitry.conditions.path import PathPattern
from permitry.conditions.tools import ToolSelector
from permitry.core.action import Roots, Word
from permitry_ops.diff.regex import UnreadError
from permitry_ops.diff.regions import END, language_of, tools_language

ROOTS = Roots(("/home/a/work",), ("/home/a",))
PATTERNS = ("git *", "git push *", "git {push,pull}", "npm run 'a*' *", "make ** all", "* x", "git pus?", "a '*'")
WORDS = ("git", "push", "pull", "npm", "run", "a*", "ab", "make", "all", "x", "a", "*")


@pytest.mark.parametrize("text", PATTERNS)
def test_a_command_is_in_the_language_of_a_pattern_that_it_matches(text: str) -> None:
    """Exactly: as a permission takes it."""
    pattern = ArgvPattern(text)
    language = language_of((pattern,), ROOTS, is_permission=True)
    for length in range(1, 4):
        for words in itertools.product(WORDS, repeat=length):
            is_exact = pattern.match_words([Word(word) for word in words]) is Match.YES
            assert (("".join(word + END for word in words)) in language) is is_exact, words


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("src/**", ["work/src/a", "work/src/a/b"], ["work/src", "work/a/src/a"]),
        ("src/*.py", ["work/src/a.py"], ["work/src/a/b.py", "work/src/a.js"]),
        ("**/.env", ["work/.env", "work/a/b/.env"], ["work/.env/a", ".env"]),
        ("~/.ssh/**", [".ssh/id"], [".ssh", "work/.ssh/id"]),
        ("~/[ab]/?", ["a/x", "b/y"], ["c/x", "a/xy"]),
    ],
)
def test_a_path_is_absolute(text: str, inside: list[str], outside: list[str]) -> None:
    """Below the workspace, the home folder, or the root."""
    language = language_of((PathPattern(text),), ROOTS, is_permission=True)
    top = PurePosixPath("/home/a")
    assert [str(top / each) in language for each in (*inside, *outside)] == [True] * len(inside) + [False] * len(
        outside
    )


def test_an_address_has_a_scheme_and_a_port() -> None:
    """Those of https for a permission; for a restriction any."""
    pattern = HostPattern.parse("*.example.com", read_host)
    permits, restricts = (language_of((pattern,), ROOTS, is_permission=each) for each in (True, False))
    assert "https://a.example.com:443" in permits
    assert "http://a.example.com:80" not in permits
    assert "http://a.example.com:80" in restricts
    assert "https://example.com:443" not in restricts


def test_what_has_no_language_is_said() -> None:
    """A variable before a program, the private hosts, and a trait of tools."""
    for pattern in (ArgvPattern("CI=1 npm test"), HostPattern.parse("private", read_host)):
        with pytest.raises(UnreadError):
            language_of((pattern,), ROOTS, is_permission=True)
    with pytest.raises(UnreadError):
        tools_language((ToolSelector("@shell"),))
    assert "send_mail" in tools_language((ToolSelector("send_*"), ToolSelector("pay")))


def test_a_restriction_is_about_a_program_in_any_folder() -> None:
    """A permission is about its name alone."""
    pattern = (ArgvPattern("git push *"),)
    words = END.join(("/usr/bin/git", "push", ""))
    assert [words in language_of(pattern, ROOTS, is_permission=each) for each in (True, False)] == [False, True]
