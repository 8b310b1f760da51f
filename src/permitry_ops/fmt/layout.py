"""The one layout of a rule file: blank lines, blanks within a line, indentation and quotes.

Line breaks, comments and the order are the author's.
"""

from collections.abc import Iterable, Iterator

from permitry.config.toml import load_toml
from permitry.errors import PermitryError
from permitry_ops.fmt.tokens import Line, lines_of

__all__ = ["format_text"]

_INDENT = "  "
_OPENERS, _CLOSERS = frozenset("[{"), frozenset("]}")
_JOINED_BEFORE, _JOINED_AFTER = frozenset("],"), frozenset("[")
_EMPTY = ("{", "}")


def format_text(text: str) -> str:
    """Return a TOML text in the one layout, with all comments, in the same order.

    Raises: as `load_toml`; `PermitryError` where the result would say anything else.
    """
    before = load_toml(text)
    after = "".join(f"{line}\n" for line in _lay_out(lines_of(text.replace("\r\n", "\n"))))
    # INVARIANT: rules are made of these tables alone. In their written form, 1 is not 1.0, and the order counts.
    if repr(load_toml(after)) != repr(before):
        raise PermitryError("its layout cannot be changed without its meaning")
    return after


def _lay_out(lines: Iterable[Line]) -> list[str]:
    """Return the lines with a blank one in front of each table, never two together, and none at an end."""
    laid: list[str] = []
    comments: list[str] = []
    for line, text, is_header in _indent(lines):
        if line.comment and not line.words:
            # It belongs to what follows.
            comments.append(text)
            continue
        if is_header:
            _add_blank(laid)
        laid += comments
        comments = []
        if text:
            laid.append(text)
        else:
            _add_blank(laid)
    laid += comments
    if laid and not laid[-1]:
        laid.pop()
    return laid


def _add_blank(laid: list[str]) -> None:
    if laid and laid[-1]:
        laid.append("")


def _indent(lines: Iterable[Line]) -> Iterator[tuple[Line, str, bool]]:
    """Yield each line with its text, and whether it is the header of a table."""
    open_lines: list[int] = []
    for number, line in enumerate(lines):
        is_header = not open_lines and line.words[:1] == ("[",)
        closed = _count_leading_closers(line.words)
        depth = len(set(open_lines[: len(open_lines) - closed]))
        yield line, f"{_INDENT * depth}{_text_of(line)}".rstrip(), is_header
        for word in line.words:
            if word in _OPENERS:
                open_lines.append(number)
            elif word in _CLOSERS:
                open_lines.pop()


def _count_leading_closers(words: Iterable[str]) -> int:
    count = 0
    for word in words:
        if word not in _CLOSERS:
            break
        count += 1
    return count


def _text_of(line: Line) -> str:
    text = before = ""
    for word in line.words:
        text += word if _is_joined(before, word) else f" {word}"
        before = word
    return f"{text}  {line.comment}" if text and line.comment else text or line.comment


def _is_joined(before: str, word: str) -> bool:
    if not before or before in _JOINED_AFTER or word in _JOINED_BEFORE:
        return True
    # The dots of a key.
    return before.endswith(".") or word.startswith(".") or (before, word) == _EMPTY
