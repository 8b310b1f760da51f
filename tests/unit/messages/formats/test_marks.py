"""The marks of all formats: a call in each, and how they are searched for together."""

import re
import timeit

from tests.parsing import parsed
from tests.tables import for_each

from permitry.messages.formats.marks import _ALL, FORMATS, marks_of

ARGUMENTS = '{"a": 1}'
CALL = '{"name": "f", "arguments": {"a": 1}}'


def invoked(prefix: str, wrapper: str, call: str = "invoke", parameter: str = "parameter") -> str:
    """Return a call of `f` in a model's own tags."""
    inner = f'<{prefix}{call} name="f">\n<{prefix}{parameter} name="a">x y</{prefix}{parameter}>\n</{prefix}{call}>'
    return f"<{wrapper}>\n{inner}\n</{wrapper}>" if wrapper else inner


MUSE = invoked("atem:", "atem:function_calls")


DSML = "｜DSML｜"  # noqa: RUF001 -- DeepSeek's own characters


STEP = "<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜>{}<｜tool_call_end｜><｜tool_calls_end｜>"  # noqa: RUF001 -- as above


def pair(prefix: str) -> str:
    """Return an argument in the tags of a family."""
    return f"<{prefix}arg_key>a</{prefix}arg_key>\n<{prefix}arg_value>x</{prefix}arg_value>\n"


def plamo(word: str, inner: str) -> str:
    """Return a part of a call in PLaMo's tags."""
    return f"<|plamo:begin_tool_{word}:plamo|>{inner}<|plamo:end_tool_{word}:plamo|>"


PLAMO = plamo("requests", plamo("request", f"{plamo('name', 'f')}{plamo('arguments', ARGUMENTS)}"))


