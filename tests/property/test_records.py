"""Records of programs in rule files: one that is not trusted makes nothing looser, and each policy reads by its own."""

import itertools
import sys
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from permitry.actions.derive.script import kept
from permitry.actions.extract import ReadActions
from permitry.actions.programs.catalogue import shipped, using
from permitry.actions.programs.records import Record, Records
from permitry.config.load import load_rules
from permitry.config.program_table import ProgramTable
from permitry.config.ruleset import RuleSet
from permitry.core.action import Actions, Run
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase
from permitry.core.policy import AuthorizationPolicy
from permitry.core.well_known import WELL_KNOWN

_RULES = """
[[rule]]
id = "no-keys"
effect = "block"
when.path = ["keys/**", "a"]
unless.command = ["cat *"]
[[rule]]
id = "no-deletion"
effect = "block"
when.path = "src/**"
when.access = ["delete"]
[[rule]]
id = "no-rm"
effect = "block"
when.command = ["rm *", "git push *"]
[[rule]]
id = "no-other-hosts"
effect = "confirm"
when.host = "*"
unless.host = "example.com"
[[rule]]
id = "writes"
effect = "allow"
when.path = ["build/**", "b"]
when.access = ["write"]
[[rule]]
id = "reads-b"
effect = "confirm"
priority = 240
when.path = "b"
[[rule]]
id = "tools"
effect = "allow"
when.command = ["mytool *", "make *", "xargs mytool *"]
"""
_SETS: Sequence[RuleSet] = [
    load_rules(f"schema = 1\n{head}{_RULES}")
    for head in ("", '[policy]\nunmatched = "block"\n', 'extends = ["permitry:base", "permitry:coding-agent"]\n')
]
_CONTEXTS = [
    AuthContext(workspace="/nowhere/space"),
    AuthContext(workspace="/nowhere/space", yolo_mode=True),
    AuthContext(workspace="/nowhere/space", is_plan_mode=True),
]
_COMMANDS = """
mytool
mytool a
mytool -x b
mytool rm -rf src/x
mytool sub a b
mytool https://example.org/a
ls | xargs mytool
find src -exec mytool {} ;
sudo mytool a
mytool -c 'rm a'
mytool < keys/k > b
echo rm a | mytool
make b
cat a
cat keys/k
rm b
cp a build/a
git push
git status a
git log -3 -- keys/k
ls -l a | xargs cat
bash -c 'mytool a'
curl -o b https://example.org/x
env X=1 mytool b
timeout 5 cat keys/k
mytool "$x"
x=$(mytool a); echo $x
for f in *; do mytool $f; done
cd sub && mytool a
head -n 3 a
sed -i s/a/b/ b
npm run b
mytool build/x; cat b
grep -r x src
touch build/a && mytool build/a
""".strip().splitlines()
_NAMES = (
    *("mytool", "cat", "ls", "rm", "git", "make", "xargs", "bash"),
    *("sudo", "find", "curl", "cp", "npm", "head", "sed"),
)
_FIELDS: dict[str, SearchStrategy[Any]] = {
    **dict.fromkeys(
        ("any_option", "runs_nothing", "wraps", "undoable", "elsewhere", "bare", "descends", "remote"),
        st.booleans(),
    ),
    **dict.fromkeys(("options", "more"), st.sampled_from(["-x", "-xlc= --all", "-c", "-exec= -n="])),
    **dict.fromkeys(("reads", "writes", "trees", "texts", "runs_values", "code"), st.sampled_from(["-x", "-c", "-n"])),
    "operands": st.sampled_from(["none", "read*", "write*", "text*", "delete", "read+ into", "host*", "any", "name*"]),
    "does": st.sampled_from(["", "writes", "network", "cache code"]),
    "shell": st.sampled_from(["", "bash", "other"]),
    "runs": st.sampled_from(["", "-x="]),
    "leading": st.integers(0, 2),
    "runner": st.sampled_from(["", "eval", "text-after-c", "xargs", "env"]),
    "input": st.sampled_from(["", "commands", "code", "lines"]),
    "prints": st.sampled_from(["", "operands", "lines"]),
    "script": st.sampled_from(["", "names", "test"]),
    "here": st.sampled_from(["read", "write"]),
    "commands": st.sampled_from([{"sub push": {"operands": "none"}}, {"status": {"operands": "write*"}}]),
}
_ONE = st.fixed_dictionaries({}, optional=_FIELDS).map(
    lambda fields: ProgramTable.model_validate(fields).model_dump(exclude_none=True)
)
_SOME = st.dictionaries(st.sampled_from(_NAMES), _ONE, min_size=1, max_size=3)
_SHELL = WELL_KNOWN["run_shell"]


