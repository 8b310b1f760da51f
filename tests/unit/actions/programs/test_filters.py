"""Names that programs expand by themselves: pathspecs of `git`, and the filters of programs that search."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.actions.programs.filters import expand_by_program
from permitry.config.load import load_policy
from permitry.core.action import Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Verdict

Decide = Callable[[str], Decision]


def _found(text: str) -> list[tuple[str, bool]]:
    return [(word.text, is_tree) for word, is_tree in expand_by_program([Word(word) for word in text.split()])]


@for_each(
    ("text", "found"),
    [
        ("git log a", []),
        ("git log :(top)x", [("x", True)]),
        ("git log :(icase)X", [("X", True)]),
        ("git log :(top,icase)a/x", [("a/x", True)]),
        ("git log :/x", [("x", True)]),
        ("git log :(top)", [(".", True)]),
        ("git log :/", [(".", True)]),
        ("git log :!x", [("x", True), (".", True)]),
        ("git log :^x", [("x", True), (".", True)]),
        ("git log :(exclude)x", [("x", True), (".", True)]),
        ("git log x*", [("**/x*", False)]),
        ("git log *x", [("**/[*]*x", False)]),
        ("git log a/?x", [("**/a/[*]?x", False)]),
        ("git log :(glob)a/[x]", [("a/[x]", True), ("**/a/[x]", False)]),
        ("git grep KEY", [(".", True)]),
        ("git archive HEAD", [(".", True)]),
        ("git -C a grep KEY", [(".", True)]),
        ("ls x*", []),
        ("ls :(top)x", []),
    ],
)
def test_a_pathspec_is_what_git_makes_of_it(text: str, found: list[tuple[str, bool]]) -> None:
    """Magic is taken off, an exclusion leaves the rest, and wildcards cross folders and stand for a dot."""
    assert _found(text) == found


@for_each(("text", "found"))
def test_a_filter_names_files_at_any_depth(text: str, found: list[str]) -> None:
    """However its value is written; an option that is not one has none."""
    assert _found(text) == [(name, False) for name in found]


@pytest.fixture
def decide(tmp_path: Path) -> Decide:
    """Return a function that decides a command in a workspace by the shipped floor."""
    policy, context = load_policy("permitry:base"), AuthContext(workspace=str(tmp_path))
    return lambda text: policy.decide(ToolCall("run_shell", {"command": text}), context)


@for_each("text")
def test_a_secret_that_a_program_finds_by_itself_is_asked_about(decide: Decide, text: str) -> None:
    """As one that is named outright."""
    decision = decide(text)
    assert (decision.verdict, decision.rule_id) == (Verdict.CONFIRM, "ask-credentials")


@for_each(
    "text",
    ["rg KEY -g '*.py'", "rg KEY -g '!x'", "git log -- '*.py'", "git log -- ':/src'", "git log -- ':!src'", "git diff",
     "git diff -- ':!src'", "git grep x -- ':(exclude)src'",
     "git grep KEY", "ls src/*", "cat *"],
)  # fmt: skip
def test_a_pattern_that_names_no_secret_is_read(decide: Decide, text: str) -> None:
    """A leading star of the shell hides the names that begin with a dot, and `*.py` is not one of them."""
    assert decide(text).verdict is Verdict.ALLOW


def test_a_star_of_the_shell_leaves_hidden_names_alone(decide: Decide) -> None:
    """Deleting is asked about, but not for what the star cannot become."""
    decision = decide("rm src/*")
    assert (decision.verdict, decision.rule_id) == (Verdict.CONFIRM, None)
