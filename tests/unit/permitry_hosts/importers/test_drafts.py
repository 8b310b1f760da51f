"""What became of the rules of a host."""

from tests.tables import for_each

from permitry_hosts.importers.drafts import Imported, Outcome, Row, are_texts


@for_each(("effect", "is_lost"), [("allow", False), ("confirm", True), ("block", True)])
def test_a_dropped_restriction_is_lost(effect: str, *, is_lost: bool) -> None:
    """A dropped permission is none that anyone misses for their safety."""
    assert Row("f:1", "x", effect, outcome=Outcome.DROPPED).is_lost is is_lost


def test_a_host_has_a_set_of_tools() -> None:
    """But for the framework, whose tools are the user's."""
    assert Imported("codex", []).tools == "permitry:tools-codex"
    assert Imported("inspect_ai", []).tools == ""


@for_each(("value", "are"), [([], True), (["a"], True), (["a", 1], False), ("a", False), (None, False)])
def test_a_list_of_texts_holds_nothing_else(value: object, *, are: bool) -> None:
    """A text alone is not one."""
    assert are_texts(value) is are
