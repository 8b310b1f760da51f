"""The files that a `git` command touches under names that are not in its words, and where these are read.

A patch names files, and so do a branch, an index, a stash, and a pattern that git itself compares with
names. Commands that move a whole work tree from one commit to another, such as `git switch` and `git pull`, are not
among them, unless they move another one than that of the folder.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from posixpath import dirname, join

import attrs

from permitry.actions.programs.arguments import Parts, read_options
from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.entries import Entry, RefusedError
from permitry.actions.programs.named import HERE, Contents, Named
from permitry.actions.programs.spelling import is_option
from permitry.core.action import Access, Descent, Word
from permitry.core.words import Found

__all__ = ["files_of_git", "fills_work_tree", "join_words"]

Words = Sequence[Word]

_HARMLESS = frozenset({"--no-pager", "-P", "-p", "--paginate", "--no-optional-locks", "--no-lazy-fetch"})
_HARMLESS_SETTINGS = ("advice.", "color.", "commit.", "user.")
_TEMPLATE = "init.templatedir"
_WORK_TREE = "core.worktree="
_WILDCARDS = frozenset("*?[\\")
_SIGNS = re.compile(r"[*?\[\]\\]")
_FROM_FILE = "--pathspec-fr"
_TOP = Word(":/")
_HOOKS = Word(".git/hooks")
_CHOOSES = frozenset({"--patch", "-p"})
"""Options with which a human says what is written."""
_NARROW = re.compile(r":(?:/|\(top\)).", re.DOTALL)
_NEW_BRANCH = frozenset({"-b", "-B", "--orphan"})
_ONLY_LOOKS = frozenset({"--check", "--numstat", "--stat", "--summary"})
_GO_ON = frozenset({"--abort", "--continue", "--quit", "--resolved", "--retry", "--show-current-patch", "--skip", "-r"})


@attrs.frozen
class _Call:
    """A call of git: its sub-command with what is behind it, and the folder `at` which it runs.

    `tree` is a work tree that it names, None for that of the folder. Unless it `is_plain`, it may use another
    repository than that of the folder, or other settings. It `has_template` if a setting names what a new repository
    gets. `parts` are the options and operands, None if some are not known.
    """

    words: tuple[Word, ...]
    at: Word
    tree: Word | None = None
    is_plain: bool = True
    has_template: bool = False
    parts: Parts | None = None

    @property
    def names(self) -> frozenset[str]:
        """The names of the options; where these are not known, all words that may be one."""
        if self.parts is not None:
            return self.parts.names
        return frozenset(word.text.partition("=")[0] for word in self.words if word.text.startswith("-"))

    @property
    def operands(self) -> tuple[Word, ...]:
        """The operands before `--`; where these are not known, all words that may be one."""
        if self.parts is not None:
            return tuple(self.parts.operands[: self.parts.before])
        before = itertools.takewhile(lambda word: word.text != "--", self.words[1:])
        return tuple(word for word in before if not word.text.startswith("-"))

    @property
    def behind(self) -> tuple[Word, ...] | None:
        """The words behind `--`, None without one."""
        texts = [word.text for word in self.words]
        if "--" in texts:
            return self.words[texts.index("--") + 1 :]
        return None

    def value(self, *options: str) -> Word | None:
        """Return the value of an option; of several, the last one."""
        found = self.parts.found if self.parts is not None else ()
        return next((value for name, value in reversed(found) if name in options), None)

    def fill(self, word: Word, contents: Contents | None, *, from_top: bool = False) -> Named:
        """Return a folder into which files are put; `from_top`: it is relative to the top of the work tree."""
        is_known = self.is_plain and self.parts is not None
        is_below_top = from_top and self.is_plain
        return Named(
            Access.WRITE,
            word if is_below_top else join_words(self.at, word),
            is_tree=True,
            is_entry=True,
            descent=Descent.NEW,
            contents=contents if is_known else None,
            is_around=from_top and word == HERE,
            work_tree=self.at if is_below_top else None,
        )

    def excludes(self, options: frozenset[str], *, undo: tuple[str, ...] = ()) -> bool:
        """Return whether one of the options keeps the command from writing, and none may `undo` that, as `--no-x`."""
        negated = (f"--no-{each[2:]}" for each in options if each.startswith("--"))
        plain = (f"--{each.removeprefix('--no-')}" for each in options if each.startswith("--no-"))
        undoing = (*undo, *negated, *plain)
        return not self.names.isdisjoint(options) and not any(
            is_option(name, each) for each in undoing for name in self.names - options
        )


def join_words(folder: Word, word: Word) -> Word:
    """Return the path that a word names for a program that runs in a folder."""
    if folder == HERE or word.is_home or word.text.startswith("/"):
        return word
    if word == HERE:
        return folder
    is_open = folder.is_open or word.is_open
    return Word(join(folder.text, word.text), folder.is_glob or word.is_glob, folder.is_home, is_open)


def fills_work_tree(words: Words) -> bool:
    """Return whether the words are a call of git that puts files into a work tree."""
    return words[0].text.rpartition("/")[2] == "git" and not record_of("git").kinds["fills"].isdisjoint(
        word.text for word in words[1:]
    )


def files_of_git(words: Words) -> Iterator[Named]:
    """Yield the folders into which a command puts files, and where its patterns fit some, if it is one of git."""
    if words[0].text.rpartition("/")[2] != "git":
        return
    call = _read(words)
    name = call.words[0].text if call.words else ""
    if call.tree is not None and name in record_of("git").kinds["fills"]:
        yield attrs.evolve(call, is_plain=False).fill(call.tree, None)
    elif name in _COMMANDS:
        yield from _COMMANDS[name](call)
    if name in record_of("git").kinds["match"]:
        yield from _match(call)


def _read(words: Words) -> _Call:
    """Return what the options before the sub-command say, and the sub-command."""
    at, tree, is_plain, rest = HERE, None, True, tuple(words[1:])
    while rest and rest[0].text.startswith("-"):
        first, is_valued = rest[0], rest[0].text in record_of("git").known.valued
        option, _, attached = first.text.partition("=")
        value = next(iter(rest[1:2]), HERE) if is_valued else attrs.evolve(first, text=attached, is_home=False)
        rest = rest[1 + is_valued :]
        if option == "-C":
            at = join_words(at, value) if value.text else at
        elif option == "--work-tree":
            tree = value
        elif option == "-c" and value.text.lower().startswith(_WORK_TREE):
            tree = attrs.evolve(value, text=value.text[len(_WORK_TREE) :], is_home=False)
        elif not (option in _HARMLESS or (option == "-c" and value.text.startswith(_HARMLESS_SETTINGS))):
            is_plain = False
    has_template = any(_TEMPLATE in word.text.lower() for word in words)
    return _read_parts(_Call(rest, at, tree, is_plain, has_template), record_of("git"))


def _read_parts(call: _Call, entry: Entry) -> _Call:
    """Return a call with the options and operands of its sub-command."""
    inner = entry.commands.get(call.words[0].text) if call.words else None
    if inner is None:
        return call
    if inner.commands:
        return attrs.evolve(_read_parts(attrs.evolve(call, words=call.words[1:]), inner), words=call.words)
    try:
        return attrs.evolve(call, parts=read_options(call.words[1:], inner, name=call.words[0].text, is_any=True))
    except RefusedError:
        return call


# Trees and the index -------------------------------------------------------------------------------------------------


def _checkout(call: _Call) -> Iterator[Named]:
    before, behind = call.operands, call.behind
    if call.excludes(_NEW_BRANCH):
        return
    if any(word.text.startswith(_FROM_FILE) for word in call.words):
        yield call.fill(HERE, None, from_top=True)
    elif behind is not None:
        sources = (*before, *behind)
        yield from _paths(call, behind, "commit" if before else "index", sources)
    elif len(before) > 1:
        first, *rest = _paths(call, before, "either", before)
        yield from (attrs.evolve(first, instead=frozenset({Access.READ})), *rest)
    elif before and not call.names.isdisjoint(_CHOOSES):
        yield from _paths(call, (_TOP,), "either", (*before, _TOP))
    elif before and _is_no_branch(before[0]):
        yield from _paths(call, before, "index", before)


def _is_no_branch(word: Word) -> bool:
    """Return whether no branch can have this name, so that it is a path."""
    return word.text.startswith((".", "/", ":")) or word.text.endswith("/") or not _WILDCARDS.isdisjoint(word.text)


def _restore(call: _Call) -> Iterator[Named]:
    has_index = not call.names.isdisjoint({"-S", "--staged"})
    if call.excludes(frozenset({"-S", "--staged"}), undo=("-W", "--worktree")):
        return
    if any(word.text.startswith(_FROM_FILE) for word in call.words):
        yield call.fill(HERE, None, from_top=True)
    source = call.value("-s", "--source") or (Word("HEAD") if has_index else None)
    paths = (*call.operands, *(call.behind or ()))
    paths = paths or (() if call.names.isdisjoint(_CHOOSES) else (_TOP,))
    yield from _paths(call, paths, "commit" if source else "index", (source, *paths) if source else paths)


def _paths(call: _Call, paths: Words, kind: str, sources: Words) -> Iterator[Named]:
    """Yield the places that pathspecs are about: a folder, a name, or the folder in which a wildcard begins."""
    # Git finds what the shell does by a wildcard, and more.
    words = tuple(attrs.evolve(word, is_glob=False) for word in sources)
    contents = Contents(kind, words, at=call.at)
    instead = frozenset[Access]() if call.names.isdisjoint(_CHOOSES) else frozenset({Access.READ})
    for word in paths:
        is_magic = word.text.startswith(":")
        target = HERE if is_magic else _before_wildcard(word)
        named = call.fill(target, contents, from_top=is_magic)
        # A pathspec for all but some files is about the whole folder.
        is_around = _NARROW.match(word.text) is not None if is_magic else target != word
        yield attrs.evolve(named, instead=instead, is_around=is_around)


def _match(call: _Call) -> Iterator[Named]:
    """Yield the folders below which names fit the patterns of a command; a star is one for slashes as well."""
    words = (*call.operands, *(call.behind or ()))
    if not words and call.words[0].text == "clean":
        words = (HERE,)
    for word, access in itertools.product(words, _accesses_of(call)):
        if word == HERE or word.text.startswith(":"):
            # From the top, without regard to case, or all but some.
            yield Named(access, HERE, is_tree=True, work_tree=call.at)
        elif not _WILDCARDS.isdisjoint(word.text):
            yield _below_pattern(word, access, call.at)


def _below_pattern(word: Word, access: Access, at: Word) -> Named:
    """Return the folder in which the wildcards of a pattern begin, and what the names below it end with."""
    top, ends = join_words(at, _before_wildcard(word)), _ends_of(word.text)
    if not ends:
        return Named(access, top, is_tree=True)
    return Named(access, Word(word.text, is_open=True, found=Found((top,), ends, has_links=False)))


def _accesses_of(call: _Call) -> tuple[Access, ...]:
    """Return what a command may do to names that fit."""
    shapes = record_of("git").commands[call.words[0].text].shapes
    roles = "/".join(role.rstrip("*+?") for shape in shapes for role in shape.operands).split("/")
    known = tuple(access for access in Access if access.value in roles)
    if not call.names.isdisjoint({"-n", "--dry-run"}):
        return (Access.READ,)
    return known or (Access.READ, Access.WRITE, Access.DELETE)


def _ends_of(pattern: str) -> tuple[str, ...]:
    """Return what the last part of each name fits that a pattern of git fits; nothing if that is any."""
    end = _SIGNS.split(pattern)[-1]
    last = end.rpartition("/")[2]
    if "/" not in end:
        last = f"*{end}"
    return tuple(each for each in (last,) if each.strip("*"))


def _before_wildcard(word: Word) -> Word:
    """Return the folder in which a wildcard begins; a word without one as it is."""
    head = "".join(itertools.takewhile(lambda char: char not in _WILDCARDS, word.text))
    if head == word.text:
        return word
    return attrs.evolve(word, text=head.rpartition("/")[0] or ".", is_glob=False)


def _checkout_index(call: _Call) -> Iterator[Named]:
    if call.excludes(frozenset({"--temp", "-n", "--no-create"})):
        return
    prefix = call.value("--prefix") or Word("")
    paths = (*call.operands, *(call.behind or ()))
    sources = (_TOP,) if not call.names.isdisjoint({"-a", "--all"}) else paths
    is_listed = bool(sources) and "--stdin" not in call.names and not prefix.is_open
    contents = Contents("index", sources, at=call.at, prefix=prefix.text) if is_listed else None
    yield from _whole(call, attrs.evolve(prefix, text=dirname(prefix.text) or "."), contents)


def _read_tree(call: _Call) -> Iterator[Named]:
    has_update = "-u" in call.names or (call.parts is None and any("u" in name for name in call.names))
    if not has_update or call.excludes(frozenset({"-n", "--dry-run"}), undo=("--no-dry-run",)):
        return
    prefix = call.value("--prefix")
    top = HERE if prefix is None else prefix
    is_listed = len(call.operands) == 1 and not top.is_open
    start = "" if prefix is None else f"{prefix.text.rstrip('/')}/"
    yield from _whole(call, top, Contents("commit", call.operands, at=call.at, prefix=start) if is_listed else None)


def _whole(call: _Call, word: Word, contents: Contents | None) -> Iterator[Named]:
    """Yield a folder into which files are put, and the same for those that are there already."""
    named = call.fill(word, contents, from_top=True)
    yield named
    if named.contents is not None:
        yield attrs.evolve(named, contents=attrs.evolve(named.contents, is_old=True))


def _stash(call: _Call) -> Iterator[Named]:
    name, *rest = (word.text for word in call.words[1:]) if len(call.words) > 1 else ("",)
    if name in ("apply", "pop"):
        contents = Contents("stash", call.operands or (Word("0"),), at=call.at)
        yield call.fill(HERE, contents if len(call.operands) <= 1 else None, from_top=True)
    elif name == "branch" and rest:
        yield call.fill(HERE, Contents("stash", call.operands[1:] or (Word("0"),), at=call.at), from_top=True)


# Patches -------------------------------------------------------------------------------------------------------------


def _apply(call: _Call) -> Iterator[Named]:
    if not call.excludes(_ONLY_LOOKS, undo=("--apply",)) and not call.excludes(frozenset({"--cached"})):
        yield from _patch(call, "patch")


def _am(call: _Call) -> Iterator[Named]:
    if call.names.isdisjoint(_GO_ON):
        yield from _patch(call, "mail")


def _quiltimport(call: _Call) -> Iterator[Named]:
    yield call.fill(HERE, None, from_top=True)


def _patch(call: _Call, kind: str) -> Iterator[Named]:
    words = (*call.operands, *(call.behind or ()))
    sources = tuple(join_words(call.at, word) for word in words if word.text != "-")
    strip = call.value("-p")
    is_number = strip is None or (strip.text.isascii() and strip.text.isdigit() and not strip.is_open)
    depth = 1 if strip is None or not is_number else int(strip.text[:3])
    contents = Contents(kind, sources, depth, at=call.at) if is_number else None
    yield call.fill(call.value("--directory") or HERE, contents, from_top=True)


# New work trees and repositories -------------------------------------------------------------------------------------


def _worktree(call: _Call) -> Iterator[Named]:
    is_empty = call.excludes(frozenset({"--no-checkout"}))
    if call.words[1:2] and call.words[1].text == "add" and not is_empty:
        names = call.operands if call.parts is None else call.operands[:1]
        yield from (call.fill(word, None) for word in names if word.text != "add")


def _clone(call: _Call) -> Iterator[Named]:
    """Yield the folder that is named; without one git chooses the name."""
    words = (*call.operands, *(call.behind or ()))[1:]
    if _has_template(call):
        yield from (call.fill(join_words(word, _HOOKS), None) for word in words or (Word("*", is_glob=True),))
    elif not call.excludes(frozenset({"-n", "--no-checkout", "--bare", "--mirror"})):
        yield from (attrs.evolve(call.fill(word, None), contents=Contents("clone")) for word in words)


def _init(call: _Call) -> Iterator[Named]:
    """Yield the repository, which gets what is in a template: hooks as well."""
    template = call.value("--template")
    top = next(iter((*call.operands, *(call.behind or ()))), HERE)
    if template is None and _has_template(call):
        yield call.fill(join_words(top, _HOOKS), None)
    elif template is not None and template.text:
        source = join_words(call.at, attrs.evolve(template, text=f"{template.text.rstrip('/')}/"))
        target = top if "--bare" in call.names else join_words(top, Word(".git"))
        yield call.fill(target, Contents("tree", (source,)))


def _has_template(call: _Call) -> bool:
    """Return whether a new repository may get files from a template that is named, by an option or by a setting."""
    is_named = any(is_option(name, "--template") for name in call.names)
    return is_named or call.has_template


_COMMANDS: Mapping[str, Callable[[_Call], Iterator[Named]]] = {
    "am": _am,
    "apply": _apply,
    "checkout": _checkout,
    "checkout-index": _checkout_index,
    "clone": _clone,
    "init": _init,
    "quiltimport": _quiltimport,
    "read-tree": _read_tree,
    "restore": _restore,
    "stash": _stash,
    "worktree": _worktree,
}
