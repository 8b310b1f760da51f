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

SAMPLES: Final = (
    (
        "function_xml",
        (
            '<tool_call>\n<function=f>\n<parameter=s>\na\n  <b> "c"\n</parameter>\n<parameter=n>\n'
            "2\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=get_weather>\n"
            "</function>\n</tool_call>"
        ),
    ),
    (
        "function_xml",
        (
            '<function=f>\n<parameter=s>\na\n  <b> "c"\n</parameter>\n<parameter=n>\n'
            "2\n</parameter>\n</function>\n<function=get_weather>\n</function>"
        ),
    ),
    (
        "function_xml",
        (
            '<function=f><parameter=s>a\n  <b> "c"</parameter><parameter=n>2</parameter></function>\n'
            "<function=get_weather></function>"
        ),
    ),
    (
        "seed_oss",
        (
            '<seed:tool_call>\n<function=f>\n<parameter=s>a\n  <b> "c"</parameter>\n'
            "<parameter=n>2</parameter>\n</function>\n</seed:tool_call>\n<seed:tool_call>\n"
            "<function=get_weather>\n</function>\n</seed:tool_call>"
        ),
    ),
    (
        "function_tag_json",
        '<function=f>{"s": "a\\n  <b> \\"c\\"", "n": 2}</function>\n<function=get_weather>{}</function>',
    ),
    (
        "functionary_v31",
        '<function=f>{"s": "a\\n  <b> \\"c\\"", "n": 2}</function><function=get_weather>{}</function>',
    ),
    ("functionary_v32", '>>>f\n{"s": "a\\n  <b> \\"c\\"", "n": 2}\n>>>get_weather\n{}'),
    (
        "tool_call_json",
        (
            '<tool_call>\n{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}\n'
            '</tool_call>\n<tool_call>\n{"name": "get_weather", "arguments": {}}\n</tool_call>'
        ),
    ),
    (
        "tool_call_json",
        (
            '<tool_call>{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}</tool_call><tool_call>'
            '{"name": "get_weather", "arguments": {}}</tool_call>'
        ),
    ),
    (
        "json_array",
        '[{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}, {"name": "get_weather", "arguments": {}}]',
    ),
    (
        "json_array",
        '[{"name": "f", "parameters": {"s": "a\\n  <b> \\"c\\"", "n": 2}}, {"name": "get_weather", "parameters": {}}]',
    ),
    (
        "json_array",
        (
            '[\n  {\n    "name": "f",\n    "arguments": {\n      "s": "a\\n  <b> \\"c\\"",\n'
            '      "n": 2\n    }\n  },\n  {\n    "name": "get_weather",\n    "arguments": {}\n'
            "  }\n]"
        ),
    ),
    (
        "xlam",
        (
            '```json\n[{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}, {"name": "get_weather"'
            ', "arguments": {}}]\n```'
        ),
    ),
    (
        "json_object",
        '{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}\n{"name": "get_weather", "arguments": {}}',
    ),
    (
        "json_object",
        '{"tool": "f", "args": {"s": "a\\n  <b> \\"c\\"", "n": 2}}\n{"tool": "get_weather", "args": {}}',
    ),
    (
        "json_object",
        '{"name": "f", "parameters": {"s": "a\\n  <b> \\"c\\"", "n": 2}}\n{"name": "get_weather", "parameters": {}}',
    ),
    (
        "json_object_openai",
        (
            '{"type": "function", "function": {"name": "f", "parameters": {"s": "a\\n  <b> \\"c\\"", "n": 2}}'
            '}\n{"type": "function", "function": {"name": "get_weather", "parameters": {}}}'
        ),
    ),
    (
        "json_object_openai",
        (
            '{"tool_calls": [{"id": "c0", "type": "function", "function": {"name": "f", "arguments": "{\\"s\\'
            '": \\"a\\\\n  <b> \\\\\\"c\\\\\\"\\", \\"n\\": 2}"}}, {"id": "c1", "type": "function", "function'
            '": {"name": "get_weather", "arguments": "{}"}}]}'
        ),
    ),
    (
        "json_fence",
        (
            '```json\n{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}\n'
            '```\n```json\n{"name": "get_weather", "arguments": {}}\n```'
        ),
    ),
    (
        "json_action_fence",
        (
            '```json\n{"action": "f", "action_input": {"s": "a\\n  <b> \\"c\\"", "n": 2}}\n'
            '```\n```json\n{"action": "get_weather", "action_input": {}}\n```'
        ),
    ),
    (
        "llama3_json",
        (
            '<|python_tag|>{"name": "f", "parameters": {"s": "a\\n  <b> \\"c\\"", "n": 2}}; {"name": "get_wea'
            'ther", "parameters": {}}'
        ),
    ),
    ("pythonic", "[f(s='a\\n  <b> \"c\"', n=2), get_weather()]"),
    ("llama4_pythonic", "<|python_start|>[f(s='a\\n  <b> \"c\"', n=2), get_weather()]<|python_end|>"),
    ("olmo3_pythonic", "<function_calls>f(s='a\\n  <b> \"c\"', n=2)\nget_weather()</function_calls>"),
    ("lfm2", "<|tool_call_start|>[f(s='a\\n  <b> \"c\"', n=2), get_weather()]<|tool_call_end|>"),
    (
        "mistral",
        (
            '[TOOL_CALLS] [{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}, {"name": "get_weat'
            'her", "arguments": {}}]'
        ),
    ),
    ("mistral", '[TOOL_CALLS]f[ARGS]{"s": "a\\n  <b> \\"c\\"", "n": 2}[TOOL_CALLS]get_weather[ARGS]{}'),
    ("mistral", '[TOOL_CALLS]f{"s": "a\\n  <b> \\"c\\"", "n": 2}[TOOL_CALLS]get_weather{}'),
    (
        "deepseek_v3",
        (
            "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>function<\uff5cto"
            'ol\u2581sep\uff5c>f\n```json\n{"s": "a\\n  <b> \\"c\\"", "n": 2}\n```<\uff5ctool\u2581call\u2581'
            "end\uff5c>\n<\uff5ctool\u2581call\u2581begin\uff5c>function<\uff5ctool\u2581sep\uff5c>get_weathe"
            "r\n```json\n{}\n```<\uff5ctool\u2581call\u2581end\uff5c><\uff5ctool\u2581calls\u2581end\uff5c>"
        ),
    ),
    (
        "deepseek_v31",
        (
            "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>f<\uff5ctool\u2581"
            'sep\uff5c>{"s": "a\\n  <b> \\"c\\"", "n": 2}<\uff5ctool\u2581call\u2581end\uff5c><\uff5ctool\u2581'
            "call\u2581begin\uff5c>get_weather<\uff5ctool\u2581sep\uff5c>{}<\uff5ctool\u2581call\u2581end\uff5c"
            "><\uff5ctool\u2581calls\u2581end\uff5c>"
        ),
    ),
    (
        "deepseek_v32_dsml",
        (
            '<\uff5cDSML\uff5cfunction_calls>\n<\uff5cDSML\uff5cinvoke name="f">\n<\uff5cDSML\uff5cparameter '
            'name="s" string="true">a\n  <b> "c"</\uff5cDSML\uff5cparameter>\n<\uff5cDSML\uff5cparameter name'
            '="n" string="false">2</\uff5cDSML\uff5cparameter>\n</\uff5cDSML\uff5cinvoke>\n'
            '<\uff5cDSML\uff5cinvoke name="get_weather">\n</\uff5cDSML\uff5cinvoke>\n'
            "</\uff5cDSML\uff5cfunction_calls>"
        ),
    ),
    (
        "deepseek_v4_dsml",
        (
            '<\uff5cDSML\uff5ctool_calls>\n<\uff5cDSML\uff5cinvoke name="f">\n<\uff5cDSML\uff5cparameter name'
            '="s" string="true">a\n  <b> "c"</\uff5cDSML\uff5cparameter>\n<\uff5cDSML\uff5cparameter name="n"'
            ' string="false">2</\uff5cDSML\uff5cparameter>\n</\uff5cDSML\uff5cinvoke>\n'
            '<\uff5cDSML\uff5cinvoke name="get_weather">\n</\uff5cDSML\uff5cinvoke>\n'
            "</\uff5cDSML\uff5ctool_calls>"
        ),
    ),
    (
        "deepseek_v41_dsml",
        (
            '<\uff5cDSML\uff5c tool_calls>\n<\uff5cDSML\uff5c invoke name="f">\n<\uff5cDSML\uff5c parameter n'
            'ame="s" string="true">a\n  <b> "c"</\uff5cDSML\uff5c parameter>\n<\uff5cDSML\uff5c parameter nam'
            'e="n" string="false">2</\uff5cDSML\uff5c parameter>\n</\uff5cDSML\uff5c invoke>\n'
            '<\uff5cDSML\uff5c invoke name="get_weather">\n</\uff5cDSML\uff5c invoke>\n'
            "</\uff5cDSML\uff5c tool_calls>"
        ),
    ),
    (
        "kimi_k2",
        (
            '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"s": "a'
            '\\n  <b> \\"c\\"", "n": 2}<|tool_call_end|><|tool_call_begin|>functions.get_weather:1<|tool_call'
            "_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>"
        ),
    ),
    (
        "kimi_k3",
        (
            '<|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|><|open|>argument key="s" type="string"'
            '<|sep|>a\n  <b> "c"<|close|>argument<|sep|><|open|>argument key="n" type="number"<|sep|>2<|close'
            '|>argument<|sep|><|close|>call<|sep|><|open|>call tool="get_weather" index="2"<|sep|><|close|>ca'
            "ll<|sep|><|close|>tools<|sep|>"
        ),
    ),
    (
        "glm45_47",
        (
            '<tool_call>f\n<arg_key>s</arg_key>\n<arg_value>a\n  <b> "c"</arg_value>\n'
            "<arg_key>n</arg_key>\n<arg_value>2</arg_value>\n</tool_call>\n<tool_call>get_weather\n"
            "</tool_call>"
        ),
    ),
    (
        "glm45_47",
        (
            '<tool_call>f<arg_key>s</arg_key><arg_value>a\n  <b> "c"</arg_value><arg_key>n</arg_key><arg_valu'
            "e>2</arg_value></tool_call>\n<tool_call>get_weather</tool_call>"
        ),
    ),
    (
        "poolside_v1",
        (
            '<tool_call>f\n<arg_key>s</arg_key>\n<arg_value>a\n  <b> "c"</arg_value>\n'
            "<arg_key>n</arg_key>\n<arg_value>2</arg_value>\n</tool_call>\n<tool_call>get_weather\n"
            "</tool_call>"
        ),
    ),
    (
        "ling3",
        (
            '<tool_call>f<arg_key>s</arg_key>\n<arg_value>a\n  <b> "c"</arg_value>\n'
            "<arg_key>n</arg_key>\n<arg_value>2</arg_value>\n</tool_call><tool_call>get_weather</tool_call>"
        ),
    ),
    (
        "spark25",
        (
            '<tool_call>f<arg_key>s</arg_key><arg_value>a\n  <b> "c"</arg_value><arg_key>n</arg_key><arg_valu'
            "e>2</arg_value></tool_call>\n<tool_call>get_weather</tool_call>"
        ),
    ),
    (
        "hunyuan_v3",
        (
            "<tool_calls>\n<tool_call>f<tool_sep>\n<arg_key>s</arg_key>\n<arg_value>a\n"
            '  <b> "c"</arg_value>\n<arg_key>n</arg_key>\n<arg_value>2</arg_value>\n'
            "</tool_call>\n<tool_call>get_weather<tool_sep>\n</tool_call>\n</tool_calls>"
        ),
    ),
    (
        "hunyuan_a13b",
        (
            '<tool_calls>[{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}, {"name": "get_weath'
            'er", "arguments": {}}]</tool_calls>'
        ),
    ),
    (
        "jamba",
        (
            ' <tool_calls>[{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}, {"name": "get_weat'
            'her", "arguments": {}}]</tool_calls>'
        ),
    ),
    (
        "apriel",
        (
            '<tool_calls>[{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}, {"name": "get_weath'
            'er", "arguments": {}}]</tool_calls>'
        ),
    ),
    (
        "minimax_m1",
        (
            '<tool_calls>\n{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}\n'
            '{"name": "get_weather", "arguments": {}}\n</tool_calls>'
        ),
    ),
    (
        "minimax_m2_invoke",
        (
            '<minimax:tool_call>\n<invoke name="f">\n<parameter name="s">a\n  <b> "c"</parameter>\n'
            '<parameter name="n">2</parameter>\n</invoke>\n<invoke name="get_weather">\n'
            "</invoke>\n</minimax:tool_call>"
        ),
    ),
    (
        "invoke_xml",
        (
            '<function_calls>\n<invoke name="f">\n<parameter name="s">a\n  <b> "c"</parameter>\n'
            '<parameter name="n">2</parameter>\n</invoke>\n<invoke name="get_weather">\n'
            "</invoke>\n</function_calls>"
        ),
    ),
    (
        "invoke_xml",
        (
            '<invoke name="f">\n<parameter name="s">a\n  <b> "c"</parameter>\n<parameter name="n">2</paramete'
            'r>\n</invoke>\n<invoke name="get_weather">\n</invoke>'
        ),
    ),
    (
        "dots",
        (
            '<dots_function_call>\n<invoke name="f">\n<parameter name="s">a\n  <b> "c"</parameter>\n'
            '<parameter name="n">2</parameter>\n</invoke>\n<invoke name="get_weather">\n'
            "</invoke>\n</dots_function_call>"
        ),
    ),
    (
        "dots",
        (
            '<dots_function_call>{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}</dots_functio'
            'n_call>\n<dots_function_call>{"name": "get_weather", "arguments": {}}</dots_function_call>'
        ),
    ),
    (
        "minimax_m3",
        (
            ']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="f">]<]minimax[>[<s>a\n'
            '  <b> "c"]<]minimax[>[</s>]<]minimax[>[<n>2]<]minimax[>[</n>]<]minimax[>[</invoke>]<]minimax[>[<'
            'invoke name="get_weather">]<]minimax[>[</invoke>]<]minimax[>[</tool_call>'
        ),
    ),
    (
        "minicpm5_xml",
        (
            '<function name="f"><param name="s">a\n  <b> "c"</param><param name="n">2</param></function>\n'
            '<function name="get_weather"></function>'
        ),
    ),
    (
        "granite3",
        (
            '<|tool_call|> [{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}, {"name": "get_wea'
            'ther", "arguments": {}}]'
        ),
    ),
    (
        "granite3",
        (
            '<tool_call> [{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}, {"name": "get_weath'
            'er", "arguments": {}}]'
        ),
    ),
    (
        "granite3",
        (
            '<|tool_call|>[{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}, {"name": "get_weat'
            'her", "arguments": {}}]<|/tool_call|>'
        ),
    ),
    (
        "granite_20b_fc",
        (
            '<function_call> {"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}\n'
            '<function_call> {"name": "get_weather", "arguments": {}}'
        ),
    ),
    (
        "internlm2",
        (
            '<|action_start|><|plugin|>\n{"name": "f", "parameters": {"s": "a\\n  <b> \\"c\\"", "n": 2}}<|act'
            'ion_end|>\n<|action_start|><|plugin|>\n{"name": "get_weather", "parameters": {}}<|action_end|>'
        ),
    ),
    (
        "phi4",
        (
            'functools[{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}, {"name": "get_weather"'
            ', "arguments": {}}]'
        ),
    ),
    (
        "firefunction",
        (
            ' functools[{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}, {"name": "get_weather'
            '", "arguments": {}}]'
        ),
    ),
    (
        "nemotron_v2",
        (
            '<TOOLCALL>[{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}, {"name": "get_weather'
            '", "arguments": {}}]</TOOLCALL>'
        ),
    ),
    (
        "gigachat3",
        (
            '<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\'
            '"", "n": 2}}\n<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "get_weather", "arguments":'
            " {}}"
        ),
    ),
    (
        "longcat",
        (
            '<longcat_tool_call>{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}</longcat_tool_'
            'call>\n<longcat_tool_call>{"name": "get_weather", "arguments": {}}</longcat_tool_call>'
        ),
    ),
    (
        "longcat",
        (
            "<longcat_tool_call>f\n<longcat_arg_key>s</longcat_arg_key>\n<longcat_arg_value>a\n"
            '  <b> "c"</longcat_arg_value>\n<longcat_arg_key>n</longcat_arg_key>\n<longcat_arg_value>2</longc'
            "at_arg_value>\n</longcat_tool_call>\n<longcat_tool_call>get_weather\n</longcat_tool_call>"
        ),
    ),
    (
        "apertus",
        '<|tools_prefix|>[{"f": {"s": "a\\n  <b> \\"c\\"", "n": 2}}, {"get_weather": {}}]<|tools_suffix|>',
    ),
    (
        "functiongemma",
        (
            '<start_function_call>call:f{s:<escape>a\n  <b> "c"<escape>,n:2}<end_function_call><start_functio'
            "n_call>call:get_weather{}<end_function_call>"
        ),
    ),
    (
        "gemma4",
        '<|tool_call>call:f{s:<|"|>a\n  <b> "c"<|"|>,n:2}<tool_call|><|tool_call>call:get_weather{}<tool_call|>',
    ),
    (
        "step3",
        (
            "<\uff5ctool_calls_begin\uff5c><\uff5ctool_call_begin\uff5c>function<\uff5ctool_sep\uff5c><steptm"
            'l:invoke name="f"><steptml:parameter name="s">a\n  <b> "c"</steptml:parameter><steptml:parameter'
            ' name="n">2</steptml:parameter></steptml:invoke><\uff5ctool_call_end\uff5c><\uff5ctool_call_begi'
            'n\uff5c>function<\uff5ctool_sep\uff5c><steptml:invoke name="get_weather"></steptml:invoke><\uff5c'
            "tool_call_end\uff5c><\uff5ctool_calls_end\uff5c>"
        ),
    ),
    (
        "cohere_command",
        (
            '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {"s": "a\\n  <b> \\"c\\""'
            ', "n": 2}}, {"tool_call_id": "1", "tool_name": "get_weather", "parameters": {}}]<|END_ACTION|>'
        ),
    ),
    (
        "harmony",
        (
            '<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"s": "a\\n  '
            '<b> \\"c\\"", "n": 2}<|call|><|start|>assistant<|channel|>commentary to=functions.get_weather <|'
            "constrain|>json<|message|>{}<|call|>"
        ),
    ),
    (
        "harmony",
        (
            '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"s": "a\\n  <b> \\"c\\"", "n":'
            " 2}<|call|><|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{}<|call|>"
        ),
    ),
    (
        "harmony",
        (
            '<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{"s": "a\\n  <b> \\"c\\"",'
            ' "n": 2}<|call|><|start|>assistant to=functions.get_weather<|channel|>commentary json<|message|>'
            "{}<|call|>"
        ),
    ),
    (
        "beam_harmony",
        (
            '<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"s": "a\\n  '
            '<b> \\"c\\"", "n": 2}<|call|><|start|>assistant<|channel|>commentary to=functions.get_weather <|'
            "constrain|>json<|message|>{}<|call|>"
        ),
    ),
    (
        "react",
        'Action: f\nAction Input: {"s": "a\\n  <b> \\"c\\"", "n": 2}\nAction: get_weather\nAction Input: {}',
    ),
    (
        "react_json",
        (
            'Thought: so.\nAction: f\nAction Input: {"s": "a\\n  <b> \\"c\\"", "n": 2}\n'
            "Thought: so.\nAction: get_weather\nAction Input: {}"
        ),
    ),
    (
        "langchain_xml",
        (
            '<tool>f</tool><tool_input>{"s": "a\\n  <b> \\"c\\"", "n": 2}</tool_input>\n'
            "<tool>get_weather</tool><tool_input>{}</tool_input>"
        ),
    ),
    (
        "bracket_tool_call",
        (
            '[TOOL_CALL]\n{tool => "f", args => {"s": "a\\n  <b> \\"c\\"", "n": 2}}\n'
            '[/TOOL_CALL]\n[TOOL_CALL]\n{tool => "get_weather", args => {}}\n[/TOOL_CALL]'
        ),
    ),
    (
        "muse",
        (
            '<|start|>assistant to=f<|message|><atem:function_calls>\n<atem:invoke name="f">\n'
            '<atem:parameter name="s">a\n  <b> "c"</atem:parameter>\n<atem:parameter name="n">2</atem:paramet'
            "er>\n</atem:invoke>\n</atem:function_calls><|eom|><|start|>assistant to=get_weather<|message|><a"
            'tem:function_calls>\n<atem:invoke name="get_weather">\n</atem:invoke>\n'
            "</atem:function_calls><|eom|>"
        ),
    ),
    (
        "muse_glimmer",
        (
            '<|start|>assistant to=f<|message|><atem:function_calls>\n<atem:invoke name="f">\n'
            '<atem:parameter name="s">a\n  <b> "c"</atem:parameter>\n<atem:parameter name="n">2</atem:paramet'
            "er>\n</atem:invoke>\n</atem:function_calls><|eom|><|start|>assistant to=get_weather<|message|><a"
            'tem:function_calls>\n<atem:invoke name="get_weather">\n</atem:invoke>\n'
            "</atem:function_calls><|eom|>"
        ),
    ),
    (
        "inkling",
        (
            '<|message_model|><|content_invoke_tool_json|>{"name": "f", "args": {"s": "a\\n  <b> \\"c\\"", "n'
            '": 2}}<|end_message|><|message_model|><|content_invoke_tool_json|>{"name": "get_weather", "args"'
            ": {}}<|end_message|>"
        ),
    ),
    (
        "k2_horizon",
        (
            '<ifm|tool_call>{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}</ifm|tool_call>\n'
            '<ifm|tool_call>{"name": "get_weather", "arguments": {}}</ifm|tool_call>'
        ),
    ),
    (
        "k2_horizon",
        (
            "<ifm|tool_calls><ifm|tool_call>f<ifm|arg_key>s</ifm|arg_key><ifm|arg_value>a\n"
            '  <b> "c"</ifm|arg_value><ifm|arg_key>n</ifm|arg_key><ifm|arg_value>2</ifm|arg_value></ifm|tool_'
            "call>\n<ifm|tool_call>get_weather</ifm|tool_call></ifm|tool_calls>"
        ),
    ),
    (
        "plamo3",
        (
            "<|plamo:begin_tool_requests:plamo|><|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:pla"
            'mo|>f<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>{"s": "a\\n  <b> \\"c\\"",'
            ' "n": 2}<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|><|plamo:begin_tool_req'
            "uest:plamo|><|plamo:begin_tool_name:plamo|>get_weather<|plamo:end_tool_name:plamo|><|plamo:begin"
            "_tool_arguments:plamo|>{}<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|><|pla"
            "mo:end_tool_requests:plamo|>"
        ),
    ),
    (
        "tools_tag",
        (
            '<tools>\n{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}\n'
            '</tools>\n<tools>\n{"name": "get_weather", "arguments": {}}\n</tools>'
        ),
    ),
    (
        "tool_use",
        (
            '<tool_use>{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}</tool_use>\n'
            '<tool_use>{"name": "get_weather", "arguments": {}}</tool_use>'
        ),
    ),
    (
        "function_calls_json",
        (
            '<function_calls>[{"name": "f", "arguments": {"s": "a\\n  <b> \\"c\\"", "n": 2}}, {"name": "get_w'
            'eather", "arguments": {}}]</function_calls>'
        ),
    ),
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
