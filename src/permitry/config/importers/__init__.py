"""Rules of other hosts as rule files of ours: text in, text out; nothing is run, installed or trusted."""

from collections.abc import Callable, Mapping, Sequence

import attrs

from permitry.config.importers import claude_code, codex, gemini, inspect_ai, opencode
from permitry.config.importers.drafts import Draft, Imported, Outcome, Row, Source
from permitry.config.importers.writing import Written, written

__all__ = ["HOSTS", "Draft", "Imported", "Importer", "Outcome", "Row", "Source", "Written", "written"]


@attrs.frozen
class Importer:
    """How the rules of one host are read, and where it keeps them: in a project, or with `~/` in the home folder."""

    read: Callable[[Sequence[Source]], Imported]
    places: tuple[str, ...]


HOSTS: Mapping[str, Importer] = {
    "claude-code": Importer(claude_code.imported, claude_code.PLACES),
    "codex": Importer(codex.imported, codex.PLACES),
    "gemini": Importer(gemini.imported, gemini.PLACES),
    "inspect_ai": Importer(inspect_ai.imported, inspect_ai.PLACES),
    "opencode": Importer(opencode.imported, opencode.PLACES),
}
