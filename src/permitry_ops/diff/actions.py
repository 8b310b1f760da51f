"""Calls that do what patterns of commands, paths and hosts are about, or nothing of it."""

import functools
import itertools
import os.path
import shlex
from collections.abc import Iterator, Mapping, Sequence

import attrs

from permitry.conditions.match import Match
from permitry.core.action import Access, Roots, Run
from permitry.core.spec import ArgumentRole
from permitry_ops.diff import regions
from permitry_ops.diff.contexts import Patch
from permitry_ops.diff.language import ANYTHING, Language, Repeat, TooLargeError, shortest, texts
from permitry_ops.diff.regex import UnreadError
from permitry_ops.diff.side import Side
from permitry_ops.diff.ways import Literal, Patterns

__all__ = ["BY_ACCESS", "Actions", "Unsolved"]

_SHELL = "run_shell"
_MOST_TEXTS = 3
BY_ACCESS = {
    Access.READ: ("read_file", "cat"),
    Access.LIST: ("list_dir", "ls"),
    Access.WRITE: ("write_file", "touch"),
    Access.DELETE: ("delete_file", "rm"),
}
_OF_CURL = {Access.READ: "-T", Access.WRITE: "-o"}
_ROLES: Mapping[str, Mapping[ArgumentRole, Access | None]] = {
    "command": {ArgumentRole.COMMAND: None, ArgumentRole.COMMAND_OR_ARGV: None},
    "path": {
        ArgumentRole.READ_PATH: Access.READ,
        ArgumentRole.READ_TREE: Access.READ,
        ArgumentRole.LIST_TREE: Access.LIST,
        ArgumentRole.WRITE_PATH: Access.WRITE,
        ArgumentRole.DELETE_PATH: Access.DELETE,
    },
    "host": {ArgumentRole.URL: None},
}
_ENDINGS = (("--help",), ("status",), ("--dry-run",), ("-c", "zz x"))
_LIKELY = {"command": "command", "path": "path", "host": "url"}
_KINDS = ("command", "path", "host")


@attrs.define
class Unsolved:
    """The conditions for which there may be calls that fare otherwise than those that are tried."""

    names: dict[str, None] = attrs.field(factory=dict)

    def add(self, name: str) -> None:
        """Add the name of a condition, or a phrase."""
        self.names[name] = None


