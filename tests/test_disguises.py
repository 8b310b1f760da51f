"""A blocked command in disguise: each text runs it, or may, and so never runs unasked where all others do."""

from pathlib import Path

import pytest

from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from tests.tables import for_each

# Each line runs `git push` in bash, or does for some value of a variable, some input or some file; `␤` is a newline.
_LISTED = Path(__file__).with_name("disguises.txt").read_text(encoding="utf-8").splitlines()
_RULES = """
schema = 1
[[rule]]
id = "commands"
effect = "allow"
tools = ["@shell"]
[[rule]]
id = "no-push"
effect = "block"
when.command = ["git push *"]
"""


@pytest.fixture(scope="module")
def policy() -> AuthorizationPolicy:
    """Return a policy that permits every command but one."""
    return load_policy(_RULES)


def _verdict(policy: AuthorizationPolicy, command: str) -> Verdict:
    return policy.decide(ToolCall("bash", {"command": command}), AuthContext(workspace="/w")).verdict


@for_each(
    "command",
    [
        # The text of a shell begins with an assignment.
        "/bin/sh -c 'x=1; git push'", "/usr/bin/bash -c 'x= git push'", "exec bash -c 'x=1; git push'",
        "find a -exec sh -c 'x=1; git push' \\;", "busybox sh -c 'x=1; git push'",
        # Options behind `-c`, and those that take a value.
        "setsid -w bash -c +x 'git push'", "setsid -w bash -c +o pipefail 'git push'",
        "setsid -w bash -co pipefail 'git push'", "setsid -w bash -xco pipefail 'git push'",
        "setsid -w bash -Oc extglob 'git push'", "bash -c -- 'git push'",
        # Builtins that run texts.
        "eval -- git push", 'eval -- "git push"', "builtin eval -- git push", "trap 'eval -- git push' EXIT",
        "history -s 'git push'; fc -s", "history -s 'x push'; fc -s x=git", "fc -e - git",
        "compgen -W '<(git push)'", "compgen -W '$(git push)'",
        # Variables whose value is run.
        "read OPTIND <<< 'a[$(git push)]'", "read PS4 <<< '$(git push)'; set -x; true", "printf -v PS4 x",
        "export BASH_ENV=f", "mapfile SECONDS <<< 'a[x]'",
        "read BASH_ENV <<< '$(git push)'; export BASH_ENV; bash -c true", "printf -vOPTIND '%b' 'a[x]'",
        # Standard input as a script.
        "cd /dev && . ./stdin <<< 'git push'", "cd /dev/fd && . ./0 <<< 'git push'",
        # What git runs.
        "git -c remote.x.url='ext::git push' -c protocol.ext.allow=always fetch x",
        'git -c protocol.ext.allow=always ls-remote "ext::sh -c x=1;git% push"',
        "git filter-branch -f --setup 'git push'",
    ],
)  # fmt: skip
def test_a_disguise_does_not_help(policy: AuthorizationPolicy, command: str) -> None:
    """Whether it is blocked or asked about, it does not run unasked."""
    assert _verdict(policy, command) is not Verdict.ALLOW


@for_each("line", _LISTED)
def test_a_listed_disguise_does_not_help(policy: AuthorizationPolicy, line: str) -> None:
    """The same, for what the constructs that the strict reader knows let one write."""
    assert _verdict(policy, line.replace("␤", "\n")) is not Verdict.ALLOW


@for_each(
    "command",
    [
        "/bin/sh -c 'x=1; echo $x'", "eval -- ls",
        "history -s 'make test'", "fc -l", "read -r name <<< 'a b'", "mapfile -t lines",
        "git -c remote.x.url='ext::ls' fetch x", "git commit -m 'docs: ext::git push is stopped'", "unset BASH_ENV",
        "printf %s SECONDS",
        'git grep -e "$x"', "git log | xargs git show", 'ssh -p "$p" h ls', 'rsync -e "ssh -p 22" a h:b',
        "ls | xargs sed -i s/a/b/", "find . -print0 | xargs -0 tar cf a.tar", "git ls-files | sort | xargs wc -l",
        "alias", "alias | grep ls", "shopt | grep login", "crontab -l", "echo '{}' | python -m json.tool",
        "cat > a.py <<'E'\nprint(1)\nE\npython a.py", "cp a b; /bin/ls", "chmod +x *.sh; ./a", 'mv "$x" b; ls',
        'for f in *; do cp "$f" /tmp; done', 'find "$d" -name "$n" -exec rm {} \\;', "read -p 'Go on [y/n]? ' answer",
        "if [[ $x == a ]]; then ls # b\nfi", 'while read -r x; do echo "$x"; done < f', "set -e; ls",
        "eval 'x=1'; ls", "source f; ls", "wait $!", "sort -k 2 -t , f", 'kill "$pid"', 'make -j"$(nproc)"',
        "alias ll='ls -l'", ". ./venv/bin/activate", "git fetch origin",
    ],
)  # fmt: skip
def test_what_looks_alike_runs(policy: AuthorizationPolicy, command: str) -> None:
    """A needless question is a defect as well."""
    assert _verdict(policy, command) is Verdict.ALLOW
