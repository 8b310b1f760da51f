"""What the operands of a program are: which paths it reads, writes or deletes, and which hosts it connects to.

Table-driven: `programs.toml` says for each program what its operands and the values of its options are. For words that
do not fit the table, or a program not in it, every word is a possible path, and no permission may rely on the result.
"""

import contextlib
import functools
import itertools
from collections.abc import Container, Iterator, Sequence

import attrs

from permitry.actions.command import Command
from permitry.actions.programs.arguments import (
    find_entry,
    is_cluster,
    is_spread,
    read_options,
    unbundle,
    with_options_first,
)
from permitry.actions.programs.bare_words import roles_in
from permitry.actions.programs.bases import with_bases
from permitry.actions.programs.candidates import UNSEEN, addresses_in, expand_globs
from permitry.actions.programs.catalogue import record_of, remember
from permitry.actions.programs.classify import doubt_of
from permitry.actions.programs.entries import Entry, RefusedError, Shape
from permitry.actions.programs.expressions import compares_texts, paths_in_condition
from permitry.actions.programs.filters import expand_by_program
from permitry.actions.programs.git_files import files_of_git
from permitry.actions.programs.inner import without_commands
from permitry.actions.programs.name_lists import find_lists
from permitry.actions.programs.named import Collector, Named, Operands, limit_hosts, limit_names
from permitry.actions.programs.nested import reads_list, xargs
from permitry.actions.programs.possible import Reads, possible_operands
from permitry.actions.programs.sed import files_of_sed
from permitry.actions.programs.shapes import check_shape, roles_by_shape
from permitry.actions.programs.spelling import has_option
from permitry.actions.programs.tops import with_tops
from permitry.core.action import Access, Word

__all__ = ["touches_of"]

_REMEMBERED = 64
_NOT_ALL = frozenset({"name", "file"})
_ARRANGED = {"tar": unbundle, "unzip": with_options_first}


@remember(_REMEMBERED)
def only_reads_alone(words: tuple[Word, ...]) -> bool:
    """Return whether a command only reads; of a program that runs another one that is not known here."""
    return not record_of(words[0].text).wraps and doubt_of(Command(words)) is None


def touches_of(words: Sequence[Word], only_reads: Reads = only_reads_alone) -> Operands:
    """Return the paths and hosts that the words of a command name; `words` begin with the program, without wrappers.

    `only_reads` says it of a program that runs another one as well. A name that is read from a file or from standard
    input is an open word without text.
    """
    return _touches_of(tuple(words), only_reads)


# The result depends only on the words, and one decision asks for it several times.
@remember(_REMEMBERED)
def _touches_of(words: tuple[Word, ...], only_reads: Reads) -> Operands:
    try:
        found = Operands() if _only_prints_help(words) else _read_operands(words, only_reads)
    except RefusedError:
        known = _of_outer(words, only_reads) or _of_condition(words)
        found = known or with_bases(words, _with_here(words, possible_operands(words, only_reads)))
    expanded = tuple(Named(Access.READ, word, is_tree) for word, is_tree in expand_by_program(words))
    if expanded:
        found = attrs.evolve(found, paths=(*found.paths, *expanded), is_listed=False)
    listed = tuple(_names_from_lists(words, only_reads))
    if listed:
        hosts = tuple(each.word for each in listed if each.word is UNSEEN and not only_reads(words))
        found = attrs.evolve(found, paths=(*found.paths, *listed), hosts=(*found.hosts, *hosts), is_listed=False)
    found = attrs.evolve(found, paths=(*found.paths, *files_of_git(words)))
    if _follows(words):
        # What always follows links copies what it finds there.
        but = [access for access in Access if access.is_change and "*" in record_of(words[0].text).follows]
        follow = functools.partial(_follow, but=but)
        paths, guessed = (tuple(map(follow, group)) for group in (found.paths, found.guessed))
        found = attrs.evolve(found, paths=paths, guessed=guessed)
    return limit_names(with_tops(found))


def _of_outer(words: tuple[Word, ...], only_reads: Reads) -> Operands | None:
    """Return what a program touches apart from the commands that it runs, which are looked at by themselves."""
    script = record_of(words[0].text).script
    if script == "find":
        own = tuple(without_commands(words))
        with contextlib.suppress(RefusedError):
            return attrs.evolve(_read_operands(own, only_reads), is_listed=False) if own != words else None
    return _of_xargs(words, only_reads) if script == "xargs" else None


def _of_xargs(words: tuple[Word, ...], only_reads: Reads) -> Operands | None:
    """Return what the command of `xargs` touches; None where that may be anything."""
    inners = [inner.words for inner in xargs(words)][1::2]
    # A name of a file with other names, or a program that runs another one.
    if len(inners) > 1 or reads_list(word.text for word in words) or any(map(_runs, inners)):
        return None
    found = [_touches_of(inner, only_reads) for inner in inners]
    if found:
        return attrs.evolve(found[0], is_listed=False, copies=found[0].copies)
    return Operands()


def _runs(words: Sequence[Word]) -> bool:
    """Return whether a program runs another one, or is not known."""
    record = record_of(words[0].text)
    has_runner = record.runner not in ("", "sed")
    wraps = record.runs is not None or record.runs_behind
    runs = wraps or has_runner or record.shell or record.interprets
    is_unknown = words[0].is_open or not record.shapes
    return is_unknown or bool(runs) or record.names_from == {"*"}


