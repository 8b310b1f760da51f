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
    def identities(self) -> frozenset[ConfiguredRule]:
        """Its rules out of files, each as what it is known by."""
        return frozenset(map(same, self.rules.rules))


def _decide_by(rules: RuleSet | None) -> Decider | None:
    if rules is None:
        return None
    return Decider.of(rules)


@attrs.define
class Deciders:
    """What decides golden cases: the rules that each names, or those `given` where it names none.

    The same files are loaded once.
    """

    given: Decider | None = attrs.field(default=None, converter=_decide_by)
    _loaded: dict[tuple[str, ...], Decider] = attrs.field(factory=dict, init=False)

    def find(self, path: Path, case: GoldenCase) -> Decider:
        """Return what decides the case of a file. Raises: `ConfigError`."""
        if case.rules is None and self.given is not None:
            return self.given
        files = tuple(_find_file(path, name) for name in case.rules or ())
        if files not in self._loaded:
            self._loaded[files] = Decider.of(load_rules(list(files)))
        return self._loaded[files]


def _find_file(path: Path, name: str) -> str:
    if name.startswith(PREFIX):
        return name
    return str(path.parent / name)
