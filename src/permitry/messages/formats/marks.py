"""The marks of all formats: what a block begins with, who reads it, and which formats write it so.

A format is one row, or a few, of the tables below. Where formats share a mark, the first row has it whose reader
understands what follows. A row without a format counts in all of them.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any, Final

import attrs

from permitry.messages.formats import json_calls, prompted, tags
from permitry.messages.formats.arguments import name_all
from permitry.messages.formats.cursor import Block, BrokenError, Cursor, Reader, reader
from permitry.messages.formats.json_calls import json_block
from permitry.messages.formats.tags import MINIMAX, pairs_block

__all__ = ["CLOSERS", "FENCES", "FORMATS", "STRAY", "Mark", "Marks", "frame", "marks_of", "wrapper"]

_TAG_END: Final = re.compile(r"[^<>\n]*+")


@attrs.frozen
class Mark:
    """A literal text that may open a block, the reader of the block, and the formats that write it.

    The reader gets a place behind the mark; it returns None when the block is not of its format. The first of the
    `formats`, words of one text, is the name of what is found, the others are of models that write the very same; a
    mark without any serves all. `pattern` begins with the text, for a mark that counts only in certain places; one that
    `is_first` counts where a text begins: the prompt has what comes before it. `closer` is what its blocks may name as
    theirs. What `is_plain` could be a part of a sentence as well: its calls count only where no text follows them.
    """

    text: str
    read: Reader
    formats: str = ""
    pattern: str | None = None
    closer: str | None = None
    is_plain: bool = False
    is_first: bool = False

    @property
    def format(self) -> str:
        """The name of what is found, empty for a mark that serves all formats."""
        return self.formats.partition(" ")[0]

    @property
    def is_token(self) -> bool:
        """Whether the mark is a token that a model has for it, and not words that people write."""
        return "|" in self.text or not self.text.isascii()

    def patterns(self) -> Iterator[tuple[str, str]]:
        """Yield the patterns of the mark and its closer, each with the text it begins with."""
        text = re.escape(self.text)
        place = rf"(?<=\A{text})" if self.is_first else ""
        yield self.pattern or f"{text}{place}", self.text
        if self.closer is not None:
            yield re.escape(self.closer), self.closer

    def is_at(self, cur: Cursor, pos: int) -> bool:
        """Return whether the mark counts at `pos`, where its text is."""
        if self.is_first:
            return cur.base + pos == 0
        return self.pattern is None or re.compile(self.pattern).match(cur.text, pos) is not None

    def serves(self, format_name: str) -> bool:
        """Return whether the mark counts when texts of this format are parsed."""
        return not self.formats or format_name in ("auto", *self.formats.split())


@reader
def frame(cur: Cursor, /, *, is_shown: bool = False, **parts: Any) -> Block:  # noqa: ANN401 -- the fields of a block
    """Return a reader of a block that ends with its mark, which is content if it `is_shown`."""
    return Block(cur.pos, content=cur.piece if is_shown else "", **parts)


@reader
def _close_thinking(cur: Cursor, closer: str) -> Block | None:
    """Return a reader of thinking that must be closed."""
    is_closed = cur.find(closer, cur.pos) >= 0
    return Block(cur.pos, until=(closer,), is_thinking=True) if is_closed else None


@reader
def _html_tag(cur: Cursor, closer: str) -> Block | None:
    """Return a reader of an opening tag of HTML, in which calls are quoted."""
    attributes = cur.take(_TAG_END)
    if not cur.has(">") or attributes[:1].strip():
        return None
    return Block(cur.pos, content=cur.piece, quotes=closer)


@reader
def _foreign_bar(cur: Cursor, signs: str, names: str) -> None:
    """Return a reader that refuses marks with a bar that no model has, but a server prints."""
    if re.fullmatch(names, cur.take(re.compile(signs))):
        raise BrokenError(cur.pos, "the marks are DeepSeek's, but for their bars")


@reader
def _before(cur: Cursor, closer: str, *inner: str) -> Block | None:
    end = cur.pos
    cur.skip()
    return Block(end, closer=closer) if any(map(cur.at, inner)) else None


def wrapper(opener: str, closer: str, formats: str, *inner: str) -> Mark:
    """Return a mark that is dropped, with its closer, where one of the `inner` marks follows."""
    return Mark(opener, _before(closer, *inner), formats, closer=closer)


def _tags(names: str) -> list[tuple[str, str]]:
    return [(f"<{name}>", f"</{name}>") for name in names.split()]


def _wide(words: str) -> str:
    """Return a token of DeepSeek's or StepFun's, between wide bars."""
    return f"<\uff5c{words}\uff5c>"


# What is not said to the user: reasoning, and results of tools; nothing in them is a call

_THINKING: Final = (
    *_tags("think thinking seed:think mm:think ifm|think ifm|think_fast ifm|think_faster"),
    ("[THINK]", "[/THINK]"), ("<|START_THINKING|>", "<|END_THINKING|>"), ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|content_thinking|>", "<|end_message|>"), ("◁think▷", "◁/think▷"),
    ("<|channel>thought\n", "<channel|>"), ("<|channel>", "<channel|>"),
)  # fmt: skip
# No model's tokens, but words that models are instructed to think in; they count only where they are closed.
_SPOKEN: Final = (
    *_tags("Think THINK Thinking THINKING thought thoughts reasoning reflection analysis scratchpad scratch_pad"),
    *_tags("antThinking inner_monologue"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"), ("<unused94>", "<unused95>"),
)  # fmt: skip
_RESULTS: Final = (
    ("<tool_response>", "</tool_response>"),
    (_wide("tool\u2581output\u2581begin"), _wide("tool\u2581output\u2581end")),
    ("<|tool_output_begin|>", "<|tool_output_end|>"),
)
_DROPPED: Final = (
    "<|message_model|>", "<|content_text|>",
    "<|end_message|>", "<|content_model_end_sampling|>", "<|im_end|>", "<|eot_id|>", "<|eom_id|>",
    _wide("end\u2581of\u2581sentence"), _wide("tool\u2581outputs\u2581begin"), _wide("tool\u2581outputs\u2581end"),
)  # fmt: skip

CLOSERS: Final = tuple(dict.fromkeys(closer for _, closer in _THINKING))
# The one that is left out ends other messages as well.
STRAY: Final = tuple(closer for closer in CLOSERS if closer != "<|end_message|>")

# What is quoted

FENCES: Final = ("```", "~~~")

_QUOTING: Final = "blockquote cite code document documents example examples kbd pre quote samp tt xmp"
_RESPONSES: Final = (("<|START_RESPONSE|>", "<|END_RESPONSE|>"), ("<|START_TEXT|>", "<|END_TEXT|>"))

_FRAMES: Final = (
    *(Mark(opener, frame(until=(closer,), is_thinking=True)) for opener, closer in _THINKING),
    *(Mark(opener, _close_thinking(closer)) for opener, closer in _SPOKEN),
    *(Mark(opener, frame(until=(closer,))) for opener, closer in _RESULTS),
    *(Mark(closer, frame(is_stray=True)) for closer in STRAY),
    *(Mark(closer, frame(is_shown=True, ends=closer)) for _, closer in _SPOKEN),
    *(Mark(token, frame()) for token in _DROPPED),
)
_QUOTATIONS: Final = (
    *(Mark(opener[:-1], _html_tag(closer)) for opener, closer in _tags(_QUOTING)),
    *(Mark(closer, frame(is_shown=True, ends=closer)) for _, closer in _tags(_QUOTING)),
    Mark("<!--", frame(is_shown=True, quotes="-->")),
    Mark("-->", frame(is_shown=True, ends="-->")),
    *(Mark(opener, frame(until=(closer,))) for opener, closer in _RESPONSES),
    *(Mark(closer, frame(ends=closer)) for _, closer in _RESPONSES),
    Mark("Final Answer:", frame(is_shown=True, is_last=True)),
    *(Mark(fence, lambda _: None) for fence in FENCES),
)

# Calls

_FIRST: Final = "functionary_first functionary_v32"
_PYTHON: Final = "pythonic llama4_pythonic olmo3_pythonic"
_K3_THOUGHT: Final = frame(until=("<|close|>think<|sep|>", "<|close|>thinking<|sep|>"), is_thinking=True)
# The closing mark may be missing, whatever follows.
_open_block: Final = partial(json_block, is_closer_needed=False)
_name_bare: Final = partial(name_all, needs_arguments=False)
_FUNCTION: Final = "<function="
_GLM: Final = "glm45_47 poolside_v1 ling3 spark25 hunyuan_v3"
_KIMI: Final = "<|tool_call_begin|>"
_K3: Final = ("<|open|>", "<|close|>")
_PLAMO: Final = "<|plamo:begin_tool_request:plamo|>"
_STEP: Final = (_wide("tool_call_begin"), "<steptml:invoke ")
_STEP_CALL: Final = f"{_STEP[0]}function{_wide('tool_sep')}"
_HARMONY: Final = "harmony beam_harmony"
_MUSE: Final = "muse_glimmer muse"
_CALLS: Final = "</atem:function_calls>"
_MINIMAX: Final = f'{MINIMAX}<invoke name="'
_BARE: Final = (
    "bare_json json_array json_object json_fence json_object_openai json_action_fence xlam llama3_json react_json"
)

# The bars and gaps of DeepSeek are wide ones; some servers print plain ones, or double ones.
_WIDE, _PLAIN = ("\uff5c", "\uff5c\uff5c"), ("|", "||")
_OTHER_BARS: Final = tuple(
    each * count for each in "\u2016\u2502\u00a6\u2758\u2223\u01c0\uffe8\u2551" for count in (1, 2)
)
_DEEPSEEK: Final = "deepseek_v3 deepseek_v31"
_DSML: Final = "deepseek_v32_dsml deepseek_v4_dsml deepseek_v41_dsml"
_DSML_41: Final = "deepseek_v41_dsml deepseek_v32_dsml deepseek_v4_dsml"
_WORDS: Final = ("function_calls", "tool_calls", "calls")
_OTHER_DEEPSEEK: Final = _foreign_bar(r"[^\s<>{}\"'`]*+", r".?calls?.?begin\W{1,2}")
_OTHER_DSML: Final = _foreign_bar(r"[ \w]*+", f" *(?:invoke|{'|'.join(_WORDS)}) *")


def _deepseek(bar: str, gap: str) -> tuple[Mark, ...]:
    begin, between, end = (f"<{bar}tool{gap}{word}{bar}>" for word in (f"call{gap}begin", "sep", f"call{gap}end"))
    calls = f"<{bar}tool{gap}calls{gap}"
    return (
        Mark(begin, json_calls.deepseek_block(between, end), _DEEPSEEK),
        wrapper(f"{calls}begin{bar}>", f"{calls}end{bar}>", _DEEPSEEK, begin),
    )


def _dsml(bar: str) -> tuple[Mark, ...]:
    """Return the marks of all versions; the last one has a blank before the names."""
    mark = f"{bar}DSML{bar}"
    openers = (f"<{mark}invoke ", f"<{mark} invoke ")
    words = [f"{mark}{gap}{word}" for gap in ("", " ") for word in _WORDS]
    return (
        Mark(openers[0], tags.dsml_block(mark), _DSML),
        Mark(openers[1], tags.dsml_block(f"{mark} "), _DSML_41),
        *(wrapper(f"<{word}>", f"</{word}>", _DSML, *openers) for word in words),
    )


_TABLE: Final = (
    # Tags, with the name in the opening one.
    Mark(_FUNCTION, tags.read_function, "function_xml seed_oss function_tag_json functionary_v31"),
    wrapper("<tool_call>", "</tool_call>", "function_xml", _FUNCTION),
    wrapper("<seed:tool_call>", tags.SEED, "seed_oss", _FUNCTION),
    # JSON between marks.
    Mark("<tool_call>", json_block("</tool_call>"), "tool_call_json"),
    Mark("<|tool_call|>", _open_block("<|/tool_call|>", "</|tool_call|>"), "granite3"),
    Mark("<tool_call>", json_block("</tool_call>"), "granite3"),
    Mark("<function_call>", _open_block("</function_call>"), "granite_20b_fc"),
    Mark("<TOOLCALL>", json_block("</TOOLCALL>"), "nemotron_v2"),
    Mark("<longcat_tool_call>", json_block("</longcat_tool_call>"), "longcat"),
    Mark("<ifm|tool_call>", json_block("</ifm|tool_call>"), "k2_horizon"),
    Mark("<dots_function_call>", json_block("</dots_function_call>"), "dots"),
    Mark("<tools>", json_block("</tools>"), "tools_tag"),
    Mark("<tool_use>", json_block("</tool_use>"), "tool_use"),
    Mark("<tool_calls>", json_block("</tool_calls>"), "hunyuan_a13b jamba apriel minimax_m1"),
    Mark("<function_calls>", json_block("</function_calls>"), "function_calls_json"),
    Mark("functools", json_block(), "phi4 firefunction", pattern=r"functools(?=\s*(?:\[|\Z))"),
    Mark("<|action_start|><|plugin|>", json_block("<|action_end|>"), "internlm2"),
    Mark("<|action_start|> <|plugin|>", json_block("<|action_end|>"), "internlm2"),
    Mark("<|message_sep|>\n\nfunction call<|role_sep|>", _open_block("</s>"), "gigachat3"),
    Mark("<|function_call|>", _open_block("</s>"), "gigachat3"),
    Mark("<|START_ACTION|>", json_block("<|END_ACTION|>", name=_name_bare), "cohere_command"),
    Mark("<|tools_prefix|>", json_block("<|tools_suffix|>", name=json_calls.name_keyed), "apertus"),
    Mark("<|python_tag|>", _open_block("<|eom_id|>", "<|eot_id|>"), "llama3_json"),
    Mark("<|tool_call_start|>", json_block("<|tool_call_end|>"), "lfm2"),
    Mark("<|content_invoke_tool_json|>", json_block("<|end_message|>"), "inkling"),
    # Tags for each key and each value.
    Mark("<tool_call>", pairs_block("", "</tool_call>"), _GLM),
    wrapper("<tool_calls>", "</tool_calls>", "hunyuan_v3 glm45_47", "<tool_call>"),
    Mark("<longcat_tool_call>", pairs_block("longcat_", "</longcat_tool_call>"), "longcat"),
    Mark("<ifm|tool_call>", pairs_block("ifm|", "</ifm|tool_call>"), "k2_horizon"),
    wrapper("<ifm|tool_calls>", "</ifm|tool_calls>", "k2_horizon", "<ifm|tool_call>"),
    # Python.
    Mark("<|python_start|>", prompted.python_block("<|python_end|>"), "llama4_pythonic pythonic"),
    Mark("<function_calls>", prompted.python_block("</function_calls>"), "olmo3_pythonic"),
    Mark("<|tool_call_start|>", prompted.python_block("<|tool_call_end|>"), "lfm2"),
    Mark("<|python_tag|>", prompted.python_block("<|eom_id|>", "<|eot_id|>"), "pythonic"),
    Mark("[", prompted.read_bare_python, _PYTHON, pattern=r"\[(?=\s*(?:[^\W\d]|\Z))", is_plain=True),
    # Tags with attributes.
    Mark("<invoke ", tags.read_invoke, "invoke_xml minimax_m2_invoke dots"),
    wrapper("<minimax:tool_call>", "</minimax:tool_call>", "minimax_m2_invoke", "<invoke "),
    wrapper("<dots_function_call>", "</dots_function_call>", "dots", "<invoke "),
    wrapper("<function_calls>", "</function_calls>", "invoke_xml", "<invoke "),
    wrapper("<tool_calls>", "</tool_calls>", "invoke_xml", "<invoke "),
    wrapper("<tool_call>", "</tool_call>", "invoke_xml", "<invoke "),
    *(Mark(f"<function{gap}", tags.read_minicpm, "minicpm5_xml") for gap in (" ", tags.GAP)),
    Mark("<functionname=", tags.read_minicpm, "minicpm5_xml"),
    wrapper("<tool_call>", "</tool_call>", "minicpm5_xml", "<function "),
    Mark("<steptml:invoke ", tags.Tags("steptml:invoke", "steptml:parameter").read, "step3"),
    wrapper(_wide("tool_calls_begin"), _wide("tool_calls_end"), "step3", *_STEP),
    wrapper(_STEP_CALL, _wide("tool_call_end"), "step3", *_STEP),
    *(mark for bar in (*_WIDE, *_PLAIN) for mark in _dsml(bar)),
    *(Mark(f"<{bar}DSML{bar}", _OTHER_DSML, _DSML) for bar in _OTHER_BARS),
    Mark("<|start|>assistant to=", tags.read_addressed, _MUSE),
    Mark(" to=", tags.read_addressed, _MUSE),
    Mark("to=", tags.read_addressed, _MUSE, is_first=True),
    Mark("<atem:invoke ", tags.read_muse, _MUSE),
    Mark("<atem:function_calls>", tags.read_muse_wrapper, "muse_glimmer", closer=_CALLS),
    Mark("<atem:function_calls>", tags.read_muse_wrapper, "muse", closer=_CALLS),
    *(Mark(token, frame(), _MUSE) for token in ("<|eom|>", "<|eot|>")),
    Mark(_MINIMAX, tags.read_minimax, "minimax_m3"),
    wrapper(f"{MINIMAX}<tool_call>", f"{MINIMAX}</tool_call>", "minimax_m3", _MINIMAX),
    # A name, and JSON.
    Mark("[TOOL_CALLS]", json_calls.read_mistral, "mistral"),
    *(mark for bar in _WIDE for mark in _deepseek(bar, "\u2581")),
    *(mark for bar in _PLAIN for gap in ("\u2581", "_") for mark in _deepseek(bar, gap)),
    *(Mark(f"<{bar}tool", _OTHER_DEEPSEEK, _DEEPSEEK) for bar in _OTHER_BARS),
    Mark(_KIMI, json_calls.read_kimi, "kimi_k2"),
    *(wrapper(each, each.replace("begin", "end"), "kimi_k2", _KIMI) for each in json_calls.SECTIONS),
    Mark("<|open|>call ", tags.read_k3, "kimi_k3"),
    wrapper("<|open|>tools<|sep|>", "<|close|>tools<|sep|>", "kimi_k3", "<|open|>call "),
    *(Mark(f"<|open|>{word}<|sep|>", _K3_THOUGHT, "kimi_k3") for word in ("think", "thinking")),
    *(Mark(f"{side}{word}<|sep|>", frame(), "kimi_k3") for side in _K3 for word in ("response", "message")),
    # Gemma's own literals.
    Mark("<start_function_call>", prompted.gemma_block("<escape>", "<end_function_call>"), "functiongemma"),
    Mark("<|tool_call>", prompted.gemma_block('<|"|>', "<tool_call|>"), "gemma4"),
    # Messages with json_calls.
    Mark("<|channel|>", tags.read_message, _HARMONY),
    Mark(f"{tags.START}assistant", tags.read_message, _HARMONY),
    Mark(tags.START, tags.read_other_message, _HARMONY),
    *(
        Mark(word, tags.read_message, _HARMONY, is_first=True)
        for word in ("to=", " to=", "assistant", "analysis", "commentary", "final")
    ),
    *(Mark(token, frame(), _HARMONY) for token in tags.ENDS),
    Mark(_PLAMO, json_calls.read_plamo, "plamo3"),
    wrapper("<|plamo:begin_tool_requests:plamo|>", "<|plamo:end_tool_requests:plamo|>", "plamo3", _PLAMO),
    # What prompts teach.
    Mark("{", json_calls.read_first_json, _FIRST, pattern=r'\{(?=\s*(?:"|\}|\Z))', is_plain=True),
    Mark("Action:", prompted.read_react, "react_json react", is_plain=True),
    Mark("<tool>", prompted.read_langchain, "langchain_xml"),
    Mark("[TOOL_CALL]", prompted.read_bracket, "bracket_tool_call"),
    Mark(">>>", json_calls.read_functionary, "functionary_v32", is_plain=True),
    # JSON that nothing marks.
    Mark("```", json_calls.read_fence, _BARE, is_plain=True),
    Mark("{", json_calls.read_bare_json, _BARE, pattern=r'\{(?=\s*(?:"|\Z))', is_plain=True),
    Mark("[", json_calls.read_bare_json, _BARE, pattern=r'\[(?=\s*(?:\{\s*(?:"|\Z)|\Z))', is_plain=True),
)

_ALL: Final[tuple[Mark, ...]] = (*_FRAMES, *_TABLE, *_QUOTATIONS)

_INNER: Final = frozenset({"bare_json", "functionary_first"})

FORMATS: Final = tuple(sorted({name for mark in _ALL for name in mark.formats.split()} - _INNER | {"auto"}))


@attrs.frozen
class Marks:
    """All marks that count for one format: how to find one, who reads it, and their starts."""

    pattern: "re.Pattern[str]"
    readers: Mapping[str, tuple[Mark, ...]]
    starts: frozenset[str]
    longest: int


@lru_cache(maxsize=len(FORMATS))
def marks_of(format_name: str) -> Marks:
    """Return the marks that count when texts of this format are parsed."""
    # The longest come first, in a group for each first character: a search skips all others.
    serving = sorted((mark for mark in _ALL if mark.serves(format_name)), key=lambda mark: -len(mark.text))
    patterns = dict(pair for mark in serving for pair in mark.patterns())
    texts = set(patterns.values())
    readers = {text: tuple(mark for mark in serving if text.startswith(mark.text)) for text in texts}
    starts = frozenset(text[:length] for text in texts for length in range(1, len(text)))
    groups: dict[str, list[str]] = {}
    for pattern, text in sorted(patterns.items(), key=lambda item: -len(item[1])):
        first = re.escape(text[0])
        groups.setdefault(first, []).append(pattern.removeprefix(first))
    together = re.compile("|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in groups.items()))
    return Marks(together, MappingProxyType(readers), starts, max(map(len, texts)))
