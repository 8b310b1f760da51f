"""The lenient reader of shell text: it finds as many as possible of the commands a text might run, at every depth.

It is for restrictions and explanations, never for permissions: it guesses where the strict reader refuses, and
over-approximates. A grammar (tree-sitter-bash) finds the beginnings of commands and the ends of substitutions. The
words are then read from the text again (`simple_command`), because the grammar counts words after a redirection as
parts of it. If the grammar reports an error, the text is also split at every operator, so that no command is missed.
"""

import functools
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import attrs

from permitry.actions.reading.simple_command import CLOSES, SimpleCommand, read_simple_command
from permitry.core.action import Word

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Tree

__all__ = ["LONGEST", "LooseCommand", "LooseReading", "read_leniently"]

LONGEST = 64 * 1024
"""How many characters of a text are read."""

_MOST_READ = 3 * LONGEST
"""How many characters may be read as words; those in nested constructs count once for each level."""

_PER_WORD = 8
_MOST_COMMANDS = 4000
_MOST_NODES = 40_000

# Each of these takes the grammar about a quarter of a second.
_MOST_PIPES = 3000
_MOST_BYTES_AGAIN = 80_000_000
_ALWAYS_QUICK = 1000

_MOST_WITHIN = 32

_CONSTRUCTS = {
    "command_substitution": "$(…)",
    "process_substitution": "<(…)",
    "subshell": "(…)",
    "compound_statement": "{…}",
    "for_statement": "for",
    "c_style_for_statement": "for",
    "while_statement": "while",
    "if_statement": "if",
    "case_statement": "case",
    "function_definition": "function",
    "heredoc_body": "<<",
}
_STARTS = frozenset(
    {"command", "declaration_command", "unset_command", "test_command", "variable_assignment", "variable_assignments"}
)
_REDIRECTIONS = frozenset({"file_redirect", "herestring_redirect", "heredoc_redirect"})
_SPANS = frozenset(
    {"command_substitution", "process_substitution", "expansion", "arithmetic_expansion", "array", "extglob_pattern"}
)
_NOT_ASCII_WORD = re.compile(r"[^\t\n\x20-\x7e]")
_CUTS = re.compile(r"[;|&\n()`]|\{(?=\s)")
_SUBSTITUTION = re.compile(r"`|\$\(")
BEFORE_COMMANDS = frozenset({"!", "{", "then", "do", "else", "elif", "if", "while", "until"})


_KEYWORDS = BEFORE_COMMANDS | {"for", "select", "case", "esac", "done", "fi", "}", "[[", "function", "in"}


@attrs.frozen
class LooseCommand:
    """A command that a text might run; `words` begin with the program, empty if it only assigns or redirects.

    `reads` and `writes` are the targets of its redirections, `stdin` the texts of its here-documents and here-strings.
    `within` are the constructs around it, outermost first; `start` and `end` its offsets (0-based, in characters).
    `is_piped`: its input is the output of the command before it. `is_guess`: it is in a place where it may not run.
    """

    words: tuple[Word, ...]
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    assignments: tuple[tuple[str, str], ...] = ()
    stdin: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    start: int = 0
    end: int = 0
    is_piped: bool = False
    is_guess: bool = False

    @property
    def argv(self) -> tuple[str, ...]:
        """The arguments as text, program first."""
        return tuple(word.text for word in self.words)


@attrs.frozen
class LooseReading:
    """The commands that were found; `is_complete` is False if a limit was reached, and there may be more of them.

    `is_plain`: the grammar reports no error, and there is only one way to read the text.
    """

    commands: tuple[LooseCommand, ...] = ()
    is_complete: bool = True
    is_plain: bool = False


def read_leniently(text: str) -> LooseReading:
    """Return every command that `text` itself might run, in the order of the text; never raises."""
    is_complete = len(text) <= LONGEST
    found: dict[LooseCommand, None] = {}
    is_plain = True
    for source in _sources(text[:LONGEST]):
        reading = _read(source)
        is_plain = is_plain and reading.is_plain and not source.is_guess
        for command in reading.commands:
            if command not in found:
                found[attrs.evolve(command, is_guess=True) if source.is_guess else command] = None
        is_complete = is_complete and reading.is_complete
    commands = sorted(found, key=lambda command: (command.start, -command.end))
    return LooseReading(tuple(commands), is_complete, is_plain and is_complete)


# Texts to read -------------------------------------------------------------------------------------------------------


