"""What is known about one program: how its options take values, and why it does more than read."""

from tests.tables import for_each

from permitry.actions.programs.entries import Entry, Options, Wrapper

WRAPPER = Wrapper(
    options=Options(
        frozenset({"-a", "-b", "--all"}),
        frozenset({"-n", "--name"}),
        frozenset({"-o", "--or"}),
        doubled=frozenset({"--pair"}),
        tripled=frozenset({"--over"}),
    )
)


@for_each(
    ("option", "taken"),
    [
        ("-ab", 0), ("-n", 1), ("-an", 1), ("-n5", 0), ("-5", None), ("-z", None), ("-az", None), ("-", 0),
        ("-o", 0), ("-on", 0), ("-oz", 0), ("-ao", 0), ("--or", 0), ("--over", 3),
        ("--name", 1), ("--name=x", 0), ("--pair", 2), ("--all", 0), ("--zzz", None), ("--zzz=x", 0),
    ],
)  # fmt: skip
def test_an_option_of_a_wrapper_takes_so_many_words(option: str, taken: int | None) -> None:
    """None where that is not known: then both readings count."""
    assert WRAPPER.takes(option) == taken


def test_options_of_two_lists_are_those_of_both() -> None:
    """Each in its own way of taking values."""
    one, two = Options(frozenset({"-a"}), has_numbers=True), Options(frozenset({"-b"}), frozenset({"-n"}))
    assert one.with_more(two) == Options(frozenset({"-a", "-b"}), frozenset({"-n"}), has_numbers=True)


def test_a_reason_names_all_that_a_program_does() -> None:
    """In the order of its record; there is none for one that only reads."""
    assert (
        Entry(does={"cache": "may write its cache", "code": "runs code"}).reason == "may write its cache and runs code"
    )
    assert Entry().reason == ""
