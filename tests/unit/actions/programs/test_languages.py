"""Commands in the languages of other programs."""

import time

from tests.tables import for_each

from permitry.actions.programs.languages import LANGUAGES, commands_of_make, commands_of_socat


@for_each(("text", "commands"))
def test_a_console_hands_lines_to_a_shell(text: str, commands: list[str]) -> None:
    """Whether it is that of SQLite, PostgreSQL or MySQL."""
    assert list(LANGUAGES["console"](text)) == commands


@for_each(("text", "commands"))
def test_a_program_that_transfers_files_hands_lines_to_a_shell(text: str, commands: list[str]) -> None:
    """As `sftp`, `lftp` and `smbclient` do."""
    assert list(LANGUAGES["transfers"](text)) == commands


def test_tcl_is_read_where_it_runs_something() -> None:
    """Brackets and braces begin commands."""
    assert list(LANGUAGES["tcl"]("if {1} {exec rm x}")) == ["if \n1\n \nexec rm x\n"]
    assert list(LANGUAGES["tcl"]("puts {rm x}")) == []


@for_each(("words", "commands"))
def test_make_runs_recipes_and_variables(words: str, commands: list[str]) -> None:
    """As far as they are more than a word."""
    assert list(commands_of_make(tuple(word.replace("␣", " ") for word in words.split()))) == commands


@for_each(
    ("word", "commands"),
    [
        ("EXEC:rm x,pty", ["rm x,pty", "rm x"]), ("system:rm x", ["rm x", "rm x"]), ("TCP:a:1!!SHELL:rm", ["rm", "rm"]),
        ("TCP:exec:1", []), ("-", []),
    ],
)  # fmt: skip
def test_socat_runs_some_addresses(word: str, commands: list[str]) -> None:
    """In any case of letters; what follows a comma may be an option."""
    assert list(commands_of_socat(word)) == commands


@for_each("text", ["\n" * 60_000, ".a" * 30_000, "\\`" * 30_000, "program '" * 8_000, "\\!" * 30_000, " " * 60_000])
def test_long_texts_take_no_time(text: str) -> None:
    """The processor is measured, as the machine may be busy."""
    begin = time.process_time()
    for reader in LANGUAGES.values():
        list(reader(text))
    assert time.process_time() - begin < 4
