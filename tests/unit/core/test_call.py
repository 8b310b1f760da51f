"""Tool calls: their names, arguments, identity and digest."""

import copy
import hashlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any, cast

import attrs
import pytest
from tests.tables import for_each

from permitry.core.call import PayloadKind, ToolCall
from permitry.errors import CallError

_MEBIBYTE = 1_048_576
_DIGEST = "3a0bbb3b169e99723f7662f5d24e598c3578a69b70a5b4c35bc5308c3ac81d0b"


def _full_call() -> ToolCall:
    arguments = {"path": "a.txt", "lines": [1, {"to": 2.5}]}
    rest = {"call_id": "c1", "kind": PayloadKind.CUSTOM, "server": "docs", "origin": "model", "repaired": True}
    return ToolCall("read", arguments, **cast("Any", rest))


# Names and identity -----------------------------------------------------------------------------------------------


def test_a_bare_name_makes_a_call_without_arguments() -> None:
    """A name is enough: no arguments, a function, no server."""
    call = ToolCall("bash")
    assert (call.name, call.tool, dict(call.arguments)) == ("bash", "bash", {})
    assert (call.kind, call.server, call.call_id, call.origin) == (PayloadKind.FUNCTION, None, None, None)


def test_the_name_that_a_host_shows_is_no_part_of_what_is_decided() -> None:
    """It is for words alone, and must be a name."""
    call = ToolCall("bash", {"command": "ls"}, shown="Bash")
    assert call.shown == "Bash"
    assert (call.tool, call.digest) == ("bash", ToolCall("bash", {"command": "ls"}).digest)
    with pytest.raises(CallError, match="shown name"):
        ToolCall("bash", shown="")


@for_each("name", ["a", "read_file", "Read File", "a/b", "été", "工具", "x" * 256, "mcp", "mcp-x", "MCP:a"])
def test_a_visible_name_is_kept_as_it_is(name: str) -> None:
    """A name may be any visible text of up to 256 characters."""
    assert ToolCall(name).tool == name


_BAD_TEXTS = [
    "",
    " ",
    " a",
    "a ",
    "\ta",
    "a\n",
    "a\nb",
    "a\x00b",
    "a\x1b[0m",
    "a\u00a0b",
    "a\u200bb",
    "a\u202eb",
    "\ufeffa",
    "\ud800",
    "x" * 257,
    5,
    True,
    b"a",
    ["a"],
]


@for_each("name", [*_BAD_TEXTS, None])
def test_a_bad_name_is_refused(name: object) -> None:
    """A name that is empty, not text, too long, or not what it looks like is refused."""
    with pytest.raises(CallError, match=r"^the name "):
        ToolCall(cast("str", name))


@for_each("call_id", _BAD_TEXTS)
def test_a_bad_call_id_is_refused(call_id: object) -> None:
    """A call id is None or as clean as a name."""
    with pytest.raises(CallError, match=r"^the call id "):
        ToolCall("bash", call_id=cast("str", call_id))


@for_each("server", [*_BAD_TEXTS, "a/b", "/"])
def test_a_bad_server_is_refused(server: object) -> None:
    """A server is None or as clean as a name, and holds no slash."""
    with pytest.raises(CallError, match=r"^the server "):
        ToolCall("bash", server=cast("str", server))


def test_a_kind_that_is_none_is_refused() -> None:
    """The kind is a `PayloadKind`, never its text."""
    kind: Any = "function"
    with pytest.raises(TypeError, match="kind"):
        ToolCall("bash", kind=kind)


@for_each(
    ("name", "server", "tool"),
    [("mcp:docs/search", "docs", "search"), ("mcp:a/b/c", "a", "b/c"), ("mcp:a/ü", "a", "ü")],
)
def test_a_server_tool_has_one_identity(name: str, server: str, tool: str) -> None:
    """`mcp:server/tool` and the pair of server and tool are the same call."""
    call = ToolCall(name, {"q": 1})
    assert (call.server, call.name, call.tool, call.kind) == (server, tool, name, PayloadKind.MCP)
    assert call == ToolCall(tool, {"q": 1}, server=server)


@for_each("name", ["mcp:", "mcp:docs", "mcp:docs/", "mcp:/search", "mcp:/"])
def test_half_a_server_name_is_refused(name: str) -> None:
    """A name that begins like a server's tool must name both parts."""
    with pytest.raises(CallError, match=r"must read `mcp:server/tool`$"):
        ToolCall(name)


def test_a_server_cannot_put_its_tool_on_another_server() -> None:
    """A server's tool stays with the server, whatever its name says."""
    assert ToolCall("mcp:trusted/search", server="evil").tool == "mcp:evil/mcp:trusted/search"


def test_a_server_call_of_another_kind_keeps_its_kind() -> None:
    """Only the default kind gives way to `mcp`."""
    assert ToolCall("x", server="docs", kind=PayloadKind.UNIFIED_EXEC).kind is PayloadKind.UNIFIED_EXEC


# Arguments --------------------------------------------------------------------------------------------------------


