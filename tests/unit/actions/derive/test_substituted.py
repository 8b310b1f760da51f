"""What the words of a command become that are substitutions."""

from posixpath import join

from tests.tables import for_each

from permitry.actions.derive.substituted import with_found
from permitry.actions.reading.strict import read_strictly
from permitry.core.words import Found


def _found(text: str) -> Found | None:
    """Return what is known of the last word of the last command."""
    *_, command = read_strictly(text)
    return with_found(command.words)[-1].found


@for_each(
    ("text", "top", "is_split"),
    [
        ("cat $(find src)", "src", True),
        ("cat `find src`", "src", True),
        ('cat "$(find src)"', "src", False),
        ('for f in $(find src); do cat "$f"; done', "src", True),
        ("x=$(find src); cat ${x}", "src", True),
        ("cat $(find src | sort)", "src", True),
        ("git log $(git merge-base HEAD main)..HEAD", "*..HEAD", False),
        ("make -j$(nproc)", "-j[0-9]*", False),
        ("cat a/$(id -u)/$(date +%F)", "a/*/*", False),
        ("find src | while read -r f; do cat $f; done", "src", True),
        ("find src -print0 | while IFS= read -r -d '' f; do cat \"$f\"; done", "src", False),
        ("find src -print0 | while IFS= read -rd '' f; do cat $f; done", "src", True),
        (r"find src \( -name a -o -name b \) | sort | while read f; do cat $f; done", "src", True),
        (r"for f in $(find src \( -name a -o -name b \)); do cat $f; done", "src", True),
        ('rg -l a src | while IFS= read -r f; do echo "$f" | wc -c; cat "$f"; done', "src", True),
        ("for f in a; do find src | while read f; do cat $f; done; done", "src", True),
        ("x=$(mktemp -d); ls $x", join("/", "tmp", "tmp.0"), False),
    ],
)
def test_a_word_is_what_a_command_prints(text: str, top: str, *, is_split: bool) -> None:
    """Names below a folder, or one name in which a number is."""
    found = _found(text)
    assert found is not None
    assert ([each.text for each in found.tops], found.is_split) == ([top], is_split)


@for_each("text")
def test_a_word_may_be_anything(text: str) -> None:
    """Where another command is in it, or the variable may have another value."""
    assert _found(text) is None
