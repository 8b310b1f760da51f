"""Attacks with options in another place, lists in place of texts, and exceptions that lift too much."""

from pathlib import Path

from permitry import AuthContext, ToolCall, Verdict, load_policy
from tests.tables import for_each

ALLOWS_ALL = '[[rule]]\nid = "all"\neffect = "allow"\ntools = ["@shell"]\n'

RUNS = {
    "git push --force *": [
        "git push origin main --force", "git push origin --force main", "git -C sub push origin --force",
        "cd x && git push origin main --force -v", "git push -u origin main --force", "sudo git push origin x --force",
    ],
    "git reset --hard *": ["git reset HEAD~1 --hard", "git reset -q HEAD --hard", "env A=b git reset HEAD^ --hard"],
    "kubectl delete --all *": [
        "kubectl delete pods --all", "kubectl -n x delete pods --all", "kubectl delete pods -n x --all",
    ],
    "kubectl delete --context prod *": [
        "kubectl delete --context=prod pod a", "kubectl delete pod a --context prod",
        "kubectl delete pod a --context=prod",
    ],
    "npm publish --access public *": [
        "npm publish . --access public", "npm publish --access=public", "npm publish . --access=public",
    ],
    "gh pr merge --admin *": ["gh pr merge 1 --admin", "gh pr merge 1 -s --admin", "gh pr merge --squash 1 --admin"],
    "rsync --delete *": ["rsync a b --delete", "rsync -a a/ b --delete", "rsync a --delete b"],
    "rm *": [
        "ls src | xargs -x rm -rf", "ls | xargs -0x rm", "ls | xargs -n 1 -x rm", "nice -n 5 rm a", "flock f rm a",
        "stdbuf -oL rm a",
    ],
}  # fmt: skip
"""Patterns of restrictions, and commands that do what they are about."""


def _decide(rules: str, folder: Path, **arguments: object) -> Verdict:
    policy = load_policy(f"schema = 1\n{rules}")
    return policy.decide(ToolCall("run_shell", arguments), AuthContext(workspace=str(folder), attended=True)).verdict


def _block(pattern: str) -> str:
    return f'{ALLOWS_ALL}[[rule]]\nid = "no"\neffect = "block"\nwhen.command = [\'{pattern}\']\n'


@for_each("pattern", RUNS)
def test_an_option_is_seen_wherever_it_is(pattern: str, tmp_path: Path) -> None:
    """Behind operands, joined with its value, and behind what runs the program."""
    rules = _block(pattern)
    assert [text for text in RUNS[pattern] if _decide(rules, tmp_path, command=text) is not Verdict.BLOCK] == []


def test_an_option_that_is_not_there_is_not_seen(tmp_path: Path) -> None:
    """Neither another option nor a value that has its name."""
    rules = _block("git push --force *")
    for text in (
        "git push origin main",
        "git push --force-with-lease",
        "git log --force",
    ):
        assert _decide(rules, tmp_path, command=text) is not Verdict.BLOCK, text


@for_each(
    "command",
    [
        ["git push"], ["ls", "; git push"], ["ls", ";", "git", "push"], ["bash", "-c", "git push"],
        ["ls;", "git push"], ["git", "push"], ["sh", "-c", "git push", "x"], ["env", "git", "push"],
    ],
)  # fmt: skip
def test_a_list_is_no_way_around(command: list[str], tmp_path: Path) -> None:
    """However the tool runs it; what reads is permitted as one text alone."""
    assert _decide(_block("git push *"), tmp_path, command=command) is not Verdict.ALLOW
    assert _decide('extends = ["permitry:read-only"]', tmp_path, command=command) is not Verdict.ALLOW


@for_each(("rule", "command"))
def test_an_exception_lifts_no_more_than_is_certain(rule: str, command: str, tmp_path: Path) -> None:
    """An open word may be the exception of a permission, and an assignment changes the program of one."""
    floor = "" if "'allow'" in rule else ALLOWS_ALL
    assert _decide(f'{floor}[[rule]]\nid = "r"\n{rule}\n', tmp_path, command=command) is not Verdict.ALLOW


@for_each("command")
def test_a_builtin_that_sets_path_lifts_no_exception(command: str, tmp_path: Path) -> None:
    """Another program of the name may run."""
    rules = f'{ALLOWS_ALL}[[rule]]\nid = "no"\neffect = "block"\nwhen.path = "secret/**"\nunless.command = "cat *"\n'
    assert _decide(rules, tmp_path, command=command) is not Verdict.ALLOW
    assert _decide(rules, tmp_path, command="unset COLUMNS; cat secret/k") is Verdict.ALLOW


@for_each(
    "command",
    ["git push origin main -o -- --force", "git push --receive-pack -- --force", "git push origin --repo -- --force"],
)
def test_dashes_may_be_the_value_of_an_option(command: str, tmp_path: Path) -> None:
    """What stands behind them is an option then."""
    rules = f'{ALLOWS_ALL}[[rule]]\nid = "no"\neffect = "block"\nwhen.command = "git push --force *"\n'
    assert _decide(rules, tmp_path, command=command) is not Verdict.ALLOW
    assert _decide(rules, tmp_path, command="git push origin -- --force") is Verdict.ALLOW


@for_each("command")
def test_options_of_unpackers_are_not_hidden(command: str, tmp_path: Path) -> None:
    """Letters that take values, and options in variables."""
    rules = f'{ALLOWS_ALL}[[rule]]\nid = "no"\neffect = "block"\nwhen.path = "out/**"\nwhen.access = "write"\n'
    assert _decide(rules, tmp_path, command=command) is not Verdict.ALLOW
