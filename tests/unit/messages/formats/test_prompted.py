"""Calls of agents that were taught by prompts, and the lines they are written in."""

from typing import Any

from tests.parsing import calls, parsed, refused
from tests.tables import for_each

from permitry.messages.formats.cursor import Cursor
from permitry.messages.formats.prompted import lead_of, marks_of_lead, next_line


def _scan(text: str, base: int = 0) -> Cursor:
    return Cursor(text, base=base)


@for_each(("line", "lead", "marks"))
def test_a_lead_is_what_comes_before_the_first_word(line: str, lead: str, marks: str) -> None:
    """Also when other lines come before it."""
    for text in (line, f"some\n{line}"):
        found = lead_of(_scan(text), text.index("x"))
        assert found == lead
        assert marks_of_lead(found) == marks


@for_each("line", ["word x", "-x", "- - x", "1234. x"])
def test_a_word_before_is_more_than_a_lead(line: str) -> None:
    """Then what follows is in the middle of a sentence."""
    assert lead_of(_scan(line), line.rindex("x")) is None


def test_a_line_that_began_too_far_back_has_no_lead() -> None:
    """A stream does not know any more what came before."""
    assert lead_of(_scan("x", base=5), 0) is None


@for_each(
    ("text", "is_found"),
    [("\n> x", True), (" x", False), ("\nx", False), ("\n- x", False), ("\n> - x", False)],
)
def test_a_quotation_goes_on_in_quoted_lines(text: str, *, is_found: bool) -> None:
    """Not in a line without its mark, or with more of them."""
    assert next_line(_scan(text), 0, ">") == (text.index("x") if is_found else None)


def test_an_item_goes_on_without_its_mark() -> None:
    """It may be indented only."""
    assert next_line(_scan("\n  x"), 0, "-") == 3
    assert next_line(_scan("\n> x"), 0, "-") is None


def test_without_marks_any_line_is_the_next_one() -> None:
    """There is nothing to compare."""
    assert next_line(_scan("\n\n  > x"), 0, "") == 4


@for_each(("rest", "found"), [("", [("f", {"input": "x"})]), (" \n", [("f", {"input": "x"})]), ("\ny", [])])
def test_a_list_is_closed_by_its_last_line(rest: str, found: object) -> None:
    """Or by the end of the text."""
    assert calls(f"- Action: f\n- Action Input: x{rest}") == found


def test_a_word_is_looked_for_at_the_begin_of_a_line() -> None:
    """Behind any lead."""
    for lead in ("", "> 1. "):
        text = f"Action: f\nAction Input: a Observation: b\n{lead}Observation: c"
        assert calls(text) == [("f", {"input": "a Observation: b"})]


REACT = "Thought: hm\nAction: f\nAction Input: {}\n"


def test_react_has_lines() -> None:
    """The thought before them is content."""
    for settings in ({}, {"format": "react_json"}):
        result = parsed(REACT.format('{"a": {"b": 1}}'), **settings)
        assert [(call.name, call.arguments, call.repaired) for call in result.calls] == [("f", {"a": {"b": 1}}, False)]
        assert result.content.strip() == "Thought: hm"


@for_each(
    ("line", "arguments"),
    [("{'a': [1] /* why */}, or so.", {"a": [1]}), ('Tool({"a": 1})', {"a": 1}), ("{'a': 1,}", {"a": 1})],
)
def test_a_sloppy_input_counts_as_repaired(line: str, arguments: dict[str, Any]) -> None:
    """Rules may ask about calls that were guessed at."""
    result = parsed(REACT.format(line))
    assert [(call.arguments, call.repaired) for call in result.calls] == [(arguments, True)]
    assert "not plain JSON" in result.diagnostics[0].message


@for_each("line")
def test_an_input_may_stand_in_a_fence(line: str) -> None:
    """The fence is not a part of it."""
    result = parsed(REACT.format(line))
    assert [(call.name, call.arguments, call.repaired) for call in result.calls] == [("f", {"a": 1}, False)]
    assert "```" not in result.content


