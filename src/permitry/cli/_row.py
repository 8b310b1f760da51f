"""One line of `permitry rules`; apart from the table, because that needs rich."""

import attrs


@attrs.frozen
class Row:
    """One rule of the table; `about` says which calls it means, `examples` are calls it matches."""

    rule: str
    phase: str
    priority: int | None
    effect: str
    about: str
    layer: str
    source: str
    examples: tuple[str, ...] = ()
