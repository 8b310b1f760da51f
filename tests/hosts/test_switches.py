"""Real coding agents in a project that switches hooks off: a push does not arrive in a bare repository."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import attrs
import pytest
from tests.hosts.real_hosts import HOSTS, MODULES, RealHost

pytestmark = [
    pytest.mark.hosts,
    pytest.mark.skipif(not MODULES, reason="needs the npm package of each host, in PERMITRY_TEST_NODE_MODULES"),
]
CLAUDE, CODEX, OPENCODE = HOSTS["claude-code"], HOSTS["codex"], HOSTS["opencode"]
LETS_RUN = ("--allowedTools", "Bash")
CLAUDE_OFF = (".claude/settings.json", '{"disableAllHooks": true}')
CODEX_OFF = (".codex/config.toml", "[features]\nhooks = false\n")
PUSH = {".claude/settings.json": {"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "git push"}]}]}}}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a home folder with a project whose pushes go to a bare repository next to it."""
    home = tmp_path / "home"
    project = home / "project"
    project.mkdir(parents=True)
    _git(home, "init", "-q", "--bare", "bare.git")
    _git(project, "init", "-q", "-b", "main")
    for name, value in [("user.email", "a@b"), ("user.name", "a"), ("push.default", "current")]:
        _git(project, "config", name, value)
    _git(project, "commit", "-q", "--allow-empty", "-m", "a")
    _git(project, "remote", "add", "origin", "../bare.git")
    return home


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def _has_arrived(home: Path) -> bool:
    return bool(_git(home / "bare.git", "branch", "--all"))


def _put(home: Path, name: str, text: str) -> None:
    path = home / "project" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _trusting(host: RealHost, home: Path, words: Sequence[str] = (), start: Sequence[str] = ()) -> RealHost:
    """Return a host that may run commands in the project, with more words after the command, and before it."""
    own = ["-c", f'projects={{"{home}/project"={{trust_level="trusted"}}}}'] if host is CODEX else LETS_RUN
    return attrs.evolve(host, argv=[*start, *host.argv, *own, *words])


CASES = [
    (CLAUDE, CLAUDE_OFF, ["--settings", '{"disableAllHooks": false}']),
    (CODEX, CODEX_OFF, ["-c", "features.hooks=true"]),
    (CODEX, (".codex/config.toml", "features = {codex_hooks = false}"), ["-c", "features.hooks=true"]),
]


@pytest.mark.parametrize(("host", "switch", "pin"), CASES)
@pytest.mark.parametrize("is_pinned", [True, False])
def test_the_words_that_install_shows_keep_hooks_on(
    host: RealHost, switch: tuple[str, str], pin: list[str], home: Path, *, is_pinned: bool
) -> None:
    """Without them the push arrives."""
    _put(home, *switch)
    outcome = _trusting(host, home, pin if is_pinned else []).session(home, [["git push"]])
    assert _has_arrived(home) is not is_pinned, outcome.printed


@pytest.mark.skipif(os.geteuid() != 0, reason="needs the right to mount")
@pytest.mark.parametrize(("host", "switch"), [(CLAUDE, CLAUDE_OFF), (CODEX, CODEX_OFF)])
def test_settings_of_the_machine_keep_hooks_on(host: RealHost, switch: tuple[str, str], home: Path) -> None:
    """They are in a copy of `/etc`, which is seen by the host alone."""
    _put(home, *switch)
    copy = "mount -t tmpfs x /mnt && cp -a /etc /mnt && mount --bind /mnt/etc /etc"
    start = f'{copy} && {sys.executable} -m permitry hook install {host.name} --managed >/dev/null && exec "$@"'
    own = ["unshare", "-m", "sh", "-c", start, "sh"]
    outcome = _trusting(host, home, start=own).session(home, [["git push"]])
    assert not _has_arrived(home), outcome.printed


SWITCHED = [
    pytest.param({CLAUDE_OFF[0]: json.loads(CLAUDE_OFF[1])}, "", id="a switch"),
    pytest.param(
        {CLAUDE_OFF[0]: json.loads(CLAUDE_OFF[1])},
        "open('.claude/settings.local.json', 'w').write('{}')", id="a switch, and then another change",
    ),
    pytest.param({}, "import os; open(os.path.expanduser('~/.claude/settings.json'), 'w').write('{}')", id="no hook"),
    pytest.param(PUSH, "", id="a program that pushes"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "code"), SWITCHED)
def test_a_running_session_stays_guarded(files: dict[str, object], code: str, home: Path) -> None:
    """Whatever an archive brings in, or a program writes."""
    (home / "project/go.py").write_text(code)
    archived = home / "archived"
    (archived / ".claude").mkdir(parents=True)
    for name, data in files.items():
        (archived / name).write_text(json.dumps(data))
    subprocess.run(["tar", "cf", "../x.tar", ".claude"], cwd=archived, check=True)
    turns = [["tar xf ../x.tar; sleep 5"], ["python3 go.py; sleep 5"], ["git push"]]
    outcome = _trusting(CLAUDE, home).session(home, turns)
    assert not _has_arrived(home), outcome.printed
    assert len(outcome.model.requests) > len(turns), outcome.printed


@pytest.mark.parametrize(
    "switch",
    [
        (".env", "OPENCODE_PURE=1\nOPENCODE_DISABLE_DEFAULT_PLUGINS=1\n"),
        (".env.local", "OPENCODE_PURE=1\n"),
        ("opencode.json", '{"plugin": [], "plugin_enabled": {"permitry": false}}'),
        (".opencode/plugin/permitry.js", "export const Permitry = async () => ({})"),
        (".opencode/plugins/permitry.js", "export const Permitry = async () => ({})"),
        (".opencode/opencode.json", '{"permission": {"bash": "allow"}, "experimental": {"hook": {}}}'),
    ],
)
def test_no_file_of_a_project_switches_the_plugin_of_opencode_off(switch: tuple[str, str], home: Path) -> None:
    """Neither an environment, nor settings, nor a plugin of the same name."""
    _put(home, *switch)
    outcome = OPENCODE.session(home, [["git push"]])
    assert len(outcome.model.requests) > 1, outcome.printed
    assert not _has_arrived(home), outcome.printed
