"""Records of programs in rule files: their names, their examples, and how files of several layers meet."""

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry import AuthContext, AuthorizationPolicy, ToolCall, load_rules
from permitry.config.origin import Origin
from permitry.core.decision import Verdict
from permitry.errors import ConfigError

Write = Callable[[str, str], Origin]
_TREE = """
[program."treecount tc"]
options = "-ah --sort="
operands = "read*"
here = "read"
"""


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Return a function that writes a rule file in the current folder."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, text: str) -> Origin:
        Path(name).write_text(f"schema = 1\n{text}", encoding="utf-8")
        return Origin(name)

    return write


def _verdict(policy: AuthorizationPolicy, command: str, workspace: str = "/nowhere/space") -> Verdict:
    return policy.decide(ToolCall("run_shell", {"command": command}), AuthContext(workspace=workspace)).verdict


def _problems(*origins: Origin) -> list[tuple[int, int, str, str]]:
    with pytest.raises(ConfigError) as caught:
        load_rules(origins)
    return [(each.line, each.column, each.message, each.hint) for each in caught.value.problems]


def test_a_program_that_only_reads_runs_unasked(write: Write) -> None:
    """Under each of its names, and inside of programs that run it; with other options it is asked about."""
    policy = load_rules([write("a.toml", _TREE)]).policy()
    for command in ("treecount src", "tc -a --sort code", "timeout 5 tc", "cat a | tc"):
        assert _verdict(policy, command) is Verdict.ALLOW, command
    for command in ("treecount -x", "./treecount src", "tc > a.txt"):
        assert _verdict(policy, command) is Verdict.CONFIRM, command
    assert _verdict(load_rules([write("b.toml", "")]).policy(), "tc") is Verdict.CONFIRM


def test_what_its_words_are_counts_for_rules_about_paths(write: Write) -> None:
    """As it does for a program that permitry knows."""
    rule = '[[rule]]\nid = "keys"\neffect = "block"\nwhen.path = "keys/**"\n'
    policy = load_rules([write("a.toml", _TREE + rule)]).policy()
    assert _verdict(policy, "tc keys/a") is Verdict.BLOCK


def test_a_rule_file_carries_the_records_of_those_it_extends(write: Write) -> None:
    """They are of its own layer."""
    write("a.toml", _TREE)
    loaded = load_rules([write("b.toml", 'extends = ["a.toml"]')])
    assert [(each.name, each.source, each.rank) for each in loaded.records.every] == [
        ("treecount", "a.toml:3", 2), ("tc", "a.toml:3", 2),
    ]  # fmt: skip
    assert _verdict(loaded.policy(), "tc") is Verdict.ALLOW


def test_a_record_that_is_not_trusted_only_restricts(write: Write) -> None:
    """By it a call is not taken for reading, and a rule about paths sees what it touches."""
    write("a.toml", _TREE + '[program.cat]\ndoes = "network"\noperands = "read* "\n')
    rule = '[[rule]]\nid = "keys"\neffect = "block"\nwhen.path = "keys/**"\nwhen.access = "delete"\n'
    user = write("user.toml", rule)
    write("c.toml", '[program."ls tc"]\noperands = "delete*"\n')
    loaded = load_rules([user, Origin("a.toml", is_trusted=False)])
    assert loaded.notices == tuple(
        f"a.toml:{line}: program `{name}` can only restrict: the project is not trusted; see `permitry trust`"
        for line, name in ((3, "treecount"), (3, "tc"), (7, "cat"))
    )
    assert _verdict(loaded.policy(), "tc src") is Verdict.CONFIRM
    assert _verdict(loaded.policy(), "cat src") is Verdict.CONFIRM
    assert _verdict(loaded.policy(), "head src") is Verdict.ALLOW
    stricter = load_rules([user, Origin("c.toml", is_trusted=False)]).policy()
    assert _verdict(stricter, "ls keys/a") is Verdict.BLOCK
    assert _verdict(stricter, "ls src") is Verdict.ALLOW


