r"""The words of the strict reader: quotes, escapes, and the characters that bash does not change.

::

    word = plain characters, \x, '…', "…" without expansions, $NAME or ${NAME} of a loop around it

Source: bash(1), "QUOTING", "EXPANSION".
"""

import re
import string

from permitry.core.action import Word
from permitry.errors import PermitryError

__all__ = ["BLANK", "ENDS_WORD", "UnreadableError", "WordReader", "has_wildcard"]

BLANK = frozenset(" \t")
ENDS_WORD = frozenset(" \t\n;&|<>()")
_ENDS_PLAIN_WORD = ENDS_WORD - {"("} | {""}

_LITERAL_AFTER_DOLLAR = frozenset('" |)')
_ESCAPED_IN_DOUBLE = frozenset('$`"\\')

# Each pattern matches in only one way, so that backtracking takes linear time.
_BLANKS = re.compile(r"[ \t]*")
_PLAIN = re.compile(r"""[^ \t\n;&|<>()'"\\$`{}~]+""")
_PLAIN_IN_DOUBLE = re.compile(r'[^"\\$`]+')
_UNTOUCHED_BRACE = re.compile(r"\{[A-Za-z0-9_-]*\}")
_VARIABLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_ONE_WORD = frozenset(string.ascii_letters + string.digits + "_-+=.,:/@%")


def has_wildcard(plain: str) -> bool:
    """Return whether the unquoted characters of a word contain a pattern.

    `[` and `[[` do not: for bash, a bracket begins a set only if another bracket closes it.
    """
    return "*" in plain or "?" in plain or 0 <= plain.find("[") < plain.rfind("]")


class UnreadableError(PermitryError):
    """Raised for shell text that the strict reader refuses; `offset` (0-based, in characters) is where it stopped."""

    def __init__(self, reason: str, offset: int) -> None:
        self.reason = reason
        self.offset = offset
        super().__init__(reason, offset)

    def __str__(self) -> str:
        return f"{self.reason} at character {self.offset + 1}"


class WordReader:
    """Reads words of `text` from `at` on; `values` are the variables of the loops around them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.values: dict[str, str] = {}

    def refuse(self, reason: str, offset: int | None = None) -> UnreadableError:
        """Return the error for the text here, or at `offset`."""
        return UnreadableError(reason, self.at if offset is None else offset)

    def peek(self, ahead: int = 0) -> str:
        """Return the character here, or the one `ahead` characters further; empty after the end of the text."""
        at = self.at + ahead
        return self.text[at : at + 1]

    def ends_word(self, ahead: int = 0) -> bool:
        """Return whether a word ends here, or `ahead` characters further."""
        char = self.peek(ahead)
        return char == "" or char in ENDS_WORD

    def blanks(self) -> None:
        """Consume blanks."""
        self.at = self.scan(_BLANKS)

    def scan(self, run: re.Pattern[str]) -> int:
        """Return the offset at which a match of `run` that begins here ends; the current one if there is no match."""
        found = run.match(self.text, self.at)
        return self.at if found is None else found.end()

    def word(self, *, in_assignment: bool = False) -> Word:
        """Consume the word here and return it."""
        begin = self.at
        end = self.scan(_PLAIN)
        if end > begin and self.text[end : end + 1] in _ENDS_PLAIN_WORD:
            # As nearly every word.
            self.at, plain = end, self.text[begin:end]
            return Word(plain, has_wildcard(plain))
        parts: list[str] = []
        plain_parts: list[str] = []
        while not self.ends_word():
            end = self.scan(_PLAIN)
            if end == self.at:
                parts.append(self.special(begin, in_assignment=in_assignment))
                continue
            plain = self.text[self.at : end]
            plain_parts.append(plain)
            parts.append(plain)
            self.at = end
        self.check_end()
        return Word("".join(parts), has_wildcard("".join(plain_parts)), is_home=self.text.startswith("~", begin))

    def check_end(self) -> None:
        """Refuse a word that the text after it would turn into something else."""
        if self.peek() == "(":
            raise self.refuse("`(`, which is not read here")
        if self.text[self.at - 1] == "}" and self.peek() in ("<", ">"):
            raise self.refuse("a redirection of an unusual descriptor")

    def special(self, begin: int, *, in_assignment: bool) -> str:
        """Consume a special character with the text that belongs to it, and return its value."""
        match self.peek():
            case "'":
                return self.single_quoted()
            case '"':
                return self.double_quoted()
            case "\\":
                return self.escaped()
            case "{" | "}":
                return self.brace()
            case "~":
                return self.tilde(begin, in_assignment=in_assignment)
            case _:
                return self.variable(is_quoted=False)

    def single_quoted(self) -> str:
        """Consume single quotes, and return the text between them."""
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise self.refuse("a quote without its end")
        text = self.text[self.at + 1 : end]
        self.at = end + 1
        return text

    def double_quoted(self) -> str:
        """Consume double quotes, and return the value of the text between them."""
        begin = self.at
        self.at += 1
        parts: list[str] = []
        while (char := self.peek()) != '"':
            end = self.scan(_PLAIN_IN_DOUBLE)
            if char == "":
                raise self.refuse("a quote without its end", begin)
            if end > self.at:
                parts.append(self.text[self.at : end])
                self.at = end
            elif char == "\\":
                parts.append(self.escaped_in_double())
            elif char == "$" and self.peek(1) in _LITERAL_AFTER_DOLLAR:
                parts.append(char)
                self.at += 1
            else:
                parts.append(self.variable(is_quoted=True))
        self.at += 1
        return "".join(parts)

    def escaped_in_double(self) -> str:
        """Consume a backslash and the character after it within double quotes, and return their value."""
        text = self.escaped()
        return text if text in _ESCAPED_IN_DOUBLE else f"\\{text}"

    def escaped(self) -> str:
        """Consume a backslash and the character after it, and return that character."""
        following = self.peek(1)
        if following in ("\n", ""):
            raise self.refuse("a line that goes on behind a backslash")
        self.at += 2
        return following

    def brace(self) -> str:
        """Consume `{…}` that bash does not expand, and return it: it has only letters, digits, `_` and `-` inside."""
        end = self.scan(_UNTOUCHED_BRACE)
        if end == self.at:
            raise self.refuse("a brace")
        text = self.text[self.at : end]
        self.at = end
        return text

    def tilde(self, begin: int, *, in_assignment: bool) -> str:
        """Consume a tilde and return it; at the beginning of a word it means the home folder (see `Word.is_home`)."""
        if in_assignment:
            raise self.refuse("a tilde in an assignment")
        if self.at == begin and not (self.peek(1) == "/" or self.ends_word(1)):
            raise self.refuse("the home folder of another user")
        if self.at > begin and self.text[self.at - 1] in "=:":
            raise self.refuse("a tilde that may be a home folder")
        self.at += 1
        return "~"

    def variable(self, *, is_quoted: bool) -> str:
        """Consume the variable of a loop and return its value; any other expansion is refused."""
        found = _VARIABLE.match(self.text, self.at)
        value = None if found is None else self.values.get(found[1] or found[2])
        if found is None or value is None:
            raise self.refuse("an expansion")
        if not is_quoted and not (value and _ONE_WORD.issuperset(value)):
            raise self.refuse("a variable without quotes that may become other words")
        self.at = found.end()
        return value
