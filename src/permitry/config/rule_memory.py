"""Rule sets kept in memory by a process that answers many times, each as long as its files are the same."""

import os
import time
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

import attrs

from permitry.config.cache import RuleCache, _depends_on_folder
from permitry.config.origin import Origin
from permitry.config.pin import file_digest
from permitry.config.reload import _TICK, _FileState, _path, _status
from permitry.config.ruleset import RuleSet

__all__ = ["RuleMemory"]

_MOST = 64
_MOST_TRIES = 3
_PLACES = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")


@attrs.frozen
class _Kept:
    rules: RuleSet
    states: dict[Path, _FileState]

    def is_valid(self) -> bool:
        """Return whether no file has changed; of one written just before it was read, the bytes are compared."""
        return all(
            state.status == _status(path) and (state.is_settled or state.digest == file_digest(path))
            for path, state in self.states.items()
        )


@attrs.define
class RuleMemory:
    """Loads rule sets as `RuleCache` does, and keeps those that were used last.

    One is used again for the same origins, with the same trust, in the same environment, as long as the files it was
    made of are the same: what is written into a rule file counts for the next call.
    """

    _kept: "OrderedDict[str, _Kept]" = attrs.field(factory=OrderedDict, init=False, repr=False)

    def load(self, origins: Sequence[Origin], tool: str | None = None) -> RuleSet:
        """Return the rule set of rule files, as `RuleCache.load` does.

        Raises: `ConfigError`, as it does.
        """
        key = _key(origins, tool)
        kept = self._kept.pop(key, None)
        if kept is None or not kept.is_valid():
            rules = RuleCache().load(origins, tool)
            kept = _looked(origins, tool, rules)
            if kept is None:
                return rules
        self._kept[key] = kept
        while len(self._kept) > _MOST:
            self._kept.popitem(last=False)
        return kept.rules


def _looked(origins: Sequence[Origin], tool: str | None, rules: RuleSet) -> _Kept | None:
    """Return rules with the states of their files; None for files that change too fast."""
    for _ in range(_MOST_TRIES):
        states = {path: _state(path) for path in map(_path, rules.files)}
        rules = RuleCache().load(origins, tool)
        # INVARIANT: the states are of the bytes that were loaded: both were looked at before and after.
        is_same = all(state.status == _status(path) for path, state in states.items())
        if is_same and set(map(_path, rules.files)) == states.keys():
            return _Kept(rules, states)
    return None


def _state(path: Path) -> _FileState:
    now = time.time_ns()
    status = _status(path)
    return _FileState(status, file_digest(path), is_settled=max(status[-2:]) < now - _TICK)


def _key(origins: Sequence[Origin], tool: str | None) -> str:
    """Return a text of all that loading depends on besides the files."""
    real = [os.path.realpath(name) for each in origins for name in (each.name, each.root or "")]
    folder = os.getcwd() if _depends_on_folder(origins) else None  # noqa: PTH109 -- text, as the rest
    return repr((list(origins), real, tool, folder, [os.environ.get(name) for name in _PLACES]))
