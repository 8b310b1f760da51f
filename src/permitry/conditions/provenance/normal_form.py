"""The normal form of a value: two values are one where their forms are equal.

What is folded depends on what a value looks like: the case of a mail address, a host or plain
words; the blanks of an IBAN; the zeros of a number; the ways to write a date. All else has to be
the same text, as some tools read a fullwidth slash as a slash. An attacker may write every text,
so all of this takes linear time.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Literal
from urllib.parse import urlsplit

import attrs

from permitry.conditions.provenance.dates import date_form, dates_in
from permitry.core.json_values import JsonValue

__all__ = ["Message", "addresses", "elements_of", "is_in_text", "leaves_of", "normal", "words_of"]

_MAIL = re.compile(r"[^\s@<>()\[\],;:\"]+@([^\s@<>()\[\],;:\"]+)")
_URL = re.compile(r"https?://\S+", re.IGNORECASE)
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?", re.IGNORECASE | re.ASCII)
_HOST = re.compile(r"(?:[a-z0-9]+(?:-+[a-z0-9]+)*\.)+[a-z]{2,24}(?::[0-9]+)?(?:/\S*)?", re.IGNORECASE | re.ASCII)
# Zeros in front make an id of it.
_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?")
# 1,000.50 and 1'000.50; then 50,00 and 1.000,50.
_GROUPS = re.compile(r"(-?[0-9]{1,3}(?:(?:,[0-9]{3})+|(?:['\u2019][0-9]{3})+))(\.[0-9]+)?")
_COMMA = re.compile(r"(-?(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]+)),([0-9]{2})")
_PORTS = {"http": 80, "https": 443}
_BEFORE = "([{<\"'`*\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb\u00bf\u00a1"
_AFTER = f"{_BEFORE})]}}>.,;:!?"
_AMOUNT = re.compile(r"(?:USD|US|EUR|GBP|CHF|#)?[$€£¥₹]?(.*?)[$€£¥₹]?(?:USD|EUR|GBP|CHF)?\Z")
_LABEL = re.compile(r"[A-Za-z_]+(?::(?!/)|=(?![^@]*@))")
_BETWEEN = re.compile(r"[<>\"]+|(?<=\])\(")
# What every address, number and date has one of.
_SIGN = re.compile(r"[0-9@]|\.[A-Za-z]|://")
_POSSESSIVE = re.compile(r"['\u2019]s\b")
# A sentence that starts right behind an address: `www.example.com.They`.
_RUN_ON = re.compile(r"((?:\A|(?<=\s))(?:https?://|www\.)[a-z0-9.-]{1,253}[a-z])\.(?=[A-Z][a-z]{2,24}\s)")
_MAY_RUN_ON = re.compile(r"[:wW](?://|[wW]{2}\.)")
# A word goes on across one of these signs, if a letter or digit follows: `ann` is a part of `jo-ann`.
_JOINS_WORDS = "@.-+_/\\=&%#~$\u2010\u2011\u2212"
_JOINS_NAMES = f"{_JOINS_WORDS}:?"
_LONGEST = 4_096
# More marks on a letter than in Unicode's stream-safe format: it takes quadratic time to put them in order.
_STACKED = re.compile(rb"[^\0]{31}")
# Fullwidth signs are what some people write. NFKC would make 102 of ten squared.
_WIDE = {sign + 0xFEE0: sign for sign in range(0x21, 0x7F)}


def elements_of(value: JsonValue) -> tuple[JsonValue, ...]:
    """Return the elements of a list, or the value itself as the only one."""
    return value if isinstance(value, tuple) else (value,)


def leaves_of(value: JsonValue) -> Iterator[tuple[bool, JsonValue]]:
    """Yield each name in a value, marked by True, and each value in it that has no parts."""
    if isinstance(value, Mapping):
        yield from ((True, name) for name in value)
        value = tuple(value.values())
    if isinstance(value, tuple):
        for inner in value:
            yield from leaves_of(inner)
    else:
        yield False, value


def normal(value: JsonValue) -> str | None:
    """Return the normal form of a text or a number; None for all else, and for long texts."""
    if isinstance(value, str):
        return _normal_text(value) if len(value) <= _LONGEST else None
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        # Python writes out no longer ones.
        return f"number:{value}" if abs(value) < 10**300 else None
    if isinstance(value, float):
        return f"number:{int(value) if value.is_integer() and abs(value) < 10**15 else value!r}"
    return None


def addresses(text: str) -> Iterator[str]:
    """Yield the normal forms of the addresses in a text: of mail, pages and hosts, and IBANs."""
    plain = _plain(text, "NFC")
    for each in _words_in(plain):
        form = _special(each) or ""
        if form.startswith(("mail:", "url:")):
            yield form
        elif not form and _HOST.fullmatch(each):
            yield _unspecial(each)
    yield from _ibans_in(plain)


def words_of(value: str) -> list[str]:
    """Return the words of a text, as `Message.has_word` looks for them; none of a long one."""
    text = _plain(value, "NFKC").lower() if len(value) <= _LONGEST else ""
    return "".join(char if _is_in_a_word(char) else " " for char in text).split()


def _normal_text(value: str) -> str | None:
    text = _plain(value, "NFC")
    if not text:
        return None
    if len(value.strip().splitlines()) > 1:
        # A tool may do something at each line.
        return f"lines:{value}"
    return _special(text) or _unspecial(text)


def _special(text: str) -> str | None:
    if number := _NUMBER.fullmatch(text):
        sign, whole, fraction = number.groups()
        rest = (fraction or "").rstrip("0")
        digits = f"{whole}.{rest}" if rest else whole
        return f"number:{'' if digits == '0' else sign}{digits}"
    if (mail := _MAIL.fullmatch(text)) and "." in mail[1][1:-1]:
        return f"mail:{text.lower()}"
    if _URL.fullmatch(text):
        return _url(text)
    if _IBAN.fullmatch(text):
        return f"iban:{text.replace(' ', '').upper()}"
    return date_form(text)


def _unspecial(text: str) -> str:
    are_words = all(char.isalpha() or char in " '-." or unicodedata.combining(char) for char in text)
    return f"words:{_plain(text, 'NFKC').lower()}" if are_words else f"text:{text}"


def _url(text: str) -> str | None:
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not host or parts.username is not None:
        return None
    scheme = parts.scheme.lower()
    where = (f"[{host}]" if ":" in host else host) + ("" if port in (None, _PORTS[scheme]) else f":{port}")
    return f"url:{scheme}://{where}{parts.path or '/'}?{parts.query}#{parts.fragment}"


def _plain(text: str, form: Literal["NFC", "NFKC"]) -> str:
    if not text.isascii():
        if _STACKED.search(bytes(map(unicodedata.combining, text))):
            return ""
        text = unicodedata.normalize(form, text)
    return " ".join(text.split())


@attrs.frozen
class Message:
    """A text in which values are looked for, each as a whole word."""

    text: str
    _folded: str = attrs.field(repr=False)
    _forms: frozenset[str] = attrs.field(repr=False)

    @classmethod
    def of(cls, text: str) -> "Message":
        """Return a message; it is empty where the text is blank, or cannot be read."""
        plain = _plain(text, "NFC")
        if _MAY_RUN_ON.search(plain):
            plain = _RUN_ON.sub(r"\1. ", plain)
        return cls(plain, _plain(plain, "NFKC").lower(), frozenset(_forms(plain.translate(_WIDE))))

    def has(self, form: str) -> bool:
        """Return whether a value with this normal form is in the text, not as a part of a longer one."""
        kind, _, text = form.partition(":")
        match kind:
            case "words":
                return _occurs(text, self._folded, _JOINS_WORDS)
            case "text":
                return _occurs(text, self.text, _JOINS_NAMES)
            case _:
                return form in self._forms

    def has_word(self, word: str) -> bool:
        """Return whether one of `words_of` a text is a word of this one."""
        return _occurs(word, self._folded, "")


def is_in_text(form: str, other: str) -> bool:
    """Return whether the first normal form is a whole word of a text with the other."""
    kind, _, text = other.partition(":")
    words = Message(_plain(text, "NFC"), _plain(text, "NFKC").lower(), frozenset())
    return kind in ("text", "lines") and words.has(form)


def _forms(plain: str) -> Iterator[str]:
    yield from filter(None, map(_special, _words_in(plain)))
    yield from _ibans_in(plain)
    yield from dates_in(plain)


def _words_in(plain: str) -> Iterator[str]:
    """Yield what may be addresses or numbers, without the signs around them."""
    for run in plain.split(" "):
        # Most words are only letters.
        if run.isalpha() or not _SIGN.search(run):
            continue
        for word in _BETWEEN.split(run):
            # What ends in dots was cut off.
            if len(word) <= _LONGEST and ".." not in word:
                yield from _readings(word)


def _ibans_in(plain: str) -> Iterator[str]:
    for found in _IBAN.finditer(plain):
        start, end = found.start(), found.end() - 1
        if not (_is_joined(plain, start, -1, _JOINS_WORDS) or _is_joined(plain, end, 1, _JOINS_WORDS)):
            yield from _ibans(found[0].upper())


def _readings(word: str) -> Iterator[str]:
    """Yield what a word may be without signs around it, and without a label: `to:ann@x.com`."""
    opened = word.lstrip(_BEFORE)
    opened = _LABEL.sub("", opened, count=1).lstrip(_BEFORE) if _LABEL.match(opened) else opened
    bare = opened.rstrip(_AFTER)
    if bare.count("(") > bare.count(")") and opened[len(bare) :].startswith(")"):
        bare += ")"
    yield bare
    if "@" in bare and "://" not in bare:
        for each in re.split("[,;]", bare):
            address = _POSSESSIVE.sub("", each.lstrip(_BEFORE).rstrip(_AFTER))
            yield address.strip("_") if address[0:1] == address[-1:] == "_" else address
    else:
        amount = _AMOUNT.sub(r"\1", bare, count=1)
        comma = _COMMA.fullmatch(amount)
        if _GROUPS.fullmatch(amount):
            amount = re.sub("[,'\u2019]", "", amount)
        yield f"{comma[1].replace('.', '')}.{comma[2]}" if comma else amount


def _ibans(text: str) -> Iterator[str]:
    """Yield the account numbers that a text starts with: words after one may look like its end."""
    groups = text.split()
    yield f"iban:{''.join(groups)}"
    for end in range(1, len(groups)):
        number = "".join(groups[:end])
        if _IBAN.fullmatch(number) and int("".join(str(int(char, 36)) for char in number[4:] + number[:4])) % 97 == 1:
            yield f"iban:{number}"


def _occurs(word: str, text: str, joints: str) -> bool:
    if not any(map(str.isalnum, word)):
        return False
    # Places that overlap many times are given up, as each is compared with the whole word.
    at, left = text.find(word), 8 * len(text)
    while at >= 0 and left > 0:
        if not (_is_joined(text, at, -1, joints) or _is_joined(text, at + len(word) - 1, 1, joints)):
            return True
        at, left = text.find(word, at + 1), left - len(word)
    return False


def _is_joined(text: str, at: int, step: int, joints: str) -> bool:
    """Return whether a word that starts or ends at `at` goes on in the direction of `step`."""
    near, after = _char(text, at + step), _char(text, at + 2 * step)
    if _is_in_a_word(near):
        return True
    if near == ",":
        return text[at].isdigit() and after.isdigit()
    if near in ("'", "\u2019"):
        is_possessive = step > 0 and _POSSESSIVE.match(text, at + 1)
        return after.isalnum() and not is_possessive
    if not near or near not in joints:
        return False
    # A sign behind a word may end the sentence; one before a name is a part of it, as in `/etc` and `@ann`.
    is_in_a_name = after.isalnum() or (after != "" and after in joints)
    return is_in_a_name or (step < 0 and joints is _JOINS_NAMES and near != "#")


def _char(text: str, at: int) -> str:
    return text[at] if 0 <= at < len(text) else ""


def _is_in_a_word(char: str) -> bool:
    """Return whether a sign is a letter, a digit, a mark on one, or is not seen."""
    if char.isascii():
        return char.isalnum() or char == "_" or not char.isprintable()
    return char.isalnum() or not char.isprintable() or unicodedata.category(char) in ("Mn", "Mc", "Me", "Pc")
