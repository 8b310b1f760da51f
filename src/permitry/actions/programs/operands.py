"""What the operands of a program are: which paths it reads, writes or deletes, and which hosts it connects to.

Table-driven: `programs.toml` says for each program what its operands and the values of its options are. Whatever does
not fit what is said there makes every word a possible path, and the answer one that no permission may rely on.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import attrs

from permitry.actions.programs.arguments import Parts, is_spread, read_options, sub_command, unbundled
from permitry.actions.programs.awk import check_awk
from permitry.actions.programs.candidates import (
    UNSEEN,
    addresses_in,
    globbed,
    hosts_in,
    hosts_of_git,
    machine_of,
    paths_in,
)
from permitry.actions.programs.catalogue import Entry, RefusedError, Shape, catalogue
from permitry.actions.programs.filters import expanded_by_program
from permitry.actions.programs.judge import why_not_reading
from permitry.actions.programs.sed import check_sed
from permitry.actions.shell.strict import Command
from permitry.core.action import Access, Word

__all__ = ["Operands", "touches_of"]

_Path: TypeAlias = tuple[Access, Word, bool]

_HERE = Word(".")
_SCRIPTS = {"awk": check_awk, "sed": check_sed}
_SHORTEST = 3
_MOST_NAMED = 3000
_MOST_HOSTS = 1000
_ANY = (Access.READ, Access.WRITE)
_ACCESSES = {access.value: (access,) for access in Access} | {"any": _ANY, "into": (Access.WRITE,)}


@attrs.frozen
class Operands:
    """The paths and hosts a program names.

    `paths` holds the access, the operand or the value of an option, and whether the program goes on below it if it is
    a folder. `is_listed`: these are all, and the program does nothing else; otherwise they are what it may touch, as
    far as its words tell.
    """

    paths: tuple[_Path, ...] = ()
    hosts: tuple[Word, ...] = ()
    is_listed: bool = False


def touches_of(words: Sequence[Word]) -> Operands:
    """Return what a program's words name; `words` begin with the program, its wrappers taken off.

    A name that comes from a file or from the input is an open word without a text.
    """
    try:
        found = _known(words)
    except RefusedError:
        found = _possible(words)
    expanded = tuple((Access.READ, word, is_tree) for word, is_tree in expanded_by_program(words))
    if expanded:
        found = Operands((*found.paths, *expanded), found.hosts, is_listed=False)
    unseen = tuple(_from_elsewhere(words))
    if unseen:
        hosts = () if _only_reads(words) else tuple(word for word in unseen if word.is_open)
        paths = (*found.paths, *((Access.READ, word, False) for word in unseen))
        found = Operands(paths, (*found.hosts, *hosts), is_listed=False)
    return _limited(found)


def _limited(found: Operands) -> Operands:
    """Return each name once; of too many some, and for the rest a name that nobody has seen."""
    paths, hosts = tuple(dict.fromkeys(found.paths)), _some(found.hosts)
    if len(paths) > _MOST_NAMED:
        accesses = dict.fromkeys(access for access, _, _ in paths)
        paths = (*paths[:_MOST_NAMED], *((access, UNSEEN, False) for access in accesses))
    return Operands(paths, hosts, found.is_listed and UNSEEN not in (*hosts[-1:], *(word for _, word, _ in paths[-1:])))


def _some(hosts: Iterable[Word]) -> tuple[Word, ...]:
    """Return each host once; of too many some, and one that nobody has seen."""
    found: dict[Word, None] = {}
    for host in hosts:
        if len(found) > _MOST_HOSTS:
            return (*found, UNSEEN)
        found[host] = None
    return tuple(found)


def _from_elsewhere(words: Sequence[Word]) -> Iterator[Word]:
    """Yield the lists of names among the words, and with each one a name that nobody has seen."""
    names = catalogue().get(words[0].text, Entry()).names_from
    if "*" in names:
        yield UNSEEN
    for at, word in enumerate(words[1:], start=1):
        option, _, value = word.text.partition("=")
        if not option.startswith("--"):
            option, value = word.text[:2], word.text[2:]
        # GNU programs take the beginning of a long option for the whole.
        if any(name == option or (len(option) > _SHORTEST and name.startswith(option)) for name in names):
            yield UNSEEN
            yield from [attrs.evolve(word, text=value)] if value else words[at + 1 : at + 2]


# Programs whose operands are known -----------------------------------------------------------------------------------


def _known(words: Sequence[Word]) -> Operands:
    name, entry, rest = _found(words)
    if not entry.shapes:
        raise RefusedError(f"the operands of `{name}` are not known")
    paths, hosts, shape = _collected(name, entry, rest)
    # A sub-command is one of `git`, which may run programs where it finds a configuration.
    is_listed = name == words[0].text and not any("any" in role for role in shape.operands)
    does = hosts or any(access is not Access.READ for access, _, _ in paths)
    only_reads = _only_reads(words)
    if not (is_listed and does) and not only_reads:
        hosts = (*hosts, *(each for word in words[1:] if "://" in word.text for each in addresses_in(word)))
    return Operands(paths, hosts, is_listed and bool(does or only_reads))


def _only_reads(words: Sequence[Word]) -> bool:
    return why_not_reading(Command(tuple(words))) is None


def _collected(name: str, entry: Entry, words: Sequence[Word]) -> tuple[tuple[_Path, ...], tuple[Word, ...], Shape]:
    """Return the paths and hosts that are named, and the shape that says so."""
    if entry.shapes[0].operands == ("none",):
        return tuple(_expanded(words, ())), (), entry.shapes[0]
    parts = read_options(unbundled(words) if entry.script == "tar" else words, entry, name=name, is_any=True)
    shape = next(shape for shape in entry.shapes if not shape.when or shape.when & parts.names)
    _check(words, parts, entry, shape)
    collector = _Collector(shape, is_tree="*" in shape.trees or bool(shape.trees & parts.names))
    for option, value in parts.found:
        collector.option(option, value)
    for role, word in _roles(shape, parts):
        collector.operand(role, word)
    collector.here()
    hosts = _some(each for host in collector.hosts for each in globbed(host))
    return (*collector.paths, *_expanded(words, collector.paths)), hosts, shape


def _found(words: Sequence[Word]) -> tuple[str, Entry, Sequence[Word]]:
    """Return the name and entry of what is called, sub-commands included, and the words behind it."""
    name = words[0].text
    entry, rest = catalogue().get(name, Entry()), words[1:]
    if words[0].is_open:
        raise RefusedError("a program named by an expansion")
    while entry.commands and (inner := sub_command(rest, entry, name)) is not None:
        name, entry, rest = inner
    return name, entry, rest


def _expanded(words: Sequence[Word], known: Sequence[_Path]) -> Iterator[_Path]:
    """Yield the patterns that are no path to the program: the shell reads the folder they stand for all the same."""
    told = {word for _, word, _ in known}
    yield from ((Access.READ, word, False) for word in words if word.is_glob and word not in told)


def _check(words: Sequence[Word], parts: Parts, entry: Entry, shape: Shape) -> None:
    """Refuse what may name other things than its operands do."""
    if parts.is_spread:
        raise RefusedError("a pattern for a value")
    if entry.options_first and any(word.may_be_option and word.text != "-" for word in parts.operands[: parts.before]):
        raise RefusedError("an option behind an operand")
    named = {f"{name}=" for name, value in parts.found if value is not None} | parts.names
    if named & shape.unsure or any(text in word.text for text in shape.unsure_text for word in words):
        raise RefusedError("an option or a text that may name anything")
    if entry.script in _SCRIPTS:
        _SCRIPTS[entry.script](parts)


def _roles(shape: Shape, parts: Parts) -> Iterator[tuple[str, Word]]:
    """Yield the operands with what each of them is.

    Raises: `RefusedError` if they are too few or too many.
    """
    operands = [word for word in parts.operands if word.text not in shape.skip]
    has_instead = bool(shape.instead & parts.names)
    roles = [role for role in shape.operands if _is_many(role) or not has_instead]
    while (extra := len(operands) - sum(not _is_many(role) for role in roles)) < 0:
        optional = [at for at, role in enumerate(roles) if role.endswith("?")]
        if not optional:
            raise RefusedError("an operand is missing")
        del roles[optional[-1]]
    at = next((at for at, role in enumerate(roles) if _is_many(role)), None)
    if extra < (at is not None and roles[at].endswith("+")) or (extra and at is None):
        raise RefusedError("not as many operands as expected")
    if at is not None:
        roles[at : at + 1] = [roles[at]] * extra
    for role, word in zip(roles, operands, strict=True):
        if is_spread(word) and not _is_many(role):
            raise RefusedError("a pattern where operands are counted")
        yield role.rstrip("*+?"), word


def _is_many(role: str) -> bool:
    return role.endswith(("*", "+"))


@attrs.define
class _Collector:
    """Gathers what operands and options name, by their roles."""

    shape: Shape
    is_tree: bool
    paths: list[_Path] = attrs.field(factory=list)
    hosts: list[Word] = attrs.field(factory=list)
    has_operand: bool = False
    has_folder: bool = False

    def option(self, name: str, value: Word | None) -> None:
        """Take the value of an option."""
        if value is None:
            return
        if name in self.shape.connects:
            self.host(value)
        elif name in self.shape.folders:
            self.path("into", value)
        elif name in self.shape.at and value.text.startswith("@"):
            self.path("read", attrs.evolve(value, text=value.text[1:]))
        else:
            for role, names in (("read", self.shape.reads), ("write", self.shape.writes)):
                if name in names:
                    self.path(role, value, is_tree=False)

    def operand(self, role: str, word: Word) -> None:
        """Take an operand that is what `role` says."""
        match role:
            case "text":
                pass
            case "host":
                self.host(word)
            case "pair":
                self.pair(word)
            case _ if self.shape.remote and ":" in word.text.partition("/")[0]:
                self.host(word if "://" in word.text else machine_of(word))
            case _:
                self.has_operand = True
                self.path(role, word)

    def pair(self, word: Word) -> None:
        name, equals, value = word.text.partition("=")
        if not equals:
            raise RefusedError("an operand that is no pair")
        self.option(name, attrs.evolve(word, text=value))

    def host(self, word: Word) -> None:
        if word.text.lower().startswith("file:"):
            raise RefusedError("an address that is a file")
        if not word.text.startswith("+"):
            address = word if "://" in word.text else attrs.evolve(word, text=word.text.rpartition("@")[2])
            self.hosts.append(address)

    def path(self, role: str, word: Word, *, is_tree: bool | None = None) -> None:
        self.has_folder = self.has_folder or role == "into"
        goes_on = role == "into" or (self.is_tree if is_tree is None else is_tree)
        accesses = [access for name in role.split("/") for access in _ACCESSES[name]]
        if word.text != "-" or accesses != [Access.READ]:
            self.paths += [(access, word, goes_on) for access in accesses]

    def here(self) -> None:
        """Take the current folder where none is named."""
        match self.shape.here:
            case "write" if not self.has_folder:
                self.paths.append((Access.WRITE, _HERE, True))
            case "read" if not self.has_operand:
                self.path("read", _HERE)
            case "trees" if not self.has_operand and self.is_tree:
                self.path("read", _HERE)


# Programs whose operands are not known -------------------------------------------------------------------------------


def _descends(words: Sequence[Word]) -> bool:
    try:
        return _found(words)[1].descends
    except RefusedError:
        # Which of its sub-commands it is cannot be told.
        return any(each.descends for each in catalogue().get(words[0].text, Entry()).commands.values())


def _has_magic(word: Word) -> bool:
    """Return whether a word may be a pathspec of git that leads out of the current folder, as `:/` and `:(top)` do."""
    return word.text.startswith((":/", ":(")) and not word.text.startswith(":(exclude)")


def _possible(words: Sequence[Word]) -> Operands:
    """Return every word as what it may be: a path, and a host where it looks like one."""
    entry = catalogue().get(words[0].text, Entry())
    only_reads = _only_reads(words)
    accesses = (Access.READ,) if only_reads else _possible_accesses(entry)
    descends = _descends(words)
    is_tree = descends or any(shape.trees for shape in entry.shapes)
    program = words[0].text.rpartition("/")[2]
    unseen = [(Access.READ, UNSEEN, False)] if descends and program == "git" and any(map(_has_magic, words[1:])) else []
    paths = unseen + [
        (access, candidate, is_tree)
        for word in dict.fromkeys(words[1:])
        if word.text != "--"
        for candidate in paths_in(word, program)
        for access in accesses
        if candidate.text or candidate.is_open
    ]
    if only_reads:
        return Operands(tuple(paths))
    found = (host for word in dict.fromkeys(words[1:]) for host in hosts_in(word, is_network=entry.network))
    return Operands(tuple(paths), (*_some(found), *(hosts_of_git(words) if program == "git" else ())))


def _possible_accesses(entry: Entry) -> tuple[Access, ...]:
    deletes = any("delete" in role for shape in entry.shapes for role in shape.operands)
    return (*_ANY, Access.DELETE) if deletes else _ANY