def test_a_plain_input_is_the_only_argument() -> None:
    """Where the tool has just one, that is its name."""
    text = REACT.format("what is it")
    assert [(call.arguments, call.format) for call in parsed(text).calls] == [({"input": "what is it"}, "react")]
    tools = {"f": {"properties": {"query": {"type": "string"}}}}
    assert [call.arguments for call in parsed(text, tools).calls] == [{"query": "what is it"}]


@for_each(("text", "given"))
def test_a_plain_input_may_have_lines(text: str, given: str) -> None:
    """It ends where the agent observes or thinks; quotes around all of it are none of it."""
    assert calls(text) == [("f", {"input": given})]


@for_each("text")
def test_an_input_must_be_there_and_alone(text: str) -> None:
    """With two actions, or an answer, it is not certain what is meant."""
    assert calls(text) == []


@for_each("text")
def test_other_lines_are_text(text: str) -> None:
    """Both lines must be there, and name a tool."""
    refused(text)


SEARCH = [("search", {"q": "x"})]


def block(lead: str, name: str = "search", given: str = '{"q": "x"}', between: str = "") -> str:
    """Return the lines of an agent, each with the same lead."""
    return f"{lead}Thought: hm\n{between}{lead}Action: {name}\n{between}{lead}Action Input: {given}\n"


@for_each("lead", ["  ", "\t", "        ", " \t "])
@for_each("between", ["", "\n", "  \n"])
def test_lines_may_be_indented(lead: str, between: str) -> None:
    """Nothing was guessed at."""
    result = parsed(f"\n{block(lead, between=between)}{lead}Observation: 1")
    assert [(call.name, call.arguments, call.repaired) for call in result.calls] == [("search", {"q": "x"}, False)]


@for_each("lead", ["> ", ">", "  > ", ">> ", "> > ", "> - "])
def test_lines_that_are_quoted_are_no_action(lead: str) -> None:
    """Also where they are all of the content."""
    assert calls(block(lead)) == calls(block(lead, given="a b")) == []


@for_each("lead", ["- ", "* ", "+ ", "2. ", "10) "])
def test_lines_may_be_in_a_list(lead: str) -> None:
    """If that is all of the content; the calls count as repaired, so that rules may ask about them."""
    result = parsed(block(lead))
    assert [(call.name, call.arguments, call.repaired) for call in result.calls] == [("search", {"q": "x"}, True)]
    assert "in a list" in result.diagnostics[0].message
    assert [(call.arguments, call.repaired) for call in parsed(block(lead, given="a b")).calls] == [
        ({"input": "a b"}, True)
    ]


@for_each(
    ("text", "found"),
    [
        ('  Action: search\n  Action Input:\n  {\n    "q": "x"\n  }\n', SEARCH),
        ("  Action:\n  search\n  Action Input: {'q': 'x'}\n", SEARCH),
        ('1. Thought: hm\n2. Action: search\n3. Action Input: {"q": "x"}\n4. Observation', SEARCH),
        ('- Action: search\n  Action Input: {"q": "x"}\n', SEARCH),
        ('I do this:\n- Action: search\n- Action Input: {"q": "x"}\n', SEARCH),
        (
            "  Action: a\n  Action Input: x\n  Observation: 1\n  Action: b\n  Action Input: {}",
            [("a", {"input": "x"}), ("b", {})],
        ),
        ("  Action: py\n  Action Input:\n  if x:\n    y\n  Observation: 1", [("py", {"input": "if x:\n  y"})]),
        (
            "- Action: a\n- Action Input: x\n- Action: b\n- Action Input: y",
            [("a", {"input": "x"}), ("b", {"input": "y"})],
        ),
    ],
)  # fmt: skip
def test_leads_are_no_part_of_the_input(text: str, found: object) -> None:
    """Nor of what ends it."""
    assert calls(text) == found


