"""The links in a text: all that a client of mail or chat, or a renderer of Markdown or HTML, may open, load, or link.

Clients disagree on what a link is and where it ends, so more is found than any of them finds: in the text as it is, and
as they show it, without escapes, entities and characters that are not seen. A link is certain only where all of them
find the same host. There is no list of top-level domains, as new ones come. An attacker may write every text, so all of
this takes linear time.
"""

import bisect
import functools
import html
import re
import unicodedata
from collections.abc import Iterator

import attrs

from permitry.actions.hosts import other_readings, read_url
from permitry.core.action import Connect
from permitry.errors import UnevaluableError

__all__ = ["links_in"]

_LONGEST_LINK = 8 * 1024
_MOST_LINKS = 1_000
_MOST_ROUNDS = 3

_WEB = ("http", "https")
_WITHOUT_SLASHES = frozenset((
    "bitcoin", "blob", "callto", "data", "facetime", "feed", "file", "ftp", "geo", "http", "https", "intent",
    "javascript", "magnet", "mailto", "sip", "sips", "skype", "sms", "tel", "vbscript", "view-source",
    "webcal", "ws", "wss", "xmpp",
))  # fmt: skip
"""The schemes of which clients make links where no `//` follows."""
_WITH_HOST = frozenset({"ftp", "http", "https", "ws", "wss"})
_SLASHES = ("//", "\\\\", "/\\", "\\/")

# A text is split at blanks, brackets and quotes. A name may have every other character but these signs.
_PIECE = re.compile(r"[^\x00-\x20<>()\[\]{}\"'`|^]+")
_SIGNS = frozenset(".:%")
_APART = "".join(char for char in map(chr, range(0x80, 0xFFFF)) if unicodedata.category(char)[0] in "PZ")
_LETTER = rf"[^\x00-,./:-@\[-^`{{-\x9f{re.escape(_APART)}]"
_NAME = re.compile(rf"(?<!{_LETTER}){_LETTER}++(?:\.{_LETTER}++)+")
_ENCODED = re.compile(rf"(?:[%.]|{_LETTER})+")
_TOP = re.compile(r"xn--|[^\W\d_]{2}|[^\x00-\x7f]", re.IGNORECASE)
_IPV4 = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![0-9])")
_MARK = re.compile(r"(?<![a-z0-9+.-])([a-z0-9+.-]++):([/\\]*+)", re.IGNORECASE | re.ASCII)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
_AUTHORITY = re.compile(r"[^/?#]*")
# Quotes and dashes around an address. INVARIANT: to none of them another sign is the same in a name, and no top-level
# domain has one: a client that takes `x.com\u201d` for a name finds no host.
_MARKS = "\u2013\u2014\u2018-\u201f\xab\xbb\u2039\u203a"
# A host and port that every client reads alike, and what may follow.
_PLAIN = re.compile(
    r"((?:[.-]*+[a-z0-9]++)+(?![.-]*+[a-z0-9])|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?"
    rf"(?=(?=(?P<marks>(?:[{_MARKS}][a-z0-9]*+)*))(?P=marks)[.,;:!?*~_-]*+(?:[\x00-\x20<>()\]}}\"'`|]|\Z))",
    re.IGNORECASE,
)
_START = re.compile(r"[a-z0-9._-]*", re.IGNORECASE)
_USER = re.compile(rf"(?<![^\x00-\x20<>()\[\]{{}}\"'`|^,;:={_MARKS}])[a-z0-9._%+-]{{1,64}}@\Z", re.IGNORECASE)
_LONGEST_USER = 66
_MAIL = re.compile(r"[a-z0-9._+-]{1,64}@[a-z0-9.-]+", re.IGNORECASE)
_BEFORE_A_NAME = re.compile(rf"[ \t\r\n([{{<>\"'`,;|*!_{_MARKS}]|\A\Z")
_CLOSING = frozenset(" \t\r\n<>)]}\"'`")
_QUOTES = "\"'`"
_RUN = re.compile(r"[^\x00-\x20]*")
_AFTER = re.compile(rf"[\x00-\x20<>()\[\]{{}}\"'`.,;:!?*|~_{_MARKS}]{{1,4}}\Z")

