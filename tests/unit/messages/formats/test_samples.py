"""The same two calls in every format, as models write them: found without a hint, told, cut short, and quoted."""

import random
import re
from pathlib import Path
from typing import Final

from tests.tables import for_each

from permitry.messages.text import FORMATS, ParsedText, TextCallStream, parse_text

PAGE: Final = Path(__file__).parents[4] / "docs" / "reference" / "text-calls.md"
TOOLS: Final = {
    "f": {"properties": {"s": {"type": "string"}, "n": {"type": "integer"}}},
    "get_weather": {"properties": {"s": {"type": "string"}}},
}
CALLS: Final = [("f", {"s": 'a\n  <b> "c"', "n": 2}), ("get_weather", {})]

# The arguments of the first call, both calls in JSON, with either word for arguments, and the first one in Python.
A: Final = '{"s": "a\\n  <b> \\"c\\"", "n": 2}'
F: Final = f'{{"name": "f", "arguments": {A}}}'
W: Final = '{"name": "get_weather", "arguments": {}}'
FP, WP = (call.replace("arguments", "parameters") for call in (F, W))
LIST: Final = f"[{F}, {W}]"
PY: Final = "f(s='a\\n  <b> \"c\"', n=2)"
TEXT: Final = 'a\n  <b> "c"'

