"""The one layout of rule files."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import for_each

from permitry.errors import PermitryError
from permitry_ops.fmt import layout
from permitry_ops.fmt.layout import format_text

_BEFORE = """

#:schema ./schema.json
# Ours.
schema=1~~
extends = [ 'permitry:base',
      "permitry:money", # both
  # and more
"permitry:access",
    ]


# The first.
[[rule]]
id  =   'a'
when . args."x.y" = {ge=1,le = 1.5}  # bounds
unless = [{ mode='x' } ,
{ agent = "y" }]
[[rule]]   # the second

id = "b"
match = []
message = \'\'\'
  two~~
   lines\'\'\'
# The end.

""".replace("~", " ")
_AFTER = """#:schema ./schema.json
# Ours.
schema = 1
extends = ["permitry:base",
  "permitry:money",  # both
  # and more
  "permitry:access",
]

# The first.
[[rule]]
id = "a"
when.args."x.y" = { ge = 1, le = 1.5 }  # bounds
unless = [{ mode = "x" },
  { agent = "y" }]

[[rule]]  # the second

id = "b"
match = []
message = \'\'\'
  two~~
   lines\'\'\'
# The end.
""".replace("~", " ")


def test_a_file_has_one_layout() -> None:
    """Its blank lines, blanks, indentation and quotes; line breaks and comments are the author's."""
    assert format_text(_BEFORE) == _AFTER
    assert format_text(_AFTER) == _AFTER


@for_each(
    ("before", "after"),
    [
        ("", ""),
        ("\n\n", ""),
        ("# only\n\n", "# only\n"),
        ("a = 1\r\nb = 2\r\n", "a = 1\nb = 2\n"),
        ("a={}", "a = {}\n"),
        ("a = [[1,2],[]]", "a = [[1, 2], []]\n"),
        ("a = { b = [\n1,\n] }", "a = { b = [\n  1,\n] }\n"),
        ("a = [\n[\n1\n]\n]", "a = [\n  [\n    1\n  ]\n]\n"),
        ("a = [\n\n\n1\n]", "a = [\n\n  1\n]\n"),
        ("a  = 1979-05-27 07:32:00", "a = 1979-05-27 07:32:00\n"),
        ("[a]\n[ b . c ]", "[a]\n\n[b.c]\n"),
        ("\"a\" . 'b' = -1.5e3", '"a"."b" = -1.5e3\n'),
    ],
)
def test_each_part_has_its_place(before: str, after: str) -> None:
    """Whatever TOML it is, and a second time nothing changes."""
    assert format_text(before) == after
    assert format_text(after) == after


def test_what_is_not_toml_is_refused() -> None:
    """As it is where rules are loaded."""
    with pytest.raises(tomllib.TOMLDecodeError):
        format_text("a = ")


def test_another_meaning_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should the layout ever be wrong; even where Python takes two values for equal."""
    monkeypatch.setattr(layout, "_text_of", lambda _: "a = 1")
    for text in ("a = 1.0", "a = true", "a = 2"):
        with pytest.raises(PermitryError, match="its layout cannot be changed without its meaning"):
            format_text(text)


def test_the_shipped_sets_have_it() -> None:
    """All but what is at the end of a line."""
    files = sorted((Path(__file__).parents[4] / "rules").glob("*.toml"))
    for file in files:
        lines = file.read_text(encoding="utf-8").splitlines()
        assert format_text(file.read_text(encoding="utf-8")).splitlines() == list(map(str.rstrip, lines)), file
    assert len(files) > 30


_BLANKS = st.sampled_from(["", " ", "   ", "\t"])
_BREAKS = st.sampled_from(["", " ", "\n", "\n\n\n  ", " # [,\n", "\r\n"])
_ENDS = st.sampled_from(["\n", "  \n", "\r\n", "# = [\n", '  # "x\n\n\n', "\n\n# y  \n"])
_SCALARS = st.sampled_from(
    [
        "1", "1.0", "true", "-1.5e3", "inf", "1979-05-27 07:32:00Z", "07:32:00", "'x'", "''", '"y # [z"',
        "'\\d'", "'\"'",
        "'''\n q  \n]'''", "''''''''", '"""\n""q\\"  \n"""', '"""a""""', '"a\\\\"', '"it\'s"',
    ]
)  # fmt: skip
_KEYS = st.sampled_from(["a", "'b c'", '"d"', "'e.f' . g", "h.i", '"j" .k', "1-2"])


def _lists(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    item = st.tuples(_BREAKS, values, _BREAKS).map("".join)
    ends = st.sampled_from(["", ",", ",\n"])
    return st.tuples(st.lists(item, min_size=1, max_size=3).map(",".join), ends).map(
        lambda parts: f"[{''.join(parts)}]"
    )


def _tables(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(_BLANKS, _KEYS, _BLANKS, values, _BLANKS).map(lambda parts: "{{{}{}={}{}{}}}".format(*parts))


_VALUES = st.recursive(_SCALARS, lambda values: _lists(values) | _tables(values) | st.just("[]"), max_leaves=6)
_HEADERS = st.sampled_from(["[t{}]", "[ t{} ]", "[[rule]]", "[[ rule ]]", "[x.'y {}']"])
_LINES = st.lists(st.tuples(st.booleans(), _HEADERS, _BLANKS, _KEYS, _BLANKS, _VALUES, _ENDS), max_size=4)


@given(_LINES)
def test_no_text_changes_its_meaning(lines: list[tuple[bool, str, str, str, str, str, str]]) -> None:
    """Nor loses a comment, nor needs a second run."""
    text = ""
    for number, (is_table, header, blank, key, other, value, end) in enumerate(lines):
        text += f"{header.format(number)}{end}" if is_table else f"{blank}z{number}.{key}{other}={blank}{value}{end}"
    before = tomllib.loads(text)
    after = format_text(text)
    assert repr(tomllib.loads(after)) == repr(before)
    assert format_text(after) == after
    assert after.count("#") == text.count("#")
