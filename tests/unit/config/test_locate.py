"""Every key and value of a text that tomllib accepts is found where it stands."""

import itertools
import re
import tomllib
from collections.abc import Iterator
from typing import Any, TypeAlias

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.tables import for_each

from permitry.config.locate import KeyPath, Places, Span, locate

Statement: TypeAlias = tuple[str, list[str], str]

# Random TOML ------------------------------------------------------------------------------------------------------

_SCALARS = st.one_of(
    st.integers(-9999, 9999).map(str),
    st.sampled_from(["0x1F", "1_000", "6.5e-3", "-inf", "+0.0", "true", "false"]),
    st.sampled_from(["1979-05-27", "1979-05-27 07:32:00", "1979-05-27T00:32:00.5-07:00", "07:32:00"]),
    st.sampled_from(['""', "''", '"a # b"', "'[[x]]'", '"\\" = ]"', "'\\'", '"}, {"', '"\\u00e9é"', '"\\\\"']),
    st.sampled_from(['"""\n[a]\nb = 1 # c"""', '"""a""\\""" = ["""', '"""""a"""""', '"""x\\\n   y ]"""', '""""""']),
    st.sampled_from(["'''\n[a]\n'''", "'''it''s \"\"\" # {'''", "'''''a'''''", "'''\\'''"]),
)
_GAPS = st.sampled_from(["", " ", "\n", "\n  ", ' # ], } and "\n', "\n\n# 'x'\n\t"])
_PARTS = st.sampled_from(
    ["a", "b", "c", "d-1", "7", '"a"', "'b'", '"a.b"', "'[x]'", '"# \\" ="', '""', '"\\u0063"', "'\"'"]
)
_KEYS = st.lists(_PARTS, min_size=1, max_size=3)
_DOTS = st.sampled_from([".", " . ", ".\t"])


