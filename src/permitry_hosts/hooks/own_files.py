"""The rules that keep agents away from what the hook itself runs: permitry, its packages, their Python, its state."""

import functools
import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import attrs

from permitry.config.catalogue import PREFIX, find_shipped
from permitry.config.conditions import scope_of
from permitry.config.folders import user_cache, user_config, user_state
from permitry.core.decision import Verdict
from permitry.rules.configured import ConfiguredRule
from permitry_hosts.hooks.places import PACKAGE, PACKAGES, base_python, place

__all__ = ["own_rules"]

_RUN_FIRST = ("sitecustomize.py", "sitecustomize", "usercustomize.py", "usercustomize")
"""Modules that Python runs when it starts, where they are on the path."""


def own_rules(stores: Sequence[Path] = ()) -> tuple[ConfiguredRule, ...]:
    """Return the rules; where these files are depends on the installation, so that they are in no rule file.

    `stores` are the files of stores, wherever they are.
    """
    # Those in the state folder are guarded with it.
    places = (*_places(), *(each for each in stores if user_state() not in each.parents))
    links = ("".join(map(_escape, str(link))) for link in sorted(_links(places)))
    return _rule((*_patterns(places), *links)), _rule_of_resident(tuple(_patterns([place().parent])))


def _patterns(places: Iterable[Path]) -> Iterator[str]:
    """Yield the patterns of files and folders, as they are named and with links followed."""
    # A pattern may not hold `..`; the real path never does.
    forms = {form for place in places for form in (str(place), os.path.realpath(place)) if ".." not in Path(form).parts}
    yield from (f"{''.join(map(_escape, form))}{end}" for form in sorted(forms) for end in ("", "/**"))


@functools.lru_cache(maxsize=16)
def _rule(paths: tuple[str, ...]) -> ConfiguredRule:
    return ConfiguredRule(
        id="protect-own-files",
        effect=Verdict.BLOCK,
        priority_number=150,
        scope=scope_of(("@writes",), {"path": list(paths), "access": ["write", "delete"]}, None),
        reason="changes the program by which the agent is guarded",
        message="These files belong to permitry, which guards this agent. Ask the user to change them.",
    )


@functools.lru_cache(maxsize=16)
def _rule_of_resident(paths: tuple[str, ...]) -> ConfiguredRule:
    return ConfiguredRule(
        id="protect-resident",
        effect=Verdict.BLOCK,
        priority_number=150,
        scope=scope_of((), {"path": list(paths)}, None),
        reason="reads or changes what the hooks of this agent are answered by",
        message="These files belong to permitry, which guards this agent. It works without them.",
    )


def _escape(sign: str) -> str:
    """Return a pattern of one character: itself, or any one where no pattern may hold it."""
    if sign in "[*?{":
        return f"[{sign}]"
    return "?" if sign == "\\" or unicodedata.category(sign) in ("Cc", "Cs") else sign


def _links(paths: Iterable[Path]) -> set[Path]:
    """Return the links on the way to some paths; one that is replaced leads to other files."""
    links: set[Path] = set()
    left = [part for path in paths for part in (path, *path.parents)]
    seen = set(left)
    while left:
        path = left.pop()
        if not path.is_symlink():
            continue
        real = Path(os.path.realpath(path.parent), path.name)
        links.add(real)
        if ".." not in path.parts:
            links.add(path)
        target = real.parent / path.readlink()
        new = {real, *real.parents, target, *target.parents} - seen
        seen |= new
        left += new
    return links


def _places() -> Iterator[Path]:
    """Yield the files and folders; modules that the project has put on the path are the project's."""
    yield from (Path(sys.executable), base_python(), Path(sys.prefix, "pyvenv.cfg"))
    yield from (Path(os.__file__).parent, Path(attrs.__file__).parents[1])
    yield from (*PACKAGES, find_shipped(PREFIX).parent)
    # The folder of an editable install is on the path as well.
    yield from map(PACKAGE.with_name, _RUN_FIRST)
    # The human starts `permitry approve` from there.
    is_venv = sys.prefix != sys.base_prefix
    yield Path(sys.prefix, "bin") if is_venv else Path(sys.executable).with_name("permitry")
    # `permitry:guard` names the usual ones; a user may have them elsewhere.
    yield from (user_config(), user_state(), user_cache())