# In these places every text is an address: in the destination of a link in Markdown, in an attribute, in `<scheme:…>`.
_ATTRIBUTES = (
    "action|archive|background|by|cite|classid|codebase|data|dynsrc|formaction|from|href|icon|imagesrcset|longdesc"
    "|lowsrc|manifest|ping|poster|profile|src|srcset|to|url|usemap|values"
)
_DESTINATION = re.compile(
    rf"(?:\]\([\x00-\x20]*+<?|\]:[\x00-\x20]*+<?|(?<!\w)(?:(?:{_ATTRIBUTES})\s*+=\s*+|url\(\s*+)[\"']?[\x00-\x20]*+"
    r"|<(?=[a-z][a-z0-9+.-]{1,31}:[^\x00-\x20<>]+>))(?:([a-z][a-z0-9+.-]*+):|[/\\]{2,}(?=[^\x00-\x20>)\"']))"
    r"|(?<![:/\\])//(?=[0-9]|localhost|[^\x00-\x20/?#\\]*@)",
    re.IGNORECASE,
)
# These change where other addresses lead, send what is typed, or run a program.
_ACTIVE = re.compile(r"<(?:base|form|script)\b|<[^<>]*\son[a-z]+\s*=", re.IGNORECASE)
_QUOTED = re.compile(r"=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))")

# What is not seen, and what counts as another sign.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
_WIDE = {sign + 0xFEE0: sign for sign in range(0x21, 0x7F)} | dict.fromkeys((0x2024, 0xFE52), ord("."))
_CJK_DOT = re.compile("[\u3002\uff61](?=[A-Za-z])")
_BREAK_ENTITY = re.compile(r"&(?:Tab|NewLine);|&#(?:0*+(?:9|10|13)(?![0-9])|x0*+[9ad](?![0-9a-f]));?", re.IGNORECASE)
_LEADING_ZEROS = re.compile(r"(?<=&#)0++(?=[0-9])|(?<=&#x)0++(?=[0-9a-f])", re.IGNORECASE)
_LONG_NUMBER = re.compile(r"&#(?:[0-9]{8,}+|x[0-9a-f]{8,}+);?", re.IGNORECASE)
_MARKUP = re.compile(
    r"<!--[^<>]*-->|</?(?:a|abbr|b|bdi|bdo|big|code|em|font|i|mark|s|small|span|strong|sub|sup|tt|u|wbr)\b[^<>]*>"
    r"|\]\([^()]*+\)|(?<!//)!?\[|[*~`]+",
    re.IGNORECASE,
)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_CSS_ESCAPE = re.compile(r"\\([0-9a-f]{1,6})[ \t\r\n]?", re.IGNORECASE)
_BREAKS = re.compile(r"[\t\r\n]+")


def links_in(text: str) -> tuple[Connect, ...]:
    """Return every link that a client may find in a text, once each; `text` is all that may belong to its address.

    An address without a scheme is there by `http` and by `https`. Of an address without a host the scheme alone is
    known; one with neither could not be read. Addresses relative to the page they are on are left out.

    Raises: `UnevaluableError` for a text with more than 1,000 links.
    """
    read: dict[str, Connect] = {}
    links = dict.fromkeys(_Text(text, read).links())
    certain = {_origin(link) for link in links if link.is_certain}
    for view in _views(text):
        for link in _Text(view, read).links():
            # What only one way to show the text makes a link of is certain where it leads nowhere else.
            is_certain = link.is_certain and _origin(link) in certain
            links[attrs.evolve(link, is_certain=is_certain)] = None
    return tuple(links)


def _origin(link: Connect) -> tuple[object, ...]:
    return link.scheme, link.host, link.port


def _views(text: str) -> Iterator[str]:
    """Yield the text as clients may show it, each time one step further, and then without markup as well."""
    for _ in range(_MOST_ROUNDS):
        before = text
        for step in (_without_unseen, _without_entities, _without_escapes, _without_breaks):
            changed = step(text)
            if changed != text:
                text = changed
                yield text
        yield from (bare for bare in (_MARKUP.sub("", text), _without_css(text)) if bare != text)
        if text == before:
            return


def _without_unseen(text: str) -> str:
    text = _UNSEEN.sub("", text)
    if text.isascii():
        return text
    return _CJK_DOT.sub(".", text.translate(_WIDE))


def _without_entities(text: str) -> str:
    if "&" not in text:
        return text
    # Python refuses numbers with thousands of digits.
    text = _LONG_NUMBER.sub("\ufffd", _LEADING_ZEROS.sub("", text))
    return html.unescape(_BREAK_ENTITY.sub("", text))


def _without_escapes(text: str) -> str:
    return _ESCAPE.sub(r"\1", text)


def _without_css(text: str) -> str:
    """Return the text without the escapes of style sheets, which may load images."""
    return _CSS_ESCAPE.sub(lambda found: chr(min(int(found[1], 16), 0xFFFD)), text)


