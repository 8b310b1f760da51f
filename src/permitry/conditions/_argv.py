"""The words of a command pattern: how a pattern is parsed, and what one word of it matches."""

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from permitry.conditions._words import check_sign
from permitry.conditions.listed import WordLists, list_name, unknown_list
from permitry.core.action import Word
from permitry.core.facts import program_name
from permitry.core.pattern import Pattern
from permitry.errors import RuleError

MAX_PATTERN = 1_000
MAX_WORDS = 32
MAX_GAPS = 3
MAX_ALTERNATIVES = 64
MAX_CLUSTER = 4

_BLANK = " \t"
_OPERATORS = "|&;<>\n\r"
_EXPANSIONS = "$`"
_PIECE = re.compile(
    r"""(?P<plain>[\w./:=*?@+-]+)|\\(?P<escaped>.)|'(?P<single>[^']*)'|"(?P<double>[^"]*)"|(?P<sign>.)""", re.DOTALL
)
_OPERANDS = ("-", "--")
"""What begins with a hyphen without being an option: the standard input, and the end of all options."""
_SUBSTITUTIONS = ("$(", "<(", "`")

# A word is valid text without lone surrogates, so these can represent wildcards that are meant
# literally.
_STAR, _MARK = "\ud800", "\ud801"
_LITERAL = str.maketrans({"*": _STAR, "?": _MARK})
WRITTEN = str.maketrans({_STAR: "*", _MARK: "?"})
"""What turns a wildcard that is meant literally into its sign."""


@attrs.frozen
class Token:
    """One word of a pattern, with its alternatives; without any it matches any number of words."""

    alternatives: tuple[Pattern, ...] = ()

    @functools.cached_property
    def is_any(self) -> bool:
        return not self.alternatives

    @property
    def may_be_option(self) -> bool:
        return any(pattern.text.startswith("-") for pattern in self.alternatives)

    @property
    def options(self) -> "Token | None":
        found = tuple(each for each in self.alternatives if each.text.startswith("-") and each.text not in _OPERANDS)
        return Token(found) if found else None

    def join(self, mark: str, other: "Token") -> "Token":
        """Return the word that begins with one of its alternatives and ends with one of another."""
        pairs = itertools.product(self.alternatives, other.alternatives)
        return Token(tuple(Pattern(f"{one.text}{mark}{two.text}") for one, two in pairs))

    @property
    def are_assignments(self) -> bool:
        texts = [pattern.text.partition("=") for pattern in self.alternatives]
        return bool(texts) and all(name.isidentifier() and equals for name, equals, _ in texts)

    @property
    def patterns(self) -> tuple[str, ...]:
        """The alternatives as text; literal `*` and `?` look like wildcards in it."""
        return tuple(pattern.text.translate(WRITTEN) for pattern in self.alternatives)

    @property
    def texts(self) -> tuple[str, ...] | None:
        """The only words it matches; None with a wildcard."""
        if self.is_any or not all(pattern.is_exact for pattern in self.alternatives):
            return None
        return self.patterns

    @property
    def names(self) -> frozenset[str] | None:
        """The names, without directories, of the only programs it matches; None with a wildcard."""
        return None if self.texts is None else frozenset(map(program_name, self.texts))

    @property
    def is_one(self) -> bool:
        return self == ONE

    @functools.cached_property
    def clusters(self) -> tuple[frozenset[str], ...]:
        """The letters of each alternative that is a cluster of flags such as `-rf`."""
        return tuple(filter(None, map(_flags_in, self.alternatives)))

    @functools.cached_property
    def _exact(self) -> frozenset[str]:
        return frozenset(pattern.text for pattern in self.alternatives if pattern.is_exact)

    @functools.cached_property
    def _globs(self) -> tuple[Pattern, ...]:
        return tuple(pattern for pattern in self.alternatives if not pattern.is_exact)

    def matches(self, text: str) -> bool:
        if "*" in text or "?" in text:
            text = text.translate(_LITERAL)
        return text in self._exact or (bool(self._globs) and any(glob.matches(text) for glob in self._globs))

    def spells(self, word: Word) -> bool:
        """Return whether it is about a substitution as it is written, such as `'$('*`."""
        text = word.text.translate(_LITERAL)
        return any(each.text.startswith(_SUBSTITUTIONS) and each.matches(text) for each in self.alternatives)

    def may_match(self, word: Word) -> bool:
        """Return whether a word may match once the shell has expanded it; only its ends are compared."""
        if not (word.is_glob or word.is_home):
            return self.matches(word.text)
        head, tail = _ends_of(word)
        return any(_may_meet(text, head, tail) for text in self.patterns)

    def may_become(self, word: Word) -> bool:
        """Return whether one word with an expansion may match; the value of an option is none."""
        is_no_option = word.is_value or (word.found is not None and not word.may_be_option)
        start = word.start.translate(_LITERAL)
        every = (pattern.text for pattern in self.alternatives)
        return any(_may_meet(text, start, "") for text in every if not (is_no_option and text.startswith("-")))

    def may_name(self, word: Word) -> bool:
        """Return whether a word may name this program, in any directory and in any case."""
        # Only the names of the programs are compared: `/bin/rm`, `./rm` and `RM` may all be `rm`.
        if self.may_match(word):
            return True
        name = program_name(word.text)
        return self._bare.may_match(Word(name, is_glob=True)) if word.is_glob else self._bare.matches(name)

    @functools.cached_property
    def _bare(self) -> "Token":
        return Token(tuple(Pattern(program_name(pattern.text)) for pattern in self.alternatives))


