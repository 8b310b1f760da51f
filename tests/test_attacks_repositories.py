"""What git brings from a patch, a branch, an index or a stash: names that are not in the command."""

import subprocess
from pathlib import Path

import pytest

from permitry import AuthContext, AuthorizationPolicy, ToolCall, Verdict, load_policy
from tests.tables import for_each

ALLOW, CONFIRM, BLOCK = Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK

DIFF = "diff --git a/{0} b/{0}\nnew file mode 100644\n--- /dev/null\n+++ b/{0}\n@@ -0,0 +1 @@\n+x\n"
MAIL = "From 0 Mon Sep 17 00:00:00 2001\nFrom: a <a@b.example>\nSubject: [PATCH] x\n\n---\n {0} | 1 +\n\n{1}-- \n2.39\n"
TASKS, SECRET, SETTINGS = ".vscode/tasks.json", "src/.env", ".claude/settings.json"


def git(folder: Path, *words: str) -> None:
    """Run git."""
    who = ("-c", "user.name=n", "-c", "user.email=e@b.example", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def put(folder: Path, *names: str) -> None:
    """Write files."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a work tree, with a branch `evil` and patches that bring protected files, and an empty home next to it."""
    top = tmp_path_factory.mktemp("git")
    work = top / "work"
    for name in ("home", "work", "empty"):
        (top / name).mkdir()
    git(work, "init", "-q")
    put(work, "src/a.py", "lib/b.py")
    git(work, "add", ".")
    git(work, "commit", "-qm", "one")
    git(work, "checkout", "-qb", "evil")
    put(work, TASKS, SECRET, SETTINGS)
    git(work, "add", "-f", ".")
    git(work, "commit", "-qm", "two")
    git(work, "checkout", "-q", "main")
    for file, name in (("bad", TASKS), ("good", "src/a.py")):
        (work / f"{file}.patch").write_text(DIFF.format(name))
        (work / f"{file}.mbox").write_text(MAIL.format(name, DIFF.format(name)))
    return work


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch, repository: Path) -> None:
    """Leave out the settings of the user and of the machine."""
    monkeypatch.setenv("HOME", str(repository.parent / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def guarded(*paths: str) -> AuthorizationPolicy:
    """Return a policy that allows all commands, and blocks writing to some paths."""
    listed = ", ".join(f'"{path}"' for path in paths)
    return load_policy(
        'schema = 1\n[[rule]]\nid = "all"\neffect = "allow"\ntools = ["@shell"]\n'
        f'[[rule]]\nid = "no"\neffect = "block"\nwhen.path = [{listed}]\nwhen.access = "write"\n'
    )


GUARDED = guarded(".vscode/**", SECRET)


def verdict(workspace: Path, command: str, policy: AuthorizationPolicy = GUARDED) -> Verdict:
    """Return what is decided about a command."""
    context = AuthContext(workspace=str(workspace), attended=True)
    return policy.decide(ToolCall("run_shell", {"command": command}), context).verdict


@for_each("command")
def test_what_is_in_a_patch_or_a_branch_is_what_is_written(repository: Path, command: str) -> None:
    """The file is not there, and not named."""
    assert verdict(repository, command) is BLOCK


@for_each("command")
def test_what_brings_no_such_file_is_not_asked_about(repository: Path, command: str) -> None:
    """Other files, other folders, the index alone; and what moves the whole tree is as it was."""
    assert verdict(repository, command) is ALLOW


@for_each("command")
def test_what_cannot_be_read_is_asked_about(repository: Path, command: str) -> None:
    """No such file or reference, another repository, or one that the rest of the command may change."""
    assert verdict(repository, command) is CONFIRM


@for_each("command")
def test_another_work_tree_may_get_any_name(repository: Path, command: str) -> None:
    """A restriction on a path below it asks; a home folder that holds something gets no clone."""
    policy = guarded("~/.ssh/**")
    assert verdict(repository, command, policy) is CONFIRM
    assert verdict(repository, command.replace("~", "../empty").replace("$HOME", "../empty"), GUARDED) is ALLOW or (
        command.startswith(("cd", "git clone"))
    )
    if "git clone" in command:
        put(repository.parent / "home", "x")
        assert verdict(repository, command, policy) is ALLOW
        (repository.parent / "home" / "x").unlink()


@for_each("command")
def test_an_option_that_is_taken_back_excludes_nothing(repository: Path, command: str) -> None:
    """Of `--check --no-check`, of an abbreviation of `--apply`, and of a choice that a pipe makes."""
    assert verdict(repository, command) is not ALLOW


@for_each("command")
def test_a_template_by_any_spelling_brings_hooks(repository: Path, command: str) -> None:
    """By an option, an abbreviation, a setting or a variable."""
    policy = guarded("/**/.git/hooks/**")
    assert verdict(repository, command, policy) is not ALLOW
    assert verdict(repository, "git -c init.defaultBranch=main init x", policy) is ALLOW
    assert verdict(repository, "git clone -c core.autocrlf=false . x", policy) is ALLOW


@for_each("encoding", ["7bit (base64)", "8bit\n base64", "binary, quoted-printable", "base64"])
def test_a_mail_that_may_be_encoded_is_not_read(repository: Path, encoding: str) -> None:
    """Git looks for the word anywhere in the header."""
    mail = (repository / "good.mbox").read_text()
    (repository / "odd.mbox").write_text(mail.replace("Subject", f"Content-Transfer-Encoding: {encoding}\nSubject"))
    assert verdict(repository, "git am odd.mbox") is CONFIRM
    (repository / "odd.mbox").unlink()


def test_files_that_are_there_are_not_certain_to_change(repository: Path) -> None:
    """Git leaves those alone that are as they were."""
    put(repository, TASKS)
    commands = ("git checkout evil -- .", "git read-tree -u evil")
    found = [verdict(repository, each, guarded(path)) for each in commands for path in (TASKS, SECRET)]
    (repository / TASKS).unlink()
    (repository / ".vscode").rmdir()
    assert found == [CONFIRM, BLOCK] * 2


def test_a_stash_brings_what_is_in_it(repository: Path) -> None:
    """Tracked and untracked files, of the newest or of another one."""
    for name, expected in (("src/c.py", ALLOW), (TASKS, BLOCK)):
        put(repository, name)
        git(repository, "stash", "push", "-u", "--", name)
        for words in ("pop", "apply", "apply --index stash@{0}", "pop -q 0", "branch x"):
            assert verdict(repository, f"git stash {words}") is expected, (name, words)
    assert verdict(repository, "git stash apply 1") is ALLOW
    git(repository, "stash", "clear")


def test_the_index_brings_what_is_deleted(repository: Path) -> None:
    """It may hold what no commit of the branch does."""
    git(repository, "read-tree", "evil")
    commands = ("git checkout .", "git checkout -- .", "git restore src", "git checkout-index -a", "git restore '*'")
    found = [verdict(repository, command) for command in commands]
    git(repository, "read-tree", "HEAD")
    assert found == [BLOCK] * len(commands)


def test_a_new_repository_gets_what_is_in_its_template(repository: Path) -> None:
    """Hooks, above all."""
    put(repository, "template/hooks/pre-commit")
    policy = guarded("**/.git/hooks/pre-commit")
    commands = ("git init --template=template new", "cd lib && git init -q --template ../template", "git init new")
    assert [verdict(repository, command, policy) for command in commands] == [BLOCK, BLOCK, ALLOW]
    (repository / "template" / "hooks" / "pre-commit").unlink()


def test_a_mail_that_is_encoded_is_not_read(repository: Path) -> None:
    """Its lines are others than those that git applies."""
    mail = (repository / "good.mbox").read_text()
    for encoding, expected in (("base64", CONFIRM), ("Quoted-Printable", CONFIRM), ("8bit", ALLOW)):
        text = mail.replace("Subject", f"Content-Transfer-Encoding:\n {encoding}\nSubject")
        (repository / "coded.mbox").write_text(text)
        assert verdict(repository, "git am coded.mbox") is expected


def test_a_patch_in_the_command_is_read(repository: Path) -> None:
    """The here-document is all that git reads."""
    command = "git apply --index <<'E'\n{}E"
    assert verdict(repository, command.format(DIFF.format(TASKS))) is BLOCK
    assert verdict(repository, command.format(DIFF.format("src/a.py"))) is ALLOW


def test_no_permission_for_paths_covers_what_git_brings(repository: Path) -> None:
    """Git may run programs that a configuration file names."""
    policy = load_policy('schema = 1\n[[rule]]\nid = "src"\neffect = "allow"\nwhen.path = ["**"]\n')
    brings = (
        "restore -s evil src",
        "checkout evil -- src",
        "apply good.patch",
        "am good.mbox",
        "stash pop",
        "restore .",
    )
    assert {verdict(repository, f"git {words}", policy) for words in brings} == {CONFIRM}


def test_a_pattern_of_git_is_not_about_the_folder_itself(repository: Path) -> None:
    """A rule about the whole workspace is about commands that name it, or all but a part of it."""
    policy = guarded(".", "[*]")
    narrow = (
        "restore '*.py'",
        "checkout HEAD -- 'a*'",
        "checkout HEAD -- ':/src'",
        "apply good.patch",
        "read-tree -u main",
    )
    assert {verdict(repository, f"git {words}", policy) for words in narrow} == {ALLOW}
    wide = (
        "restore .",
        "checkout HEAD -- :/",
        "checkout HEAD -- ':!src'",
        "restore ../work",
        "restore '*'",
        "restore ./",
    )
    assert {verdict(repository, f"git {words}", policy) for words in wide} <= {CONFIRM, BLOCK}


def test_a_rule_on_everything_is_about_what_git_brings(repository: Path) -> None:
    """Where that is not known, it asks."""
    policy = guarded("**")
    commands = {"git apply good.patch": BLOCK, "git checkout evil -- '*.json'": BLOCK, "git stash pop": CONFIRM}
    for command, expected in commands.items():
        assert verdict(repository, command, policy) is expected, command


@for_each(("name", "expected"), [("hooks", BLOCK), ("persistence", CONFIRM)])
def test_the_shipped_sets_see_settings_that_another_commit_brings(
    repository: Path, name: str, expected: Verdict
) -> None:
    """What the commit or the index holds that is here already is no news."""
    policy = load_policy(
        f'schema = 1\nextends = ["permitry:{name}"]\n[[rule]]\nid = "all"\neffect = "allow"\ntools = ["@shell"]\n'
    )
    for words in (
        "checkout evil -- .",
        "checkout evil .claude",
        "restore -s evil .",
        "restore --source=evil -- .claude",
    ):
        assert verdict(repository, f"git {words}", policy) is expected, words
    for words in ("checkout evil -- src/a.py", "switch evil", "checkout -b .husky", "stash", "add .vscode"):
        assert verdict(repository, f"git {words}", policy) is ALLOW, words
    git(repository, "stash", "clear")
    put(repository, ".envrc")
    git(repository, "stash", "push", "-u", "--", ".envrc")
    assert verdict(repository, "git stash pop", policy) is CONFIRM
    git(repository, "stash", "clear")
    for words in ("checkout --", "checkout", "checkout -q --", "checkout HEAD --", "restore", "restore --staged"):
        assert verdict(repository, f"git {words} .husky/pre-commit", policy) is ALLOW, words
