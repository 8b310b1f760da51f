"""The sub-commands that certainly only look: what they are, and each spelling in which they may do more."""

from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.actions.command import Command
from permitry.actions.derive.unwrap import Classified, classify
from permitry.actions.programs.catalogue import catalogue, record_of
from permitry.actions.programs.entries import RefusedError
from permitry.actions.programs.views import check_view
from permitry.actions.reading.strict import read_strictly
from permitry.core.action import Word

FOLDER = Path(__file__).parent
LOOKING = (FOLDER / "commands_looking.txt").read_text(encoding="utf-8").splitlines()
OTHERS = (FOLDER / "commands_not_looking.txt").read_text(encoding="utf-8").splitlines()


def _words(text: str) -> tuple[Word, ...]:
    return tuple(map(Word, text.split()))


def _look(text: str) -> bool:
    """Return whether each command of a text only reads or only looks, and one of them looks."""
    found = classify(read_strictly(text))
    are_harmless = all(isinstance(each, Classified) and (each.doubt is None or each.looks) for each in found)
    return are_harmless and any(isinstance(each, Classified) and each.looks for each in found)


@for_each("command", LOOKING)
def test_a_view_only_looks(command: str) -> None:
    """Whatever it connects to, nothing is changed."""
    assert _look(command)


@for_each("command", OTHERS)
def test_another_spelling_does_not(command: str) -> None:
    """An option that is not listed, an address, a secret, code of the workspace, or a word that is not known."""
    assert not _look(command)


def test_there_are_many() -> None:
    """At least two hundred sub-commands of forty programs; and each record can be read."""
    views = {name: record_of(name).views for name in catalogue() if record_of(name).views}
    names = {(program, name) for program, each in views.items() for name in each if name != "*"}
    assert all(each[name] for each in views.values() for name in each)
    assert (len(views) >= 40, len(names) >= 200, len(OTHERS) >= 60) == (True, True, True)


@for_each("program", sorted({command.split()[0] for command in LOOKING} - {"bash", "timeout"}))
def test_no_view_takes_an_option_that_is_not_listed(program: str) -> None:
    """Nor an address in place of an operand."""
    entry = record_of(program)
    for name in entry.views:
        for word in ("--no-such-option", "-Ω", "https://example.com/x"):
            if name not in ("*", "search/code", "search/issues", "search/prs", "search/repos", "search/commits"):
                with pytest.raises(RefusedError):
                    check_view((Word(program), *map(Word, name.split("/")), Word(word)), entry)


@for_each("words", ["kubectl get $x", "kubectl get ~", "kubectl get a*"])
def test_a_word_that_is_not_known_is_refused(words: str) -> None:
    """It may become an option."""
    last = words.rsplit(maxsplit=1)[-1]
    word = Word(last, is_open=last == "$x", is_home=last == "~", is_glob=last == "a*")
    with pytest.raises(RefusedError):
        check_view((*_words(words)[:-1], word), record_of("kubectl"))


def test_git_does_not_look_in_another_folder() -> None:
    """A repository within this one may run programs."""
    assert _look("git ls-remote origin")
    assert not _look("cd sub && git ls-remote origin")


def test_a_variable_may_lead_elsewhere() -> None:
    """As for commands that only read."""
    command = Command(_words("kubectl get pods"), assignments=(("KUBECONFIG", "x"),))
    assert not any(isinstance(each, Classified) and each.looks for each in classify([command]))