ANY = Token()
ONE = Token((Pattern("*"),))


def may_change(word: Word) -> bool:
    return word.is_open or word.is_glob


def _flags_in(pattern: Pattern) -> frozenset[str]:
    """Return the letters of a short cluster of flags; empty for all else, such as `-exec`."""
    flags = pattern.text[1:]
    is_cluster = pattern.is_exact and pattern.text.startswith("-") and flags.isalnum()
    return frozenset(flags) if is_cluster and len(set(flags)) == len(flags) <= MAX_CLUSTER else frozenset()


def _ends_of(word: Word) -> tuple[str, str]:
    """Return the text that a word with wildcards certainly begins and ends with."""
    text = word.text
    head = "" if word.is_home else _before_wildcard(text)
    if word.is_home and not word.is_glob:
        return head, "".join(text.partition("/")[1:])
    # The closing bracket may be anywhere, so nothing after an opening one is certain.
    return head, "" if "[" in text else _before_wildcard(text[::-1])[::-1]


def _before_wildcard(text: str) -> str:
    return "".join(itertools.takewhile(lambda char: char not in "*?[", text))


def _may_meet(pattern: str, head: str, tail: str) -> bool:
    """Return whether some text may match `pattern`, begin with `head` and end with `tail`."""
    start, end = _before_wildcard(pattern), _before_wildcard(pattern[::-1])[::-1]
    begins = start.startswith(head) or head.startswith(start)
    return begins and (end.endswith(tail) or tail.endswith(end))


# Reading patterns -------------------------------------------------------------------------------------------------


def list_names_in(text: str) -> Sequence[str]:
    """Return the names of the lists in a pattern. Raises: `RuleError` for text that is not one."""
    reader = _Reader(text, None)
    return reader.names if "@" in text and list(reader.tokens()) else ()


@functools.lru_cache(maxsize=16_384)
def read_tokens(text: str, lists: WordLists = ()) -> tuple[Token, ...]:
    if len(text) > MAX_PATTERN:
        raise RuleError(f"the pattern of a command has {len(text)} characters; {MAX_PATTERN} are the most")
    check_sign(text.lstrip(_BLANK), "command")
    try:
        tokens = list(_Reader(text, dict(lists)).tokens())
    except RuleError as error:
        raise RuleError(f"`{text}`: {error}") from error
    if not tokens:
        raise RuleError("the pattern of a command is empty; write `*` for any command")
    if len(tokens) > MAX_WORDS:
        raise RuleError(f"the pattern of a command has {len(tokens)} words; {MAX_WORDS} are the most")
    if sum(token.is_any for token in tokens) > MAX_GAPS:
        raise RuleError(f"`{text}`: more than {MAX_GAPS} times `**`; no command needs that")
    if tokens == [ONE]:
        return ONE, ANY
    if tokens[0].is_any:
        raise RuleError(f"`{text}`: the program comes first; write `*` for any program")
    tokens[-1] = ANY if tokens[-1] == ONE else tokens[-1]
    # Two adjacent `**` match the same as one.
    return tuple(token for at, token in enumerate(tokens) if not (token.is_any and tokens[at - 1].is_any))


