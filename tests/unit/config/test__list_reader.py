"""References to lists in conditions become the values of the lists."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.tables import for_each

from permitry.conditions._sources import SourceCondition
from permitry.conditions.args import LinkCondition, argument_condition
from permitry.conditions.listed import EmptyList, ListedValues
from permitry.conditions.match import Match
from permitry.conditions.scope import Conditions
from permitry.config.conditions import scope_of
from permitry.config.lists import ListUses, NamedList
from permitry.core.action import Word
from permitry.errors import RuleError


def _listed(*values: str | float) -> NamedList:
    return NamedList(values, values, "r.toml:1")


LISTS = {
    "ours": _listed("a.example", "*.b.example"),
    "folders": _listed("src/**", "docs/*"),
    "branches": _listed("main", "release/*", "'a b'"),
    "empty": _listed(),
    "numbers": _listed(1, 2),
    "several": _listed("a b"),
    "rest": _listed("**"),
    "blank": _listed("a b.example"),
}


def _when(given: Mapping[str, Any]) -> Conditions:
    return scope_of((), given, None, uses=ListUses(LISTS)).when


def _words(text: str) -> list[Word]:
    return [Word(each) for each in text.split()]


def test_a_list_of_hosts_or_paths_stands_for_a_pattern_for_each_value() -> None:
    """Next to other words of the same key, and with the name of the list."""
    when = _when({"host": ["c.example", "@ours"], "path": ["@folders"]})
    assert [(each.text, each.listed) for each in when.hosts] == [
        ("c.example", None),
        ("a.example", "ours"),
        ("*.b.example", "ours"),
    ]
    assert [(each.text, each.listed) for each in when.paths] == [("src/**", "folders"), ("docs/*", "folders")]
    assert Conditions(paths=when.paths[:1]).does == "touch `src/**` of `@folders`"


@for_each(
    ("command", "holds"),
    [("git push origin main", True), ("git push origin release/1", True), ("git push origin dev", False)],
)
def test_a_list_is_a_word_of_a_command(command: str, holds: bool) -> None:  # noqa: FBT001 -- a parameter of the test
    """With the wildcards that its values have."""
    (pattern,) = _when({"command": ["git push origin @branches"]}).commands
    assert (pattern.match_words(_words(command)) is Match.YES) is holds
    assert pattern.text == "git push origin @branches"
    assert pattern.match_words([*_words("git push origin"), Word("a b")]) is Match.YES


def test_a_list_may_be_the_program() -> None:
    """Its values are then the programs that the rule is found by."""
    (pattern,) = _when({"command": ["@branches --version"]}).commands
    assert pattern.programs is None
    matches = [pattern.match_words(_words(f"{each} --version")) for each in ("main", "other")]
    assert [each is Match.YES for each in matches] == [True, False]


def test_a_quoted_word_is_literal() -> None:
    """`gh issue list -a '@me'` is about a user, and `curl -d @body.json` about a file."""
    patterns = _when({"command": ["gh -a '@empty'", r"gh \@empty", "curl -d @body.json"]}).commands
    assert [each.lists for each in patterns] == [(), (), ()]
    assert patterns[0].match_words([Word("gh"), Word("-a"), Word("@empty")]) is Match.YES


@for_each("given", [{"host": ["@empty"]}, {"path": ["@empty"]}, {"command": ["git push @empty"]}])
def test_a_key_of_which_nothing_is_left_never_holds(given: dict[str, Any]) -> None:
    """Without patterns there would be no condition, and a permission would cover every call."""
    assert _when(given) == Conditions((EmptyList(tuple(*given.values())),))


def test_an_empty_list_next_to_other_words_is_left_out() -> None:
    """The others count."""
    when = _when({"host": ["@empty", "a.example"], "command": ["git push @empty", "git log"]})
    assert ([each.text for each in when.hosts], [each.text for each in when.commands]) == (["a.example"], ["git log"])
    assert when.plain == ()


def test_operators_compare_with_the_values_of_a_list() -> None:
    """Nested ones too; the condition is shown with the name."""
    (condition,) = _when({"args": {"to": {"any": {"in": "@numbers"}}}}).plain
    assert condition == argument_condition("to", {"any": {"in": ListedValues.of("numbers", (1, 2))}})
    assert str(condition) == "args.to any (in @numbers)"
    (condition,) = _when({"args": {"to": {"not_in": "@empty"}}}).plain
    assert condition == argument_condition("to", {"not_in": ListedValues.of("empty", ())})


def test_a_text_to_equal_is_literal() -> None:
    """Only `in` and `not_in` take a list, and as an element of one an at sign means itself."""
    (condition,) = _when({"args": {"to": "@ours"}}).plain
    assert condition == argument_condition("to", "@ours")
    (condition,) = _when({"args": {"to": {"in": ["@ours"]}}}).plain
    assert condition == argument_condition("to", {"in": ["@ours"]})


@for_each(("given", "message"))
def test_a_mistake_is_refused(given: dict[str, Any], message: str) -> None:
    """An unknown list, or a value that means nothing where the list is used."""
    with pytest.raises(RuleError, match=message):
        _when(given)


def test_a_list_among_sources_is_its_values() -> None:
    """Those that may count where the source is used."""
    named = NamedList(("ann", "bob"), ("ann",), "r.toml:1")
    for given, permits, values in (
        ("from", True, ("ann",)),
        ("not_from", True, ("ann", "bob")),
        ("from", False, ("ann", "bob")),
    ):
        uses = ListUses({"ours": named}, permits=permits)
        (condition,) = scope_of((), {"args": {"to": {given: ["user", "list:ours"]}}}, None, uses=uses).when.plain
        assert isinstance(condition, SourceCondition)
        assert condition.sources[1].values == {f"words:{each}" for each in values}
    with pytest.raises(RuleError, match=r"unknown list `@theirs`"):
        _when({"args": {"to": {"from": ["list:theirs"]}}})


def test_a_list_among_hosts_of_links_is_its_values() -> None:
    """Those that may count where the hosts are used; without values, no link leads there."""
    named = NamedList(("a.com", "b.com"), ("a.com",), "r.toml:1")
    uses = {"ours": named, "none": NamedList((), (), "r.toml:2")}
    for given, permits, values in (
        ("host", True, ("a.com",)),
        ("not_host", True, ("a.com", "b.com")),
        ("host", False, ("a.com", "b.com")),
    ):
        table = {given: ["x.com", "@ours", "@none"]}
        for links in (table, [table]):
            when = {"args": {"to": {"links": links}}}
            (condition,) = scope_of((), when, None, uses=ListUses(uses, permits=permits)).when.plain
            assert isinstance(condition, LinkCondition)
            ((test,),) = condition.ways
            assert [(each.text, each.listed) for each in getattr(test, "hosts", ())] == [
                ("x.com", None),
                *((each, "ours") for each in values),
            ]


def test_a_tool_among_sources_is_its_trusted_fields() -> None:
    """A tool without any is refused, as everything that it returns may be another's."""
    uses = ListUses({}, trusted={"look": ["iban", "a.b"], "see": ["*"]})
    scope = scope_of((), {"args": {"to": {"from": ["look", "see", "see#x", "named:look"]}}}, None, uses=uses)
    (condition,) = scope.when.plain
    assert isinstance(condition, SourceCondition)
    assert [each.path for each in condition.sources] == [("iban",), ("a", "b"), None, ("x",), None]
    for tool in ("other", "mcp:bank/look"):
        with pytest.raises(RuleError, match=f"`{tool}` has no trusted fields; name a field"):
            scope_of((), {"args": {"to": {"from": [tool]}}}, None, uses=uses)
    for word in ("a b", 5):
        with pytest.raises(RuleError, match="source"):
            scope_of((), {"args": {"to": {"from": [word]}}}, None, uses=uses)
