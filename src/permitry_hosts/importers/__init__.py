"""Rules of other hosts as rule files of ours: text in, text out; nothing is run, installed or trusted."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import attrs

from permitry.config.rule_text import Draft
from permitry_hosts.importers import claude_code, codex, gemini, inspect_ai, opencode, tunacode
from permitry_hosts.importers.drafts import Imported, Outcome, Row, Source
from permitry_hosts.importers.rule_file import Written, write_rules

__all__ = [
    "HOSTS",
    "Draft",
    "Imported",
    "Importer",
    "Outcome",
    "Row",
    "Source",
    "Written",
    "usual_files",
    "write_rules",
]


@attrs.frozen
class Importer:
    """How the rules of one host are read, and where it keeps them: in a project, with `~/` at home, or at a path."""

    read: Callable[[Sequence[Source]], Imported]
    places: tuple[str, ...]


HOSTS: Mapping[str, Importer] = {
    "claude-code": Importer(claude_code.read_rules, claude_code.PLACES),
    "codex": Importer(codex.read_rules, codex.PLACES),
    "gemini": Importer(gemini.read_rules, gemini.PLACES),
    "inspect_ai": Importer(inspect_ai.read_rules, inspect_ai.PLACES),
    "opencode": Importer(opencode.read_rules, opencode.PLACES),
    "tunacode": Importer(tunacode.read_rules, tunacode.PLACES),
}


def usual_files(host: str, project: Path, home: Path) -> list[tuple[str, Path]]:
    """Return the rule files of a host that are there, each with the name that is shown, in the order of the places."""
    found = []
    for place in HOSTS[host].places:
        if place.startswith("/"):
            found += [(place, Path(place))]
            continue
        root = home if place.startswith("~/") else project
        for path in sorted(root.glob(place.removeprefix("~/"))):
            shown = f"~/{path.relative_to(home)}" if root is home else str(path.relative_to(project))
            found += [(shown, path)]
    return [(shown, path) for shown, path in found if path.is_file()]
