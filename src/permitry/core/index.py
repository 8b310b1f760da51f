"""The compiled policy: which rules may speak about a tool, looked up by its name, and resolved once for each tool.

A rule says by `selectors` which tools it can be about, and by `residue` what is left to ask of it once the tool is
known; a rule that says neither is asked about every call. What is resolved for a tool that somebody declares lives
exactly as long as that declaration. What is resolved for a name that nobody declares is kept for a bounded number of
names, so that names a model invents push out only each other.
"""

import functools
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

from permitry.core._entry import Entry
from permitry.core._evaluate import Phases
from permitry.core._globs import Names
from permitry.core._slice import Slice, Step, Subject, step_of
from permitry.core.action import ActionReader
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase
from permitry.core.names import NamePattern, name_forms
from permitry.core.rule import Question, Rest, Selector
from permitry.core.spec import ToolSpec
from permitry.core.well_known import WELL_KNOWN, well_known

__all__ = ["Index"]

MOST_NAMES = 4_096
"""So many undeclared names are kept, and at most as many again that were not asked about since."""

_NOWHERE = AuthContext()
_nobody: Callable[[], ToolSpec | None] = type(None)


class _Shown:
    """The slices of all kinds of calls that a tool takes, each with a call that has no arguments."""

    __slots__ = ("slices", "spec")

    def __init__(self, slices: Sequence[tuple[Slice, ToolCall]], spec: Callable[[], ToolSpec | None]) -> None:
        self.slices = slices
        self.spec = spec


