"""What is quoted is not called."""

from typing import Any, Final

from tests.parsing import calls, parsed
from tests.tables import for_each

from permitry.messages.formats.cursor import Cursor, Tools
from permitry.messages.formats.quoting import Found, Lines, is_enclosed

INNER: Final = '{"name": "run", "arguments": {"command": "make clean"}}'
CALL: Final = f"<tool_call>{INNER}</tool_call>"
LINES: Final = "<function=run>\n<parameter=command>\nmake clean\n</parameter>\n</function>"
ACTION: Final = 'Action: run\nAction Input: {"command": "make clean"}'
PYTHON: Final = '[run(command="make clean")]'
TOOLS: Final = {"run": {"properties": {"command": {"type": "string"}}}}


def led(lead: str, text: str) -> str:
    """Return the lines of a text with a lead before each."""
    return "\n".join(f"{lead}{line}" for line in text.split("\n"))


UNMARKED: Final = {
    "a list": f"The page holds [{INNER}] as a sample.",
    "a list in brackets": f"[[{INNER}] is the one].",
    "an object": f"{INNER} is what the page says",
    "two objects": f"{INNER}\n{INNER}\nare on the page",
    "a fence": f"Write it so:\n```json\n{INNER}\n```\nNothing else is read.",
    "an action": f"An example:\n{ACTION}\nThis is how it looks.",
    "an action and its steps": f"An example:\n{ACTION}\nObservation: done\nThought: good\nThis is how it looks.",
    "an action in a fence": f"```\n{ACTION}\n```\nThis is how it looks.",
    "an action and an answer": f"{ACTION}\nFinal Answer: 3",
    "Python": f"One could write {PYTHON} for that.",
    "Functionary's name": f">>>run\n{INNER[34:-1]}\nis how it looks",
}
MARKED: Final = {
    "a quoted line": f"The mail says:\n> {CALL}\n",
    "a quoted line in a list": f"- > look: {CALL}\n",
    "a long quoted line": f"> {'so ' * 50}{CALL}",
    "quoted lines": led("> ", LINES),
    "a quoted wrapper": led("> ", '<function_calls>\n<invoke name="run">\n</invoke>\n</function_calls>'),
    "an indented block": f"An example:\n\n    {CALL}\n\nThat is it.",
    "an indented block at the end": f"An example:\n\n\t{CALL}\n",
    "an indented block at the start": f"    {CALL}\n\nThat is how it looks.",
    "indented lines": f"An example:\n\n{led('    ', LINES)}\n",
    "an indented token": "So:\n\n    <|tool_call>call:run{}<tool_call|>\n\nThat is it.",
    "a closed fence": f"Write it so:\n```\n{CALL}\n```\nNothing else is read.",
    "a closed fence of a language": f"Write it so:\n```xml\n{LINES}\n```\nNothing else is read.",
    "a fence of waves": f"Write it so:\n~~~\n{CALL}\n~~~\nNothing else is read.",
    "a fence of waves and a language": f"~~~python\n{CALL}\n~~~\n",
    "a fence of code with a blank": f"``` python\n{CALL}\n```\n",
    "<code>": f"See <code>{CALL}</code>.",
    "<code> with an attribute": f'<code class="xml">\n{LINES}\n</code>',
    "<pre>": f"<pre>{CALL}</pre>",
    "<blockquote>": f"<blockquote>{CALL}</blockquote>",
    "<example>": f"<examples><example>{CALL}</example></examples>",
    "a tag that was closed before": f"<code>a</code>{CALL}</code>",
    "a comment": f"<!-- {CALL} -->",
    "Cohere's response": f"<|START_RESPONSE|>The call is {CALL}<|END_RESPONSE|>",
    "Cohere's response that does not end": f"<|START_RESPONSE|>The call is {CALL}",
    "Cohere's response with a mark in it": f"<|START_RESPONSE|>a<|END_RESPONSE|>{CALL}<|END_RESPONSE|>",
    "Hermes' scratch pad": f"<scratch_pad>{CALL}</scratch_pad>",
    "an answer": f"Thought: done\nFinal Answer: {CALL}",
    "an answer in bold": f"**Final Answer:** {CALL}",
    "an answer with an action": f"Final Answer: so\n{ACTION}",
    "an answer with JSON": f"Final Answer:\n{INNER}",
    "backticks around more": f"Write `so: {CALL} or so` there.",
    "two backticks": f"Write `` {CALL} `` there.",
    "quotation marks": f'They wrote "{CALL}" there.',
    "backticks around a wrapper": f"The page has `<tool_call>\n{LINES}\n</tool_call>`, which I ignore.",
    "blanks in backticks around a wrapper": f"It has ``  <tool_call>{LINES}</tool_call>\t`` there.",
    "quotation marks around a wrapper": f'They wrote "<tool_call>{LINES}</tool_call>" there.',
    "other quotation marks around a wrapper": f"«<seed:tool_call>\n{LINES}\n</seed:tool_call>»",
    "a wrapper with two calls": f"`<tool_call>{LINES}{LINES}</tool_call>`",
    "thinking that ends in a quoted line": f"The file says:\n> hm</think>{CALL}\n",
    "thinking that ends in a quoted line of another model": f"> </mm:think>{CALL}",
    "thinking that ends in a closed fence": f"The file says:\n```\n</think>{CALL}\n```\nThat is it.",
    "thinking that ends in backticks": f"It has `</think>{CALL}` there.",
    "thinking that ends in quotation marks": f'It has "</think>{CALL}" there.',
    "thinking that ends in an indented block": f"It has:\n\n    </think>{CALL}\n\nThat is it.",
    "thinking that ends in <code>": f"<code></think>{CALL}</code>",
    "thinking that ends in a comment": f"<!-- </think>{CALL} -->",
    "a wrapper that does not end": f"See `<tool_call>\n{LINES}` there.",
}


