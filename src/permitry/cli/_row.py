"""One line of `permitry rules`; apart from the table, because that needs rich."""

import attrs


@attrs.frozen
class Row:
    """One rule of the table; `about` says which calls it means, `examples` are calls it matches."""

    phase: str
    priority: int | None
    rule_id: str
    effect: str
    about: str
    layer: str
    source: str
    examples: tuple[str, ...] = ()
