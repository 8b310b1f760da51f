"""Which commands print names of files, and nothing else."""

from tests.tables import for_each

from permitry.actions.programs.names import prints_names
from permitry.actions.reading.strict import read_strictly


def _prints(text: str) -> bool:
    found = False
    for command in read_strictly(text):
        found = prints_names(command, has_names=found and command.follows == "|")
    return found


@for_each(
    "text",
    [
        "find . -name '*.py' -print0", "ls *.c", "ls -1", "git ls-files", "git ls-files --others", "git grep -l x",
        "git diff --name-only", "grep -rl x .", "rg --files", "rg -l x", "ls | sort -u | head -n 3",
        "ls | grep -v x | tail -2", "dir src", "fd . src", "fdfind -e py", "fd -H --exclude=x a", "ag -l x",
        "find . | grep -E 'a|b'", "ls -1AtR --hidden src", "ls -I -l x", "ls -Il", "git ls-files -co -x s",
        "find . | tr '\\n' '\\0'", "find . | xargs -n 5 grep -l x",
        "grep -e x -l f", "grep -A 3 -ril x .", "rg -e x -l", "git grep -e x -l", "git grep --name-only x",
    ],
)  # fmt: skip
def test_a_command_prints_names(text: str) -> None:
    """Or lines of the names that it reads."""
    assert _prints(text)


@for_each(
    "text",
    [
        "echo a", "cat f", "find . -printf x", "find . -exec echo x ';'", 'find "$x"', "ls > f",
        "git ls-files --format=x", "fd . -x echo", "fd . -xecho", "fd . -HX echo", "fd -l x", "fd . --exec echo",
        "fd --format=x a", "ag x", "vdir",
        "git log --name-only", "git diff", "grep x f", "grep -l --label=x a -", "rg x", "ls | sort f", "ls | grep x f",
        "ls | grep -f f", "ls | grep -o x", "ls | tail -c 5", "ls | awk p", "echo | sort", "ls; echo x",
        "ls | tr '\\n' ' '", "ls | tr a -", "cat f | xargs grep -l x", "ls | xargs", "ls | xargs cat",
        "ls | xargs -a f grep -l x",
        # Modes of files and the like: `-rw-r--r--` looks like an option.
        "ls -l", "ls -lah src", "ls -1s", "ls -i", "ls -o", "ls -D", "ls -Zd x", "dir -n", "ls -y",
        "git ls-files -s", "git ls-files -ot",
        # The letter, or the word, is the value of another option; or what the option is, is not known.
        "ag -Gl x", "ag -Wl x", "ag -pl x y", "ag -ml x", "ag -Al x", "ag -V -l", "grep -el f", "grep -Al x f",
        "grep -ml x f", "grep -e -l f", "grep -e --files-with-matches f", "rg -el f", "rg -rl x", "rg -Ml x",
        "git diff -l 5", "git diff -l5", "git grep -e -l", "git grep -ml x",
    ],
)  # fmt: skip
def test_other_text_is_not_names(text: str) -> None:
    """What a text or a file says may be an option."""
    assert not _prints(text)
