"""Law 4 for rules that know where a value comes from: results and forgetting never gain, and nothing is guessed.

Sessions with tiny bounds are held against ones that forget nothing, and against what must never happen: that a tool
says what the user said.
"""

import base64
from collections.abc import Sequence
from typing import Any, TypeAlias

from hypothesis import given
from hypothesis import strategies as st
from tests.whole_calls import policy_of

from permitry.conditions.provenance.provenance import Heard, Provenance
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.history import Bounds
from permitry.core.json_values import freeze_object

_RULES = """schema = 1

[tool.mine]
trusted_fields = ["iban"]

[[rule]]
id = "by-user"
effect = "allow"
tools = ["pay"]
when.args.to.from = ["user"]

[[rule]]
id = "by-record"
effect = "allow"
tools = ["order"]
when.args.to.from = ["mine", "look#iban@name", "named:look#iban", "call:make#id"]

[[rule]]
id = "by-outer-record"
effect = "allow"
tools = ["book"]
when.args.to.from = ["look#items.iban@../name"]

[[rule]]
id = "by-page"
effect = "allow"
tools = ["find"]
when.args.to.from = ["named:look"]

[[rule]]
id = "asks"
effect = "confirm"
tools = ["send"]
when.args.to.not_from = ["user", "mine", "look#iban@name"]

[[rule]]
id = "posts"
effect = "allow"
tools = ["post"]
when.args.to.links.from = ["user", "mine", "look#iban@name"]

[[rule]]
id = "chats"
effect = "allow"
tools = ["chat"]
when.args.to.links = [{ from = ["user", "mine"] }, { host = ["www.y.com"], from = ["look#iban@name"] }]

[[rule]]
id = "asks-of-links"
effect = "confirm"
tools = ["write"]
when.args.to.links = [{ not_host = ["www.y.com"], not_from = ["user"] }, { not_from = ["user", "mine", "look#iban"] }]

[[rule]]
id = "sends"
effect = "allow"
tools = ["send", "tell", "write"]

[[rule]]
id = "tells"
effect = "confirm"
tools = ["tell"]
unless.prompt.words = ["AT11", "rent"]

[[rule]]
id = "of-secrets"
effect = "block"
tools = ["show"]
when.prompt.words = ["secret"]

[[rule]]
id = "shows"
effect = "allow"
tools = ["show"]
"""
_POLICY = policy_of(_RULES)
_VALUES = ("AT11", "DE22", "FR33", "rent", "ann@x.com", "www.y.com", 50)
_STRICTNESS = [Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK]

Value: TypeAlias = str | int
Step: TypeAlias = tuple[str, Any, Any]
"""A message of the user, or a result: the tool, its arguments, what it returned."""


def _text_of(values: Sequence[Value]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from((*map(str, values), "pay", "secret", "x")), max_size=3).map(" ".join)


def _json_of(values: Sequence[Value]) -> st.SearchStrategy[Any]:
    value, text = st.sampled_from(values), _text_of(values)
    field = value | text | st.lists(value | text, max_size=2)
    named = st.dictionaries(st.sampled_from(("ann@x.com", "Bob@x.com", "rent")), value, max_size=2)
    inner = st.fixed_dictionaries({}, optional={"iban": field | named, "name": value | text})
    items = field | inner | st.lists(inner | value, max_size=2)
    record = st.fixed_dictionaries({}, optional={"iban": field | named, "name": value | text, "items": items})
    return text | record | st.recursive(value | record, lambda inner: st.lists(inner, max_size=3), max_leaves=6)


def _steps_of(values: Sequence[Value], *tools: str) -> st.SearchStrategy[list[Step]]:
    heard: st.SearchStrategy[Step] = st.tuples(st.just("user"), st.none(), _text_of(values))
    return st.lists(_result_of(values, *tools) | heard, max_size=8)


def _result_of(values: Sequence[Value], *tools: str) -> st.SearchStrategy[Step]:
    given = st.fixed_dictionaries({}, optional={"id": st.sampled_from(values), "q": _text_of(values)})
    return st.tuples(st.sampled_from(tools), given, _json_of(values))


def _calls_of(values: Sequence[Value], *tools: str) -> st.SearchStrategy[ToolCall]:
    value = st.sampled_from(values)
    to = value | st.lists(value, max_size=2) | st.none() | st.just("")
    return st.builds(lambda tool, to: ToolCall(tool, {"to": to}), st.sampled_from(tools), to)