def _only_prints_help(words: Sequence[Word]) -> bool:
    """Return whether the command only prints a help text or a version, and touches no operand.

    The first option after clusters of known letters must be one such as `--help`; a program that does not know it stops
    with an error. False for a program that has no shape, or takes any words: they may be another program's.
    """
    entry = record_of(words[0].text)
    if not entry.shapes or {"any", *_NOT_ALL} & roles_in(entry):
        return False
    behind = itertools.dropwhile(lambda word: is_cluster(word, entry.known), words[1:])
    first = next(behind, Word(""))
    return first.text.startswith("--") and first.text in entry.shows and not is_spread(first)


def _names_from_lists(words: tuple[Word, ...], only_reads: Reads) -> Iterator[Named]:
    """Yield an unknown name for each list of names that the program reads, and the file that has it."""
    files = tuple(find_lists(words))
    if files or _always_takes_names(words):
        yield Named(Access.READ, UNSEEN)
        if not (only_reads(words) or "network" in record_of(words[0].text).does):
            yield from (Named(access, UNSEEN) for access in (Access.WRITE, Access.DELETE))
    yield from (Named(Access.READ, word) for file in files for word in file)


def _always_takes_names(words: Sequence[Word]) -> bool:
    """Return whether names come from elsewhere; those of `xargs` are for its command, which is looked at if known."""
    record = record_of(words[0].text)
    is_known = record.script == "xargs" and _of_xargs(tuple(words), only_reads_alone) is not None
    return "*" in record.names_from and not is_known


def _with_here(words: tuple[Word, ...], operands: Operands) -> Operands:
    """Return operands and the current folder, if a program takes that where none is named, as far as it is known."""
    try:
        name, entry, rest = find_entry(words)
        parts = read_options(rest, entry, name=name, is_any=True)
        shape = next(shape for shape in entry.shapes if not shape.when or shape.when & parts.names)
        named = [role for role, _ in roles_by_shape(shape, parts) if role != "text"]
    except (RefusedError, StopIteration):
        return operands
    collector = Collector(shape, parts.names, has_operand=bool(named))
    collector.here()
    return attrs.evolve(operands, paths=(*operands.paths, *collector.paths))


def _follows(words: tuple[Word, ...]) -> bool:
    """Return whether a program follows the links below a folder."""
    record = record_of(words[0].text)
    given = words[1:]
    if record.script == "tar" and given and given[0].text[:1].isalpha():
        given = (attrs.evolve(given[0], text=f"-{given[0].text}"), *given[1:])
    return "*" in record.follows or any(has_option(word, record.follows) for word in given)


def _follow(named: Named, *, but: Container[Access]) -> Named:
    return attrs.evolve(named, follows=named.is_tree and named.access not in but)


def _read_operands(words: tuple[Word, ...], reads: Reads) -> Operands:
    name, entry, rest = find_entry(words)
    if not entry.shapes or _NOT_ALL & roles_in(entry):
        raise RefusedError(f"the operands of `{name}` are not known")
    found, shape = _collect(name, entry, rest)
    # Sub-commands are those of `git`, which may run programs that a configuration file names.
    is_listed = name == words[0].text and not any("any" in role for role in shape.operands)
    does = found.hosts or found.copies or any(each.access.is_change for each in found.paths)
    only_reads = reads(words)
    hosts = found.hosts
    if not (is_listed and does) and not only_reads:
        with_scheme = (word for word in words[1:] if "://" in word.text)
        hosts = (*hosts, *itertools.chain.from_iterable(map(addresses_in, with_scheme)))
    return attrs.evolve(found, hosts=hosts, is_listed=is_listed and bool(does or only_reads))


def _collect(name: str, entry: Entry, words: Sequence[Word]) -> tuple[Operands, Shape]:
    """Return the paths and hosts that are named, and the shape by which the words were read."""
    if entry.shapes[0].operands == ("none",):
        return Operands(tuple(_other_globs(words, ()))), entry.shapes[0]
    arranged = _ARRANGED[entry.script](words) if entry.script in _ARRANGED else words
    parts = read_options(arranged, entry, name=name, is_any=True)
    shape = next(shape for shape in entry.shapes if not shape.when or shape.when & parts.names)
    check_shape(words, parts, entry, shape)
    collector = Collector(shape, parts.names)
    for option, value in parts.found:
        collector.option(option, value)
    for role, word in roles_by_shape(shape, parts):
        collector.operand(role, word)
    collector.here()
    if entry.script == "sed":
        collector.paths += (Named(access, word) for access, word in files_of_sed(parts))
    hosts = limit_hosts(each for host in collector.hosts for each in expand_globs(host))
    paths = (*collector.filled(), *_other_globs(words, collector.words()))
    return Operands(paths, hosts, copies=tuple(collector.copies())), shape


def _other_globs(words: Sequence[Word], known: Sequence[Word]) -> Iterator[Named]:
    """Yield globs that the program does not take as paths: the shell reads their directories all the same."""
    seen = set(known)
    yield from (Named(Access.LIST, word) for word in words if word.is_glob and word not in seen)


def _of_condition(words: Sequence[Word]) -> Operands | None:
    """Return what a comparison of texts, or `[[`, looks at; None for other commands."""
    if words[0].text == "[[":
        return Operands(tuple(Named(Access.LIST, word) for word in paths_in_condition(words)))
    is_texts = record_of(words[0].text).script == "test" and compares_texts(words)
    return Operands() if is_texts else None
