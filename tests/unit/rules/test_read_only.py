"""The rule `read-only`."""

from tests.tables import for_each

from permitry.core.action import Access, Actions, Connect, Delegate, Place, Run, Touch, Unknown, Word
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.rule import Request
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits
from permitry.core.well_known import DEFAULT_READ_ONLY_TOOLS
from permitry.rules.read_only import ReadOnlyToolRule

PLACE = Place("a", ("/w/a",), ("/w/a",))
ACTIONS = Actions(
    (
        Run((Word("ls"),)),
        Run((Word("rm"),), "it removes"),
        Touch(Access.READ, PLACE),
        Touch(Access.WRITE, PLACE),
        Touch(Access.DELETE, PLACE),
        Connect("https://h"),
        Delegate(),
        Unknown("$x", "an expansion"),
    ),
    doubt="it removes",
)


def _request(call: ToolCall, spec: ToolSpec | None = None) -> Request:
    return Request(call, AuthContext(), spec)


def _doing(tool: str, actions: Actions) -> Request:
    return Request(ToolCall(tool), AuthContext(), reader=lambda *_: actions)


@for_each("name", sorted(DEFAULT_READ_ONLY_TOOLS))
def test_it_matches_the_familiar_names(name: str) -> None:
    """Without a spec a short list of names reads."""
    assert ReadOnlyToolRule().matches(_request(ToolCall(name)))


def test_it_matches_what_says_that_it_reads() -> None:
    """With a spec the traits decide, for a server's tool too."""
    spec = ToolSpec("mcp:docs/x", traits=ToolTraits(read_only=True))
    assert ReadOnlyToolRule().matches(_request(ToolCall("mcp:docs/x"), spec))


@for_each(
    ("call", "spec"),
    [
        (ToolCall("bash"), None),
        (ToolCall("mcp:docs/read_file"), None),
        (ToolCall("read_file", kind=PayloadKind.CUSTOM), None),
        (ToolCall("read_file"), ToolSpec("read_file")),
        (ToolCall("bash"), ToolSpec("bash", traits=ToolTraits(read_only=True, destructive=True))),
        (ToolCall("bash"), ToolSpec("read_file", traits=ToolTraits(read_only=True))),
    ],
)
def test_it_does_not_match_what_may_write(call: ToolCall, spec: ToolSpec | None) -> None:
    """An unknown tool, a borrowed name, and traits that do not say so."""
    assert not ReadOnlyToolRule().matches(_request(call, spec))


def test_it_is_a_permission_of_priority_200() -> None:
    """Its place in the order."""
    rule = ReadOnlyToolRule()
    assert (rule.id, rule.priority(), rule.effect, rule.source) == ("read-only", 200, Verdict.ALLOW, "built-in")


@for_each(
    ("call", "spec", "near_miss"),
    [
        (ToolCall("write_file"), None, None),
        (ToolCall("bash"), None, "nothing here reads what a call would do"),
        (ToolCall("read_file"), ToolSpec("read_file"), "the tool's own traits, which do not say read_only"),
        (ToolCall("mcp:a/grep"), None, "kind = mcp; the name alone counts only for function tools"),
        (
            ToolCall("grep", kind=PayloadKind.CUSTOM),
            None,
            "kind = custom; the name alone counts only for function tools",
        ),
    ],
)
def test_its_near_miss_is_what_a_familiar_name_lacks(
    call: ToolCall, spec: ToolSpec | None, near_miss: str | None
) -> None:
    """A familiar name that does not count says why; any other name missed nothing."""
    assert ReadOnlyToolRule().near_miss(_request(call, spec)) == near_miss


# Commands ---------------------------------------------------------------------------------------------------------


def test_it_matches_a_command_that_only_reads() -> None:
    """A shell is not a reading tool, but this call is one."""
    reads = _doing("bash", Actions((Run((Word("ls"),)),)))
    assert ReadOnlyToolRule().matches(reads)
    assert ReadOnlyToolRule().near_miss(reads) is None


def test_it_covers_the_parts_of_a_command_that_only_read() -> None:
    """Programs without a doubt, and files that are read; of the rest, other rules may speak."""
    assert ReadOnlyToolRule().covers(_doing("bash", ACTIONS)) == {0, 2}
    assert not ReadOnlyToolRule().matches(_doing("bash", ACTIONS))
    assert ReadOnlyToolRule().near_miss(_doing("bash", ACTIONS)) == "it removes"


@for_each("tool", ["read_file", "unheard_of", "mcp:docs/bash"])
def test_it_covers_nothing_of_another_tool(tool: str) -> None:
    """What it reads, it may pass on."""
    assert ReadOnlyToolRule().covers(_doing(tool, ACTIONS)) == frozenset()


def test_it_does_not_speak_for_a_tool_that_goes_where_an_argument_says() -> None:
    """An address can carry out what was read before; the near miss says so."""
    spec = ToolSpec("look", traits=ToolTraits(read_only=True), roles={"url": ArgumentRole.URL})
    request = _request(ToolCall("look", {"url": "https://h"}), spec)
    assert not ReadOnlyToolRule().matches(request)
    assert (
        ReadOnlyToolRule().near_miss(request)
        == "the address among its arguments, which is for a rule on hosts to permit"
    )
