"""Two checkouts are held against each other: what is decided otherwise is printed and counted."""

import pytest
from tests.compare import __main__ as command
from tests.compare.requests import KINDS, ROOT


def test_a_checkout_answers_as_it_does_itself() -> None:
    """By made-up rules; a file that cannot be loaded has its error as the answer."""
    lines = list(KINDS["generated"](60, 3))
    assert command.compare([{"rules": "schema = 2"}, *lines], ROOT) == 0
    first, *others = command.answers([{"rules": "schema = 2"}, *lines], ROOT)
    assert "schema" in first
    assert sum(answer.startswith("[") for answer in others) >= len(lines) / 3


def test_what_is_no_call_has_its_error_as_the_answer() -> None:
    """As a number that JSON does not have."""
    call = {"tool": "pay", "arguments": {"n": float("nan")}, "context": {}}
    rules = 'schema = 1\n[[rule]]\nid = "a"\neffect = "allow"\ntools = ["pay"]\n'
    assert "JSON cannot hold" in command.answers([{"rules": rules}, call], ROOT)[1]


def test_what_is_different_is_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With the rules and the call."""
    monkeypatch.setattr(command, "answers", lambda lines, checkout: [f"{checkout == ROOT}" for _ in lines])
    lines = list(KINDS["disguises"](0, 0))[:50]
    assert command.compare(lines, ROOT / "other") == len(lines)
    printed = capsys.readouterr().out
    assert printed.count("  there  False\n") == command.SHOWN
    assert '"tool": "run_shell"' in printed


def test_every_kind_has_calls() -> None:
    """But for the cases next to the project, where they are not at hand."""
    kinds = KINDS if (ROOT.parent / "shared" / "cases").is_dir() else KINDS.keys() - {"cases"}
    assert all(sum("tool" in line for line in KINDS[kind](40, 0)) >= 40 for kind in kinds)
