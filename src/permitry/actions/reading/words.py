r"""The words of the strict reader: quotes, escapes, and the characters that bash does not change.

::

    word = plain characters, \x, '…', "…", an expansion, an arithmetic one of numbers, a substitution

An expansion whose value is not known makes the word an open one.

Source: bash(1), "QUOTING", "EXPANSION".
"""

import re
import string

import attrs

from permitry.core.action import Word
from permitry.errors import PermitryError

__all__ = ["BLANK", "ENDS_WORD", "PROCESS", "UnreadableError", "WordReader", "has_wildcard"]

PROCESS = "/dev/fd/63"
"""What bash passes for a process substitution, but for the number."""
BLANK = frozenset(" \t")
ENDS_WORD = frozenset(" \t\n;&|<>()")

_AFTER_DOLLAR = frozenset(string.ascii_letters + string.digits + "_@*#?$!-({[`'\"\\")
"""Characters that give a dollar before them a meaning, or may; before all others it is a dollar."""
_QUOTED_BY_DOLLAR = re.compile(r"""\$'((?:[^'\\]|\\[nrt\\"])*)'""")
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", '"': '"'}
_ESCAPED_IN_DOUBLE = frozenset('$`"\\')

# Each pattern matches in only one way, so that backtracking takes linear time.
_BLANKS = re.compile(r"(?:[ \t]|\\\n)*")
_PLAIN = re.compile(r"""[^ \t\n;&|<>()'"\\$`{}~]+""")
_PLAIN_IN_DOUBLE = re.compile(r'[^"\\$`]+')
_UNTOUCHED_BRACE = re.compile(r"\{[A-Za-z0-9_-]*\}")
_VARIABLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_WHOLE = re.compile(r"(\"?)\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})\1")
_PARAMETER = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])")
_IN_BRACES = re.compile(r"#?(?:[A-Za-z_][A-Za-z0-9_]*(?:\[(?:[@*]|[0-9]+)\])?|[0-9]+|[@*#?$!-])")
_RANGE = re.compile(r":[ ]*-?[0-9]+(?::[ ]*-?[0-9]+)?(?=\})")
# Not `=`, which assigns, `@`, which may expand again, and not `!` before the name.
_OPERATOR = re.compile(r":?[-+?]|##?|%%?|//?|\^\^?|,,?")
_PLAIN_IN_BRACES = re.compile(r"""[^'"\\$`{}<>()|;&\n]+""")
_NUMBERS = re.compile(r"[0-9 +*/%<>!&|^~?:,=-]*")
_CHANGES = re.compile(r"(?<![<>=!])=(?!=)|<<=|>>=|\+\+|--")
_NUMBERS_ONLY = ("$#", "$?", "$$")
_TAKEN_OFF = re.compile(r"\\(?:[$`\\\"\n]|\Z)")
"""A backslash that some shells take off in backticks; any other is there as it would be outside of them."""
DEEPEST = 10
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CHOICE = r"[A-Za-z0-9_./:@%+-]*"
_BRACED = re.compile(
    rf"{_CHOICE}(?:\{{{_CHOICE}(?:,{_CHOICE})+\}}{_CHOICE}|\{{-?[0-9]{{1,9}}\.\.-?[0-9]{{1,9}}\}}{_CHOICE})+"
)
_BRACES = re.compile(r"\{([^{}]*)\}")
_MOST_EXPANDED = 64
LONGEST_VALUE = 4_096
"""How many characters a value may have that is followed."""
MOST_OF_VALUES = 64 * 1024
"""How many characters the values have in all that take the place of variables."""
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


@attrs.define
class _Opened:
    """The expansions in the word that starts at `begin`: whether there are any, and may make several words.

    `is_glob`: the word is a variable in quotes whose value is the name of a file that fits a pattern.
    """

    begin: int = 0
    is_open: bool = False
    is_split: bool = False
    is_glob: bool = False
    is_home: bool = False


