"""What operands touch, with the disk as it is: where copies land, and where links lead."""

from pathlib import Path

import attrs
import pytest
from tests.tables import for_each

from permitry.actions.folders import Folder
from permitry.actions.programs.named import Copy, Named, Operands
from permitry.actions.touched import touched
from permitry.core.action import Access, Touch, Word
from permitry.core.words import Found

READ, WRITE = Access.READ, Access.WRITE


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Return the folder of a command, with a folder `to` in it and nothing else."""
    (tmp_path / "to").mkdir()
    return Folder((str(tmp_path),), None)


@pytest.fixture
def with_link(folder: Folder) -> Folder:
    """Return the folder, with a link in `src/in`."""
    inner = Path(folder.bases[0], "src", "in")
    inner.mkdir(parents=True)
    (inner / "l").symlink_to("a")
    return folder


def _touches(folder: Folder, *operands: Named | Copy) -> list[Touch]:
    paths = tuple(each for each in operands if isinstance(each, Named))
    copies = tuple(each for each in operands if isinstance(each, Copy))
    return list(touched(Operands(paths, copies=copies), folder))


def _seen(folder: Folder, *operands: Named | Copy) -> set[tuple[str, Access]]:
    """Return what is touched, by names below the folder."""
    return {
        (name.removeprefix(f"{folder.bases[0]}/"), touch.access)
        for touch in _touches(folder, *operands)
        for name in touch.place.names
    }


def test_nothing_named_touches_nothing(folder: Folder) -> None:
    """Neither a path nor a copy."""
    assert _touches(folder) == []


def test_a_quoted_tilde_is_a_guess(folder: Folder) -> None:
    """For most programs it stays one; an unquoted one is the home folder."""
    (quoted,) = _touches(folder, Named(READ, Word("~/a")))
    (plain,) = _touches(folder, Named(READ, Word("a")))
    assert (quoted.is_guess, plain.is_guess) == (True, False)


def test_what_may_happen_instead_is_kept(folder: Folder) -> None:
    """A restriction on either access must see it."""
    (touch,) = _touches(folder, Named(READ, Word("a"), instead=frozenset({WRITE})))
    assert touch.instead == {WRITE}


def test_what_is_filled_with_something_unknown_makes_links(folder: Folder, tmp_path: Path) -> None:
    """And where links are below it already, what is written may lead anywhere."""
    below = Named(WRITE, Word("to"), is_tree=True, is_entry=True, is_filled=True)
    (touch,) = _touches(folder, below)
    assert (touch.makes_links, touch.place.is_certain) == (True, True)
    (tmp_path / "to" / "link").symlink_to("/etc")
    (touch,) = _touches(Folder(folder.bases, None), below)
    assert not touch.place.is_certain


@pytest.mark.parametrize(
    ("target", "is_below", "made"),
    [
        ("to", None, {"to/a"}),
        ("to", False, {"to"}),
        ("to", True, {"to/a"}),
        ("new", False, {"new"}),
        ("new", True, {"new/a"}),
        ("new", None, {"new", "new/a"}),
    ],
)
def test_a_copy_lands_at_its_target_or_below_it(
    folder: Folder, target: str, made: set[str], *, is_below: bool | None
) -> None:
    """Below a folder that is there; where it may become one, at both names."""
    copy = Copy((Word("a"),), Word(target), is_below)
    assert _seen(folder, copy) == {(name, WRITE) for name in made}


def test_of_two_names_the_less_likely_one_is_a_guess(folder: Folder) -> None:
    """There is no folder of that name yet."""
    touches = _touches(folder, Copy((Word("a"),), Word("new")))
    assert [touch.is_guess for touch in touches] == [False, True]


def test_a_new_link_touches_what_it_leads_to(folder: Folder) -> None:
    """From the folder it is in; written through it, later, is a guess."""
    touches = _touches(folder, Copy((Word("../a"),), Word("to/link"), is_below=False, are_texts=True))
    assert touches[0].makes_links
    led = [(touch.access, touch.is_guess) for touch in touches if f"{folder.bases[0]}/a" in touch.place.names]
    assert led == [(READ, False), (WRITE, True)]


def test_a_kept_link_leads_where_the_original_leads(folder: Folder, tmp_path: Path) -> None:
    """A copy of it is a link as well; a copy of a plain file is none."""
    (tmp_path / "link").symlink_to("secret")
    copy = Copy((Word("link"),), Word("new"), is_below=False, keeps_links=True)
    assert ("secret", READ) in _seen(folder, copy)
    (tmp_path / "plain").touch()
    (touch,) = _touches(folder, Copy((Word("plain"),), Word("new"), is_below=False, keeps_links=True))
    assert not touch.makes_links


@for_each(
    ("source", "target", "led"),
    [
        ("src", "new", {"new/b"}), ("src/", "to/x", {"to/b"}), ("src/.", "to", {"b", "to/in"}),
        ("sr*", "to", {"to/b", "to/src/in"}), ("src/*", "to", {"b", "to/in"}),
        ("x*", "to", set()), ("to", "new", set()),
    ],
)  # fmt: skip
def test_a_link_below_a_folder_leads_elsewhere_from_its_new_place(
    tmp_path: Path, source: str, target: str, led: set[str]
) -> None:
    """One that stays inside does so where the folder is new; a program that fills a folder keeps links as well."""
    for name in ("src/low", "to"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
    for name, text in (("up", "../b"), ("low/out", "/etc"), ("low/in", "../in")):
        (tmp_path / "src" / name).unlink(missing_ok=True)
        (tmp_path / "src" / name).symlink_to(text)
    folder, word = Folder((str(tmp_path),), None), Word(source, is_glob="*" in source)
    whole = {*(f"{tmp_path}/{name}" for name in led), *(["/etc"] if led else [])}
    kept = (Named(READ, word, is_tree=True, is_filled=True), Named(WRITE, Word(target), is_tree=True, is_filled=True))
    assert _guessed(folder, *kept) >= {(name, access) for name in whole for access in (READ, WRITE)}
    assert {name for name, _ in _guessed(folder, Copy((word,), Word(target), keeps_links=True, is_tree=True))} >= whole


def test_too_many_links_may_lead_anywhere(folder: Folder, tmp_path: Path) -> None:
    """So that no time is lost."""
    (tmp_path / "src").mkdir()
    for number in range(300):
        (tmp_path / "src" / str(number)).symlink_to("/etc")
    assert ("", READ) in _guessed(folder, Copy((Word("src"),), Word("new"), keeps_links=True, is_tree=True))


def _guessed(folder: Folder, *operands: Named | Copy) -> set[tuple[str, Access]]:
    """Return what is touched by a guess, by absolute names; the empty text is any path."""
    touches = (touch for touch in _touches(folder, *operands) if touch.is_guess)
    return {(name, touch.access) for touch in touches for name in (touch.place.names or ("",))}


def test_a_hard_link_is_the_file_it_is_made_of(folder: Folder) -> None:
    """Whatever is done to it is done to that."""
    copy = Copy((Word("a"),), Word("new"), is_below=False, makes_links=True)
    assert {("a", READ), ("a", WRITE), ("new", WRITE)} <= _seen(folder, copy)


def test_a_source_that_is_not_known_makes_a_name_that_is_not(folder: Folder) -> None:
    """Below the folder, it may be any."""
    (touch,) = _touches(folder, Copy((Word("*", is_glob=True),), Word("to"), is_below=True))
    assert not touch.place.is_certain


def _find(top: str, ends: tuple[str, ...] = (), *, has_links: bool = True) -> Word:
    return Word("{}", is_open=True, found=Found((Word(top),), ends, has_links=has_links))


@for_each("copy", [Copy((), Word("to"), makes_links=True), Copy((), Word("."), are_texts=True, makes_links=True)])
def test_a_link_to_what_was_found_leads_there(folder: Folder, copy: Copy) -> None:
    """What is read or written by the link is what was found; a copy leads nowhere."""
    found = attrs.evolve(copy, sources=(_find("src"),))
    assert {("src", READ), ("src", WRITE)} <= _seen(folder, found)
    assert not {("src", READ), ("src", WRITE)} & _seen(folder, attrs.evolve(found, are_texts=False, makes_links=False))


@for_each("target", [Word("to"), Word("."), Word("$x", is_open=True)])
def test_a_link_to_an_absolute_name_leads_there(folder: Folder, target: Word) -> None:
    """Wherever the link is."""
    copy = Copy((_find("/srv/src"),), target, are_texts=True, makes_links=True)
    assert {("/srv/src", READ), ("/srv/src", WRITE)} <= _seen(folder, copy)


@for_each(
    "target",
    [
        Word("to"), Word("to/a"), Word(".."), Word("/"), Word("a"), Word("$x", is_open=True), Word("~", is_home=True),
        Word("t*", is_glob=True),
    ],
)  # fmt: skip
def test_a_name_that_was_found_leads_elsewhere_from_another_folder(folder: Folder, target: Word) -> None:
    """As the text of a link, it is relative to the folder of the link."""
    copy = Copy((_find("."),), target, are_texts=True, makes_links=True)
    assert _may_lead_anywhere(folder, copy)


@for_each("target", [".", "./", "a", "./a"])
def test_a_link_in_the_current_folder_leads_to_what_was_found(folder: Folder, target: str) -> None:
    """It is there for certain if the target cannot be a folder."""
    copy = Copy((_find("."),), Word(target), is_below=False, are_texts=True, makes_links=True)
    assert not _may_lead_anywhere(folder, copy)
    assert _may_lead_anywhere(folder, attrs.evolve(copy, target=Word("*", is_glob=True)))


@for_each(
    ("source", "is_tree", "leads"),
    [
        (_find("src"), False, True),
        (_find("src", ("l",)), False, True),
        (_find("src", ("a",)), False, False),
        (_find("src", ("in",)), True, True),
        (_find("src", ("in",)), False, False),
        (_find("src", has_links=False), False, False),
        (_find("src", has_links=False), True, True),
        (_find("to"), True, False),
    ],
)
def test_a_link_that_was_found_leads_elsewhere_from_another_folder(
    with_link: Folder, source: Word, *, is_tree: bool, leads: bool
) -> None:
    """Where links are kept, and one is among what was found, or below that."""
    copy = Copy((source,), Word("to"), keeps_links=True, is_tree=is_tree)
    assert _may_lead_anywhere(with_link, copy) is leads
    assert not _may_lead_anywhere(with_link, attrs.evolve(copy, keeps_links=False))


def test_the_text_of_a_link_with_a_number_is_a_pattern(folder: Folder) -> None:
    """It is one name, which leads from the folder of the link."""
    top = Word("a/*", is_glob=True)
    word = Word("a/$(nproc)", is_open=True, found=Found((top,), has_links=False, is_top=True))
    assert ("to/a/*", READ) in _seen(folder, Copy((word,), Word("to/x"), are_texts=True, makes_links=True))


def _may_lead_anywhere(folder: Folder, copy: Copy) -> bool:
    places = [(touch.place.is_open, touch.access) for touch in _touches(folder, copy)]
    return (True, READ) in places and (True, WRITE) in places
