"""Regular expressions without backtracking (RE2): no argument can make a match slow."""

import re

import attrs

from permitry.errors import RuleError

MAX_PATTERN = 1_000
# Bounds the size of the automaton, and with it the time: about a second for the longest argument at worst.
MAX_MEMORY = 1 << 17


def _compile(regex: "Regex") -> re.Pattern[str]:
    import re2  # type: ignore[import-untyped]  # noqa: PLC0415 -- untyped, large, and needed only by rules with a regex

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_MEMORY
    # A line break must not hide what follows it from a restriction; a glob's star matches it as
    # well.
    options.dot_nl = True
    options.never_capture = True
    if len(regex.text) > MAX_PATTERN:
        raise RuleError(f"the pattern has {len(regex.text)} characters; {MAX_PATTERN} are the most")
    try:
        program: re.Pattern[str] = re2.compile(regex.text, options)
    except re2.error as error:
        reason = error.args[0]
        text = reason.decode() if isinstance(reason, bytes) else str(reason)
        raise RuleError(f"not a pattern RE2 takes: {text}{_hint(text)}") from error
    return program


def _hint(reason: str) -> str:
    if "(?" in reason:
        return "; it never looks ahead or back: write what must not be there under `unless`"
    is_reference = re.search(r"\\[1-9]", reason) is not None
    return "; it does not compare with what a group has matched: list the cases" if is_reference else ""


@attrs.frozen
class Regex:
    """A pattern of RE2 that the whole text must match; a dot matches a line break as well.

    Raises: `RuleError` for one that is invalid, over 1,000 characters, or too large when compiled.
    """

    text: str
    _program: re.Pattern[str] = attrs.field(
        init=False, repr=False, eq=False, default=attrs.Factory(_compile, takes_self=True)
    )

    def matches(self, text: str) -> bool:
        return self._program.fullmatch(text) is not None

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[type["Regex"], tuple[str]]:
        return Regex, (self.text,)
