"""A rule that is not written yet, and its text."""

import tomllib

from permitry.config.rule_text import Draft, draft_text


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


def test_the_text_is_the_rule() -> None:
    """Also keys and values that TOML quotes; what no one would see is written as its number."""
    odd = 'a b"\\\u202e'
    draft = Draft("block", ("a",), {"args": {odd: [odd]}}, ({"mode": "y"}, {"path": ["z"]}), 150, "no", ("x",), ("w",))
    text = draft_text(draft, "name", odd)
    assert "\u202e" not in text
    assert tomllib.loads(text)["rule"] == [
        {
            "id": "name", "effect": "block", "priority": 150, "tools": ["a"], "reason": odd, "message": "no",
            "when": {"args": {odd: [odd]}}, "unless": [{"mode": "y"}, {"path": ["z"]}],
            "match": ["x"], "no_match": ["w"],
        }
    ]  # fmt: skip
