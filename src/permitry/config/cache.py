"""A cache of loaded rule sets, valid as long as the rule files have not changed.

An entry is used only if this user wrote it, for the same origins and the same bytes of every file;
it can contain nothing that a rule file of this user could not. An entry or a cache that is not
valid is not an error: the rule files are read as if there were no cache.
"""

import contextlib
import hashlib
import hmac
import json
import os
import stat
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from permitry.config.catalogue import PREFIX, find_file, find_shipped
from permitry.config.folders import is_guarded, user_cache, user_state
from permitry.config.integrity import check_integrity
from permitry.config.origin import Origin, is_own
from permitry.config.plain import rule_set_of
from permitry.config.ruleset import RuleSet
from permitry.files import TEMPORARY, open_regular, replace_file, temporary_next_to

if TYPE_CHECKING:
    from permitry.config.load import Compiled

__all__ = ["VERSION", "RuleCache", "folder_of"]

_FORMAT = 1
VERSION = "0.1.0"
"""The version of this package; asking `importlib.metadata` for it would take longer than reading the cache."""

_PACKAGE = Path(__file__).parents[1]
_CODE = ("config", "core", "conditions", "rules", "actions", "actions/derive", "actions/programs", "actions/reading")
_MOST_FILES = 64
_LARGEST = 256 * 1024 * 1024
_SECRET = 32
_ENDING = ".rules"
_ABANDONED = 3600  # seconds; an older temporary file is left from a process that was killed


class _UnusableError(Exception):
    """Raised when the cache, or an entry of it, must not be used."""


_UNUSABLE = (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError, _UnusableError)


@attrs.frozen
class RuleCache:
    """Rule sets stored in a folder, each authenticated by an HMAC with a secret.

    Folder and secret must be writable by this user only, and be where `permitry:base` protects them from agents.
    As a program that no rule examines may still write there, entries are limited: none is made for an admin's
    rules, for files that are not the user's own, or without `permitry:base`; one must contain the shipped sets
    that are requested, as they are shipped, and be made of the files that are requested.
    """

    folder: Path = attrs.field(factory=user_cache)
    secret: Path = attrs.field(factory=lambda: user_state() / "cache.key")

    def load(self, origins: Sequence[Origin], tool: str | None = None) -> RuleSet:
        """Return what `load_rules` does, or its part for a `tool`, from the cache if it is there."""
        rules = self.kept(origins, tool)
        return self._compile(origins, tool) if rules is None else rules

    def kept(self, origins: Sequence[Origin], tool: str | None = None) -> RuleSet | None:
        """Return the stored rule set for the origins; None if there is none, or one of its files has changed."""
        try:
            data = self._read(self._key(origins))
            texts = _read_files(data, origins)
            check_integrity(_sets_in(origins), data["rules"])
            rules = rule_set_of(data["rules"], tool)
            files = _source_files(texts, origins)
            return attrs.evolve(rules, source_files=files)
        except _UNUSABLE:
            return None

    def _compile(self, origins: Sequence[Origin], tool: str | None) -> RuleSet:
        from permitry.config.load import compile_rules  # noqa: PLC0415 -- slow to import; the cache exists to avoid it

        key = None
        with contextlib.suppress(*_UNUSABLE):
            key = self._key(origins)
        compiled = compile_rules(origins)
        # INVARIANT: a rule set that was not certain when it was compiled is never stored.
        if compiled.is_certain and key is not None:
            with contextlib.suppress(*_UNUSABLE):
                self._write(key, origins, compiled)
        rules = rule_set_of(compiled.data, tool)
        return attrs.evolve(rules, source_files=compiled.source_files)

    def _key(self, origins: Sequence[Origin]) -> str:
        """Return a digest of this installation, the origins and their trust."""
        if not (is_guarded(self.folder) and is_guarded(self.secret.parent)):
            raise _UnusableError("an agent may write there")
        if not any(each.name.startswith(PREFIX) for each in origins):
            raise _UnusableError("what is kept would never be read: no shipped set is named")
        if any(each.is_admin or not (each.name.startswith(PREFIX) or _is_users(each.name)) for each in origins):
            raise _UnusableError("who writes here may not change that rule file")
        # Another installation may have other shipped sets under the same names, and another loader.
        install = [os.path.realpath(_PACKAGE), os.path.realpath(find_shipped(PREFIX).parent), _code()]
        facts = [[repr(each), os.path.realpath(each.root or "/")] for each in origins]
        described = json.dumps([_FORMAT, VERSION, sys.version, install, folder_of(origins), facts])
        return hashlib.sha256(described.encode("utf-8", "surrogatepass")).hexdigest()

    def _read(self, key: str) -> dict[str, Any]:
        """Return the entry under a key, after checking its HMAC."""
        secret = self._secret()
        seal, _, body = _own_bytes(self.folder / f"{key}{_ENDING}", _LARGEST).partition(b"\n")
        if not hmac.compare_digest(seal, _seal(secret, key, body)):
            raise _UnusableError("sealed by someone else, for something else, or damaged")
        data = json.loads(body)
        if not isinstance(data, dict):
            raise _UnusableError("no cache")
        return data

    def _secret(self) -> bytes:
        secret = _own_bytes(self.secret, _SECRET)
        if len(secret) != _SECRET or self.secret.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise _UnusableError("no secret")
        return secret

    def _write(self, key: str, origins: Sequence[Origin], compiled: "Compiled") -> None:
        names = [Origin(name) for name in compiled.data["files"]]
        if folder_of(names) != folder_of(origins):
            raise _UnusableError("how a file is called depends on a folder that is not in the key")
        data = {
            "files": [[str(path), digest] for path, digest in compiled.files.items()],
            "named": [[str(name), str(real)] for name, real in compiled.named],
            "rules": compiled.data,
        }
        body = json.dumps(data, separators=(",", ":")).encode()
        if json.loads(body) != data:
            raise _UnusableError("no plain data")
        if self._key(origins) != key:
            raise _UnusableError("the code has changed since it read the rules")
        for folder in (self.folder, self.secret.parent):
            _make_own(folder)
            _clear(folder)
        sealed = _seal(self._secret_or_new(), key, body) + b"\n" + body
        replace_file(self.folder / f"{key}{_ENDING}", sealed)
        self._prune()

    def _secret_or_new(self) -> bytes:
        try:
            return self._secret()
        except FileNotFoundError:
            # A hard link never replaces a file: of two processes that create a secret at once, one wins.
            with temporary_next_to(self.secret, os.urandom(_SECRET)) as temporary, contextlib.suppress(FileExistsError):
                self.secret.hardlink_to(temporary)
        return self._secret()

    def _prune(self) -> None:
        kept = sorted(self.folder.glob(f"*{_ENDING}"), key=lambda path: path.lstat().st_mtime_ns)
        for path in kept[:-_MOST_FILES]:
            path.unlink(missing_ok=True)