_value = st.sampled_from(_VALUES)
_json = _json_of(_VALUES)
_result = _result_of(_VALUES, "look", "mine", "make", "mcp:evil/look")
_steps = _steps_of(_VALUES, "look", "mine", "make", "mcp:evil/look")
_calls = _calls_of(_VALUES, "pay", "order", "book", "find", "send", "tell", "show", "post", "chat", "write")
_tiny = st.builds(
    Bounds,
    messages=st.integers(1, 3),
    message_size=st.integers(1, 30),
    results=st.integers(1, 3),
    result_size=st.integers(1, 5_000),
)


def _known(steps: list[Step], bounds: Bounds | None = None) -> Provenance:
    heard = Heard(bounds or Bounds())
    for tool, arguments, value in steps:
        if tool == "user":
            heard.hear(value)
        else:
            heard.keep(tool, freeze_object(arguments), value)
    return heard.provenance


def _verdict(call: ToolCall, known: Provenance) -> int:
    return _STRICTNESS.index(_POLICY.decide(call, AuthContext(provenance=known)).verdict)


@given(_steps, _tiny, _calls)
def test_forgetting_never_allows_more(steps: list[Step], bounds: Bounds, call: ToolCall) -> None:
    """Whatever goes, whenever it goes."""
    assert _verdict(call, _known(steps, bounds)) >= _verdict(call, _known(steps))


@given(_steps, _calls, st.data())
def test_what_is_lacking_never_allows_more(steps: list[Step], call: ToolCall, data: st.DataObject) -> None:
    """A host that passes on less than there was; a message of the user that restricts is the exception."""
    at = data.draw(st.integers(0, len(steps)))
    fewer = steps[:at] + steps[at + 1 :]
    if call.tool == "show":
        return
    assert _verdict(call, _known(fewer)) >= _verdict(call, _known(steps))


@given(_steps, st.lists(_result, max_size=4), _value | st.lists(_value, max_size=2))
def test_no_result_says_what_the_user_said(steps: list[Step], forged: list[Step], to: Any) -> None:  # noqa: ANN401 -- JSON
    """However it is chosen."""
    call = ToolCall("pay", {"to": to})
    assert _verdict(call, _known([*steps, *forged])) == _verdict(call, _known(steps))


@given(_steps, st.lists(_result.filter(lambda step: step[0] not in ("mine", "look", "make")), max_size=4), _calls)
def test_results_of_other_tools_change_nothing(steps: list[Step], forged: list[Step], call: ToolCall) -> None:
    """Also those of a tool of the same name on a server."""
    assert _verdict(call, _known([*steps, *forged])) == _verdict(call, _known(steps))


@given(_steps, st.data(), _calls)
def test_what_untrusted_results_hold_changes_nothing(steps: list[Step], data: st.DataObject, call: ToolCall) -> None:
    """The attacker writes all of it, of every result that is no source of the rule."""
    trusted = {"pay": {"user"}, "find": {"user", "look"}}.get(call.tool, {"user", "look", "mine", "make"})
    others = [
        step if step[0] in trusted else (step[0], step[1], data.draw(_json, label="written by the attacker"))
        for step in steps
    ]
    assert _verdict(call, _known(others)) == _verdict(call, _known(steps))


# With few values, many a value comes from somewhere.
_FEW = ("AT11", "ann@x.com", 50)
_FINDERS = ("pay", "order", "book", "find")


@given(_text_of(_FEW), _steps_of(_FEW, "look", "look", "mine", "make"), _calls_of(_FEW, *_FINDERS))
def test_it_is_what_a_plain_reader_finds(said: str, steps: list[Step], call: ToolCall) -> None:
    """The index finds what looking through everything finds."""
    steps = [("user", None, said), *steps]
    known = _known(steps)
    for each in (call, *(ToolCall(tool, {"to": value}) for tool in _FINDERS for value in _FEW)):
        assert (_verdict(each, known) == 0) is _is_found(steps, each.tool, each.arguments["to"])


def _is_found(steps: list[Step], tool: str, to: Any) -> bool:  # noqa: ANN401 -- JSON
    find = {"pay": _is_said, "order": _is_recorded, "book": _is_in_a_record_of, "find": _is_on_a_page}[tool]
    return to not in ((), None, "") and all(find(steps, each) for each in (to if isinstance(to, tuple) else (to,)))