def _records(fields: dict[str, dict[str, Any]], rank: int) -> Records:
    return Records(Record(name, each, "r.toml:1", rank) for name, each in fields.items())


def _policy(rules: RuleSet, *records: Records) -> AuthorizationPolicy:
    reader = ReadActions("/home/user")
    for each in records:
        reader = reader.with_records(each)
    return AuthorizationPolicy(rules.policy().rules, reader=reader, flows=rules.flows, unmatched=rules.unmatched)


def _decide(policy: AuthorizationPolicy, command: str, context: AuthContext) -> Decision:
    return policy.decide(ToolCall("run_shell", {"command": command}), context, _SHELL)


@given(
    fields=_SOME,
    trusted=_SOME | st.just({}),
    rules=st.sampled_from(_SETS),
    context=st.sampled_from(_CONTEXTS),
    commands=st.lists(st.sampled_from(_COMMANDS), min_size=1, max_size=4),
)
def test_a_record_that_is_not_trusted_makes_no_call_looser(
    fields: dict[str, dict[str, Any]],
    trusted: dict[str, dict[str, Any]],
    rules: RuleSet,
    context: AuthContext,
    commands: Sequence[str],
) -> None:
    """Whatever it says, and of whichever program; also where trusted files have records as well."""
    before = _policy(rules, _records(trusted, 2))
    after = _policy(rules, _records(trusted, 2), _records(fields, 0))
    for command in commands:
        assert _decide(after, command, context).verdict >= _decide(before, command, context).verdict, command


@given(
    fields=_SOME,
    above=_SOME | st.just({}),
    rules=st.sampled_from(_SETS),
    context=st.sampled_from(_CONTEXTS[:2]),
    commands=st.lists(st.sampled_from(_COMMANDS), min_size=1, max_size=4),
)
def test_a_trusted_record_lifts_no_restriction(
    fields: dict[str, dict[str, Any]],
    above: dict[str, dict[str, Any]],
    rules: RuleSet,
    context: AuthContext,
    commands: Sequence[str],
) -> None:
    """What a rule restricts without it is restricted with it, and so with a more trusted file's records alone."""
    before = _policy(rules, _records(above, 3))
    after = _policy(rules, _records(above, 3), _records(fields, 2))
    for command in commands:
        was = _decide(before, command, context)
        if was.phase is Phase.RESTRICTION:
            assert _decide(after, command, context).verdict >= was.verdict, command


@given(
    some=st.lists(_SOME, min_size=2, max_size=2),
    ranks=st.tuples(st.integers(0, 3), st.integers(0, 3)),
    commands=st.lists(st.sampled_from(_COMMANDS), min_size=3, max_size=6, unique=True),
)
def test_policies_with_different_records_share_no_reading(
    some: Sequence[dict[str, dict[str, Any]]], ranks: tuple[int, int], commands: Sequence[str]
) -> None:
    """Asked in turns, each decides as one of the same records where nothing was read before."""
    records = (*(_records(fields, rank) for fields, rank in zip(some, ranks, strict=True)), Records())
    in_turns = [_policy(_SETS[0], each) for each in records]
    context = _CONTEXTS[0]
    _forget()
    asked = [[_decide(policy, command, context) for policy in in_turns] for command in commands]
    for number, each in enumerate(records):
        alone = _policy(_SETS[0], each)
        _forget()
        assert [_decide(alone, command, context) for command in commands] == [row[number] for row in asked]


def _forget() -> None:
    """Forget what was read of commands."""
    modules = [module for name, module in sys.modules.items() if name.startswith("permitry.actions.")]
    every = [getattr(each, "__wrapped__", None) for module in modules for each in vars(module).values()]
    assert vars(kept)["__wrapped__"] in every
    for each in every:
        getattr(each, "cache_clear", str)()


@given(fields=_SOME, command=st.sampled_from(_COMMANDS))
def test_what_is_read_late_is_read_by_the_same_records(fields: dict[str, dict[str, Any]], command: str) -> None:
    """The operands of a program are read when a rule asks, wherever that is."""
    reader = ReadActions("/home/user", records=_records(fields, 2))
    call, context = ToolCall("run_shell", {"command": command}), _CONTEXTS[0]
    with using(shipped().with_records({name: {"any_option": True, "operands": "none"} for name in _NAMES})):
        elsewhere = _operands(reader(call, context, _SHELL))
    other = ReadActions("/home/user", records=_records(fields, 2))
    with using(other.catalogue):
        assert _operands(other(call, context, _SHELL)) == elsewhere


def _operands(actions: Actions) -> list[object]:
    every = itertools.chain(actions.certain, actions.possible, actions.guessed)
    return [each.operands if isinstance(each, Run) else each for each in every]
