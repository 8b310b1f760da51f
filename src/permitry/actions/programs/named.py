"""What operands and options name, by the roles that `programs.toml` gives them."""

from collections.abc import Iterable, Iterator

import attrs

from permitry.actions.programs.candidates import UNSEEN, machine_of
from permitry.actions.programs.entries import RefusedError, Shape
from permitry.core.action import Access, Descent, Word
from permitry.core.words import Found

__all__ = ["HERE", "Collector", "Contents", "Copy", "Named", "Operands", "limit_hosts", "limit_names"]

HERE = Word(".")
_MOST_NAMED = 3000
_MOST_HOSTS = 1000
_ACCESSES = {access.value: (access,) for access in Access} | {
    "any": (Access.READ, Access.WRITE),
    "kept": (Access.READ,),
    "linked": (Access.READ,),
    "replace": (Access.WRITE,),
    "below": (Access.WRITE,),
}
_ENTRIES = frozenset({"below", "delete", "kept", "replace"})
_LOOKS = frozenset({"list", "read"})
_FILLED = frozenset({"below", "kept"})


@attrs.frozen
class Contents:
    """What a program puts below a folder, as far as it can be read: an archive, a patch, or trees of the disk.

    It is read from `sources`, or from the input of the program if there are none. `strip` folders are cut off from the
    beginning of each name; None if the command does not say how many. `at` is the folder in which git runs; for a
    `commit`, the `index`, `either` or a `stash`, the sources are what `names_in_repository` takes. `prefix` is put
    before each of these names; the names in a patch may begin behind it. `is_old`: only those that are there already.
    """

    format: str
    sources: tuple[Word, ...] = ()
    strip: int | None = None
    at: Word | None = None
    prefix: str = ""
    is_old: bool = False


@attrs.frozen
class Named:
    """An operand, or the value of an option, that is a path.

    `is_tree`: the program goes on below it if it is a folder. `is_entry`: it makes, replaces or removes the entry of
    this name; otherwise it goes where the entry leads. `is_filled`: it puts there what is not known, or copies from
    there what it finds; either may be links. `descent` is what it touches below a folder, and `contents` what it puts
    there, None if that is not known. `instead` are other accesses it may make in place of `access`. `work_tree` is a
    folder in a work tree of git, to the top of which `word` is relative; None if it is to the current folder.
    `is_around`: only what is below `word` is touched. `found`: only what was found there; and what is below that, if it
    `goes_on`. `follows`: links below it are followed.
    """

    access: Access
    word: Word
    is_tree: bool = False
    is_entry: bool = False
    is_filled: bool = False
    descent: Descent = attrs.field(default=Descent.SOME, kw_only=True)
    instead: frozenset[Access] = attrs.field(default=frozenset(), kw_only=True)
    contents: Contents | None = attrs.field(default=None, kw_only=True)
    work_tree: Word | None = attrs.field(default=None, kw_only=True)
    is_around: bool = attrs.field(default=False, kw_only=True)
    found: Found | None = attrs.field(default=None, kw_only=True)
    goes_on: bool = attrs.field(default=False, kw_only=True)
    follows: bool = attrs.field(default=False, kw_only=True)

    @property
    def below(self) -> Descent | None:
        """What it touches below a folder; None if it does not go on there."""
        return self.descent if self.is_tree else None


@attrs.frozen
class Copy:
    """Copies, moved files or links that a program creates: at `target` itself, or below it if that is a folder.

    `is_below` says which, None if that depends on the disk. `sources` are the originals, or the texts of new links if
    they `are_texts`. `keeps_links`: the copy of a link is a link; `makes_links`: it is one anyway. `is_tree`: folders
    are copied with all below them.
    """

    sources: tuple[Word, ...]
    target: Word
    is_below: bool | None = None
    are_texts: bool = False
    keeps_links: bool = False
    makes_links: bool = False
    is_tree: bool = False


@attrs.frozen
class Operands:
    """The paths and hosts a program names, and the copies it makes of the paths.

    `is_listed`: these are all, and the program does nothing else; otherwise they are what it may touch, as far as its
    words tell. `guessed` and `guessed_hosts` are in words that may be something else to the program, or are only a part
    of one. `unclear` are words with expansions of which it is not known what they are to the program.
    """

    paths: tuple[Named, ...] = ()
    hosts: tuple[Word, ...] = ()
    is_listed: bool = False
    copies: tuple[Copy, ...] = ()
    guessed: tuple[Named, ...] = ()
    guessed_hosts: tuple[Word, ...] = ()
    unclear: tuple[Word, ...] = ()


