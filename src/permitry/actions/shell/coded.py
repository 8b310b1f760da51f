"""The shell text in one-line programs of interpreters: `node -e "execSync('…')"`, `python -c "os.system('…')"`.

Every literal counts of code that names a function which starts a program: which of them reach it is not known. Those of
a list are the words of one command.
"""

import re
from collections.abc import Iterator, Sequence

from permitry.actions.shell.running import Inner
from permitry.core.action import Word

__all__ = ["commands_in_code"]

_MOST = 64
_STARTS = re.compile(
    r"\b(?:child_process|exec\w*|p?open[23]|popen\w*|spawn\w*|system\w*|subprocess|getoutput|getstatusoutput|passthru"
    r"|proc_open|shell_exec|pcntl_exec|Deno\.Command|capture[23]e?)\b",
    re.IGNORECASE,
)
_OF_SHELL = re.compile(r"(?:perl|ruby|php)[0-9.]*")
"""Languages in which backticks, and `qx` or `%x` with any brackets, run a text."""
_RUN = re.compile(
    r"`([^`]++)`|(?:\bqx|%x)\s*+(?:\{([^}]++)\}|\(([^)]++)\)|\[([^\]]++)\]|([/|!#'\"])(.*?)\5)", re.DOTALL
)
_LITERAL = re.compile(r"""'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)"|`((?:[^`\\]|\\.)*+)`""", re.DOTALL)
_BETWEEN = re.compile(r"\s*+,\s*+(?:\{\s*+args\s*+:\s*+)?[\[(]?\s*+")
_ESCAPED = re.compile(r"\\([\\'\"`])")
_COMPUTED = ("$", "`", "{", "#{")


def commands_in_code(name: str, words: Sequence[Word]) -> Iterator[Inner]:
    """Yield the literals of an interpreter's code that may be commands: texts of several words, and lists of words."""
    for word in words[1:]:
        if _OF_SHELL.fullmatch(name):
            yield from (Inner("", text=next(filter(None, found.groups()[::-1]))) for found in _RUN.finditer(word.text))
        if _STARTS.search(word.text):
            for literals in _lists(word.text):
                yield from (Inner("", text=text) for text in literals if _has_words(text))
                if len(literals) > 1 and not literals[0].startswith(_COMPUTED):
                    yield Inner("", tuple(map(Word, literals)))


def _lists(code: str) -> Iterator[list[str]]:
    """Yield the literals with nothing but commas and opening brackets between them."""
    found: list[str] = []
    end = 0
    for number, literal in enumerate(_LITERAL.finditer(code)):
        if number >= _MOST:
            break
        if found and not _BETWEEN.fullmatch(code, end, literal.start()):
            yield found
            found = []
        found.append(_ESCAPED.sub(r"\1", literal[literal.lastindex or 0]))
        end = literal.end()
    if found:
        yield found


def _has_words(text: str) -> bool:
    """Return whether a text has several words, and names the program in the first one."""
    return len(text.split(None, 1)) > 1 and not text.lstrip().startswith(_COMPUTED)