SAMPLES: Final = (
    (
        "function_xml",
        (
            f"<tool_call>\n<function=f>\n<parameter=s>\n{TEXT}\n</parameter>\n<parameter=n>\n2\n"
            "</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=get_weather>\n</function>\n"
            "</tool_call>"
        ),
    ),
    (
        "function_xml",
        (
            f"<function=f>\n<parameter=s>\n{TEXT}\n</parameter>\n<parameter=n>\n2\n</parameter>\n"
            "</function>\n<function=get_weather>\n</function>"
        ),
    ),
    (
        "function_xml",
        (
            f"<function=f><parameter=s>{TEXT}</parameter><parameter=n>2</parameter></function>\n"
            "<function=get_weather></function>"
        ),
    ),
    (
        "seed_oss",
        (
            f"<seed:tool_call>\n<function=f>\n<parameter=s>{TEXT}</parameter>\n<parameter=n>2</parameter>\n"
            "</function>\n</seed:tool_call>\n<seed:tool_call>\n<function=get_weather>\n</function>\n"
            "</seed:tool_call>"
        ),
    ),
    ("function_tag_json", f"<function=f>{A}</function>\n<function=get_weather>{{}}</function>"),
    ("functionary_v31", f"<function=f>{A}</function><function=get_weather>{{}}</function>"),
    ("functionary_v32", f">>>f\n{A}\n>>>get_weather\n{{}}"),
    ("tool_call_json", f"<tool_call>\n{F}\n</tool_call>\n<tool_call>\n{W}\n</tool_call>"),
    ("tool_call_json", f"<tool_call>{F}</tool_call><tool_call>{W}</tool_call>"),
    ("json_array", f"{LIST}"),
    ("json_array", f"[{FP}, {WP}]"),
    (
        "json_array",
        (
            '[\n  {\n    "name": "f",\n    "arguments": {\n      "s": "a\\n  <b> \\"c\\"",\n      "n": 2\n'
            '    }\n  },\n  {\n    "name": "get_weather",\n    "arguments": {}\n  }\n]'
        ),
    ),
    ("xlam", f"```json\n{LIST}\n```"),
    ("json_object", f"{F}\n{W}"),
    ("json_object", f'{{"tool": "f", "args": {A}}}\n{{"tool": "get_weather", "args": {{}}}}'),
    ("json_object", f"{FP}\n{WP}"),
    ("json_object_openai", f'{{"type": "function", "function": {FP}}}\n{{"type": "function", "function": {WP}}}'),
    (
        "json_object_openai",
        (
            '{"tool_calls": [{"id": "c0", "type": "function", '
            '"function": {"name": "f", "arguments": "{\\"s\\": \\"a\\\\n  <b> \\\\\\"c\\\\\\"\\", \\"n\\": 2}"}}'
            ', {"id": "c1", "type": "function", '
            '"function": {"name": "get_weather", "arguments": "{}"}}]}'
        ),
    ),
    ("json_fence", f"```json\n{F}\n```\n```json\n{W}\n```"),
    (
        "json_action_fence",
        (
            f'```json\n{{"action": "f", "action_input": {A}}}\n```\n```json\n'
            '{"action": "get_weather", "action_input": {}}\n```'
        ),
    ),
    ("llama3_json", f"<|python_tag|>{FP}; {WP}"),
    ("pythonic", f"[{PY}, get_weather()]"),
    ("llama4_pythonic", f"<|python_start|>[{PY}, get_weather()]<|python_end|>"),
    ("olmo3_pythonic", f"<function_calls>{PY}\nget_weather()</function_calls>"),
    ("lfm2", f"<|tool_call_start|>[{PY}, get_weather()]<|tool_call_end|>"),
    ("mistral", f"[TOOL_CALLS] {LIST}"),
    ("mistral", f"[TOOL_CALLS]f[ARGS]{A}[TOOL_CALLS]get_weather[ARGS]{{}}"),
    ("mistral", f"[TOOL_CALLS]f{A}[TOOL_CALLS]get_weather{{}}"),
    (
        "deepseek_v3",
        (
            "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>"
            f"function<\uff5ctool\u2581sep\uff5c>f\n```json\n{A}\n```<\uff5ctool\u2581call\u2581end\uff5c>"
            "\n<\uff5ctool\u2581call\u2581begin\uff5c>function<\uff5ctool\u2581sep\uff5c>get_weather\n"
            "```json\n{}\n```<\uff5ctool\u2581call\u2581end\uff5c><\uff5ctool\u2581calls\u2581end\uff5c>"
        ),
    ),
    (
        "deepseek_v31",
        (
            "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>"
            f"f<\uff5ctool\u2581sep\uff5c>{A}<\uff5ctool\u2581call\u2581end\uff5c>"
            "<\uff5ctool\u2581call\u2581begin\uff5c>get_weather<\uff5ctool\u2581sep\uff5c>"
            "{}<\uff5ctool\u2581call\u2581end\uff5c><\uff5ctool\u2581calls\u2581end\uff5c>"
        ),
    ),
    (
        "deepseek_v32_dsml",
        (
            '<\uff5cDSML\uff5cfunction_calls>\n<\uff5cDSML\uff5cinvoke name="f">\n'
            f'<\uff5cDSML\uff5cparameter name="s" string="true">{TEXT}</\uff5cDSML\uff5cparameter>\n'
            '<\uff5cDSML\uff5cparameter name="n" string="false">2</\uff5cDSML\uff5cparameter>\n'
            '</\uff5cDSML\uff5cinvoke>\n<\uff5cDSML\uff5cinvoke name="get_weather">\n'
            "</\uff5cDSML\uff5cinvoke>\n</\uff5cDSML\uff5cfunction_calls>"
        ),
    ),
    (
        "deepseek_v4_dsml",
        (
            '<\uff5cDSML\uff5ctool_calls>\n<\uff5cDSML\uff5cinvoke name="f">\n'
            f'<\uff5cDSML\uff5cparameter name="s" string="true">{TEXT}</\uff5cDSML\uff5cparameter>\n'
            '<\uff5cDSML\uff5cparameter name="n" string="false">2</\uff5cDSML\uff5cparameter>\n'
            '</\uff5cDSML\uff5cinvoke>\n<\uff5cDSML\uff5cinvoke name="get_weather">\n'
            "</\uff5cDSML\uff5cinvoke>\n</\uff5cDSML\uff5ctool_calls>"
        ),
    ),
    (
        "deepseek_v41_dsml",
        (
            '<\uff5cDSML\uff5c tool_calls>\n<\uff5cDSML\uff5c invoke name="f">\n'
            f'<\uff5cDSML\uff5c parameter name="s" string="true">{TEXT}</\uff5cDSML\uff5c parameter>\n'
            '<\uff5cDSML\uff5c parameter name="n" string="false">2</\uff5cDSML\uff5c parameter>\n'
            '</\uff5cDSML\uff5c invoke>\n<\uff5cDSML\uff5c invoke name="get_weather">\n'
            "</\uff5cDSML\uff5c invoke>\n</\uff5cDSML\uff5c tool_calls>"
        ),
    ),
    (
        "kimi_k2",
        (
            f"<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{A}"
            "<|tool_call_end|><|tool_call_begin|>functions.get_weather:1<|tool_call_argument_begin|>"
            "{}<|tool_call_end|><|tool_calls_section_end|>"
        ),
    ),
    (
        "kimi_k3",
        (
            '<|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|><|open|>'
            f'argument key="s" type="string"<|sep|>{TEXT}<|close|>argument<|sep|><|open|>'
            'argument key="n" type="number"<|sep|>2<|close|>argument<|sep|><|close|>call<|sep|><|open|>'
            'call tool="get_weather" index="2"<|sep|><|close|>call<|sep|><|close|>tools<|sep|>'
        ),
    ),
    (
        "glm45_47",
        (
            f"<tool_call>f\n<arg_key>s</arg_key>\n<arg_value>{TEXT}</arg_value>\n<arg_key>n</arg_key>\n"
            "<arg_value>2</arg_value>\n</tool_call>\n<tool_call>get_weather\n</tool_call>"
        ),
    ),
    (
        "glm45_47",
        (
            f"<tool_call>f<arg_key>s</arg_key><arg_value>{TEXT}</arg_value><arg_key>n</arg_key><arg_value>"
            "2</arg_value></tool_call>\n<tool_call>get_weather</tool_call>"
        ),
    ),
    (
        "poolside_v1",
        (
            f"<tool_call>f\n<arg_key>s</arg_key>\n<arg_value>{TEXT}</arg_value>\n<arg_key>n</arg_key>\n"
            "<arg_value>2</arg_value>\n</tool_call>\n<tool_call>get_weather\n</tool_call>"
        ),
    ),
    (
        "ling3",
        (
            f"<tool_call>f<arg_key>s</arg_key>\n<arg_value>{TEXT}</arg_value>\n<arg_key>n</arg_key>\n"
            "<arg_value>2</arg_value>\n</tool_call><tool_call>get_weather</tool_call>"
        ),
    ),
    (
        "spark25",
        (
            f"<tool_call>f<arg_key>s</arg_key><arg_value>{TEXT}</arg_value><arg_key>n</arg_key><arg_value>"
            "2</arg_value></tool_call>\n<tool_call>get_weather</tool_call>"
        ),
    ),
    (
        "hunyuan_v3",
        (
            f"<tool_calls>\n<tool_call>f<tool_sep>\n<arg_key>s</arg_key>\n<arg_value>{TEXT}</arg_value>\n"
            "<arg_key>n</arg_key>\n<arg_value>2</arg_value>\n</tool_call>\n<tool_call>get_weather<tool_sep>"
            "\n</tool_call>\n</tool_calls>"
        ),
    ),
    ("hunyuan_a13b", f"<tool_calls>{LIST}</tool_calls>"),
    ("jamba", f" <tool_calls>{LIST}</tool_calls>"),
    ("apriel", f"<tool_calls>{LIST}</tool_calls>"),
    ("minimax_m1", f"<tool_calls>\n{F}\n{W}\n</tool_calls>"),
    (
        "minimax_m2_invoke",
        (
            f'<minimax:tool_call>\n<invoke name="f">\n<parameter name="s">{TEXT}</parameter>\n'
            '<parameter name="n">2</parameter>\n</invoke>\n<invoke name="get_weather">\n</invoke>\n'
            "</minimax:tool_call>"
        ),
    ),
    (
        "invoke_xml",
        (
            f'<function_calls>\n<invoke name="f">\n<parameter name="s">{TEXT}</parameter>\n'
            '<parameter name="n">2</parameter>\n</invoke>\n<invoke name="get_weather">\n</invoke>\n'
            "</function_calls>"
        ),
    ),
    (
        "invoke_xml",
        (
            f'<invoke name="f">\n<parameter name="s">{TEXT}</parameter>\n<parameter name="n">2</parameter>'
            '\n</invoke>\n<invoke name="get_weather">\n</invoke>'
        ),
    ),
    (
        "dots",
        (
            f'<dots_function_call>\n<invoke name="f">\n<parameter name="s">{TEXT}</parameter>\n'
            '<parameter name="n">2</parameter>\n</invoke>\n<invoke name="get_weather">\n</invoke>\n'
            "</dots_function_call>"
        ),
    ),
    ("dots", f"<dots_function_call>{F}</dots_function_call>\n<dots_function_call>{W}</dots_function_call>"),
    (
        "minimax_m3",
        (
            f']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="f">]<]minimax[>[<s>{TEXT}]<]minimax[>[</s>'
            "]<]minimax[>[<n>2]<]minimax[>[</n>]<]minimax[>[</invoke>]<]minimax[>"
            '[<invoke name="get_weather">]<]minimax[>[</invoke>]<]minimax[>[</tool_call>'
        ),
    ),
    (
        "minicpm5_xml",
        (
            f'<function name="f"><param name="s">{TEXT}</param><param name="n">2</param></function>\n'
            '<function name="get_weather"></function>'
        ),
    ),
    ("granite3", f"<|tool_call|> {LIST}"),
    ("granite3", f"<tool_call> {LIST}"),
    ("granite3", f"<|tool_call|>{LIST}<|/tool_call|>"),
    ("granite_20b_fc", f"<function_call> {F}\n<function_call> {W}"),
    (
        "internlm2",
        f"<|action_start|><|plugin|>\n{FP}<|action_end|>\n<|action_start|><|plugin|>\n{WP}<|action_end|>",
    ),
    ("phi4", f"functools{LIST}"),
    ("firefunction", f" functools{LIST}"),
    ("nemotron_v2", f"<TOOLCALL>{LIST}</TOOLCALL>"),
    (
        "gigachat3",
        (f"<|message_sep|>\n\nfunction call<|role_sep|>\n{F}\n<|message_sep|>\n\nfunction call<|role_sep|>\n{W}"),
    ),
    ("longcat", f"<longcat_tool_call>{F}</longcat_tool_call>\n<longcat_tool_call>{W}</longcat_tool_call>"),
    (
        "longcat",
        (
            f"<longcat_tool_call>f\n<longcat_arg_key>s</longcat_arg_key>\n<longcat_arg_value>{TEXT}"
            "</longcat_arg_value>\n<longcat_arg_key>n</longcat_arg_key>\n<longcat_arg_value>"
            "2</longcat_arg_value>\n</longcat_tool_call>\n<longcat_tool_call>get_weather\n"
            "</longcat_tool_call>"
        ),
    ),
    ("apertus", f'<|tools_prefix|>[{{"f": {A}}}, {{"get_weather": {{}}}}]<|tools_suffix|>'),
    (
        "functiongemma",
        (
            f"<start_function_call>call:f{{s:<escape>{TEXT}<escape>,n:2}}<end_function_call>"
            "<start_function_call>call:get_weather{}<end_function_call>"
        ),
    ),
    (
        "gemma4",
        (f'<|tool_call>call:f{{s:<|"|>{TEXT}<|"|>,n:2}}<tool_call|><|tool_call>call:get_weather{{}}<tool_call|>'),
    ),
    (
        "step3",
        (
            "<\uff5ctool_calls_begin\uff5c><\uff5ctool_call_begin\uff5c>function<\uff5ctool_sep\uff5c>"
            f'<steptml:invoke name="f"><steptml:parameter name="s">{TEXT}</steptml:parameter>'
            '<steptml:parameter name="n">2</steptml:parameter></steptml:invoke><\uff5ctool_call_end\uff5c>'
            '<\uff5ctool_call_begin\uff5c>function<\uff5ctool_sep\uff5c><steptml:invoke name="get_weather">'
            "</steptml:invoke><\uff5ctool_call_end\uff5c><\uff5ctool_calls_end\uff5c>"
        ),
    ),
    (
        "cohere_command",
        (
            f'<|START_ACTION|>[{{"tool_call_id": "0", "tool_name": "f", "parameters": {A}'
            '}, {"tool_call_id": "1", "tool_name": "get_weather", "parameters": {}}]<|END_ACTION|>'
        ),
    ),
    (
        "harmony",
        (
            f"<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{A}"
            "<|call|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>"
            "json<|message|>{}<|call|>"
        ),
    ),
    (
        "harmony",
        (
            f"<|channel|>commentary to=functions.f <|constrain|>json<|message|>{A}<|call|><|channel|>"
            "commentary to=functions.get_weather <|constrain|>json<|message|>{}<|call|>"
        ),
    ),
    (
        "harmony",
        (
            f"<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{A}<|call|><|start|>"
            "assistant to=functions.get_weather<|channel|>commentary json<|message|>{}<|call|>"
        ),
    ),
    (
        "beam_harmony",
        (
            f"<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{A}"
            "<|call|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>"
            "json<|message|>{}<|call|>"
        ),
    ),
    ("react", f"Action: f\nAction Input: {A}\nAction: get_weather\nAction Input: {{}}"),
    (
        "react_json",
        f"Thought: so.\nAction: f\nAction Input: {A}\nThought: so.\nAction: get_weather\nAction Input: {{}}",
    ),
    (
        "langchain_xml",
        f"<tool>f</tool><tool_input>{A}</tool_input>\n<tool>get_weather</tool><tool_input>{{}}</tool_input>",
    ),
    (
        "bracket_tool_call",
        (
            f'[TOOL_CALL]\n{{tool => "f", args => {A}}}\n[/TOOL_CALL]\n[TOOL_CALL]\n{{tool =>'
            ' "get_weather", args => {}}\n[/TOOL_CALL]'
        ),
    ),
    (
        "muse",
        (
            '<|start|>assistant to=f<|message|><atem:function_calls>\n<atem:invoke name="f">\n'
            f'<atem:parameter name="s">{TEXT}</atem:parameter>\n<atem:parameter name="n">2</atem:parameter>'
            "\n</atem:invoke>\n</atem:function_calls><|eom|><|start|>assistant to=get_weather<|message|>"
            '<atem:function_calls>\n<atem:invoke name="get_weather">\n</atem:invoke>\n'
            "</atem:function_calls><|eom|>"
        ),
    ),
    (
        "muse_glimmer",
        (
            '<|start|>assistant to=f<|message|><atem:function_calls>\n<atem:invoke name="f">\n'
            f'<atem:parameter name="s">{TEXT}</atem:parameter>\n<atem:parameter name="n">2</atem:parameter>'
            "\n</atem:invoke>\n</atem:function_calls><|eom|><|start|>assistant to=get_weather<|message|>"
            '<atem:function_calls>\n<atem:invoke name="get_weather">\n</atem:invoke>\n'
            "</atem:function_calls><|eom|>"
        ),
    ),
    (
        "inkling",
        (
            f'<|message_model|><|content_invoke_tool_json|>{{"name": "f", "args": {A}}}<|end_message|>'
            "<|message_model|><|content_invoke_tool_json|>"
            '{"name": "get_weather", "args": {}}<|end_message|>'
        ),
    ),
    ("k2_horizon", f"<ifm|tool_call>{F}</ifm|tool_call>\n<ifm|tool_call>{W}</ifm|tool_call>"),
    (
        "k2_horizon",
        (
            f"<ifm|tool_calls><ifm|tool_call>f<ifm|arg_key>s</ifm|arg_key><ifm|arg_value>{TEXT}"
            "</ifm|arg_value><ifm|arg_key>n</ifm|arg_key><ifm|arg_value>2</ifm|arg_value></ifm|tool_call>\n"
            "<ifm|tool_call>get_weather</ifm|tool_call></ifm|tool_calls>"
        ),
    ),
    (
        "plamo3",
        (
            "<|plamo:begin_tool_requests:plamo|><|plamo:begin_tool_request:plamo|>"
            "<|plamo:begin_tool_name:plamo|>f<|plamo:end_tool_name:plamo|>"
            f"<|plamo:begin_tool_arguments:plamo|>{A}<|plamo:end_tool_arguments:plamo|>"
            "<|plamo:end_tool_request:plamo|><|plamo:begin_tool_request:plamo|>"
            "<|plamo:begin_tool_name:plamo|>get_weather<|plamo:end_tool_name:plamo|>"
            "<|plamo:begin_tool_arguments:plamo|>{}<|plamo:end_tool_arguments:plamo|>"
            "<|plamo:end_tool_request:plamo|><|plamo:end_tool_requests:plamo|>"
        ),
    ),
    ("tools_tag", f"<tools>\n{F}\n</tools>\n<tools>\n{W}\n</tools>"),
    ("tool_use", f"<tool_use>{F}</tool_use>\n<tool_use>{W}</tool_use>"),
    ("function_calls_json", f"<function_calls>{LIST}</function_calls>"),
)


