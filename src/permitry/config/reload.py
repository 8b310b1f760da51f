"""Hot reload: changed rule files are loaded, and replace the policy in force if all of them are valid."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import attrs

from permitry.config.catalogue import find_file
from permitry.config.load import Origin, RuleSet, load_rules
from permitry.config.pin import file_digest
from permitry.core.policy import AuthorizationPolicy
from permitry.errors import ConfigError, Problem, safe_str

__all__ = ["Loaded", "PolicyReloader", "difference"]

# In nanoseconds. A file that changes twice within a tick of the file system keeps its times; none is longer.
_TICK = 2_000_000_000
_MOST_TRIES = 5


@attrs.frozen
class Loaded:
    """The rules in force and their policy; `problems` is why newer files were not loaded."""

    rules: RuleSet
    policy: AuthorizationPolicy
    problems: ConfigError | None = None


def difference(before: Loaded, after: Loaded) -> dict[str, object]:
    """Return what a reload did, for the record, by ids and names; with `problems`, nothing has changed."""
    old, new = _parts(before.rules), _parts(after.rules)
    problems = () if after.problems is None else after.problems.problems
    return {
        "added": _by_file(new.keys() - old.keys()),
        "removed": _by_file(old.keys() - new.keys()),
        "changed": _by_file(key for key in old.keys() & new.keys() if old[key] != new[key]),
        "version_before": before.policy.version,
        "policy_version": after.policy.version,
        "problems": [f"{each.path}:{each.line}: {each.message}" for each in problems],
    }


def _parts(rules: RuleSet) -> dict[tuple[str, str], object]:
    parts: dict[tuple[str, str], object] = {("templates", each.name): each for each in rules.templates.values()}
    parts |= {("tools", each.name): each for each in rules.tools.values()}
    parts |= {("programs", each.name): (each.fields, each.rank) for each in rules.records.every}
    if rules.unmatched_source is not None:
        parts[_file(rules.unmatched_source), "unmatched"] = rules.unmatched
    for flow in rules.flows:
        parts[_file(flow.source), flow.id] = flow
    for rule in rules.rules:
        key = _file(rule.source), rule.id
        parts[key] = attrs.evolve(rule, source=None), parts.get(key)
    if rules.observed is not None:
        obeyed = {rule.id for rule in rules.rules}
        watched = (rule for rule in rules.observed.rules if rule.id not in obeyed)
        parts |= {(_file(rule.source), f"{rule.id} (observed)"): attrs.evolve(rule, source=None) for rule in watched}
    return parts


def _file(source: str | None) -> str:
    return "code" if source is None else source.rpartition(":")[0]


def _by_file(keys: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for file, name in sorted(keys):
        found.setdefault(file, []).append(name)
    return found


@attrs.frozen
class _FileState:
    """The `stat` values of a file and its digest; once `is_settled`, any change shows in `status`."""

    status: tuple[int, ...]
    digest: str | None
    is_settled: bool

    def is_same(self, other: "_FileState") -> bool:
        """Return whether the bytes are the same; without a digest, whether the `stat` values are."""
        return self.status == other.status if self.digest is None else self.digest == other.digest


@attrs.frozen
class _Look:
    """The result of one poll: the rules that would be in force, their origins and files, and the time."""

    loaded: Loaded
    origins: tuple[Origin, ...]
    states: Mapping[Path, _FileState]
    at: int

    def has_states(self, others: Mapping[Path, _FileState]) -> bool:
        """Return whether all its files had the same bytes before."""
        return all(path in others and state.is_same(others[path]) for path, state in self.states.items())


@attrs.define
class PolicyReloader:
    """The policy of rule files that may change while it is in force. Thread-safe.

    A change takes effect when two polls in a row, at least `apart` seconds from each other, find
    the same bytes in every file, so that a file is not loaded while it is being written. The first
    load uses the files as they are.

    `origins` is called at every poll, so that layers written later are found:
    `PolicyReloader(lambda: find_layers(workspace))`. Once in force, a layer is not dropped: when
    its file is gone, or any file has a mistake, the last valid policy stays in force, and
    `problems` explains why. `on_change` is called with each new policy and each new problem, in
    order; it must not raise.

    Raises: `ConfigError` when the first load fails: then there is no policy, and nothing is allowed.
    """

    _origins: Callable[[], Iterable[Origin]]
    _on_change: Callable[[Loaded], object] = lambda _: None
    _clock: Callable[[], int] = attrs.field(default=time.time_ns, kw_only=True)
    _apart: float = attrs.field(default=0.0, kw_only=True)
    _known: tuple[Origin, ...] = attrs.field(default=(), init=False)
    _states: dict[Path, _FileState] = attrs.field(factory=dict, init=False, repr=False)
    _seen: _Look | None = attrs.field(default=None, init=False, repr=False)
    _loaded: Loaded = attrs.field(init=False, repr=False)
    _lock: threading.RLock = attrs.field(factory=threading.RLock, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        with _as_config_error():
            self._loaded = self._take_over(self._look(tuple(self._origins())))

    @property
    def loaded(self) -> Loaded:
        """Rules, policy and problems that belong together, read as one value."""
        return self._loaded

    @property
    def policy(self) -> AuthorizationPolicy:
        """The policy in force."""
        return self._loaded.policy

    @property
    def problems(self) -> ConfigError | None:
        """Why the files as they are now are not in force, or None if they are."""
        return self._loaded.problems

    def poll(self) -> bool:
        """Check the files, and return whether there is a new policy, or a new problem, which is reported at once."""
        with self._lock:
            before = self._loaded
            self._loaded = after = self._next(before)
            # Called under the lock, so that an older policy is never reported after a newer one.
            if after is not before:
                self._on_change(after)
        return after is not before

    def settle(self, within: float = 2.0) -> bool:
        """Poll until what the files say now counts, and return what `poll` does.

        What is new is looked at again after `apart` seconds: it may be half of a file. Raises: `ConfigError` when the
        files do not rest `within` so many seconds: then nothing may be decided.
        """
        deadline = time.monotonic() + within
        # INVARIANT: law 2. Others wait as well: until this is known, no one may decide by the old rules.
        with self._lock:
            before = self._loaded
            while self._is_moving(is_new=self.poll()):
                if time.monotonic() > deadline:
                    raise _restless()
                time.sleep(self._apart)
            return self._loaded is not before

    def _is_moving(self, *, is_new: bool) -> bool:
        if self.problems is None:
            return self._seen is not None
        return is_new or self._seen is not None or self.problems.problems == _restless().problems

    def _next(self, before: Loaded) -> Loaded:
        try:
            with _as_config_error():
                origins = tuple(self._origins())
                # While there are problems, every poll tries again: a missing file may be one that was never read.
                if before.problems is None and origins == self._known and self._are_unchanged():
                    self._seen = None
                    return before
                self._check_complete(origins)
                return self._settle(self._look(origins), before)
        except ConfigError as error:
            self._seen = None
            if before.problems is not None and before.problems.problems == error.problems:
                return before
            return attrs.evolve(before, problems=error)

    def _are_unchanged(self) -> bool:
        for path, state in self._states.items():
            if not (state.is_settled and state.status == _status(path)):
                # The times prove nothing, so the bytes are compared with those that were loaded.
                now = self._state(path)
                if not state.is_same(now):
                    return False
                self._states[path] = now
        return True

    def _check_complete(self, origins: Iterable[Origin]) -> None:
        # INVARIANT: law 2. Deleting a rule file, or hiding it behind a nearer one, lifts no restriction.
        names = {origin.name for origin in origins}
        gone = [origin.name for origin in self._known if origin.name not in names]
        hint = "put it back, or restart to go on without it"
        if gone:
            raise ConfigError([Problem(name, 0, 0, 0, "the file is not a layer any more", hint) for name in gone])

    def _settle(self, look: _Look, before: Loaded) -> Loaded:
        seen = self._seen
        earlier = self._states if seen is None else {**self._states, **seen.states}
        # INVARIANT: bytes seen only once are not loaded: a file that is written in parts may be valid after each.
        if not look.has_states(earlier):
            self._seen = look
            return before
        if not look.has_states(self._states) and seen is not None and abs(look.at - seen.at) < self._apart * 1e9:
            return before
        return self._take_over(look)

    def _take_over(self, look: _Look) -> Loaded:
        self._known, self._states, self._seen = look.origins, dict(look.states), None
        return look.loaded

    def _look(self, origins: tuple[Origin, ...]) -> _Look:
        now = self._clock()
        named = {find_file(origin.name).absolute() for origin in origins}
        files = named | set(self._states)
        for _ in range(_MOST_TRIES):
            states = {path: self._state(path) for path in files}
            rules = load_rules(origins)
            files = named | {find_file(name).absolute() for name in (*rules.files, *rules.links)}
            # INVARIANT: the states belong to the bytes that were loaded: no file is new, or changed, even back again.
            if files <= set(states) and all(states[path].status == _status(path) for path in files):
                return _Look(Loaded(rules, rules.policy()), origins, {path: states[path] for path in files}, now)
        raise _restless()

    def _state(self, path: Path) -> _FileState:
        now = self._clock()
        status = _status(path)
        return _FileState(status, file_digest(path), is_settled=max(status[-2:]) < now - _TICK)


def _restless() -> ConfigError:
    message, hint = "the rule files change faster than they can be read", "wait until they are written"
    return ConfigError([Problem("rules", 0, 0, 0, message, hint)])


def _status(path: Path) -> tuple[int, ...]:
    """Return what identifies a version of a file; users cannot set its `st_ctime_ns`."""
    try:
        status = path.stat()
    except OSError as error:
        return (error.errno or 0,)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


@contextlib.contextmanager
def _as_config_error() -> Iterator[None]:
    """Raise any other exception as a `ConfigError`: it must not affect the policy in force."""
    try:
        yield
    except ConfigError:
        raise
    except Exception as error:
        message = f"cannot be loaded: {type(error).__name__}: {safe_str(error)}"
        raise ConfigError([Problem("rules", 0, 0, 0, message, "check the files")]) from error
