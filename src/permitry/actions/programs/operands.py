"""What the operands of a program are: which paths it reads, writes or deletes, and which hosts it connects to.

Table-driven: `programs.toml` says for each program what its operands and the values of its options are. For words that
do not fit the table, or a program not in it, every word is a possible path, and no permission may rely on the result.
"""

import contextlib
import itertools
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import attrs

from permitry.actions.command import Command
from permitry.actions.programs.arguments import (
    is_cluster,
    is_spread,
    read_known,
    read_options,
    sub_command,
    unbundled,
    with_options_first,
)
from permitry.actions.programs.bare_words import NO_PATHS, names_in_words, record_in_any_case, roles_in
from permitry.actions.programs.candidates import (
    UNSEEN,
    addresses_in,
    code_of,
    globbed,
    hosts_in,
    hosts_of_git,
    is_name,
    names_in,
    paths_in,
    script_of,
)
from permitry.actions.programs.catalogue import record_of, remember
from permitry.actions.programs.classify import doubt_of
from permitry.actions.programs.entries import Entry, RefusedError, Shape
from permitry.actions.programs.expressions import compares_texts, paths_in_condition
from permitry.actions.programs.filters import expanded_by_program
from permitry.actions.programs.git_files import files_of_git
from permitry.actions.programs.inner import without_commands
from permitry.actions.programs.named import HERE, Collector, Named, Operands
from permitry.actions.programs.nested import reads_list, xargs
from permitry.actions.programs.sed import effects_of_sed, files_of_sed
from permitry.actions.programs.shapes import check_shape, roles_by_shape
from permitry.actions.programs.spelling import has_option, is_option
from permitry.actions.programs.tops import only_top, with_tops
from permitry.core.action import Access, Descent, Word

__all__ = ["named_in_code", "touches_of", "with_values"]

_REMEMBERED = 64
_MOST_NAMED = 3000
_MOST_HOSTS = 1000
_ANY = (Access.READ, Access.WRITE)
_NONE: frozenset[Access] = frozenset()
_NOT_ALL = frozenset({"name", "file"})
_SURE = {
    "read": frozenset({Access.READ}),
    "read/replace": frozenset({Access.READ, Access.WRITE}),
    "replace": frozenset({Access.WRITE}),
    "write": frozenset({Access.WRITE}),
    "delete": frozenset({Access.DELETE}),
}

_ARRANGED = {"tar": unbundled, "unzip": with_options_first}

Reads: TypeAlias = Callable[[tuple[Word, ...]], bool]
"""Whether a command only reads."""
_Accesses: TypeAlias = tuple[Access, ...]
_Possible: TypeAlias = Mapping[Access, frozenset[Access]]


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
        found = _suppose_operands(words, only_reads)
    expanded = tuple(Named(Access.READ, word, is_tree) for word, is_tree in expanded_by_program(words))
    if expanded:
        found = attrs.evolve(found, paths=(*found.paths, *expanded), is_listed=False)
    unseen = tuple(_names_from_files(words))
    if unseen:
        hosts = () if only_reads(words) else tuple(word for word in unseen if word.is_open)
        paths = (*found.paths, *(Named(Access.READ, word) for word in unseen))
        found = attrs.evolve(found, paths=paths, hosts=(*found.hosts, *hosts), is_listed=False)
    return _limit_names(with_tops(attrs.evolve(found, paths=(*found.paths, *files_of_git(words)))))


def _suppose_operands(words: tuple[Word, ...], only_reads: Reads) -> Operands:
    """Return what a command may touch whose operands are not known."""
    return _of_outer(words, only_reads) or _of_condition(words) or _possible(words, only_reads)


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


