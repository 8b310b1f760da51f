"""The shell text in one-line programs of interpreters: `node -e "execSync('…')"`, `python -c "os.system('…')"`.

Every literal counts of code that names a function which starts a program: which of them reach it is not known. Those of
a list are the words of one command.
"""

import re
from collections.abc import Iterator, Sequence

from permitry.actions.programs.literals import lists_in, literals_in
from permitry.actions.shell.running import Inner
from permitry.core.action import Word

__all__ = ["commands_in_code"]

_STARTS = re.compile(
    # Behind letters of options as well: `perl -nesystem…`.
    r"(?:\b|\A-[A-Za-z0-9]+?)(?:child_process|exec\w*|p?open[23]|popen\w*|spawn\w*|system\w*|subprocess|getoutput"
    r"|getstatusoutput|passthru|proc_open|pcntl_exec|shell\w*|run-program|os:cmd|\w*Command|callProcess|capture[23]e?)\b",
    re.IGNORECASE,
)
_OF_SHELL = re.compile(r"(?:perl|j?ruby|php|julia)[0-9.]*")
"""Languages in which backticks, and `qx` or `%x` with any brackets, run a text."""
_RUN = re.compile(
    r"`([^`]++)`|(?:\bqx|%x)\s*+(?:\{([^}]++)\}|\(([^)]++)\)|\[([^\]]++)\]|([/|!#'\"])(.*?)\5)", re.DOTALL
)
_COMPUTED = ("$", "`", "{", "#{")


def commands_in_code(name: str, words: Sequence[Word]) -> Iterator[Inner]:
    """Yield the literals of an interpreter's code that may be commands: texts of several words, and lists of words."""
    for code in (word.text for word in words[1:]):
        if _OF_SHELL.fullmatch(name):
            yield from (Inner("", text=next(filter(None, found.groups()[::-1]))) for found in _RUN.finditer(code))
            yield from (Inner("", text=text.strip("|")) for text in literals_in(code) if _is_pipe(text))
        if _STARTS.search(code):
            yield from (Inner("", text=text) for text in literals_in(code) if _has_words(text))
            for literals in lists_in(code):
                if len(literals) > 1 and not literals[0].startswith(_COMPUTED):
                    yield Inner("", tuple(map(Word, literals)))


def _is_pipe(text: str) -> bool:
    """Return whether opening a name of this form runs a command, as it does in Perl and Ruby."""
    return text.startswith("|") or text.endswith("|")


def _has_words(text: str) -> bool:
    """Return whether a text has several words, and names the program in the first one."""
    return len(text.split(None, 1)) > 1 and not text.lstrip().startswith(_COMPUTED)
