"""Where values were seen in a session."""

import pickle

from tests.tables import for_each

from permitry.conditions.provenance.normal_form import normal
from permitry.conditions.provenance.provenance import Heard, Provenance, provenance_of
from permitry.core.context import AuthContext
from permitry.core.history import Bounds
from permitry.core.origin import HeardCounts


def _numbers(known: Provenance, tool: str, path: str, value: object) -> list[int]:
    form = normal(value)  # type: ignore[arg-type]  # what JSON has
    return [seen.of.number for seen in known.seen(tool, tuple(filter(None, path.split("."))), form)]


@for_each(
    ("result", "path", "value", "is_seen"),
    [
        ({"iban": "AT1"}, "iban", "AT1", True),
        ('{"iban": "AT1"}', "iban", "AT1", True),
        ([{"iban": "AT1"}, {"iban": "AT2"}], "iban", "AT2", True),
        ({"a": {"b": [{"c": 5}]}}, "a.b.c", "5.0", True),
        ({"ids": ["x9", ["y9"]]}, "ids", "x9", True),
        ({"ids": ["x9", ["y9"]]}, "ids", "y9", True),
        ({"ids": ["x9"]}, "", "x9", False),
        ("x9", "", "x9", True),
        ("[1, 2]", "", 2, True),
        ("the id is x9", "", "x9", False),
        ({"iban": None, "ok": True}, "iban", None, False),
        ("{not json", "", "{not json", True),
        (object(), "", "x", False),
    ],
)
def test_a_value_is_found_by_its_field(*, result: object, path: str, value: object, is_seen: bool) -> None:
    """Places in lists are left out, and the field says what a value is."""
    known = Provenance.of([], [("look", {}, result)])
    assert bool(_numbers(known, "look", path, value)) is is_seen
    assert _numbers(known, "other", path, value) == []


def test_an_address_is_found_in_a_text() -> None:
    """Whoever writes the text chooses the address, as they could choose the whole of it; the others are as they are."""
    body = "Look at www.x.org/a, Ann."
    known = Provenance.of([], [("look", {}, [{"by": "Bob", "body": body, "tags": ["for bob@x.org", 5]}])])
    assert _numbers(known, "look", "body", "www.x.org/a") == _numbers(known, "look", "tags", "Bob@x.org") == [1]
    assert _numbers(known, "look", "body", "Ann") == []
    (seen,) = known.seen("look", ("body",), normal("www.x.org/a"))
    assert seen.other("body") == (normal(body),)


def test_an_address_may_be_a_name_in_an_object() -> None:
    """As in a list of those who may read a file; other names, and those in arguments, say what is there."""
    known = Provenance.of([], [("look", {"to": {"bob@x.org": "r"}}, {"shared": {"Ann@x.org": "r", "bob@x.org": "r"}})])
    assert _numbers(known, "look", "shared", "ann@x.org") == [1]
    assert [_numbers(known, "look", path, value) for path, value in (("shared", "bob@x.org"), ("", "shared"))] == [
        [],
        [],
    ]
    assert known.given("look", ("to",), normal("bob@x.org")) == ()


def test_a_value_knows_the_others_of_its_object() -> None:
    """Not those of other objects; those of the one around it are a level up."""
    known = Provenance.of([], [("look", {}, {"of": "me", "items": [{"id": "a1", "by": ["ann", "bob"]}, {"id": "a2"}]})])
    (one,) = known.seen("look", ("items", "id"), normal("a1"))
    assert one.other("by") == (normal("ann"), normal("bob"))
    (two,) = known.seen("look", ("items", "id"), normal("a2"))
    assert (two.other("id"), two.other("by"), two.other("of")) == ((normal("a2"),), (), ())
    assert (two.other("of", 1), two.other("id", 1), two.other("of", 2)) == ((normal("me"),), (), ())