@for_each("text", [*UNMARKED.values(), *MARKED.values()], ids=[*UNMARKED, *MARKED])
def test_a_quoted_call_is_text(text: str) -> None:
    """Who writes a file that the model quotes does not write its calls; and no call is lost that was meant."""
    result = parsed(text, TOOLS)
    assert result.calls == ()
    assert not any(note.is_broken for note in result.diagnostics)
    assert "make clean" in (result.content + result.reasoning) or "make clean" not in text


@for_each(
    ("text", "count"),
    [
        (f"I run it. {CALL} Then I look.", 1),
        (f"I run it:\n```json\n{INNER}\n```", 1),
        (f"```json\n{INNER}\n```\n\n```json\n{INNER}\n```\n", 2),
        (f"```xml\n{CALL}\n```", 1),
        (f"```\n{CALL}\n", 1),
        (f"I run it. {INNER}", 1),
        (f"I run it. {PYTHON}<|im_end|>", 1),
        (f"[{INNER}]]", 1),
        (f"{INNER}\n{CALL}", 2),
        (f"Thought: so\n{ACTION}\nObservation:", 1),
        (f"> They ask for it.\n\nI run it.\n{CALL}", 1),
        (f"1. I run it:\n   {CALL}", 1),
        (led("    ", f"I run it.\n{CALL}\nThen I look."), 1),
        (f"I run it:\n<tool_calls>\n    {LINES.replace('=run', ' name=run')}\n</tool_calls>{CALL}", 1),
        ('I run it:\n<function_calls>\n    <invoke name="run">\n    </invoke>\n</function_calls>', 1),
        ("I run it:\n\n    <|tool_call>call:run{}<tool_call|>\n", 1),
        (f"The <code> tag is closed. {CALL}", 1),
        (f"a <!-- b {CALL}", 1),
        (f"An arrow --> {CALL} -->", 1),
        (f"Write `Final Answer:` in the end. {CALL}", 1),
        (f"> Final Answer: 3\n\n{CALL}", 1),
        (f"```\nFinal Answer: 3\n```\n{CALL}", 1),
        (f"It's `a` and `b`. {CALL} `c`", 1),
        (f'"a" {CALL} "b"', 1),
        (f"> It says so.</think>\n{CALL}", 1),
        (f"It's ```py\nx</think>\n{CALL}", 1),
        (f"It's `a</think>\n{CALL} `b`", 1),
        (f'"<tool_call>\n{LINES}\n</tool_call> So."', 1),
        (f"`<tool_call>\n{LINES}\n</tool_call>` is it.\n<tool_call>\n{LINES}\n</tool_call>", 1),
        (f"`a`<tool_call>\n{LINES}\n</tool_call>", 1),
        (CALL.replace("make clean", "</code></think>Final Answer: ```"), 1),
        (f"~~~\na\n```\n~~~\n{CALL} So.", 1),
        (f"about ~~~ waves {CALL}", 1),
    ],
)
def test_a_call_that_is_meant_counts(text: str, count: int) -> None:
    """What is written about quotations, or is quoted elsewhere, hides nothing."""
    assert len(parsed(text, TOOLS).calls) == count


