"""Rule sets kept in memory by a process that answers many times, each as long as its files are the same."""

import os
from collections import OrderedDict
from collections.abc import Sequence

import attrs

from permitry.config.cache import RuleCache, folder_of
from permitry.config.catalogue import PREFIX, find_file
from permitry.config.origin import Origin
from permitry.config.pin import file_digest
from permitry.config.reload import _status
from permitry.config.ruleset import RuleSet

__all__ = ["RuleMemory"]

_MOST = 64
_MOST_TRIES = 3
_PLACES = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")


@attrs.frozen
class _Kept:
    rules: RuleSet
    states: dict[str, tuple[object, ...]]

    def is_valid(self) -> bool:
        """Return whether no file has changed, nor leads elsewhere."""
        return all(None not in state and state == _state(name) for name, state in self.states.items())


@attrs.define
class RuleMemory:
    """Loads rule sets as `RuleCache` does, and keeps those used last while their files are the same."""

    _kept: "OrderedDict[str, _Kept]" = attrs.field(factory=OrderedDict, init=False, repr=False)

    def load(self, origins: Sequence[Origin], tool: str | None = None) -> RuleSet:
        """Return the rule set of rule files, as `RuleCache.load` does."""
        if any(each.is_admin for each in origins):
            # They are refused where the folders above them have become others' to write.
            return RuleCache().load(origins, tool)
        key = _key(origins, tool)
        kept = self._kept.pop(key, None)
        if kept is None or not kept.is_valid():
            rules = RuleCache().load(origins, tool)
            kept = _look(origins, tool, rules)
            if kept is None:
                return rules
        self._kept[key] = kept
        while len(self._kept) > _MOST:
            self._kept.popitem(last=False)
        return kept.rules


def _look(origins: Sequence[Origin], tool: str | None, rules: RuleSet) -> _Kept | None:
    for _ in range(_MOST_TRIES):
        kept = _Kept(rules, {name: _state(name) for name in (*rules.files, *rules.links)})
        rules = RuleCache().load(origins, tool)
        # INVARIANT: the states are of the bytes that were loaded: both were looked at before and after.
        if kept.is_valid() and {*rules.files, *rules.links} == kept.states.keys():
            return _Kept(rules, kept.states)
    return None


def _state(name: str) -> tuple[object, ...]:
    """Return what identifies a version of a file, and where it is; with None for one too large."""
    path = find_file(name).absolute()
    if name.startswith(PREFIX):
        return _status(path)
    # The bytes as well: what is written through a mapping of the file may leave all its times as they were.
    return *_status(path), os.path.realpath(path), file_digest(path)


def _key(origins: Sequence[Origin], tool: str | None) -> str:
    real = [os.path.realpath(name) for each in origins for name in (each.name, each.root or "")]
    return repr((list(origins), real, tool, folder_of(origins), [os.environ.get(name) for name in _PLACES]))
