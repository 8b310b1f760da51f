"""Names that other commands find, and the folder the shell is in: what may be a secret is never run unasked.

One file is denied, and all else allowed. Each row reaches that file in bash, or does for some value of a variable, some
output, or some name of a file; or makes a link that leads there.
"""

from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from permitry.actions.extract import ReadActions
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from tests.tables import for_each
from tests.whole_calls import EVERYTHING

_DENIED = '[[rule]]\nid = "secret"\neffect = "block"\nwhen.path = "/**/.env"\n'
_FILES = (".env", "a.txt", "b.txt", "src/a.py", "src/b.py", "docs/c.md", "sub/.env")
_LINKS = {"link": "sub", "lib/l": ".env", "lib/deep/l": "../.env", "lib/in": "/dev/stdin", "ext/up": "../sub"}


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> AuthorizationPolicy:
    """Return the policy, which looks at the disk."""
    file = tmp_path_factory.mktemp("rules") / "rules.toml"
    file.write_text(EVERYTHING + _DENIED, encoding="utf-8")
    return attrs.evolve(load_policy(file), reader=ReadActions("/home/ann"))


@pytest.fixture(scope="module")
def say(policy: AuthorizationPolicy, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Verdict]:
    """Return a function that decides a command in a project with secrets."""
    project = tmp_path_factory.mktemp("project")
    for name in _FILES:
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("", encoding="utf-8")
    (project / "lib" / "deep").mkdir(parents=True)
    (project / "ext").mkdir()
    for link, text in _LINKS.items():
        (project / link).symlink_to(text)

    def decide(text: str) -> Verdict:
        call = ToolCall("run_shell", {"command": text.replace("␤", "\n")})
        return policy.decide(call, AuthContext(workspace=str(project))).verdict

    return decide


@for_each("text", Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines())
def test_no_name_reaches_a_secret_unasked(text: str, say: Callable[[str], Verdict]) -> None:
    """Neither by itself, nor by what was put before or behind it, nor by what a link or another command makes of it."""
    assert say(text) is not Verdict.ALLOW


@for_each(
    "text",
    [
        "find src -name '*.py' -exec grep x {} \\;", "find src -name '*.py' | xargs wc -l",
        "for f in $(find src -name '*.py'); do cat \"$f\"; done",
        "find src -name '*.py' -exec ln -s {} . \\;", "find src -name '*.py' -exec ln -sT {} a \\;",
        "find src -name '*.py' -print0 | xargs -0 ln -st .", "ln -sfn a/$(date +%F) current",
        "find src -name '*.py' -exec mv {} docs \\;", "find src -name '*.py' | xargs mv -t docs",
        "cp -a src d; cat d/a.py", "mv src d && pytest d", "rsync -a src/ d; cat d/a.py", "cp -r src/* docs",
        "cat src/*", "cat */*.py", "grep -R x src", "ls ext/*", "rm ext/*", "grep -r x ext", "chmod -R 700 ext",
        "git add '*.py'", "git rm --cached '*.md'", "git clean -f '*.pyc'", "git commit -m 'a * b'", "git add src",
        "git add 'src/*'", "git stash -- 'docs/*'", "git reset -- '*.py'", "git clean -fd src",
        "psql -c 'select * from users'", "docker secret ls", "make -C src test", "tar -C src -cf x.tar a.py",
        "git -C src status", "rg -L x src", "ls -L", "aws s3 cp a.txt s3://b", "rclone copy src x:",
        "find src -type d | xargs ninja -C", "sftp h <<< 'put a.txt'", "su -s /bin/sh -c make ann",
    ],
)  # fmt: skip
def test_names_that_reach_no_secret_are_not_asked_about(text: str, say: Callable[[str], Verdict]) -> None:
    """They lie where nothing is denied, or end otherwise."""
    assert say(text) is Verdict.ALLOW


_RUN_HERE = (
    "ssh -o ProxyCommand='rm a' h ls", "ssh -o 'LocalCommand rm a' h ls", "ssh -F f h ls", "ssh -I /a.so h",
    "scp -F f a h:", "sftp -b f h", "sftp -F f h", "su -c make -s /x/sh", "runuser -s /x/sh -c make", "sudo -R /x make",
    "sudo --chdir /x make", "lftp -f f",
)  # fmt: skip


@for_each("text", _RUN_HERE)
def test_a_permission_for_a_program_is_none_for_what_an_option_has_it_run_here(text: str) -> None:
    """Though all that it runs elsewhere, or by its words, is permitted."""
    patterns = '"ssh *", "scp *", "sftp *", "su *", "runuser *", "sudo *", "make *", "lftp *"'
    policy = load_policy(f'schema = 1\n[[rule]]\nid = "p"\neffect = "allow"\nwhen.command = [{patterns}]\n')
    call = ToolCall("run_shell", {"command": text})
    assert policy.decide(call, AuthContext(workspace="/home/ann/shop")).verdict is Verdict.CONFIRM


@for_each(("text", "pattern"), [("ssh -F f h ls", "ssh -F f *"), ("su -s /x/sh -c make", "su -s /x/sh -c make")])
def test_a_pattern_that_spells_it_out_permits_it(text: str, pattern: str) -> None:
    """As it does for what a program runs otherwise."""
    policy = load_policy(f'schema = 1\n[[rule]]\nid = "p"\neffect = "allow"\nwhen.command = "{pattern}"\n')
    call = ToolCall("run_shell", {"command": text})
    assert policy.decide(call, AuthContext(workspace="/home/ann/shop")).verdict is Verdict.ALLOW


@for_each(
    "text",
    [
        "sftp h <<< '!rm a'", "lftp -c '!rm a' h", "smbclient -c '!rm a' //h/s", "psql -c 'select 1 \\g |rm a'",
        "ssh -o 'ProxyCommand rm a' h ls", "autossh -o ProxyCommand='rm a' h", "mosh --ssh='rm a' h",
        "sshfs -o ssh_command='rm a' h: d", "go test -exec 'rm a'", "bat --pager 'rm a' x",
        "mv a venv; . venv/bin/activate", "sed -i s/a/b/ x; . ./x",
        # A file that the text makes, whose name is an option for the program that is given the names.
        "cat a > -Irm; ls | xargs tar cf b", "git mv a './-Irm a'; ls | xargs -d'\\n' tar cf b",
        "curl -o ./-Irm h && git ls-files -o | xargs tar cf b",
    ],
)  # fmt: skip
def test_a_command_that_is_hidden_in_a_text_is_found(text: str) -> None:
    """By a restriction on it."""
    policy = load_policy(f'{EVERYTHING}[[rule]]\nid = "b"\neffect = "block"\nwhen.command = "rm *"\n')
    call = ToolCall("run_shell", {"command": text})
    assert policy.decide(call, AuthContext(workspace="/home/ann/shop")).verdict is not Verdict.ALLOW
