"""What `permitry hook doctor` finds out: the version of a host, its settings, and what the hook in them does."""

import json
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from permitry.config.heard import wishes_in
from permitry.config.ruleset import RuleSet
from permitry.core.decision import Verdict
from permitry.rules.configured import ConfiguredRule
from permitry_hosts.hooks.host import Effect, Host, Kind, Verb
from permitry_hosts.hooks.install import OR_BLOCK
from permitry_hosts.hooks.places import PACKAGE
from permitry_hosts.hooks.policies import is_of_user, rules_for_host

__all__ = ["Finding", "trials", "unfit", "version"]

_SECONDS = 60.0
_LONG_TEXT = 24
_BLOCKED = 2
_FEW = 3
_SHOWN = 300
_OWN = "These files belong to permitry"
_MAIN = "; from permitry.cli.main import run_from_shell; run_from_shell()"
_CHECK = "import permitry.guard.guard as g; g.Guard.check = lambda *_, **__: "
_CRASH = "import os; os.abort()"
_SILENT = "import os; os._exit(1)"
_RAISE = f"{_CHECK}1 / 0{_MAIN}"
_SLOW = f"import time; {_CHECK}time.sleep(60){_MAIN}"


@attrs.frozen
class Finding:
    """One thing that was looked at; `is_well` is None where it is only to be known."""

    check: str
    is_well: bool | None
    text: str