@attrs.frozen
class _Source:
    """A text to read; `places` are the offsets of its characters in the original text, with one more for the end.

    `is_guess`: bash does not read the original text in this way, but another program may.
    """

    text: str
    places: Sequence[int]
    is_guess: bool = False

    def without(self, dropped: str) -> "_Source":
        """Return the text with every `dropped` removed."""
        if dropped not in self.text:
            return self
        text: list[str] = []
        places: list[int] = []
        at = 0
        for part in self.text.split(dropped):
            text.append(part)
            places.extend(self.places[at : at + len(part)])
            at += len(part) + len(dropped)
        return _Source("".join(text), (*places, self.places[-1]), self.is_guess)


def _sources(text: str) -> Iterator[_Source]:
    """Yield the text in each way it may be read.

    A carriage return is a newline or a blank, a continued line is joined or not, and nested backticks are separators.
    """
    plain = _Source(text, range(len(text) + 1)).without("\0")
    flat = plain.text.replace("\\`", " ;")
    readings = dict.fromkeys((plain.text, flat, plain.text.replace("\r", "\n"), plain.text.replace("\r", " ")))
    for reading in readings:
        source = _Source(reading, plain.places, is_guess=reading != plain.text)
        yield source
        if "\\\n" in reading:
            yield source.without("\\\n")


# The grammar ---------------------------------------------------------------------------------------------------------


@attrs.define
class _Outline:
    """The offsets at which commands and redirections begin, with the constructs around them, and substitutions end."""

    starts: dict[int, tuple[str, ...]] = attrs.field(factory=dict)
    redirections: dict[int, tuple[str, ...]] = attrs.field(factory=dict)
    spans: dict[int, int] = attrs.field(factory=dict)
    has_error: bool = False
    is_complete: bool = True


@functools.cache
def _language() -> "Language":
    from tree_sitter import Language  # noqa: PLC0415 -- loaded on first use
    from tree_sitter_bash import language  # noqa: PLC0415 -- loaded on first use

    return Language(language())


def _parse(text: str) -> "Tree | None":
    """Return the grammar's tree of a text; None if it would take too long.

    Its time is quadratic in pipes. In all else that slows it down, it goes back in the text and reads it again.
    """
    from tree_sitter import Parser  # noqa: PLC0415 -- loaded on first use

    if text.count("|") > _MOST_PIPES:
        return None
    # In any locale, bash takes characters outside ASCII for parts of words. With each of them replaced by one ASCII
    # letter, offsets in bytes are offsets in characters.
    source = _NOT_ASCII_WORD.sub("x", text).encode("ascii")
    if len(source) <= _ALWAYS_QUICK:
        return Parser(_language()).parse(source)
    reads_left = _MOST_BYTES_AGAIN // len(source)

    def read(offset: int, _: object) -> bytes:
        nonlocal reads_left
        reads_left -= 1
        return source[offset:] if reads_left >= 0 else b""

    tree = Parser(_language()).parse(read)
    return tree if reads_left >= 0 else None


def _outline(text: str) -> _Outline | None:
    """Return the outline of a text; None if the grammar would take too long."""
    tree = _parse(text)
    if tree is None:
        return None
    outline = _Outline(has_error=tree.root_node.has_error)
    waiting: list[tuple[Node, tuple[str, ...]]] = [(tree.root_node, ())]
    nodes = 0
    while waiting and (nodes := nodes + 1) <= _MOST_NODES:
        node, within = waiting.pop()
        _note(outline, node, within)
        construct = _CONSTRUCTS.get(node.type)
        if node.type == "ERROR" and "?" not in within:
            within = (*within, "?")
        elif construct is not None and len(within) < _MOST_WITHIN:
            within = (*within, "until" if text.startswith("until", node.start_byte) else construct)
        waiting.extend((child, within) for child in reversed(node.children))
    outline.is_complete = not waiting
    return outline


def _note(outline: _Outline, node: "Node", within: tuple[str, ...]) -> None:
    at = node.start_byte
    if node.type in _STARTS:
        outline.starts.setdefault(at, within)
    elif node.type in _REDIRECTIONS:
        outline.redirections.setdefault(at, within)
    elif node.type in _SPANS:
        outline.spans.setdefault(at, node.end_byte)
        last = node.child(node.child_count - 1) if node.child_count else None
        if last is not None and last.type == "`" and not last.is_missing:
            outline.spans[last.start_byte] = CLOSES


