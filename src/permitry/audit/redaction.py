"""What the record does not keep: secrets, found by their form, and by the names that they are given.

A form begins with characters of its own, such as `ghp_`, or comes behind a word such as `password=`. More is left out
rather than less: `password: str` in a program loses its last word.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

__all__ = ["DOUBTFUL", "REDACTED", "redact_text", "redacted"]

REDACTED = "[redacted]"
DOUBTFUL = "[redacted; may run commands]"
"""In place of what would be more than a secret where a shell reads it."""

# Quotes do not help: which ones are open where a secret begins is not known.
_BEGINNING = "[redacted"
_RUNS = re.compile(r"[&|<>`]|\$\(|;(?!\s?[\w.-]+=[^\s;]*(?:;|$))|\n(?![\w+/=-]*(?:\n|$))")

_NAME = r"pass(?:word|wd|phrase|code)|pwd|secret|token|credential|(?:api|access|account|private|secret|signing)[_-]?key"
_IS_SECRET = re.compile(rf"(?:^|[^a-z])(?:{_NAME}|authorization|cookie)s?(?:$|[^a-z])", re.IGNORECASE)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


_VALUE = r"""(?!\[redacted)(?:\\?"[^"\n]*"?|\\?'[^'\n]*'?|[^\s"'&;\\][^\s"'&;]*)"""
_SCHEME = r"(?:bearer|basic|token|digest|negotiate|apikey)"
_IS = r"""\\?["']?\s{0,9}[:=]\s{0,9}"""


@attrs.frozen(eq=False)
class _Form:
    """A form of secrets; a text that has one has one of the `marks` in small letters. Group 1 stays."""

    marks: tuple[str, ...]
    pattern: re.Pattern[str]

    @classmethod
    def of(cls, marks: str, pattern: str) -> "_Form":
        """Return the form of a pattern; the marks are words."""
        return cls(tuple(marks.split()), re.compile(pattern))


def _hide(match: re.Match[str]) -> str:
    secret = match[0][len(match[1]) :]
    if secret.startswith(_BEGINNING):
        return match[0]
    return f"{match[1]}{DOUBTFUL if _RUNS.search(secret) else REDACTED}"


# What is repeated without a bound comes after characters of the form's own, or cannot start again in the middle of
# what it matches: the time grows with the length of the text.
_FORMS = (
    _Form.of("private", r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----)(?s:.*?)(?=-----END |\Z)"),
    _Form.of("akia asia", r"()\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    _Form.of("ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"()\b(?:gh[pousr]|github_pat)_[A-Za-z0-9_]{20,}"),
    _Form.of("glpat- gldt- glrt-", r"()\bgl(?:pat|dt|rt)-[\w-]{16,}"),
    _Form.of("xox xapp-", r"()\b(?:xox[a-z]|xapp)-[\w-]{10,}"),
    _Form.of("sk- sk_ rk_ pk_", r"()\b(?:sk-|[srp]k_(?:live|test)_)[\w-]{16,}"),
    _Form.of("aiza ya29.", r"()\b(?:AIza|ya29\.)[\w-]{20,}"),
    _Form.of("npm_ hf_ pypi- dop_v1_ hvs. sg. shpat_", r"()\b(?:npm_|hf_|pypi-|dop_v1_|hvs\.|SG\.|shpat_)[\w.-]{20,}"),
    _Form.of("age-secret-key-", r"()\bAGE-SECRET-KEY-1[0-9A-Z]{20,}"),
    _Form.of("eyj", r"()\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"),
    _Form.of("://", r"(://[^\s/:@]{0,256}:)[^\s/@]+(?=@)"),
    _Form.of("bearer", r"(?i)(\bbearer\s{1,9})[\w.~+/=-]{8,}"),
    _Form.of("authorization", rf"(?i)(authorization{_IS}(?:{_SCHEME}\s{{1,9}}+|(?!{_SCHEME}\s))){_VALUE}"),
    _Form.of("cookie", rf"(?i)(cookie{_IS})[^\r\n\"']+"),
    _Form.of("key sig", r"(?i)([?&](?:key|sig|signature|X-[\w-]{1,40}-Signature)=)[^\s&#\"']+"),
    _Form.of("pass pwd secret token credential key", rf"(?i)((?:{_NAME})s?{_IS}){_VALUE}"),
    _Form.of("pass pwd secret token key", rf"(?i)(--?[\w-]{{0,40}}(?:{_NAME})\s{{1,9}})(?!-){_VALUE}"),
    _Form.of("-u --user", r"((?<!\S)(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,256}:)[^\s\"']+"),
    _Form.of("-p", rf"(\b(?:sshpass|login|mysql\w{{0,10}})\b[^|;&\n]{{0,200}}?\s-p ?){_VALUE}"),
)
_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----(?!(?s:.*)-----END )")
_KEY_ENDS = "-----END "
_ANY_VALUE = "x" * 20
_PAIR = 2
_NAME_ALONE = re.compile(r"\w[\w.-]*")
_FAR = 240
"""So many characters of the items before it say what an item is."""
_MARKS = tuple((mark, form) for form in _FORMS for mark in form.marks)


def redact_text(text: str) -> str:
    """Return a text without the secrets in it."""
    small = text.lower()
    for form in dict.fromkeys([form for mark, form in _MARKS if mark in small]):
        text = form.pattern.sub(_hide, text)
    return text


def redacted(value: Any, *, is_secret: bool = False) -> Any:  # noqa: ANN401 -- whatever JSON can hold
    """Return a JSON value without secrets: all texts below a name that says so, otherwise those of a form."""
    if isinstance(value, str):
        return REDACTED if is_secret and value else redact_text(value)
    if isinstance(value, Mapping):
        return {name: redacted(inner, is_secret=is_secret or _says_so(name)) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        if is_secret:
            return [redacted(inner, is_secret=True) for inner in value]
        return list(_without_secrets(value))
    return value


def _without_secrets(items: Sequence[Any]) -> Iterator[Any]:
    """Yield the items of a list without secrets, also where one comes behind its option or in a key."""
    before, is_key = "", False
    is_pair = len(items) == _PAIR and _says_so(items[0]) and _NAME_ALONE.fullmatch(items[0]) is not None
    for number, item in enumerate(items):
        left = redacted(item, is_secret=is_key or (is_pair and number > 0))
        if isinstance(item, str):
            _, end, rest = item.partition(_KEY_ENDS)
            if is_key:
                left += end + rest
            is_key = _KEY.search(item) is not None or (is_key and not end)
            if left != REDACTED and _is_value(before, item):
                left = DOUBTFUL if _RUNS.search(item) else REDACTED
            before = f"{before} {left}"[-_FAR:]
        yield left


def _is_value(before: str, item: str) -> bool:
    """Return whether an item of a list is the secret that the items before it name."""
    # As a text, a value ends at the first sign of a shell; as an item, it is all of it.
    tried = [item] if item.startswith("-") else [item, _ANY_VALUE]
    return item != "" and any(redact_text(f"{before} {each}") != f"{before} {redact_text(each)}" for each in tried)


def _says_so(name: object) -> bool:
    return isinstance(name, str) and _IS_SECRET.search(_HUMP.sub("_", name)) is not None
