"""Whether a rule that was made decides as that of the host: calls are made of its pattern, and both are asked.

An importer says, of each call, whether the rule of the host is about it; the engine says it of ours.
"""

import functools
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import attrs

from permitry.actions.extract import ReadActions
from permitry.config.ruleset import RuleSet
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry_hosts.importers.drafts import Outcome, Probe, Row

__all__ = [
    "HOME", "WORKSPACE", "Matcher", "compare", "fill_stars", "is_about_all", "is_about_any", "matcher_of", "parts_of",
    "probe_commands", "probe_texts", "probe_tools",
]  # fmt: skip

Matcher: TypeAlias = Callable[[str], bool]
"""What a host says of a text: whether its rule is about it."""

HOME = "/home/user"
WORKSPACE = f"{HOME}/project"
"""The folders of the calls that are tried."""

_FILLINGS = ("", "a", "a b")
_MOST_VARIED = 2
_SESSION = AuthContext(workspace=WORKSPACE, attended=True)
_PART = re.compile(r"""((?:'[^']*'|"[^"]*"|[^;&|\n'"])+)""")


def fill_stars(pattern: str) -> list[str]:
    """Return texts that a pattern with stars is about: with nothing, a word, and two words for each."""
    filled = [re.sub(r"\*+", filling, pattern) for filling in _FILLINGS]
    return list(dict.fromkeys(text for each in filled if (text := re.sub(r"\s+", " ", each).strip())))


def probe_commands(own: Iterable[str], tool: str, matches: Matcher) -> tuple[Probe, ...]:
    """Return calls of a shell: each text, and of two variants in words, quotes and the folder."""
    found: dict[str, bool] = {}
    for number, text in enumerate(own):
        found[text] = False
        if number >= _MOST_VARIED:
            continue
        *words, last = text.split(" ")
        quoted = last if set(last) & set("'\"$`\\") else f'"{last}"'
        more = (f"{text} more", f'{text} "two words"', f"cd x && {text}", " ".join(words))
        found |= dict.fromkeys(filter(_is_closed, more), False)
        found.setdefault(" ".join([*words, quoted]), True)
    return tuple(Probe(tool, {"command": text}, text, matches(text), quoted) for text, quoted in found.items())


def _is_closed(text: str) -> bool:
    try:
        return shlex.split(text) != []
    except ValueError:
        return False


def probe_tools(names: Iterable[str], matches: Matcher) -> tuple[Probe, ...]:
    """Return the calls without arguments of tools, and of those whose names have a letter more or less at an end."""
    near = dict.fromkeys(text for name in names for text in (name, f"{name}x", f"x{name}", name[:-1]))
    return tuple(Probe(name, {}, f"{name}()", matches(name)) for name in near if re.fullmatch(r"[\w.-]*[^\W_]", name))


def probe_texts(own: Iterable[str], tool: str, argument: str, matches: Matcher) -> tuple[Probe, ...]:
    """Return the calls with texts that a pattern is about in an argument: each alone, with more, and below a folder."""
    texts = dict.fromkeys(each for text in own for each in (text, f"{text}x", f"x/{text}", f"{text}/x"))
    return tuple(Probe(tool, {argument: text}, text, matches(text)) for text in texts)


def parts_of(text: str) -> list[str]:
    """Return the commands of a text that hosts take apart at operators."""
    return [part for found in _PART.findall(text) if (part := found.strip())]


def matcher_of(matches: Matcher, *, is_permission: bool) -> Matcher:
    """Return what says whether a rule is about a text, of what says it of one command."""
    return functools.partial(is_about_all if is_permission else is_about_any, matches=matches)


def is_about_any(text: str, matches: Matcher) -> bool:
    """Return whether a restriction is about a command of a text, or about the text as a whole."""
    return matches(text) or any(map(matches, parts_of(text)))


def is_about_all(text: str, matches: Matcher) -> bool:
    """Return whether a permission is about each command of a text; one for a change of the folder is not needed."""
    return all(matches(part) for part in parts_of(text) if not part.startswith("cd "))


def compare(rows: Sequence[Row], ids: Sequence[Sequence[str]], rules: RuleSet) -> Iterator[Row]:
    """Yield the rows, with what their rules with the ids, of all `rules`, decide otherwise on probes."""
    reader = ReadActions(HOME, has_disk=False)

    def policy_of(names: Sequence[str]) -> AuthorizationPolicy:
        chosen = tuple(rule for rule in rules.rules if rule.id in names)
        return attrs.evolve(attrs.evolve(rules, rules=chosen, unmatched=Verdict.CONFIRM).policy(), reader=reader)

    built_in = policy_of(())
    for row, names in zip(rows, ids, strict=True):
        yield _compare(row, policy_of(names), built_in, set(names)) if names and row.probes else row


def _compare(row: Row, policy: AuthorizationPolicy, built_in: AuthorizationPolicy, names: set[str]) -> Row:
    more: list[Probe] = []
    fewer: list[Probe] = []
    for probe in row.probes:
        call = ToolCall(probe.tool, probe.arguments)
        decision = policy.decide(call, _SESSION)
        if row.effect != "allow":
            is_matched = decision.rule_id in names
        elif built_in.decide(call, _SESSION).verdict is Verdict.ALLOW:
            continue
        else:
            is_matched = decision.verdict is Verdict.ALLOW
        if is_matched != probe.matches:
            (more if is_matched else fewer).append(probe)
    return _report(row, more, fewer)


def _report(row: Row, more: Sequence[Probe], fewer: Sequence[Probe]) -> Row:
    looser, stricter = (more, fewer) if row.effect == "allow" else (fewer, more)
    for outcome, found in ((Outcome.LOOSER, looser), (Outcome.STRICTER, stricter)):
        plain = [probe for probe in found if not probe.is_quoted]
        if plain and (row.outcome is Outcome.SAME or outcome is Outcome.LOOSER):
            also = "also" if found is more else "not"
            note = "; ".join(filter(None, (row.note, f"{also} `{plain[0].shown}`")))
            return attrs.evolve(row, outcome=outcome, note=note)
    if (more or fewer) and row.outcome is Outcome.SAME:
        return attrs.evolve(row, outcome=Outcome.SAME_WORDS)
    return row
