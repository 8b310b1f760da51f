"""What `find` finds: in which folders, by which names, and whether there may be links."""

from tests.tables import for_each

from permitry.actions.programs.find_names import names_of_find
from permitry.actions.reading.strict import read_strictly


def _found(text: str) -> str | None:
    """Return the folders and names for which the first command is run, or that are printed; a sign for links."""
    (command,) = read_strictly(text)
    at = command.argv.index("-exec") if "-exec" in command.argv else len(command.argv)
    found = names_of_find(command.words, at)
    if found is None:
        return None
    return " ".join((*(top.text for top in found.tops), ":", *found.ends, *("@" if found.has_links else "")))


@for_each(
    ("text", "expected"),
    [
        ("find", ". : @"),
        ("find src lib", "src lib : @"),
        ("find -H src -name '*.py'", "src : *.py @"),
        ("find src -type f -iname a", "src : a"),
        ("find src -type d -name a -print0", "src : a"),
        ("find src \\( -name a -o -iname b \\) -type f -exec cat {} +", "src : a b"),
        ("find src -exec cat {} + -name a", "src : @"),
        ("find src -name a -o -print", "src : @"),
        ("find src ! -name a", "src : @"),
        ("find src -not -name a", "src : @"),
        ("find src , -name a", "src : @"),
        ("find src \\( -name a -o -size 3 \\)", "src : @"),
        ("find src \\( -name a -name b \\)", "src : @"),
        ("find src -name 'a[b]'", "src : @"),
        ("find src -name 'a?'", "src : @"),
        ("find src -iname 'İd'", "src : @"),
        ("find src -path -name -iname a", "src : a @"),
        ("find src -name", "src : @"),
        ("find src -unknown -name a", "src : @"),
        ("find src -name a -prune -o -print", "src : @"),
        ("find src -name a -print , -print", "src : @"),
        ("find src -name a -print", "src : a @"),
        ("find of=src", None),
        ("find HEAD:src", None),
        ("find -L src", None),
        ("find src -follow", None),
        ("find -D tree src", None),
        ("find -d src", None),
        ("find $x", None),
        ("find *", None),
        ("find -HL src", None),
        ("find src -name *o", None),
        ("find src -name a*", "src : a* @"),
        ("find src -files0-from f", None),
    ],
)
def test_what_is_found(text: str, expected: str | None) -> None:
    """By one `-name` that must hold, or several that are alternatives; any name where something else may hold."""
    assert _found(text) == expected
