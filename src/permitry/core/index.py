"""The compiled policy: which rules can match calls of a tool, looked up by its name, and learned once for each tool.

A rule says by `selectors` which tools it is about; one that does not is asked about every call. What is learned of a
tool that a registry declares lives exactly as long as that declaration. What is learned of a name without a declaration
is kept for a bounded number of names, so that names a model invents push out only each other.
"""

import functools
import weakref
from collections.abc import Mapping, Sequence

import attrs

from permitry.core._evaluate import Phases, decided
from permitry.core._globs import Names
from permitry.core._known import Unresolved, known_call, noting, unread
from permitry.core._memory import Memory, Reference
from permitry.core.action import ActionReader
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Verdict
from permitry.core.names import NamePattern, name_forms
from permitry.core.rule import Question, Selector
from permitry.core.spec import ToolSpec
from permitry.core.well_known import WELL_KNOWN, well_known

__all__ = ["Index"]

MOST_NAMES = 4_096
"""So many undeclared names are kept, and at most as many again that were not asked about since."""

_NOWHERE = AuthContext()
_nobody: Reference = type(None)


class Index:
    """The rules of one policy, ready to be asked about any tool. What it keeps changes no answer; thread-safe."""

    __slots__ = (
        "_declared", "_earlier", "_entries", "_everyone", "_groups", "_kept", "_likely", "_named", "_names", "_phases",
        "_reader", "_readings", "_shown", "_specs", "most",
    )  # fmt: skip

    def __init__(
        self, phases: Phases, *, reader: ActionReader | None, declared: Mapping[str, ToolSpec], most: int = MOST_NAMES
    ) -> None:
        self.most = most
        self._reader = reader
        self._declared = declared
        self._phases = phases
        self._entries = (*phases.overrides, *phases.restrictions, *phases.permissions)
        self._likely = _by_reading(declared)
        # Those that say nothing of their tools, those found by the very name, and those found by any reading of it.
        self._everyone: list[int] = []
        self._names, self._readings = Names(), Names()
        self._groups: dict[Selector, list[int]] = {}
        for number, entry in enumerate(self._entries):
            for place in entry.places():
                self._file(place, number, entry.effect)
        self._names.close()
        self._readings.close()
        # By identity of a declaration; each memory says for which one it is, and goes with it.
        self._specs: dict[object, Memory] = {}
        self._shown: dict[int, tuple[Memory, ...]] = {}
        # By name: those declared in rule files, those asked about of late, and those before them.
        self._kept: dict[object, Memory] = {}
        self._named: dict[object, Memory] = {}
        self._earlier: dict[object, Memory] = {}

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
        if found is None:
            return decided(self.question(call, context, spec), self._phases)
        return found.decide(call, context, spec, self._reader)

    def blocks_all(self, spec: ToolSpec, contexts: Sequence[AuthContext]) -> bool:
        """Return whether every call that the tool takes is certainly blocked in one of the contexts."""
        shown = self._shown.get(id(spec))
        if shown is None or any(found.spec() is not spec for found in shown):
            shown = self._show(spec)
        if shown is None:
            return not spec.kinds
        for found in shown:
            for context in contexts:
                if found.blocks_all(context, spec):
                    break
            else:
                return False
        return True

    def _show(self, spec: ToolSpec) -> tuple[Memory, ...] | None:
        """Return the memories of all kinds of calls that a tool takes; None for none, or one that is not known."""
        found = [self._by_spec(ToolCall(spec.name, kind=kind), spec) for kind in spec.kinds]
        memories = tuple(each for each in found if each is not None)
        if not memories:
            return None
        self._shown[id(spec)] = memories
        return memories

    # Keeping ------------------------------------------------------------------------------------------------------

    def _by_name(self, call: ToolCall) -> Memory:
        """Return the memory of a name that no registry declares for this call."""
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

    def _by_spec(self, call: ToolCall, spec: ToolSpec) -> Memory | None:
        """Return the memory of a tool that a registry declares, which is kept as long as the declaration.

        None for a declaration of another type, of which nothing is known.
        """
        if type(spec) is not ToolSpec:
            return None
        if call.tool != spec.name:
            return self._resolved(call, spec, weakref.ref(spec))
        key: object = id(spec) if _is_usual(call) else (id(spec), call.kind.value)
        found = self._specs.get(key)
        if found is None or found.spec() is not spec:
            found = self._resolved(
                call, spec, weakref.ref(spec, functools.partial(_forget, self._specs, key, self._shown, id(spec)))
            )
            self._specs[key] = found
        return found

    # Resolving ----------------------------------------------------------------------------------------------------

    def question(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> Question:
        """Return the question to the rules, with all that is known about the tool."""
        declared = self._declared.get(call.tool)
        if declared is None:
            return Question(call, context, spec, self._reader, likely=self._likely_for(call, spec))
        if spec is None:
            return Question(call, context, declared, self._reader, own=None)
        return Question(call, context, _completed(spec, declared), self._reader, own=spec)

    def _resolved(self, call: ToolCall, spec: ToolSpec | None, reference: Reference) -> Memory:
        question = self.question(call, _NOWHERE, spec)
        numbers = {*self._everyone, *self._names.find((call.tool,)), *self._readings.find(call.readings)}
        trial = attrs.evolve(question, call=known_call(call), context=noting(None, call.tool, set()), reader=unread)
        for selector, group in self._groups.items():
            if _may_select(selector, trial):
                numbers.update(group)
        entries = (self._entries[number] for number in sorted(numbers))
        return Memory(entries, question, reference, self._phases.version)

    def _file(self, place: str | NamePattern | Selector | None, number: int, effect: Verdict) -> None:
        if place is None:
            self._everyone.append(number)
        elif isinstance(place, str):
            self._names.add(place, number)
        elif not isinstance(place, NamePattern):
            self._groups.setdefault(place, []).append(number)
        elif effect is not Verdict.ALLOW:
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
    specs: dict[object, Memory],
    key: object,
    shown: dict[int, tuple[Memory, ...]],
    number: int,
    _: "weakref.ref[ToolSpec]",
) -> None:
    """Drop what was learned of a declaration that is gone."""
    specs.pop(key, None)
    shown.pop(number, None)


def _is_usual(call: ToolCall) -> bool:
    """Return whether the call is of the kind that most calls of its tool are."""
    return call.kind is (PayloadKind.FUNCTION if call.server is None else PayloadKind.MCP)


def _may_select(selector: Selector, question: Question) -> bool:
    if question.likely:
        return True
    try:
        return selector.selects(question, over_approximate=True) is not False
    except (Exception, Unresolved):  # noqa: BLE001 -- the rule itself is asked, and its failure kept
        return True


def _completed(spec: ToolSpec, declared: ToolSpec) -> ToolSpec:
    """Return a spec with what a rule file declares where the spec itself is silent."""
    traits = attrs.asdict(declared.traits) | {
        name: value for name, value in attrs.asdict(spec.traits).items() if value is not None
    }
    roles = declared.roles if spec.roles is None else spec.roles
    folder = declared.folder if spec.folder is None else spec.folder
    return attrs.evolve(spec, traits=type(spec.traits)(**traits), roles=roles, folder=folder)
