"""The approval policy of inspect_ai: `approvers` of a YAML file, of which the first match decides, and else none.

A pattern is compared with the printed call, with arguments in the order of the model: it holds for no call for sure.
"""

import importlib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import attrs

from permitry.config.rule_text import Draft
from permitry.errors import ConfigError, PermitryError, Problem
from permitry.extras import missing
from permitry_hosts.importers.drafts import Imported, Ordered, Outcome, Row, Source, are_texts, phases_of
from permitry_hosts.importers.probes import probe_tools

__all__ = ["PLACES", "read_rules"]

PLACES = ("approval.yaml",)

_DECISIONS = {"approve": "allow", "reject": "block", "terminate": "block", "modify": "block"}


@attrs.frozen
class _Approver:
    name: str
    tools: tuple[str, ...]
    settings: Mapping[str, Any]
    place: str


def read_rules(sources: Sequence[Source]) -> Imported:
    """Return the rules of approval policies: the first match counts. Raises: `PermitryError`."""
    approvers = [each for source in sources for each in _approvers(source)]
    made = [(approver, *_translate(approver)) for approver in approvers]
    rest = Ordered("block", ("*",), message="No approver is for this tool.")
    groups = [[] if each is None else [each] for _, each, _, _ in made]
    *found, (last,) = phases_of([*groups, [rest]])
    rows = [
        _row(approver, drafts, outcome, note) for (approver, _, outcome, note), drafts in zip(made, found, strict=True)
    ]
    if last is not None:
        place = sources[-1].name if sources else ""
        tried = probe_tools(["a"], bool)
        rows.append(Row(place, "reject any other call", "block", (last,), probes=tried, alone=(rest.alone,)))
    return Imported("inspect_ai", rows)


def _approvers(source: Source) -> Iterator[_Approver]:
    try:
        yaml = importlib.import_module("yaml")
    except ImportError:
        raise PermitryError(missing("PyYAML", "yaml")) from None
    try:
        root = yaml.compose(source.text, Loader=yaml.SafeLoader)
        content = yaml.safe_load(source.text)
    except (yaml.YAMLError, RecursionError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", -1) + 1
        raise ConfigError([Problem(source.name, line, 1, 1, "it is not YAML")]) from None
    listed = content.get("approvers") if isinstance(content, dict) else None
    if not isinstance(listed, list):
        raise PermitryError(f"`{source.name}` is not an approval policy: it has no list `approvers`")
    nodes = next(value for key, value in root.value if key.value == "approvers").value
    for table, node in zip(listed, nodes, strict=True):
        place = f"{source.name}:{node.start_mark.line + 1}"
        match table:
            case {"name": str(name), "tools": str(text)}:
                yield _Approver(name, tuple(_split(text)), table, place)
            case {"name": str(name), "tools": texts} if are_texts(texts):
                yield _Approver(name, tuple(itertools.chain.from_iterable(map(_split, texts))), table, place)
            case _:
                raise PermitryError(f"{place}: an approver has a `name` and `tools`")


def _split(text: str) -> Iterator[str]:
    """Yield the patterns in a text, between commas that are in no brackets."""
    yield from filter(None, map(str.strip, re.split(r",(?![^(]*\))", text)))


def _translate(approver: _Approver) -> tuple[Ordered | None, Outcome, str]:
    decision = approver.settings.get("decision", "approve") if approver.name.endswith("auto") else ""
    if decision == "escalate":
        return None, Outcome.SAME, "it leaves the call to the next approver"
    is_human = approver.name.endswith("human")
    effect = "confirm" if is_human else _DECISIONS.get(decision, "block")
    has_arguments = any("(" in tool for tool in approver.tools)
    if effect == "allow" and has_arguments:
        return None, Outcome.DROPPED, "a pattern over the printed arguments permits nothing"
    selectors = tuple(dict.fromkeys(f"{tool.partition('(')[0].rstrip('*')}*" for tool in approver.tools))
    tools = ("*",) if "*" in selectors else selectors
    if has_arguments:
        return Ordered(effect, tools, exact=False), Outcome.WIDENED, "it is about all calls of the tool"
    if effect == "block" and not decision:
        return Ordered(effect, tools), Outcome.STRICTER, f"what `{approver.name}` decides is code; write a rule for it"
    return Ordered(effect, tools), Outcome.SAME, ""


def _row(approver: _Approver, drafts: Sequence[Draft | None], outcome: Outcome, note: str) -> Row:
    shown = f"{approver.name} {', '.join(approver.tools)}"
    if not drafts:
        return Row(approver.place, shown, "allow", (), outcome, note)
    draft = drafts[0]
    if draft is None:
        return Row(approver.place, shown, "allow", (), Outcome.IGNORED, "an earlier approver decides about all of it")
    alone = (attrs.evolve(draft, unless=()),)
    # Calls without arguments, and whether a pattern is about them as they are printed.
    patterns = [f"{tool.removesuffix('*')}*" for tool in approver.tools]
    names = [tool.partition("(")[0].strip("*") or "a" for tool in approver.tools]
    probes = probe_tools(names, lambda name: any(fnmatchcase(f"{name}()", pattern) for pattern in patterns))
    return Row(approver.place, shown, draft.effect, (draft,), outcome, note, probes=probes, alone=alone)