def test_arguments_of_calls_that_ran_are_kept() -> None:
    """Under another name than that of their tool."""
    known = Provenance.of([], [("make", {"a": {"id": "x9"}}, "done"), ("call:make", {}, {"a": {"id": "y9"}})])
    assert [seen.of.number for seen in known.given("make", ("a", "id"), normal("x9"))] == [1]
    assert known.given("make", ("a", "id"), normal("y9")) == ()
    assert _numbers(known, "make", "a.id", "x9") == []


def test_what_a_tool_was_given_does_not_come_from_it() -> None:
    """It may only repeat it: neither as a value, nor as a part of a text."""
    known = Provenance.of(
        [],
        [
            ("look", {"id": "x9", "n": 7, "all": None}, {"id": "X9", "n": 7, "of": ["x9"]}),
            ("look", {"q": '{"id": "y9"}'}, {"id": "y9"}),
            ("look", {"id": "z9"}, "no z9 but v9"),
            ("look", {"by": [{"w9": True}]}, {"id": "w9"}),
        ],
    )
    for path, value in (("id", "x9"), ("n", 7), ("of", "x9"), ("id", "y9"), ("id", "w9")):
        assert _numbers(known, "look", path, value) == []
    assert _numbers(known, "look", "id", "X9") == [1]
    assert list(known.results_with("look", "text:z9")) == []
    assert [each.number for each in known.results_with("look", "text:v9")] == [3]


def test_what_is_anywhere_in_a_result() -> None:
    """As a value, or as a word of a text."""
    known = Provenance.of([], [("look", {}, {"a": ["x9"]}), ("look", {}, "it is y9 now"), ("see", {}, "x9")])
    assert [each.number for each in known.results_with("look", "text:x9")] == [1]
    assert [each.number for each in known.results_with("look", "text:y9")] == [2]
    assert list(known.results_with("look", "text:y")) == []


def test_a_moment_stays_as_it_was() -> None:
    """What is heard later does not belong to it."""
    heard = Heard()
    heard.hear("ann")
    before = heard.provenance
    heard.hear("bob")
    heard.keep("look", {}, {"id": "x9"})
    assert before.texts == ("ann",)
    assert not before.is_said(normal("bob"))
    assert _numbers(before, "look", "id", "x9") == []
    assert before != heard.provenance
    assert hash(before) == hash(Provenance.of(["ann"]))
    assert before == Provenance.of(["ann"])
    assert before != "ann"


def test_the_oldest_is_forgotten() -> None:
    """By number, and by size."""
    heard = Heard(Bounds(messages=2, message_size=12, results=2, result_size=1_200))
    for text in ("one", "two", "three"):
        heard.hear(text)
    assert heard.provenance.texts == ("two", "three")
    assert not heard.provenance.is_complete
    heard.hear("eleven 4567")
    assert " ".join(heard.provenance.texts) == "eleven 4567"
    for _ in range(2):
        heard.keep("look", {}, {"id": "x9"})
    assert _numbers(heard.provenance, "look", "id", "x9") == [1, 2]
    heard.keep("look", {}, {"id": "y9"})
    assert _numbers(heard.provenance, "look", "id", "x9") == [2]
    heard.keep("look", {}, {"id": "z9", "text": "t" * 200})
    assert _numbers(heard.provenance, "look", "id", "x9") == _numbers(heard.provenance, "look", "id", "y9") == []
    assert _numbers(heard.provenance, "look", "id", "z9") == [4]


def test_what_is_larger_than_all_is_not_kept() -> None:
    """It counts, so that it is known that something is lacking."""
    heard = Heard(Bounds(message_size=5, result_size=1_000))
    heard.hear(" ")
    assert heard.provenance.is_complete
    heard.hear("123456")
    assert (heard.provenance.texts, heard.provenance.messages) == (("",), 2)
    assert not heard.provenance.is_complete
    heard.keep("look", {}, "x" * 1_001)
    heard.keep("look", {}, {"a": "b" * 700})
    heard.keep("look", {"a": "b" * 5_000}, {})
    heard.keep("look", {}, {"c" * 700: "d"})
    assert heard.provenance.results == 4
    assert not any(each.keys for each in heard.returned(4))


