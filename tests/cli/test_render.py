"""What humans see: nothing a model writes steers their terminal."""

import io
from collections.abc import Callable

import pytest
from rich.console import Console
from tests.tables import for_each

from permitry.channels.request import ToolConfirmationRequest
from permitry.cli import render
from permitry.core.call import ToolCall
from permitry.core.decision import Decision, Phase, RuleFailure, Verdict
from permitry.core.explanation import Explanation, RuleOutcome, RuleTrace
from permitry.core.origin import Origin

Draw = Callable[[Callable[[Console], object]], str]

ESCAPES = "\x1b[2J\x1b]0;title\x07"
BIDI = "\u202e\u2066\u200f"
ZERO_WIDTH = "\u200b\u200d\ufeff\u2060"
NASTY = f"a{ESCAPES}{BIDI}{ZERO_WIDTH}\r\x00\x7f\x9b\u2028\ud800z"


def is_harmless(text: str) -> bool:
    """Return whether a terminal shows every character of `text` as it is."""
    return all(char.isprintable() or char in "\n\t" for char in text)


@pytest.fixture
def draw() -> Draw:
    """Return a function that draws on a console without colours."""

    def drawn(part: Callable[[Console], object]) -> str:
        stream = io.StringIO()
        part(render.console_on(stream))
        return stream.getvalue()

    return drawn


# visible ------------------------------------------------------------------------------------------------------------


@for_each("text", ["", "read_file", "größe 数 🎉", "a b", "one\ntwo\tthree"])
def test_what_shows_is_left_alone(text: str) -> None:
    """Letters, signs, blanks, tabs and line feeds stay as they are."""
    assert render.visible(text) == text


@for_each(
    ("char", "spelled"),
    [
        ("\x1b", "\\u001b"), ("\x07", "\\u0007"), ("\r", "\\u000d"), ("\x00", "\\u0000"), ("\x7f", "\\u007f"),
        ("\x9b", "\\u009b"), ("\u202e", "\\u202e"), ("\u2066", "\\u2066"), ("\u200f", "\\u200f"),
        ("\u200b", "\\u200b"), ("\ufeff", "\\ufeff"), ("\u2028", "\\u2028"), ("\u00a0", "\\u00a0"),
        ("\u00ad", "\\u00ad"), ("\U000e0041", "\\ue0041"), ("\ud800", "\\ud800"), ("\ue000", "\\ue000"),
    ],
)  # fmt: skip
def test_what_does_not_show_is_spelled_out(char: str, spelled: str) -> None:
    """Controls, bidi controls, zero-width characters, odd blanks, tags and unassigned codes become their number."""
    assert render.visible(f"a{char}b\n") == f"a{spelled}b\n"


def test_what_is_visible_is_harmless() -> None:
    """After `visible` no character steers a terminal."""
    assert is_harmless(render.visible(NASTY))
    assert is_harmless(render.visible("".join(map(chr, range(0x3000)))))


# shortened ----------------------------------------------------------------------------------------------------------


@for_each(("text", "short"))
def test_a_short_text_is_one_line(text: str, short: str) -> None:
    """A text becomes one line; when it is cut, its head and its end are left, with its length."""
    assert render.shorten(text, 5) == short


# Drawings -----------------------------------------------------------------------------------------------------------


def test_a_request_is_harmless(draw: Draw) -> None:
    """Arguments, their names, the diff and the reason reach the terminal spelled out."""
    call = ToolCall(
        "write_file", {NASTY.replace("\ud800", ""): 1, "path": NASTY.replace("\ud800", ""), "deep": {"x": [ESCAPES]}}
    )
    asked = ToolConfirmationRequest(call, preview=f"+{NASTY}\n", reason=NASTY)
    shown = draw(lambda console: render.request(console, asked))
    assert is_harmless(shown)
    assert shown.count("\\u001b[2J") == 5


def test_a_request_shows_values_of_every_kind(draw: Draw) -> None:
    """What is not text is shown as JSON; a text of several lines is shown on one."""
    asked = ToolConfirmationRequest(ToolCall("x", {"n": 1, "list": [1, {"a": None}], "text": "a\nb"}))
    shown = draw(lambda console: render.request(console, asked))
    assert "  n: 1\n" in shown
    assert '  list: [1, {"a": null}]\n' in shown
    assert "  text: a\\nb\n" in shown


def test_a_long_diff_is_cut_with_a_mark(draw: Draw) -> None:
    """Of a diff of more than a hundred lines the rest is counted, not shown."""
    preview = "".join(f"+line {i}\n" for i in range(103))
    shown = draw(lambda console: render.request(console, ToolConfirmationRequest(ToolCall("x"), preview=preview)))
    assert "+line 99" in shown
    assert "+line 100" not in shown
    assert "... 3 more lines" in shown


