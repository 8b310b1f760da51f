"""The shell text in one-line programs of interpreters: `node -e "execSync('…')"`, `python -c "os.system('…')"`.

Every literal counts of code that names a function which starts a program: which of them reach it is not known. Those of
a list are the words of one command.
"""

import re
from collections.abc import Iterator, Sequence

from permitry.actions.programs.literals import lists_in, literals_in
from permitry.actions.programs.running import Inner
from permitry.core.action import Word

__all__ = ["commands_in_code"]

_STARTS = re.compile(
    # Behind letters of options as well: `perl -nesystem…`. A word that prose has as well counts in a call alone.
    r"(?:\b|\A-[A-Za-z0-9]{1,8}?)(?:child_process|exec\w*|p?open[23]|popen\w*|(?:posix_)?spawn\w*|system\w*|getoutput"
    r"|(?:create_)?subprocess\w*|getstatusoutput|passthru|proc_open|pcntl_exec|shell_exec|shell(?=\s*[(\"'])|shell-command"
    r"|do\s+(?:shell\s+)?script|doShellScript|run-program|os:cmd|Sys\.command|Deno\.Command|call(?:Command|Process)"
    r"|capture[23]e?)\b",
    re.IGNORECASE,
)
_OPENS = re.compile(r"\bopen\b")
"""In Perl and Ruby, opening a name that begins or ends with a bar runs a command."""
_OF_SHELL = re.compile(r"(?:perl|j?ruby|php|julia)[0-9.]*")
"""Languages in which backticks, and `qx` or `%x` with any brackets, run a text."""
_RUN = re.compile(
    r"`([^`]++)(?:`|\Z)|(?:\bqx|%x)\s*+(?:\{([^}]++)|\(([^)]++)|\[([^\]]++)|<([^>]++)|([/|!#'\"~,^])(.*?)(?:\6|\Z))",
    re.DOTALL,
)
_MODES = ("-|", "|-")
"""Of a file that is opened in Perl: to read from a command, or to write to it."""
_COMPUTED = ("$", "`", "{", "#{")


def commands_in_code(name: str, words: Sequence[Word]) -> Iterator[Inner]:
    """Yield the literals of an interpreter's code that may be commands: texts of several words, and lists of words."""
    for code in (word.text for word in words[1:]):
        is_of_shell = _OF_SHELL.fullmatch(name) is not None
        opens = is_of_shell and _OPENS.search(code) is not None
        if is_of_shell:
            yield from (Inner("", text=next(filter(None, found.groups()[::-1]))) for found in _RUN.finditer(code))
        if opens:
            yield from (Inner("", text=text.strip("| ")) for text in literals_in(code) if _is_pipe(text))
        if _STARTS.search(code):
            yield from (Inner("", text=text) for text in literals_in(code) if _has_words(text))
        if opens or _STARTS.search(code):
            yield from (Inner("", tuple(map(Word, each))) for literals in lists_in(code) for each in _argvs(literals))


def _argvs(literals: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the words of a command in a list; before them there may be a mode, or the program twice."""
    if len(literals) > 1 and not literals[0].startswith(_COMPUTED):
        yield literals
        if literals[0] in (literals[1], *_MODES):
            yield literals[1:]


def _is_pipe(text: str) -> bool:
    return (text.startswith("|") or text.rstrip().endswith("|")) and text not in _MODES


def _has_words(text: str) -> bool:
    """Return whether a text has several words, and names the program in the first one."""
    return len(text.split(None, 1)) > 1 and not text.lstrip().startswith(_COMPUTED)
