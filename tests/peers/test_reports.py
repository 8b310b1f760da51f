"""Cases out of public reports about peers: what users of theirs found run, asked about or refused.

Run one row with `pytest tests/peers/test_reports.py -k r3-492`.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

from permitry.config.load import load_rules
from permitry.config.ruleset import RuleSet
from permitry.core.json_values import mutable
from permitry.errors import PermitryError
from permitry.golden.request import read_request
from permitry.messages.text import TextCallStream, parse_text
from permitry_hosts.importers import HOSTS, Source, write_rules

FILE = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases" / "reports.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()] if FILE.exists() else []

# Where what is asked about would be permitted by the rule's author: a matter of fewer questions, not of holes.
ASKED_ABOUT = {
    "what is typed into `ssh` without a command may come from anywhere": "r3-651",
    "where the top of a work tree is depends on the settings of git": "r3-854",
}
KNOWN = {name: why for why, names in ASKED_ABOUT.items() for name in names.split()}

_ACCEPTED = {"not-allow": ("confirm", "block"), "not-block": ("allow", "confirm")}
_SHELLS = {"claude-code": "Bash", "codex": "Bash", "gemini": "run_shell_command", "opencode": "bash"}


class LostError(Exception):
    """An importer says that it has lost a rule."""


@pytest.mark.skipif(not ROWS, reason="the folder `shared` is not beside this checkout")
@for_each("row", ROWS, ids=[row["id"] for row in ROWS], every=4)
def test_a_report_of_a_peers_user(row: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is decided as the report asks; where that is known to be otherwise, it errs on the strict side."""
    if "call" not in row:
        assert _parse(row) == row["expected"], row["why"]
        return
    places = {name: tmp_path / name.lower() for name in ("WS", "OUT", "HOME")}
    verdict = _decide(_fill(row, places), places, monkeypatch)
    if row["id"] in KNOWN:
        assert (row["expected"], verdict) in (("allow", "confirm"), ("not-block", "block")), KNOWN[row["id"]]
        return
    assert verdict in _ACCEPTED.get(row["expected"], (row["expected"],)), row.get("why")


def test_known_rows_exist() -> None:
    """A row that is gone needs no reason."""
    assert not ROWS or KNOWN.keys() <= {row["id"] for row in ROWS}


def _fill(row: dict[str, Any], places: Mapping[str, Path]) -> dict[str, Any]:
    """Make the folders of a row, and return it with their paths."""
    for folder in places.values():
        folder.mkdir()
    text = json.dumps(row)
    for name, folder in places.items():
        text = text.replace(f"{{{name}}}", str(folder))
    filled: dict[str, Any] = json.loads(text)
    made = filled.get("workspace") or {}
    for name, content in (made.get("files") or {}).items():
        _new_path(places["WS"], name).write_text(content, encoding="utf-8")
    for name, target in (made.get("links") or {}).items():
        _new_path(places["WS"], name).symlink_to(target)
    return filled


def _new_path(folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _decide(row: dict[str, Any], places: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the verdict, or how its rules failed to load."""
    monkeypatch.setenv("HOME", str(places["HOME"]))
    rules = row.get("rules", "permitry:coding-agent")
    parts = rules if isinstance(rules, list) else [rules]
    try:
        loaded = _load(parts)
    except LostError:
        return "lost"
    except PermitryError:
        return "load-error"
    call = row["call"]
    if isinstance(call, str):
        call = {"name": _shell(parts), "arguments": {"command": call}}
    call["context"] = {"attended": True, **call.get("context", {})}
    question = read_request(call, loaded.templates, str(places["WS"]))
    return loaded.policy().decide(question.call, question.context, question.spec).verdict.value


def _load(parts: list[Any]) -> RuleSet:
    texts = []
    for part in parts:
        text = part if isinstance(part, str) else _import(part)
        texts.append(text if text.startswith("permitry:") else f"{text}\n")
    return load_rules(texts)


def _import(part: Mapping[str, Any]) -> str:
    name = part.get("file", "settings.json")
    read = HOSTS[part["import"]].read([Source(name, part["text"], is_users=bool(part.get("user")))])
    made = write_rules(read, [name])
    if any(row.is_lost for row in made.rows):
        raise LostError
    return made.text


def _shell(parts: list[Any]) -> str:
    """Return the name of the shell tool of the host that the rules are for."""
    hosts = [part["import"] for part in parts if isinstance(part, dict)]
    if "permitry:tools-claude-code" in parts:
        hosts.append("claude-code")
    return _SHELLS[hosts[0]] if hosts else "run_shell"


def _parse(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the calls in a model's text."""
    tools, form = row.get("tools"), row.get("format", "auto")
    if row.get("chunks"):
        stream = TextCallStream(tools, form)
        for chunk in row["chunks"]:
            stream.feed(chunk)
        found = stream.finish()
    else:
        found = parse_text(row["text"], tools, form, repair=bool(row.get("repair")))
    return [{"name": call.name, "arguments": mutable(call.arguments)} for call in found.calls]