class Index:
    """The rules of one policy, ready to be asked about any tool. What it keeps changes no answer; thread-safe."""

    __slots__ = (
        "_declared", "_earlier", "_entries", "_everyone", "_groups", "_kept", "_likely", "_named", "_names", "_reader",
        "_readings", "_shown", "_specs", "_steps", "_version", "most",
    )  # fmt: skip

    def __init__(
        self, phases: Phases, *, reader: ActionReader | None, declared: Mapping[str, ToolSpec], most: int = MOST_NAMES
    ) -> None:
        self.most = most
        self._reader = reader
        self._declared = declared
        self._version = phases.version
        self._entries = (*phases.overrides, *phases.restrictions, *phases.permissions)
        self._likely = _by_reading(declared)
        # Those that say nothing of their tools, those found by the very name, and those found by any reading of it.
        self._everyone: list[int] = []
        self._names, self._readings = Names(), Names()
        self._groups: dict[Selector, list[int]] = {}
        for number, entry in enumerate(self._entries):
            for place in entry.places():
                self._file(place, number, entry.phase)
        self._names.close()
        self._readings.close()
        # Steps of rules that say the same of several tools, by number.
        self._steps: dict[int, Step] = {}
        # By identity of a declaration; each slice says for which one it is, and goes with it.
        self._specs: dict[object, Slice] = {}
        self._shown: dict[int, _Shown] = {}
        # By name: those declared in rule files, those asked about of late, and those before them.
        self._kept: dict[object, Slice] = {}
        self._named: dict[object, Slice] = {}
        self._earlier: dict[object, Slice] = {}

    # Asking -------------------------------------------------------------------------------------------------------

    def decide(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> Decision:
        """Return the decision for a call in this context alone."""
        if spec is None:
            found = self._named.get(call.tool)
            if found is None or found.kind is not call.kind:
                found = self._by_name(call)
        else:
            found = self._specs.get(id(spec))
            if found is None or found.spec() is not spec or found.kind is not call.kind or found.name != call.tool:
                found = self._by_spec(call, spec)
        if not found.is_slow:
            decision = found.quick(call, context)
            if decision is not None:
                return decision
        return found.slow(found.question(call, context, spec, self._reader))

    def blocks_all(self, spec: ToolSpec, contexts: Sequence[AuthContext]) -> bool:
        """Return whether every call that the tool takes is surely blocked in one of the contexts."""
        shown = self._shown.get(id(spec))
        if shown is None or shown.spec() is not spec:
            shown = self._show(spec)
        reader = self._reader
        for found, call in shown.slices:
            for context in contexts:
                if found.blocks_all(call, context, spec, reader):
                    break
            else:
                return False
        return True

    # Keeping ------------------------------------------------------------------------------------------------------

    def _by_name(self, call: ToolCall) -> Slice:
        """Return the slice of a name that nobody vouches for in this call."""
        key = call.tool if _is_usual(call) else (call.tool, call.kind.value)
        found = self._named.get(key) or self._earlier.get(key)
        if found is None:
            found = self._resolved(call, None, _nobody)
            if _is_usual(call) and call.tool in self._declared:
                self._kept[call.tool] = found
        if len(self._named) >= self.most + len(self._kept):
            # Reading and replacing a dictionary is atomic: at worst two threads forget a little more than they need.
            self._earlier, self._named = self._named, {**self._kept}
        self._named[key] = found
        return found

    def _by_spec(self, call: ToolCall, spec: ToolSpec) -> Slice:
        """Return the slice of a tool that somebody declares, which is kept as long as the declaration."""
        if type(spec) is not ToolSpec:
            return self._unsliced(call, spec)
        if call.tool != spec.name:
            return self._resolved(call, spec, weakref.ref(spec))
        key: object = id(spec) if _is_usual(call) else (id(spec), call.kind.value)
        found = self._specs.get(key)
        if found is None or found.spec() is not spec:
            forget = functools.partial(_forget, self._specs, key, self._shown, id(spec))
            found = self._resolved(call, spec, weakref.ref(spec, forget))
            self._specs[key] = found
        return found

    def _show(self, spec: ToolSpec) -> _Shown:
        slices = [(self._by_spec(call, spec), call) for call in _bare_calls(spec)]
        made = _Shown(slices, slices[0][0].spec if slices else _nobody)
        if made.spec() is spec:
            self._shown[id(spec)] = made
        return made

    # Resolving ----------------------------------------------------------------------------------------------------

    def question(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> Question:
        """Return the question to the rules, with all that is known about the tool."""
        declared = self._declared.get(call.tool)
        if declared is None:
            return Question(call, context, spec, self._reader, likely=self._likely_for(call, spec))
        if spec is None:
            return Question(call, context, declared, self._reader, own=None)
        return Question(call, context, _completed(spec, declared), self._reader, own=spec)

    def _resolved(self, call: ToolCall, spec: ToolSpec | None, reference: Callable[[], ToolSpec | None]) -> Slice:
        question = self.question(call, _NOWHERE, spec)
        named = self._names.find((call.tool,)) | self._readings.find(call.readings)
        numbers = {*self._everyone, *named}
        for selector, group in self._groups.items():
            if _may_select(selector, question):
                numbers.update(group)
        steps = []
        for number in sorted(numbers):
            entry = self._entries[number]
            rest = entry.residue(question, is_selected=number in named)
            if rest is not False:
                steps.append(self._step(number, entry, rest))
        return Slice(Subject(call.tool, call.kind, reference), steps, self._version, question)

    def _step(self, number: int, entry: Entry, rest: Rest | bool | None) -> Step:  # noqa: FBT001 -- it is the answer that is judged
        step = self._steps.get(number)
        if step is None or step.rest is not rest:
            step = self._steps[number] = step_of(entry, rest)
        return step

    def _unsliced(self, call: ToolCall, spec: ToolSpec) -> Slice:
        """Return all rules, each to be asked: nothing is known of a declaration of another type."""
        steps = [step_of(entry, None) for entry in self._entries]
        question = self.question(call, _NOWHERE, spec)
        return Slice(Subject(call.tool, call.kind, _nobody), steps, self._version, question)

    def _file(self, place: str | NamePattern | Selector | None, number: int, phase: Phase) -> None:
        if place is None:
            self._everyone.append(number)
        elif isinstance(place, str):
            self._names.add(place, number)
        elif not isinstance(place, NamePattern):
            self._groups.setdefault(place, []).append(number)
        elif phase is Phase.RESTRICTION:
            for form in place.forms:
                self._readings.add(form, number)
        else:
            self._names.add(place.text, number)

    def _likely_for(self, call: ToolCall, spec: ToolSpec | None) -> tuple[ToolSpec, ...]:
        """Return what the tool of a call may be, where neither its declaration nor its very name says it."""
        is_open = spec is None or (type(spec) is ToolSpec and spec.roles is None)
        if not is_open or well_known(call) is not None:
            return ()
        found = {id(each): each for name in call.readings for each in self._likely.get(name, ())}.values()
        if spec is None:
            return tuple(attrs.evolve(each, name=call.tool) for each in found)
        return tuple(attrs.evolve(spec, roles=each.roles) for each in found)


def _by_reading(declared: Mapping[str, ToolSpec]) -> dict[str, tuple[ToolSpec, ...]]:
    """Return what tools of known names are, by every form of these names."""
    found: dict[str, tuple[ToolSpec, ...]] = {}
    for spec in {**WELL_KNOWN, **declared}.values():
        for form in name_forms(spec.name):
            found[form] = (*found.get(form, ()), spec)
    return found


def _forget(
    specs: dict[object, Slice], key: object, shown: dict[int, _Shown], number: int, _: "weakref.ref[ToolSpec]"
) -> None:
    """Drop what was kept for a declaration that is gone."""
    specs.pop(key, None)
    shown.pop(number, None)


def _is_usual(call: ToolCall) -> bool:
    """Return whether the call is of the kind that most calls of its tool are."""
    return call.kind is (PayloadKind.FUNCTION if call.server is None else PayloadKind.MCP)


def _bare_calls(spec: ToolSpec) -> Iterable[ToolCall]:
    """Yield a call without arguments of every kind that the tool takes."""
    for kind in spec.kinds:
        yield ToolCall(spec.name, kind=kind)


def _may_select(selector: Selector, question: Question) -> bool:
    if question.likely:
        return True
    try:
        answers = [selector.always_selects(question, is_generous=is_generous) for is_generous in (True, False)]
    except Exception:  # noqa: BLE001 -- the rule itself is asked, and its failure kept
        return True
    return answers != [False, False]


def _completed(spec: ToolSpec, declared: ToolSpec) -> ToolSpec:
    """Return a spec with what a rule file declares where the spec itself is silent."""
    traits = attrs.asdict(declared.traits) | {
        name: value for name, value in attrs.asdict(spec.traits).items() if value is not None
    }
    roles = declared.roles if spec.roles is None else spec.roles
    return attrs.evolve(spec, traits=type(spec.traits)(**traits), roles=roles)
