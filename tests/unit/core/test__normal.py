"""The normal form of a value, and how values are found in texts."""

import pytest

from permitry.core._normal import Message, normal


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann@X.com", "ann@x.COM"),
        ("DE89 3704 0044 0532 0130 00", "de89370400440532013000"),
        ("https://X.com", "HTTPS://x.com:443/"),
        ("Anna  Maria", "anna maria"),
        ("\uff21nna", "Anna"),
        (100, "100.00"),
        (100, 100.0),
        (-0.5, "-0.50"),
        (0, "-0"),
    ],
)
def test_spellings_of_one_value_are_one(one: object, other: object) -> None:
    """Where its kind says so."""
    assert normal(one) == normal(other) is not None  # type: ignore[arg-type]  # what JSON has


@pytest.mark.parametrize(
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
    ],
)
def test_other_values_stay_different(one: object, other: object) -> None:
    """Also those that look alike."""
    assert normal(one) != normal(other)  # type: ignore[arg-type]  # what JSON has


@pytest.mark.parametrize("value", [None, True, "", " ", (), {}, 10**400, "a" * 70_000])
def test_some_values_have_no_form(value: object) -> None:
    """They come from nowhere."""
    assert normal(value) is None  # type: ignore[arg-type]  # what JSON has


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Write to ann@x.com, please.", "Ann@x.com"),
        ("(ann@x.com)", "ann@x.com"),
        ("[Ann](mailto:ann@x.com)", "ann@x.com"),
        ("see <https://x.com/a>.", "https://X.com/a"),
        ("[here](https://x.com/a)", "https://x.com/a"),
        ("Pay $1,000.50!", 1000.5),
        ("Pay 50", 50),
        ("to DE89 3704 0044 0532 0130 00 now", "DE89370400440532013000"),
        ("Stay at the  Grand Hotel.", "grand hotel"),
        ("the file src/a.py.", "src/a.py"),
        ("'B-42'", "B-42"),
        ("Ann's", "Ann"),
    ],
)
def test_a_value_is_found_as_a_word(text: str, value: object) -> None:
    """Next to signs, and in the spellings of its kind."""
    form = normal(value)  # type: ignore[arg-type]  # what JSON has
    assert form is not None
    assert Message.of(text).has(form)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("joann@x.com", "ann@x.com"),
        ("ann@x.com.evil.org", "ann@x.com"),
        ("jo.ann@x.com", "ann@x.com"),
        ("https://x.com/abc", "https://x.com/a"),
        ("Pay 150", 50),
        ("Pay 50.5", 50),
        ("Annabel", "Ann"),
        ("jo-ann", "ann"),
        ("evil.com", "evil"),
        ("src/a.py.bak", "src/a.py"),
        ("/src/a.py", "src/a.py"),
        ("x src/a.pyc", "src/a.py"),
        ("XDE89370400440532013000", "DE89370400440532013000"),
        ("b-42", "B-42"),
        ("Ann and Bob", "Ann Bob"),
    ],
)
def test_a_part_of_a_word_is_not_found(text: str, value: object) -> None:
    """It would be another value."""
    form = normal(value)  # type: ignore[arg-type]  # what JSON has
    assert form is not None
    assert not Message.of(text).has(form)