def found(result: ParsedText) -> list[tuple[str, dict[str, object]]]:
    """Return names and arguments of the calls that did not have to be repaired."""
    return [(call.name, dict(call.arguments)) for call in result.calls if not call.repaired]


def streamed(text: str, name: str, longest: int) -> ParsedText:
    """Return what a stream gives for `text` in random pieces."""
    stream, rng = TextCallStream(TOOLS, name), random.Random(longest)  # noqa: S311 -- no secret
    while text:
        size = rng.randint(1, longest)
        stream.feed(text[:size])
        text = text[size:]
    return stream.finish()


def test_every_format_has_a_sample() -> None:
    """None is forgotten."""
    assert {name for name, _ in SAMPLES} == set(FORMATS) - {"auto"}


def test_every_format_is_on_its_page() -> None:
    """In the table of formats."""
    rows = [line for line in PAGE.read_text(encoding="utf-8").split("\n## Formats\n")[1].splitlines() if "|" in line]
    names = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert set(FORMATS) - {"auto"} <= names


@for_each(("name", "text"), SAMPLES)
def test_a_sample_is_read(name: str, text: str) -> None:
    """With the format told and without, whole and in pieces."""
    for shown in ("auto", name):
        assert found(parse_text(text, TOOLS, shown)) == CALLS
        for longest in (1, 20):
            assert streamed(text, shown, longest) == parse_text(text, TOOLS, shown)


