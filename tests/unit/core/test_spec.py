"""What a tool declares about itself."""

import copy
import pickle
from typing import Any, cast

import attrs
import pytest
from tests.tables import for_each

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.spec import ArgumentRole, Misshapen, ToolSpec, ToolTraits, values_of
from permitry.core.well_known import DEFAULT_READ_ONLY_TOOLS
from permitry.errors import CallError


@for_each(
    ("read_only", "destructive", "only_reads"),
    [
        (True, None, True),
        (True, False, True),
        (True, True, False),
        (False, None, False),
        (False, False, False),
        (False, True, False),
        (None, None, False),
        (None, False, False),
        (None, True, False),
    ],
)
def test_unknown_and_contradicting_traits_count_as_writing(
    *, read_only: bool | None, destructive: bool | None, only_reads: bool
) -> None:
    """Only a tool that says it reads, and does not say it destroys, is known to only read."""
    assert ToolTraits(read_only=read_only, destructive=destructive).only_reads is only_reads


@for_each("name", [field.name for field in attrs.fields(ToolTraits)])
@for_each("value", [1, 0, "yes", "", [True]])
def test_a_trait_is_true_false_or_unknown(name: str, value: object) -> None:
    """A truthy mistake makes no trait."""
    with pytest.raises(TypeError, match=name):
        ToolTraits(**{name: cast("bool", value)})


def test_nothing_is_known_of_a_tool_by_default() -> None:
    """A bare spec claims nothing."""
    spec = ToolSpec("tool")
    assert set(attrs.asdict(spec.traits).values()) == {None}
    assert (dict(spec.parameters), spec.roles) == ({}, None)


def test_parameters_are_frozen() -> None:
    """The schema is a copy that cannot be changed."""
    schema: dict[str, Any] = {"properties": {"path": {"type": "string"}}}
    spec = ToolSpec("tool", parameters=schema, roles={"path": ArgumentRole.READ_PATH})
    schema["properties"]["path"]["type"] = "number"
    parameters: Any = spec.parameters
    with pytest.raises(TypeError):
        parameters["properties"]["path"]["type"] = "number"
    assert parameters["properties"]["path"]["type"] == "string"


def test_parameters_are_json() -> None:
    """A schema with other values than JSON is refused."""
    with pytest.raises(CallError):
        ToolSpec("tool", parameters={"type": {str}})


def test_no_tool_that_changes_something_reads_by_default() -> None:
    """The names that count as reading hold none of the names tools that write or run go by."""
    writing = {"write_file", "update_file", "edit_file", "bash", "run_command", "run_shell", "present_plan", "todo"}
    assert DEFAULT_READ_ONLY_TOOLS.isdisjoint(writing)
    assert {"read_file", "grep", "list_dir", "glob", "react", "exit_plan_mode"} <= DEFAULT_READ_ONLY_TOOLS


# Roles ------------------------------------------------------------------------------------------------------------

READS = ToolTraits(read_only=True)


@for_each(
    ("role", "only_reads"),
    [
        (ArgumentRole.COMMAND, False),
        (ArgumentRole.ARGV, False),
        (ArgumentRole.INPUT, False),
        (ArgumentRole.READ_PATH, True),
        (ArgumentRole.WRITE_PATH, False),
        (ArgumentRole.DELETE_PATH, False),
        (ArgumentRole.URL, True),
        (ArgumentRole.PATCH, False),
        (ArgumentRole.AGENT, False),
        (ArgumentRole.FOLDER, True),
        (ArgumentRole.TEXT, True),
    ],
)
def test_a_tool_that_says_it_reads_is_not_believed_against_its_roles(*, role: ArgumentRole, only_reads: bool) -> None:
    """One argument that writes, runs or starts something is enough; without the traits no role makes it read."""
    roles = {"path": ArgumentRole.READ_PATH, "x": role}
    assert ToolSpec("t", traits=READS, roles=roles).only_reads is only_reads
    assert ToolSpec("t", roles=roles).only_reads is False


@for_each("roles", [None, {}])
def test_a_tool_without_roles_is_what_its_traits_say(roles: dict[str, ArgumentRole] | None) -> None:
    """It takes no command and no address that anybody knows of."""
    spec = ToolSpec("t", traits=READS, roles=roles)
    assert (spec.only_reads, spec.is_shell, spec.follows_urls) == (True, False, False)


@for_each("role", list(ArgumentRole))
def test_a_command_makes_a_shell_and_an_address_a_tool_that_follows(role: ArgumentRole) -> None:
    """So does what is typed into a program; no other role does."""
    spec = ToolSpec("t", roles={"x": role})
    assert spec.is_shell is (role.value in ("command", "argv", "command_or_argv", "input"))
    assert spec.follows_urls is (role is ArgumentRole.URL)


def test_roles_are_frozen() -> None:
    """They are a copy that cannot be changed."""
    roles = {"path": ArgumentRole.WRITE_PATH}
    spec = ToolSpec("t", roles=roles)
    roles["path"] = ArgumentRole.READ_PATH
    kept: Any = spec.roles
    with pytest.raises(TypeError):
        kept["path"] = ArgumentRole.READ_PATH
    assert kept["path"] is ArgumentRole.WRITE_PATH


@for_each("roles", [None, {}, {"path": ArgumentRole.READ_PATH}])
def test_a_copy_of_a_spec_says_the_same(roles: dict[str, ArgumentRole] | None) -> None:
    """Roles that no one gave stay apart from none."""
    spec = ToolSpec("t", "what", parameters={"properties": {"path": {}}}, traits=READS, roles=roles, version="2")
    for twin in (pickle.loads(pickle.dumps(spec)), copy.deepcopy(spec)):  # noqa: S301 -- our own bytes
        assert twin == spec
        assert (twin.roles is None) is (roles is None)