@for_each(
    "text",
    [
        "The mail says:\n" + block("> "),
        "The mail says:\n" + block("> ", given='{"tool": "rm", "args": {}}'),
        "> a\n\nSo:\n" + block("> "),
        "> a\nb\n" + block("> ", given="x"),
        "- a\n\nSo:\n" + block("- ", given="x"),
        "1. a\nSo:\n" + block("2. ", given="x"),
        block("> ") + "I shall not do that.",
        block("> ", given="a b") + "I shall not do that.",
        "So:\n" + block("- ", given="a b"),
        block("- ", given="a b") + "and so on",
        "> Action: search\nAction Input: {}",
        "Action: search\n> Action Input: {}",
        ">> Action: search\n> Action Input: {}",
        "- Action: search\n* Action Input: {}",
        "I did Action: search\n  Action Input: {}",
        "  Transaction: search\n  Action Input: {}",
        " " * 90 + "Action: search\nAction Input: {}",
        "  Action: py\n  Action Input: x\nand so on",
        "Action: a\nAction Input: x\n- Action: b\n- Action Input: y",
        f"```python\n{block('    ')}```\n",
        f"<think>\n{block('    ')}</think>",
    ],
)
def test_what_is_perhaps_only_quoted_is_not_a_call(text: str) -> None:
    """Among other text, in a block of code, with other marks before the input, or indented less."""
    assert calls(text) == []


@for_each(
    "name",
    [
        *("Final Answer", "Final Answer: 42", "final  answer", "**Final Answer**", "Give the Final Answer now"),
        *("None", "n/a", "None needed", "the tool to use", "search(q='x')", "search, then fetch", "search | fetch"),
        *("-", "...", "_", "<tool>", "[search]", '""', "$x", "a" * 121, "a" * 300, f"f ({'a' * 236}) g"),
    ],
)
@for_each("given", ["42", '{"q": 1}', '{"name": "rm", "arguments": {}}', '```json\n{"tool": "rm", "args": {}}'])
def test_an_action_that_names_no_tool_is_none(name: str, given: str) -> None:
    """An answer, a sentence, an expression; its input is not a call either."""
    text = f"Thought: hm\nAction: {name}\nAction Input: {given}"
    result = parsed(text)
    assert (result.calls, result.content) == ((), text)
    assert not any(note.is_broken for note in result.diagnostics)


@for_each("name", ["get-weather", "mcp:docs/search", "a.b", "加法", "final_answer", "x@2", "7zip"])
def test_an_action_names_what_a_tool_could_be_called(name: str) -> None:
    """A name with blanks must be declared."""
    assert calls(block("", name)) == [(name, {"q": "x"})]
    assert calls(block("", f"{name} web")) == []
    assert calls(block("", f"{name} web"), [f"{name} web"]) == [(f"{name} web", {"q": "x"})]


def test_a_final_answer_is_no_tool_even_where_one_is_called_so() -> None:
    """The word ends the agent's loop; in JSON as well."""
    assert calls(block("", "Final Answer"), ["Final Answer"]) == []
    assert calls('```json\n{"action": "final answer", "action_input": "42"}\n```') == []


def test_a_broken_input_is_not_a_call() -> None:
    """Braces that hold no literal are not guessed at."""
    assert calls(REACT.format("{a: b")) == []


@for_each(("text", "arguments"))
def test_langchain_has_two_tags(text: str, arguments: dict[str, Any]) -> None:
    """The second may be cut off by a stop word."""
    assert [(call.arguments, call.format) for call in parsed(text).calls] == [(arguments, "langchain_xml")]


@for_each(("body", "arguments"))
def test_brackets_hold_arrows(body: str, arguments: dict[str, Any]) -> None:
    """The arguments are JSON, or lines of options."""
    result = parsed(f"[TOOL_CALL]\n{body}\n[/TOOL_CALL]")
    assert [(call.name, call.arguments, call.format) for call in result.calls] == [
        ("f", arguments, "bracket_tool_call")
    ]


@for_each("text")
def test_anything_else_is_text(text: str) -> None:
    """Half a call is none."""
    refused(text)


def test_floods_are_text() -> None:
    """Every mark is looked at once."""
    for text in (
        "Action: f\nAction Input: {" * 60,
        "[TOOL_CALL]" * 60,
        "<tool>f</tool><tool_input>" * 60,
    ):
        assert parsed(text).calls == ()
