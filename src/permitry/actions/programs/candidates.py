"""The paths and hosts that a word may name if it is not known what the program does with the word."""

import itertools
import re
from collections.abc import Iterator, Sequence

import attrs

from permitry.actions.braces import BRACES, expand, split_choice
from permitry.actions.programs.awk import opens_computed
from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.literals import LITERAL, MOST_LITERALS, literals_in
from permitry.core.action import Word

__all__ = [
    "IN_PLACE",
    "UNSEEN",
    "addresses_in",
    "expand_globs",
    "hosts_in",
    "hosts_of_git",
    "is_name",
    "machine_of",
    "names_in",
    "paths_in",
    "reads_code",
    "script_of",
]

UNSEEN = Word("", is_open=True)
"""A name that is not known: it is not in the text, or there were too many names to look at."""

_MOST_PARTS = MOST_LITERALS
_MOST_EXPANDED = 64

_SCHEME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-")
_SIGNS = re.compile(r"[=:@,<]")
_TOKEN = re.compile(r"[^\s|()'\",+:=]+")
_OF_SQL = re.compile(rf"(?!\*(?:[\s|()'\",+:=;]|\Z)){_TOKEN.pattern}")
"""A star alone is all columns, or a product: the console expands no wildcards."""
_OF_CONSOLES = re.compile(
    # What is behind a command of the client, and string literals.
    r"(?:\b(?:source|include|m?put|m?get|reput|lcd|mirror|infile|outfile|dumpfile)|\\[\w.!]+|\.\w+)\s+['\"]?([^\s'\";,()]+)"
    r"|\b(?:from|to)\s+([^\s'\";,()]*[./~][^\s'\";,()]*)|'([^']+)'|\"([^\"]+)\"",
    re.IGNORECASE,
)
_SCRIPTED = (
    (re.compile(r"mysql|mariadb|psql|duckdb|sftp|smbclient|n?c?ftp|lftp"), _OF_CONSOLES),
    (re.compile(r"(?:[gmn]|original-)?awk|[jy]q"), LITERAL),
    (re.compile(r"(?:[gnr]?vim?|vimdiff|view|ex|emacs|gdb|ansible)"), _TOKEN),
    (re.compile(r"sqlite3?"), _OF_SQL),
)
_AROUND_NAME = " \t\n<>+|"
IN_PLACE = re.compile(r"(?:perl|ruby)[0-9.]*")
"""Interpreters whose `-i` is about files, and not about their input."""
_ELSEWHERE = re.compile(r"-[acflnpstuwW0]*+i.*[/*]")
"""The suffix of the files that are kept, by which they are in another folder."""
_MADE_BY_CURL = re.compile(r"\A(?:(?!.*://).*#[0-9]|file:.*[{\[])", re.IGNORECASE | re.DOTALL)
"""Names that curl makes of the parts of an address, and addresses of files that it expands."""
_MODULES = (".jq", ".json")
_VERSION = "0123456789."
_PLAIN = re.compile(r"[\w.~@+/-]+")
_CODE = re.compile(r"-[A-Za-z0-9]*[ceEpr]|--(?:eval|print|command|execute)|eval")
_SCRIPT_FIRST = re.compile(r"g?sed|(?:[gmn]|original-)?awk|jq|yq|[efz]?grep|rg|ripgrep|ag|ack")
_SCRIPT_OPTIONS = frozenset({"-e", "--expression", "--regexp", "--source"})
_SPECIAL_FILE = re.compile(r"/inet[46]?/(?:tcp|udp|raw)/[^/]*/([^/\s\"]+)")
_PART_OF_HOSTS = re.compile(r"(?:^|([\s,=:@;\"'(){}]))(\[[0-9a-fA-F:.]+\]|[^\s,=:@;/\"'(){}\[\]]+)")
_NO_HOST = re.compile(r"[0-9]*|[.-].*|.*[^\w.%\[\]:-].*", re.DOTALL)
_LOCAL = re.compile(r"[.~]|/(?!/)")
_MACHINE = re.compile(r"(?:\[[^\]]*\]|[^/:\s=]*\.[^/:\s=]*|localhost|[0-9]{4,}):(?!//)")
_ABOUT_HOSTS = re.compile(r"proxy|url|insteadof|host|server", re.IGNORECASE)
_BRACES = re.compile(BRACES.pattern + r"|\[([0-9]{1,9}|[A-Za-z])-([0-9]{1,9}|[A-Za-z])(?::[0-9]+)?\]")
_OPTIONS_WITH_HOST = frozenset({"--remote", "--smtp-server"})
_HEAD = re.compile(r"(?:[^/?#{}\[\]]*://)?[^/?#]*")

Words = Sequence[Word]


