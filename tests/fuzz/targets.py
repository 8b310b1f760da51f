"""What the fuzzers throw text at: five groups of parsers, and seeds for each.

A target takes any text and returns; whatever it raises is a defect. The errors a parser documents are caught here, and
what it promises about an answer is checked.
"""

import contextlib
import functools
import itertools
import json
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs
from tests.matching import is_graded

from permitry.actions.command import Command
from permitry.actions.derive.recursive import read_recursively, read_words_recursively
from permitry.actions.derive.unwrap import classify
from permitry.actions.extract import ReadActions
from permitry.actions.hosts import other_readings, read_host, read_url
from permitry.actions.patches import paths_of
from permitry.actions.paths import read_path
from permitry.actions.programs.operands import touches_of
from permitry.actions.reading.strict import UnreadableError, read_strictly
from permitry.conditions.args import argument_condition
from permitry.conditions.command import ArgvPattern
from permitry.conditions.host import HostPattern
from permitry.conditions.match import Match
from permitry.conditions.path import PathPattern
from permitry.config.load import load_rules
from permitry.core.action import Action, Actions, Roots, Run, Word, phrase
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits
from permitry.errors import CallError, ConfigError, RuleError, UnevaluableError
from permitry.messages.formats.marks import marks_of
from permitry.messages.text import TextCallStream, parse_text

__all__ = ["TARGETS", "Target"]

_ROOT = Path(__file__).parents[2]
_WORKSPACE, _HOME = "/nowhere/space", "/home/user"
_ROOTS = Roots((_WORKSPACE,), (_HOME,))
_BASES = ((), (_WORKSPACE,), (_WORKSPACE, "/tmp/other", "/proc/self/cwd"))  # noqa: S108 -- a name, never opened


@attrs.frozen
class Target:
    """A group of parsers: the checks that are given a text, seeds to begin with, and pieces of which texts consist."""

    checks: tuple[Callable[[str], object], ...]
    seeds: tuple[str, ...]
    pieces: tuple[str, ...]


# Shell text ----------------------------------------------------------------------------------------------------------


def check_strict(text: str) -> None:
    """Have the strict reader read `text`, and what knows programs look at the commands."""
    with contextlib.suppress(UnreadableError):
        _check_commands(text, read_strictly(text))


def check_lenient(text: str) -> None:
    """Have the lenient reader read `text` through every nesting."""
    assert all(0 <= command.start <= command.end <= len(text) for command in read_recursively(text).commands)


def check_words(text: str) -> None:
    """Take `text` for the words of one command."""
    words = [Word(part, is_glob="*" in part, is_home=part[:1] == "~", is_open="$" in part) for part in text.split(" ")]
    read_words_recursively(words)
    touches_of(words)


def _check_commands(text: str, commands: Sequence[Command]) -> None:
    assert commands, "a text without a command was read"
    assert all(0 <= command.start < command.end <= len(text) for command in commands)
    for one in classify(commands):
        touches_of(one.command.words)


_ROLES: tuple[Mapping[str, ArgumentRole] | None, ...] = (
    None,
    {"a": ArgumentRole.COMMAND, "cwd?": ArgumentRole.FOLDER, "env?": ArgumentRole.TEXT},
    {"a": ArgumentRole.ARGV},
    {"a|b": ArgumentRole.READ_PATH, "a.b[].c": ArgumentRole.DELETE_PATH, "a[]": ArgumentRole.WRITE_PATH},
    {"a": ArgumentRole.PATCH, "b?": ArgumentRole.URL, "a[].b?": ArgumentRole.AGENT},
)
_SPECS = tuple(ToolSpec("tool", traits=ToolTraits(spawns_agent=True), roles=roles) for roles in _ROLES)
_WAYS = tuple(itertools.product((AuthContext(), AuthContext(workspace=_WORKSPACE)), _SPECS))


def check_calls(text: str) -> None:
    """Take the beginning of `text` for the arguments of calls, in several shapes."""
    for arguments in _arguments(text[:4096]):
        try:
            call = ToolCall("tool", arguments)
        except CallError:
            continue
        # One way for a text, so that more texts are tried: the next longer one goes another way.
        context, spec = _WAYS[len(text) % len(_WAYS)]
        _look_at(ReadActions(_HOME)(call, context, spec))


def _arguments(text: str) -> Iterator[dict[str, object]]:
    """Yield the text as arguments in several shapes, and the JSON it may be."""
    with contextlib.suppress(ValueError, RecursionError):
        data = json.loads(text)
        yield data if isinstance(data, dict) else {"a": data}
    head, _, tail = text.partition("\n")
    yield {"a": text}
    yield {"a": tail, "cwd": head, "b": [head]}
    yield {"a": text.split(" "), "extra": head}
    yield {"a": [{"b": [{"c": head}, tail]}]}


def _look_at(actions: Actions) -> None:
    """Ask for everything that is read only when someone asks."""
    assert isinstance(actions.targets, frozenset)
    every: tuple[Action, ...] = (*actions.certain, *actions.possible, *actions.guessed)
    for action in every:
        assert isinstance(phrase(action), str)
        if isinstance(action, Run):
            assert action.words


# Paths and patches ---------------------------------------------------------------------------------------------------


def check_path(text: str) -> None:
    """Read `text` as a path; its first line as a pattern, and match that with the rest as a path."""
    head, _, tail = text.partition("\n")
    places = [
        read_path(each, bases, home=home, is_home=each.startswith("~"), is_entry=bool(bases))
        for each in (text, tail)
        for bases in _BASES
        for home in (None, _HOME)
    ]
    assert all(name.startswith("/") for place in places for name in place.names)
    with contextlib.suppress(RuleError):
        pattern = PathPattern(head)
        for place in places:
            assert is_graded(functools.partial(pattern.match_place, place, _ROOTS))


