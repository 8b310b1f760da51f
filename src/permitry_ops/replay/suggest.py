"""The fewest narrow permissions that would have removed most questions, from calls that a human approved.

Each is tried with the real policy: it permits what it claims to, and changes nothing for a call that must not run.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from permitry.actions.derive.runners import program_of
from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.running import wrapper_of
from permitry.config.load import load_rules
from permitry.config.narrowest import Conditions, choices, is_one_tool
from permitry.config.rule_text import Draft, draft_text
from permitry.core.action import Word
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.errors import ConfigError
from permitry_ops.lint import lint
from permitry_ops.replay.answers import Answered, Asked
from permitry_ops.replay.riskiest import Risk, riskiest

__all__ = ["Suggested", "Suggestion", "suggest"]

_CODE = "covers-interpreter"
_RUNS = frozenset({"given", "privileges", "text"})
_LONGEST = 200
_LONGEST_SLUG = 40
_SELDOM = frozenset({"git", "find", "fd", "fdfind", "kubectl", "oc", "cc", "c++", "gcc", "g++", "gfortran"})
"""Programs that run others in some of their uses only; patterns for these uses are found as code."""

_ID = "suggested"
_KEYS = ("tools", "when", "command", "path", "access", "args")
_REASON = "suggested by what was approved"


@attrs.frozen
class Suggestion:
    """A rule, the approved calls that it permits, each once for each question, and what else it would allow."""

    text: str
    calls: tuple[Asked, ...]
    risk: Risk | None
    is_exact: bool


@attrs.frozen
class Suggested:
    """What is suggested, and how many approved questions it removes, or not, and why."""

    suggestions: tuple[Suggestion, ...]
    questions: int
    removed: int
    permitted: int = 0
    """Those that the rules permit already."""
    restricted: int = 0
    """Those that no permission removes, because a restriction asks or blocks."""


@attrs.frozen(eq=False)
class _Candidate:
    """The keys of a rule, as a text in one form, and how wide it is next to others for the same call."""

    keys: Conditions
    width: int
    text: str

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools of the rule; none for all."""
        tools: Any = self.keys.get("tools", ())
        return tuple(tools)

    @property
    def when(self) -> Mapping[str, Any]:
        """The conditions of the rule."""
        when: Any = self.keys.get("when", {})
        return dict(when)


@attrs.define
class _Search:
    """A policy that grows by the rules that are chosen, and the calls it must not let run."""

    policy: AuthorizationPolicy
    refused: Sequence[Asked]
    taken: set[str]
    force: bool
    chosen: "dict[_Candidate, str]" = attrs.field(factory=dict)
    _before: list[Decision] = attrs.field(init=False)

    @_before.default
    def _as_it_is(self) -> list[Decision]:
        return [_decide(self.policy, each) for each in self.refused]

    def add(self, candidate: _Candidate) -> bool:
        """Choose a rule, unless it runs any code, or changes what becomes of a call that must not run."""
        name = _unique(candidate.text, self.taken)
        text = draft_text(Draft("allow", candidate.tools, candidate.when), name, _REASON)
        if not self.force and _runs_anything(candidate, text):
            return False
        chosen = {**self.chosen, candidate: text}
        policy = self.with_rules(chosen.values())
        after = (_decide(policy, each).verdict for each in self.refused)
        if policy is self.policy or any(new is not old.verdict for new, old in zip(after, self._before, strict=True)):
            return False
        self.chosen = chosen
        self.taken.add(name)
        return True

    def with_rules(self, texts: Iterable[str]) -> AuthorizationPolicy:
        """Return the policy with rules; without them where they do not load."""
        try:
            return self.policy.with_rules(load_rules("schema = 1\n\n" + "\n".join(texts)))
        except ConfigError:
            return self.policy


def suggest(
    answered: Answered, policy: AuthorizationPolicy, *, most: int = 10, force: bool = False, taken: Iterable[str] = ()
) -> Suggested:
    """Return at most so many suggestions, the same for the same records; `taken` are known ids.

    With `force` also permissions that run any code, or every call of a tool.
    """
    open_, permitted, restricted = list[Asked](), 0, 0
    for each in answered.approved:
        decision = _decide(policy, each)
        if decision.verdict is Verdict.ALLOW:
            permitted += 1
        elif decision.phase is Phase.RESTRICTION:
            restricted += 1
        else:
            open_.append(each)
    search = _Search(policy, tuple(answered.refused.values()), set(taken), force)
    _choose(search, open_, most)
    return _result(search, open_, Suggested((), len(answered.approved), 0, permitted, restricted))


def _choose(search: _Search, asked: Sequence[Asked], most: int) -> None:
    """Choose rules until all is covered: each time that with the most questions, then the narrowest."""
    items: dict[tuple[int, int], set[str]] = {}
    candidates: dict[str, _Candidate] = {}
    known: dict[tuple[object, ...], list[list[_Candidate]]] = {}
    for number, each in enumerate(asked):
        if each.key not in known:
            known[each.key] = list(_candidates(each, search.policy, asked, force=search.force))
        for part, found in enumerate(known[each.key]):
            items[number, part] = {candidate.text for candidate in found}
            for candidate in found:
                same = candidates.get(candidate.text, candidate)
                candidates[candidate.text] = min(same, candidate, key=lambda each: each.width)
    while items and len(search.chosen) < most:
        gains = Counter(text for texts in items.values() for text in texts if text in candidates)
        if not gains:
            return
        best = min(gains, key=lambda text: (-gains[text], candidates[text].width, text))
        if search.add(candidates.pop(best)):
            items = {key: texts for key, texts in items.items() if best not in texts}


