"""The forms that secrets have: words of which one is in each text with such a secret, and a pattern for it."""

__all__ = ["FORMS", "NAME"]

NAME = r"pass(?:word|wd|phrase|code)|pwd|secret|token|credential|(?:api|access|account|private|secret|signing)[_-]?key"
_VALUE = r"""(?!\[redacted)(?:\\?"[^"\n]*"?|\\?'[^'\n]*'?|[^\s"'&;\\][^\s"'&;]*)"""
_SCHEME = r"(?:bearer|basic|token|digest|negotiate|apikey)"
_IS = r"""\\?["']?\s{0,9}[:=]\s{0,9}"""

# What is repeated without a bound comes after characters of the form's own, or cannot start again in the middle of
# what it matches: the time grows with the length of the text.
FORMS = (
    ("private", r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----)(?s:.*?)(?=-----END |\Z)"),
    ("akia asia", r"()\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    ("ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"()\b(?:gh[pousr]|github_pat)_[A-Za-z0-9_]{20,}"),
    ("glpat- gldt- glrt-", r"()\bgl(?:pat|dt|rt)-[\w-]{16,}"),
    ("xox xapp-", r"()\b(?:xox[a-z]|xapp)-[\w-]{10,}"),
    ("sk- sk_ rk_ pk_", r"()\b(?:sk-|[srp]k_(?:live|test)_)[\w-]{16,}"),
    ("aiza ya29.", r"()\b(?:AIza|ya29\.)[\w-]{20,}"),
    ("npm_ hf_ pypi- dop_v1_ hvs. sg. shpat_", r"()\b(?:npm_|hf_|pypi-|dop_v1_|hvs\.|SG\.|shpat_)[\w.-]{20,}"),
    ("age-secret-key-", r"()\bAGE-SECRET-KEY-1[0-9A-Z]{20,}"),
    ("eyj", r"()\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"),
    ("://", r"(://[^\s/:@]{0,256}:)[^\s/@]+(?=@)"),
    ("bearer", r"(?i)(\bbearer\s{1,9})[\w.~+/=-]{8,}"),
    ("authorization", rf"(?i)(authorization{_IS}(?:{_SCHEME}\s{{1,9}}+|(?!{_SCHEME}\s))){_VALUE}"),
    ("cookie", rf"(?i)(cookie{_IS})[^\r\n\"']+"),
    ("key sig", r"(?i)([?&](?:key|sig|signature|X-[\w-]{1,40}-Signature)=)[^\s&#\"']+"),
    ("pass pwd secret token credential key", rf"(?i)((?:{NAME})s?{_IS}){_VALUE}"),
    ("pass pwd secret token key", rf"(?i)(--?[\w-]{{0,40}}(?:{NAME})\s{{1,9}})(?!-){_VALUE}"),
    ("-u --user", r"((?<!\S)(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,256}:)[^\s\"']+"),
    ("-p", rf"(\b(?:sshpass|login|mysql\w{{0,10}})\b[^|;&\n]{{0,200}}?\s-p ?){_VALUE}"),
)
"""The words are in small letters. Group 1 of a pattern stays."""
