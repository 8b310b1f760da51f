"""The compiled policy: which rules can match calls of a tool, found once, and which match a call.

What is found for a tool that a registry declares is kept exactly as long as that declaration; for
other names, a bounded number of them, so that names a model invents push out only each other.
"""

import contextlib
import functools
import itertools
import weakref
from collections.abc import Callable, Iterable, Mapping
from types import NoneType
from typing import TypeAlias

import attrs

from permitry.core._evaluate import Evaluate, Phases
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.compiled_rule import CompiledRule
from permitry.core.context import AuthContext
from permitry.core.decision import DecisionCache
from permitry.core.facts import Fact, Kind
from permitry.core.finder import Finder
from permitry.core.names import name_forms
from permitry.core.rule import ActionReader, Request
from permitry.core.spec import ToolSpec
from permitry.core.visibility import Visibility, call_of_tool
from permitry.core.well_known import WELL_KNOWN, well_known

__all__ = ["Index"]

MOST_NAMES = 4_096
"""So many undeclared names are kept, and at most as many again that were not asked about since."""

_NOWHERE = AuthContext()
_OF_TOOL = frozenset({Kind.TOOL, Kind.TRAIT})
_PUT = tuple(vars(Request)[name].__set__ for name in (*attrs.fields_dict(Request), "tool"))
_Reference: TypeAlias = Callable[[], ToolSpec | None]
"""A weak reference to the declaration of a tool, as its registry gave it."""


class _Selection:
    """The rules that can match calls of some tools, and what finds those for one call."""

    __slots__ = ("__weakref__", "_cache", "_finder", "phases", "rules")

    def __init__(self, rules: Iterable[CompiledRule], cache: DecisionCache) -> None:
        self.rules = tuple(rules)
        self.phases = Phases.of(self.rules, cache)
        self._cache = cache
        needs = [list(itertools.filterfalse(_is_of_tool, rule.needs())) for rule in self.rules]
        self._finder = Finder(needs) if any(needs) else None

    def rules_for(self, request: Request) -> Phases:
        """Return those of the rules that may match the call."""
        if self._finder is None:
            return self.phases
        # Where facts cannot be computed, every rule is asked, and its failure kept.
        with contextlib.suppress(Exception):
            found = self._finder.find(request.facts)
            return Phases.of((self.rules[number] for number in sorted(found)), self._cache)
        return self.phases


class _Tool:
    """One tool, or one name: what is known about it, and the rules that can match its calls."""

    __slots__ = ("_completed", "_known", "_likely", "_others", "kind", "name", "selection", "spec", "visibility")

    def __init__(self, request: Request, spec: _Reference, selection: _Selection) -> None:
        self.name: str = request.call.tool
        self.kind: PayloadKind = request.call.kind
        self.selection = selection
        # The declaration as given (`request.own`) belongs to its registry, so `spec` is a weak reference.
        # What was made here to complete it is kept; None where nothing was added.
        self.spec = spec
        self._completed = None if request.spec is request.own else request.spec
        self._known = None if request.tool is request.own else request.tool
        self._likely, self._others = request.likely, request.others
        self.visibility: Visibility | None = None

    def request(
        self, call: ToolCall, context: AuthContext, spec: ToolSpec | None, reader: ActionReader | None
    ) -> Request:
        """Return the request to the rules, with what is already known about the tool filled in."""
        request = Request.__new__(Request)
        # Sooner than `__init__`: there is a request for every call. And its tool is known here.
        put_call, put_context, put_spec, put_reader, put_own, put_likely, put_others, put_tool = _PUT
        put_call(request, call)
        put_context(request, context)
        put_spec(request, spec if self._completed is None else self._completed)
        put_reader(request, reader)
        put_own(request, spec)
        put_likely(request, self._likely)
        put_others(request, self._others)
        put_tool(request, spec if self._known is None else self._known)
        return request

    def look(self, spec: ToolSpec, evaluate: Evaluate) -> Visibility:
        """Return what is certain of all calls of the tool, and keep it."""
        call = call_of_tool(ToolCall(self.name, kind=self.kind))
        self.visibility = Visibility(spec, self.selection.phases, evaluate, functools.partial(self.request, call))
        return self.visibility