def test_the_same_value_many_times_is_forgotten_in_linear_time() -> None:
    """An attacker may write such a result; with the square of its length, this would take a minute."""
    heard = Heard(Bounds(results=2, result_size=10**9))
    for _ in range(4):
        heard.keep("look", {}, ["x"] * 100_000)
    assert heard.provenance.results == 4


def test_moments_of_one_session_are_compared_by_number() -> None:
    """Not value by value."""
    heard = Heard()
    heard.keep("look", {}, {"id": "x9"})
    assert heard.provenance == heard.provenance
    before = heard.provenance
    heard.hear("ann")
    assert before != heard.provenance


def test_large_results_are_texts() -> None:
    """Ten megabytes of JSON are no error."""
    known = Provenance.of([], [("look", {}, '["' + "x" * 2_000_000 + '"]'), ("look", {}, "[" * 100_000)])
    assert known.results == 2
    known = Provenance.of([], [("look", {}, '{"id": "x9"}' + " " * blanks) for blanks in (1_000, 5_000_000)])
    assert _numbers(known, "look", "id", "x9") == [1]


def test_it_can_be_copied() -> None:
    """As a context is, for another process."""
    known = Provenance.of(["ann"], [("look", {"q": "a"}, {"id": "x9"})])
    copy = pickle.loads(pickle.dumps(known))  # noqa: S301 -- our own
    assert copy == known
    assert _numbers(copy, "look", "id", "x9") == [1]
    assert Provenance() == pickle.loads(pickle.dumps(Provenance()))  # noqa: S301 -- our own
    assert Provenance().seen("look", (), "text:x") == ()
    assert list(Provenance().results_with("look", "text:x")) == []


def test_a_result_knows_the_labels_of_its_call() -> None:
    """They are explained, and change nothing else; the same call may put more of them later."""
    heard = Heard(Bounds(results=2))
    for digest, label in (("a", "web"), ("b", "mail"), ("a", "big"), ("c", "web")):
        heard.label(digest, frozenset({label}))
    assert heard.labels == {"a": {"web", "big"}, "c": {"web"}}
    heard.keep("page", {}, "AT11", labels=heard.labels["a"])
    assert heard.provenance.places("text:AT11") == {("page", " (labelled `big`, `web`)"): [1]}
    assert heard.provenance != Provenance.of([], [("page", {}, "AT11")])


def test_a_message_may_be_missed() -> None:
    """What was not heard may be what a rule asks for."""
    heard = Heard()
    heard.hear("ann")
    assert heard.provenance.is_complete
    heard.miss()
    assert not heard.provenance.is_complete
    assert heard.provenance.texts == ("ann",)


def test_a_result_is_looked_into_when_a_rule_asks() -> None:
    """Until then it waits, within the same bounds, and is what it was when it came."""
    heard = Heard(Bounds(results=2, result_size=2_000))
    value = {"id": "x9"}
    heard.keep("look", {}, value)
    value["id"] = "y9"
    before = heard.provenance
    heard.keep("look", {}, '{"id": "z9"}')
    heard.keep("look", {}, "x" * 1_000, 1_500)
    heard.keep("look", {}, {"id": "a9"})
    heard.keep("look", {}, {"id": "b9"})
    found = {each: _numbers(heard.provenance, "look", "id", each) for each in ("x9", "y9", "z9", "a9", "b9")}
    assert found == {"x9": [], "y9": [], "z9": [], "a9": [4], "b9": [5]}
    assert _numbers(before, "look", "id", "x9") == []


def test_a_context_without_a_session_has_heard_nothing() -> None:
    """Its counts are equal to those of a session that has heard nothing, and say nothing of what was heard."""
    known = Provenance.of(["a"])
    assert provenance_of(AuthContext(provenance=known)) is known
    assert provenance_of(AuthContext(provenance=HeardCounts(1))).texts == ()
    assert AuthContext() == AuthContext(provenance=Provenance())
    assert hash(AuthContext().provenance) == hash(Provenance())
    assert HeardCounts(1) != known
