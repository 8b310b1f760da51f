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


@for_each(
    "command",
    [
        "find src -name '*.py' -exec cat {} +",
        "find src -type f -exec rm {} ';'",
        "find link -name '*.txt' -exec cat {} +",
        "find link -type f -exec cat {} +",
        "find link -exec rm {} +",
        "find blank -exec cat {} +",
        "find blank -print0 | xargs -0 cat",
        "find src | sort | head -3 | xargs wc -l",
        "find src \\( -name '*.py' -o -iname '*.c' \\) -print0 | xargs -0 -n 3 grep x",
        "grep -rl x src | xargs sed -i s/a/b/",
        "find src -name '*.py' -exec cp {} out ';'",
        "cat $(find src)",
        'cat "$(find blank)"',
        'for f in $(find src); do cat "$f" $f; done',
        "files=$(find src); wc -l $files",
        "seq 1 3 | xargs -I{} echo {}",
        "cat list | xargs -I{} echo {}",
        "git log $(git merge-base HEAD main)..HEAD",
        "tmp=$(mktemp -d); cp -r src $tmp; ls $tmp",
        "make -j$(nproc)",
        "echo > notes/$(date +%F).md",
        "[[ -z $CI && $x == y ]]",
        '[ "$(git status --porcelain)" ]',
        "source .venv/bin/activate && cat src/a.py",
        "tmp=$(mktemp -d); cp -r src $tmp; cd bare; rm -r $tmp",
        "find . -name '*.pyc' -delete",
    ],
)
def test_names_lie_below_what_was_searched(policy: AuthorizationPolicy, workspace: Path, command: str) -> None:
    """Each is what a developer types, and leads to nothing that the rule is about."""
    assert _decide(policy, workspace, command) is Verdict.ALLOW


