"""Notices on what is dropped from the files of a project that is not trusted."""

from typing import Any

from permitry.config._dropped import notices_on
from permitry.config.diagnostics import SourceText
from permitry.config.drafts import Draft
from permitry.config.origin import Origin

_TEXT = "schema = 1\n" + "".join(f"[template.t{number}]\n" for number in range(4))
_WHY = "the project is not trusted; see `permitry trust`"


def _dropped(file: str, number: int) -> list[Draft[Any]]:
    source, origin = SourceText(file, _TEXT), Origin(file, is_trusted=False)
    names = [f"t{each}" for each in range(number)]
    return [Draft(source, ("template", name), None, origin) for name in names]


def test_a_few_are_named_each_with_its_place_and_the_way_out() -> None:
    """The user finds each of them."""
    assert list(notices_on(_dropped("a.toml", 3))) == [
        f"a.toml:{number + 2}: template `t{number}` dropped: {_WHY}" for number in range(3)
    ]


def test_many_of_a_file_have_one_notice() -> None:
    """Imported rules would otherwise fill the screen; those of another file are named all the same."""
    assert list(notices_on([*_dropped("a.toml", 1), *_dropped("b.toml", 4)])) == [
        f"a.toml:2: template `t0` dropped: {_WHY}",
        f"b.toml: 4 templates dropped: {_WHY}",
    ]
