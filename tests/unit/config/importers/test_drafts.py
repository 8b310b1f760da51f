"""Rules that are not written yet, and what became of those of a host."""

from tests.tables import for_each

from permitry.config.importers.drafts import Draft, Imported, Outcome, Row


def test_a_restriction_gets_wider_step_by_step() -> None:
    """It loses its exceptions, its conditions, its tools, and at last there is nothing wider."""
    draft: Draft | None = Draft("block", ("a",), {"path": ["x"]}, ({"mode": "y"},), match=("x",))
    steps = []
    while draft is not None:
        steps.append((draft.tools, bool(draft.when), bool(draft.unless)))
        draft = draft.wider()
    assert steps == [(("a",), True, True), (("a",), True, False), (("a",), False, False), (("*",), False, False)]


def test_a_permission_is_never_widened() -> None:
    """It is dropped."""
    assert Draft("allow", ("a",), {"path": ["x"]}).wider() is None


@for_each(("effect", "is_lost"), [("allow", False), ("confirm", True), ("block", True)])
def test_a_dropped_restriction_is_lost(effect: str, *, is_lost: bool) -> None:
    """A dropped permission is none that anyone misses for their safety."""
    assert Row("f:1", "x", effect, outcome=Outcome.DROPPED).is_lost is is_lost


def test_a_host_has_a_set_of_tools() -> None:
    """But for the framework, whose tools are the user's."""
    assert Imported("codex", []).tools == "permitry:tools-codex"
    assert Imported("inspect_ai", []).tools == ""