@for_each(
    "command",
    [
        # Names that are split at blanks, or lose a quote or a backslash; wildcards that the shell expands.
        "find blank | xargs cat",
        "find blank -print0 | xargs cat",
        "find blank | xargs -0 cat",
        "find blank -print0 | tr '\\0' '\\n' | xargs cat",
        "find blank -print0 | sort | xargs -0 cat",
        "find blank | xargs -I{} cat {}",
        "find blank | xargs -d '\\n' cat",
        "find blank -print0 | xargs -0 -d ' ' cat",
        "find blank -print0 | xargs -P -0 cat",
        "find quote | xargs cat",
        "find slash | xargs cat",
        "find newline | xargs -I{} cat {}",
        "cat $(find blank)",
        "cat `find blank`",
        "cat $(find star)",
        'for f in $(find blank); do cat "$f"; done',
        "files=$(find blank); cat $files",
        "touch 'src/a /x'; find src | xargs cat",
        "IFS=/; cat $(find src)",
        # Links, and searches that follow them.
        "find link -name '*.py' -exec cat {} +",
        "find link | xargs cat",
        "cat $(find link)",
        "find -L src -exec cat {} +",
        "find src -follow -exec cat {} +",
        "ln -s ~/.ssh/id src/l; find src -exec cat {} +",
        "./make-links; find src -exec cat {} +",
        "rg -L -l x src | xargs cat",
        "grep -R -l x src | xargs cat",
        # Searches elsewhere.
        "find ~/.ssh -exec cat {} +",
        "find src ~/.ssh -exec cat {} +",
        "find ~/.ssh | grep id | xargs cat",
        "find ~/.ssh | sort | head -1 | xargs cat",
        "find ~/.ssh -print0 | sort -z | xargs -0 cat",
        "cat $(find ~/.ssh | grep id)",
        "cat ~/list | grep -v x | xargs cat",
        "echo ~/.ssh/id | sort | xargs cat",
        "find src | xargs -n1 dirname | xargs cat",
        "find src | xargs -ralist cat",
        "find src -print0 | xargs -0 -ra list cat",
        "find src | xargs -0alist cat",
        "find src | xargs -ra list ls -d | xargs cat",
        "find blank -print0 | xargs -0 -rd ' ' cat",
        "find src -help | xargs cat",
        # Folders that a pattern names, or whose name is split; links in a folder that was found.
        "cat $(find star/*)",
        "find lin* -name '*.py' -exec cat {} +",
        "find li?k/* -exec cat {} +",
        "rg -l x link/* | xargs cat",
        "grep -l x link/* | xargs cat",
        "cat $(find 'a x/../src')",
        "cat $(rg -l x 'a x/../src')",
        "find 'a x/../src' | xargs cat",
        "find link -type d -exec grep -R x {} +",
        "find link -type d -exec cp -rL {} out ';'",
        "x=$(find blank); cd bare && cat $x",
        "x=$(find . -name a.py); cd bare && cat $x",
        "x=$(ls blank | head -1); cd bare && cat $x",
        "for f in $(find blank); do (cd bare && cat $f); done",
        "x=$(rg -l x blank); cd bare && rm $x",
        # In the folder of each file, a relative path leads elsewhere.
        "find src -execdir cat ../.env ';'",
        "find src -execdir cat {} ../.env ';'",
        "find src -okdir cat .env ';'",
        # An archive or a patch that was found, a folder in which one is unpacked, and a link.
        "find src -name '*.zip' -exec unzip {} ';'",
        "unzip $(find src -name '*.zip')",
        "find src -name '*.diff' -exec git apply {} ';'",
        "find src -name '*.diff' | xargs -n1 patch -p1 -i",
        "find . -name src -exec tar xf a.tar -C {} ';'",
        "find src -type f -exec ln -sf ../../home/.ssh/id {} ';'",
        "find src -type f -exec ./x {} ';' -exec cat {} ';'",
        "tmp=$(mktemp); ln -s ../home/.ssh/id $tmp; cat $tmp",
        "find -D tree ~/.ssh -exec cat {} +",
        "find $x -exec cat {} +",
        "find src/.. -name '*' -exec cat ../home/.ssh/id {} +",
        "cat $(find ~ -name id)",
        "for f in $(find ~/.ssh); do cat $f; done",
        "git ls-files ../home | xargs cat",
        "git ls-files :/ | xargs cat",
        "git diff --name-only main | xargs cat",
        "GIT_DIR=/x git ls-files | xargs cat",
        "./find src | xargs cat",
        "find src | ./sort | xargs cat",
        "PATH=. ; cat $(nproc)",
        "nproc() { echo ~/.ssh/id; }; cat $(nproc)",
        "TMPDIR=.env; cat $(mktemp)",
        # More than the name itself.
        "find src -exec cat ~/.ssh/{} ';'",
        "find src -exec cat {}/../../../home/.ssh/id ';'",
        "find src | xargs -I% cat %/../../../home/.ssh/id",
        "find src -exec sh -c 'cat ~/.ssh/id' ';'",
        "find src -exec xargs -a {} cat ';'",
        "find src | xargs -a list cat",
        "find src | xargs cat < list",
        "cat list | xargs cat",
        "find src -exec cp {} ~/.ssh ';'",
        "cat $(find src)/../../../home/.ssh/id",
        "for f in $(find src); do cat ~/$f; done",
        "for f in $(find src); do f=/x; cat $f; done",
        "x=$(find src); x=$y; cat $x",
        "cat ~/.ssh/$(date +%F)",
        "cat $(date +.env)",
        "cat $(echo .env)",
        "tmp=$(mktemp -d); tmp=$y; rm -r $tmp",
        "[[ -f ~/.ssh/id ]]",
        "[[ a -nt ~/.ssh/id ]]",
        ". ./x; cat .env",
        # Tests of `find` that look like others.
        "find . -exec cat {} + -name '*.py'; cat .env",
        "find .. -name '*.py' -o -exec cat {} +",
        "find .. ! -name '*.py' -exec cat {} +",
        "find .. -name '*.py' , -exec cat {} +",
        "find .. -path -name -o -name '*.py' -o -exec cat {} +",
        "find .. -name 'i[d]' -exec cat {} +",
        "find .. -iname 'ID' -exec cat {} +",
        "find .. -name '*' -exec cat {} +",
        "find .. -exec grep -name '*.py' {} + -exec cat {} +",
    ],
)
def test_a_name_that_may_lead_elsewhere_is_asked_about(
    policy: AuthorizationPolicy, workspace: Path, command: str
) -> None:
    """By its text, by a link, or by a search that goes elsewhere."""
    assert _decide(policy, workspace, command) is not Verdict.ALLOW


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
