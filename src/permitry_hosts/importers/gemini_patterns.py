"""Patterns of Gemini CLI over the JSON of all arguments, as conditions on a command, an argument or a text.

A regular expression that is about a few texts, such as `^git (status|log)( |$)`, is read as those.
Where a condition cannot say the same, it is narrower in a permission, or missing, and wider in a restriction.
"""

import enum
import itertools
import re
from collections.abc import Iterator, Sequence

import attrs

from permitry.config.rule_text import Conditions
from permitry_hosts.importers.commands import escape_words

__all__ = ["End", "Text", "on_arguments", "on_commands", "own_texts", "prefix_of", "texts_of"]

_COMMAND = '"command":"'
_WORD_ENDS = (r'(?:[\s"]|\\")', r'(?:[\s"]|\\\")', r"\b")
_ARGUMENT = re.compile(r'(?P<top>\\x00)?"(?P<name>\w+)":(?:\\s\*)?(?P<value>.+?)(?:\\x00)?')
_LITERALS = {"true": True, "false": False}
_SPECIAL = r"\[(?:\\.|[^\]\\])*\]|\((?:\\.|[^()\\])*\)|\\[A-Za-z0-9]|[.^$]"
_OPTIONAL = r"(?:[?*]|\{[^}]*\})\??"
_PLAIN = re.compile(
    rf"(?P<special>(?:{_SPECIAL})(?:[?*+]|\{{[^}}]*\}})*)|(?P<maybe>(?:\\.|.){_OPTIONAL})|(?P<one>\\.|.)", re.DOTALL
)
_SHORTEST = 3
_MOST_SHOWN = 4
_NO_LETTERS = "{-,.,/,:,=,+,%}"
"""Characters of a word before which `\\b` ends another one."""
_MOST_TEXTS = 64
_END, _BOUNDARY = "\0", "\1"
_TOKEN = re.compile(
    r"(?P<open>\((?:\?:)?)|(?P<close>\))|(?P<bar>\|)|(?P<end>\$|\\b)|(?P<blank>(?:\\s|\[ \]| )[+*]?)"
    r"|(?P<text>\\[^\w\s]|[\w/:=,@%~-])|(?P<maybe>\?)"
)


class End(enum.Enum):
    """What may follow a text."""

    ANYTHING = "anything"
    BLANK = "a blank and anything"
    BOUNDARY = "what does not go on with the word"
    NOTHING = "nothing"


@attrs.frozen
class Text:
    """A text at the beginning of a command, and what may follow."""

    text: str
    end: End


class _UnknownError(Exception):
    """The expression has more than is read here."""


def texts_of(regex: str) -> list[Text] | None:
    """Return the texts that an expression is about from the beginning; None where these are not a few."""
    body = re.sub(r"\.\*\$?$", "", regex.removeprefix("^"))
    try:
        reader = _Expression(list(_tokens(body)))
        texts = reader.alternatives()
    except _UnknownError:
        return None
    if reader.at < len(reader.tokens) or len(texts) > _MOST_TEXTS:
        return None
    found = [_end(text) for text in texts]
    return found if all(each.text and not set(each.text) & {_END, _BOUNDARY} for each in found) else None


def _end(text: str) -> Text:
    if text.endswith(_END):
        return Text(text.removesuffix(_END), End.NOTHING)
    if text.endswith(_BOUNDARY):
        return Text(text.removesuffix(_BOUNDARY), End.BOUNDARY)
    return Text(text.strip(), End.BLANK if text.endswith(" ") else End.ANYTHING)