@for_each(
    ("fields", "expected"),
    [
        ({"name": ""}, "the name must be a non-empty string"),
        ({"name": 3}, "the name must be a non-empty string"),
        ({"name": " look"}, "blanks at an end"),
        ({"name": "a\nb"}, "invisible characters"),
        ({"name": "n" * 257}, "longer than 256 characters"),
        ({"name": "mcp:docs"}, "must read `mcp:server/tool`"),
        ({"description": None}, "`description` is a text, not None"),
        ({"version": 2}, "`version` is a text, not 2"),
        ({"parameters": []}, "`parameters` is a JSON Schema"),
        ({"traits": {"read_only": True}}, "`traits` is a ToolTraits, such as"),
        ({"roles": ["path"]}, "`roles` is a mapping of arguments to their roles"),
        ({"roles": {1: "read_path"}}, "the name of an argument, not 1"),
        ({"roles": {"path": None}}, "None is not a role; say one of command,"),
        ({"roles": {"path": "reed_path"}}, "unknown role `reed_path`; did you mean `read_path`"),
        ({"roles": {"path": "?"}}, "unknown role `\\?`; known: command,"),
        ({"kinds": "function"}, "`kinds` is a collection, such as"),
        ({"kinds": PayloadKind.FUNCTION}, "`kinds` is a collection, such as"),
        ({"kinds": 3}, "`kinds` is a collection, such as"),
        ({"kinds": ["functoin"]}, "unknown kind `functoin`; did you mean `function`"),
        ({"timeout": "5"}, "`timeout` is a number of seconds, or None"),
        ({"timeout": True}, "`timeout` is a number of seconds, or None"),
        ({"timeout": 0}, "`timeout` is more than 0 seconds"),
        ({"timeout": float("inf")}, "`timeout` is more than 0 seconds"),
        ({"timeout": float("nan")}, "`timeout` is more than 0 seconds"),
        ({"output_limit": 1.5}, "`output_limit` is a whole number"),
        ({"output_limit": True}, "`output_limit` is a whole number"),
        ({"output_limit": 0}, "`output_limit` is at least 1 character"),
    ],
)
def test_a_wrong_field_is_reported_when_the_spec_is_made(fields: dict[str, Any], expected: str) -> None:
    """With its name, and the way out."""
    with pytest.raises((TypeError, ValueError), match=expected):
        ToolSpec(**{"name": "look", **fields})


def test_a_role_or_kind_may_be_given_by_its_word() -> None:
    """As it is in a file."""
    spec = ToolSpec("look", roles={"path": "read_path"}, kinds=["custom"])
    assert spec.roles == {"path": ArgumentRole.READ_PATH}
    assert spec.kinds == {PayloadKind.CUSTOM}


def test_a_grammar_is_text_and_part_of_the_declaration() -> None:
    """Another one is another tool; without one the digest is what it always was."""
    digest = ToolSpec("t").digest
    assert len({digest, ToolSpec("t", grammar="start: A").digest, ToolSpec("t", grammar="start: B").digest}) == 3
    assert ToolSpec("t", grammar=None).digest == digest
    spec = ToolSpec("t", grammar="start: A")
    assert pickle.loads(pickle.dumps(spec)) == copy.deepcopy(spec) == spec  # noqa: S301 -- our own pickle


def test_whether_a_tool_applies_patches_is_part_of_the_declaration() -> None:
    """Such a tool is another one: a permission for paths holds for some of its commands."""
    spec = ToolSpec("t", applies_patches=True)
    assert spec.digest != ToolSpec("t").digest == ToolSpec("t", applies_patches=False).digest


def test_whether_a_human_must_be_asked_is_part_of_the_declaration() -> None:
    """Without it the digest is what it always was."""
    spec = ToolSpec("t", requires_approval=True)
    assert spec.digest != ToolSpec("t").digest == ToolSpec("t", requires_approval=False).digest


@for_each("grammar", [1, b"start: A"])
def test_a_grammar_that_is_no_text_is_refused(grammar: Any) -> None:  # noqa: ANN401 -- a mistake
    """The provider would refuse every request."""
    with pytest.raises(TypeError, match="`grammar` is a text"):
        ToolSpec("t", grammar=grammar)


# Keys of roles -------------------------------------------------------------------------------------------------------


@for_each(
    ("key", "arguments", "expected"),
    [
        ("a", {"a": "x"}, [("a", "x")]),
        ("a?", {}, []),
        ("a", {"a": None}, []),
        ("a|b", {"b": 1, "a": 2}, [("a", 2), ("b", 1)]),
        ("a.b", {"a": {"b": "x"}}, [("a.b", "x")]),
        ("a.b?", {"a": {}}, []),
        ("a.b.b?", {"a": {"c": "x"}}, [("a.b", Misshapen(None))]),
        ("a.b.b?", {"a": {"b": {}}}, []),
        ("a.b", {"a": {}}, [("a.b", Misshapen(None))]),
        ("a.b", {"a": "x"}, [("a", Misshapen("x"))]),
        ("a.b.c", {"a": 7}, [("a", Misshapen(7))]),
        ("a[]", {"a": ["x", None]}, [("a[0]", "x"), ("a[1]", Misshapen(None))]),
        ("a[].b", {"a": [{"b": "x"}]}, [("a[0].b", "x")]),
        ("a[]", {"a": "x"}, [("a", Misshapen("x"))]),
    ],
)
def test_a_key_means_values_by_their_places(
    key: str, arguments: dict[str, Any], expected: list[tuple[str, Any]]
) -> None:
    """Each with its name; what has another shape is marked, and null is left out."""
    assert values_of(ToolCall("t", arguments).arguments, key) == expected