@attrs.define
class Collector:
    """Gathers what operands and options name, by their roles."""

    shape: Shape
    names: frozenset[str]
    paths: list[Named] = attrs.field(factory=list)
    hosts: list[Word] = attrs.field(factory=list)
    sources: list[Word] = attrs.field(factory=list)
    texts: list[Word] = attrs.field(factory=list)
    target: Word | None = None
    has_operand: bool = False
    has_folder: bool = False
    strip: int | None = None
    has_odd_strip: bool = False

    def is_set(self, options: frozenset[str]) -> bool:
        """Return whether one of these options is given; `*` among them is always true."""
        return "*" in options or bool(options & self.names)

    def option(self, name: str, value: Word | None) -> None:
        """Take the value of an option."""
        if value is None:
            return
        if name in self.shape.strips:
            self.strips(value)
        elif name in self.shape.connects:
            self.host(value)
        elif name in self.shape.folders:
            self.path("into" if "into" in self.shape.operands else "below", value)
        elif name in self.shape.at and (value.text.startswith("@") or (value.is_open and not value.start)):
            self.path("read", attrs.evolve(value, text=value.text.removeprefix("@")))
        else:
            shape = self.shape
            for role, names in (("read", shape.reads), ("write", shape.writes), ("list", shape.entries)):
                if name in names:
                    self.path(role, value, is_tree=False)

    def strips(self, value: Word) -> None:
        """Take the number of folders that are cut off from names."""
        is_number = value.text.isascii() and value.text.isdigit() and not value.is_open
        self.has_odd_strip = self.has_odd_strip or not is_number
        self.strip = int(value.text[:3]) if is_number else None

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
        """Take an operand `NAME=value` as an option and its value."""
        name, equals, value = word.text.partition("=")
        if not equals:
            raise RefusedError("an operand without `=`")
        self.option(name, attrs.evolve(word, text=value))

    def host(self, word: Word) -> None:
        """Take an operand that is a host."""
        if word.text.lower().startswith("file:"):
            raise RefusedError("an address that is a file")
        if not word.text.startswith("+"):
            address = word if "://" in word.text else attrs.evolve(word, text=word.text.rpartition("@")[2])
            self.hosts.append(address)

    def path(self, role: str, word: Word, *, is_tree: bool | None = None) -> None:
        """Take an operand that is a path."""
        if role == "into":
            self.target = word
            return
        (self.texts if role == "link" else self.sources).append(word)
        if role == "link" or (word.text == "-" and role == "read"):
            return
        goes_on = self.is_set(self.shape.trees) if is_tree is None else is_tree
        for name in role.split("/"):
            is_below, is_entry = name == "below", name in _ENTRIES
            self.has_folder = self.has_folder or is_below
            accesses = _ACCESSES[name]
            for access in accesses:
                self.paths.append(
                    Named(
                        access,
                        word,
                        goes_on or is_below,
                        is_entry,
                        is_filled=name in _FILLED,
                        descent=self.descent(is_below=is_below) if goes_on or is_below else Descent.SOME,
                        instead=frozenset(accesses) - {access},
                    )
                )

    def descent(self, *, is_below: bool) -> Descent:
        """Return what is touched below a folder; `is_below`: what is made there has names that are not known."""
        shape = self.shape
        if self.is_set(shape.lists):
            return Descent.NAMES
        if is_below:
            return Descent.NEW
        if shape.hidden and not self.is_set(shape.hidden):
            return Descent.VISIBLE
        return Descent.SOME if self.is_set(shape.skips) else Descent.ALL

    def here(self) -> None:
        """Take the current folder where none is named."""
        match self.shape.here:
            case "write" if not self.has_folder:
                self.path("below", HERE)
            case "new" if not (self.has_folder or self.has_operand):
                self.path("below", HERE)
            case "read" if not self.has_operand:
                # It is accessed as an operand would be: `find -delete` deletes.
                roles = (role.rstrip("*+?") for role in self.shape.operands)
                self.path(next((role for role in roles if not _LOOKS.isdisjoint(role.split("/"))), "read"), HERE)
            case "trees" if not self.has_operand and self.is_set(self.shape.trees):
                self.path("read", HERE)

    def filled(self) -> Iterator[Named]:
        """Yield every path, with what is put below it."""
        shape = self.shape
        is_known = shape.format != "" and not self.has_odd_strip and not self.is_set(shape.alters)
        sources = tuple(each.word for each in self.paths if each.access is Access.READ)
        contents = Contents(shape.format, sources, self.strip) if is_known else None
        for each in self.paths:
            yield attrs.evolve(each, contents=contents) if each.below is Descent.NEW else each

    def copies(self) -> Iterator[Copy]:
        """Yield what is copied, moved or linked."""
        shape = self.shape
        if self.target is None:
            return
        sources = tuple(self.texts or self.sources)
        is_below = True if shape.folders & self.names or len(sources) > 1 else None
        yield Copy(
            sources,
            self.target,
            is_below=False if self.is_set(shape.exact) else is_below,
            are_texts=bool(self.texts),
            keeps_links=self.is_set(shape.keeps),
            makes_links=bool(self.texts) or any("linked" in role for role in shape.operands),
            is_tree=self.is_set(shape.trees),
        )

    def words(self) -> list[Word]:
        """Return every word that is known to be a path, or the text of a link."""
        return [*self.texts, *(each.word for each in self.paths), *([self.target] if self.target else [])]


def limit_names(found: Operands) -> Operands:
    """Return each name once, up to a limit; an unknown name represents the rest, and `is_listed` is then False."""
    paths, hosts = _limit_paths(found.paths), limit_hosts(found.hosts)
    is_all = UNSEEN not in (*hosts[-1:], *(each.word for each in paths[-1:]))
    return attrs.evolve(
        found,
        paths=paths,
        hosts=hosts,
        is_listed=found.is_listed and is_all,
        copies=tuple(attrs.evolve(each, sources=each.sources[:_MOST_NAMED]) for each in found.copies),
        guessed=_limit_paths(found.guessed),
        guessed_hosts=limit_hosts(found.guessed_hosts),
    )


def _limit_paths(paths: Iterable[Named]) -> tuple[Named, ...]:
    """Return each path once, up to a limit; an unknown path for each access represents the rest."""
    found = tuple(dict.fromkeys(paths))
    if len(found) <= _MOST_NAMED:
        return found
    unseen = dict.fromkeys(Named(each.access, UNSEEN) for each in found)
    return (*found[:_MOST_NAMED], *unseen)


def limit_hosts(hosts: Iterable[Word]) -> tuple[Word, ...]:
    """Return each host once, up to a limit; an unknown host represents the rest."""
    found: dict[Word, None] = {}
    for host in hosts:
        if len(found) > _MOST_HOSTS:
            return (*found, UNSEEN)
        found[host] = None
    return tuple(found)