@attrs.define
class _Reader:
    """Splits a pattern into tokens in one pass; without `lists`, any word is what a list has."""

    text: str
    lists: Mapping[str, Iterable[str]] | None
    at: int = 0
    names: list[str] = attrs.field(factory=list)

    def tokens(self) -> Iterator[Token]:
        while True:
            while self.at < len(self.text) and self.text[self.at] in _BLANK:
                self.at += 1
            if self.at == len(self.text):
                return
            yield self._token()

    def _token(self) -> Token:
        start, texts = self.at, [""]
        while self.at < len(self.text) and self.text[self.at] not in _BLANK:
            pieces = self._alternatives() if self.text[self.at] == "{" else [self._piece()]
            texts = [left + right for left in texts for right in pieces]
            if len(texts) > MAX_ALTERNATIVES:
                raise RuleError(f"a word has more than {MAX_ALTERNATIVES} alternatives; write several patterns")
        word = self.text[start : self.at]
        if word == "**":
            return ANY
        if (name := list_name(word)) is not None:
            return self._read_list(name)
        if any("**" in text for text in texts):
            raise RuleError("`**` means any words only as a word of its own; write `*` inside a word")
        if "" in texts and self.at - start > len("''"):
            raise RuleError("an alternative is empty; write a pattern with the word, and one without it")
        return Token(tuple(map(Pattern, texts)))

    def _read_list(self, name: str) -> Token:
        self.names.append(name)
        if self.lists is None:
            return ONE
        if name not in self.lists:
            raise unknown_list(name, self.lists, f"'@{name}'")
        tokens = [_one_word(name, value) for value in self.lists[name]]
        return Token(tuple(itertools.chain.from_iterable(token.alternatives for token in tokens)))

    def _alternatives(self) -> list[str]:
        start, texts = self.at, [""]
        self.at += 1
        while self.at < len(self.text) and self.text[self.at] != "}":
            char = self.text[self.at]
            if char == "{":
                raise RuleError("braces inside braces; list all the alternatives in one pair")
            if char in _BLANK:
                break
            if char == ",":
                texts.append("")
                self.at += 1
            else:
                texts[-1] += self._piece()
        if self.at == len(self.text) or self.text[self.at] != "}":
            raise RuleError(f"the brace at character {start + 1} is not closed; quote it if it is meant literally")
        if len(texts) == 1:
            raise RuleError(f"the braces at character {start + 1} give no choice; quote them to mean them literally")
        self.at += 1
        return texts

    def _piece(self) -> str:
        """Return the next plain characters or quoted part; literal wildcards are replaced."""
        found = next(_PIECE.finditer(self.text, self.at))
        kind = str(found.lastgroup)
        if kind == "sign":
            self._check(found[0])
        self.at = found.end()
        return found[0] if kind in ("plain", "sign") else found[kind].translate(_LITERAL)

    def _check(self, char: str) -> None:
        if char == "\\":
            raise RuleError("nothing follows the last backslash; double it if it is meant literally")
        if char in "'\"":
            raise RuleError(f"the quote at character {self.at + 1} is not closed; put a backslash before a literal one")
        if char in _OPERATORS:
            shown = "a line break" if char in "\n\r" else f"`{char}`"
            raise RuleError(f"{shown} joins or redirects commands, and a pattern is for one command; list the commands")
        if char in _EXPANSIONS:
            raise RuleError(f"`{char}` begins an expansion, which is never compared; quote it to mean it literally")
        if char == "}":
            raise RuleError("a brace is closed that was not opened; quote it if it is meant literally")


def _one_word(name: str, value: str) -> Token:
    tokens = list(_Reader(value, {}).tokens())
    if len(tokens) != 1 or tokens[0].is_any:
        raise RuleError(f"`{value}` of the list `@{name}` is not one word; quote a blank: `'a b'`")
    return tokens[0]
