"""The riskiest call that a permission would also allow, as far as it is known what would be risky."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from permitry.actions.derive.runners import program_of
from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.entries import Entry
from permitry.core.action import Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.spec import ToolSpec

__all__ = ["Risk", "riskiest"]

_NOTHING = "nothing is known about its arguments"
_WORST = ("runs", "starts", "deletes", "reads another", "changes", "writes")
_FILES = (
    (".git/hooks/pre-commit", "git runs it"), ("conftest.py", "the tests run it"), ("Makefile", "make runs it"),
    ("package.json", "npm runs what it says"), (".env", "it may hold secrets"), ("a/b/c.txt", "any file below it"),
)  # fmt: skip


@attrs.frozen
class Risk:
    """A call that a permission allows, as text, and why one may not want that."""

    call: str
    why: str


def riskiest(
    when: Mapping[str, Any], like: ToolCall, policy: AuthorizationPolicy, context: AuthContext, spec: ToolSpec | None
) -> Risk | None:
    """Return the first risky call, made from one `like` it, that conditions and a policy allow."""
    for text, why, call in _examples(when, like):
        if policy.decide(call, context, spec).verdict is Verdict.ALLOW:
            return Risk(text, why)
    return None


def _examples(when: Mapping[str, Any], like: ToolCall) -> Iterator[tuple[str, str, ToolCall]]:
    for pattern in when.get("command", ()):
        for text, why in _commands(pattern):
            yield text, why, _with(like, text)
    for pattern in when.get("path", ()):
        if pattern.endswith("/**"):
            paths = [(f"{pattern.removesuffix('**')}{name}", why) for name, why in _FILES]
            yield from ((f"{like.tool} {path}", why, _with(like, path)) for path, why in paths)
        elif "write" in when.get("access", ()):
            yield f"{like.tool} {pattern}", "with any content", like
    for host in when.get("host", ()):
        address = f"{host if '://' in host else f'https://{host}'}".rstrip("/") + "/?data=anything"
        yield f"{like.tool} {address}", "an address can carry data out", _with(like, address)
    if "args" in when:
        others = {name: value for name, value in like.to_dict().items() if name not in when["args"]}
        for name in sorted(others):
            call = ToolCall(like.name, {**like.to_dict(), name: "anything"}, kind=like.kind, server=like.server)
            yield f"{like.tool} {name}=anything", "its other arguments may be anything", call


def _with(like: ToolCall, text: str) -> ToolCall:
    """Return the call with another command, path or address: in place of the first text that it has."""
    arguments = like.to_dict()
    names = ("command", "cmd", "path", "file_path", "url")
    name = next((each for each in (*names, *arguments) if isinstance(arguments.get(each), str)), "command")
    return ToolCall(like.name, {**arguments, name: text}, kind=like.kind, server=like.server)


def _commands(pattern: str) -> Iterator[tuple[str, str]]:
    """Yield commands that a pattern covers, and what they do, the worst first."""
    if not pattern.endswith(" *"):
        return
    stem = pattern.removesuffix(" *")
    words = stem.split()
    entry = record_of(program_of([Word(words[0])]))
    for option, does in sorted(_entry_of(entry, words[1:]).refused.items(), key=_badness):
        yield from ((f"{stem} {form}", does) for form in _forms(option))
    yield f"{stem} --any-option anything", _NOTHING if "network" in entry.does else entry.reason or _NOTHING


def _forms(option: str) -> Iterable[str]:
    return (f"{option}=x", option, f"{option} x") if option.startswith("--") else (option, f"{option} x")


def _entry_of(entry: Entry, words: list[str]) -> Entry:
    for word in words:
        if word not in entry.commands:
            return entry
        entry = entry.commands[word]
    return entry


def _badness(item: tuple[str, str]) -> tuple[int, str]:
    option, does = item
    return next((at for at, word in enumerate(_WORST) if does.startswith(word)), len(_WORST)), option
