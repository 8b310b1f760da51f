"""The immutable context of one request: everything a rule may look at besides the call."""

import difflib
import functools
import inspect
import itertools
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType, NoneType
from typing import Any, Final, cast

import attrs

from permitry.core.history import History
from permitry.core.origin import HeardCounts
from permitry.core.shared import SharedCounts
from permitry.core.source import Lists, RuleSource, is_rule_source, lists_of
from permitry.core.template import Template

__all__ = ["MODES", "AuthContext", "misspelt_mode"]

_PLAN = "plan"
_YOLO = "yolo"
_DEEPEST = 32

MODES = ("plan", "yolo", "default")
"""The words for modes that are not those of a host."""


def misspelt_mode(mode: str) -> str | None:
    """Return `plan`, `yolo` or `default` where `mode` is nearly that word, and so another mode."""
    near = difflib.get_close_matches(mode.lower(), MODES, n=1, cutoff=0.75)
    return near[0] if near and mode not in MODES else None


def _tuple_of_names(value: Iterable[str]) -> tuple[str, ...]:
    if type(value) not in (tuple, list) and (isinstance(value, str | dict) or not hasattr(value, "__iter__")):
        # One word would become its letters, each a name of its own; a mapping may say that a name of it is off.
        kind = "the one string" if isinstance(value, str) else f"a {type(value).__name__},"
        raise TypeError(f"a list of names is needed, not {kind} {value!r}")
    names = tuple(value)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"a list of names is needed, and {name!r} is not a name")
    return names


def _set_of_labels(value: Iterable[str]) -> frozenset[str]:
    # A session without labels is the usual one.
    return frozenset() if type(value) is set and not value else frozenset(_tuple_of_names(value))


def _read_only(value: Mapping[str, int]) -> Mapping[str, int]:
    try:
        return MappingProxyType(dict(value))
    except (TypeError, ValueError) as error:
        raise TypeError(f"`counts` maps the names of tools to numbers; it is not {value!r}") from error


def _of_this_moment(shared: Any) -> SharedCounts:  # noqa: ANN401 -- whatever a host gives
    """Return counts that do not change any more."""
    counts = shared.snapshot() if hasattr(shared, "snapshot") else None
    # Not a look at the whole protocol, which takes as long as a decision.
    if not callable(getattr(counts, "uses", None)):
        raise TypeError(f"`shared` is where budgets are counted, as `counters_at` returns it, not {shared!r}")
    return cast("SharedCounts", counts)


