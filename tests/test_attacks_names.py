"""Attacks by names that one command finds and another gets: blanks, hyphens, links, and searches elsewhere."""

import subprocess
from pathlib import Path

import attrs
import pytest

from permitry import AuthContext, AuthorizationPolicy, ToolCall, Verdict, load_policy
from permitry.actions.extract import ReadActions
from tests.tables import for_each

_RULES = """schema = 1
[[rule]]
id = "all"
effect = "allow"
tools = ["*"]
[[rule]]
id = "no"
effect = "block"
when.path = ["~/.ssh/**", "**/.env"]
[[rule]]
id = "host"
effect = "block"
when.host = "evil.example"
[[rule]]
id = "force"
effect = "block"
when.command = ["git push -f*", "rm -f*"]
"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a work tree with a file in `src`, and others with names and links that an attacker chose."""
    top = tmp_path_factory.mktemp("names")
    key = top / "home" / ".ssh" / "id"
    work = top / "work"
    for path in (key, work / "src" / "a.py", work / "options" / "-f", Path(f"{work}/blank/a {key}")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x", encoding="utf-8")
    for folder, name in (("link", "x.py"), ("quote", "a"), ("star", "[*]"), ("newline", "a\nb"), ("slash", "a\\b")):
        (work / folder).mkdir()
        if folder == "link":
            (work / folder / name).symlink_to(key)
        else:
            (work / folder / name).write_text("x", encoding="utf-8")
    (work / "quote" / "it's").write_text("x", encoding="utf-8")
    (work / "bare").mkdir()
    _git(work, "init", "-q")
    _git(work, "add", "src")
    return work


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def policy(workspace: Path) -> AuthorizationPolicy:
    """Return a policy that allows all but two kinds of paths."""
    return attrs.evolve(load_policy(_RULES), reader=ReadActions(str(workspace.parent / "home")))


def _decide(policy: AuthorizationPolicy, workspace: Path, command: str) -> Verdict:
    context = AuthContext(workspace=str(workspace), attended=True)
    return policy.decide(ToolCall("run_shell", {"command": command}), context).verdict


@for_each("command")
def test_names_lie_below_what_was_searched(policy: AuthorizationPolicy, workspace: Path, command: str) -> None:
    """Each is what a developer types, and leads to nothing that the rule is about."""
    assert _decide(policy, workspace, command) is Verdict.ALLOW


@for_each("command")
def test_a_name_that_may_lead_elsewhere_is_asked_about(
    policy: AuthorizationPolicy, workspace: Path, command: str
) -> None:
    """By its text, by a link, or by a search that goes elsewhere."""
    assert _decide(policy, workspace, command) is not Verdict.ALLOW


@for_each(
    "command",
    ["sort -o$(date +%F) src/a.py", "sort --output=$(nproc) src/a.py", "git diff --output=$(date +%F)"],
)
def test_a_date_may_be_the_name_of_a_file(workspace: Path, command: str) -> None:
    """As the value of an option."""
    policy = load_policy(_RULES.replace("**/.env", "[0-9]*"))
    assert _decide(policy, workspace, command) is not Verdict.ALLOW


@for_each(
    "command",
    ["make -j$(nproc)", 'ninja -j "$(nproc)"', "cargo build -j$(nproc)", "ctest -j$(nproc) -V", "foo --jobs=$(nproc)"],
)
def test_a_number_is_the_name_of_a_number_alone(workspace: Path, command: str) -> None:
    """It may be a file of that name, and no other."""
    for path, verdict in (("8", Verdict.CONFIRM), ("[0-9]*.pem", Verdict.ALLOW), ("*_rsa", Verdict.ALLOW)):
        assert _decide(load_policy(_RULES.replace("**/.env", path)), workspace, command) is verdict


@for_each(
    "command", ["git ls-files | xargs cat", "cat $(git ls-files src)", "for f in $(git grep -l x); do cat $f; done"]
)
def test_a_name_in_the_index_alone_counts(tmp_path: Path, command: str) -> None:
    """Git prints it although there is no such file, and so it does with one that begins with a hyphen."""
    work = tmp_path / "work"
    (work / "src").mkdir(parents=True)
    (work / "src" / "a.py").write_text("x", encoding="utf-8")
    _git(work, "init", "-q")
    _git(work, "add", "src")
    policy = attrs.evolve(load_policy(_RULES), reader=ReadActions(str(tmp_path / "home")))
    assert _decide(policy, work, command) is Verdict.ALLOW
    number = _git(work, "hash-object", "-w", "src/a.py").strip()
    for name in (f"no/a {tmp_path}/home/.ssh/id", "-f"):
        _git(work, "update-index", "--add", "--cacheinfo", f"100644,{number},{name}")
        assert _decide(policy, work, command) is Verdict.CONFIRM
        _git(work, "rm", "-q", "--cached", "-r", "--", name.partition("/")[0])
