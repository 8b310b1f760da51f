"""From a call to its actions: what it reads, writes, runs and connects to, by the roles of its arguments."""

import functools
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, assert_never

import attrs

from permitry.actions.disk import Disk
from permitry.actions.folders import Folder
from permitry.actions.history import View
from permitry.actions.kept import Kept, key_of
from permitry.actions.paths import apart, roots_of
from permitry.actions.programs.catalogue import Catalogue, using
from permitry.actions.programs.records import Records
from permitry.actions.selection import EVERYTHING, Selection, narrow, select
from permitry.core.action import Access, Action, Actions, Connect, Delegate, Descent, Roots, Run, Touch, Unknown, Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.json_values import JsonValue
from permitry.core.spec import ArgumentRole, Misshapen, ToolSpec, names_of, values_of

if TYPE_CHECKING:
    from permitry.actions.derive.script import ShellReading

__all__ = ["HARMLESS_ARGUMENTS", "ReadActions"]

HARMLESS_ARGUMENTS = frozenset(
    {
        "description", "explanation", "is_background", "justification", "max_output_chars", "max_output_tokens",
        "run_in_background", "timeout", "timeout_ms", "timeout_sec", "timeout_seconds", "yield_time_ms",
    }
)  # fmt: skip
"""Arguments that, next to a command, change nothing about what it does."""

_ACCESS = {
    ArgumentRole.READ_PATH: Access.READ,
    ArgumentRole.READ_TREE: Access.READ,
    ArgumentRole.LIST_TREE: Access.LIST,
    ArgumentRole.WRITE_PATH: Access.WRITE,
    ArgumentRole.DELETE_PATH: Access.DELETE,
}
_DESCENTS = {ArgumentRole.READ_TREE: Descent.SOME, ArgumentRole.LIST_TREE: Descent.NAMES}
_ABOUT = {
    **dict.fromkeys((*_ACCESS, ArgumentRole.PATCH), "path"),
    ArgumentRole.URL: "host",
    ArgumentRole.AGENT: "agent",
}
_COMMANDS = frozenset({ArgumentRole.COMMAND, ArgumentRole.ARGV, ArgumentRole.COMMAND_OR_ARGV})
_ENDS = re.compile(r"[\x03\x04]*")
"""Nothing, Ctrl-C and Ctrl-D: they end what runs, or its input, and start nothing."""
_BYTES = re.compile(r"""b(['"]).*\1""", re.DOTALL)
_MOST_GUESSES = 500
_MOST_GUESSED_TEXT = 32 * 1024
_MOST_ACTIONS = 2_000


