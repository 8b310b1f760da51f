"""Drafts of golden cases: a call that would notice a mutant, and what the rules decide of it."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from permitry.config.catalogue import PREFIX
from permitry.core.json_values import canonical_json
from permitry_ops.coverage.judge import WORKSPACE, Judge
from permitry_ops.coverage.score import Fate, Outcome, Score

__all__ = ["draft_case", "make_drafts", "write_drafts"]

_DIGITS = 6


def draft_case(judge: Judge, outcome: Outcome, rules: Sequence[str], folder: Path) -> dict[str, Any]:
    """Return a golden case of the call that would notice a mutant, for a `folder`; `rules` as they were named.

    Its `why` is empty, so that it does not load until a human has said what would be lost.
    """
    line: Mapping[str, Any] = outcome.line or {}
    call = {key: value for key, value in line.items() if key != "context"}
    context = {"workspace": WORKSPACE, **line.get("context", {})}
    rule_id = outcome.mutant.rule.id
    # The same call of the same rule has the same name whenever it is found.
    known_by: Any = [rule_id, call, context]
    digest = hashlib.sha256(canonical_json(known_by).encode()).hexdigest()[:_DIGITS]
    decision = judge.decide(line)
    want = {"verdict": decision.verdict.value, "rule": decision.rule_id, "phase": decision.phase.value}
    named = [_name_from(name, folder) for name in rules]
    return {
        "id": f"{rule_id}-{digest}",
        "why": "",
        "rules": named,
        "context": context,
        "call": call,
        "want": want,
    }


def make_drafts(judge: Judge, score: Score, rules: Sequence[str], folder: Path) -> dict[Outcome, dict[str, Any]]:
    """Return a draft for each mutant that a call would notice."""
    missed = score.among(Fate.MISSED)
    return {each: draft_case(judge, each, rules, folder) for each in missed}


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
            path.write_text(json.dumps(draft, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
            written.append(path)
    return written
