"""The normal form of a value, and how values are found in texts."""

from tests.tables import for_each

from permitry.conditions.provenance.normal_form import Message, addresses, normal, words_of


@for_each(("one", "other"))
def test_spellings_of_one_value_are_one(one: object, other: object) -> None:
    """Where its kind says so."""
    assert normal(one) == normal(other) is not None  # type: ignore[arg-type]  # what JSON has


@for_each(
    ("one", "other"),
    [
        ("\u0430nn@x.com", "ann@x.com"),
        ("a\u200bnn@x.com", "ann@x.com"),
        ("007", 7),
        ("https://x.com/A", "https://x.com/a"),
        ("http://x.com", "https://x.com"),
        ("src/A.py", "src/a.py"),
        ("aB9", "ab9"),
        ("YW5uQHguY29t", "ann@x.com"),
        ("https://ann:x@y.com", "https://y.com"),
        ("http://[x", "http://[y"),
        (10**22, 1e22),
        ("ann@stra\u00dfe.de", "ann@strasse.de"),
        ("https://x.com/@ann.dev", "https://x.com\uff0f@ann.dev"),
        ("x.com/@ann.dev", "x.com\uff0f@ann.dev"),
        ("http://[::1]:8/", "http://[::1:8]/"),
        ("ls foo", "ls\nfoo"),
        ("SS12345678901234", "\u017fS12345678901234"),
    ],
)
def test_other_values_stay_different(one: object, other: object) -> None:
    """Also those that look alike."""
    assert normal(one) != normal(other)  # type: ignore[arg-type]  # what JSON has


@for_each("value", [None, True, "", " ", (), {}, 10**400, "a" * 5_000, "a" + "\u0301" * 40])
def test_some_values_have_no_form(value: object) -> None:
    """They come from nowhere."""
    assert normal(value) is None  # type: ignore[arg-type]  # what JSON has


@for_each(("text", "value"))
def test_a_value_is_found_as_a_word(text: str, value: object) -> None:
    """Next to signs, and in the spellings of its kind."""
    form = normal(value)  # type: ignore[arg-type]  # what JSON has
    assert form is not None
    assert Message.of(text).has(form)


@for_each(("text", "value"))
def test_a_part_of_a_word_is_not_found(text: str, value: object) -> None:
    """It would be another value."""
    form = normal(value)  # type: ignore[arg-type]  # what JSON has
    assert form is not None
    assert not Message.of(text).has(form)


@for_each(
    "text",
    [
        "a@" + "." * 1_000_000 + ",x",
        "0" * 1_000_000 + "x",
        "1" + ",000" * 250_000 + "x",
        "http://" + "[" * 1_000_000,
        "a" + "\u0301" * 500_000 + "\u0327" * 500_000,
        "](" * 100_000,
        "AT11 " + "AAAA " * 50_000,
        "www." * 250_000 + "a",
        "www.a " * 150_000,
    ],
)
def test_every_text_takes_linear_time(text: str) -> None:
    """An attacker may write it; with the square of its length, this would take hours."""
    assert not Message.of(text).has("text:zz")
    assert normal(text) is None


def test_a_word_that_overlaps_itself_takes_linear_time() -> None:
    """In a text of the one letter that it has; where the places do not overlap, all are looked at."""
    assert not Message.of("a" * 1_000_000).has("words:" + "a" * 4_096)
    assert Message.of("xx a" * 100_000 + " a").has("words:a")


@for_each(("text", "is_there"))
def test_a_sentence_may_start_right_behind_an_address(text: str, *, is_there: bool) -> None:
    """With a capital letter, and at least three letters, so that it is not a part of the address."""
    form = normal("www.x.com")
    assert form is not None
    assert Message.of(text).has(form) is is_there


def test_words_are_found_one_by_one() -> None:
    """A word that was taken apart by signs that are not seen is one word."""
    assert words_of("The re\u200bnt, a\u0301 2!") == ["the", "re\u200bnt", "\u00e1", "2"]
    assert words_of("x" * 5_000) == []
    assert Message.of("The RENT.").has_word("rent")
    assert not Message.of("Trent").has_word("rent")


@for_each(("text", "found"))
def test_addresses_are_found_in_a_text(text: str, found: list[str]) -> None:
    """Of mail, of pages, of accounts; no numbers, dates or plain words."""
    assert {normal(each) for each in found} <= set(addresses(text))
    assert bool(found) or not set(addresses(text))