@given(_steps, st.sampled_from(("AT11", "DE22", "ann@x.com")))
def test_what_is_encoded_comes_from_nowhere(steps: list[Step], value: str) -> None:
    """Split, encoded or in another case, unless its kind says that case is nothing."""
    others = (
        value[:-1],
        value + "0",
        base64.b64encode(value.encode()).decode(),
        value[::-1],
        f"{value[:2]} {value[2:]}",
    )
    known = _known([*steps, ("user", None, value), ("mine", {}, {"iban": value}), ("look", {"q": value}, [value])])
    for other in (*others, *((value.lower(),) if "@" not in value else ())):
        for tool in ("pay", "order", "find"):
            assert _verdict(ToolCall(tool, {"to": other}), known) == 1


def _is_said(steps: list[Step], value: Any) -> bool:  # noqa: ANN401 -- JSON
    return any(str(value) in text.split() for tool, _, text in steps if tool == "user")


def _is_recorded(steps: list[Step], value: Any) -> bool:  # noqa: ANN401 -- JSON
    return any(_is_in(steps, step, value) for step in steps if step[0] in ("mine", "look", "make"))


def _is_in_a_record_of(steps: list[Step], value: Any) -> bool:  # noqa: ANN401 -- JSON
    """Return whether a value is the account in an item of a record whose own name the user wrote."""
    return any(
        _is_at(inner["iban"], value)
        for tool, arguments, result in steps
        if tool == "look" and not _echoes(arguments, value)
        for record in _records(result)
        if "name" in record and _has(steps, str(record["name"]))
        for inner in _records(record.get("items"))
        if "iban" in inner
    )


def _is_on_a_page(steps: list[Step], value: Any) -> bool:  # noqa: ANN401 -- JSON
    return any(
        tool == "look" and _is_named(steps, arguments) and not _echoes(arguments, value) and _holds(result, value)
        for tool, arguments, result in steps
    )


def _is_in(steps: list[Step], step: Step, value: Any) -> bool:  # noqa: ANN401 -- JSON
    tool, arguments, result = step
    if tool == "make":
        return _same(arguments.get("id"), value)
    if _echoes(arguments, value):
        return False
    for record in _records(result):
        if (
            "iban" in record
            and _is_at(record["iban"], value)
            and (
                tool == "mine" or _is_named(steps, arguments) or ("name" in record and _has(steps, str(record["name"])))
            )
        ):
            return True
    return False


def _echoes(arguments: dict[str, Any], value: Any) -> bool:  # noqa: ANN401 -- JSON
    return any(str(value) in str(each).split() for each in arguments.values())


def _is_named(steps: list[Step], arguments: dict[str, Any]) -> bool:
    return bool(arguments) and all(_has(steps, str(each)) for each in arguments.values())


def _holds(result: Any, value: Any) -> bool:  # noqa: ANN401 -- JSON
    """Return whether a value is anywhere in a result, or a word of it where it is a text."""
    return str(value) in result.split() if isinstance(result, str) else _is_held(result, value)


def _is_at(field: Any, value: Any) -> bool:  # noqa: ANN401 -- JSON
    """Return whether a value is that of a field; of an object, the names that are addresses."""
    return _is_name(field, value) if isinstance(field, dict) else _is_held(field, value, is_field=True)


def _is_held(inside: Any, value: Any, *, is_field: bool = False) -> bool:  # noqa: ANN401 -- JSON
    """Return whether a value is in another one; an address also in a text of a field, or as a name in its object."""
    if isinstance(inside, dict):
        is_name = is_field and _is_name(inside, value)
        return is_name or any(_is_held(each, value, is_field=True) for each in inside.values())
    if isinstance(inside, list):
        return any(_is_held(each, value, is_field=is_field and not isinstance(each, list | dict)) for each in inside)
    return _same(inside, value) or (is_field and _is_address(value) and str(value) in str(inside).split())


def _is_name(inside: dict[str, Any], value: Any) -> bool:  # noqa: ANN401 -- JSON
    return _is_address(value) and str(value) in inside


def _is_address(value: Any) -> bool:  # noqa: ANN401 -- JSON
    return "." in str(value)


def _has(steps: list[Step], text: str) -> bool:
    words = text.split()
    return bool(words) and any(
        words == said[at : at + len(words)]
        for tool, _, message in steps
        if tool == "user"
        for said in (message.split(),)
        for at in range(len(said))
    )


def _same(one: Any, other: Any) -> bool:  # noqa: ANN401 -- JSON
    return one is not None and str(one) == str(other)


def _records(value: Any) -> list[dict[str, Any]]:  # noqa: ANN401 -- JSON
    if isinstance(value, dict):
        return [value]
    return [each for inner in value for each in _records(inner)] if isinstance(value, list) else []
