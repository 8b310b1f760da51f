"""Patterns of paths: sure for a permission, generous for a restriction."""

import attrs
import pytest
from tests.tables import for_each

from permitry.conditions.match import Match
from permitry.conditions.path import PathPattern
from permitry.core.action import Descent, Listing, Place, Roots
from permitry.core.facts import Kind
from permitry.errors import RuleError

ROOTS = Roots(("/w",), ("/home/me",))


def at(*names: str, text: str = "/", is_certain: bool = True, is_tree: bool = False, is_glob: bool = False) -> Place:
    """Return a place without links."""
    return Place(text, names, names, is_certain, is_tree, is_glob=is_glob)


@for_each(("pattern", "name"))
def test_a_permission_covers_what_fits(pattern: str, name: str) -> None:
    """A name that fits is covered, and a restriction fires on it as well."""
    assert PathPattern(pattern).match_place(at(name), ROOTS) is Match.YES
    assert PathPattern(pattern).match_place(at(name), ROOTS) is not Match.NO


@for_each(("pattern", "name"))
def test_a_permission_covers_nothing_else(pattern: str, name: str) -> None:
    """Every letter and every slash counts, and nothing floats."""
    assert PathPattern(pattern).match_place(at(name), ROOTS) is not Match.YES


@for_each(
    ("pattern", "why"),
    [
        ("", "write `**`"),
        ("a\\b", "backslash"),
        ("a\nb", "control character"),
        ("a\x00", "control character"),
        ("a\ud800", "control character"),
        ("../x", "name the folder itself"),
        ("a/..", "name the folder itself"),
        ("~you/x", "home of a user"),
        ("[ab", "never closed"),
        ("a/[]", "never closed"),
        ("[!]", "never closed"),
        ("src[/]x", "never closed"),
        ("[[:alpha:]]", "holds a class"),
        ("[a[:digit:]]", "holds a class"),
        ("[z-a]", "write `a-z`"),
        ("*.{py,md}", "list the patterns"),
        ("{src,tests}/**", "list the patterns"),
        ("x{1..3}", "list the patterns"),
        ("a" * 4097, "more than 4096"),
    ],
)
def test_a_pattern_that_cannot_be_meant_is_refused(pattern: str, why: str) -> None:
    """The message says what is wrong and the way out."""
    with pytest.raises(RuleError, match=why.replace("*", r"\*")) as caught:
        PathPattern(pattern)
    assert len(str(caught.value).splitlines()) == 1


def test_patterns_of_one_text_are_equal() -> None:
    """A pattern is a value."""
    assert PathPattern("a/*") == PathPattern("a/*")
    assert repr(PathPattern("a/*")) == "PathPattern(text='a/*')"


@for_each(
    "place",
    [
        at("/w/src/x", is_certain=False),
        at(),
        Place("x", ("/w/src/x",), ()),
        at("/w/src/x", "/w/docs/x"),
        Place("src/x", ("/w/src/x",), ("/out/x",)),
        Place("src/x", ("/w/src/x",), ("/w/docs/x",)),
        Place("../link/src/x", ("/link/src/x",), ("/w/src/x",)),
        Place("x", ("/w/src/x", "/out/src/x"), ("/w/src/x",)),
    ],
)
def test_a_doubt_or_a_name_elsewhere_is_not_covered(place: Place) -> None:
    """A permission needs certainty, every real name inside, and an argument that never leaves the workspace."""
    assert PathPattern("src/**").match_place(place, ROOTS) is not Match.YES


@for_each(
    "place",
    [
        at("/w/src/x", "/w/src/y"),
        Place("docs/link", ("/w/docs/link",), ("/w/src/x",)),
        Place("/link/src/x", ("/link/src/x",), ("/w/src/x",)),
        Place("../w/src/x", ("/w/src/x",), ("/w/src/x",)),
    ],
)
def test_what_is_really_inside_is_covered(place: Place) -> None:
    """An absolute argument is judged by its real name, and a link inside the workspace by where it leads."""
    assert PathPattern("src/**").match_place(place, ROOTS) is Match.YES


def test_a_workspace_given_as_a_link_has_two_names() -> None:
    """The argument may use either."""
    place = Place("src/x", ("/link/src/x",), ("/w/src/x",))
    assert PathPattern("src/**").match_place(place, Roots(("/link", "/w"))) is Match.YES


def test_the_top_may_be_the_workspace() -> None:
    """Then every path is below it."""
    assert PathPattern("**").match_place(at("/x", text="x"), Roots(("/",))) is Match.YES


@for_each("pattern", ["**", "./x", "~/**", "~/x"])
def test_without_its_root_a_permission_never_holds(pattern: str) -> None:
    """What a pattern is relative to must be known."""
    assert PathPattern(pattern).match_place(at("/x"), Roots()) is not Match.YES