def _arrays(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    elements = st.lists(st.tuples(_GAPS, values, _GAPS).map("".join), max_size=3)
    return st.builds(lambda parts, comma, gap: f"[{','.join(parts)}{comma if parts else gap}]", elements,
                     st.sampled_from(["", ",", ",\n"]), _GAPS)  # fmt: skip


def _inline_tables(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.builds(lambda key, dot, value: f" {dot.join(key)} = {value} ", _KEYS, _DOTS, values)
    return st.lists(pairs, max_size=3).map(lambda parts: f"{{{','.join(parts)}}}")


_VALUES = st.recursive(_SCALARS, lambda values: st.one_of(_arrays(values), _inline_tables(values)), max_leaves=6)
_STATEMENTS: st.SearchStrategy[Statement] = st.one_of(
    st.tuples(st.sampled_from(["{} = {}", "{}={} # x = [", "\t{}  =\t{}"]), _KEYS, _VALUES),
    st.tuples(st.sampled_from(["[{}]", "[[{}]]", "[[ {} ]] # [y]", "  [ {}\t]"]), _KEYS, st.just("")),
    st.tuples(st.sampled_from(["", "# a = '", "  "]), st.just([]), st.just("")),
)


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


@st.composite
def _documents(draw: st.DrawFn) -> str:
    """Draw statements, and keep those that go together with what is before them."""
    text = ""
    for form, key, value in draw(st.lists(_STATEMENTS, min_size=3, max_size=12)):
        more = f"{text}{form.format(draw(_DOTS).join(key), value)}\n"
        if _is_toml(more):
            text = more
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


# What must be found -----------------------------------------------------------------------------------------------


def _paths(value: object, path: KeyPath = ()) -> Iterator[tuple[KeyPath, object]]:
    """Yield every path of a document with its value, the document's own first."""
    yield path, value
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for part, child in children:
        yield from _paths(child, (*path, part))


def _name(key: str) -> str:
    return next(iter(tomllib.loads(f"{key} = 0")))


def _names(header: str) -> list[str]:
    """Return the parts of a `[table]` or `[[array]]` header."""
    node: Any = tomllib.loads(header)
    names = []
    while node:
        name, node = next(iter(node.items()))
        node = node[0] if isinstance(node, list) else node
        names.append(name)
    return names


def _text(places: Places, span: Span) -> str:
    return places.text[span.start : span.end]


def _check_key(places: Places, path: KeyPath, value: object) -> None:
    """Check that the key's span holds that key, right before its value if it has one, or a header that names it."""
    span = places.keys[path]
    text = _text(places, span)
    names = [part for part in path if isinstance(part, str)]
    assert _names(text)[: len(names)] == names if text.startswith("[") else _name(text) == path[-1]
    if path in places.values:
        between = places.text[span.end : places.values[path].start]
        assert re.fullmatch(r"[ \t]*=[ \t]*", between)
    else:
        assert isinstance(value, dict | list)


def _check_value(places: Places, path: KeyPath, value: object) -> None:
    """Check that the value's span holds that value; only what headers and dotted keys make has none."""
    if path in places.values:
        assert repr(tomllib.loads(f"x = {_text(places, places.values[path])}")["x"]) == repr(value)
    else:
        assert isinstance(value, dict | list)
        assert not isinstance(value, list) or path in places.keys


def _check_order(places: Places, path: KeyPath, length: int) -> None:
    """Check that the elements of a list stand in the text one after another."""
    spans = [places.find((*path, index)) for index in range(length)]
    assert all(one.end <= other.start for one, other in itertools.pairwise(spans))


# A first look, by example -----------------------------------------------------------------------------------------

TEXT = """\
a.b = 1 # c = 2
"c d" = ["x", { e = '''
]''' }]

[[rule]]
id = "one"
[[rule]]
id = "two"
[rule.when]
mode = 1979-05-27 07:32:00
"""


@for_each(
    ("path", "text"),
    [
        (("a", "b"), "1"),
        (("c d",), "[\"x\", { e = '''\n]''' }]"),
        (("c d", 0), '"x"'),
        (("c d", 1, "e"), "'''\n]'''"),
        (("rule", 1, "id"), '"two"'),
        (("rule", 1, "when", "mode"), "1979-05-27 07:32:00"),
    ],
)
def test_a_value_is_found(path: KeyPath, text: str) -> None:
    """The span holds the value as it is written, no blank or comment with it."""
    places = locate(TEXT)
    assert _text(places, places.find(path)) == text


@for_each(
    ("path", "line", "text"),
    [
        (("a",), 1, "a"),
        (("a", "b"), 1, "b"),
        (("c d",), 2, '"c d"'),
        (("c d", 1, "e"), 2, "e"),
        (("rule",), 5, "[[rule]]"),
        (("rule", 0), 5, "[[rule]]"),
        (("rule", 1), 7, "[[rule]]"),
        (("rule", 1, "when"), 9, "[rule.when]"),
    ],
)
def test_a_key_is_found(path: KeyPath, line: int, text: str) -> None:
    """A key as it is written, quotes included; a table by its header."""
    places = locate(TEXT)
    span = places.find(path, key=True)
    assert (places.line(span.start), _text(places, span)) == (line, text)


def test_what_is_not_there_is_looked_for_further_out() -> None:
    """The nearest thing around a path that has a place stands for it, in the end the beginning of the file."""
    places = locate(TEXT)
    assert places.find(("rule", 1, "when", "agent")) == places.find(("rule", 1, "when"))
    assert places.find(("rule", 7)) == places.find(("rule",))
    assert places.find(("nothing",)) == Span(0, 0)


def test_a_table_that_is_opened_late_is_found_by_its_own_header() -> None:
    """`[a]` after `[a.b]` is where `a` stands."""
    places = locate("[a.b]\n[a]\n")
    assert places.line(places.find(("a",), key=True).start) == 2


@for_each("text", ["[a.b.c]\n", "[[a.b.c]]\n[a.b.d]\n", "[a.b.c]\n[[a.b.d]]\n[x]\n"])
def test_a_table_that_only_a_longer_header_names_is_found_there(text: str) -> None:
    """`[a.b.c]` is where `a` and `a.b` stand, and the first such header is the one."""
    places = locate(text)
    first = Span(0, text.index("\n"))
    assert [places.find(path, key=True) for path in (("a",), ("a", "b"))] == [first, first]


def test_a_table_in_an_element_is_found_in_that_element() -> None:
    """What a longer header names belongs to the last element before it."""
    places = locate("[[a]]\n[[a]]\n[a.b.c]\n")
    assert [places.line(places.find(path, key=True).start) for path in (("a", 0), ("a", 1), ("a", 1, "b"))] == [1, 2, 3]
    assert ("a", 0, "b") not in places.keys


def test_a_table_of_dotted_keys_is_found_where_it_is_named_first() -> None:
    """The first of several mentions counts."""
    places = locate("a.b = 1\na.c = 2\n")
    assert places.find(("a",), key=True) == Span(0, 1)


def test_lines_and_columns_count_from_one() -> None:
    """An offset has a line and a column, also at the end of the text."""
    places = locate("a = 1\nb = 2\n")
    assert [(places.line(at), places.column(at)) for at in (0, 5, 6, 10, 12)] == [
        (1, 1),
        (1, 6),
        (2, 1),
        (2, 5),
        (3, 1),
    ]


def test_the_text_of_a_line_comes_without_its_end() -> None:
    """Line ends of both kinds are left out; past the last line there is nothing."""
    places = locate("a = 1\r\nb = 2\n")
    assert [places.line_text(line) for line in (1, 2, 3, 4)] == ["a = 1", "b = 2", "", ""]


def test_a_text_without_statements_has_no_places() -> None:
    """Blanks and comments are stepped over."""
    assert (locate("\n# x\n  \n").keys, locate("").values) == ({}, {})


# As laws ----------------------------------------------------------------------------------------------------------

laws = settings(max_examples=100, deadline=None, derandomize=True, database=None)


@laws
@given(_documents())
def test_every_key_of_a_document_is_found(text: str) -> None:
    """At the span of each path stands the last part of that path, or the header that opens it."""
    places = locate(text)
    for path, value in _paths(tomllib.loads(text)):
        if path and isinstance(path[-1], str):
            _check_key(places, path, value)


@laws
@given(_documents())
def test_every_value_of_a_document_is_found(text: str) -> None:
    """At the span of each path stands its value, and read alone it is the same value."""
    places = locate(text)
    for path, value in _paths(tomllib.loads(text)):
        if path and (isinstance(path[-1], str) or path not in places.keys):
            _check_value(places, path, value)


@laws
@given(_documents())
def test_the_elements_of_a_list_are_found_in_their_order(text: str) -> None:
    """One after another, whether they are values or tables with headers."""
    places = locate(text)
    for path, value in _paths(tomllib.loads(text)):
        if isinstance(value, list):
            _check_order(places, path, len(value))


@laws
@given(_documents())
def test_nothing_is_found_that_is_not_there(text: str) -> None:
    """Every span belongs to a path of the document."""
    paths = {path for path, _ in _paths(tomllib.loads(text))}
    places = locate(text)
    assert set(places.keys) | set(places.values) <= paths


@laws
@given(_documents(), st.data())
def test_a_text_with_a_piece_changed_is_read_to_its_end_if_it_is_toml(text: str, data: st.DataObject) -> None:
    """Whatever tomllib accepts is scanned without an error, and its values are found."""
    at = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(at, min(len(text), at + 4)))
    piece = data.draw(st.text("ab19\"'\\[]{}=,.#\n\r\t -", max_size=4))
    changed = f"{text[:at]}{piece}{text[end:]}"
    assume(_is_toml(changed))
    places = locate(changed)
    for path, value in _paths(tomllib.loads(changed)):
        if path in places.values:
            _check_value(places, path, value)
        else:
            assert isinstance(value, dict | list)


@for_each("text", ["", "#", "\n", "a = 1#", "a=1\r\n", "a = [ # ]\n]", '"" = ""', "a.''.b = {}", "[ a . b ]#"])
def test_a_text_without_a_last_line_end_is_read_to_its_end(text: str) -> None:
    """The scanner stops where the text stops, whatever is last, and finds nothing past it."""
    places = locate(text)
    assert all(span.start < span.end <= len(text) for span in (*places.keys.values(), *places.values.values()))
    assert len(places.values) == text.count("=")