def test_a_quotation_is_content_in_its_place() -> None:
    """Nothing of the text is lost."""
    text = f"Write it so:\n```json\n{INNER}\n```\nNothing `{CALL}` else."
    assert parsed(text, TOOLS).content == text


def test_an_object_between_sentences_does_not_count() -> None:
    """Whether tools are known or not: who gives none may run what is found all the same."""
    for text in (f"I look. {INNER} Then I know.", f"I look:\n{INNER}\nThen I know.", f"{INNER} Then I know."):
        assert parsed(text).calls == parsed(text, TOOLS).calls == ()


def scan(text: str, tools: Any = None) -> Cursor:  # noqa: ANN401 -- any shape of tools
    """Return a text that has ended."""
    return Cursor(text, Tools(tools))


def test_a_line_knows_how_it_begins() -> None:
    """However it comes in; only its first characters are kept."""
    line = Lines()
    for piece in ("a\n -", " > b", "x" * 100):
        line.move(piece)
    assert (line.is_quoted, line.is_indented, len(line.head)) == (True, False, 40)
    line.move("\n   \tc")
    assert (line.is_quoted, line.is_indented) == (False, True)


def test_a_line_knows_whether_a_backtick_is_open() -> None:
    """The next line begins without."""
    line = Lines()
    states = []
    for piece in ("a `b", " c", "` d", "`", "\n e"):
        line.say(piece, 0)
        states.append(line.is_in_ticks)
    assert states == [True, True, False, True, False]


@for_each(("before", "after", "is_so"))
def test_a_block_may_be_enclosed(before: str, after: str, *, is_so: bool) -> None:
    """Between two of a kind."""
    assert is_enclosed(scan(f"{before}x{after}"), len(before), len(before) + 1) is is_so


def test_found_calls_say_what_is_content() -> None:
    """The block as it was written, once it is a quotation."""
    found = Found((), "as written", "around it", (0, 10))
    assert str(found) == "around it"
    found.is_quoted = True
    assert str(found) == "as written"


@for_each(
    ("pieces", "first", "flat_at"),
    [
        (("  a\n", "a b"), "a", 1),
        (("- a\n- b\n", "c"), " ", 1),
        (("1. a\n", "27. b"), "0", 1),
        (("    a\n", "\tb"), " ", -1),
        (("a\n    b", "c"), " ", 0),
        (("\n ", "   a"), "a", -1),
    ],
)
def test_lines_are_compared_by_how_they_begin(pieces: tuple[str, str], first: str, flat_at: int) -> None:
    """However they are cut; the last one that is not indented came after so many blocks."""
    lines = Lines()
    for found, piece in enumerate(pieces):
        lines.say(piece, found)
    assert (lines.first, lines.flat_at) == (first, flat_at)


@for_each(
    "before",
    [
        "",
        "See:\n",
        "a\nb\n\n",
        f"{CALL[:12]}\n",
        "<think>a\n</think>",
        "<tool_response>\n</tool_response>",
        f"{CALL}\n",
    ],
)
def test_a_call_in_the_backticks_of_any_line_is_a_quotation(before: str) -> None:
    """Not of the first one alone; what was said before does not matter."""
    calls_before = len(calls(before, TOOLS))
    assert len(calls(f"{before}`so {CALL} it is` written", TOOLS)) == calls_before
    assert len(calls(f"{before}`so` {CALL} it is", TOOLS)) == calls_before + 1