def test_a_diff_of_a_hundred_lines_is_whole(draw: Draw) -> None:
    """At the limit nothing is left out, and nothing is said to be."""
    preview = "".join(f"+line {i}\n" for i in range(100))
    shown = draw(lambda console: render.request(console, ToolConfirmationRequest(ToolCall("x"), preview=preview)))
    assert "+line 99" in shown
    assert "more lines" not in shown


@for_each(("command", "lines", "whole"), [(500, 100, True), (501, 100, False), (500, 101, False), (0, 0, True)])
@for_each("in_full", [True, False])
def test_a_request_tells_whether_it_is_whole(command: int, lines: int, *, whole: bool, in_full: bool) -> None:
    """A request that was shortened is not the whole one; in full it always is."""
    asked = ToolConfirmationRequest(ToolCall("x", {"command": "a" * command}), preview="+x\n" * lines)
    assert render.request(render.console_on(io.StringIO()), asked, in_full=in_full) is (whole or in_full)


def test_a_request_in_full_indents_the_lines_of_a_value(draw: Draw) -> None:
    """A line of a value cannot pass for a line of the question."""
    asked = ToolConfirmationRequest(ToolCall("x", {"text": "a\nrun it? yes"}))
    shown = draw(lambda console: render.request(console, asked, in_full=True))
    assert "  text: a\n      run it? yes\n" in shown


@pytest.mark.parametrize(
    ("count", "in_full", "shown"), [(1, False, 1), (20, False, 20), (25, False, 20), (25, True, 25)]
)
def test_a_request_shows_where_values_were_seen(draw: Draw, count: int, shown: int, *, in_full: bool) -> None:
    """A human would not see that an attacker chose a value; no more of them than of actions."""
    origins = tuple(Origin("to", f'"{number}"', (f"page #1, field {NASTY}",)) for number in range(count))
    trace = RuleTrace("a", Phase.PERMISSION, 250, Verdict.ALLOW, RuleOutcome.NOT_MATCHED, None, "", origins=origins)
    explained = Explanation(Decision(Verdict.CONFIRM, None, Phase.DEFAULT, ""), (trace,))
    asked = ToolConfirmationRequest(ToolCall("x"))
    text = draw(lambda console: render.request(console, asked, explained, in_full=in_full))
    assert (text.count("occurs in page #1"), "... 5 more lines" in text) == (shown, shown < count)
    assert is_harmless(text)


def test_an_explanations_tool_and_errors_are_harmless(draw: Draw) -> None:
    """The name of the tool, a rule's error and a near miss are spelled out."""
    traces = (
        RuleTrace("a", Phase.RESTRICTION, 100, Verdict.BLOCK, RuleOutcome.FAILED, None, "", error=NASTY),
        RuleTrace("b", Phase.PERMISSION, 200, Verdict.ALLOW, RuleOutcome.NOT_MATCHED, None, "", near_miss=NASTY),
    )
    decision = Decision(Verdict.CONFIRM, "a", Phase.PERMISSION, "why", errors=(RuleFailure("a", NASTY),))
    shown = draw(lambda console: render.explanation(console, NASTY, Explanation(decision, traces)))
    assert is_harmless(shown)
    assert shown.count("\\u001b[2J") == 4


def test_a_failure_without_words_is_reported(draw: Draw) -> None:
    """A rule that failed without a text is still reported as failed, and a rule in code as such."""
    trace = RuleTrace("a", Phase.RESTRICTION, 100, Verdict.BLOCK, RuleOutcome.FAILED, None, "")
    reported = Explanation(Decision(Verdict.BLOCK, "a", Phase.RESTRICTION, "why"), (trace,))
    assert "100 block   a  (code)  failed, so it counts as matched: \n" in draw(
        lambda console: render.explanation(console, "x", reported)
    )


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_narrow_terminal_gets_a_paragraph_for_each_row() -> None:
    """Broken between words; elsewhere a table with long lines."""
    rows = [("codex", "settings", "the hook is in a file whose name is long"), ("gemini", "", "fine")]
    shown = {}
    for columns, is_terminal in ((40, True), (100, True), (40, False)):
        stream = _Terminal() if is_terminal else io.StringIO()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("COLUMNS", str(columns))
            render.print_table(stream, ("host", "check", "what was found"), rows, "found")
        shown[columns, is_terminal] = stream.getvalue()
    assert shown[40, True].splitlines() == [
        "codex  settings  the hook is in a file ",
        "whose name is long",
        "gemini  fine",
    ]
    assert shown[40, False].splitlines()[0].strip() == "found"
    assert "the hook is in a file whose name is long" in shown[40, False]


def test_nothing_goes_on_where_no_one_looks(capsys: pytest.CaptureFixture[str]) -> None:
    """A pipe gets what is said at the end, and nothing of the way there."""
    with render.busy("working") as say:
        say("half")
    assert capsys.readouterr() == ("", "")
