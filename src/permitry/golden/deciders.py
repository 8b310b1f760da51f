"""The rules that decide golden cases."""

import functools
from pathlib import Path

import attrs

from permitry.config.catalogue import PREFIX
from permitry.config.load import load_rules
from permitry.config.ruleset import RuleSet
from permitry.core.policy import AuthorizationPolicy
from permitry.golden.case import GoldenCase
from permitry.rules.configured import ConfiguredRule

__all__ = ["Decider", "Deciders", "same"]


def same(rule: ConfiguredRule) -> ConfiguredRule:
    """Return what a rule is known by in several rule sets: all of it but the place of its file."""
    return attrs.evolve(rule, source=None)


@attrs.frozen(eq=False)
class Decider:
    """Rules with their policy."""

    rules: RuleSet
    policy: AuthorizationPolicy

    @classmethod
    def of(cls, rules: RuleSet) -> "Decider":
        """Return some rules with their policy."""
        return cls(rules, rules.policy())

    @functools.cached_property
    def known(self) -> frozenset[ConfiguredRule]:
        """Its rules out of files, each as what it is known by."""
        return frozenset(map(same, self.rules.rules))


@attrs.define
class Deciders:
    """What decides golden cases: the rules that each names, or those `given` where it names none.

    The same files are loaded once.
    """

    given: RuleSet | None = None
    _known: dict[tuple[str, ...] | None, Decider] = attrs.field(factory=dict, init=False)

    def find(self, path: Path, case: GoldenCase) -> Decider:
        """Return what decides the case of a file. Raises: `ConfigError`."""
        named = None if case.rules is None else tuple(_find_file(name, path) for name in case.rules)
        if named not in self._known:
            rules = self.given if named is None else None
            self._known[named] = Decider.of(load_rules(list(named or ())) if rules is None else rules)
        return self._known[named]


def _find_file(name: str, path: Path) -> str:
    return name if name.startswith(PREFIX) else str(path.parent / name)
