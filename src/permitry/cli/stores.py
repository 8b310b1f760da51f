"""The store and the record of a command: what its options name, otherwise the store in the user's state folder."""

import argparse
from pathlib import Path

from permitry.cli.inputs import tell
from permitry.config.layers import default_store
from permitry.errors import PermitryError
from permitry.store.records import is_address, is_store

__all__ = ["STORE", "default_to_read", "find_store", "record_from", "record_to_read", "store_from"]

STORE = "a file `.db`, or the address of a PostgreSQL; default: permitry.db in your state folder"
_BEFORE = "audit.jsonl"
"""The file next to the default store in which records were before there was one."""


def store_from(options: argparse.Namespace) -> str:
    """Return the store of `--store`, or of `--record`, or the default. Raises: `PermitryError`."""
    store, record = (getattr(options, name, None) for name in ("store", "record"))
    if store is not None and not is_store(store):
        raise PermitryError(f"`{store}` is not a store; name a file `.db`, or the address of a PostgreSQL")
    return store or (record if record and is_store(record) else str(default_store()))


def find_store(options: argparse.Namespace) -> str:
    """Return the store; one that is named has to be there. Raises: `PermitryError`."""
    store = store_from(options)
    if options.store is not None and not is_address(store) and not Path(store).exists():
        raise PermitryError(f"there is no store `{store}`")
    return store


def record_from(options: argparse.Namespace) -> str:
    """Return the record of `--record`, or else the store. Raises: as `store_from`."""
    return options.record or store_from(options)


def record_to_read(options: argparse.Namespace) -> str:
    """Return the record, and say where older ones may be. Raises: as `store_from`."""
    record = record_from(options)
    return default_to_read("--record") if record == str(default_store()) else record


def default_to_read(option: str = "") -> str:
    """Return the default store, and say where older records are, which are read with `option`."""
    store = default_store()
    before = store.with_name(_BEFORE)
    if before.exists():
        tell([f"older records are in a plain file; read them with `{f'{option} {before}'.strip()}`"])
    return str(store)