def with_values(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return the words of a command; those with expansions that certainly are values of options are marked."""
    if not any(word.is_single for word in words[2:]):
        return words
    values, _ = _values_and_texts(words)
    return tuple(attrs.evolve(word, is_value=True) if at in values else word for at, word in enumerate(words))


def _values_and_texts(words: Sequence[Word]) -> tuple[set[int], set[int]]:
    """Return the indices of the words that are values of options, and of those that are or have a text as a value."""
    try:
        _, entry, rest = _find_entry(words)
    except RefusedError:
        return set(), set()
    parts = read_known(rest, entry)
    before = len(words) - len(rest)
    values = {before + at for at in parts.values}
    return values, {before + at for at in parts.texts}


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


def _limit_names(found: Operands) -> Operands:
    """Return each name once, up to a limit; an unknown name represents the rest, and `is_listed` is then False."""
    paths, hosts = _limit_paths(found.paths), _limit_hosts(found.hosts)
    is_all = UNSEEN not in (*hosts[-1:], *(each.word for each in paths[-1:]))
    return attrs.evolve(
        found,
        paths=paths,
        hosts=hosts,
        is_listed=found.is_listed and is_all,
        copies=tuple(attrs.evolve(each, sources=each.sources[:_MOST_NAMED]) for each in found.copies),
        guessed=_limit_paths(found.guessed),
        guessed_hosts=_limit_hosts(found.guessed_hosts),
    )


def _limit_paths(paths: Iterable[Named]) -> tuple[Named, ...]:
    """Return each path once, up to a limit; an unknown path for each access represents the rest."""
    found = tuple(dict.fromkeys(paths))
    if len(found) <= _MOST_NAMED:
        return found
    unseen = dict.fromkeys(Named(each.access, UNSEEN) for each in found)
    return (*found[:_MOST_NAMED], *unseen)


def _limit_hosts(hosts: Iterable[Word]) -> tuple[Word, ...]:
    """Return each host once, up to a limit; an unknown host represents the rest."""
    found: dict[Word, None] = {}
    for host in hosts:
        if len(found) > _MOST_HOSTS:
            return (*found, UNSEEN)
        found[host] = None
    return tuple(found)


def _names_from_files(words: Sequence[Word]) -> Iterator[Word]:
    """Yield an unknown name for each option that reads names from a file, and that file."""
    names = record_of(words[0].text).names_from
    if _always_takes_names(words):
        yield UNSEEN
    for at, word in enumerate(words[1:], start=1):
        option, _, value = word.text.partition("=")
        if not option.startswith("--"):
            option, value = word.text[:2], word.text[2:]
        # GNU programs take the beginning of a long option for the whole.
        if any(is_option(option, name) for name in names):
            yield UNSEEN
            yield from [attrs.evolve(word, text=value)] if value else words[at + 1 : at + 2]


def _always_takes_names(words: Sequence[Word]) -> bool:
    """Return whether names come from elsewhere; those of `xargs` are for its command, which is looked at if known."""
    record = record_of(words[0].text)
    is_known = record.script == "xargs" and _of_xargs(tuple(words), only_reads_alone) is not None
    return "*" in record.names_from and not is_known


# Programs whose operands are known -----------------------------------------------------------------------------------


def _read_operands(words: tuple[Word, ...], reads: Reads) -> Operands:
    name, entry, rest = _find_entry(words)
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
    hosts = _limit_hosts(each for host in collector.hosts for each in globbed(host))
    paths = (*collector.filled(), *_other_globs(words, collector.words()))
    return Operands(paths, hosts, copies=tuple(collector.copies())), shape


def _find_entry(words: Sequence[Word]) -> tuple[str, Entry, Sequence[Word]]:
    """Return the name and entry of the program or sub-command that is called, and the words after it."""
    name = words[0].text
    entry, rest = record_of(name), words[1:]
    if words[0].is_open:
        raise RefusedError("a program named by an expansion")
    while entry.commands and (inner := sub_command(rest, entry, name)) is not None:
        name, entry, rest = inner
    return name, entry, rest


def _other_globs(words: Sequence[Word], known: Sequence[Word]) -> Iterator[Named]:
    """Yield globs that the program does not take as paths: the shell reads their directories all the same."""
    seen = set(known)
    yield from (Named(Access.LIST, word) for word in words if word.is_glob and word not in seen)


# Programs whose operands are not known -------------------------------------------------------------------------------


def _descends(words: Sequence[Word]) -> bool:
    try:
        return _find_entry(words)[1].descends
    except RefusedError:
        # The sub-command is not known, so any of them counts.
        return any(each.descends for each in record_of(words[0].text).commands.values())


def _find_filled(words: Sequence[Word]) -> Iterator[Named]:
    """Yield the folders below which an unpacking program may put files: every one it names, and the current one."""
    entry = _entry_of(words)
    if _fills(entry, words):
        candidates = (each for word in words[1:] for each in paths_in(word, words[0].text))
        named = dict.fromkeys(word for word in candidates if is_name(word))
        yield from (Named(Access.WRITE, word, is_tree=True, descent=Descent.NEW) for word in (*named, HERE))


def _fills(entry: Entry, words: Sequence[Word]) -> bool:
    """Return whether a program may put files under names that are not in its words."""
    first = next((word.text for word in words[1:] if not word.text.startswith("-")), "")
    if any(each in (*first, first, "*") for each in entry.fills):
        return True
    options = frozenset(each for each in entry.fills if each.startswith("-"))
    # What loads from the network mostly loads one file: `wget "$url"`.
    looked_at = [word for word in words[1:] if not (word.is_open and "network" in entry.does)]
    # As `python -m tarfile`, `python -Imtarfile`.
    modules = tuple(each[1:] for each in options if each.startswith("-m"))
    pairs = itertools.pairwise((*words[1:], Word("")))
    texts = (f"{word.text}{after.text}" for word, after in pairs if word.text.startswith("-"))
    if any(_may_be(options, word) for word in looked_at):
        return True
    return any(any(module in text for module in modules) for text in texts)


def _does_more(entry: Entry, words: Sequence[Word]) -> bool:
    """Return whether a program may do more with names that were found than they show.

    It may make a link, whose text leads elsewhere from another folder, or what is in an archive or a patch. To one of
    the network, a name may be a machine, or have a file behind a sign in it.
    """
    if entry.network:
        return True
    if entry.makes == "copies":
        plain = [word for word in words[1:] if not word.is_open]
        used = (each for each in entry.shapes if not each.when or any(_may_be(each.when, word) for word in plain))
        return any("link" in role for shape in used for role in shape.operands)
    return _fills(_entry_of(words), words)


def _only_lists(words: Sequence[Word]) -> bool:
    """Return whether a command that only reads shows none of the content of what its operands name."""
    entry = _entry_of(words)
    return entry.only_lists and not any(_may_be(entry.contents, word) for word in words[1:])


def _entry_of(words: Sequence[Word]) -> Entry:
    """Return what is known about the program that runs, or about its sub-command."""
    try:
        return _find_entry(words)[1]
    except RefusedError:
        return record_of(words[0].text)


def _has_magic(word: Word) -> bool:
    """Return whether a word may be a git pathspec with magic that leads out of the working directory (`:/`)."""
    return word.text.startswith((":/", ":(")) and not word.text.startswith(":(exclude)")


def _of_condition(words: Sequence[Word]) -> Operands | None:
    """Return what a comparison of texts, or `[[`, looks at; None for other commands."""
    if words[0].text == "[[":
        return Operands(tuple(Named(Access.LIST, word) for word in paths_in_condition(words)))
    is_texts = record_of(words[0].text).script == "test" and compares_texts(words)
    return Operands() if is_texts else None


def _accesses_of(entry: Entry, words: Sequence[Word], *, only_reads: bool) -> tuple[_Possible, _Accesses]:
    """Return the possible accesses to every operand, and further ones that are only a guess."""
    if not only_reads:
        return _possible_accesses(entry, words)
    looks = entry.script == "test" or _only_lists(words)
    return {Access.LIST if looks else Access.READ: _NONE}, ()


def _candidates(words: Iterable[Word], known: Container[Word], program: str) -> Iterator[Word]:
    """Yield what parts of words may name; names that were found are nothing but names."""
    for word in words:
        if word.found is None or word.found.is_top:
            found = (each for each in paths_in(only_top(word), program) if each.text or each.is_open)
            yield from (each for each in found if each not in known)


def _possible(words: tuple[Word, ...], reads: Reads) -> Operands:
    """Return every word that may be a path as one, and as guesses what parts of words, options and texts may name."""
    program = words[0].text.rpartition("/")[2]
    entry = record_in_any_case(words[0].text)
    only_reads = reads(words) or entry.script == "test"
    accesses, doubtful = _accesses_of(entry, words, only_reads=only_reads)
    descends = _descends(words)
    is_tree = descends or any(shape.trees for shape in entry.shapes)
    may_leave = descends and program == "git" and any(map(_has_magic, words[1:]))
    unseen = [Named(Access.READ, UNSEEN)] if may_leave else []
    code = code_of(words)
    _, texts = _values_and_texts(words) if any(word.is_single for word in words) else ((), ())
    rest = [word for at, word in enumerate(words) if at and not (word.is_open and at in texts)]
    given = [word for word in dict.fromkeys(rest) if word.text != "--"]
    are_all = not _does_more(entry, words)
    unclear = tuple(word for word in given if word.is_open and (word.found is None or not are_all))
    names, bare = names_in_words(words)
    perhaps = [word for word in given if word not in names]
    whole = frozenset(filter(is_name, perhaps)) - code - script_of(words)
    candidates = _candidates((word for word in perhaps if word not in code), whole, program)
    in_order = [word for word in perhaps if word in whole]
    sure = [word for word in in_order if word not in bare]
    paths = [Named(each, word, is_tree, instead=instead) for word in sure for each, instead in accesses.items()]
    paths += () if only_reads else _find_filled(words)
    guessed = [Named(access, word, is_tree) for word in in_order if word in bare for access in accesses]
    guessed += [Named(access, word, is_tree) for word in in_order for access in doubtful]
    guessed += [Named(access, word, is_tree) for word in candidates for access in (*accesses, *doubtful)]
    guessed += (each for word in code for each in named_in_code(word))
    if record_of(program).script == "sed":
        for access, word in effects_of_sed(words[1:]).files:
            (guessed if word.is_open else paths).append(Named(access, word))
    if only_reads:
        return Operands((*unseen, *paths), guessed=tuple(guessed), unclear=unclear)
    hosts, guessed_hosts = _possible_hosts(given, code, entry)
    git = hosts_of_git(words) if program == "git" else ()
    return Operands(
        (*unseen, *paths), (*hosts, *git), guessed=tuple(guessed), guessed_hosts=guessed_hosts, unclear=unclear
    )


def _possible_hosts(words: Sequence[Word], code: Container[Word], entry: Entry) -> Iterator[tuple[Word, ...]]:
    """Yield the hosts that words may name, and those that are in code or a text with blanks."""
    words = [only_top(word) for word in words if word.found is None or word.found.is_top]
    several = [word for word in words if word in code or len(word.text.split()) > 1]
    single = [word for word in words if word not in several]
    is_network = "network" in entry.does
    for group in (single, several):
        yield _limit_hosts(host for word in group for host in hosts_in(word, is_network=is_network))


def named_in_code(code: Word) -> Iterator[Named]:
    """Yield the string literals of code in another language as paths, with every access: its use is not known."""
    # Nearly all code has a literal such as `"/"` or `"."` that joins or splits something.
    words = (word for word in names_in(code) if any(map(str.isalnum, word.text)) or word.is_open)
    yield from (Named(access, word) for word in words for access in Access)


def _possible_accesses(entry: Entry, words: Sequence[Word]) -> tuple[_Possible, _Accesses]:
    """Return the possible accesses to every operand, and further ones that are only a guess.

    Each possible access maps to those that may be made in its place; to none, if every shape that the options allow
    makes this access to each path. Deleting is a guess where only an option makes the program delete.
    """
    shapes = (*entry.shapes, *_entry_of(words).shapes)
    deleting = [shape for shape in shapes if any("delete" in role for role in shape.operands)]
    options = frozenset(option for shape in deleting for option in shape.when)
    may_delete = not all(shape.when for shape in deleting)
    accesses = frozenset({*_ANY, Access.DELETE} if may_delete else _ANY)
    may_by_option = not may_delete and any(_may_be(options, word) for word in words[1:])
    doubtful = (Access.DELETE,) if may_by_option else ()
    given = [shape for shape in entry.shapes if any(_has_option(word, shape.when, entry) for word in words)]
    meant = {role.rstrip("*+?") for shape in given or entry.shapes for role in shape.operands} - NO_PATHS
    sure = {_SURE.get(role, _NONE) for role in meant}
    # In a fixed order, so that a call is explained in the same way each time.
    in_order = (each for each in Access if each in accesses)
    certain = frozenset.intersection(*sure) if sure else _NONE
    possible = {each: _NONE if each in certain else accesses - {each} for each in in_order}
    return possible, doubtful


def _may_be(options: frozenset[str], word: Word) -> bool:
    """Return whether a word may give one of the options, as any open word may."""
    return bool(options) if word.is_open else has_option(word, options)


def _has_option(word: Word, options: frozenset[str], entry: Entry) -> bool:
    """Return whether a word begins with one of these options, or has it in a cluster after other known letters."""
    letters = itertools.takewhile(lambda letter: f"-{letter}" in entry.known.plain, word.text[1:])
    at = 1 + sum(1 for _ in letters)
    is_in_cluster = word.text.startswith("-") and f"-{word.text[at : at + 1]}" in options
    return is_in_cluster or word.text.startswith(tuple(options))
