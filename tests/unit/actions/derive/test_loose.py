"""What a text may do as far as the lenient reader sees it."""

from tests.tables import for_each

from permitry.actions.derive.loose import loosely
from permitry.actions.folders import Folder
from permitry.core.action import Access, Run, Touch, Unknown, phrase

WORK, HOME = "/nowhere/me/work", "/nowhere/me"
HERE = Folder((WORK,), HOME)


@for_each(("text", "access"), [("echo ${!x} >a", Access.WRITE), ("sort ${!x} <a", Access.READ)])
def test_a_redirection_beside_what_is_refused_is_possible(text: str, access: Access) -> None:
    """But for the void; where its file is, is not certain."""
    touches = [action for action in loosely(f"{text} 2>/dev/null", HERE)[0] if isinstance(action, Touch)]
    assert [(touch.access, touch.place.text, touch.place.is_certain) for touch in touches] == [(access, "a", False)]


@for_each("step", ["cd ~", "pushd ~"])
def test_a_step_anywhere_in_the_text_may_come_first(step: str) -> None:
    """Of a text that is read leniently only the order is known, and a loop may run backwards."""
    for text in (f"{step}; cat ${{!x}} .ssh/id", f"while cat .ssh/id; do {step}; done"):
        runs = [action for action in loosely(text, HERE)[0] if isinstance(action, Run) and action.argv[0] == "cat"]
        names = {name for run in runs for touch in run.operands.touches for name in touch.place.names}
        assert {f"{WORK}/.ssh/id", f"{HOME}/.ssh/id"} <= names


def test_a_text_with_too_much_in_it_is_unknown() -> None:
    """Looking has an end."""
    assert any(isinstance(action, Unknown) for action in loosely("(" * 70_000, HERE)[0])


def test_a_text_is_read_loosely_as_a_command() -> None:
    """Nothing of it is certain."""
    possible, guessed = loosely("ls && rm x >y", HERE)
    assert ([phrase(action) for action in possible], guessed) == (["ls", "rm x", "write y"], ())
    assert all(action.doubt is not None for action in possible if isinstance(action, Run))