@for_each(("pattern", "name", "covers"))
def test_a_tree_needs_a_pattern_that_goes_on(pattern: str, name: str, *, covers: bool) -> None:
    """All that lies below is touched, so all of it must fit."""
    assert (PathPattern(pattern).match_place(at(name, is_tree=True), ROOTS) is Match.YES) is covers


@for_each(
    ("pattern", "place"),
    [
        (".env", at("/w/.ENV")),
        ("~/.ssh/**", at("/Home/Me/.SSH/id")),
        ("straße", at("/w/STRASSE")),
        ("café", at("/w/cafe\N{COMBINING ACUTE ACCENT}")),
        ("cafe\N{COMBINING ACUTE ACCENT}", at("/w/CAFÉ")),
        (".git/**", at("/w/.g\N{ZERO WIDTH NON-JOINER}it/x")),
        ("[A-Z]x", at("/w/ax")),
        ("[a-z]x", at("/w/AX")),
        ("[!A-Z]x", at("/w/AX")),
        ("K?y", at("/w/kEY")),
        ("~/.ssh/**", at("/home/me/.ssh")),
        ("secret", Place("link", ("/w/link",), ("/w/secret",))),
        ("secret", Place("secret", ("/w/secret",), ("/out/x",))),
        ("secret", at("/out/x", "/w/secret", is_certain=False)),
    ],
)
def test_a_restriction_fires_on_any_name(pattern: str, place: Place) -> None:
    """Either name will do, in any case and composition, and `x/**` is `x` too."""
    assert PathPattern(pattern).match_place(place, ROOTS) is not Match.NO


@for_each(
    ("pattern", "place"),
    [
        ("secret", at("/w/secrets")),
        ("secret", at("/out/secret")),
        ("secret/**", at("/w/secrets/x")),
        ("~/.ssh/**", at("/w/.ssh/x")),
        ("**", at()),
        ("/**", Place("", is_certain=False)),
        (".env", at("/w")),
        ("sec*", at("/w/a[s]ec", text="a[s]ec")),
        (".git[. ]*", at("/w/*", text="*", is_certain=False)),
        ("a/.git[.]/x", at("/w/*/?git/x", text="*/?git/x", is_certain=False)),
    ],
)
def test_a_restriction_is_silent_elsewhere(pattern: str, place: Place) -> None:
    """A path that surely does not fit is none of its business."""
    assert PathPattern(pattern).match_place(place, ROOTS) is Match.NO


@for_each(("pattern", "glob", "fires"))
def test_a_glob_fires_when_it_may_become_a_name_that_fits(pattern: str, glob: str, *, fires: bool) -> None:
    """Which files there are no one knows, so what both could be counts."""
    pattern = pattern.replace("/a[b", "/a[[]b")
    place = at(glob, text=glob, is_certain=False, is_glob=True)
    assert (PathPattern(pattern).match_place(place, ROOTS) is not Match.NO) is fires


@for_each(
    ("pattern", "place", "is_sure"),
    [
        ("~/.ssh/**", at("/home/me/.ssh/id"), True),
        ("~/.ssh/**", at("/HOME/me/.SSH"), True),
        ("secret", at("/out/x", "/w/secret", is_certain=False), True),
        (".env", at("/any/where/.env", is_certain=False), False),
        ("~/.ssh/**", at("/home/me/.ssh/*", text="~/.ssh/*", is_certain=False, is_glob=True), True),
        ("src/*", at("/w/src/*.py", text="src/*.py", is_certain=False, is_glob=True), True),
        ("src/a*", at("/w/src/a*", text="src/a*", is_certain=False, is_glob=True), True),
        ("src/*.py", at("/w/src/a?.py", text="src/a?.py", is_certain=False, is_glob=True), True),
        ("src/a?c", at("/w/src/a*c", text="src/a*c", is_certain=False, is_glob=True), False),
        ("src/*.py", at("/w/src/*", text="src/*", is_certain=False, is_glob=True), False),
        ("src/*.py*", at("/w/src/a[.py]c", text="src/a[.py]c", is_certain=False, is_glob=True), False),
        ("src/?", at("/w/src/*", text="src/*", is_certain=False, is_glob=True), False),
        ("~/.ssh/**", at("/home/me/.ss?/id", text="/home/me/.ss?/id", is_certain=False, is_glob=True), False),
        ("~/.ssh/**", at("/home/me", is_tree=True), False),
        ("~/.ssh/**", at("/home/me/.ssh", is_tree=True), True),
        ("a[0]", at("/w/a[0]", text="a[0]"), False),
        ("a[[]0]", at("/w/a[0]", text="a[0]"), True),
        ("$x", attrs.evolve(at("/w/$x", is_certain=False), is_open=True), False),
    ],
)
def test_a_restriction_is_sure_of_a_name_that_is_known(pattern: str, place: Place, *, is_sure: bool) -> None:
    """Not of what a wildcard may become, of what lies below a folder, or of an expansion."""
    assert (PathPattern(pattern).match_place(place, ROOTS) >= Match.ALIKE) is is_sure
    assert PathPattern(pattern).match_place(place, ROOTS) is not Match.NO or not is_sure