def _candidates(
    asked: Asked, policy: AuthorizationPolicy, others: Sequence[Asked], *, force: bool
) -> Iterator[list[_Candidate]]:
    """Yield, for each part of a call that needs a permission, the rules that would permit it."""
    call, explained = asked.call, policy.explain(asked.call, asked.context, asked.spec)
    if not explained.actions:
        yield [_candidate(keys, width) for width, keys in enumerate(_by_arguments(asked, others, force=force))]
    for trace in explained.actions:
        if trace.is_certain and trace.decision.verdict is not Verdict.ALLOW:
            found = choices(call, trace.action, asked.context.workspace)
            yield [_candidate(keys, width) for width, keys in enumerate(found)]


def _by_arguments(asked: Asked, others: Sequence[Asked], *, force: bool) -> Iterator[Conditions]:
    """Yield keys for a tool of which no action is known: all its arguments, those that are always the same, none."""
    tool, arguments = asked.call.tool, dict(asked.call.arguments)
    if not is_one_tool(tool):
        return
    if arguments and all(map(_is_short, arguments.values())):
        yield {"tools": [tool], "when": {"args": arguments}}
    alike = [each.call.arguments for each in others if each.call.tool == tool]
    same = {name: value for name, value in arguments.items() if all(each.get(name) == value for each in alike)}
    if len(same) < len(arguments) and same and all(map(_is_short, same.values())):
        yield {"tools": [tool], "when": {"args": same}}
    if force:
        yield {"tools": [tool]}


def _is_short(value: object) -> bool:
    return isinstance(value, bool | int) or (isinstance(value, str) and len(value) <= _LONGEST)


def _candidate(keys: Conditions, width: int) -> _Candidate:
    return _Candidate(keys, width, repr(keys))


def _decide(policy: AuthorizationPolicy, asked: Asked) -> Decision:
    return policy.decide(asked.call, asked.context, asked.spec)


def _runs_anything(candidate: _Candidate, text: str) -> bool:
    patterns = candidate.when.get("command", ())
    if any(_runs_its_arguments(pattern.split(maxsplit=1)[0]) for pattern in patterns):
        return True
    # What an operand is followed by may be code as well as what the program is followed by.
    wider = [f'[[rule]]\nid = "{number}"\neffect = "allow"\nwhen.command = ["{program} *"]'
             for number, program in enumerate(filter(None, map(_program_of_operands, patterns)))]  # fmt: skip
    rules = load_rules("\n".join(["schema = 1", text, *wider]))
    return any(finding.kind == _CODE for finding in lint(rules))


def _program_of_operands(pattern: str) -> str | None:
    """Return the program of a pattern where what follows it is known to be no sub-command, and more may follow."""
    program = pattern.split(maxsplit=1)[0]
    known = record_of(program_of([Word(program)]))
    has_sub_commands = known.commands or known.names_behind or known.views
    if not known.is_known or has_sub_commands or known.does or not pattern.endswith(" *"):
        return None
    return program


def _runs_its_arguments(program: str) -> bool:
    """Return whether a program is an interpreter, a shell, or runs what it is given."""
    words = [Word(program)]
    name = program_of(words)
    known = record_of(name)
    is_listed = (known.runner != "" and name not in _SELDOM) or wrapper_of(name) is not None
    return is_listed or known.shell != "" or known.wraps or not _RUNS.isdisjoint(known.does)


def _unique(text: str, taken: set[str]) -> str:
    words = [
        word for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in ("tools", "when", "command", "path")
    ]
    name = "-".join([_ID, *words])[:_LONGEST_SLUG].strip("-")
    number, unique = 1, name
    while unique in taken:
        number += 1
        unique = f"{name}-{number}"
    return unique


def _result(search: _Search, asked: Sequence[Asked], result: Suggested) -> Suggested:
    """Return the chosen rules that a call needs, with the calls that would be asked about without them."""
    chosen = dict(search.chosen)
    removed = _find_allowed(search.with_rules(chosen.values()), asked)
    for each in reversed(search.chosen):
        if not _needing(search, chosen, each, removed):
            del chosen[each]
    policy = search.with_rules(chosen.values())
    suggestions = [
        _suggestion(each, text, _needing(search, chosen, each, removed), policy) for each, text in chosen.items()
    ]
    suggestions.sort(key=lambda each: -len(each.calls))
    return attrs.evolve(result, suggestions=tuple(suggestions), removed=len(removed))


def _needing(
    search: _Search, chosen: Mapping[_Candidate, str], without: _Candidate, removed: Sequence[Asked]
) -> list[Asked]:
    rest = search.with_rules(text for key, text in chosen.items() if key is not without)
    allowed = {id(each) for each in _find_allowed(rest, removed)}
    return [each for each in removed if id(each) not in allowed]


def _find_allowed(policy: AuthorizationPolicy, asked: Sequence[Asked]) -> list[Asked]:
    """Return the calls that a policy allows; equal ones are decided on once."""
    first = {each.key: each for each in asked}
    allowed = {key for key, each in first.items() if _decide(policy, each).verdict is Verdict.ALLOW}
    return [each for each in asked if each.key in allowed]


def _suggestion(candidate: _Candidate, text: str, calls: Sequence[Asked], policy: AuthorizationPolicy) -> Suggestion:
    first, when = calls[0], candidate.when
    risk = riskiest(when, first.call, policy, first.context, first.spec)
    commands = when.get("command", ())
    is_exact = bool(commands) and not any("*" in pattern for pattern in commands)
    return Suggestion(text, tuple(calls), risk, is_exact)