# Paths ---------------------------------------------------------------------------------------------------------------


def is_name(word: Word) -> bool:
    """Return whether a word looks like a path: not an option, and not a text with blanks."""
    is_text = not word.text or word.text.startswith("-") or any(map(str.isspace, word.text))
    return word.is_open or not is_text


def code_of(words: Words) -> frozenset[Word]:
    """Return the words that are code in the language of an interpreter: those after options such as `-c` or `-e`."""
    if not reads_code(words):
        return frozenset()
    found: set[Word] = set()
    has_script = False
    for word, after in itertools.pairwise(words[1:]):
        # Behind a script an option of that name may be its own, with a file behind it.
        if _CODE.fullmatch(word.text) and not (has_script and _PLAIN.fullmatch(after.text)):
            found.add(after)
        has_script = has_script or not word.text.startswith("-")
    return frozenset(found)


def reads_code(words: Words) -> bool:
    """Return whether a program is an interpreter, which may run its standard input as code in its language."""
    return record_of(words[0].text.rpartition("/")[2].rstrip(_VERSION)).interprets


def script_of(words: Words) -> frozenset[Word]:
    """Return the word that most likely is the script or pattern of `sed`, `awk`, `jq`, `grep` and the like."""
    if not _SCRIPT_FIRST.fullmatch(words[0].text.rpartition("/")[2]):
        return frozenset()
    given = [after for word, after in itertools.pairwise(words[1:]) if word.text in _SCRIPT_OPTIONS]
    return frozenset(given or [word for word in words[1:] if not word.text.startswith("-")][:1])


def names_in(code: Word) -> Iterator[Word]:
    """Yield what the string literals of code in another language may name; `>` before a name opens it in Perl."""
    found = list(itertools.islice(literals_in(code.text), MOST_LITERALS))
    names = dict.fromkeys(name for text in found for name in (text, text.strip(_AROUND_NAME).removeprefix("file://")))
    yield from (_part(code, name) for name in names if name)
    yield from _more(found)


def paths_in(word: Word, program: str) -> Iterator[Word]:
    """Yield each path that a word may name.

    That is the word itself, its parts between signs such as `=` and `:`, a value attached to a short option, and the
    names in a script of `program`.
    """
    yield word
    yield from (_part(word, text) for text in _texts(word.text) if text)
    before, colon, _ = word.text.partition(":")
    if colon:
        yield attrs.evolve(word, text=before)
    if program.startswith("perl"):
        # It opens an operand in the way of a shell: `< name`.
        yield _part(word, word.text.strip(_AROUND_NAME))
    if IN_PLACE.fullmatch(program) and _ELSEWHERE.match(word.text):
        yield UNSEEN
    if program == "curl" and _MADE_BY_CURL.search(word.text):
        yield UNSEEN
    is_computed = "awk" in program and opens_computed(word.text)
    names = next((names for kind, names in _SCRIPTED if kind.fullmatch(program)), None)
    if names is not None:
        found = [match[match.lastindex or 0] or "" for match in _some(names.finditer(word.text))]
        if program == "jq":
            found += [f"{name}{end}" for name in found for end in _MODULES]
        yield from (_part(word, text) for text in found if text != word.text)
        yield from (UNSEEN,) if is_computed else _more(found)


def _texts(text: str) -> Iterator[str]:
    if _SIGNS.search(text):
        yield from (text.partition(sign)[2] for sign in "=:@")
    if text.startswith("-") and not text.startswith("--"):
        yield text[2:]
    parts = _SIGNS.split(text, maxsplit=_MOST_PARTS)
    if len(parts) > 1:
        yield from (part for part in parts if not any(char.isspace() for char in part))


# Hosts ---------------------------------------------------------------------------------------------------------------


def hosts_in(word: Word, *, is_network: bool) -> Iterator[Word]:
    """Yield the addresses in a word; if `is_network` (the program uses the network), any part may be one."""
    user, at, rest = word.text.partition("@")
    yield from (_part(word, match[1]) for match in _some(_SPECIAL_FILE.finditer(word.text)))
    if "://" in word.text:
        for address in addresses_in(word):
            yield from expand_globs(address)
            yield from _several(address)
    elif at and ":" in rest.partition("/")[0] and "/" not in user:
        yield machine_of(word)
    elif is_network and not word.text.startswith("-") and not _is_other(word.text):
        yield from expand_globs(word)
    if is_network and (word.text.startswith("-") or "://" not in word.text):
        yield from _parts_of_hosts(word)


