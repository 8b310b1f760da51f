"""TOML within bounds: no key takes all memory, and text is left alone."""

import time
import tomllib
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from tests.tables import for_each

from permitry.config.load import Origin, load_rules
from permitry.config.toml import load_toml
from permitry.errors import ConfigError


@for_each("head", ["", "[", "[[", "x = {", "x . "])
@for_each("part", ["x.", "'x'.", '"x.y".', "x . "])
def test_a_key_of_too_many_parts_is_refused(head: str, part: str) -> None:
    """In every place a key may stand, however its parts are written; the message names the line."""
    with pytest.raises(tomllib.TOMLDecodeError, match=r"more than 32 parts \(at line 2,"):
        load_toml(f"a = 1\n{head}{part * 40}y = 1\n")


@for_each("part", ["x.", "'x'.", '"x.y".'])
def test_a_key_of_as_many_parts_as_are_needed_is_read(part: str) -> None:
    """Its dots are counted, and not those in its quotes."""
    table: Any = load_toml(f"{part * 31}y = 1\n")
    for _ in range(31):
        [table] = table.values()
    assert table == {"y": 1}


@for_each(
    "text",
    [
        'a = "' + "Wait... " * 50 + '"',
        "a = '" + "a.b." * 50 + "'",
        "a = [" + "0.5, " * 50 + "]",
        "a = [" + '"src/a.py", ' * 50 + "]",
        "a = { b.c = '" + "." * 50 + "', d = 1.5 }",
        'a = "one." # ' + "Two. " * 20,
    ],
)
def test_dots_in_text_are_no_parts_of_a_key(text: str) -> None:
    """Long descriptions, many numbers and many file names are as `tomllib` reads them."""
    assert load_toml(text) == tomllib.loads(text)


@for_each("head", ["", "["])
def test_a_long_key_costs_little(head: str) -> None:
    """Neither time nor memory, although `tomllib` keeps every beginning of it."""
    text = head + "x." * 32_768
    tracemalloc.start()
    started = time.process_time()
    with pytest.raises(tomllib.TOMLDecodeError):
        load_toml(text)
    seconds, peak = time.process_time() - started, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert seconds < 0.5
    assert peak < 4 * 1024 * 1024


def test_a_rule_file_with_such_a_key_is_a_mistake_with_its_line(write: Callable[[str, str], Origin]) -> None:
    """Also in a project that is not trusted."""
    write("a.toml", "schema = 1\n\n" + "x." * 32_768 + "y = 1\n")
    with pytest.raises(ConfigError) as caught:
        load_rules([Origin("a.toml", is_trusted=False)])
    [problem] = caught.value.problems
    assert (problem.path, problem.line, problem.column) == ("a.toml", 3, 1)
    assert "more than 32 parts" in problem.message
