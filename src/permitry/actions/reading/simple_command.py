"""The words of one simple command, read leniently: any text gives some words.

Where the strict reader refuses, this one marks the word as open (its value is unknown) and goes on. It reads a single
command, from its first character to the operator that ends it. The caller passes where substitutions end, as it knows
the structure of the whole text.

Source: bash(1), "QUOTING", "REDIRECTION", "Brace Expansion".
"""

import itertools
import re
from collections.abc import Mapping

import attrs

from permitry.actions.reading.words import has_wildcard
from permitry.core.action import Word

__all__ = ["CLOSES", "SimpleCommand", "read_simple_command"]

CLOSES = -1
"""In `spans`, marks the offset of a backtick that closes a substitution: a command within it ends there."""

_PLAIN = re.compile(r"[^ \t\n;&|<>()'\"\\$`*?\[~]+")
_IN_DOUBLE = re.compile(r'[^"\\$`]+')
_REDIRECTION = re.compile(r"(?:[0-9]+|\{\w+\})?(&>>|&>|>&|>>|>\||>|<<<|<<-|<<|<&|<>|<)(?!\()")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_VARIABLE = re.compile(r"\$(?:\w+|[@*#?$!-])")
_SEQUENCE = re.compile(r"(-?[0-9]{1,4}|[A-Za-z])\.\.(-?[0-9]{1,4}|[A-Za-z])(?:\.\.(-?[0-9]{1,4}))?")
_CODE = re.compile(r"x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.", re.DOTALL)
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
MOST_WORDS = 4000
"""How many words, assignments and redirections of a command are read."""

_ENDS_WORD = frozenset(" \t\n;&|<>()")
_LARGEST_CODE = 0x10FFFF
_MOST_BRACES = 16
_MOST_EXPANDED = 64