def test_bad_arguments_are_refused() -> None:
    """What JSON cannot hold makes no call."""
    with pytest.raises(CallError, match=r"`arguments\.a` is a `set`"):
        ToolCall("bash", {"a": {1}})


def test_bad_arguments_are_a_value_error() -> None:
    """A caller that knows nothing of permitry can catch `ValueError`."""
    assert issubclass(CallError, ValueError)


def test_text_makes_a_call() -> None:
    """`from_json` reads the arguments and passes on the rest."""
    call = ToolCall.from_json("bash", '{"command": "ls"}', call_id="c1")
    assert call == ToolCall("bash", {"command": "ls"}, call_id="c1")


@for_each("text", ['{"a": 1, "a": 2}', '{"a": NaN}', '{"a": 1e999}', "[]", "null", '"{}"', "{", ""])
def test_text_that_is_no_object_makes_no_call(text: str) -> None:
    """`from_json` refuses duplicate keys, numbers that are none, other values than objects, and other text."""
    with pytest.raises(CallError):
        ToolCall.from_json("bash", text)


@for_each(("letter", "size"), [("x", 1), ("é", 6), ("😀", 12), ("\n", 2)])
def test_arguments_of_exactly_a_mebibyte_are_kept(letter: str, size: int) -> None:
    """The limit counts the canonical text, escapes included."""
    count, rest = divmod(_MEBIBYTE - len('{"a":""}'), size)
    call = ToolCall("write", {"a": letter * count + "x" * rest})
    assert len(call.canonical) == _MEBIBYTE


@for_each(("letter", "size"), [("x", 1), ("é", 6), ("😀", 12), ("\n", 2)])
def test_one_byte_more_is_refused(letter: str, size: int) -> None:
    """A canonical text of one byte over the limit makes no call."""
    count, rest = divmod(_MEBIBYTE - len('{"a":""}') + 1, size)
    with pytest.raises(CallError, match=f"the arguments are larger than {_MEBIBYTE} bytes"):
        ToolCall("write", {"a": letter * count + "x" * rest})


# Immutability -----------------------------------------------------------------------------------------------------


@for_each("field", ["name", "arguments", "call_id", "kind", "server", "origin", "repaired", "canonical", "digest"])
def test_no_field_can_be_set(field: str) -> None:
    """A call is frozen."""
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(_full_call(), field, "other")


def test_no_attribute_can_be_added() -> None:
    """A call has no room for notes."""
    call: Any = _full_call()
    with pytest.raises(AttributeError):
        call.authorized = True


def test_arguments_are_read_only_all_the_way_down() -> None:
    """Neither an object nor a list within the arguments can be changed."""
    arguments: Any = _full_call().arguments
    with pytest.raises(TypeError):
        arguments["path"] = "b.txt"
    with pytest.raises(TypeError):
        arguments["lines"][0] = 2
    with pytest.raises(TypeError):
        arguments["lines"][1]["to"] = 3


def test_the_object_given_is_no_way_in() -> None:
    """Changing the arguments given, at any depth, changes no call."""
    given: dict[str, Any] = {"paths": ["a"], "options": {"force": False}}
    call = ToolCall("rm", given)
    given["paths"].append("/")
    given["options"]["force"] = True
    given["extra"] = 1
    assert call.canonical == '{"options":{"force":false},"paths":["a"]}'
    assert call.digest == ToolCall("rm", {"paths": ["a"], "options": {"force": False}}).digest


def test_a_thawed_copy_is_no_way_in() -> None:
    """A tool may do what it likes with its copy."""
    call = ToolCall("rm", {"paths": ["a"]})
    call.to_dict()["paths"].append("/")
    assert call.to_dict() == {"paths": ["a"]}


def test_a_changed_call_is_checked_again() -> None:
    """`evolve` makes a new call with a new digest, and refuses what a new call refuses."""
    call = ToolCall("bash", {"command": "ls"})
    assert attrs.evolve(call, arguments={"command": "rm"}).digest != call.digest
    with pytest.raises(CallError):
        attrs.evolve(call, arguments={"command": {1}})


def _pickled(call: ToolCall) -> ToolCall:
    again: ToolCall = pickle.loads(pickle.dumps(call))  # noqa: S301 -- our own bytes
    return again


@for_each("again", [copy.copy, copy.deepcopy, _pickled])
def test_a_copy_is_equal_in_every_field(again: Callable[[ToolCall], ToolCall]) -> None:
    """Copies and pickles keep every field and stay read-only."""
    call, copied = _full_call(), again(_full_call())
    assert copied == call
    for field in attrs.fields(ToolCall):
        assert getattr(copied, field.name) == getattr(call, field.name)
    assert type(copied.arguments) is type(call.arguments)


# Digest and equality ----------------------------------------------------------------------------------------------


