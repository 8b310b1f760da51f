"""One line of `permitry rules`; apart from the table, because that needs rich."""

from collections.abc import Iterable, Iterator, Mapping

import attrs

from permitry.core.texts import one_line

COLUMNS = ("phase", "priority", "id", "effect", "about", "layer", "source", "examples")


@attrs.frozen
class Row:
    """One rule of the table; `about` says which calls it means, `examples` are calls it matches.

    One that `is_observed` is decided and recorded, and obeyed in nothing.
    """

    rule: str
    phase: str
    priority: int | None
    effect: str
    about: str
    layer: str
    source: str
    examples: tuple[str, ...] = ()
    is_observed: bool = False

    @property
    def cells(self) -> Mapping[str, str]:
        """The texts of the columns, whole and without line ends."""
        count = len(self.examples)
        texts = {
            "phase": self.phase,
            "priority": "" if self.priority is None else str(self.priority),
            "id": self.rule,
            "effect": f"{self.effect} (observed)" if self.is_observed else self.effect,
            "about": self.about,
            "layer": self.layer,
            "source": self.source,
            "examples": f"{count}: {', '.join(self.examples)}" if count else "0",
        }
        return {name: one_line(text) for name, text in texts.items()}


def lines_of(rows: Iterable[Row], columns: Iterable[str]) -> Iterator[str]:
    """Yield a line of names, and one for each row, the cells separated by tabs: no row changes the line of another."""
    names = list(columns)
    yield "\t".join(names)
    for row in rows:
        cells = row.cells
        yield "\t".join(cells[name].replace("\t", "\\t") for name in names)
