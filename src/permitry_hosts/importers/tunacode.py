"""The templates of tunacode: JSON files that name the tools which need no confirmation.

Its other rules are ours already: what only reads is not asked about, the mode for plans only reads, and the list of
ignored tools lives as long as the session.
"""

import re
from collections.abc import Sequence

from permitry.errors import PermitryError
from permitry_hosts.importers.drafts import Imported, Outcome, Row, Source, Template
from permitry_hosts.importers.json_text import read_json

__all__ = ["PLACES", "read_rules"]

PLACES = ("~/.config/tunacode/templates/*.json", "~/.config/tunacode/templates/*/*.json")


def read_rules(sources: Sequence[Source]) -> Imported:
    """Return the templates of files. Raises: `PermitryError`, also for two of one name."""
    rows = [_row(source) for source in sources]
    names = [row.template.name for row in rows if row.template is not None]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise PermitryError(f"there are two templates `{repeated[0]}`; name the files of one")
    return Imported("tunacode", rows)


def _row(source: Source) -> Row:
    file = read_json(source.text, source.name)
    match file.value:
        case {"name": str(name), "description": str(description), "allowed_tools": list(tools)}:
            place = f"{source.name}:{file.lines['allowed_tools',]}"
        case _:
            raise PermitryError(
                f"`{source.name}` is not a template of tunacode: it has a name, a description and a list of tools"
            )
    said = tuple(
        dict.fromkeys(tool for tool in tools if isinstance(tool, str) and re.fullmatch(r"[A-Za-z0-9_.-]+", tool))
    )
    word = "-".join(re.findall(r"[A-Za-z0-9_.]+", name)) or "template"
    is_whole = len(said) == len(set(map(str, tools)))
    outcome = Outcome.SAME if is_whole else Outcome.STRICTER
    note = "" if is_whole else "what cannot be the name of a tool is left out"
    return Row(place, f"template {name}", "allow", (), outcome, note, template=Template(word, description, said))