class WordReader:
    """Reads words of `text` from `at` on; `values` are the variables whose values are known."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.values: dict[str, Word] = {}
        self.values_left = MOST_OF_VALUES
        self.sources: dict[str, str] = {}
        self.opened = _Opened()
        self.depth = 0

    def commands_inside(self, construct: str, closer: str) -> None:
        """Consume the commands of a substitution, and the `closer` after them."""
        raise NotImplementedError

    def refuse(self, reason: str, offset: int | None = None) -> UnreadableError:
        """Return the error for the text here, or at `offset`."""
        return UnreadableError(reason, self.at if offset is None else offset)

    def peek(self, ahead: int = 0) -> str:
        """Return the character here, or the one `ahead` characters further; empty after the end of the text."""
        at = self.at + ahead
        if at < len(self.text):
            return self.text[at]
        return ""

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
        if found is None:
            return self.at
        return found.end()

    def word(self, *, in_assignment: bool = False) -> Word:
        """Consume the word here and return it."""
        begin, outer = self.at, self.opened
        self.opened = opened = _Opened(begin)
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
        self.opened = outer
        is_glob = has_wildcard("".join(plain_parts)) or opened.is_glob
        return Word(
            "".join(parts),
            is_glob,
            is_home=opened.is_home or self.text.startswith("~", begin),
            is_open=opened.is_open,
            is_single=opened.is_open and not (opened.is_split or is_glob),
            source=self.source_of(begin) if opened.is_open and self.sources else "",
        )

    def source_of(self, begin: int) -> str:
        """Return the substitution that a word is, which begins there, if it is one variable with such a value."""
        found = _WHOLE.fullmatch(self.text, begin, self.at)
        if found is None:
            return ""
        return self.sources.get(found[2] or found[3], "")

    def words(self) -> list[Word]:
        """Consume the text of one word and return the words that the shell makes of it."""
        found = _VARIABLE.match(self.text, self.at)
        known = self.value_of(found)
        if found is not None and known is not None and not known.is_glob:
            end, parts = found.end(), known.text.split()
            if self.ends_word(end - self.at) and parts and all(map(_ONE_WORD.issuperset, parts)):
                self.at = end
                self.check_end()
                self.values_left -= len(known.text)
                return [Word(part) for part in parts]
        end = self.scan(_BRACED)
        if end > self.at and self.ends_word(end - self.at):
            return self.expand_braces(end)
        return [self.word()]

    def expand_braces(self, end: int) -> list[Word]:
        """Consume a word with braces, up to `end`, and return the words that bash makes of it."""
        text, *rest = _BRACES.split(self.text[self.at : end])
        texts = [text]
        for inside, after in zip(rest[::2], rest[1::2], strict=True):
            choices = inside.split(",") if "," in inside else self.sequence(inside)
            texts = [f"{before}{choice}{after}" for before in texts for choice in choices]
            if len(texts) > _MOST_EXPANDED:
                raise self.refuse("a brace with too many words")
        if "" in texts:
            raise self.refuse("a brace")
        self.at = end
        self.check_end()
        return [Word(text) for text in texts]

    def sequence(self, text: str) -> list[str]:
        """Return the numbers of `1..3`."""
        first, last = text.split("..")
        if not all(each == str(int(each)) for each in (first, last)) or abs(int(last) - int(first)) > _MOST_EXPANDED:
            raise self.refuse("a brace")
        step = 1 if int(last) >= int(first) else -1
        return [str(number) for number in range(int(first), int(last) + step, step)]

    def check_end(self) -> None:
        """Refuse a word that the text after it would turn into something else."""
        if self.peek() == "(" or self.at_process():
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
                return self.dollar()

    def dollar(self) -> str:
        """Consume what begins with a dollar or a backtick outside of quotes, and return its value."""
        if self.at_dollar():
            self.at += 1
            return "$"
        found = _QUOTED_BY_DOLLAR.match(self.text, self.at)
        if found is None:
            return self.variable(is_quoted=False)
        self.at = found.end()
        return re.sub(r"\\(.)", lambda match: _CONTROLS[match[1]], found[1])

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
                parts.append(self.read_escape_in_double())
            elif char == "$" and (self.peek(1) == '"' or self.at_dollar()):
                parts.append(char)
                self.at += 1
            else:
                parts.append(self.variable(is_quoted=True))
        self.at += 1
        return "".join(parts)

    def read_escape_in_double(self) -> str:
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

    def at_dollar(self) -> bool:
        """Return whether a dollar is here that is only a character."""
        return self.peek() == "$" and self.peek(1) not in _AFTER_DOLLAR

    # Expansions ------------------------------------------------------------------------------------------------------

    def variable(self, *, is_quoted: bool) -> str:
        """Consume an expansion; return its value if that is known, otherwise how it is written."""
        found = _VARIABLE.match(self.text, self.at)
        known = self.value_of(found)
        if found is not None and self.is_home(found):
            self.at = found.end()
            self.opened.is_home = True
            return "~"
        if found is None or known is None or known.is_home:
            return self.expansion(is_quoted=is_quoted)
        self.at = found.end()
        self.values_left -= len(known.text)
        if known.is_glob and is_quoted and self.is_whole(found):
            self.opened.is_glob = True
            return known.text
        if known.is_glob or not (is_quoted or (known.text and _ONE_WORD.issuperset(known.text))):
            return self.open(found.start(), is_split=not is_quoted)
        return known.text

    def value_of(self, found: re.Match[str] | None) -> Word | None:
        """Return the value of a variable; None if it is not known, or one more of its length is too much."""
        known = None if found is None else self.values.get(found[1] or found[2])
        if known is not None and len(known.text) <= self.values_left:
            return known
        return None

    def keep_value(self, name: str, value: Word) -> None:
        """Keep the value of a variable, which is known from here on unless it is too long."""
        self.values.pop(name, None)
        if len(value.text) <= LONGEST_VALUE:
            self.values[name] = value

    def forget(self, name: str) -> None:
        """Take the value of a variable for unknown from here on."""
        self.values.pop(name, None)
        self.sources.pop(name, None)

    def is_home(self, found: re.Match[str]) -> bool:
        """Return whether a word begins with the home folder, in the variable for it."""
        begin, end = found.start(), found.end()
        end += self.text.startswith('"', end)
        is_first = begin == self.opened.begin or (begin, self.peek(-1)) == (self.opened.begin + 1, '"')
        return (
            "HOME" in self.values
            and found[found.lastindex or 0] == "HOME"
            and is_first
            and (self.text.startswith("/", end) or self.ends_word(end - self.at))
        )

    def is_whole(self, found: re.Match[str]) -> bool:
        """Return whether a word is nothing but this variable in double quotes."""
        return found.start() == self.opened.begin + 1 and self.peek() == '"' and self.ends_word(1)

    def open(self, begin: int, *, is_split: bool) -> str:
        """Make the word an open one, and return the text of the expansion that begins at `begin`."""
        self.opened.is_open = True
        self.opened.is_split = self.opened.is_split or is_split
        return self.text[begin : self.at]

    def expansion(self, *, is_quoted: bool) -> str:
        """Consume an expansion whose value is not known, and return how it is written."""
        begin = self.at
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.refuse(f"more than {DEEPEST} expansions around another")
        is_split = not is_quoted
        if self.text.startswith("$((", begin):
            self.arithmetic()
        elif self.text.startswith("$(", begin):
            self.at += 2
            self.commands_inside("$(…)", ")")
        elif self.peek() == "`":
            self.backticks()
        elif self.text.startswith("${", begin):
            self.braced(is_quoted=is_quoted)
            is_split = is_split or "@" in self.text[begin : self.at]
        elif (end := self.scan(_PARAMETER)) > begin:
            self.at = end
            text = self.text[begin:end]
            is_split = text == "$@" or (is_split and text not in _NUMBERS_ONLY)
        else:
            raise self.refuse("an expansion")
        self.depth -= 1
        return self.open(begin, is_split=is_split)

    def arithmetic(self) -> None:
        """Consume `$((…))` with numbers only: the value of a variable may have a substitution in a subscript.

        A variable must be one whose value is a number, and may not be changed there.
        """
        begin, has_name = self.at, False
        self.at, inside = self.at + 3, 0
        while inside or not self.text.startswith("))", self.at):
            self.at = self.scan(_NUMBERS)
            name = _NAME.match(self.text, self.at)
            if self.text.startswith(_NUMBERS_ONLY, self.at):
                self.at += 2
            elif name is not None and self.is_number(name[0]):
                self.at, has_name = name.end(), True
            elif self.peek() == "(" or (self.peek() == ")" and inside):
                inside += 1 if self.peek() == "(" else -1
                self.at += 1
            elif not self.text.startswith("))", self.at):
                raise self.refuse("arithmetic with more than numbers", begin)
        if has_name and _CHANGES.search(self.text, begin, self.at):
            raise self.refuse("arithmetic that changes a variable", begin)
        self.at += 2

    def is_number(self, name: str) -> bool:
        """Return whether the value of a variable is a number, as far as it is known here."""
        return name in self.values and self.values[name].text.isdecimal()

    def backticks(self) -> None:
        """Consume a substitution in backticks, which means the same as one in `$(…)`."""
        begin, text = self.at, self.text
        end = text.find("`", begin + 1)
        if end < 0 or _TAKEN_OFF.search(text[begin:end]):
            raise self.refuse("backticks with a backslash of their own, or without their end")
        self.text, self.at = text[:end], begin + 1
        self.commands_inside("$(…)", "")
        self.text, self.at = text, end + 1

    def at_process(self) -> bool:
        """Return whether a process substitution begins here."""
        return self.text.startswith(("<(", ">("), self.at)

    def process(self) -> Word:
        """Consume `<(…)` or `>(…)` and return the word bash passes for it, but for the number."""
        construct = "<(…)" if self.peek() == "<" else ">(…)"
        self.at += 2
        self.commands_inside(construct, ")")
        if not self.ends_word() or self.at_process() or self.peek() == "(":
            raise self.refuse("text behind a process substitution")
        return Word(PROCESS)

    def braced(self, *, is_quoted: bool) -> None:
        """Consume `${…}`: a name, perhaps with a subscript, an operator, and text with other expansions."""
        begin = self.at
        self.at += 2
        name = self.scan(_IN_BRACES)
        if name == self.at:
            raise self.refuse("an expansion of an unusual kind", begin)
        self.at = name
        if self.peek() != "}":
            end = self.scan(_RANGE)
            end = self.scan(_OPERATOR) if end == self.at else end
            if end == self.at:
                raise self.refuse("an expansion of an unusual kind", begin)
            self.at = end
        while (char := self.peek()) != "}":
            end = self.scan(_PLAIN_IN_BRACES)
            if end > self.at:
                self.at = end
            elif char in ("$", "`"):
                self.variable(is_quoted=is_quoted)
            elif char == '"' and not is_quoted:
                self.double_quoted()
            elif char == "\\" and self.peek(1) not in ("", "\n", "'", '"', "`"):
                self.at += 2
            else:
                raise self.refuse("an expansion of an unusual kind", begin)
        self.at += 1