# Reading -------------------------------------------------------------------------------------------------------------


@attrs.define
class _Reading:
    source: _Source
    left: int = _MOST_READ
    is_complete: bool = True
    commands: list[LooseCommand] = attrs.field(factory=list)
    redirections: set[int] = attrs.field(factory=set)
    done: dict[int, SimpleCommand] = attrs.field(factory=dict)

    def read(self, start: int, within: tuple[str, ...], spans: dict[int, int]) -> None:
        """Read the command that begins at `start`, unless it has been read already or a limit is reached."""
        if start in self.done:
            return
        if self.left <= 0 or len(self.commands) >= _MOST_COMMANDS:
            self.is_complete = False
            return
        simple = read_simple_command(self.source.text, start, spans)
        self.done[start] = simple
        self.left -= simple.end - start + sum(map(len, simple.stdin)) + _PER_WORD * len(simple.words)
        self.is_complete = self.is_complete and not simple.is_cut
        self.redirections.update(simple.redirections)
        if simple.words or simple.assignments or simple.redirections:
            self.add(simple, start, within)
        for begin, end in simple.open_parts:
            for match in _SUBSTITUTION.finditer(self.source.text, begin, end):
                if match.start() not in spans:
                    closing = self.source.text.find("`", match.end(), end) if match[0] == "`" else -1
                    if closing >= 0:
                        spans.setdefault(closing, CLOSES)
                    self.read(match.end(), (*within, "$(…)"), spans)

    def add(self, simple: SimpleCommand, start: int, within: tuple[str, ...]) -> None:
        places = self.source.places
        end = min(simple.end, len(self.source.text))
        command = LooseCommand(
            simple.words,
            simple.reads,
            simple.writes,
            simple.assignments,
            simple.stdin,
            within,
            places[start],
            places[end],
            is_piped=_is_piped(self.source.text, start),
            is_guess="?" in within,
        )
        first = simple.words[0].text if simple.words else ""
        if command.is_guess and first not in _KEYWORDS and not self.source.text[:start].strip():
            # Even if the grammar reports an error there, a text begins with a command.
            command = attrs.evolve(command, is_guess=False)
        if "?" not in within or first not in _KEYWORDS or not self.source.text.startswith(first, start):
            self.commands.append(command)
        words = simple.words
        while words and words[0].text in BEFORE_COMMANDS:
            words = words[1:]
        if words and len(words) < len(simple.words):
            self.commands.append(attrs.evolve(command, words=words))


def _is_piped(text: str, start: int) -> bool:
    """Return whether the operator before a command is a pipe."""
    at = start - 1
    while at >= 0 and text[at] in " \t\n":
        at -= 1
    operator = text[max(at - 1, 0) : at + 1]
    return operator == "|&" or (operator[-1:] == "|" and operator != "||")


def _read(source: _Source) -> LooseReading:
    reading = _Reading(source)
    outline = _outline(source.text)
    if outline is not None:
        for start, within in outline.starts.items():
            reading.read(start, within, outline.spans)
        for start, within in outline.redirections.items():
            if start not in reading.redirections:
                reading.read(start, within, outline.spans)
    _read_along(reading, {} if outline is None else outline.spans)
    if outline is None or outline.has_error or not outline.is_complete:
        _read_pieces(reading)
    is_complete = reading.is_complete and outline is not None and outline.is_complete
    return LooseReading(tuple(reading.commands), is_complete, outline is not None and not outline.has_error)


def _read_along(reading: _Reading, spans: dict[int, int]) -> None:
    """Read one command after another in the order of the text: the grammar misses some."""
    text = reading.source.text
    at = past = 0
    while at < len(text) and reading.left > 0:
        if text[at] == "#":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif text[at] == "\n":
            at, past = max(at + 1, past), 0
        elif text[at] in " \t;&|()`":
            at += 1
        else:
            reading.read(at, ("?",), spans)
            simple = reading.done.get(at, SimpleCommand())
            at, past = max(at + 1, simple.end), max(past, simple.past)


def _read_pieces(reading: _Reading) -> None:
    """Read a command after every operator, quoted or not."""
    text = reading.source.text
    for start in (0, *(match.end() for match in _CUTS.finditer(text))):
        while text[start : start + 1] in (" ", "\t"):
            start += 1  # noqa: PLW2901 -- blanks before a command are not part of it
        reading.read(start, ("?",), {})
