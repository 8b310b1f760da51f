"""In which order the commands of a script run, and which of them may write."""

from tests.tables import for_each

from permitry.actions.derive.order import is_in_order, start_together, writers_in
from permitry.actions.derive.unwrap import Classified, Refused, classify
from permitry.actions.reading.strict import read_strictly


def _found(text: str) -> tuple[Classified | Refused, ...]:
    return classify(read_strictly(text))


@for_each(
    ("text", "indices"),
    [
        ("tar xf a | tail", {0}),
        ("tar xf a | tee b", {0, 1}),
        ("tar xf a | tail > b", {0, 1}),
        ("tar xf a | tail > /dev/null", {0}),
        ("ls | wc", set()),
    ],
)
def test_which_commands_of_a_pipeline_write(text: str, indices: set[int]) -> None:
    """What only reads, and throws away what it prints, changes nothing."""
    assert writers_in(_found(text)) == indices


def test_what_is_not_known_may_change_anything() -> None:
    """So no other command writes alone."""
    assert len(writers_in([Refused(read_strictly("x")[0], "not read")])) > 1


@for_each(
    ("text", "is_one", "are_in_order"),
    [("ls | tee a", True, False), ("ls | rm a", False, False), ("ls; rm a", False, True), ("ls", False, True)],
)
def test_what_starts_together(text: str, *, is_one: bool, are_in_order: bool) -> None:
    """A pipeline whose commands open their files at once."""
    found = _found(text)
    assert (start_together(found), all(map(is_in_order, found))) == (is_one, are_in_order)