@attrs.frozen
class ReadActions:
    """Reads from a call what it would do; `home` is the folder that `~` means, None if there is none.

    With `has_disk` False, no link is looked up on the disk: for results that must be the same on every machine.
    `records` are those of programs that rule files have; only the trusted ones count here.
    """

    home: str | None = None
    has_disk: bool = True
    records: Records = attrs.field(default=Records(), kw_only=True)
    _counts_all: bool = attrs.field(default=False, kw_only=True, repr=False)
    _kept: Kept = attrs.field(factory=Kept, init=False, eq=False, repr=False)

    @functools.cached_property
    def catalogue(self) -> Catalogue:
        """What is known about programs."""
        return (self.records if self._counts_all else self.records.trusted).catalogue()

    @functools.cached_property
    def others(self) -> "tuple[ReadActions, ...]":
        """The readers by which restrictions are asked too: no record takes away what was known."""
        below = () if self._counts_all else self.records.below
        return tuple(attrs.evolve(self, records=records) for records in below)

    @functools.cached_property
    def doubtful(self) -> "ReadActions | None":
        """The reader for which the records count that are not trusted; None if there are none."""
        has_doubtful = not self._counts_all and any(each.rank == 0 for each in self.records.every)
        if has_doubtful:
            return attrs.evolve(self, counts_all=True)
        return None

    @property
    def digest(self) -> str:
        """A digest of what is known besides what permitry knows itself; else empty."""
        return self.records.digest

    def with_records(self, added: Records) -> "ReadActions":
        """Return the same reader with more records."""
        records = Records((*self.records.every, *added.every))
        if added.every:
            return attrs.evolve(self, records=records)
        return self

    def __call__(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> Actions:
        """Return the actions of `call` in `context`; for paths, the file system is looked at."""
        key = None if spec is None or spec.roles is None else key_of(call, context)
        if key is None or spec is None:
            disk = Disk(self.has_disk, workspace=context.workspace)
            return self._read(call, context, spec, disk)
        actions = self._kept.find(key, spec)
        if actions is None:
            disk = Disk(self.has_disk, workspace=context.workspace)
            actions = self._read(call, context, spec, disk)
            self._kept.keep(key, spec, disk, actions)
        return actions

    def _read(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None, disk: Disk) -> Actions:
        with using(self.catalogue):
            return self._look(call, context, spec, disk)

    def _look(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None, disk: Disk) -> Actions:
        roots = roots_of(context.workspace, self.home, view=View(disk))
        # The last name of the workspace is the one with links resolved, so that a `cd` from it leads where the kernel
        # says. Without a workspace, relative paths most likely start at the current folder of this process; that is
        # enough for a restriction, but not for a permission.
        bases = roots.workspace[-1:] or _current_folder()
        folder = Folder(bases, self.home, is_certain=bool(roots.workspace), disk=disk)
        if spec is not None and spec.folder is not None:
            folder = folder.entered(spec.folder)
        if spec is None or spec.roles is None:
            return Actions(guessed=tuple(_guesses(call, folder)), roots=roots, doubt="what it does is not declared")
        actions = _Extraction(call, spec, spec.roles, folder).actions(roots)
        if call.server is None or spec.folder is not None:
            return actions
        # The program of a server looks for relative paths where it likes. The workspace is likely, so that restrictions
        # see the paths there as well, and it is not certain.
        return _also(_Extraction(call, spec, spec.roles, folder.lost()).actions(roots), actions)


@attrs.define
class _Extraction:
    """Collects the actions of one call.

    It begins in the folder `start`; `folder` is the one that its arguments lead to so far, and
    `has_moved` whether an argument names another one than `start`. `doubts` are the reasons why it
    may do more than read.
    """

    call: ToolCall
    spec: ToolSpec
    roles: Mapping[str, ArgumentRole]
    folder: Folder
    certain: list[Action] = attrs.field(factory=list)
    possible: list[Action] = attrs.field(factory=list)
    guessed: list[Action] = attrs.field(factory=list)
    doubts: list[str] = attrs.field(factory=list)
    has_moved: bool = False
    start: Folder = attrs.field(init=False)

    @start.default
    def _where_it_starts(self) -> Folder:
        return self.folder

    def actions(self, roots: Roots) -> Actions:
        """Return all actions of the call."""
        # The folder in which a command runs must be known before the command is read.
        for key, role in sorted(self.roles.items(), key=lambda item: item[1] is not ArgumentRole.FOLDER):
            self.argument(key, role)
        if self.spec.traits.spawns_agent is True and not any(isinstance(each, Delegate) for each in self.certain):
            self.certain.append(Delegate())
        if self.spec.is_shell:
            self.add_unexplained()
        doubt = next(iter(self.doubts), None)
        return Actions(tuple(self.certain), tuple(self.possible), tuple(self.guessed), roots, doubt)

    def argument(self, key: str, role: ArgumentRole) -> None:
        values = values_of(self.call.arguments, key)
        if values:
            for origin, value in values:
                if len(self.certain) >= _MOST_ACTIONS:
                    self.unknown("", f"the call has more than {_MOST_ACTIONS} actions")
                    break
                self.value(origin, value, role)
        elif role in _DESCENTS and self.may_lack(key):
            self.path("", ".", role)
        elif not self.may_lack(key):
            self.unknown("", f"the argument `{key}` is missing", role)

    def may_lack(self, key: str) -> bool:
        """Return whether the argument may be missing: its key or the schema says so, or the list it is in is empty."""
        names = key.split("|")
        if all(name.endswith("?") for name in names):
            return True
        if any("[]" in name and self.call.arguments.get(name.split("[")[0]) == () for name in names):
            return True
        known, required = self.spec.parameters.get("properties"), self.spec.parameters.get("required", ())
        return isinstance(known, Mapping) and key in known and isinstance(required, tuple) and key not in required

    def value(self, origin: str, value: "JsonValue | Misshapen", role: ArgumentRole) -> None:
        """Add the actions of one argument that has this role."""
        if role in (ArgumentRole.GLOB, ArgumentRole.TEXT):
            return
        if isinstance(value, Misshapen):
            problem = "is missing" if value.value is None else "has another shape than is declared"
            self.unreadable(origin, problem, value.value, role)
        elif isinstance(value, str) and _BYTES.fullmatch(value):
            self.unreadable(origin, "is written as bytes", value[2:-1], role)
        elif role in _COMMANDS:
            self.command(origin, value, role)
        elif role is ArgumentRole.INPUT:
            self.typed(origin, value)
        elif isinstance(value, str):
            self.text(origin, value, role)
        else:
            self.unreadable(origin, "is not a string", value, role)

    def unreadable(self, origin: str, problem: str, value: JsonValue, role: ArgumentRole) -> None:
        """Add an argument that is not what its role says; a restriction still sees the texts in it."""
        self.unknown(origin, f"the argument `{origin}` {problem}", role)
        for text in _texts(value):
            if role in _COMMANDS:
                self.loosely(text)
            else:
                self.guessed += _guess(text, self.folder)

    def command(self, origin: str, value: JsonValue, role: ArgumentRole) -> None:
        readings = self.readings(value, role)
        if not readings:
            self.unreadable(origin, "is not a command", value, role)
        if self.spec.applies_patches:
            readings = _with_patch(value, readings)
        for reading in readings:
            self.folder = self.folder.after(reading.changes)
            self.certain += reading.certain
            self.possible += reading.possible
            self.guessed += reading.guessed
            self.doubts += filter(None, (reading.doubt,))

    def readings(self, value: JsonValue, role: ArgumentRole) -> "Sequence[ShellReading]":
        """Return what an argument may mean that is a command; nothing where it has another type.

        INVARIANT: law 4. A shell makes several commands of a list, and a restriction holds for any of them.
        """
        from permitry.actions.derive.lists import read_list  # noqa: PLC0415 -- most calls have no command
        from permitry.actions.derive.script import read_argv, read_command  # noqa: PLC0415 -- as above

        if isinstance(value, str):
            is_text = role is not ArgumentRole.ARGV
            if is_text:
                return (read_command(value, self.folder, has_moved=self.has_moved),)
            return ()
        words = [word for word in value if isinstance(word, str)] if isinstance(value, tuple) else []
        if not (isinstance(value, tuple) and words and len(words) == len(value)):
            return ()
        if role is ArgumentRole.COMMAND:
            return read_list(words, self.folder, has_moved=self.has_moved)
        return (read_argv(words, self.folder, has_moved=self.has_moved),)

    def typed(self, origin: str, value: JsonValue) -> None:
        """Add the actions of text that is typed into a running program; what says nothing to it has none."""
        if isinstance(value, str) and _ENDS.fullmatch(value):
            return
        self.unknown(origin, f"it is not known what a running program does with `{origin}`")
        for text in _texts(value):
            self.loosely(text)

    def loosely(self, text: str) -> None:
        """Add the actions that a text may have if it is run as a command; none of them is certain."""
        possible, guessed = _loosely(text, self.folder)
        self.possible += possible
        self.guessed += guessed

    def text(self, origin: str, text: str, role: ArgumentRole) -> None:
        match role:
            case (
                ArgumentRole.READ_PATH
                | ArgumentRole.READ_TREE
                | ArgumentRole.LIST_TREE
                | ArgumentRole.WRITE_PATH
                | ArgumentRole.DELETE_PATH
            ):
                self.path(origin, text, role)
            case ArgumentRole.URL:
                self.address(origin, text)
            case ArgumentRole.PATCH:
                self.patch(text)
            case ArgumentRole.AGENT:
                self.certain.append(Delegate(text))
                self.doubts.append("it starts an agent")
            case ArgumentRole.FOLDER:
                self.move(text)
            case (  # pragma: no cover -- handled in `value`
                ArgumentRole.COMMAND
                | ArgumentRole.ARGV
                | ArgumentRole.COMMAND_OR_ARGV
                | ArgumentRole.INPUT
                | ArgumentRole.GLOB
                | ArgumentRole.TEXT
            ):
                return
            case _:
                assert_never(role)

    def patch(self, text: str) -> None:
        from permitry.actions.derive.given import touches_of_patch  # noqa: PLC0415 -- most calls have no patch

        touches, doubt = touches_of_patch(text, self.folder)
        self.certain += touches
        self.doubts.append("it changes files")
        if doubt is not None:
            self.unknown(text, doubt, ArgumentRole.PATCH)

    def address(self, origin: str, text: str) -> None:
        from permitry.actions.hosts import other_readings, read_bare_url, read_url  # noqa: PLC0415 -- as above

        connect, by_https = read_url(text, origin), read_bare_url(text, origin)
        self.certain.append(by_https or connect)
        # Another client takes another scheme, or a path.
        self.possible += () if by_https is None else (connect,)
        self.possible += other_readings(text, origin)
        # `file:///etc/passwd` is a path, also with `localhost` as its host; any other text without a host may be one.
        if text[:5].lower() == "file:":
            self.possible += _guess(text, self.folder)
        elif connect.host is None or by_https is not None:
            self.guessed += _guess(text, self.folder)
        self.doubts.append(f"it connects to `{text}`")

    def path(self, origin: str, text: str, role: ArgumentRole) -> None:
        access = _ACCESS[role]
        # Some tools write through a link, and others replace the link by a new file.
        touch = self.folder.place_of(
            Word(text),
            access,
            descent=_DESCENTS.get(role),
            is_entry=access is Access.WRITE,
            origin=origin,
        )
        self.certain += apart(narrow(touch, self.selection(), self.folder.bases))
        if access.is_change:
            self.doubts.append(f"it may {access.value} `{text}`")

    def selection(self) -> Selection:
        """Return what is read of the files below a folder, by the patterns among the arguments."""
        keys = [key for key, role in self.roles.items() if role is ArgumentRole.GLOB]
        values = [value for key in keys for _, value in values_of(self.call.arguments, key)]
        texts = [value for value in values if isinstance(value, str)]
        return select(texts) if len(texts) == len(values) else EVERYTHING

    def move(self, text: str) -> None:
        """Set the folder in which the rest of the call happens; with several such arguments, it may be any of them."""
        moved = self.start.moved((Word(text),)) if text else self.start
        is_first = self.folder is self.start
        self.has_moved = self.has_moved or set(moved.bases) != set(self.start.bases)
        self.folder = moved if is_first else self.folder.joined(moved)

    def add_unexplained(self) -> None:
        """Add an unknown action for each argument without a role next to a command: it may change what that does."""
        explained = _explain(tuple(self.roles))
        for name, value in self.call.arguments.items():
            if name not in explained and value not in (None, "", (), False) and value != {}:
                self.unknown(name, f"nothing declares what the argument `{name}` does to the command")

    def unknown(self, text: str, reason: str, role: ArgumentRole | None = None) -> None:
        self.certain.append(Unknown(text, reason, about=_ABOUT.get(role, "") if role is not None else ""))
        self.doubts.append(reason)


def _also(actions: Actions, likely: Actions) -> Actions:
    """Return actions with what else the call may do; what a program touches is not seen in its words."""
    others = (each for each in likely.certain if isinstance(each, Run) or each not in actions.certain)
    possible = (*actions.possible, *others, *likely.possible)
    return attrs.evolve(actions, possible=possible, guessed=(*actions.guessed, *likely.guessed))


def _with_patch(command: JsonValue, readings: "Sequence[ShellReading]") -> "Sequence[ShellReading]":
    """Return the readings of a command for a tool that applies a patch itself, if that is all the command does."""
    from permitry.actions.derive.applied import as_applied, find_patch  # noqa: PLC0415 -- most calls have no command

    words = [word for word in command if isinstance(word, str)] if isinstance(command, tuple) else []
    text = command if isinstance(command, str) else words
    # There are no readings of what cannot be a command.
    if readings and find_patch(text) is not None:
        return [as_applied(each) for each in readings]
    return readings


def _current_folder() -> tuple[str, ...]:
    try:
        return (os.getcwd(),)  # noqa: PTH109 -- paths are text in this module
    except OSError:
        return ()


# Arguments -----------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=512)
def _explain(keys: tuple[str, ...]) -> frozenset[str]:
    """Return the names of arguments that have a role, or are harmless without one; `keys` are those of `roles`."""
    explained = {name for key in keys for name in names_of(key)}
    return HARMLESS_ARGUMENTS | explained


def _texts(value: JsonValue) -> Iterable[str]:
    """Yield every text inside a value."""
    left = [value]
    while left:
        match left.pop():
            case str() as text:
                yield text
            case Mapping() as table:
                left += table.values()
            case tuple() as items:
                left += items


def _join(value: JsonValue) -> Iterator[str]:
    """Yield the texts of each list inside a value as one text, if there are several: they may be words of a command."""
    match value:
        case Mapping():
            inner = tuple(value.values())
        case tuple():
            inner = value
        case _:
            return
    texts = [each for each in inner if isinstance(each, str)]
    if isinstance(value, tuple) and len(texts) > 1:
        yield " ".join(texts)
    for each in inner:
        yield from _join(each)


def _guesses(call: ToolCall, folder: Folder) -> Iterator[Action]:
    """Yield what the texts in the arguments of an undeclared tool may be: paths, addresses, commands."""
    left = _MOST_GUESSED_TEXT
    texts, joined = list(_texts(call.arguments)), list(_join(call.arguments))
    for count, text in enumerate((*texts, *joined)):
        left -= len(text)
        if left < 0 or count == _MOST_GUESSES < len(texts):
            yield Unknown("", "the call has too many arguments to look at")
            return
        if count < len(texts):
            yield from _guess(text, folder)
        # In prose, `$20` is an amount of money, and not a program whose name is unknown.
        for found in _loosely(text, folder):
            yield from (each for each in found if not (isinstance(each, Run) and each.words[0].is_open))


def _loosely(text: str, folder: Folder) -> tuple[tuple[Action, ...], tuple[Action, ...]]:
    from permitry.actions.derive.loose import loosely  # noqa: PLC0415 -- most calls have no command

    return loosely(text, folder)


def _guess(text: str, folder: Folder) -> Iterator[Touch | Connect]:
    from permitry.actions.hosts import other_readings, read_url  # noqa: PLC0415 -- needed only for undeclared arguments
    from permitry.actions.reading.words import has_wildcard  # noqa: PLC0415 -- see above

    if text:
        is_glob = has_wildcard(text) and not any(map(str.isspace, text))
        yield folder.place_of(Word(text, is_glob, is_home=text.startswith("~")), Access.WRITE, is_certain=False)
        yield attrs.evolve(read_url(text), is_certain=False)
        yield from other_readings(text)
