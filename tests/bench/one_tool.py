"""What many rules about one tool cost: by an argument, a command, a host, a path."""

import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs
from tests.bench.peers.engine import module
from tests.bench.peers.rbacx import compiled
from tests.bench.report import Report, Scale, Table, Tell, number
from tests.bench.timing import Subject, Timing, measure

from permitry.actions.extract import ReadActions
from permitry.conditions.args import argument_condition
from permitry.conditions.command import ArgvPattern
from permitry.conditions.path import PathPattern
from permitry.conditions.scope import Conditions, Scope
from permitry.conditions.tools import ToolSelector
from permitry.config.conditions import host_pattern
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.rules import BUILT_IN_RULES
from permitry.rules.configured import ConfiguredRule

__all__ = ["run"]

_SIZES = (10, 1_000, 10_000)
_CALLS = 100
_HERE = AuthContext(workspace="/w")
_TEXT = """\
All rules are about the same tool, and each call meets one of them. permitry is asked about each call once, as it keeps
what it has read for a while. The conditions are an argument that equals a text, a command such as `prog7 sub7 *`, a
host, and a path such as `dir7/sub/**`. permitry reads what the command would do before it decides; the others are given
the argument, or the words of the command, as they are: Cedar has one policy with a condition for each rule, all on one
action; rbacx has one rule for each, on a resource with that id; then there are a dictionary from program and
sub-command to the answer, and a loop."""


@attrs.frozen
class _Kind:
    """One kind of condition: what rule `n` says, and a call that meets it, with any word at its end."""

    name: str
    tool: str
    when: Callable[[int], Conditions]
    arguments: Callable[[int, str], dict[str, Any]]


_KINDS = (
    _Kind(
        "argument",
        "look_up",
        lambda n: Conditions((argument_condition("key", f"value{n}"),)),
        lambda n, _: {"key": f"value{n}"},
    ),
    _Kind(
        "command",
        "bash",
        lambda n: Conditions(commands=(ArgvPattern(f"prog{n % 100} sub{n} *"),)),
        lambda n, end: {"command": f"prog{n % 100} sub{n} --fast {end}"},
    ),
    _Kind(
        "host",
        "fetch_url",
        lambda n: Conditions(hosts=(host_pattern(f"host{n}.example.com"),)),
        lambda n, end: {"url": f"https://host{n}.example.com/{end}"},
    ),
    _Kind(
        "path",
        "write_file",
        lambda n: Conditions(paths=(PathPattern(f"dir{n}/sub/**"),)),
        lambda n, end: {"path": f"dir{n}/sub/{end}", "content": "x"},
    ),
)


def run(scale: Scale, tell: Tell) -> Report:
    """Return what a decision costs, by the number of rules about the tool."""
    sizes = _SIZES if scale.largest in _SIZES[1:] else scale.sizes
    wrong: list[str] = []
    timings: dict[tuple[str, str, int], Timing] = {}
    for kind in _KINDS:
        for size in sizes:
            tell(f"one tool: {size} rules on {kind.name}")
            for name, timing in measure(
                dict(_subjects(kind, size, wrong)), rounds=scale.rounds, seconds=scale.seconds
            ).items():
                timings[kind.name, name, size] = timing
    grown = {
        f"one-tool-growth-{kind.name}": max(
            timings[kind.name, name, sizes[-1]].p50 / timings[kind.name, name, sizes[0]].p50
            for name in ("permitry, block", "permitry, allow")
        )
        for kind in _KINDS
    }
    spent = {f"one-tool-{kind.name}": timings[kind.name, "permitry, block", sizes[-1]].p50 for kind in _KINDS}
    return Report(
        "Many rules about one tool",
        (_ratios(timings, sizes),),
        (_figures(timings, sizes),),
        text=_TEXT,
        facts={**grown, **spent} if sizes == _SIZES else {},
        wrong=tuple(wrong),
    )


def _subjects(kind: _Kind, size: int, wrong: list[str]) -> Iterator[tuple[str, Subject]]:
    numbers = [number * 37 % size for number in range(_CALLS)]
    for effect, priority in ((Verdict.BLOCK, 150), (Verdict.ALLOW, 250)):
        policy = _policy(kind, size, effect, priority)
        calls = functools.partial(_calls, kind, numbers)
        found = {policy.decide(*call).verdict for call in calls(0)}
        if found != {effect}:
            wrong.append(f"one tool: {size} rules on {kind.name} say {found}, and not {effect}")
        yield f"permitry, {effect.value}", Subject(policy.decide, calls, is_repeatable=False)
    peers = ((_in_a_loop, "naive loop"), (_in_a_dictionary, "dictionary"), (_cedar, "cedarpy"), (_rbacx, "rbacx, core"))
    for make, name in peers:
        made = make(kind, size)
        if made is not None:
            ask, request = made
            yield name, _subject(ask, [request(n) for n in numbers])