def check_patch(text: str) -> None:
    """Read `text` as a patch."""
    paths_of(text)


# Hosts ---------------------------------------------------------------------------------------------------------------


def check_host(text: str) -> None:
    """Read `text` as an address; its first line as a pattern, and match that with the rest as an address."""
    head, _, tail = text.partition("\n")
    connects = [read_url(text), read_url(tail, base=head), *other_readings(text)]
    for connect in connects:
        assert not connect.is_certain or (connect.scheme and connect.host)
    host = read_host(head)
    assert host is None or host
    with contextlib.suppress(RuleError):
        pattern = HostPattern.parse(head, read_host)
        for connect in connects:
            assert connect.is_certain or pattern.match_address(connect) is not Match.YES


# Rules ---------------------------------------------------------------------------------------------------------------


def check_patterns(text: str) -> None:
    """Read the first line of `text` as a pattern of commands, and what it says as a condition on arguments."""
    head, _, tail = text.partition("\n")
    with contextlib.suppress(RuleError):
        pattern, words = ArgvPattern(head), [Word(part, is_glob="*" in part) for part in tail.split(" ")]
        assert is_graded(functools.partial(pattern.match_words, words, (), ()))
    for data in _values(text):
        with contextlib.suppress(RuleError, UnevaluableError):
            argument_condition(head, data).holds(Request(ToolCall("t", {head: tail}), AuthContext()))


def check_rule_file(text: str) -> None:
    """Load `text` as a rule file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rules.toml")
        path.write_bytes(text.encode("utf-8", "surrogateescape" if _is_bytes(text) else "surrogatepass"))
        with contextlib.suppress(ConfigError):
            load_rules([path]).policy()


# Calls in a model's text -------------------------------------------------------------------------------------------


def check_text_calls(text: str) -> None:
    """Parse `text` whole and in two pieces, strictly and with repair; what is found must be calls."""
    for repair in (False, True):
        whole, stream = parse_text(text, {"f": {}}, repair=repair), TextCallStream({"f": {}}, repair=repair)
        stream.feed(text[: len(text) // 2])
        stream.feed(text[len(text) // 2 :])
        assert stream.finish() == whole
        for call in whole.calls:
            assert 0 <= call.span[0] < call.span[1] <= len(text)
            assert repair or not call.repaired or call.format == "react_json"
            with contextlib.suppress(CallError):
                ToolCall(call.name, call.arguments)


def _is_bytes(text: str) -> bool:
    """Return whether the lone surrogates in a text mean bytes."""
    return all(not "\ud800" <= char <= "\udfff" or "\udc80" <= char <= "\udcff" for char in text)


def _values(text: str) -> Iterator[object]:
    yield text
    with contextlib.suppress(ValueError, RecursionError):
        yield json.loads(text)
    with contextlib.suppress(ValueError, RecursionError):
        yield tomllib.loads(text)


# Texts to begin with -------------------------------------------------------------------------------------------------

_CHECKS: Mapping[str, tuple[Callable[[str], object], ...]] = {
    "shell": (check_strict, check_lenient, check_words, check_calls),
    "path": (check_path, check_patch),
    "host": (check_host,),
    "rules": (check_rule_file, check_patterns),
    "text": (check_text_calls,),
}

_MARKED = (
    '<tool_call>{"name": "f", "arguments": {"a": [1, "</tool_call>"]}}</tool_call>',
    "<think>hm</think><tool_call>\n<function=f>\n<parameter=a>\n  x\n</parameter>\n</function>\n</tool_call>",
    '[{"name": "f", "parameters": {}}]',
    "[f(a='x', b=[1, {'k': None}])]",
    "Thought: hm\nAction: f\nAction Input: {'a': 1}\n",
)
_BETWEEN_MARKS = (
    "f", "a", " ", "\n", "{", "}", "[", "]", '"', "'", "\\", ":", ",", "=", "(", ")", "1", "true", "<", ">", "</", "é",
    '{"name": "f", "arguments": {}}', '{"a": 1}', 'f(a="x")', 'name="f">', "call:f{a:", "<parameter=a>", "</parameter>",
    "<arg_key>a</arg_key>", "<arg_value>", "</arg_value>", "</function>", "</invoke>", "<|message|>", "Action Input: ",
    "functions.f:0", "<|tool_call_argument_begin|>", "<｜tool▁sep｜>", '<parameter name="a">',  # noqa: RUF001 -- DeepSeek's
)  # fmt: skip


def _targets() -> Iterator[tuple[str, Target]]:
    texts = tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))
    for path in sorted((_ROOT / "tests/unit/actions").glob("commands_*.txt")):
        texts["shell"]["seeds"] += path.read_text(encoding="utf-8").splitlines()
    for path in sorted((_ROOT / "rules").rglob("*.toml")):
        texts["rules"]["seeds"].append(path.read_text(encoding="utf-8"))
    texts["text"] = {"seeds": _MARKED, "pieces": (*sorted(marks_of("auto").readers), *_BETWEEN_MARKS)}
    for name, checks in _CHECKS.items():
        yield name, Target(checks, tuple(texts[name]["seeds"]), tuple(texts[name]["pieces"]))


TARGETS: Mapping[str, Target] = dict(_targets())
