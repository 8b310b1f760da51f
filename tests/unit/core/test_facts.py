"""The facts of a request: what is known, what may be anything, and what is looked up."""

from tests.tables import for_each

from permitry.actions.extract import ReadActions
from permitry.core.action import Access, Actions, Connect, Place, Touch, Unknown
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.facts import ActionFacts, Anchor, Facts, Kind, Paths, argument_class, program_name
from permitry.core.policy import AuthorizationPolicy

_POLICY = AuthorizationPolicy(reader=ReadActions("/home/u", has_disk=False))
_PATHS = {Kind.PATH}
_OF_ACTIONS = {Kind.PROGRAM, Kind.WORD, Kind.HOST}


def _facts(tool: str, arguments: dict[str, object], workspace: str | None = "/w") -> ActionFacts:
    return _POLICY.request(ToolCall(tool, arguments), AuthContext(workspace=workspace)).facts.of_actions


def _of(*actions: Connect | Touch | Unknown) -> ActionFacts:
    return ActionFacts((Actions(certain=actions),))


@for_each(("value", "name"), [(True, "boolean"), (1, "number"), (1.5, "number"), ("1", "string"), ("", "string")])
def test_numbers_are_of_one_class_and_true_is_none(value: float | str, name: str) -> None:
    """As conditions on arguments compare them."""
    assert argument_class(value) == name


@for_each("text", ["git", "GIT", "/usr/bin/git", "./git", "C:\\bin\\Git"])
def test_the_name_of_a_program_is_what_its_spellings_share(text: str) -> None:
    """Without a directory, in any case."""
    assert program_name(text) == "git"


@for_each(
    ("arguments", "found"),
    [
        ({"a": {"b": 1}}, ("number", 1)),
        ({"a": {"b": True}}, ("boolean", True)),
        ({"a": {"b": "x"}}, ("string", "x")),
        ({"a": {"b": ["x"]}}, None),
        ({"a": {"b": None}}, None),
        ({"a": {}}, None),
        ({"a": "b"}, None),
        ({}, None),
    ],
)
def test_an_argument_is_known_where_it_is_a_scalar(arguments: dict[str, object], found: object) -> None:
    """Everything else is for the rule to judge."""
    assert Facts(ToolCall("t", arguments), frozenset(), tuple).argument(("a", "b")) == found


def test_programs_come_with_their_arguments() -> None:
    """None where one is not known; nothing is known of a program whose name is not. Under "" are those of all."""
    programs = _facts("bash", {"command": "git -C d push && ls *.py; /bin/LS x"}).programs
    assert programs == {"git": {"-C", "d", "push"}, "ls": None, "/bin/ls": {"x"}, "": None}
    both = _facts("bash", {"command": "git pull; ls x"}).programs
    assert both is not None
    assert both[""] == frozenset({"pull", "x"})
    assert _facts("bash", {"command": "g?t push"}).programs is None


def test_a_host_comes_with_its_ends() -> None:
    """From every dot on; the empty text is the end of every host."""
    assert _facts("web_fetch", {"url": "https://a.b.example"}).hosts == {"a.b.example", ".b.example", ".example", ""}
    assert _facts("bash", {"command": "ls"}).hosts == set()


def test_paths_are_relative_to_an_anchor() -> None:
    """As they are, and for a walk, or a wildcard, the folder below which anything may be met."""
    facts = _facts("bash", {"command": "cat src/A ~/x; grep -r y lib; rm build/*.o"})
    heads = {(), ("src",), ("src", "a"), ("lib",), ("build",)}
    trees = {("lib",), ("build",)}
    assert facts.paths(Anchor.WORKSPACE) == Paths(frozenset(heads), frozenset(trees), None)
    assert facts.paths(Anchor.HOME) == Paths(frozenset({(), ("x",)}), frozenset(), None)
    assert facts.paths(Anchor.TOP) is facts.paths(Anchor.TOP)


def test_a_walk_from_above_may_meet_anything_below() -> None:
    """Whatever its name, and however deep."""
    paths = _facts("grep", {"path": "/"}).paths(Anchor.WORKSPACE)
    assert paths == Paths(frozenset({()}), frozenset({()}), None)


def test_paths_are_known_by_what_happens_to_them() -> None:
    """A path that is guessed for an undeclared tool may be accessed in any way."""
    facts = _facts("bash", {"command": "cat src/A; rm -r lib"})
    assert facts.paths(Anchor.WORKSPACE, Access.DELETE) == Paths(frozenset({(), ("lib",)}), frozenset({("lib",)}), None)
    guessed = _facts("other", {"text": "src/A"})
    assert all(guessed.paths(Anchor.WORKSPACE, each) is guessed.paths(Anchor.WORKSPACE) for each in Access)


def test_a_path_that_is_not_known_is_open_for_its_access() -> None:
    """And for rules about any access."""
    facts = _of(Touch(Access.READ, Place("$x", is_open=True)))
    accesses = [each for each in (None, *Access) if facts.paths_unless_open(Anchor.TOP, each) is None]
    assert accesses == [None, Access.READ]


def test_without_a_workspace_a_relative_path_may_be_anywhere() -> None:
    """So that every pattern of that kind is tried."""
    assert _facts("read_file", {"path": "a"}, None).paths(Anchor.WORKSPACE) is None


@for_each(
    ("facts", "kinds"),
    [
        (_of(Unknown("x", "why")), _PATHS | _OF_ACTIONS),
        (_of(Unknown("x", "why", about="host")), {Kind.HOST}),
        (_of(Unknown("x", "why", about="path")), _PATHS),
        (_of(Unknown("x", "why", about="agent")), set()),
        (_of(Connect("x")), {Kind.HOST}),
        (_of(Touch(Access.READ, Place("$x", is_open=True))), _PATHS),
        (_of(Touch(Access.READ, Place("x"))), _PATHS),
        (_of(Touch(Access.READ, Place("x", ("/x",)))), set()),
    ],
)
def test_what_is_not_known_may_be_of_these_kinds(facts: ActionFacts, kinds: set[Kind]) -> None:
    """An action that could not be read may be anything but an argument."""
    open_paths = _PATHS if facts.paths_unless_open(Anchor.TOP, None) is None else set()
    assert open_paths | {kind for kind in _OF_ACTIONS if facts.is_open(kind)} == kinds