def _calls(kind: _Kind, numbers: Sequence[int], turn: int) -> Sequence[tuple[ToolCall, AuthContext]]:
    """Return calls that were not asked about before, as what was read is kept for a while."""
    return [(ToolCall(kind.tool, kind.arguments(n, f"x{turn}-{at}")), _HERE) for at, n in enumerate(numbers)]


def _subject(ask: Callable[..., object], requests: Sequence[tuple[Any, ...]]) -> Subject:
    return Subject(ask, lambda _: requests)


def _policy(kind: _Kind, size: int, effect: Verdict, priority: int) -> AuthorizationPolicy:
    tools = (ToolSelector(kind.tool),)
    rules = (ConfiguredRule(f"rule-{n}", effect, priority, Scope(tools, kind.when(n))) for n in range(size))
    return AuthorizationPolicy((*BUILT_IN_RULES, *rules), reader=ReadActions("/home/user", has_disk=False))


def _key(kind: _Kind, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a peer compares: the argument, or the first two words of a command."""
    text: str = next(iter(arguments.values()))
    return tuple(text.split()[:2]) if kind.name == "command" else (text,)


def _in_a_loop(kind: _Kind, size: int) -> tuple[Callable[..., object], Callable[[int], tuple[Any, ...]]]:
    keys = [_key(kind, kind.arguments(n, "x")) for n in range(size)]

    def ask(arguments: Mapping[str, Any]) -> bool:
        wanted = _key(kind, arguments)
        return any(key == wanted for key in keys)

    return ask, lambda n: (kind.arguments(n, "x"),)


def _in_a_dictionary(kind: _Kind, size: int) -> tuple[Callable[..., object], Callable[[int], tuple[Any, ...]]]:
    keys = {_key(kind, kind.arguments(n, "x")): True for n in range(size)}
    return lambda arguments: keys.get(_key(kind, arguments), False), lambda n: (kind.arguments(n, "x"),)


def _cedar(kind: _Kind, size: int) -> tuple[Callable[..., object], Callable[[int], tuple[Any, ...]]] | None:
    try:
        cedarpy = module("cedarpy")
    except ImportError:
        return None
    action = json.dumps(kind.tool)
    texts = (json.dumps(" ".join(_key(kind, kind.arguments(n, "x")))) for n in range(size))
    written = "\n".join(
        f"permit(principal, action == Action::{action}, resource) when {{ context.key == {text} }};" for text in texts
    )
    policies, entities = cedarpy.PolicySet.from_str(written), cedarpy.Entities.from_json_str("[]")
    ask = functools.partial(cedarpy.is_authorized, policies=policies, entities=entities)

    def request(n: int) -> tuple[dict[str, Any]]:
        context = {"key": " ".join(_key(kind, kind.arguments(n, "x")))}
        who = {"principal": 'Agent::"main"', "action": {"type": "Action", "id": kind.tool}, "resource": 'Box::"box"'}
        return ({**who, "context": context},)

    return ask, request


def _rbacx(kind: _Kind, size: int) -> tuple[Callable[..., object], Callable[[int], tuple[Any, ...]]] | None:
    def about(n: int) -> dict[str, Any]:
        return {"type": kind.tool, "id": " ".join(_key(kind, kind.arguments(n, "x")))}

    rules = [{"id": str(n), "effect": "permit", "actions": ["call"], "resource": about(n)} for n in range(size)]
    try:
        ask = compiled({"algorithm": "deny-overrides", "rules": rules})
    except ImportError:
        return None
    return ask, lambda n: ({"subject": {"id": "main"}, "action": "call", "resource": about(n)},)


def _ratios(timings: Mapping[tuple[str, str, int], Timing], sizes: Sequence[int]) -> Table:
    names = list(dict.fromkeys((kind, name) for kind, name, _ in timings if not name.startswith("permitry")))
    rows = [
        (
            f"{name}, {kind}",
            *(
                f"{number(timings[kind, name, size].p50 / timings[kind, 'permitry, block', size].p50)}x"
                for size in sizes
            ),
        )
        for kind, name in names
    ]
    head = ("engine", *(f"{size:,} rules" for size in sizes))
    return Table("How many times as long as permitry a decision takes (median); below 1 is faster:", head, tuple(rows))


def _figures(timings: Mapping[tuple[str, str, int], Timing], sizes: Sequence[int]) -> Table:
    names = dict.fromkeys((kind, name) for kind, name, _ in timings)
    rows = [(f"{name}, {kind}", *(number(timings[kind, name, size].p50) for size in sizes)) for kind, name in names]
    return Table("µs for a decision, median:", ("engine", *(f"{size:,} rules" for size in sizes)), tuple(rows))