def test_the_digest_is_the_hash_of_a_text_anyone_can_write() -> None:
    """Kind, server and name as a JSON list, then the canonical arguments."""
    text = '["function",null,"read_file"]{"lines":[1,2],"path":"a.txt"}'
    call = ToolCall("read_file", {"path": "a.txt", "lines": [1, 2]})
    assert call.digest == hashlib.sha256(text.encode()).hexdigest() == _DIGEST


@for_each("seed", ["0", "1", "4242"])
def test_the_digest_is_the_same_in_every_process(seed: str) -> None:
    """No hash seed and no process changes a digest."""
    code = (
        "from permitry.core.call import ToolCall;"
        "print(ToolCall('read_file', {'lines': [1, 2], 'path': 'a.txt'}).digest)"
    )
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == _DIGEST


@for_each(
    "other",
    [
        ToolCall("bash", {"a": 1.0}),
        ToolCall("bash", {"a": True}),
        ToolCall("bash", {"a": "1"}),
        ToolCall("bash", {"a": [1]}),
        ToolCall("bash", {"a": 1, "b": None}),
        ToolCall("Bash", {"a": 1}),
        ToolCall("bash", {"a": 1}, server="s"),
        ToolCall("bash", {"a": 1}, kind=PayloadKind.CUSTOM),
        ToolCall("bash", {"a": 1}, kind=PayloadKind.MCP),
    ],
)
def test_whatever_a_tool_could_tell_apart_has_its_own_digest(other: ToolCall) -> None:
    """Name, server, kind and arguments all count, types included."""
    assert other.digest != ToolCall("bash", {"a": 1}).digest
    assert other != ToolCall("bash", {"a": 1})


def test_the_call_id_and_the_origin_are_no_part_of_the_digest() -> None:
    """The same call made twice has one digest, and is two calls."""
    one = ToolCall("bash", {"a": 1}, call_id="c1", origin="model")
    other = ToolCall("bash", {"a": 1}, call_id="c2", origin="user")
    assert one.digest == other.digest
    assert one != other


def test_a_repaired_call_is_another_call_with_the_same_digest() -> None:
    """What a tool would receive is the same, how it came to be is not."""
    plain, repaired = ToolCall("bash", {"a": 1}), ToolCall("bash", {"a": 1}, repaired=True)
    assert plain.digest == repaired.digest
    assert plain != repaired
    assert len({plain, repaired, attrs.evolve(plain, repaired=True)}) == 2


@for_each("repaired", [None, 1, "yes"])
def test_repaired_is_true_or_false(repaired: Any) -> None:  # noqa: ANN401 -- what it must not be
    """A truthy mistake would hide what was repaired."""
    with pytest.raises(TypeError, match="repaired"):
        ToolCall("bash", repaired=repaired)


def test_equal_calls_are_one_key() -> None:
    """Calls with the same content are equal, hash alike, and can be kept in a set."""
    calls = {ToolCall("bash", {"a": 1, "b": 2}), ToolCall("bash", {"b": 2, "a": 1}), ToolCall("bash")}
    assert len(calls) == 2


def test_a_call_equals_nothing_else() -> None:
    """Neither a name nor a digest is a call."""
    call = ToolCall("bash")
    assert call not in ("bash", call.digest, None)
    assert call.__eq__("bash") is NotImplemented


def test_the_canonical_text_is_in_no_repr() -> None:
    """A call shows its arguments once."""
    assert repr(ToolCall("bash", {"a": "needle"})).count("needle") == 1


@for_each("wrong", [{"name": ""}, {"server": "a/b"}, {"origin": " x"}, {"call_id": ""}, {"repaired": 1}])
def test_a_call_is_checked_by_a_host_that_switched_validators_off(wrong: dict[str, Any]) -> None:
    """The switch of attrs is for values whose maker is trusted; a model is not."""
    with attrs.validators.disabled(), pytest.raises((CallError, TypeError)):
        ToolCall(**{"name": "look", **wrong})


def test_the_digest_is_that_of_one_canonical_text() -> None:
    """It is in records and rule files: kind, server and name as a list, then the arguments."""
    call = ToolCall('a"é', {"b": 1, "a": "x"}, server="docs", kind=PayloadKind.CUSTOM)
    text = '["custom","docs","a\\"\\u00e9"]{"a":"x","b":1}'
    assert call.digest == hashlib.sha256(text.encode()).hexdigest()


def test_a_call_under_another_id_is_the_same_call() -> None:
    """Its arguments are not copied, and all else stays, what was read of it as well."""
    call = ToolCall("mcp:docs/search", {"n": [1]}, call_id="a", origin="model", repaired=True)
    again = call.with_id("b")
    assert again == attrs.evolve(call, name="search", call_id="b")
    assert (again.call_id, again.digest, again.tool) == ("b", call.digest, call.tool)
    assert again.arguments is call.arguments
    assert again.with_id("a") == call


@for_each("call_id", ["", " a", 7])
def test_an_id_that_no_call_can_have_is_refused(call_id: Any) -> None:  # noqa: ANN401 -- a mistake
    """As where a call is made."""
    with pytest.raises(CallError):
        ToolCall("a").with_id(call_id)