def _is_users(name: str) -> bool:
    real, home = os.path.realpath(name), os.path.realpath(os.environ.get("HOME", ""))
    return real.startswith(f"{home}/") and os.stat(real).st_uid == os.geteuid()  # noqa: PTH116 -- text, as the rest


def folder_of(origins: Iterable[Origin]) -> str | None:
    """Return the current folder if the names of some rule files depend on it, otherwise None."""
    is_free = all(each.name.startswith((PREFIX, "/")) for each in origins)
    return None if is_free else os.getcwd()  # noqa: PTH109 -- text, as the rest


def _sets_in(origins: Iterable[Origin]) -> Iterable[str]:
    """Return the shipped sets that are obeyed."""
    return (each.name for each in origins if each.name.startswith(PREFIX) and not each.is_observed)


def _code() -> list[list[object]]:
    found: list[list[object]] = []
    for folder in _CODE:
        with os.scandir(_PACKAGE / folder) as entries:
            stats = {each.name: each.stat() for each in entries if each.name.endswith((".py", ".toml"))}
        found += [[folder, name, stats[name].st_size, stats[name].st_mtime_ns] for name in sorted(stats)]
    return found


def _seal(secret: bytes, key: str, body: bytes) -> bytes:
    return hmac.digest(secret, key.encode() + b"\n" + body, "sha256").hex().encode()


def _read_files(data: dict[str, Any], origins: Iterable[Origin]) -> dict[str, str]:
    """Return the texts of the files by name, after checking that they are those that are asked for, and the same."""
    named, digests = dict(data["named"]), dict(data["files"])
    if not all(os.path.realpath(name) == real for name, real in named.items()):
        raise _UnusableError("a name leads elsewhere")
    if not named.keys() >= {str(find_file(each.name)) for each in origins} or set(named.values()) != digests.keys():
        raise _UnusableError("other files than those that are asked for")
    places = {name: os.path.realpath(find_file(name)) for name in data["rules"]["files"]}
    if set(places.values()) != digests.keys() or len(places) != len(digests):
        raise _UnusableError("other files than those of the rules")
    written = [each for kind in ("rules", "lists", "programs") for each in data["rules"][kind]]
    written += filter(None, [data["rules"]["unmatched"]])
    if not {each["source"].rpartition(":")[0] for each in written} <= places.keys():
        raise _UnusableError("a rule of another file")
    contents = {path: _content(path) for path in digests}
    for path, digest in digests.items():
        if hashlib.sha256(contents[path]).hexdigest() != digest:
            raise _UnusableError("a rule file has changed")
    return {name: contents[place].decode() for name, place in places.items()}


def _source_files(texts: dict[str, str], origins: Iterable[Origin]) -> tuple[Origin, ...]:
    """Return the files with their texts, each with the trust of the origin by which it was opened."""
    starts = {each.name: each for each in origins}
    opener = Origin("")
    files: list[Origin] = []
    for name, text in texts.items():
        opener = starts.get(name, opener)
        file = attrs.evolve(opener, name=name, text=text)
        files.append(file)
    return tuple(files)


def _content(path: str) -> bytes:
    with open_regular(path) as (stream, _):
        return stream.read()


def _own_bytes(path: Path, most: int) -> bytes:
    with open_regular(path) as (stream, status):
        if not (is_own(status) and is_own(path.parent.lstat())):
            raise _UnusableError("it could be someone else's")
        if status.st_size > most:
            raise _UnusableError("it is too large")
        return stream.read(most)


def _make_own(folder: Path) -> None:
    nearest = next(each for each in (folder, *folder.parents) if each.exists())
    # Root, running with HOME of another user, must not create folders there that this user cannot use.
    if nearest.stat().st_uid != os.geteuid():
        raise _UnusableError("the folder could be someone else's")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not is_own(folder.lstat()):
        raise _UnusableError("the folder could be someone else's")


def _clear(folder: Path) -> None:
    for each in folder.glob(f"{TEMPORARY}*"):
        if each.lstat().st_mtime < time.time() - _ABANDONED:
            each.unlink(missing_ok=True)
