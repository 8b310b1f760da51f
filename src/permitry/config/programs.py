"""Records of programs in rule files: which they are, and whether they are right."""

import re
from collections.abc import Iterator

import attrs

from permitry.actions.builtins import ASSIGNING, MOVING, OTHERS, SYNTACTIC
from permitry.actions.extract import ReadActions
from permitry.actions.folders import Folder
from permitry.actions.programs.catalogue import shipped, using
from permitry.actions.programs.records import Record, Records
from permitry.config.drafts import ProgramDraft
from permitry.config.examples import READER
from permitry.config.plain import Plain
from permitry.core.action import Action, Connect, Run, Touch, phrase
from permitry.errors import Problem

__all__ = ["ONLY_READS", "ProgramDrafts"]

ONLY_READS = "only reads"
"""What an example says of a command that does nothing else."""

_NAME = re.compile(r"\w[\w.+-]*", re.ASCII)
_OF_SHELL = ASSIGNING | MOVING | OTHERS | SYNTACTIC
_HERE = Folder(("/permitry-example",), "/permitry-example/home")
_MOST_UNTRUSTED, _MOST_EXAMPLES = 64, 32
_SAYS_SOMETHING = frozenset({"any_option", "commands", "does", "operands", "options", "runs", "wraps"})


@attrs.define
class ProgramDrafts:
    """The records of programs in rule files, each under all its names; each layer may have its own of a name."""

    _known: dict[tuple[str, int], ProgramDraft] = attrs.field(factory=dict)

    def add(self, draft: ProgramDraft) -> Iterator[Problem]:
        """Add a record, and yield what is wrong with it."""
        rank = draft.origin.rank
        examples = draft.table.model_dump()["examples"] or {}
        if rank == 0 and len(examples) > _MOST_EXAMPLES:
            yield draft.exceed(_MOST_EXAMPLES, "examples")
        else:
            yield from _problems(draft)
        for name in draft.name.split():
            first = self._known.setdefault((name, rank), draft)
            if first is not draft:
                message, hint = f"the program `{name}` is described twice", f"the first is at {first.place}"
                yield draft.problem((), message, f"{hint}; make one record of the two", key=True)
        if rank == 0 and sum(each == 0 for _, each in self._known) > _MOST_UNTRUSTED:
            yield draft.exceed(_MOST_UNTRUSTED, "programs")

    def plain(self) -> Iterator[Plain]:
        """Yield the records as plain data, in the order of the files."""
        for draft in {id(draft): draft for draft in self._known.values()}.values():
            yield from (attrs.asdict(each, recurse=False) for each in _records_of(draft))

    def reader(self, rank: int) -> ReadActions:
        """Return the reader by which the examples of a rule are tried: with the records that it may rely on."""
        drafts = {id(draft): draft for (_, of), draft in self._known.items() if of >= max(rank, 1)}.values()
        return READER.with_records(Records(each for draft in drafts for each in _records_of(draft)))

    def notices(self) -> Iterator[str]:
        """Yield what is said of records that do not count as they are."""
        most = {name: max(rank for known, rank in self._known if known == name) for name, _ in self._known}
        for (name, rank), draft in self._known.items():
            if rank == 0:
                yield f"{draft.place}: program `{name}` can only restrict: {draft.origin.distrust}"
            elif rank < most[name]:
                yield f"{draft.place}: program `{name}` dropped: a more trusted layer has a record of it"


def _records_of(draft: ProgramDraft) -> Iterator[Record]:
    """Yield the record under each of its names, as a key may hold several."""
    fields = draft.table.model_dump(exclude_none=True, exclude={"examples"})
    yield from (Record(name, fields, draft.place, draft.origin.rank) for name in draft.name.split())


def _problems(draft: ProgramDraft) -> Iterator[Problem]:
    for name in draft.name.split():
        if name in _OF_SHELL:
            yield draft.problem((), f"`{name}` is a word of the shell", "records are for programs", key=True)
        elif _NAME.fullmatch(name) is None:
            hint = "write its bare name, without a folder: letters, digits, `_`, `.`, `+`, `-`"
            yield draft.problem((), f"`{name}` is not the name of a program", hint, key=True)
    said = draft.table.model_fields_set
    if _SAYS_SOMETHING.isdisjoint(said) and not any(name in shipped() for name in draft.name.split()):
        hint = 'say what it is called with, such as `operands = "read*"`, or what it does besides: `does = "writes"`'
        yield draft.problem((), "the record does not say what the program does", hint, key=True)
    elif "examples" in said:
        yield from _example_problems(draft)


def _example_problems(draft: ProgramDraft) -> Iterator[Problem]:
    known = Records(attrs.evolve(each, rank=1) for each in _records_of(draft)).catalogue()
    for text, expected in draft.table.model_dump()["examples"].items():
        with using(known):
            found = _effects_of(text)
        if {each.strip() for each in expected.split(",")} != set(found):
            message = f"the example `{text}` does something else: {', '.join(found) or 'nothing that is known'}"
            yield draft.problem(("examples", text), message, "correct the record, or the example")


def _effects_of(text: str) -> list[str]:
    from permitry.actions.derive.script import read_command  # noqa: PLC0415 -- few rule files have records

    reading = read_command(text, _HERE)
    found = [ONLY_READS] if reading.doubt is None else []
    runs = 0
    for action in reading.certain:
        runs += isinstance(action, Run)
        found += _phrases(action, is_first=runs == 1)
    return list(dict.fromkeys(found))


def _phrases(action: Action, *, is_first: bool) -> Iterator[str]:
    if isinstance(action, Run):
        if not is_first:
            yield f"run {phrase(action)}"
        yield from map(phrase, action.operands.touches)
        yield from map(phrase, action.operands.connects)
    elif isinstance(action, Touch | Connect):
        yield phrase(action)
    else:
        yield f"unknown ({getattr(action, 'reason', '')})"
