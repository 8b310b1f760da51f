"""The cache of loaded rule sets: what rule files said when they were last read, while they still are those files.

Nothing is taken from the cache that was not written by this user for these very origins and these very bytes, and
nothing that such a user could not say in a rule file as well. Whatever is not as it should be is no error: the rule
files are read as if there were no cache.
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

from permitry.config.catalogue import PREFIX, shipped_path
from permitry.config.floor import check_floor
from permitry.config.folders import is_guarded, user_cache, user_state
from permitry.config.origin import Origin
from permitry.config.ownership import is_own
from permitry.config.plain import rule_set_of
from permitry.config.ruleset import RuleSet
from permitry.files import TEMPORARY, beside, open_regular, replace_file

if TYPE_CHECKING:
    from permitry.config.load import Compiled

__all__ = ["VERSION", "RuleCache"]

_FORMAT = 1
VERSION = "0.1.0"
"""The version of this package; asking `importlib.metadata` for it would take longer than reading the cache."""

_PACKAGE = Path(__file__).parents[1]
_CODE = ("config", "core", "rules", "rules/conditions", "actions", "actions/programs", "actions/shell")
_MOST_FILES = 64
_LARGEST = 256 * 1024 * 1024
_SECRET = 32
_ENDING = ".rules"
_ABANDONED = 3600  # seconds; what is begun is done, or was killed, long before


class _UnusableError(Exception):
    """What is in the cache, or around it, is not what may be used."""


_UNUSABLE = (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError, _UnusableError)


@attrs.frozen
class RuleCache:
    """Rule sets kept in a folder, sealed with a secret; both must be this user's own, and no one else's to write.

    Both must also be where `permitry:base` guards them from agents: in the user's own folders, at their usual places
    and not behind a link. Still, something may write there that no rule sees. So nothing is kept for an admin's rules,
    for rule files that are not the user's own below the home folder, nor without `permitry:base`; the shipped sets that
    are named must be in what was kept, as they are shipped; and what was kept must be of the files that are asked for.
    """

    folder: Path = attrs.field(factory=user_cache)
    secret: Path = attrs.field(factory=lambda: user_state() / "cache.key")

    def load(self, origins: Sequence[Origin], tool: str | None = None) -> RuleSet:
        """Return what rule files, and all they extend, say together, just as `load_rules` does.

        With a `tool`, only the rules that can apply to its calls: start-up does not grow with all others.

        Raises: `ConfigError` with every problem of every file; then nothing is loaded, and nothing is kept.
        """
        rules = self.kept(origins, tool)
        return self._compiled(origins, tool) if rules is None else rules

    def kept(self, origins: Sequence[Origin], tool: str | None = None) -> RuleSet | None:
        """Return the rule set that is kept for the origins, if each file it was made from is what it was."""
        try:
            data = self._opened(self._key(origins))
            _check_files(data, origins)
            check_floor((each.name for each in origins if each.name.startswith(PREFIX)), data["rules"])
            return rule_set_of(data["rules"], tool)
        except _UNUSABLE:
            return None

    def _compiled(self, origins: Sequence[Origin], tool: str | None) -> RuleSet:
        from permitry.config.load import compile_rules  # noqa: PLC0415 -- slow to import; what the cache is for

        key = None
        with contextlib.suppress(*_UNUSABLE):
            key = self._key(origins)
        compiled = compile_rules(origins)
        # INVARIANT: what was not certain when it was read is not certain later.
        if compiled.is_certain and key is not None:
            with contextlib.suppress(*_UNUSABLE):
                self._write(key, origins, compiled)
        return rule_set_of(compiled.data, tool)

    def _key(self, origins: Sequence[Origin]) -> str:
        """Return the key of the origins, in a cache that may be used.

        Raises: `_UnusableError` when it may not, `OSError` when something cannot be looked at.
        """
        if not (is_guarded(self.folder) and is_guarded(self.secret.parent)):
            raise _UnusableError("an agent may write there")
        if any(each.is_admin or not (each.name.startswith(PREFIX) or _is_users(each.name)) for each in origins):
            raise _UnusableError("who writes here may not change that rule file")
        return _key(origins)

    def _opened(self, key: str) -> dict[str, Any]:
        """Return what is kept under a key.

        Raises: `_UnusableError`, `OSError` or `ValueError` when there is nothing that may be used.
        """
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
        if _depends_on_folder(names) and not _depends_on_folder(origins):
            raise _UnusableError("how a file is called depends on a folder that is not in the key")
        data = {
            "files": [[str(file.path), file.digest] for file in compiled.files],
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
        sealed = _seal(self._made_secret(), key, body) + b"\n" + body
        path = self.folder / f"{key}{_ENDING}"
        replace_file(path, sealed)
        self._prune()

    def _made_secret(self) -> bytes:
        """Return the secret; the first who asks makes it."""
        try:
            return self._secret()
        except FileNotFoundError:
            # A link is made only where nothing stands: of two who make a secret at once, one wins.
            with beside(self.secret, os.urandom(_SECRET)) as temporary, contextlib.suppress(FileExistsError):
                self.secret.hardlink_to(temporary)
        return self._secret()

    def _prune(self) -> None:
        kept = sorted(self.folder.glob(f"*{_ENDING}"), key=lambda path: path.lstat().st_mtime_ns)
        for path in kept[:-_MOST_FILES]:
            path.unlink(missing_ok=True)


def _key(origins: Sequence[Origin]) -> str:
    """Return what stands for this code, these origins and how far they are trusted; any change is another key.

    Raises: `OSError` when something of it cannot be looked at.
    """
    facts = [[each.name, each.is_trusted, _real(each.root), _pins(each), each.distrust] for each in origins]
    here = os.getcwd() if _depends_on_folder(origins) else None  # noqa: PTH109 -- text, as the rest
    # Another install has other shipped sets under the same names, and other readers.
    install = [os.path.realpath(_PACKAGE), os.path.realpath(shipped_path(PREFIX).parent), _code()]
    told = json.dumps([_FORMAT, VERSION, sys.version, install, here, facts])
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def _is_users(name: str) -> bool:
    """Return whether a rule file lies below the home folder, and is the user's own: as much theirs as the cache is."""
    real, home = os.path.realpath(name), os.path.realpath(os.environ.get("HOME", ""))
    return real.startswith(f"{home}/") and os.stat(real).st_uid == os.geteuid()  # noqa: PTH116 -- text, as the rest


