"""Redirections as the strict reader reads them: plain ones to files, and a refusal for any other."""

import pytest
from tests.tables import for_each

from permitry.actions.command import Redirection
from permitry.actions.reading.redirections import RedirectionReader
from permitry.actions.reading.words import UnreadableError


@for_each(
    ("text", "redirection"),
    [
        ("<f", Redirection("<", "f")),
        ("2> f", Redirection(">", "f")),
        (">|f", Redirection(">", "f")),
        ("&>>f", Redirection(">>", "f")),
        (">~/f", Redirection(">", "~/f", is_home=True)),
        ("2>&1", Redirection(">", None)),
        ("<<<'a b'", Redirection("<", None)),
        (">$A", Redirection(">", "$A", is_open=True)),
        ("<<<$A", Redirection("<", None, is_open=True)),
    ],
)
def test_a_redirection_has_a_file_or_none(text: str, redirection: Redirection) -> None:
    """It is stepped over."""
    reader = RedirectionReader(text)
    assert reader.at_redirection()
    assert reader.redirection() == redirection
    assert reader.at == len(text)


@for_each("text", [">", "> #", ">*", "12>f", "<>f", "<&3", ">&3", ">&1x", "<(id)", ">(id)", "<<", "<<''", "<<$A"])
def test_any_other_redirection_is_refused(text: str) -> None:
    """Of another descriptor, to a pattern, or without a target."""
    with pytest.raises(UnreadableError):
        RedirectionReader(text).redirection()


@for_each(
    ("text", "rest"),
    [("<<E\na b\nE\nx", "x"), ("<<-E\n\ta\n\tE\nx", "x"), ("<<'E'\n$(id)\nE\n", ""), ("<<E\n E\nE", "")],
)
def test_a_here_document_is_stepped_over(text: str, rest: str) -> None:
    """To the line that is its end; tabs before it count unless it is indented."""
    reader = RedirectionReader(text)
    assert reader.redirection() == Redirection("<", None)
    reader.newline()
    assert reader.text[reader.at :] == rest


@for_each("text", ["<<E\n${!a}\nE\n", "<<E\n`id\nE\n", "<<E\na\\\nE\n", "<<E\na\n", "<<E\n\tE\n", "<<E\n"])
def test_a_here_document_that_expands_or_does_not_end_is_refused(text: str) -> None:
    """It could hold, or be, something else."""
    reader = RedirectionReader(text)
    reader.redirection()
    with pytest.raises(UnreadableError):
        reader.newline()


def test_a_word_is_not_a_redirection() -> None:
    """Nor is a number alone."""
    assert not RedirectionReader("2 >f").at_redirection()
    assert not RedirectionReader("f>g").at_redirection()