@attrs.frozen
class AuthContext:
    """Everything a rule may look at besides the call itself; never changes.

    `mode` is the host's word for its mode. The words `plan` and `yolo` and the two flags say the same thing, and either
    sets the other; plan wins the name when both hold, and `modes` keeps all that are true. `counts` maps tool names to
    calls let run; `history` holds them with their times, and `now` is the time on the same clock, in seconds;
    `provenance` is what was heard. A call is never allowed more than it would be in the context `parent`. `rules` count
    besides those of the policy, for the calls of this context alone; `lists` are values that it adds to the named lists
    of all of them. `shared` is how much of shared budgets is used; without it, each counts as spent.

    Raises: `TypeError` when a field is of a wrong type, such as a flag that is not a bool or a list that is one string:
    a truthy mistake must not widen access; `ValueError` for more than 32 agents that started each other.
    """

    is_plan_mode: bool = False
    yolo_mode: bool = False
    tool_ignore_list: tuple[str, ...] = attrs.field(default=(), converter=_tuple_of_names)
    active_template: Template | None = None
    mode: str = attrs.field(default="default", kw_only=True)
    agent: str = attrs.field(default="main", kw_only=True)
    workspace: str | None = attrs.field(default=None, kw_only=True)
    attended: bool = attrs.field(default=True, kw_only=True)
    counts: Mapping[str, int] = attrs.field(factory=dict, kw_only=True, converter=_read_only, hash=False)
    labels: frozenset[str] = attrs.field(default=frozenset(), kw_only=True, converter=_set_of_labels)
    history: History = attrs.field(factory=History, kw_only=True, repr=False)
    provenance: HeardCounts = attrs.field(factory=HeardCounts, kw_only=True, repr=False)
    now: float | None = attrs.field(default=None, kw_only=True, eq=False)
    parent: "AuthContext | None" = attrs.field(default=None, kw_only=True)
    rules: RuleSource | None = attrs.field(default=None, kw_only=True, repr=False, hash=False)
    lists: Lists | None = attrs.field(default=None, kw_only=True, repr=False, hash=False, converter=lists_of)
    shared: SharedCounts | None = attrs.field(default=None, kw_only=True, repr=False, eq=False)
    modes: frozenset[str] = attrs.field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        # Not validators: there is a context for every call, and a host can switch validators off.
        types = (
            type(self.is_plan_mode),
            type(self.yolo_mode),
            type(self.attended),
            type(self.mode),
            type(self.agent),
            type(self.workspace),
            type(self.active_template),
            type(self.history),
            type(self.now),
            type(self.parent),
        )
        if types not in _USUAL or not isinstance(self.provenance, HeardCounts):
            _check_types(self)
        if self.rules is not None and not is_rule_source(self.rules):
            raise TypeError(f"`rules` is a rule set, as `load_rules` returns it, not {self.rules!r}")
        if self.shared is not None:
            object.__setattr__(self, "shared", _of_this_moment(self.shared))
        if self.parent is not None and len(tuple(self.lineage())) > _DEEPEST:
            raise ValueError(f"more than {_DEEPEST} agents have started each other")
        word = self.mode
        # INVARIANT: (mode == "plan") == is_plan_mode, and mode == "yolo" only with yolo_mode.
        if self.is_plan_mode or self.mode == _PLAN:
            object.__setattr__(self, "is_plan_mode", True)
            object.__setattr__(self, "mode", _PLAN)
        elif self.mode == _YOLO:
            object.__setattr__(self, "yolo_mode", True)
        elif self.yolo_mode and self.mode == "default":
            object.__setattr__(self, "mode", _YOLO)
        object.__setattr__(self, "modes", _all_modes(self, word))

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {name: getattr(self, name) for name in _FIELDS}
        # INVARIANT: the host's word is copied as well, as a restriction may be for that mode.
        word = next(iter(self.modes - {_PLAN, *((_YOLO,) if self.yolo_mode else ())}), self.mode)
        return functools.partial(AuthContext, **{**fields, "counts": dict(self.counts), "mode": word}), ()

    def ignores(self, tool: str) -> bool:
        """Return whether the user does not want to be asked about the tool of this name."""
        return tool in self.tool_ignore_list

    def lineage(self) -> "Iterator[AuthContext]":
        """Yield this context and those of the agents above it, nearest first."""
        context: AuthContext | None = self
        while context is not None:
            yield context
            context = context.parent

    def child(self, agent: str, **own: Any) -> "AuthContext":  # noqa: ANN401 -- the fields of a context
        """Return the context of a sub-agent, this one but for `own`; of the decisions in both the stricter counts."""
        # The flags say plan and yolo; the word of the host alone goes on, so that a child can do without a flag.
        word = "default" if self.mode in (_PLAN, _YOLO) else self.mode
        labels = self.labels | _set_of_labels(own.get("labels", ()))
        return attrs.evolve(self, **{"mode": word, **own, "labels": labels, "agent": agent, "parent": self})

    @classmethod
    def from_state(cls, state: object) -> "AuthContext":
        """Return the context of this moment; later changes of `state`, a `Session` or one of a host, do not reach it.

        Of its fields a state has the first four at least, and `mode` as `host_mode`; others have their default.

        Raises: `TypeError` for a state without one of the four fields, and as the class does; `AttributeError` where
        the state itself raises it: what is there and cannot be read is not taken for absent.
        """
        full: Any = state
        made = cls.__new__(cls)
        try:
            # A call of the class puts the names into a dictionary first, and there is a context for every call.
            cls.__init__(
                made,
                is_plan_mode=full.is_plan_mode,
                yolo_mode=full.yolo_mode,
                tool_ignore_list=full.tool_ignore_list,
                active_template=full.active_template,
                mode=full.host_mode,
                agent=full.agent,
                workspace=full.workspace,
                attended=full.attended,
                counts=full.counts,
                labels=full.labels,
                history=full.history,
                provenance=full.provenance,
                now=full.now,
                parent=None if full.parent is None else cls.from_state(full.parent),
                rules=full.rules,
                lists=full.lists,
                shared=full.shared,
            )
        except AttributeError:
            return state if isinstance(state, cls) else cls(**dict(_fields_of(state)))
        return made


def _all_modes(context: AuthContext, word: str) -> frozenset[str]:
    """Return every word that is true of the session, of which `word` is that of its host."""
    # INVARIANT: law 1. No mode can hide another one from a restriction.
    words = {word, context.mode}
    if context.is_plan_mode:
        words.add(_PLAN)
    if context.yolo_mode:
        words.add(_YOLO)
    if len(words) > 1:
        words.discard("default")
    return frozenset(words)


_FIELDS = tuple(field.name for field in attrs.fields(AuthContext) if field.init)
_FOUR = ("is_plan_mode", "yolo_mode", "tool_ignore_list", "active_template")


def _fields_of(state: object) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a context that a state has, by name, or raise `TypeError` where one of the four lacks."""
    for field in _FIELDS:
        name = "host_mode" if field == "mode" else field
        # By a look that runs nothing as well: a property that fails with an AttributeError seems absent.
        if not hasattr(state, name) and inspect.getattr_static(state, name, _FOUR) is _FOUR:
            if name in _FOUR:
                kind = f"{type(state).__name__}, which has no `{name}`"
                raise TypeError(f"a context cannot be read from a {kind}; give a Session")
            continue
        value = getattr(state, name)
        if name == "parent" and value is not None:
            value = AuthContext.from_state(value)
        yield field, value


_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "is_plan_mode": (bool,),
    "yolo_mode": (bool,),
    "attended": (bool,),
    "mode": (str,),
    "agent": (str,),
    "workspace": (str, NoneType),
    "active_template": (Template, NoneType),
    "history": (History,),
    "now": (float, int, NoneType),
    "parent": (AuthContext, NoneType),
}
_USUAL: Final = frozenset(itertools.product(*_TYPES.values()))


def _check_types(context: AuthContext) -> None:
    """Raise `TypeError` for a field of a wrong type; make words plain texts."""
    fields = attrs.fields_dict(AuthContext)
    for name, types in _TYPES.items():
        value = getattr(context, name)
        attrs.validators.instance_of(types)(context, fields[name], value)
        if isinstance(value, str):
            # One of another class may compare in its own way, and what is decided for one text is for no other.
            object.__setattr__(context, name, str.__str__(value))
    # Conditions bring a class of their own, which is derived from this one.
    attrs.validators.instance_of(HeardCounts)(context, fields["provenance"], context.provenance)
