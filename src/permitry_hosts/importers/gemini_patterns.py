"""Patterns of Gemini CLI over the JSON of all arguments, as conditions on a command, an argument or a text.

Where a condition cannot say the same, it is narrower in a permission, or missing, and wider in a restriction.
"""

import re
from collections.abc import Sequence

from permitry.config.rule_text import Conditions
from permitry_hosts.importers.commands import escape_words
from permitry_hosts.importers.gemini_expressions import End, Text, texts_of

__all__ = ["on_arguments", "on_commands", "own_texts", "prefix_of"]

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
        return [] if effect == "allow" else [_anywhere(body)]
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


def _anywhere(regex: str) -> Conditions:
    """Return the condition that a pattern fits anywhere in the command, as it is tried on each part of a command."""
    return {"args": {"command": {"regex": f"(?s).*(?:{regex}).*"}}}


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
