"""Rule files as they are compiled: plain data, with what belongs to it until it is stored."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs

from permitry.conditions.scope import Scope
from permitry.config.origin import Origin
from permitry.config.plain import Plain, build_rule_set
from permitry.config.ruleset import RuleSet

__all__ = ["Compiled"]


@attrs.frozen
class Compiled:
    """Rule files as plain data, with the scopes of the rules, and the files this depends on.

    `named` has each path and its real one. `is_certain`: no file differed from its pin. `observed` is all of it, where
    the rest is without what is observed.
    """

    data: Plain
    scopes: tuple[Scope, ...]
    files: Mapping[Path, str]
    named: tuple[tuple[Path, Path], ...]
    source_files: tuple[Origin, ...]
    is_certain: bool = True
    observed: "Compiled | None" = None

    @property
    def rules(self) -> RuleSet:
        """The rule set."""
        made = attrs.evolve(build_rule_set(self.data, self.scopes), source_files=self.source_files)
        if self.observed is None:
            return made
        return attrs.evolve(made, observed=self.observed.rules)

    def watch_behind(self, obeyed: "Compiled") -> "Compiled":
        """Return what is obeyed of the same files, with all of this observed behind it."""
        data = {**obeyed.data, "files": self.data["files"], "links": self.data["links"], "observed": self.data}
        data["notices"] = [*self.data["notices"], *self._notices_on_effects(obeyed)]
        # INVARIANT: what is stored is of the bytes that it is stored for: both times the same ones were read.
        is_certain = obeyed.files.items() <= self.files.items()
        return attrs.evolve(self, data=data, scopes=obeyed.scopes, is_certain=is_certain, observed=self)

    def _notices_on_effects(self, obeyed: "Compiled") -> Iterator[str]:
        """Yield which observed rules leave nothing behind, as obeyed ones could depend on that."""
        ids = {each["id"] for each in obeyed.data["rules"]}
        observed = [each for each in self.data["rules"] if each["id"] not in ids]
        for each in observed:
            about = f"{each['source']}: rule `{each['id']}` is observed, so that its"
            if each["adds_label"] is not None:
                yield f"{about} label is not set"
            if each["budget"] is not None:
                yield f"{about} budget is not counted"