def _tokens(regex: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(regex):
        found = _TOKEN.match(regex, at)
        if found is None or found.lastgroup is None:
            raise _UnknownError
        yield found.lastgroup, found[0]
        at = found.end()


@attrs.define
class _Expression:
    tokens: list[tuple[str, str]]
    at: int = 0

    def alternatives(self) -> list[str]:
        """Return the texts up to the end of a group, which the caller checks."""
        found = self.sequence()
        while self.is_next("bar"):
            self.at += 1
            found += self.sequence()
        return found

    def sequence(self) -> list[str]:
        found = [""]
        while not (self.at == len(self.tokens) or self.is_next("bar") or self.is_next("close")):
            pieces = self.piece()
            if self.is_next("maybe"):
                self.at += 1
                pieces = ["", *pieces]
            found = [start + piece for start, piece in itertools.product(found, pieces)]
            if len(found) > _MOST_TEXTS:
                raise _UnknownError
        return found

    def piece(self) -> list[str]:
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "open":
            found = self.alternatives()
            if not self.is_next("close"):
                raise _UnknownError
            self.at += 1
            return found
        if kind == "blank":
            return [" ", ""] if text.endswith("*") else [" "]
        if kind == "maybe":
            raise _UnknownError
        return [{"$": _END, r"\b": _BOUNDARY}.get(text, text[-1])]

    def is_next(self, kind: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at][0] == kind


def prefix_of(text: str) -> Conditions:
    """Return the condition for commands that begin with a text, at whose end a word ends."""
    return {"command": [f"{escape_words(text.strip())} *"]}


def on_arguments(regex: str, effect: str, *, is_shell: bool, is_flat: bool = False) -> list[Conditions]:
    """Return conditions for a pattern over the JSON of arguments; flat if no two have one name."""
    if is_shell and _unescape(regex).startswith(_COMMAND):
        return on_commands(_unescape_prefix(regex), effect)
    found = _ARGUMENT.fullmatch(regex)
    if found is not None and _is_of_one(found, effect, is_flat=is_flat):
        return _on_argument(found["name"], found["value"])
    if effect == "allow":
        return []
    text = _longest_literal(regex if found is None else found["value"].strip('"'))
    is_text = len(text) >= _SHORTEST and text not in _LITERALS and not set('"{}[]:,\\') & set(text)
    return [{"text": {"contains": text}}] if is_text else [{}]


def _is_of_one(found: re.Match[str], effect: str, *, is_flat: bool) -> bool:
    """Return whether a pattern is about one argument, and cannot extend into the next; in a permission it need not."""
    if re.search(r'".*"\w+":', found["value"]):
        return False
    is_inside = not re.search(r"(?<!\\)(?:\\\\)*\.|\[\^(?!\\?\")|\\[SWD]|\(\?", found["value"])
    return effect == "allow" or (is_inside and (is_flat or found["top"] is not None))


def on_commands(regex: str, effect: str) -> list[Conditions]:
    """Return the conditions for a pattern over the text of a command, from its beginning."""
    is_wide = effect != "allow"
    texts = texts_of(regex)
    # The second of two alternatives that are in no group is about any place in the text.
    if texts is not None and not (is_wide and _has_bare_bar(regex)):
        patterns = [pattern for text in texts for pattern in _patterns(text, texts, is_wide=is_wide)]
        return [{"command": list(dict.fromkeys(patterns))}]
    if re.fullmatch(r"\^?\.\*\$?", regex):
        return [{"command": ["*"]}]
    end = next((each for each in _WORD_ENDS if regex.endswith(each)), "")
    body = regex.removesuffix(end)
    if is_wide and end == r"\b":
        end = ""
    # A dot that is any character is narrower as a dot.
    if not _is_plain(body.replace(".", "") if effect == "allow" else body):
        # It fits anywhere in the command, as it is tried on each part of one.
        return [] if effect == "allow" else [{"args": {"command": {"regex": f"(?s).*(?:{body}).*"}}}]
    text = _unescape(body).replace('\\"', '"')
    if not end and text.endswith('"'):
        whole = text[:-1]
        is_chain = re.search(r"&&|\|\||[;|]", whole)
        return [{"args": {"command": {"exists": True, "eq": whole}}} if is_chain else {"command": [whole]}]
    return [{"command": [f"{text} *" if end or effect == "allow" else f"{text}* *"]}]


def own_texts(regex: str) -> list[str]:
    """Return commands that a pattern is about, as far as these are plain."""
    if _unescape(regex).startswith(_COMMAND):
        regex = _unescape_prefix(regex)
    if (texts := texts_of(regex)) is not None:
        return list(dict.fromkeys(text.text for text in texts))[:_MOST_SHOWN]
    literal = _longest_literal(regex).strip()
    return [literal] if len(literal) >= _SHORTEST and '"' not in literal else []


def _has_bare_bar(regex: str) -> bool:
    return "|" in re.sub(r"\([^()]*\)", "", re.sub(r"\([^()]*\)", "", regex))


def _patterns(text: Text, texts: Sequence[Text], *, is_wide: bool) -> list[str]:
    """Return patterns over words for one of the texts and what may follow it; of a permission no more than that."""
    words = escape_words(text.text)
    ends = {each.end for each in texts if each.text == text.text}
    if ends >= {End.BLANK, End.NOTHING}:
        return [f"{words} *"]
    match text.end:
        case End.NOTHING:
            return [words]
        case End.BLANK:
            return [f"{words} *" if is_wide else f"{words} * **"]
        case End.BOUNDARY:
            return [f"{words} *", *([f"{words}{_NO_LETTERS}* *"] if is_wide else [])]
        case End.ANYTHING:
            return [f"{words}* *" if is_wide else f"{words} *"]


def _is_plain(regex: str) -> bool:
    return not re.search(r"(?<!\\)(?:\\\\)*[\[\](){}|+*?^$.]|\\[A-Za-z0-9]", regex)


def _unescape(regex: str) -> str:
    return re.sub(r"\\(.)", r"\1", regex)


def _unescape_prefix(regex: str) -> str:
    """Return the part of a pattern after the name of the argument, which may be escaped."""
    return re.sub(r'^\\?"command\\?":\\?"', "", regex)


def _on_argument(name: str, value: str) -> list[Conditions]:
    if value in _LITERALS:
        return [{"args": {name: {"exists": True, "eq": _LITERALS[value]}}}]
    if not value.startswith('"'):
        return []
    regex = value[1:].removesuffix('"') if value.endswith('"') else f"{value[1:]}.*"
    return [{"args": {name: {"exists": True, "regex": regex}}}]


def _longest_literal(regex: str) -> str:
    """Return the longest text that is part of whatever a pattern fits; empty where that is not certain."""
    if "|" in regex or "(?" in regex:
        return ""
    chunks = [""]
    for found in _PLAIN.finditer(regex):
        if found["one"] is None or found["one"] == "+":
            chunks.append("")
        else:
            chunks[-1] += found["one"][-1]
    return max(chunks, key=len)
