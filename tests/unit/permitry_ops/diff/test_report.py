"""What a comparison says: changes with their calls and digests, and what is accepted."""

import json
import shlex

from permitry.config.load import load_rules
from permitry_ops.diff.accepted import Accepted
from permitry_ops.diff.report import Report, command_of, compare
from permitry_ops.diff.sources import Loaded

WORKSPACE = "/permitry-diff/workspace"
RULE = 'schema = 1\n[[rule]]\nid = "pay"\neffect = "allow"\ntools = ["pay"]\nwhen.args.n = {{ le = {} }}\n'


def report_of(before: int, after: int, *accepted: Accepted) -> Report:
    """Return the comparison of a rule with two limits."""
    old, new = (Loaded(load_rules(RULE.format(most))) for most in (before, after))
    return compare(old, new, workspace=WORKSPACE, accepted=accepted)


def test_a_change_has_the_places_of_both_rules() -> None:
    """Empty where no rule decided."""
    (change,) = report_of(3, 5).wider
    assert (change.before, change.after) == ("", "<text 1>:2")
    assert change.to_dict()["after"] == {"verdict": "allow", "rule": "pay", "source": "<text 1>:2"}


def test_a_digest_is_that_of_the_difference() -> None:
    """The same each time, and another one for a wider rule, although the call that shows it is the same."""
    one, same, more = (report_of(3, most).wider[0] for most in (5, 5, 9))
    assert one.digest == same.digest
    assert one.command == more.command
    assert one.digest != more.digest


def test_what_is_accepted_is_not_counted() -> None:
    """But told."""
    digest = report_of(3, 5).wider[0].digest
    report = report_of(3, 5, Accepted(digest, "Ada", "wanted"))
    assert (len(report.wider), report.to_accept) == (1, ())
    assert report.wider[0].to_dict()["accepted_by"] == "Ada"


def test_the_way_back_is_told_in_words_of_its_own() -> None:
    """A permission that was wider permits less."""
    report = report_of(5, 3)
    assert [(each.what, each.witness.before.verdict.value) for each in report.narrower] == [("permits less", "allow")]
    assert report.wider == ()


def test_a_command_is_one_to_paste() -> None:
    """A shell command where it is one, and the whole line otherwise."""
    assert command_of({"name": "run_shell", "arguments": {"command": "git push"}}) == (
        "permitry check --command 'git push'"
    )
    for command in ("ls\n-l", True):
        line = {"name": "run_shell", "arguments": {"command": command}}
        assert json.loads(shlex.split(command_of(line))[-1]) == line
    line = {"name": "run_shell", "arguments": {"command": "-x"}, "context": {"mode": "plan"}}
    assert command_of(line).startswith("permitry check --call '{")
    assert command_of({**line, "context": {}} | {"name": "look"}, "/srv/shop").endswith(" --workspace /srv/shop")
    assert command_of({"name": "run_shell", "arguments": {"command": "-x"}}) == "permitry check --command=-x"
