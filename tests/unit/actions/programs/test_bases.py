"""The folders from which relative names lead, where an option names one."""

from tests.tables import for_each

from permitry.actions.programs.bases import with_bases
from permitry.actions.programs.named import Named, Operands
from permitry.core.action import Access, Word

UP = Named(Access.READ, Word("../a"))


@for_each(
    ("text", "names"),
    [
        ("tar -C d -cf x ../a", {"d/../a"}), ("tar -Cd -cf x ../a", {"d/../a"}), ("tar cf x --dir=d ../a", {"d/../a"}),
        ("tar cf x -C d -C e ../a", {"d/../a", "e/../a", "d/e/../a"}), ("tar cfC x d ../a", {"x/../a", "d/../a"}),
        ("git -C d add ../a", {"d/../a"}), ("git -C d -C /e add ../a", {"d/../a", "/e/../a"}),
        ("sudo -D d cat ../a", {"d/../a"}), ("curl --output-dir d -o ../a h", {"d/../a"}),
        ("terraform -chdir=d plan", {"d/../a"}), ("make test", set()),
        ("cat -C d ../a", set()), ("tar xf C.tar", set()),
    ],
)  # fmt: skip
def test_a_relative_name_leads_from_the_folder_that_is_named(text: str, names: set[str]) -> None:
    """As a guess, as the program may take the name from the current folder as well."""
    found = with_bases([Word(each) for each in text.split()], Operands((UP,)))
    assert found.paths == (UP,)
    assert names <= {each.word.text for each in found.guessed}
    assert bool(names) is bool(found.guessed)


def test_an_absolute_name_stays_as_it_is() -> None:
    """And so does an unknown one."""
    absolute, unknown = Named(Access.READ, Word("/a")), Named(Access.READ, Word("", is_open=True))
    found = with_bases([Word("make"), Word("-C"), Word("d")], Operands((absolute, unknown)))
    assert [each.word for each in found.guessed] == [Word("/a")]
