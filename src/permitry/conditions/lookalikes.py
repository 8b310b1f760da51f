"""What the patterns of a restriction seem to mean and do not: for lint, and for near misses."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import attrs

from permitry.conditions._conditions import Conditions
from permitry.conditions.args import ArgumentCondition, argument_condition
from permitry.conditions.command import ArgvPattern
from permitry.conditions.host import HostPattern, is_name
from permitry.conditions.path import PathPattern
from permitry.core.place import WILDCARDS
from permitry.errors import RuleError

__all__ = ["LookAlike", "look_alikes"]

Pattern = TypeVar("Pattern")

_MOST_WORDS = 31
_HOME = re.compile(r"\$(?:HOME|\{HOME\})(?=/|$)")
_VARIABLE = re.compile(r"\$\w|\$\{|%\w+%")
_PART = re.compile(r"\*[\w.-]+\*")
_ENDING = re.compile(r"\*\.\w+|\.env(?:\.\w+|\.?\*)?")
"""Names of files that may be in any folder."""
_FOLDER = re.compile(r"[A-Za-z][\w-]*")
_HIDDEN_FOLDERS = frozenset(
    {".aws", ".azure", ".cargo", ".docker", ".git", ".github", ".gnupg", ".kube", ".ssh", ".vscode"}
)
_FILES = frozenset(
    {
        "authorized_keys", "brewfile", "caddyfile", "codeowners", "config", "credentials", "crontab", "dockerfile",
        "fstab", "gemfile", "group", "hosts", "id_ed25519", "id_rsa", "jenkinsfile", "justfile", "known_hosts",
        "license", "makefile", "passwd", "procfile", "readme", "shadow", "sudoers", "vagrantfile",
    }
)  # fmt: skip
_COMPARISON = re.compile(r"(<=|>=|<|>)\s*(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)")
_OPERATORS = {"<=": "le", ">=": "ge", "<": "lt", ">": "gt"}


@attrs.frozen
class LookAlike:
    """A pattern that fits less than it seems to: why, and how to write what it seems to mean.

    `meant` are the conditions with that in its place, None if they cannot be written. `is_likely`: it
    is not likely to be meant as it is written.
    """

    pattern: str
    reason: str
    hint: str
    meant: Conditions | None = None
    is_likely: bool = True


def look_alikes(when: Conditions) -> Iterator[LookAlike]:
    """Yield the patterns of a restriction that fit less than they seem to."""
    values = (each for each in when.plain if isinstance(each, ArgumentCondition))
    yield from _write_each(_program, when, when.commands)
    yield from _write_each(_folder, when, when.paths)
    yield from _write_each(_domain, when, when.hosts)
    yield from _write_each(_value, when, values)


def _write_each(
    write: Callable[[Conditions, Pattern], Iterator[LookAlike]], when: Conditions, patterns: Iterable[Pattern]
) -> Iterator[LookAlike]:
    for pattern in patterns:
        try:
            yield from write(when, pattern)
        except RuleError:
            # What it seems to mean would be too long, or cut a brace or a quote in two.
            continue


def _program(when: Conditions, pattern: ArgvPattern) -> Iterator[LookAlike]:
    text, tokens = pattern.text, pattern.tokens
    plain = _without_regex(text).strip()
    if plain not in ("", text):
        reason = f"`{text}` is compared letter by letter but for `*` and `?`: it is not a regular expression"
        yield _write_so(when, pattern, reason, plain)
    elif _PART.fullmatch(text):
        yield _write_so(when, pattern, f"`{text}` is the name of a program, not a word behind it", f"* ** {text} **")
    elif not tokens[-1].is_any and len(tokens) <= _MOST_WORDS:
        # Lint says by `no-further-arguments` which of them are likely.
        reason = f"`{text}` fits the command without any further argument only"
        yield attrs.evolve(_write_so(when, pattern, reason, f"{text} *"), is_likely=False)


def _write_so(when: Conditions, pattern: ArgvPattern, reason: str, text: str) -> LookAlike:
    meant = attrs.evolve(when, commands=(attrs.evolve(pattern, text=text),))
    return LookAlike(pattern.text, reason, f"write `{text}`", meant)


def _without_regex(text: str) -> str:
    """Return a pattern over words in place of a regular expression, where a text looks like one."""
    words = re.sub(r"(?:\s|\\s[+*]?)*\.\*", " *", text.removeprefix("^"))
    return f"{words} *" if text == f"^{words}" else words


def _folder(when: Conditions, pattern: PathPattern) -> Iterator[LookAlike]:
    text = pattern.text.rstrip("/")
    if _VARIABLE.search(text):
        home = _HOME.sub("~", text, count=1) if _HOME.match(text) else None
        meant = None if home is None else attrs.evolve(when, paths=(PathPattern(home),))
        hint = "write the folder from `/`, from `~/` or from the workspace" if home is None else f"write `{home}`"
        yield LookAlike(text, f"`{text}` is not expanded, as no variable is", hint, meant)
        return
    name = text.rpartition("/")[2]
    if text == name and _ENDING.fullmatch(name):
        deep = f"/**/{text}"
        is_likely = not any(each.text.endswith(f"/{text}") for each in when.paths)
        reason = f"`{text}` is in the workspace itself, in no folder of it"
        meant = attrs.evolve(when, paths=(PathPattern(deep),))
        yield LookAlike(text, reason, f"write `{deep}`", meant, is_likely=is_likely)
        return
    if not name or WILDCARDS.intersection(name) or name in (".", "~"):
        return
    below = f"{text}/**"
    is_folder = _FOLDER.fullmatch(name) is not None and name.lower() not in _FILES
    has_more = any(each.text.startswith(f"{text}/") for each in when.paths if each is not pattern)
    is_likely = (is_folder or name in _HIDDEN_FOLDERS) and not has_more
    reason = f"`{text}` is this one entry, and nothing below it"
    hint = f"write `{below}` next to it, if it is a folder"
    yield LookAlike(text, reason, hint, attrs.evolve(when, paths=(PathPattern(below),)), is_likely=is_likely)


def _domain(when: Conditions, pattern: HostPattern) -> Iterator[LookAlike]:
    is_ending, text = pattern.host.startswith("."), pattern.text
    if not (is_ending or is_name(pattern.host)):
        return
    below = f"*{pattern.host}" if is_ending else f"*.{pattern.host}"
    meant = attrs.evolve(when, hosts=(attrs.evolve(pattern, text=below, host=below),))
    if is_ending:
        yield LookAlike(text, f"no host is called `{text}`", f"write `{below}`", meant)
        return
    is_likely = pattern.host.count(".") == 1 and not any(each.host == below for each in when.hosts)
    reason = f"`{text}` is this one host, and no subdomain of it"
    yield LookAlike(text, reason, f"write `{below}` next to it", meant, is_likely=is_likely)


def _value(when: Conditions, condition: ArgumentCondition) -> Iterator[LookAlike]:
    check = condition.test.checks[0]
    if condition.test.is_optional or len(condition.test.checks) > 1 or check.name not in ("eq", "in"):
        return
    name = ".".join(("when.args", *condition.path))
    for text in (check.operand,) if check.name == "eq" else check.operand:
        found = _guess_meaning(text) if isinstance(text, str) else None
        if found is not None:
            operator, operand = found
            why = "letter by letter, the star as well" if operator == "glob" else "as a text"
            meant = argument_condition(condition.path, {operator: operand})
            plain = tuple(meant if each is condition else each for each in when.plain)
            reason = f"`{text}` of `{name.removeprefix('when.')}` is compared {why}"
            hint = f"write `{name} = {{ {operator} = {json.dumps(operand)} }}`"
            yield LookAlike(text, reason, hint, attrs.evolve(when, plain=plain))


def _guess_meaning(text: str) -> tuple[str, object] | None:
    """Return the operator and the operand that a text seems to mean."""
    found = _COMPARISON.fullmatch(text)
    if found is not None:
        return _OPERATORS[found[1]], json.loads(found[2])
    return ("glob", text) if "*" in text and not text.startswith("!") else None
