"""The redirections of the strict reader, here-documents among them.

Source: bash(1), "REDIRECTION".
"""

import re

import attrs

from permitry.actions.command import Redirection
from permitry.actions.reading.words import WordReader
from permitry.core.action import Word

__all__ = ["RedirectionReader"]

_OPERATORS = ("&>>", "&>", "<<<", "<<-", "<>", "<&", "<(", ">(", ">|", "<<", ">&", ">>", "<", ">")
_FILE_OPERATORS = {"<": "<", ">": ">", ">>": ">>", ">|": ">", "&>": ">", "&>>": ">>"}

# Each pattern matches in only one way, so that backtracking takes linear time.
_REDIRECTED = re.compile(r"[0-9]*[<>]|&>")
_DIGITS = re.compile(r"[0-9]*")
_PLAIN_IN_DOCUMENT = re.compile(r"[^\\$`]+")


@attrs.define
class _HereDocument:
    delimiter: str
    is_quoted: bool
    is_indented: bool
    offset: int


class RedirectionReader(WordReader):
    """Reads redirections; `documents` are the here-documents whose text begins after the next newline."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.documents: list[_HereDocument] = []

    def newline(self) -> None:
        """Consume a newline, and the here-documents that begin after it."""
        self.at += 1
        documents, self.documents = self.documents, []
        for document in documents:
            self.body(document)

    def body(self, document: _HereDocument) -> None:
        """Consume the text of a here-document, and the line that ends it."""
        begin = self.at
        while self.at < len(self.text):
            end = self.text.find("\n", self.at)
            line = self.text[self.at :] if end < 0 else self.text[self.at : end]
            start, self.at = self.at, len(self.text) if end < 0 else end + 1
            line = line.lstrip("\t") if document.is_indented else line
            if line == document.delimiter:
                if not document.is_quoted:
                    self.expanded(begin, start)
                return
            if line.startswith(document.delimiter):
                # In a substitution, bash may end the text here and read on behind the delimiter.
                raise self.refuse("a line that begins as the end of its here-document", start)
        raise self.refuse("a here-document without its end", document.offset)

    def expanded(self, begin: int, end: int) -> None:
        """Read the expansions in the text of a here-document."""
        text, after = self.text, self.at
        self.text, self.at = text[:end], begin
        while self.at < end:
            char = self.peek()
            if char == "\\":
                self.escaped()
            elif char == "`" or (char == "$" and not self.at_dollar()):
                self.variable(is_quoted=True)
            else:
                self.at = max(self.scan(_PLAIN_IN_DOCUMENT), self.at + 1)
        self.text, self.at = text, after

    def at_redirection(self) -> bool:
        """Return whether a redirection begins here."""
        return _REDIRECTED.match(self.text, self.at) is not None

    def redirection(self) -> Redirection:
        """Consume the redirection here and return it."""
        begin = self.at
        self.at = self.scan(_DIGITS)
        if self.at - begin > 1:
            raise self.refuse("a redirection of an unusual descriptor", begin)
        descriptor = self.text[begin : self.at]
        operator = next(each for each in _OPERATORS if self.text.startswith(each, self.at))
        self.at += len(operator)
        if operator in _FILE_OPERATORS:
            self.blanks()
            kind, is_input = _FILE_OPERATORS[operator], operator == "<" and descriptor in ("", "0")
            if self.at_process():
                start = self.at
                self.process()
                # `<(commands)`.
                printer = self.text[start + 2 : self.at - 1] * is_input
                return Redirection(kind, None, is_open=operator == "<", printer=printer)
            target = self.target(begin)
            return Redirection(kind, target.text, target.is_home, target.is_open, is_input=is_input)
        match operator:
            case ">&":
                return self.duplicated(begin)
            case "<<" | "<<-":
                return self.here_document(begin, is_indented=operator == "<<-")
            case "<<<":
                return Redirection("<", None, is_open=self.operand(begin).is_open)
            case _:
                raise self.refuse(f"`{operator}`, which is not read here", begin)

    def operand(self, begin: int) -> Word:
        """Consume the word after an operator and return it."""
        self.blanks()
        if self.ends_word() or self.peek() == "#":
            raise self.refuse("a redirection without a target", begin)
        return self.word()

    def target(self, begin: int) -> Word:
        """Consume the file after an operator and return it."""
        word = self.operand(begin)
        if word.is_glob:
            raise self.refuse("a redirection to a pattern", begin)
        return word

    def duplicated(self, begin: int) -> Redirection:
        """Consume a redirection to standard output or standard error and return it."""
        if self.peek() not in ("1", "2") or not self.ends_word(1):
            raise self.refuse("`>&` to something else than 1 or 2", begin)
        self.at += 1
        return Redirection(">", None)

    def here_document(self, begin: int, *, is_indented: bool) -> Redirection:
        """Consume the delimiter of a here-document, and keep it until the next newline."""
        self.blanks()
        start = self.at
        delimiter = self.target(begin).text
        raw = self.text[start : self.at]
        # A delimiter is not expanded, and with `<<-` tabs before it do not count.
        if not delimiter or "\n" in delimiter or not {"$", "`"}.isdisjoint(raw) or delimiter.startswith("\t"):
            raise self.refuse("a here-document with an unusual end", begin)
        is_quoted = raw != delimiter
        self.documents.append(_HereDocument(delimiter, is_quoted, is_indented, begin))
        # The text begins behind the next newline: any expansion from here on may be in it.
        may_expand = not {"$", "`"}.isdisjoint(self.text[self.at :])
        return Redirection("<", None, is_open=may_expand and not is_quoted)
