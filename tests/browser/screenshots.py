"""Draws the pictures of the inbox in the documentation: `python -m tests.browser.screenshots`."""

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import attrs
from tests.browser.chromium import browsing
from tests.unit.permitry_ops.inbox.inboxes import MemoryInbox, serving, trying
from tests.unit.permitry_ops.inbox.people import ANN

from permitry.channels.request import effect_lines
from permitry.config.default import create_default_authorization_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry_ops.inbox.stored import Shown
from permitry_ops.inbox.trial import Start

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "how-to"
_COMMAND = "cd web && npm test && (rm -rf build; cp -r dist /srv/www)"
RULES = """\
schema = 1
description = "What an agent may do in the shop."
extends = ["permitry:base"]

[[rule]]
id = "tests"
effect = "allow"
reason = "runs the tests"
when.command = ["npm test", "npm run lint *"]

[[rule]]
id = "pushes"
effect = "block"
reason = "pushes to a shared branch"
when.command = ["git push *"]
message = "Say what is ready; the user pushes."
"""
"""Rules, and how they are changed, in the pictures of the page to try rules."""
CHANGED = RULES.replace('"git push *"', '"git push * main"').replace('"npm test"', '"npm test *"')
_DIFF = '--- a/deploy.toml\n+++ b/deploy.toml\n@@ -1,3 +1,3 @@\n [server]\n-replicas = 2\n+replicas = 8\n region = "eu"'


def questions() -> dict[str, Shown]:
    """Return what is asked in the pictures."""
    call = ToolCall("run_shell", {"command": _COMMAND})
    request = create_default_authorization_policy().request(call, AuthContext())
    shell = Shown(
        "51c0ffee", "9f2d61c0a7", "run_shell", {"command": _COMMAND}, "copies files to where they are served",
        rule="deploys", source="rules.toml:14", session="claude-code:0c1f2d3e-4a5b", agent="main", left=840.0,
        age=60.0, folder="/home/ann/shop", effects=effect_lines(request.actions), remember="",
    )  # fmt: skip
    edit = attrs.evolve(
        shell, id="77aa01bc", digest="3b1c", tool="edit_file", effects=(), left=3_300.0, age=300.0,
        preview=_DIFF, path="deploy.toml",
        reason="changes how many servers run", rule="replicas", source="rules.toml:31",
        arguments={"path": "deploy.toml", "old": "2", "new": "8"},
    )  # fmt: skip
    mail = attrs.evolve(
        shell, id="0d15ea5e", digest="77aa", tool="mcp:mail/send", effects=(), left=45.0, rule="", source="",
        agent="writer", reason="no rule allows this call", arguments={"to": "ops@example.com", "subject": "Done"},
    )  # fmt: skip
    return {shown.id: shown for shown in (shell, edit, mail)}


def events(path: Path) -> None:
    """Keep a record of a day."""
    tools = (
        ("read_file", "allow", 41), ("run_shell", "confirm", 17), ("run_shell", "allow", 30),
        ("edit_file", "confirm", 12), ("edit_file", "block", 2), ("http_get", "block", 6), ("http_get", "allow", 9),
    )  # fmt: skip
    rules = {"allow": "reads", "confirm": "deploys", "block": "no-secrets"}
    lines: list[dict[str, Any]] = []
    for tool, verdict, count in tools:
        for number in range(count):
            at = f"2026-11-23T{8 + number % 7:02}:{number * 7 % 60:02}:{len(lines) % 60:02}.000+00:00"
            common: dict[str, Any] = {"at": at, "session": "build-7", "tool": tool, "call_id": f"c{len(lines)}"}
            argument = {"command": f"npm run s{number}"} if tool == "run_shell" else {"path": f"src/part{number}.py"}
            lines.append(
                {**common, "event": "decided", "verdict": verdict, "rule": rules[verdict], "arguments": argument}
            )
            if verdict == "confirm":
                lines += [{**common, "event": "asked"}, {**common, "event": "answered", "approved": number % 4 > 0}]
            if verdict == "allow":
                lines.append(
                    {**common, "event": "finished", "outcome": "ok", "seconds": 0.02 * (number % 9) + len(tool) / 90}
                )
    lines.sort(key=lambda line: str(line["at"]))
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def type_in(field: str, text: str) -> str:
    """Return a script that writes a text into a field, as keys do."""
    element = f"document.getElementById('{field}')"
    return f"{element}.value = {json.dumps(text)}; {element}.dispatchEvent(new Event('input', {{bubbles: true}}))"


def main() -> None:
    """Draw them: one a page; a question and rules on a phone as well, in dark mode."""
    with tempfile.TemporaryDirectory() as name:
        record = Path(name) / "audit.jsonl"
        events(record)
        with serving(MemoryInbox(questions()), record) as (app, origin), browsing(Path(name) / "browser") as page:
            page.look(width=800)
            page.open(f"{origin}/login")
            page.screenshot(FOLDER / "inbox-login.png")
            page.open(f"{origin}/login#{app.access.link(ANN)}")
            page.wait("document.querySelector('.who')")
            shots = (
                ("/", "inbox", 800), ("/questions/51c0ffee", "inbox-question", 800),
                ("/questions/77aa01bc", "inbox-phone", 400),
                ("/audit?verdict=block", "inbox-audit", 800), ("/stats", "inbox-stats", 800),
            )  # fmt: skip
            for path, picture, width in shots:
                page.look(width=width, dark=picture == "inbox-phone")
                page.open(f"{origin}{path}")
                time.sleep(0.3)
                page.screenshot(FOLDER / f"{picture}.png")
        with trying(Start(RULES, "rules.toml")) as (trial, origin), browsing(Path(name) / "another") as page:
            page.open(f"{origin}/login#{trial.access.link(ANN)}")
            page.wait("document.getElementById('try') && document.readyState === 'complete'")
            for picture, width in (("try-rules", 1200), ("try-rules-phone", 400)):
                page.look(width=width, dark=width < 600)
                page.run(type_in("command", "cd web && git push origin main"))
                page.run(type_in("rules", CHANGED if width > 600 else CHANGED.replace("effect =", "efect =", 1)))
                page.wait("!document.getElementById('try').hasAttribute('aria-busy')")
                page.wait(
                    f"document.getElementById('{'change' if width > 600 else 'problems'}').innerText.includes(':')"
                )
                page.screenshot(FOLDER / f"{picture}.png")


if __name__ == "__main__":
    main()