@for_each(("name", "text"), SAMPLES)
def test_text_and_thinking_before_a_sample_change_nothing(name: str, text: str) -> None:
    """What is thought is reasoning, what is said is content."""
    result = parse_text(f"<think>\n{CALLS}?\n</think>\nI look.\n{text}", TOOLS, name)
    assert found(result) == CALLS
    assert result.content.startswith("\nI look.\n")


@for_each(("name", "text"), SAMPLES)
@for_each("repair", [False, True])
def test_a_sample_that_is_cut_gives_no_other_calls(name: str, text: str, repair: bool) -> None:  # noqa: FBT001 -- a parameter of the test
    """Wherever the text ends: those it holds completely, or calls that say they were repaired."""
    for end in range(0, len(text), 3):
        for shown in ("auto", name):
            calls = found(parse_text(text[:end], TOOLS, shown, repair=repair))
            assert calls == CALLS[: len(calls)]


@for_each(("name", "text"), SAMPLES)
def test_a_sample_inside_of_thinking_is_not_a_call(name: str, text: str) -> None:
    """In all spellings that are closed."""
    for opener, closer in (("<think>", "</think>"), ("<reasoning>", "</reasoning>"), ("[THINK]", "[/THINK]")):
        assert parse_text(f"{opener}{text}{closer}", TOOLS, "auto").calls == ()
        assert parse_text(f"{opener}{text}{closer}", TOOLS, name).calls == ()
