"""Rules found by what they need."""

from tests.tables import for_each

from permitry.actions.extract import ReadActions
from permitry.core.action import Actions, Run, Unknown, Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.facts import Anchor, Fact, Facts, Kind
from permitry.core.finder import Finder, Names
from permitry.core.policy import AuthorizationPolicy

_POLICY = AuthorizationPolicy(reader=ReadActions("/home/u", has_disk=False))


def _found(finder: Finder, tool: str, arguments: dict[str, object]) -> set[int]:
    return finder.find(_POLICY.request(ToolCall(tool, arguments), AuthContext(workspace="/w")).facts)


def _needs(kind: Kind, group: object, *values: object) -> list[list[frozenset[Fact]]]:
    """Return the needs of one rule for each value, and of one that says nothing."""
    return [*([frozenset({Fact(kind, group, value)})] for value in values), []]


@for_each(
    ("needs", "tool", "arguments", "found"),
    [
        (_needs(Kind.ARGUMENT, (("n",), "number"), 1, 2), "t", {"n": 2.0}, {1, 2}),
        (_needs(Kind.ARGUMENT, (("n",), "number"), 1, 2), "t", {"n": "2"}, {0, 1, 2}),
        (_needs(Kind.ARGUMENT, (("n",), "number"), 1, 2), "t", {}, {0, 1, 2}),
        (_needs(Kind.PROGRAM, (), "git", "py*", "ls"), "bash", {"command": "python3 x"}, {1, 3}),
        (_needs(Kind.PROGRAM, (), "git", "ls"), "bash", {"command": "g?t x"}, {0, 1, 2}),
        (_needs(Kind.WORD, "git", "push", "pull"), "bash", {"command": "git -C d push"}, {0, 2}),
        (_needs(Kind.WORD, "git", "push", "pull"), "bash", {"command": "git *"}, {0, 1, 2}),
        (_needs(Kind.WORD, "git", "push"), "bash", {"command": "ls push"}, {1}),
        (_needs(Kind.HOST, (), "a.example", ".example"), "web_fetch", {"url": "https://b.example"}, {1, 2}),
        (
            _needs(Kind.PATH, (Anchor.WORKSPACE, None), ("a",), ("a", "b"), ("c",)),
            "read_file",
            {"path": "a/b/x"},
            {0, 1, 3},
        ),
        (_needs(Kind.PATH, (Anchor.WORKSPACE, None), ("a",), ("a", "b"), ("c",)), "grep", {"path": "a"}, {0, 1, 3}),
        (_needs(Kind.PATH, (Anchor.WORKSPACE, None), "no parts"), "read_file", {"path": "a"}, {1}),
        (_needs(Kind.NAME, (Anchor.WORKSPACE, None), "x", "y"), "read_file", {"path": "a/X"}, {0, 2}),
        (_needs(Kind.NAME, (Anchor.WORKSPACE, None), "x", "y"), "grep", {"path": "/"}, {0, 1, 2}),
    ],
)
def test_a_rule_is_found_by_each_kind_of_fact(
    needs: list[list[frozenset[Fact]]], tool: str, arguments: dict[str, object], found: set[int]
) -> None:
    """The last one says nothing, and is always found."""
    assert _found(Finder(needs), tool, arguments) == found


def test_what_is_not_known_finds_every_rule_of_its_kind() -> None:
    """But not where only what is known is asked for."""
    finder = Finder(_needs(Kind.PROGRAM, (), "git", "ls"))
    actions = Actions((Run((Word("ls"),)), Unknown("x", "why")))
    facts = Facts(ToolCall("t"), frozenset(), lambda: (actions,))
    assert finder.find(facts) == {0, 1, 2}
    assert finder.find(facts, is_of_known=True) == {1, 2}


def test_of_several_sets_the_one_that_fewest_share_counts() -> None:
    """Here the second of each rule."""
    shared = frozenset({Fact(Kind.PROGRAM, (), "git")})
    finder = Finder([[shared, frozenset({Fact(Kind.ARGUMENT, (("n",), "number"), n)})] for n in range(9)])
    assert _found(finder, "bash", {"command": "git push", "n": 3}) == {3}


# Names ---------------------------------------------------------------------------------------------------------------


def _names(*texts: str) -> Names:
    names = Names()
    for number, text in enumerate(texts):
        names.add(text, number)
    names.close()
    return names


def _fitting(names: Names, *asked: str) -> set[int]:
    found: set[int] = set()
    names.find(asked, found)
    return found


@for_each(
    ("name", "found"),
    [
        ("", {0}),
        ("read_file", {0, 1, 3}),
        ("read_files", {0, 1}),
        ("my_file", {0, 3}),
        ("profile", {0}),
        ("a_middle_b", {0, 4}),
        ("ab", {0, 5}),
        ("READ_FILE", {0}),
    ],
)
def test_a_name_finds_the_patterns_that_fit_it(name: str, found: set[int]) -> None:
    """By what they begin with, end with or hold in between; case counts."""
    names = _names("*", "read_*", "exact", "*_file", "*middle*", "?b")
    assert _fitting(names, name) == found


def test_a_plain_name_is_filed_under_itself() -> None:
    """Also for several rules, and once for one that says it twice."""
    names = Names()
    for number in (1, 1, 2, 3):
        names.add("read", number)
    names.close()
    assert _fitting(names, "read") == {1, 2, 3}
    assert _fitting(names, "reads") == set()


def test_names_are_looked_up_together() -> None:
    """A rule is found when one of the names fits, so that no names find none."""
    names = _names("a*", "b", "*")
    assert _fitting(names, "ax", "b") == {0, 1, 2}
    assert _fitting(names) == set()