def _without_breaks(text: str) -> str:
    """Return the text without line breaks and tabs in quoted attributes, where browsers leave them out."""
    return _QUOTED.sub(lambda found: _BREAKS.sub("", found[0]), text)


@attrs.frozen
class _Text:
    """One way to show a text; `_read_urls` are the addresses read so far."""

    text: str
    _read_urls: dict[str, Connect]

    def links(self) -> Iterator[Connect]:
        """Yield the links in it.

        Raises: `UnevaluableError` if there are too many.
        """
        for count, link in enumerate(self._links()):
            if count >= _MOST_LINKS:
                raise UnevaluableError(f"a text with more than {_MOST_LINKS:,} links is not searched for all of them")
            if len(link.text) >= _LONGEST_LINK:
                # What follows the part that was read could lead elsewhere.
                yield Connect(link.text, is_certain=False)
            yield link

    def _links(self) -> Iterator[Connect]:
        for piece in _PIECE.finditer(self.text):
            if not _SIGNS.isdisjoint(piece[0]):
                yield from self._in_piece(*piece.span())
        for found in _DESTINATION.finditer(self.text):
            yield from self._at_destination(found)
        for found in _ACTIVE.finditer(self.text):
            yield Connect(found[0][:_LONGEST_LINK], is_certain=False)

    def _in_piece(self, start: int, end: int) -> Iterator[Connect]:
        """Yield the links that start between two places with neither a blank, a bracket nor a quote between them."""
        marks = [mark for mark in _MARK.finditer(self.text, start, end) if self._is_link(mark)]
        stops = [*(mark.end(1) for mark in marks), end]
        yield from self._names(start, stops[0])
        for mark, stop in zip(marks, stops[1:], strict=True):
            yield from self._read_marked(mark)
            path = _end(_AUTHORITY, self.text, mark.end(), stop)
            host = _PLAIN.match(self.text, mark.end(), path) if mark[2] == "//" else None
            # The path of a page belongs to its address, whatever it looks like.
            end = path if host and mark[1].lower() in _WEB else stop
            yield from self._names(host.end() if host else mark.end(), end)

    def _read_marked(self, mark: re.Match[str]) -> Iterator[Connect]:
        """Yield the link that starts with a scheme."""
        scheme, whole = mark[1].lower(), self._whole(mark.start())
        rest = whole[len(mark[0]) :]
        if scheme == "mailto" and _MAIL.fullmatch(rest):
            return
        if scheme in _WITH_HOST or len(mark[2]) > 1:
            yield from self._read(whole, scheme, mark[2], rest) if rest else ()
        else:
            yield Connect(whole, scheme)

    def _is_link(self, mark: re.Match[str]) -> bool:
        """Return whether a word with a colon, and the slashes after it, start a link."""
        scheme, after = mark[1].lower(), self.text[mark.end() : mark.end() + 1]
        is_followed = after != "" and (after not in _CLOSING or (scheme == "javascript" and after in _QUOTES))
        return len(mark[2]) > 1 or (is_followed and scheme in _WITHOUT_SLASHES)

    def _read(self, whole: str, scheme: str, slashes: str, rest: str) -> Iterator[Connect]:
        """Yield what an address with a host may lead to."""
        authority = rest[: _end(_AUTHORITY, rest)]
        plain = _PLAIN.match(authority)
        is_scheme = _SCHEME.fullmatch(scheme) is not None and (scheme in _WEB or not scheme.endswith(_WEB))
        if plain and "@" not in authority and slashes == "//" and is_scheme:
            found = self._remember(f"{scheme}://{plain[0]}")
            yield attrs.evolve(found, text=whole)
            return
        url = f"{scheme if is_scheme else 'https'}:{slashes}{rest}"
        found = self._remember(url)
        if found.host is None and is_scheme and scheme not in _WITH_HOST:
            yield Connect(whole, scheme)
            return
        yield Connect(whole, found.scheme if is_scheme else None, found.host, found.port, is_certain=False)
        start = rest[: _end(_START, rest)]
        readings = [*other_readings(url), *([self._remember(f"https://{start}")] if start else [])]
        yield from (Connect(whole, host=each.host, is_certain=False) for each in readings)

    def _remember(self, url: str) -> Connect:
        if url not in self._read_urls:
            self._read_urls[url] = read_url(url)
        return self._read_urls[url]

    def _names(self, start: int, end: int) -> Iterator[Connect]:
        """Yield the links to names of hosts without a scheme, between two places."""
        for found in _NAME.finditer(self.text, start, end):
            bare = found[0].lstrip("-_")
            at, name = found.end() - len(bare), _host_in(bare)
            if name is None:
                continue
            if self.text[at - 1 : at] == "@":
                yield from self._mail(at, name)
            elif not self._is_user(found):
                yield from self._web(at, name)
        for found in _ENCODED.finditer(self.text, start, end):
            host = self._remember(f"https://{found[0]}").host if "%" in found[0] else None
            if host is not None and _host_in(host) is not None:
                yield Connect(self._whole(found.start()), None, host, is_certain=False)

    def _is_user(self, found: re.Match[str]) -> bool:
        """Return whether a name is the part of a mail address before the `@`."""
        after = _NAME.match(self.text, found.end() + 1) if self.text[found.end() : found.end() + 1] == "@" else None
        is_plain = found[0].isascii() and not found[0].lower().startswith("www.")
        return is_plain and after is not None and _host_in(after[0]) == after[0]

    def _mail(self, at: int, name: str) -> Iterator[Connect]:
        """Yield the links to the host of a mail address, which starts at a place after its `@`."""
        whole, user = self._whole(at), _USER.search(self.text[max(0, at - _LONGEST_USER) : at])
        host = self._remember(f"https://{name}")
        is_certain = host.is_certain and user is not None and whole == name
        address = f"{user[0] if user else '@'}{whole}"
        yield Connect(address, "mailto", host.host, is_certain=is_certain)
        if not is_certain:
            yield from self._web(at, name)

    def _web(self, at: int, name: str) -> Iterator[Connect]:
        """Yield the links to the host with a name at a place, by each scheme that a client may add."""
        whole = self._whole(at)
        authority = whole[: _end(_AUTHORITY, whole)]
        plain = _PLAIN.match(authority)
        if plain is None or plain[1] != name:
            host = self._remember(f"https://{name}").host
            yield from (Connect(whole, scheme, host, is_certain=False) for scheme in _WEB)
            return
        is_certain = "@" not in authority and _BEFORE_A_NAME.match(self.text[at - 1 : at]) is not None
        for scheme in _WEB:
            found = self._remember(f"{scheme}://{plain[0]}")
            yield attrs.evolve(found, text=whole, is_certain=is_certain and found.is_certain)

    def _at_destination(self, found: re.Match[str]) -> Iterator[Connect]:
        """Yield the link of a place where every text is an address, unless a text anywhere else is one as well."""
        at, scheme = found.end() if found[1] is None else found.start(1), (found[1] or "").lower()
        whole = self._whole(at)
        if found[1] is None:
            host = self._remember(f"https://{whole}")
            yield from [Connect(whole, None, host.host, is_certain=False)] if whole else ()
        elif scheme not in (*_WITH_HOST, "mailto") and not self.text.startswith(_SLASHES, found.end()):
            yield Connect(whole, scheme)

    def _whole(self, start: int) -> str:
        """Return all that may belong to an address which starts at a place, without signs after it."""
        end = _end(_RUN, self.text, start, start + _LONGEST_LINK)
        before = self.text[start - 1 : start] if start else ""
        quoted = bisect.bisect_left(self._quotes, (start,)) - 1
        if quoted >= 0 and start < self._quotes[quoted][1]:
            end = min(self._quotes[quoted][1], start + _LONGEST_LINK)
        elif before == "<" or (before in _QUOTES and before):
            found = self.text.find(">" if before == "<" else before, start, start + _LONGEST_LINK)
            end = found if found >= 0 else end
        text = self.text[start:end]
        if len(text) >= _LONGEST_LINK:
            return text
        bare = _AFTER.sub("", text)
        is_open = bare.count("(") > bare.count(")") and text[len(bare) :].startswith(")")
        return f"{bare})" if is_open else bare

    @functools.cached_property
    def _quotes(self) -> list[tuple[int, int]]:
        """The places of quoted attributes."""
        return [found.span() for found in _QUOTED.finditer(self.text)]


def _end(pattern: re.Pattern[str], text: str, start: int = 0, stop: int | None = None) -> int:
    """Return where a pattern that also fits nothing ends, which starts at a place."""
    found = pattern.match(text, start, len(text) if stop is None else stop)
    return start if found is None else found.end()


def _host_in(name: str) -> str | None:
    """Return what may be the name of a host in a text of names and dots: not in numbers, versions and the like."""
    labels = name.rstrip("-_").split(".")
    while len(labels) > 1 and not _TOP.match(labels[-1]):
        labels.pop()
    if len(labels) > 1:
        return ".".join(labels).rstrip("-_")
    address = _IPV4.match(name)
    return None if address is None else address[0]