def _depends_on_folder(origins: Iterable[Origin]) -> bool:
    return any(not (each.name.startswith(PREFIX) or os.path.isabs(each.name)) for each in origins)  # noqa: PTH117 -- text


def _real(root: Path | None) -> list[str] | None:
    return None if root is None else [str(root), os.path.realpath(root)]


def _pins(origin: Origin) -> list[list[str]] | None:
    return None if origin.pinned is None else sorted([str(path), digest] for path, digest in origin.pinned.items())


def _code() -> list[list[object]]:
    """Return what the files of our own code look like: what another version accepted is not known to this one."""
    found: list[list[object]] = []
    for folder in _CODE:
        with os.scandir(_PACKAGE / folder) as entries:
            looks = {each.name: each.stat() for each in entries if each.name.endswith((".py", ".toml"))}
        found += [[folder, name, looks[name].st_size, looks[name].st_mtime_ns] for name in sorted(looks)]
    return found


def _seal(secret: bytes, key: str, body: bytes) -> bytes:
    return hmac.digest(secret, key.encode() + b"\n" + body, "sha256").hex().encode()


def _check_files(data: dict[str, Any], origins: Iterable[Origin]) -> None:
    """Check that the rules are of these origins, and that every file is where it was, and what it was.

    Whatever the data says, each origin is among the names that were followed, each of these leads to a file of which
    the digest is known, and each rule says that it comes from one of these files.

    Raises: `_UnusableError`, `OSError` or `ValueError` when one is not.
    """
    named, digests = dict(data["named"]), dict(data["files"])
    if not all(os.path.realpath(name) == real for name, real in named.items()):
        raise _UnusableError("a name leads elsewhere")
    if not named.keys() >= {_place(each.name) for each in origins} or set(named.values()) != digests.keys():
        raise _UnusableError("other files than those that are asked for")
    names = data["rules"]["files"]
    if {os.path.realpath(_place(name)) for name in names} != digests.keys() or len(set(names)) != len(digests):
        raise _UnusableError("other files than those of the rules")
    if not {each["source"].rpartition(":")[0] for each in data["rules"]["rules"]} <= set(names):
        raise _UnusableError("a rule of another file")
    if any(hashlib.sha256(_content(path)).hexdigest() != digest for path, digest in digests.items()):
        raise _UnusableError("a rule file has changed")


def _place(name: str) -> str:
    """Return the path of a rule file, as the cache writes it down."""
    return str(shipped_path(name) if name.startswith(PREFIX) else Path(name))


def _content(path: str) -> bytes:
    with open_regular(path) as (stream, _):
        return stream.read()


def _own_bytes(path: Path, most: int) -> bytes:
    """Return what a file holds that only this user could have written, in a folder only this user could have.

    Raises: `_UnusableError` for any other file, `OSError` for none.
    """
    with open_regular(path) as (stream, status):
        if not (is_own(status) and is_own(path.parent.lstat())):
            raise _UnusableError("it could be someone else's")
        if status.st_size > most:
            raise _UnusableError("it is too large")
        return stream.read(most)


def _make_own(folder: Path) -> None:
    """Make a folder that is this user's own, or check that it is.

    Raises: `_UnusableError` when it is not, or would be made among what is another's.
    """
    nearest = next(each for each in (folder, *folder.parents) if each.exists())
    # Who works as root with another's home must not leave folders there that the other cannot use.
    if nearest.stat().st_uid != os.geteuid():
        raise _UnusableError("the folder could be someone else's")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not is_own(folder.lstat()):
        raise _UnusableError("the folder could be someone else's")


def _clear(folder: Path) -> None:
    """Take away what processes began here that were killed."""
    for each in folder.glob(f"{TEMPORARY}*"):
        if each.lstat().st_mtime < time.time() - _ABANDONED:
            each.unlink(missing_ok=True)