def _several(address: Word) -> Iterator[Word]:
    """Yield the hosts of an address with several, as databases take it: `postgresql://a,b/x`."""
    scheme, _, rest = address.text.partition("://")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2]
    hosts = list(filter(None, authority.split(",", _MOST_PARTS)))
    yield from (_part(address, f"{scheme}://{host}") for host in hosts if len(hosts) > 1)


def _is_other(text: str) -> bool:
    """Return whether a word as a whole is not a host: a local file, a text with blanks, a pair."""
    return bool(_LOCAL.match(text)) or "=" in re.split("[/?]", text, maxsplit=1)[0] or len(text.split()) != 1


def _parts_of_hosts(word: Word) -> Iterator[Word]:
    """Yield the parts of a word that may be hosts, as in `--proxy=a:80`, `-ha`, `tcp:a:80` or `ProxyJump=a,b`."""
    text = word.text
    if text.startswith("--"):
        text = text.partition("=")[2]
    elif text.startswith("-"):
        text = text[2:]
    is_text = len(text.split()) > 1
    found = _some(_PART_OF_HOSTS.finditer(text))
    for match in found:
        if not _NO_HOST.fullmatch(match[2]) and not (is_text and match[1] != "=" and "." not in match[2]):
            yield _part(word, match[2])
    yield from _more(found)


def hosts_of_git(words: Words) -> Iterator[Word]:
    """Yield the machines in `machine:path`, and the values of settings that name a host."""
    texts = [word.text for word in words]
    for at, word in enumerate(words[1:], start=1):
        if _MACHINE.match(word.text) and "@" not in word.text:
            yield machine_of(word)
        key, equals, value = word.text.partition("=")
        if key in _OPTIONS_WITH_HOST and ("." in value or ":" in value):
            yield machine_of(_part(word, value))
        if "." in key and _ABOUT_HOSTS.search(key) and "/" not in key:
            for each in (word,) if equals else words[at + 1 : at + 2]:
                yield from _parts_of_hosts(_part(each, each.text.partition("=")[2] or each.text))
    remote = record_of("git").kinds["remote"]
    at = next((at for at, text in enumerate(texts) if text in remote), len(texts))
    operand = next((word for word in words[at + 1 :] if not word.text.startswith("-")), None)
    if operand is not None and ":" in operand.text.partition("/")[0] and "://" not in operand.text:
        yield machine_of(operand)


def machine_of(word: Word) -> Word:
    """Return the host of `user@host:path`."""
    user_and_host, bracket, _ = word.text.partition("]:")
    if not bracket:
        user_and_host = word.text.partition(":")[0]
    return attrs.evolve(word, text=user_and_host.rpartition("@")[2] + bracket.removesuffix(":"))


def addresses_in(word: Word) -> Iterator[Word]:
    """Yield each address in a word: a scheme, its `://`, and the text up to the next address."""
    starts: list[int] = []
    at = word.text.find("://")
    while at >= 0:
        begin, end = at, starts[-1] if starts else 0
        while begin > end and word.text[begin - 1] in _SCHEME:
            begin -= 1
        starts.append(begin)
        at = word.text.find("://", at + 3)
    for begin, end in itertools.pairwise([*starts, len(word.text)]):
        yield _part(word, word.text[begin:end])


def expand_globs(word: Word) -> Iterator[Word]:
    """Yield the addresses to which curl expands `{a,b}` and `[a-c]`; an open word if they are too many."""
    if not _BRACES.search(word.text):
        yield word
        return
    head = _HEAD.match(word.text)
    end = head.end() if head and head[0].count("{") == head[0].count("}") else len(word.text)
    heads, are_all = expand(word.text[:end], _MOST_EXPANDED, _BRACES, _alternatives)
    if are_all:
        yield from (attrs.evolve(word, text=text + word.text[end:]) for text in heads)
    else:
        yield attrs.evolve(word, is_open=True)


def _alternatives(match: re.Match[str], most: int) -> list[str]:
    if match[1] is not None:
        return split_choice(match, most)
    first, last = match[2], match[3]
    if first.isdigit() and last.isdigit():
        numbers = range(int(first), int(last) + 1)[: most + 1]
        return [str(number).zfill(len(first)) for number in numbers]
    return [chr(code) for code in range(ord(first[0]), ord(last[0]) + 1)]


# Parts of words ------------------------------------------------------------------------------------------------------


def _part(word: Word, text: str) -> Word:
    return Word(text, word.is_glob, is_open=word.is_open)


def _some(matches: Iterator[re.Match[str]]) -> list[re.Match[str]]:
    return list(itertools.islice(matches, _MOST_PARTS))


def _more(found: Sequence[object]) -> tuple[Word, ...]:
    """Return an unknown name if the limit was reached, so that not all parts were looked at."""
    if len(found) == _MOST_PARTS:
        return (UNSEEN,)
    return ()