@attrs.frozen
class SimpleCommand:
    """The parts of one simple command, which ends at `end`.

    `stdin` are the texts of its here-documents and here-strings, `redirections` the offsets at which redirections
    begin. `open_parts` are the ranges that may contain further substitutions: `${…}`, and here-documents that are
    expanded. `is_cut`: there are more words than were read. `past` is the offset at which the here-documents end.
    """

    words: tuple[Word, ...] = ()
    assignments: tuple[tuple[str, str], ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    stdin: tuple[str, ...] = ()
    redirections: tuple[int, ...] = ()
    open_parts: tuple[tuple[int, int], ...] = ()
    end: int = 0
    is_cut: bool = False
    past: int = 0


def read_simple_command(text: str, start: int = 0, spans: Mapping[int, int] | None = None) -> SimpleCommand:
    """Return the words and redirections of the command that begins at `start`.

    `spans` maps the offset of each substitution to that of its end.
    """
    return _Reader(text, start, spans or {}).command()


@attrs.define
class _Builder:
    """The parts of a word while it is read; they are joined once, so that a long word takes linear time."""

    texts: list[str] = attrs.field(factory=list)
    kinds: list[str] = attrs.field(factory=list)

    def add(self, text: str, kind: str) -> None:
        self.texts.append(text)
        self.kinds.append(kind * len(text))

    def last(self) -> str:
        """Return the last character so far, empty if there is none."""
        return next((text[-1] for text in reversed(self.texts) if text), "")


@attrs.frozen
class _Piece:
    """Characters of a word, each with its kind.

    Kinds: `p` plain, `q` quoted, `o` part of an expansion, `d` part of an expansion in double quotes, which makes one
    word.
    """

    text: str = ""
    kinds: str = ""

    def word(self) -> Word:
        pairs = tuple(zip(self.text, self.kinds, strict=True))
        plain = "".join(char if kind == "p" else "x" for char, kind in pairs)
        is_single = "d" in self.kinds and "o" not in self.kinds
        is_open = is_single or "o" in self.kinds
        is_home = pairs[:1] == (("~", "p"),)
        return Word(self.text, has_wildcard(plain), is_home=is_home, is_open=is_open, is_single=is_single)

    def cut(self, begin: int, end: int | None = None) -> "_Piece":
        return _Piece(self.text[begin:end], self.kinds[begin:end])

    def plain(self, at: int) -> str:
        if self.kinds[at] == "p":
            return self.text[at]
        return ""


class _Reader:
    def __init__(self, text: str, start: int, spans: Mapping[int, int]) -> None:
        self.text = text
        self.at = start
        self.spans = spans
        self.stop = -1
        self.past_documents = 0
        self.words: list[Word] = []
        self.assignments: list[tuple[str, str]] = []
        self.reads: list[str] = []
        self.writes: list[str] = []
        self.stdin: list[str] = []
        self.redirections: list[int] = []
        self.open_parts: list[tuple[int, int]] = []

    def peek(self, ahead: int = 0) -> str:
        return self.text[self.at + ahead : self.at + ahead + 1]

    def at_stop(self) -> bool:
        """Return whether the substitution around the command ends here, or one begins whose end is not known."""
        return self.at == self.stop or self.spans.get(self.at) == CLOSES

    def command(self) -> SimpleCommand:
        is_cut = False
        while not self.at_end():
            begin = self.at
            is_cut = len(self.words) + len(self.redirections) + len(self.assignments) >= MOST_WORDS
            redirection = _REDIRECTION.match(self.text, self.at)
            if redirection is not None:
                self.redirection(redirection)
            else:
                self.argument()
            if self.at == begin or is_cut:
                break
        return SimpleCommand(
            tuple(self.words),
            tuple(self.assignments),
            tuple(self.reads),
            tuple(self.writes),
            tuple(self.stdin),
            tuple(self.redirections),
            tuple(self.open_parts),
            self.at,
            is_cut,
            self.past_documents,
        )

    def at_end(self) -> bool:
        """Consume blanks; return whether the command ends here."""
        while self.peek() in (" ", "\t") or self.text.startswith("\\\n", self.at):
            self.at += 2 if self.peek() == "\\" else 1
        if self.peek() in ("<", ">") or self.text.startswith("&>", self.at):
            return False
        return self.peek() in ("", "#") or self.peek() in _ENDS_WORD or self.at_stop()

    def argument(self) -> None:
        piece, is_quoted = self.piece()
        assignment = None if self.words else _ASSIGNMENT.match(piece.text)
        if assignment is not None and set(piece.kinds[: assignment.end()]) <= {"p"}:
            self.assignments.append((assignment[0].rstrip("=+"), piece.text[assignment.end() :]))
            return
        expanded = _expand(piece)
        for each in expanded:
            if each.text or is_quoted or len(expanded) == 1:
                self.words.append(each.word())

    # Redirections ----------------------------------------------------------------------------------------------------

    def redirection(self, match: re.Match[str]) -> None:
        self.redirections.append(self.at)
        self.at = match.end()
        while self.peek() in (" ", "\t") or self.text.startswith("\\\n", self.at):
            self.at += 2 if self.peek() == "\\" else 1
        piece, is_quoted = self.piece()
        operator = match[1]
        if operator == "<<<":
            self.stdin.append(piece.text)
        elif operator in ("<<", "<<-"):
            self.stdin.append(self.body(piece.text, expands=not is_quoted))
        elif piece.text or is_quoted:
            self.redirect(operator, piece.text)

    def redirect(self, operator: str, target: str) -> None:
        if operator in ("<&", ">&") and target.rstrip("-").isdecimal():
            return
        if operator.startswith("<"):
            self.reads.append(target)
        if ">" in operator:
            self.writes.append(target)

    def body(self, delimiter: str, *, expands: bool) -> str:
        """Return the text of the here-document that a line with `delimiter` ends."""
        begin = self.text.find("\n", self.at)
        if begin < 0:
            return ""
        end = re.compile(rf"\n\t*{re.escape(delimiter)}(?=\n|\Z)").search(self.text, begin)
        stop = end.start() + 1 if end else len(self.text)
        self.past_documents = end.end() if end else 0
        if expands:
            self.open_parts.append((begin + 1, stop))
        return self.text[begin + 1 : stop]

    # Words -----------------------------------------------------------------------------------------------------------

    def piece(self) -> tuple[_Piece, bool]:
        """Consume one word; return its characters, and whether any of them were quoted."""
        piece = _Builder()
        is_quoted = False
        while (char := self.peek()) and not self.at_stop():
            plain = _PLAIN.match(self.text, self.at)
            if plain is not None:
                piece.add(plain[0], "p")
                self.at = plain.end()
            elif char in ("'", '"', "\\"):
                is_quoted = True
                self.quoted(piece, char)
            elif char in ("$", "`"):
                is_quoted = self.expansion(piece) or is_quoted
            elif char not in _ENDS_WORD:
                piece.add(char, "p")
                self.at += 1
            elif not self.bracketed(piece, char):
                break
        return _Piece("".join(piece.texts), "".join(piece.kinds)), is_quoted

    def quoted(self, piece: _Builder, char: str) -> None:
        if char == "'":
            piece.add(self.single_quoted(), "q")
        elif char == '"':
            self.double_quoted(piece)
        else:
            following = self.peek(1)
            piece.add("" if following == "\n" else following or "\\", "q")
            self.at += 2

    def single_quoted(self) -> str:
        end = self.text.find("'", self.at + 1)
        end = len(self.text) if end < 0 else end
        text = self.text[self.at + 1 : end]
        self.at = end + 1
        return text

    def double_quoted(self, piece: _Builder) -> None:
        self.at += 1
        while (char := self.peek()) not in ('"', "") and not self.at_stop():
            plain = _IN_DOUBLE.match(self.text, self.at)
            if plain is not None:
                piece.add(plain[0], "q")
                self.at = plain.end()
            elif char == "\\":
                following = self.peek(1)
                piece.add("" if following == "\n" else following if following in '$`"\\' else char + following, "q")
                self.at += 2
            else:
                self.expansion(piece, in_double=True)
        self.at += 1

    def expansion(self, piece: _Builder, *, in_double: bool = False) -> bool:
        """Consume what begins with `$` or a backtick; return whether it was a quote (`$'…'` or `$"…"`)."""
        following = self.peek(1)
        if self.peek() == "$" and following == "'" and not in_double:
            self.at += 2
            piece.add(self.ansi_quoted(), "q")
            return True
        if self.peek() == "$" and following == '"' and not in_double:
            self.at += 1
            self.double_quoted(piece)
            return True
        end = self.end_of_expansion()
        if self.text.startswith("${", self.at):
            self.open_parts.append((self.at, end))
        is_literal = end == self.at + 1 and self.peek() == "$"
        is_single = in_double and "@" not in self.text[self.at : end]
        kinds = ("p", "o") if not in_double else ("q", "d" if is_single else "o")
        piece.add(self.text[self.at : end], kinds[0] if is_literal else kinds[1])
        self.at = end
        return False

    def end_of_expansion(self) -> int:
        known = self.spans.get(self.at)
        if known is not None and known > self.at:
            return known
        if self.peek() == "`":
            return self.past("`", 1)
        if self.text.startswith("${", self.at):
            return self.past("}", 2)
        if self.text.startswith("$(", self.at):
            self.stop = self.at + 1
            return self.at + 1
        variable = _VARIABLE.match(self.text, self.at)
        if variable is None:
            return self.at + 1
        return variable.end()

    def past(self, closing: str, ahead: int) -> int:
        end = self.text.find(closing, self.at + ahead)
        if end < 0:
            return self.at + ahead
        return end + 1

    def ansi_quoted(self) -> str:
        """Return the text of `$'…'`; as in bash, a NUL ends it."""
        parts: list[str] = []
        while (char := self.peek()) not in ("'", ""):
            self.at += 1
            code = _CODE.match(self.text, self.at) if char == "\\" else None
            if code is not None:
                self.at = code.end()
                char = _decode(code[0])
            parts.append(char)
        self.at += 1
        return "".join(parts).partition("\0")[0]

    def bracketed(self, piece: _Builder, char: str) -> bool:
        """Consume a list of `x=(…)`, an extended pattern, or `<(…)`; return whether there was one."""
        before = piece.last()
        is_list = char == "(" and (before == "=" or (before and before in "?*+@!"))
        is_process = char in "<>" and self.peek(1) == "("
        end = self.spans.get(self.at, 0)
        if not (is_list or is_process) or end <= self.at:
            return False
        piece.add(self.text[self.at : end], "o")
        self.at = end
        return True


def _decode(code: str) -> str:
    """Return the character of a backslash sequence of `$'…'`."""
    kind = code[0]
    if kind in "01234567":
        return chr(int(code, 8) & 0xFF)
    if kind in "xuU" and len(code) > 1:
        return chr(min(int(code[1:], 16), _LARGEST_CODE))
    if kind == "c" and len(code) > 1:
        return chr(ord(code[1].upper()) & 0x1F)
    return _CONTROLS.get(kind, kind if kind in "\\'\"?" else "\\" + code)


# Braces --------------------------------------------------------------------------------------------------------------


def _expand(piece: _Piece) -> list[_Piece]:
    """Return the words to which brace expansion turns a word; one with too many braces is returned as open."""
    braces = sum(char == "{" and kind == "p" for char, kind in zip(piece.text, piece.kinds, strict=True))
    if braces == 0:
        return [piece]
    done: list[_Piece] = []
    waiting = [piece]
    while waiting:
        if braces > _MOST_BRACES or len(done) + len(waiting) > _MOST_EXPANDED:
            return [_Piece(piece.text, "o" * len(piece.text))]
        current = waiting.pop(0)
        alternatives = _alternatives(current)
        waiting = alternatives + waiting
        if not alternatives:
            done.append(current)
    return done


def _alternatives(piece: _Piece) -> list[_Piece]:
    """Return the words to which the first braces in a word expand it; empty if it has none."""
    for begin in range(len(piece.text)):
        if piece.plain(begin) != "{":
            continue
        cuts = _cuts(piece, begin)
        inner = [piece.cut(left + 1, right) for left, right in itertools.pairwise(cuts)]
        if len(inner) == 1:
            inner = _sequence(inner[0])
        if inner:
            before, after = piece.cut(0, begin), piece.cut(cuts[-1] + 1)
            return [
                _Piece(before.text + each.text + after.text, before.kinds + each.kinds + after.kinds) for each in inner
            ]
    return []


def _cuts(piece: _Piece, begin: int) -> list[int]:
    """Return the offsets of a brace, its commas and its closing brace; empty if it is not closed."""
    cuts = [begin]
    depth = 0
    for at in range(begin, len(piece.text)):
        char = piece.plain(at)
        depth += (char == "{") - (char == "}")
        if depth == 0:
            return [*cuts, at]
        if depth == 1 and char == ",":
            cuts.append(at)
    return []


def _sequence(piece: _Piece) -> list[_Piece]:
    """Return the words of `{1..3}`, `{a..c}` or `{a..e..2}`; an open word if there are too many."""
    match = _SEQUENCE.fullmatch(piece.text)
    if match is None and ".." in piece.text and "q" not in piece.kinds:
        return [_Piece(piece.text, "o" * len(piece.text))]
    if match is None or "q" in piece.kinds or match[1].isalpha() != match[2].isalpha():
        return []
    is_letter = match[1].isalpha()
    first, last = (ord(match[1]), ord(match[2])) if is_letter else (int(match[1]), int(match[2]))
    sign, step = 1 if last >= first else -1, abs(int(match[3] or 1)) or 1
    numbers = range(first, last + sign, sign * step)[: _MOST_EXPANDED + 1]
    texts = [chr(number) if is_letter else str(number) for number in numbers]
    return [_Piece(text, "p" * len(text)) for text in texts]