def version(host: Host) -> Finding:
    """Return what a host says about its version."""
    name = host.program or host.name
    # What a project has in its own folder is not the host.
    folders = [folder for folder in os.get_exec_path() if folder.startswith("/")]
    program = shutil.which(name, path=os.pathsep.join(folders))
    if program is None:
        return Finding("version", None, f"`{name}` is not on the path, so its version is not known")
    try:
        done = subprocess.run(  # noqa: S603 -- as found
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("version", False, f"`{program} --version` does not answer: {type(error).__name__}")
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", done.stdout)
    if found is None:
        return Finding("version", None, f"`{program} --version` says no version")
    if tuple(map(int, found.groups())) < host.least:
        needed = ".".join(map(str, host.least))
        return Finding("version", False, f"{found[0]} runs calls whose hook has crashed; {needed} or later is needed")
    return Finding("version", True, found[0])


@attrs.frozen
class _Trial:
    """One run of a hook: what it is to show, its words, and the payload."""

    check: str
    words: Sequence[str]
    payload: str


def trials(host: Host, words: Sequence[str], folder: Path) -> Iterator[Finding]:
    """Run the command in the settings of a host, and the same command broken, and yield what becomes of the call.

    No call is run: `words` only decide.
    """
    session = f"doctor-{os.getpid()}-{time.time_ns()}"
    # No rule of a user can permit this one.
    call = host.sample(f"rm -r {shlex.quote(str(PACKAGE))}", str(folder), session)
    event = host.read(call, {"PWD": str(folder)})
    denials = [host.write(Effect(Verb.DENY, "x" * 99), event).out, host.fail("x" * 99).out]
    at = words.index("-m")
    hook = words[words.index("hook") :]
    slow = [*hook, "--ask", "refuse", "--deadline", "1"]
    alone = {"PERMITRY_NO_RESIDENT": "1"}
    for check, tried, payload, environ in (
        ("a rule that blocks", words, json.dumps(call), {}),
        ("the next call", words, json.dumps(call), {}),
        ("garbage", words, "what?", {}),
        ("a rule that raises", [*words[:at], "-c", _RAISE, *hook], json.dumps(call), alone),
        ("a hook that crashes", [*words[:at], "-c", _CRASH, *hook], json.dumps(call), alone),
        ("a hook that ends without a word", [*words[:at], "-c", _SILENT, *hook], json.dumps(call), alone),
        ("a rule that is slow", [*words[:at], "-c", _SLOW, *slow], json.dumps(call), alone),
    ):
        begin = time.monotonic()
        done = _run(host, tried, payload, folder, environ)
        took = f"after {(time.monotonic() - begin) * 1000:.0f} ms"
        if done is None or not _is_blocked(host, done, denials):
            said = "nothing" if done is None else f"code {done.returncode}, {done.stdout.strip()[:_SHOWN] or 'no text'}"
            yield Finding(check, False, f"the call is NOT blocked: {said}, {took}")
        elif payload != "what?" and tried is words and _OWN not in done.stdout:
            yield Finding(check, False, f"all calls are blocked: {(done.stderr or done.stdout).strip()[:_SHOWN]}")
        else:
            yield Finding(check, True, f"the call is blocked, {took}")


def _run(
    host: Host, words: Sequence[str], payload: str, folder: Path, environ: Mapping[str, str]
) -> "subprocess.CompletedProcess[str] | None":
    """Return what the command says where a host runs it as its settings say; None if it does not end."""
    settings = host.settings
    if settings.text is None:
        start = ["/bin/sh", "-c", shlex.join(words) + OR_BLOCK]
    else:
        start = ["/bin/sh", "-c", settings.text(words, 1)] if settings.is_program else list(words)
    try:
        return subprocess.run(  # noqa: S603 -- what the host runs
            start, input=payload, capture_output=True, text=True, timeout=_SECONDS, cwd=folder,
            env={**os.environ, **environ}, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None


def _is_blocked(host: Host, done: "subprocess.CompletedProcess[str]", denials: Sequence[str]) -> bool:
    # The plugin throws for any other code. For all other hosts shells have made it 2, which needs
    # words to count.
    if done.returncode and host.settings.text is not None:
        return True
    if done.returncode == _BLOCKED and done.stderr.strip():
        return True
    try:
        return done.returncode == 0 and _shape(json.loads(done.stdout)) in [
            _shape(json.loads(each)) for each in denials if each
        ]
    except ValueError:
        return False


def _shape(document: Any) -> object:  # noqa: ANN401 -- any JSON
    """Return a document in which all long texts are equal."""
    if isinstance(document, dict):
        return {key: _shape(value) for key, value in document.items()}
    if isinstance(document, list):
        return [_shape(each) for each in document]
    return "text" if isinstance(document, str) and len(document) > _LONG_TEXT else document


def unfit(host: Host, rules: RuleSet, own_tools: frozenset[str], wait: float) -> Iterator[Finding]:
    """Yield what a host cannot carry out of rules."""
    asking = [rule for rule in rules_for_host(rules) if rule.effect is Verdict.CONFIRM]
    if asking and not host.asks:
        so = f"waited for, {wait:g} seconds" if wait else "refused"
        text = f"{host.name} cannot ask: the questions of {len(asking)} rules are {so}"
        yield Finding("questions", None, f"{text}, such as {_names(asking)}")
    yield from _unheard(host, rules)
    known = (own_tools | rules.tools.keys()) - host.unseen
    lost = [rule for rule in rules.rules if is_of_user(rule) and _is_lost(rule, known)]
    if lost:
        text = f"{host.name} calls no tool that these rules are about"
        yield Finding("tools", None, f"{text}: {_names(lost)}")


def _unheard(host: Host, rules: RuleSet) -> Iterator[Finding]:
    """Yield that rules ask where a value comes from, which this host does not report."""
    wanted = [(rule, wishes_in([rule.scope])) for rule in rules.rules]
    for what, is_heard, deaf in (
        ("what its user writes", Kind.PROMPT in host.hears, [rule for rule, asked in wanted if asked.user]),
        ("what calls return", Kind.AFTER in host.hears, [rule for rule, asked in wanted if asked.tools]),
    ):
        if deaf and not is_heard:
            text = f"{host.name} does not report {what} so that it is certain"
            so = f"{_names(deaf)} can permit nothing by that, and restrict each time"
            yield Finding("hearing", None, f"{text}: {so}")


def _is_lost(rule: ConfiguredRule, known: frozenset[str]) -> bool:
    """Return whether a rule names tools, and none that the host has; those of servers are not known."""
    names = [each.pattern for each in rule.scope.selectors]
    return bool(names) and all(
        each is not None and not each.text.startswith("mcp:") and not any(each.matches(name) for name in known)
        for each in names
    )


def _names(rules: Sequence[ConfiguredRule]) -> str:
    return ", ".join(f"`{rule.id}`" for rule in rules[:_FEW]) + (", …" if len(rules) > _FEW else "")