def test_of_two_layers_the_more_trusted_record_counts(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one is dropped with a notice; the files load in any order."""
    monkeypatch.setattr("permitry.config.named.writable_by_others", lambda _: None)
    user = write("user.toml", _TREE)
    admin = Origin(write("admin.toml", '[program.tc]\ndoes = "network"\n').name, is_admin=True)
    for origins in ([user, admin], [admin, user]):
        loaded = load_rules(origins)
        assert loaded.notices == ("user.toml:3: program `tc` dropped: a more trusted layer has a record of it",)
        assert _verdict(loaded.policy(), "tc") is Verdict.CONFIRM
        assert _verdict(loaded.policy(), "treecount") is Verdict.ALLOW


def test_a_trusted_project_has_records_that_count(write: Write) -> None:
    """As its permissions do."""
    origin = Origin(write("a.toml", _TREE).name, root=Path.cwd())
    assert _verdict(load_rules([origin]).policy(), "tc") is Verdict.ALLOW


def test_a_trusted_record_lifts_no_restriction(write: Write) -> None:
    """What permitry knows of `rm` counts for restrictions as well, whatever a file says."""
    rule = '[[rule]]\nid = "src"\neffect = "block"\nwhen.path = "src/**"\n'
    record = '[program.rm]\ndoes = ""\nany_option = true\noperands = "none"\n'
    policy = load_rules([write("a.toml", rule + record)]).policy()
    assert _verdict(policy, "rm src/a") is Verdict.BLOCK
    assert _verdict(policy, "rm b") is Verdict.ALLOW


def test_records_of_a_session_count_for_it_alone(write: Write) -> None:
    """As its rules do: another session has none of them."""
    policy = load_rules([write("b.toml", "")]).policy()
    call = ToolCall("run_shell", {"command": "tc"})
    rules = load_rules([write("a.toml", _TREE)])
    context = AuthContext(workspace="/nowhere/space", rules=rules)
    assert policy.decide(call, context).verdict is Verdict.ALLOW
    assert policy.with_rules(rules).decide(call, AuthContext(workspace="/nowhere/space")).verdict is Verdict.ALLOW
    assert _verdict(policy, "tc") is Verdict.CONFIRM


def test_examples_say_what_commands_do(write: Write) -> None:
    """All of it, in any order: whether they only read, what they touch, meet and run."""
    examples = """
[program.mycopy]
options = "-v --to="
operands = "read write"
does = "writes"
[program.mycopy.examples]
"mycopy -v a b" = "write b, read a"
"mycopy -v a b; ls" = "read a, write b, run ls, list ."
[program.mywrap]
wraps = true
options = "-n="
examples."mywrap -n 2 rm -rf x" = "delete x"
examples."mywrap cat x" = "only reads, read x"
[program.mygrab]
does = "network"
operands = "host*"
examples."mygrab https://example.com/a" = "connect https://example.com/a"
"""
    assert load_rules([write("a.toml", examples)]).records.every


@for_each(("example", "does"))
def test_a_wrong_example_is_a_problem(write: Write, example: str, does: str) -> None:
    """It says what the command does by the record."""
    text = example.partition(" = ")[0].strip('"')
    [(line, _, message, hint)] = _problems(write("a.toml", f"{_TREE}examples.{example}\n"))
    assert (line, hint) == (7, "correct the record, or the example")
    assert message == f"the example `{text}` does something else: {does}"


def test_an_untrusted_record_is_tried_by_its_examples_too(write: Write) -> None:
    """A mistake in it is one, as in a rule that would be dropped."""
    write("a.toml", f'{_TREE}examples."tc a" = "write a"\n')
    [(line, *_)] = _problems(Origin("a.toml", is_trusted=False))
    assert line == 7


def test_a_project_that_is_not_trusted_has_a_number_of_records(write: Write) -> None:
    """Beyond it, loading fails, as for rules."""
    write("a.toml", "".join(f'[program.p{number}]\noperands = "read"\n' for number in range(65)))
    [(_, _, message, _)] = _problems(Origin("a.toml", is_trusted=False))
    assert message == "more than 64 programs in a project that is not trusted"
    assert len(load_rules([Origin("a.toml")]).records.every) == 65
    examples = "".join(f'"p{number}" = "only reads"\n' for number in range(33))
    write("a.toml", f'[program.p]\noperands = "read"\n[program.p.examples]\n{examples}')
    [(_, _, message, _)] = _problems(Origin("a.toml", is_trusted=False))
    assert message == "more than 32 examples in a project that is not trusted"


def test_what_is_wrong_is_told_with_its_place(write: Write) -> None:
    """Two records of one name, in one file or in two of a layer, a word of the shell, a path, and no content."""
    write("a.toml", _TREE)
    text = "".join(f"[program.{name}]\noperands = 'read'\n" for name in ("cd", '"bin/x"'))
    text = f'extends = ["a.toml"]{_TREE}{text}[program.y]\n'
    assert _problems(write("b.toml", text)) == [
        (3, 1, "the program `treecount` is described twice", "the first is at a.toml:3; make one record of the two"),
        (3, 1, "the program `tc` is described twice", "the first is at a.toml:3; make one record of the two"),
        (7, 1, "`cd` is a word of the shell", "records are for programs"),
        (9, 1, "`bin/x` is not the name of a program",
         "write its bare name, without a folder: letters, digits, `_`, `.`, `+`, `-`"),
        (11, 1, "the record does not say what the program does",
         'say what it is called with, such as `operands = "read*"`, or what it does besides: `does = "writes"`'),
    ]  # fmt: skip


def test_examples_of_rules_are_read_by_the_records(write: Write) -> None:
    """Those on which the rule may rely: not by one of a less trusted file."""
    rule = '[[rule]]\nid = "src"\neffect = "allow"\nwhen.path = "src/**"\n'
    rule += 'when.command = "tc *"\nmatch = ["tc src/a"]\n'
    user = write("user.toml", rule)
    project = Origin(write("project.toml", _TREE).name, root=Path.cwd())
    assert load_rules([write("a.toml", _TREE + rule)]).rules
    [(line, _, message, _)] = _problems(user, project)
    assert (line, message) == (7, "the `match` example `tc src/a` does not match the rule")


def test_a_copy_of_a_policy_and_other_threads_read_by_its_records(write: Write) -> None:
    """Nothing of them is anywhere but in the policy."""
    policy = load_rules([write("a.toml", _TREE)]).policy()
    copy = pickle.loads(pickle.dumps(policy))  # noqa: S301 -- our own
    assert (copy.version, _verdict(copy, "tc a")) == (policy.version, Verdict.ALLOW)
    with ThreadPoolExecutor() as threads:
        found = threads.map(lambda name: _verdict(policy, f"tc {name}"), "abcdefgh")
    assert set(found) == {Verdict.ALLOW}
