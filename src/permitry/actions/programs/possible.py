"""What a command may touch whose operands are not known: every word may be a path, and a part of one by a guess."""

import itertools
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from permitry.actions.programs.arguments import entry_of, find_entry, values_and_texts
from permitry.actions.programs.bare_words import NO_PATHS, names_in_words, record_in_any_case
from permitry.actions.programs.candidates import (
    UNSEEN,
    code_of,
    hosts_in,
    hosts_of_git,
    is_name,
    names_in,
    paths_in,
    script_of,
)
from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.entries import Entry, RefusedError
from permitry.actions.programs.named import HERE, Named, Operands, limit_hosts
from permitry.actions.programs.sed import effects_of_sed
from permitry.actions.programs.spelling import has_option
from permitry.actions.programs.tops import only_top, possible_tops
from permitry.core.action import Access, Descent, Word

__all__ = ["Reads", "names_in_code", "possible_operands"]

_ANY = (Access.READ, Access.WRITE)
_NONE: frozenset[Access] = frozenset()
_SURE = {
    "read": frozenset({Access.READ}),
    "read/replace": frozenset({Access.READ, Access.WRITE}),
    "replace": frozenset({Access.WRITE}),
    "write": frozenset({Access.WRITE}),
    "delete": frozenset({Access.DELETE}),
}

Reads: TypeAlias = Callable[[tuple[Word, ...]], bool]
"""Whether a command only reads."""
_Accesses: TypeAlias = tuple[Access, ...]
_Possible: TypeAlias = Mapping[Access, frozenset[Access]]


def possible_operands(words: tuple[Word, ...], reads: Reads) -> Operands:
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
    _, texts = values_and_texts(words) if any(word.is_single for word in words) else ((), ())
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
    guessed += (each for word in code for each in names_in_code(word))
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


def _accesses_of(entry: Entry, words: Sequence[Word], *, only_reads: bool) -> tuple[_Possible, _Accesses]:
    """Return the possible accesses to every operand, and further ones that are only a guess.

    Each possible access maps to those that may be made in its place; to none, if every shape that the options allow
    makes this access to each path. Deleting is a guess where only an option makes the program delete.
    """
    if only_reads:
        looks = entry.script == "test" or _only_lists(words)
        return {Access.LIST if looks else Access.READ: _NONE}, ()
    shapes = (*entry.shapes, *entry_of(words).shapes)
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


def _candidates(words: Iterable[Word], known: Container[Word], program: str) -> Iterator[Word]:
    """Yield what parts of words may name; names that were found are nothing but names."""
    for word in words:
        if word.found is None or word.found.is_top:
            every = (each for top in possible_tops(word) for each in paths_in(top, program))
            found = (each for each in every if each.text or each.is_open)
            yield from (each for each in found if each not in known)


def _possible_hosts(words: Sequence[Word], code: Container[Word], entry: Entry) -> Iterator[tuple[Word, ...]]:
    """Yield the hosts that words may name, and those that are in code or a text with blanks."""
    words = [only_top(word) for word in words if word.found is None or word.found.is_top]
    several = [word for word in words if word in code or len(word.text.split()) > 1]
    single = [word for word in words if word not in several]
    is_network = "network" in entry.does
    for group in (single, several):
        yield limit_hosts(host for word in group for host in hosts_in(word, is_network=is_network))


def names_in_code(code: Word) -> Iterator[Named]:
    """Yield the string literals of code in another language as paths, with every access: its use is not known."""
    # Nearly all code has a literal such as `"/"` or `"."` that joins or splits something.
    words = (word for word in names_in(code) if any(map(str.isalnum, word.text)) or word.is_open)
    yield from (Named(access, word) for word in words for access in Access)


def _descends(words: Sequence[Word]) -> bool:
    try:
        return find_entry(words)[1].descends
    except RefusedError:
        # The sub-command is not known, so any of them counts.
        return any(each.descends for each in record_of(words[0].text).commands.values())


def _find_filled(words: Sequence[Word]) -> Iterator[Named]:
    """Yield the folders below which an unpacking program may put files: every one it names, and the current one."""
    entry = entry_of(words)
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
    is_given = any(_may_be(options, word) for word in looked_at)
    return is_given or any(any(module in text for module in modules) for text in texts)


def _does_more(entry: Entry, words: Sequence[Word]) -> bool:
    """Return whether a program may do more with names that were found than they show.

    It may make a link, whose text leads elsewhere from another folder, or what is in an archive or a patch. To one of
    the network, a name may be a machine, or have a file behind a sign in it.
    """
    if "network" in entry.does:
        return True
    if entry.makes == "copies":
        plain = [word for word in words[1:] if not word.is_open]
        used = (each for each in entry.shapes if not each.when or any(_may_be(each.when, word) for word in plain))
        return any("link" in role for shape in used for role in shape.operands)
    return _fills(entry_of(words), words)


def _only_lists(words: Sequence[Word]) -> bool:
    """Return whether a command that only reads shows none of the content of what its operands name."""
    entry = entry_of(words)
    return entry.only_lists and not any(_may_be(entry.contents, word) for word in words[1:])


def _has_magic(word: Word) -> bool:
    """Return whether a word may be a git pathspec with magic that leads out of the working directory (`:/`)."""
    return word.text.startswith((":/", ":(")) and not word.text.startswith(":(exclude)")


def _may_be(options: frozenset[str], word: Word) -> bool:
    """Return whether a word may give one of the options, as any open word may."""
    return bool(options) if word.is_open else has_option(word, options)


def _has_option(word: Word, options: frozenset[str], entry: Entry) -> bool:
    """Return whether a word begins with one of these options, or has it in a cluster after other known letters."""
    letters = itertools.takewhile(lambda letter: f"-{letter}" in entry.known.plain, word.text[1:])
    at = 1 + sum(1 for _ in letters)
    is_in_cluster = word.text.startswith("-") and f"-{word.text[at : at + 1]}" in options
    return is_in_cluster or word.text.startswith(tuple(options))
