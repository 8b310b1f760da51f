"""Drafts of golden cases: calls that would notice mutants, and what the rules decide of them."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from permitry.config.catalogue import PREFIX
from permitry.core.json_values import canonical_json
from permitry.golden.check import shell_call
from permitry_ops.coverage.judge import WORKSPACE, Judge
from permitry_ops.coverage.score import Fate, Outcome, Score
from permitry_ops.diff.side import Line

__all__ = ["draft_case", "make_drafts", "write_drafts"]

_DIGITS = 6


def draft_case(judge: Judge, outcomes: Sequence[Outcome], rules: Sequence[str], folder: Path) -> dict[str, Any]:
    """Return a golden case of calls of one rule, each of which would notice a mutant, for a `folder`.

    They have one context, and one decision is made of them; `rules` as they were named. Its `why` is empty, so that it
    does not load until a human has said what would be lost.
    """
    first = outcomes[0]
    rule_id, context = first.mutant.rule.id, _context_of(first)
    asked = map(_call_of, outcomes)
    calls = list({canonical_json(call): call for call in asked}.values())
    # The same calls of the same rule have the same name whenever they are found.
    known_by: Any = [rule_id, calls, context]
    text = canonical_json(known_by)
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
    return {
        "id": f"{rule_id}-{digest}",
        "why": "",
        "rules": [_name_from(name, folder) for name in rules],
        "context": context,
        "calls": list(map(_shorten, calls)),
        "want": _want_of(judge, first),
    }


def make_drafts(judge: Judge, score: Score, rules: Sequence[str], folder: Path) -> dict[Outcome, dict[str, Any]]:
    """Return for each mutant that a call would notice the draft with this call."""
    groups: dict[str, list[Outcome]] = {}
    for each in score.among(Fate.MISSED):
        known_by: Any = [each.mutant.rule.id, _context_of(each), _want_of(judge, each)]
        groups.setdefault(canonical_json(known_by), []).append(each)
    drafts: dict[Outcome, dict[str, Any]] = {}
    for group in groups.values():
        drafts |= dict.fromkeys(group, draft_case(judge, group, rules, folder))
    return drafts


def _context_of(outcome: Outcome) -> dict[str, Any]:
    line: Line = outcome.line or {}
    return {"workspace": WORKSPACE, **line.get("context", {})}


def _call_of(outcome: Outcome) -> dict[str, Any]:
    line: Line = outcome.line or {}
    return {key: value for key, value in line.items() if key != "context"}


def _shorten(call: Mapping[str, Any]) -> str | Mapping[str, Any]:
    """Return a call as a row of `calls`: a command is its text."""
    command = call["arguments"].get("command")
    if isinstance(command, str) and call == shell_call(command):
        return command
    return call


def _want_of(judge: Judge, outcome: Outcome) -> dict[str, Any]:
    decision = judge.decide(outcome.line or {})
    return {
        "verdict": decision.verdict.value,
        "rule": decision.rule_id,
        "phase": decision.phase.value,
    }


def _name_from(name: str, folder: Path) -> str:
    """Return how a rule file is named in a case of a folder."""
    return name if name.startswith(PREFIX) else Path(os.path.relpath(name, folder)).as_posix()


def write_drafts(drafts: Iterable[Mapping[str, Any]], folder: Path) -> list[Path]:
    """Write each draft into a folder, unless a file of its name is there; return those that were written."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for draft in drafts:
        path = folder / f"{draft['id']}.json"
        if not path.exists():
            path.write_text(_show(draft), encoding="utf-8")
            written.append(path)
    return written


def _show(draft: Mapping[str, Any]) -> str:
    """Return the text of a case: each call on a line of its own."""
    text = json.dumps({**draft, "calls": []}, indent=2, ensure_ascii=False)
    shown = [json.dumps(call, ensure_ascii=False) for call in draft["calls"]]
    rows = ",\n".join(f"    {row}" for row in shown)
    return text.replace('"calls": []', f'"calls": [\n{rows}\n  ]', 1) + "\n"