@for_each(
    "text",
    [
        "[0-9]*", "[a-z]+", "[[:space:]]*$", "[^.]*", "[.]py", "s/[.]x*/y/", "(a|b)[0-9]{48}", "[:lower:]", "[opt]",
        "*", "?ermitry", "[.]permitry", "a[0]", "x = a[0]",
    ],
)  # fmt: skip
@for_each("is_glob", [True, False])
def test_brackets_and_stars_name_no_hidden_folder(text: str, *, is_glob: bool) -> None:
    """Quoted they are letters, and unquoted they stand for no name that begins with a dot."""
    place = at(f"/w/{text}", text=text, is_certain=False, is_glob=is_glob)
    assert PathPattern("/**/.permitry/**").match_place(place, ROOTS) is Match.NO


@for_each(("pattern", "count"), [("**", 0), ("~/.ssh/**", 1), ("/etc/*/x", 2), ("src/main.py", 2)])
def test_a_pattern_counts_what_is_written_out(pattern: str, count: int) -> None:
    """The more of it there is, the narrower it is."""
    assert PathPattern(pattern).literals == count


def test_a_certain_star_is_a_letter() -> None:
    """Only a shell makes other names of it."""
    assert PathPattern("main.py").match_place(at("/w/*.py", text="*.py"), ROOTS) is Match.NO


@for_each(("pattern", "name", "fires"))
def test_walking_a_folder_fires_where_the_pattern_names_something_below(
    pattern: str, name: str, *, fires: bool
) -> None:
    """A tree holds what has a literal name below it; that it may hold an `.env` somewhere is not a reason."""
    assert (PathPattern(pattern).match_place(at(name, is_tree=True), ROOTS) is not Match.NO) is fires
    assert PathPattern(pattern).match_place(at(name), ROOTS) is Match.NO


@for_each(("glob", "fires"), [("/home/*", True), ("/home/**", True), ("/home/x*", False)])
def test_a_glob_may_be_a_tree(glob: str, *, fires: bool) -> None:
    """`grep -r x /home/*` walks every home."""
    place = at(glob, text=glob, is_certain=False, is_glob=True, is_tree=True)
    assert (PathPattern("~/.ssh/id").match_place(place, ROOTS) is not Match.NO) is fires


@for_each(
    ("pattern", "place", "fires"),
    [
        (".env", at("/any/where/.env"), True),
        ("src/*.py", at("/any/src/x.py"), True),
        ("~/.ssh/**", at("/any/.ssh/id"), True),
        ("src/*.py", at("/any/src/x.md"), False),
        ("secret/**", at("/any", is_tree=True), True),
        ("**/.env", at("/any", is_tree=True), False),
        (".env", at(text=".env"), False),
    ],
)
def test_without_its_root_a_restriction_is_about_the_tail(pattern: str, place: Place, *, fires: bool) -> None:
    """The workspace may be anywhere."""
    assert (PathPattern(pattern).match_place(place, Roots()) is not Match.NO) is fires


def test_a_glob_too_long_to_compare_fires() -> None:
    """No disk holds such a name, so nothing is lost."""
    glob = "/w/" + "*a" * 2000
    place = at(glob, text=glob, is_certain=False, is_glob=True)
    assert PathPattern("?b" * 1000).match_place(place, ROOTS) is not Match.NO


@for_each("pattern", ["src/**.py", "**.py", "src/a**", "src/***", "src/**x/y", "~/**.key", "/etc/**.d"])
def test_two_stars_beside_letters_are_refused(pattern: str) -> None:
    """They would be read as one star by some and as folders by others; alone they mean folders."""
    with pytest.raises(RuleError, match=r"`\*\*` next to other letters"):
        PathPattern(pattern)
    assert PathPattern("src/**/*.py").match_place(at("/w/src/a/b.py"), ROOTS) is Match.YES


@for_each(("name", "holds"), [("axcyd", True), ("acd", True), ("axyd", False), ("ad", False)])
def test_a_set_between_stars_is_looked_for(name: str, *, holds: bool) -> None:
    """It may stand anywhere between what the stars leave."""
    assert (PathPattern("a*[bc]*d").match_place(at(f"/w/{name}"), ROOTS) is Match.YES) is holds