@attrs.frozen
class Actions:
    """Makes calls by what both sides know of tools."""

    old: Side
    new: Side

    def patches(self, tool: str, literals: Sequence[Literal], unsolved: Unsolved) -> Iterator[Patch]:
        """Yield the arguments with which a tool does what patterns are about, or nothing of it."""
        wanted = {each.part.kind for each in literals if each.is_wanted and isinstance(each.part, Patterns)}
        placed = self._arguments_of(tool, wanted)
        try:
            if "command" in placed:
                for words in self._commands(literals, wanted):
                    yield {"arguments": {placed["command"][0][0]: shlex.join(words)}}
            elif wanted <= set(placed):
                arguments = [(name, kind, access) for kind, names in placed.items() for name, access in names]
                choices = [self._texts(kind, literals, access) for _, kind, access in arguments]
                for some in itertools.product(*choices):
                    yield {"arguments": {name: text for (name, _, _), text in zip(arguments, some, strict=True)}}
        except (UnreadError, TooLargeError) as error:
            unsolved.add(str(error) or f"`{next(iter(wanted), 'command')}`")

    def _arguments_of(self, tool: str, wanted: set[str]) -> Mapping[str, Sequence[tuple[str, Access | None]]]:
        """Return the arguments that patterns are about, by kind, and what is done to a path."""
        spec = self.new.tool(tool) or self.old.tool(tool)
        if spec is not None and spec.roles is not None:
            every = ((kind, list(_arguments_for(kind, spec.roles))) for kind in _KINDS)
            return {kind: names for kind, names in every if names}
        return {kind: [(_LIKELY[kind], None)] for kind in wanted}

    def _commands(self, literals: Sequence[Literal], wanted: set[str]) -> Iterator[list[str]]:
        """Yield the words of commands that patterns are about; at their end is what else is wanted."""
        if "command" not in wanted and wanted:
            yield from self._commands_on(literals, wanted)
            return
        paths, hosts = (self._texts(kind, literals)[:1] if kind in wanted else [] for kind in ("path", "host"))
        if ("path" in wanted and not paths) or ("host" in wanted and not hosts):
            return
        kept, refused = self._languages("command", literals)
        ending = _end_in((*paths, *hosts))
        yield from _find_commands(kept, refused, ending)
        # What follows may make it one that only looks, or runs another, which other rules permit.
        for last in _ENDINGS if kept else ():
            text = shortest([regions.COMMANDS[-1], *kept, _end_in(last)], refused)
            if text is not None:
                yield _words_of(text)
        # A wildcard of a permission permits no command that another one runs; other words do.
        strict = [each for each in literals if each.is_wanted or each.needed is not Match.YES]
        if kept and len(strict) < len(literals):
            left = _find_commands(*self._languages("command", strict), ending)
            yield from filter(self._runs_another, left)

    def _runs_another(self, words: Sequence[str]) -> bool:
        """Return whether a command runs another one, such as `sudo`."""
        request = self.new.request({"name": _SHELL, "arguments": {"command": shlex.join(words)}})
        return any(isinstance(each, Run) and each.within for each in request.actions.certain)

    def _commands_on(self, literals: Sequence[Literal], wanted: set[str]) -> Iterator[list[str]]:
        """Yield commands that touch a path as patterns ask for, or connect to a host, or both."""
        hosts = self._texts("host", literals)[:1] if "host" in wanted else []
        if "path" not in wanted or ("host" in wanted and not hosts):
            yield from (["curl", host] for host in hosts)
            return
        for access, (_, program) in BY_ACCESS.items():
            for path in self._texts("path", literals, access)[:1]:
                if not hosts:
                    yield [program, path]
                elif access in _OF_CURL:
                    yield ["curl", _OF_CURL[access], path, *hosts]

    def _texts(self, kind: str, literals: Sequence[Literal], access: Access | None = None) -> list[str]:
        """Return paths or addresses that patterns of a kind are about, or that none of them is about."""
        wanted = [each.part for each in literals if each.is_wanted and isinstance(each.part, Patterns)]
        if access is not None and any(not _is_met(access, each) for each in wanted if each.kind == kind):
            return []
        kept, refused = self._languages(kind, literals, access)
        for natural in regions.HOSTS if kind == "host" else (_below(self.new.workspace), regions.PATHS):
            found = list(itertools.islice(texts([natural, *kept], refused), _MOST_TEXTS))
            if found:
                return [_show(kind, text, self.new.workspace) for text in found]
        return []

    def _languages(
        self, kind: str, literals: Sequence[Literal], access: Access | None = None
    ) -> tuple[list[Language], list[Language]]:
        """Return the languages of the patterns of a kind that must match, and of those that must not.

        Patterns that are about less than their texts say may not match any of these.
        """
        kept: list[Language] = []
        refused: list[Language] = []
        for each in literals:
            part = each.part
            if not isinstance(part, Patterns) or part.kind != kind:
                continue
            is_exact = each.needed is Match.YES
            language = regions.language_of(
                part.each, self._roots, is_permission=is_exact, is_refused=not each.is_wanted
            )
            if each.is_wanted:
                kept.append(language)
            elif not part.looks and (not part.accesses or access in part.accesses):
                refused.append(language)
        return kept, refused

    @functools.cached_property
    def _roots(self) -> Roots:
        return self.new.roots


def _find_commands(kept: Sequence[Language], refused: Sequence[Language], ending: Language) -> Iterator[list[str]]:
    """Yield commands in some languages and in none of others, the most natural first."""
    for every in regions.COMMANDS:
        found = list(itertools.islice(texts([every, *kept, ending], refused), _MOST_TEXTS))
        yield from map(_words_of, found)
        if found:
            break


def _arguments_for(kind: str, roles: Mapping[str, ArgumentRole]) -> Iterator[tuple[str, Access | None]]:
    """Yield the arguments of a tool that hold what patterns of a kind are about, and what is done to a path."""
    for key, role in roles.items():
        if role not in _ROLES[kind]:
            continue
        # A list, or a field of an object, is written otherwise.
        plain = (name for name in key.removesuffix("?").split("|") if not set(name) & set("[].?"))
        if (name := next(plain, None)) is not None:
            yield name, _ROLES[kind][role]


def _is_met(access: Access, patterns: Patterns) -> bool:
    """Return whether patterns may be about an access; who reads a file sees that it is there."""
    looks = {Access.READ, Access.LIST}
    accesses = patterns.accesses | looks if patterns.accesses & looks else patterns.accesses
    return not accesses or access in accesses


def _end_in(words: Sequence[str]) -> Language:
    """Return the commands that end in some words."""
    return Language((ANYTHING, *((word, regions.END) for word in words)))


def _words_of(text: str) -> list[str]:
    return text.split(regions.END)[:-1]


def _below(workspace: str) -> Language:
    return Language((workspace.rstrip("/"), Repeat(("/", regions.ENTRY), 1)))


def _show(kind: str, text: str, workspace: str) -> str:
    """Return a path or an address as a caller would write it."""
    if kind == "path":
        text = text or "/"
        inner = os.path.relpath(text, workspace)
        return text if inner.startswith("..") else inner
    return text.removesuffix(":443") if text.startswith("https://") else text.removesuffix(":80")