class Index:
    """The rules of one policy, ready to be asked about any tool. Thread-safe."""

    def __init__(
        self,
        phases: Phases,
        evaluate: Evaluate,
        *,
        reader: ActionReader | None,
        declared: Mapping[str, ToolSpec],
        most: int = MOST_NAMES,
    ) -> None:
        self.most = most
        self._reader, self._others = reader, getattr(reader, "others", ())
        self._declared = declared
        self._phases = phases
        self._evaluate = evaluate
        self._rules = phases.every
        self._finder = Finder(list(filter(_is_of_tool, rule.needs())) for rule in self._rules)
        self._likely = _by_reading(declared)
        # By the numbers of their rules; tools of the same kind share one.
        self._selections: weakref.WeakValueDictionary[tuple[int, ...], _Selection] = weakref.WeakValueDictionary()
        # By identity of a declaration; each tool says for which one it is, and goes with it.
        self._specs: dict[object, _Tool] = {}
        # By name: those declared in rule files, those asked about of late, and those before them.
        self._kept: dict[object, _Tool] = {}
        self._named: dict[object, _Tool] = {}
        self._earlier: dict[object, _Tool] = {}

    def look_up(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> tuple[Request, Phases]:
        """Return the request about a call in this context, and the rules that can match it."""
        if spec is None:
            found = self._named.get(call.tool)
            if found is None or found.kind is not call.kind:
                found = self._by_name(call)
        else:
            found = self._specs.get(id(spec))
            if found is None or found.spec() is not spec or found.kind is not call.kind or found.name != call.tool:
                found = self._by_spec(call, spec)
        if found is None:
            return self.request(call, context, spec), self._phases
        request = found.request(call, context, spec, self._reader)
        return request, found.selection.rules_for(request)

    def blocks_all(self, spec: ToolSpec, kind: PayloadKind, context: AuthContext) -> bool:
        """Return whether every call of this kind is certain to be blocked in this context alone."""
        found = self._specs.get(id(spec))
        if found is None or found.spec() is not spec or found.kind is not kind:
            found = self._by_spec(ToolCall(spec.name, kind=kind), spec)
        # Of what is not known, nothing is certain.
        if found is None:
            return False
        return (found.visibility or found.look(spec, self._evaluate)).blocks_all(context, spec)

    def _by_name(self, call: ToolCall) -> _Tool:
        """Return what is kept of a tool that is known by its name alone."""
        key = call.tool if _is_usual(call) else (call.tool, call.kind.value)
        found = self._named.get(key) or self._earlier.get(key)
        if found is None:
            found = self._make(call, None, lambda: None)
            if _is_usual(call) and call.tool in self._declared:
                self._kept[call.tool] = found
        if len(self._named) >= self.most + len(self._kept):
            # Reading and replacing a dictionary is atomic: at worst two threads forget a little more than they need.
            self._earlier, self._named = self._named, {**self._kept}
        self._named[key] = found
        return found

    def _by_spec(self, call: ToolCall, spec: ToolSpec) -> _Tool | None:
        """Return a tool that a registry declares; None for a declaration of another class."""
        if type(spec) is not ToolSpec:
            return None
        if call.tool != spec.name:
            return self._make(call, spec, weakref.ref(spec))
        key: object = id(spec) if _is_usual(call) else (id(spec), call.kind.value)
        found = self._specs.get(key)
        if found is None or found.spec() is not spec:
            specs = self._specs
            found = self._make(call, spec, weakref.ref(spec, lambda _: specs.pop(key, None)))
            self._specs[key] = found
        return found

    def request(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> Request:
        """Return the request to the rules, with all that is known about the tool."""
        declared = self._declared.get(call.tool)
        if declared is None:
            return Request(call, context, spec, self._reader, likely=self._likely_for(call, spec), others=self._others)
        if spec is None:
            return Request(call, context, declared, self._reader, own=None, others=self._others)
        return Request(call, context, _fill_gaps(spec, declared), self._reader, own=spec, others=self._others)

    def _make(self, call: ToolCall, spec: ToolSpec | None, reference: _Reference) -> _Tool:
        """Return a tool, with the rules that can match its calls."""
        request = self.request(call, _NOWHERE, spec)
        numbers = tuple(sorted(self._finder.find(request.facts)))
        selection = self._selections.get(numbers)
        if selection is None:
            selection = _Selection((self._rules[number] for number in numbers), self._phases.cache)
            self._selections[numbers] = selection
        return _Tool(request, reference, selection)

    def _likely_for(self, call: ToolCall, spec: ToolSpec | None) -> tuple[ToolSpec, ...]:
        """Return what a tool may be, where its declaration and its name do not say it."""
        if type(spec) not in (ToolSpec, NoneType) or getattr(spec, "roles", None) is not None or well_known(call):
            return ()
        found = dict.fromkeys(itertools.chain.from_iterable(self._likely.get(name, ()) for name in call.readings))
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


def _is_usual(call: ToolCall) -> bool:
    """Return whether the call is of the kind that most calls of its tool are."""
    return call.kind is (PayloadKind.FUNCTION if call.server is None else PayloadKind.MCP)


def _is_of_tool(facts: frozenset[Fact]) -> bool:
    """Return whether the facts hold for a tool, whatever the arguments of a call."""
    return _OF_TOOL.issuperset(fact.kind for fact in facts)


def _fill_gaps(spec: ToolSpec, declared: ToolSpec) -> ToolSpec:
    """Return a spec with what a rule file declares where the spec itself is silent."""
    traits = attrs.asdict(declared.traits) | {
        name: value for name, value in attrs.asdict(spec.traits).items() if value is not None
    }
    gaps = {name: getattr(declared, name) for name in ("roles", "folder") if getattr(spec, name) is None}
    return attrs.evolve(spec, traits=type(spec.traits)(**traits), **gaps)
