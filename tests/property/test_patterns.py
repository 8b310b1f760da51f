"""Globs: matching by splitting finds what an obvious recursive matcher finds."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from permitry.core.pattern import Pattern

_patterns = st.text("ab?*", max_size=7)
_names = st.text("ab", max_size=8)


def _oracle(pattern: str, name: str) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        return _oracle(pattern[1:], name) or (name != "" and _oracle(pattern, name[1:]))
    return name != "" and pattern[0] in ("?", name[0]) and _oracle(pattern[1:], name[1:])


# Matching is quick, and its corners are rare.
@settings(max_examples=5 * settings().max_examples)
@given(_patterns, _names)
@example("a*a", "a")
@example("*?", "")
@example("a*?b*b", "aabb")
@example("?*", "*?")
def test_a_pattern_matches_what_the_oracle_matches(pattern: str, name: str) -> None:
    """Pattern and oracle agree."""
    assert Pattern(pattern).matches(name) is _oracle(pattern, name)


@given(st.lists(st.tuples(st.text("ab", max_size=3), st.sampled_from(("?", "*"))), max_size=4), st.data())
def test_a_pattern_matches_what_it_was_made_from(pieces: list[tuple[str, str]], data: st.DataObject) -> None:
    """Whatever is in for the wildcards, the pattern fits."""
    pattern = "".join(text + wildcard for text, wildcard in pieces)
    fillers = {"?": st.text("ab", min_size=1, max_size=1), "*": st.text("ab", max_size=3)}
    name = "".join(text + data.draw(fillers[wildcard]) for text, wildcard in pieces)
    assert Pattern(pattern).matches(name)


@given(st.text("ab", max_size=6), st.text("ab", max_size=6))
def test_a_plain_name_matches_itself_alone(text: str, name: str) -> None:
    """A pattern without wildcards is compared, letter by letter."""
    assert Pattern(text).is_exact
    assert Pattern(text).matches(name) is (text == name)