@for_each(
    ("pattern", "kind", "values"),
    [
        ("/etc/x*/y", Kind.PATH, {("etc",)}),
        ("src/A/**", Kind.PATH, {("src", "a")}),
        ("**/.ENV", Kind.NAME, {".env"}),
        ("**/.env.*", Kind.NAME, {".env.*"}),
        ("**/X?.[ch]", Kind.NAME, {"X*.*", "x*.*"}),
        ("*.log", Kind.NAME, {"*.log"}),
        ("[*]", None, set()),
        ("*/src/**", None, set()),
        ("**", None, set()),
    ],
)
def test_a_pattern_needs_the_most_telling_of_its_components(
    pattern: str, kind: Kind | None, values: set[object]
) -> None:
    """The first ones, another one, or how many there are; none where a walk may end at any name."""
    facts = PathPattern(pattern).needs
    assert {fact.kind for fact in facts} == ({kind} if kind else set())
    assert {fact.value for fact in facts} == values


@for_each(("is_certain", "fires"), [(True, True), (False, False)])
def test_without_a_workspace_a_guess_is_not_taken_for_it(is_certain: bool, fires: bool) -> None:  # noqa: FBT001 -- parameters
    """A path may be the workspace that is not known; a text that may not even be a path is not."""
    assert (PathPattern(".").match_place(at("/any", is_certain=is_certain), Roots()) is not Match.NO) is fires


@for_each(
    ("made", "pattern", "may", "must"),
    [
        (None, "~/.ssh/**", True, False),
        (None, "/**/.git/**", False, False),
        (("/home/me/.ssh", "/home/me/.ssh/id"), "~/.ssh/**", True, True),
        (("/home/me/.ssh", "/home/me/.ssh/id"), "/**/.git/**", False, False),
        (("/home/me/a", "/home/me/a/.git", "/home/me/a/.git/x"), "/**/.git/**", True, True),
    ],
)
def test_what_is_made_below_a_folder_is_compared_by_its_names(
    made: tuple[str, ...] | None, pattern: str, *, may: bool, must: bool
) -> None:
    """Where they are not known, it may be any path below the folder that the pattern names."""
    listing = None if made is None else Listing(made, (-1,) * len(made))
    place = attrs.evolve(at("/home/me", is_tree=True), descent=Descent.NEW)
    place = attrs.evolve(place, made=lambda: listing) if made is not None else place
    match = PathPattern(pattern).match_place(place, ROOTS)
    assert (match is not Match.NO, match >= Match.ALIKE) == (may, must)


@for_each(
    ("made", "found"),
    [(None, [(True, False), (True, False)]), ((), [(False, False)] * 2), (("/w/a",), [(False, False), (True, True)])],
)
def test_a_folder_around_what_is_made_is_not_touched_itself(
    made: tuple[str, ...] | None, found: list[tuple[bool, bool]]
) -> None:
    """Where that is not known, it may be."""
    listing = None if made is None else Listing(made, (-1,) * len(made))
    place = attrs.evolve(at("/w", is_tree=True), descent=Descent.NEW, made=lambda: listing, is_around=True)
    patterns = PathPattern("."), PathPattern("**")
    matches = [each.match_place(place, ROOTS, enough=Match.ALIKE) for each in patterns]
    assert [(each is not Match.NO, each >= Match.ALIKE) for each in matches] == found


@for_each(("pattern", "top", "start", "fires"))
def test_what_a_walk_meets_is_looked_for_where_the_pattern_begins(
    pattern: str, top: str, start: str, *, fires: bool
) -> None:
    """From the folder that its literal beginning names, and nowhere if that is elsewhere."""
    disk, looked = ("/w", "/w/src", "/w/src/deep", "/w/src/deep/.env"), []

    def look(folder: str, _depth: int | None) -> Listing:
        looked.append(folder)
        below = tuple(name for name in disk if f"{name}/".startswith(f"{folder}/"))
        return Listing(below, (-1,) * len(below))

    place = attrs.evolve(at(top, is_tree=True), look=look)
    assert (PathPattern(pattern).match_place(place, ROOTS) is not Match.NO) is fires
    # Whether the folder itself is there is looked at first.
    assert {*looked, top} == {start, top}


@for_each(("pattern", "end", "meets"))
def test_names_that_are_searched_for_may_be_those_of_a_pattern(pattern: str, end: str, *, meets: bool) -> None:
    """What has no letter leaves none out; `meets` is for all below `src`, on no disk."""
    place = attrs.evolve(at("/w/src", is_tree=True, is_certain=False), descent=Descent.SOME, ends=(end,))
    assert (PathPattern(pattern).match_place(place, ROOTS) > Match.NO) is meets
