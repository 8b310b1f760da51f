"""Where a path may lead."""

import attrs

from permitry.core.place import Descent, Listing, Place


def test_a_place_has_each_of_its_names_once() -> None:
    """As written, on the way and in the end."""
    place = Place("x", ("/w/x", "/v/x"), ("/r/x", "/w/x"), passed=("/p/x", "/r/x"))
    assert place.names == ("/w/x", "/v/x", "/p/x", "/r/x")
    assert Place("x").names == ()


def test_a_place_is_looked_up_without_case() -> None:
    """All names in one text, a line each."""
    assert Place("x", ("/W/Caf\u00c9",), ("/w/cafe\u0301",)).folded == "/w/caf\u00e9\n/w/caf\u00e9"


def test_what_is_below_a_folder_that_is_not_there_is_not_touched() -> None:
    """Unless it is not known what is there, or names are made there that are not known."""
    seen = {"/w/a": Listing(("/w/a",), (-1,)), "/w/closed": Listing(is_whole=False)}
    tree = Place("x", tuple(seen), ("/w/gone",), is_tree=True, look=lambda name, _: seen.get(name, Listing()))
    assert tree.tops == ("/w/a", "/w/closed")
    assert attrs.evolve(tree, descent=Descent.NEW).tops == attrs.evolve(tree, look=None).tops == tree.names
    assert attrs.evolve(tree, descent=Descent.NAMES).tops == attrs.evolve(tree, is_tree=False).tops == ()


def test_below_a_glob_is_below_the_folder_before_its_first_wildcard() -> None:
    """Which names it becomes is not looked up."""
    glob = Place("b*/c", ("/w/b*/c", "/w/b*/d"), is_tree=True, is_glob=True)
    assert glob.tops == ("/w",)


# What a call does -------------------------------------------------------------------------------------------------
