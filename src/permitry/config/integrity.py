"""The integrity check of cached rules: the shipped sets are complete, and only an admin has overrides."""

import hashlib
import json
from collections import ChainMap
from collections.abc import Iterable, Mapping
from typing import Any

from permitry.config.catalogue import BASE, PREFIX, find_shipped, list_shipped
from permitry.core.decision import Phase
from permitry.core.rule import phase_of

__all__ = ["check_integrity", "compile_sets"]

_KEYS = {"rules": "id", "templates": "name", "tools": "name", "lists": "source"}
_COMPILED = "compiled.json"


def check_integrity(names: Iterable[str], data: Mapping[str, Any]) -> None:
    """Check plain data against the shipped sets of these names, `permitry:base` or one that extends it.

    All of them must be there, unchanged; nothing else may claim to come from one, or be an override. So forged data
    can do no more than the user's own files. Raises: `ValueError`, `LookupError`, `TypeError` or `OSError`.
    """
    known = json.loads(find_shipped(PREFIX).with_name(_COMPILED).read_bytes())
    named = [known["sets"][name] for name in names]
    if not any(BASE in each["files"] for each in named):
        raise ValueError(f"`{BASE}` is not among the sets")
    for name, digest in ChainMap(*(each["files"] for each in named)).items():
        if hashlib.sha256(find_shipped(name).read_bytes()).hexdigest() != digest:
            raise ValueError(f"`{name}` is not what it was when `{_COMPILED}` was written")
    for kind, key in _KEYS.items():
        given = {each[key]: each for each in data[kind]}
        wanted = [known[kind][at] for one in named for at in one[kind]]
        if len(given) != len(data[kind]) or any(given.get(each[key]) != each for each in wanted):
            raise ValueError(f"the {kind} are not those that are shipped")
    for kind in ("rules", "lists"):
        if any(each["source"].startswith(PREFIX) and each not in known[kind] for each in data[kind]):
            raise ValueError("what is not shipped claims to be")
    if any(each["priority"] is not None and phase_of(each["priority"]) is Phase.OVERRIDE for each in data["rules"]):
        raise ValueError("only an admin's rule comes before all others")


def compile_sets() -> str:
    """Return `compiled.json`: what is in the shipped sets, once each, their indices and digests."""
    from permitry.config.load import compile_rules  # noqa: PLC0415 -- slow to import, and only for writing

    known: dict[str, Any] = {kind: [] for kind in _KEYS}
    sets = {}
    for name in list_shipped():
        data = compile_rules([name]).data
        digests = {each: hashlib.sha256(find_shipped(each).read_bytes()).hexdigest() for each in data["files"]}
        for kind, listed in known.items():
            listed += [each for each in data[kind] if each not in listed]
        places = {kind: [known[kind].index(each) for each in data[kind]] for kind in _KEYS}
        sets[name] = {"files": digests, **places}
    return json.dumps({"sets": sets, **known}, separators=(",", ":"), ensure_ascii=False) + "\n"