@for_each(
    ("name", "text", "arguments"),
    [
        ("tool_call_json", f"<tool_call>\n{CALL}\n</tool_call>", {"a": 1}),
        ("granite3", f"<|tool_call|> [{CALL}]", {"a": 1}),
        ("granite_20b_fc", f"<function_call> {CALL}", {"a": 1}),
        ("nemotron_v2", f"<TOOLCALL>[{CALL}]</TOOLCALL>", {"a": 1}),
        ("longcat", f"<longcat_tool_call>{CALL}</longcat_tool_call>", {"a": 1}),
        ("k2_horizon", f"<ifm|tool_calls><ifm|tool_call>{CALL}</ifm|tool_call></ifm|tool_calls>", {"a": 1}),
        ("dots", f"<dots_function_call>{CALL}</dots_function_call>", {"a": 1}),
        ("tools_tag", f"<tools>\n{CALL}\n</tools>", {"a": 1}),
        ("tool_use", f"<tool_use>{CALL}</tool_use>", {"a": 1}),
        ("hunyuan_a13b", f"<tool_calls>[{CALL}]</tool_calls>", {"a": 1}),
        ("function_calls_json", f"<function_calls>[{CALL}]</function_calls>", {"a": 1}),
        ("phi4", f"functools[{CALL}]", {"a": 1}),
        ("internlm2", '<|action_start|><|plugin|>\n{"name": "f", "parameters": {"a": 1}}<|action_end|>', {"a": 1}),
        ("gigachat3", f"<|message_sep|>\n\nfunction call<|role_sep|>\n{CALL}</s>", {"a": 1}),
        ("cohere_command", '<|START_ACTION|>[{"tool_name": "f", "parameters": {"a": 1}}]<|END_ACTION|>', {"a": 1}),
        ("apertus", '<|tools_prefix|>[{"f": {"a": 1}}]<|tools_suffix|>', {"a": 1}),
        ("llama3_json", '<|python_tag|>{"name": "f", "parameters": {"a": 1}}', {"a": 1}),
        ("lfm2", f"<|tool_call_start|>[{CALL}]<|tool_call_end|>", {"a": 1}),
        ("inkling", '<|content_invoke_tool_json|>{"name": "f", "args": {"a": 1}}<|end_message|>', {"a": 1}),
        ("json_array", f"[{CALL}]", {"a": 1}),
        ("json_object", CALL, {"a": 1}),
        ("json_fence", f"```json\n{CALL}\n```", {"a": 1}),
        ("json_object_openai", '{"type": "function", "function": {"name": "f", "parameters": {"a": 1}}}', {"a": 1}),
        ("json_action_fence", '```\n{"action": "f", "action_input": {"a": 1}}\n```', {"a": 1}),
        ("pythonic", '[f(a="x", n=1)]', {"a": "x", "n": 1}),
        ("llama4_pythonic", '<|python_start|>[f(a="x", n=1)]<|python_end|>', {"a": "x", "n": 1}),
        ("olmo3_pythonic", '<function_calls>f(a="x", n=1)</function_calls>', {"a": "x", "n": 1}),
        ("lfm2", '<|tool_call_start|>[f(a="x", n=1)]<|tool_call_end|>', {"a": "x", "n": 1}),
        ("glm45_47", "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>x</arg_value>\n</tool_call>", {"a": "x"}),
        ("hunyuan_v3", f"<tool_calls><tool_call>f<tool_sep>{pair('')}</tool_call></tool_calls>", {"a": "x"}),
        ("longcat", f"<longcat_tool_call>f\n{pair('longcat_')}</longcat_tool_call>", {"a": "x"}),
        (
            "k2_horizon",
            f"<ifm|tool_call>f\n{pair('ifm|')}</ifm|tool_call>",
            {"a": "x"},
        ),
        ("invoke_xml", invoked("", "function_calls"), {"a": "x y"}),
        ("minimax_m2_invoke", invoked("", "minimax:tool_call"), {"a": "x y"}),
        ("dots", invoked("", "dots_function_call"), {"a": "x y"}),
        ("minicpm5_xml", invoked("", "", "function", "param"), {"a": "x y"}),
        ("step3", STEP.format(invoked("steptml:", "")), {"a": "x y"}),
        ("deepseek_v32_dsml", invoked(DSML, f"{DSML}function_calls"), {"a": "x y"}),
        ("deepseek_v4_dsml", invoked(DSML, f"{DSML}tool_calls"), {"a": "x y"}),
        ("deepseek_v41_dsml", invoked(f"{DSML} ", f"{DSML} calls"), {"a": "x y"}),
        ("muse_glimmer", f"<|start|>assistant to=f<|message|>{MUSE}<|eom|>", {"a": "x y"}),
        (
            "plamo3",
            PLAMO,
            {"a": 1},
        ),
    ],
)
def test_a_call_is_found(name: str, text: str, arguments: object) -> None:
    """The format need not be given, and may be; what only frames the call is not content."""
    lead = "" if name == "pythonic" else "Well. "
    for settings in ({}, {"format": name}):
        result = parsed(f"{lead}{text}", **settings)
        assert [(call.name, call.arguments, call.format) for call in result.calls] == [("f", arguments, name)]
        assert result.content.strip() == lead.strip()


@for_each("name", FORMATS)
def test_the_search_finds_every_mark_of_a_format(name: str) -> None:
    """Where nothing has to follow it; the longest of those that stand there is found."""
    marks = marks_of(name)
    for text, readers in marks.readers.items():
        if all(mark.pattern is None and not mark.is_first for mark in readers if mark.text == text):
            found = marks.pattern.search(f"e{text}")
            assert found is not None
            assert found.group() == text


def test_a_pattern_begins_with_the_text_of_its_mark() -> None:
    """The search is grouped by the first characters of the texts."""
    assert all(mark.pattern.startswith(re.escape(mark.text)) for mark in _ALL if mark.pattern)


def test_plain_text_is_passed_over_at_once() -> None:
    """A search for all marks takes not much longer than one for a few characters."""
    text = "e" * 100_000

    def best(pattern: "re.Pattern[str]") -> float:
        return min(timeit.repeat(lambda: pattern.search(text), number=1, repeat=9))

    assert best(marks_of("auto").pattern) < 20 * best(re.compile(r"[<{\[`]x"))
