"""The normal form of a value: two values are one where their forms are equal, however they are written.

What is folded depends on what a value looks like: the case of a mail address, a host or plain words; the blanks of an
IBAN; the zeros of a number. Whatever looks alike without being the same in Unicode's NFKC stays different.
"""

import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import urlsplit

import attrs

from permitry.core.json_values import JsonValue

__all__ = ["Message", "normal"]

_MAIL = re.compile(r"[^\s@<>()\[\],;:\"]+@[^\s@<>()\[\],;:\"]+\.[^\s@<>()\[\],;:\"]+")
_URL = re.compile(r"https?://\S+", re.IGNORECASE)
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?", re.IGNORECASE)
_NUMBER = re.compile(r"(-?)0*([0-9]+)(?:\.([0-9]+))?")
_GROUPS = re.compile(r"-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_PORTS = {"http": 80, "https": 443}
_AROUND = "()<>[]{}\"'`.,;:!?*\u201c\u201d\u2018\u2019\u00ab\u00bb"
_CURRENCY = "$€£¥₹"
_BLANKS = re.compile(r"\s+")
# A word goes on across one of these signs, if a letter or digit follows: `ann` is a part of `jo-ann`.
_JOINS_WORDS = "@.-+_"
_JOINS_NAMES = "@.-+_/\\:#~%=&?$"
_LONGEST = 65_536


def normal(value: JsonValue) -> str | None:
    """Return the normal form of a text or a number; None for anything else, and for a text without a sign in it."""
    if isinstance(value, str):
        return _normal_text(value)
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        # Python writes out no longer ones.
        return f"number:{value}" if abs(value) < 10**300 else None
    if isinstance(value, float):
        return f"number:{int(value) if value.is_integer() and abs(value) < 10**15 else value!r}"
    return None


def _normal_text(value: str) -> str | None:
    text = _plain(value)
    if not text or len(text) > _LONGEST:
        return None
    return _special(text) or (f"words:{text.casefold()}" if _is_words(text) else f"text:{text}")


def _special(text: str) -> str | None:
    """Return the normal form of an address or a number."""
    if (number := _NUMBER.fullmatch(text)) and text.isascii():
        return _number(number)
    if _MAIL.fullmatch(text):
        return f"mail:{text.casefold()}"
    if _URL.fullmatch(text):
        return _url(text)
    if _IBAN.fullmatch(text):
        return f"iban:{text.replace(' ', '').upper()}"
    return None


def _number(found: re.Match[str]) -> str | None:
    sign, whole, fraction = found.groups()
    if len(whole) < len(found[0].lstrip("-").partition(".")[0]):
        # Zeros in front make an id of it.
        return None
    rest = (fraction or "").rstrip("0")
    digits = whole + (f".{rest}" if rest else "")
    return f"number:{'' if digits == '0' else sign}{digits}"


def _url(text: str) -> str | None:
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not host or parts.username is not None:
        return None
    scheme = parts.scheme.lower()
    where = host if port in (None, _PORTS[scheme]) else f"{host}:{port}"
    return f"url:{scheme}://{where}{parts.path or '/'}?{parts.query}#{parts.fragment}"


def _plain(text: str) -> str:
    return _BLANKS.sub(" ", unicodedata.normalize("NFKC", text)).strip()


def _is_words(text: str) -> bool:
    return all(char.isalpha() or char in " '-." or unicodedata.combining(char) for char in text)


@attrs.frozen
class Message:
    """A text in which values are looked for, each as a whole word."""

    text: str
    _folded: str = attrs.field(repr=False)
    _forms: frozenset[str] = attrs.field(repr=False)

    @classmethod
    def of(cls, text: str) -> "Message":
        """Return a message."""
        plain = _plain(text)
        return cls(plain, plain.casefold(), frozenset(_forms(plain)))

    def has(self, form: str) -> bool:
        """Return whether a value with this normal form is in the text, and not as a part of a longer one."""
        kind, _, text = form.partition(":")
        match kind:
            case "words":
                return _occurs(text, self._folded, _JOINS_WORDS)
            case "text":
                return _occurs(text, self.text, _JOINS_NAMES)
            case _:
                return form in self._forms


def _forms(plain: str) -> Iterator[str]:
    """Yield the normal forms of the addresses and numbers in a text."""
    for word in re.split(r"[\s<>\"]+|[()](?=\s|$)|(?<=\])\(", plain):
        bare = word.strip(_AROUND)
        for each in (bare, bare.strip(_CURRENCY), bare.partition("](")[2], bare.removeprefix("mailto:")):
            if form := each and _special(each.replace(",", "") if _GROUPS.fullmatch(each) else each):
                yield form
    for found in _IBAN.finditer(plain):
        if not (_is_joined(plain, found.start(), -1, "") or _is_joined(plain, found.end() - 1, 1, "")):
            yield f"iban:{found[0].replace(' ', '').upper()}"


def _occurs(word: str, text: str, joints: str) -> bool:
    at = text.find(word)
    while at >= 0:
        if not (_is_joined(text, at, -1, joints) or _is_joined(text, at + len(word) - 1, 1, joints)):
            return True
        at = text.find(word, at + 1)
    return False


def _is_joined(text: str, at: int, step: int, joints: str) -> bool:
    """Return whether a word that starts or ends at `at` goes on in the direction of `step`."""
    if not 0 <= at + step < len(text):
        return False
    near = text[at + step]
    if near.isalnum() or near == "_" or unicodedata.combining(near):
        return True
    if near not in joints:
        return False
    # A sign behind a word may end the sentence; one before a name is a part of it, as in `/etc` and `@ann`.
    after = at + 2 * step
    is_in_a_name = 0 <= after < len(text) and (text[after].isalnum() or text[after] in joints)
    return is_in_a_name or (step < 0 and joints is _JOINS_NAMES)
