"""The published JSON Schemas: they are what the program prints, they are valid, and what is shipped fits them."""

import itertools
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from permitry.config.catalogue import list_shipped
from permitry.config.load import load_policy
from permitry.config.schema import rule_file_schema
from permitry.errors import ConfigError
from permitry.golden.case import case_schema
from tests.tables import for_each

ROOT = Path(__file__).resolve().parents[2]
RULES = sorted((ROOT / "rules").glob("*.toml"))
CASES = sorted((ROOT / "golden" / "cases").glob("*.json"))
SCHEMAS = [ROOT / "rules" / "schema.json", ROOT / "golden" / "case.schema.json"]

TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "integer": (int,), "number": (int, float),
    "boolean": (bool,), "null": (type(None),),
}  # fmt: skip
# What this file knows to check: a schema that used another word would pass unchecked, so it may not use one.
CHECKED = {
    "type", "properties", "required", "additionalProperties", "items", "minItems", "minLength", "minimum", "maximum",
    "enum", "const", "allOf", "anyOf", "$ref", "$defs", "pattern", "uniqueItems", "if", "then", "else", "not",
}  # fmt: skip
RULE = "schema = 1\n[[rule]]\nid = 'a'\n"
SAID = {"$schema", "title", "description", "default"}


def nodes(schema: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 -- any part of a JSON Schema
    """Yield every schema within a schema."""
    yield schema
    below = [
        schema[key]
        for key in ("items", "additionalProperties", "if", "then", "else", "not")
        if isinstance(schema.get(key), dict)
    ]
    tables = [schema.get(key, {}) for key in ("properties", "$defs")]
    choices = (*schema.get("allOf", ()), *schema.get("anyOf", ()))
    for each in (*below, *choices, *(node for table in tables for node in table.values())):
        yield from nodes(each)


def mistakes(value: Any, schema: dict[str, Any], root: dict[str, Any], place: str = "$") -> Iterator[str]:  # noqa: ANN401 -- any JSON
    """Yield where `value` does not fit `schema`, by the words of `CHECKED`."""
    if "$ref" in schema:
        yield from mistakes(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, place)
    yield from itertools.chain.from_iterable(mistakes(value, each, root, place) for each in schema.get("allOf", ()))
    if "anyOf" in schema and all(any(mistakes(value, each, root)) for each in schema["anyOf"]):
        yield f"{place}: fits none of the choices"
    if "not" in schema and not any(mistakes(value, schema["not"], root)):
        yield f"{place}: fits what it must not"
    if "if" in schema:
        branch = "else" if any(mistakes(value, schema["if"], root)) else "then"
        yield from mistakes(value, schema.get(branch, {}), root, place)
    yield from (f"{place}: {word}" for word in misfits(value, schema))
    if isinstance(value, dict) and isinstance(properties := schema.get("properties", {}), dict):
        other = schema.get("additionalProperties", True)
        for key, item in value.items():
            if key in properties or isinstance(other, dict):
                yield from mistakes(item, properties.get(key, other), root, f"{place}.{key}")
            elif other is False:
                yield f"{place}.{key}: unknown"
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            yield from mistakes(item, schema["items"], root, f"{place}[{i}]")


def misfits(value: Any, schema: dict[str, Any]) -> Iterator[str]:  # noqa: ANN401 -- any JSON
    """Yield the words of one schema that `value` itself offends."""
    kind = schema.get("type")
    if kind is not None and (not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        yield "type"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield "enum"
    if "const" in schema and value != schema["const"]:
        yield "const"
    if isinstance(value, dict):
        yield from (f"required {key}" for key in schema.get("required", ()) if key not in value)
    if isinstance(value, str | list):
        yield from (word for word in ("minItems", "minLength") if len(value) < schema.get(word, 0))
    if isinstance(value, str) and re.search(schema.get("pattern", ""), value) is None:
        yield "pattern"
    if isinstance(value, list) and schema.get("uniqueItems") and any(item in value[:i] for i, item in enumerate(value)):
        yield "uniqueItems"
    if isinstance(value, int | float) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield "range"


@for_each(("path", "schema"), list(zip(SCHEMAS, (rule_file_schema(), case_schema()), strict=True)))
def test_the_published_schema_is_the_programs(path: Path, schema: dict[str, Any]) -> None:
    """The file next to the data is byte for byte what `permitry schema` prints."""
    assert path.read_text() == json.dumps(schema, indent=2) + "\n"


@for_each("path", SCHEMAS, ids=lambda path: path.name)
def test_a_schema_is_a_schema(path: Path) -> None:
    """It names its dialect, uses known words and types only, and every reference and required key exists."""
    root = json.loads(path.read_text())
    assert root["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    keys = {key for node in nodes(root) if node.get("type") == "object" for key in node.get("properties", {})}
    for node in nodes(root):
        assert set(node) <= CHECKED | SAID
        assert node.get("type", "object") in TYPES
        # What is said of some tables only names keys of the table it is said of.
        assert set(node.get("required", ())) <= (set(node.get("properties", {})) if "type" in node else keys)
        re.compile(node.get("pattern", ""))
        assert node.get("$ref", "#/$defs/").removeprefix("#/$defs/") in {"", *root["$defs"]}


def test_the_schema_of_rule_files_knows_no_null() -> None:
    """TOML has no null: no key may be one, none defaults to one, and no choice is left with one way."""
    for node in nodes(json.loads(SCHEMAS[0].read_text())):
        assert node.get("type") != "null"
        assert node.get("default", "") is not None
        assert len(node.get("anyOf", "either or")) > 1


@for_each("path", RULES, ids=lambda path: path.name)
def test_a_shipped_set_fits_the_schema(path: Path) -> None:
    """An editor that knows the schema has nothing to underline."""
    schema = json.loads(SCHEMAS[0].read_text())
    assert list(mistakes(tomllib.loads(path.read_text()), schema, schema)) == []


@for_each("path", CASES, ids=lambda path: path.stem)
def test_a_case_fits_the_schema(path: Path) -> None:
    """Every golden case fits the schema of golden cases, and names it."""
    schema, case = json.loads(SCHEMAS[1].read_text()), json.loads(path.read_text())
    assert list(mistakes(case, schema, schema)) == []
    assert (path.parent / case["$schema"]).resolve() == SCHEMAS[1]


@for_each(
    "text",
    [
        "",
        "schema = 2",
        "schema = true",
        "schema = 1\nrules = []",
        'schema = 1\n[template.t]\nallow_tools = "read_file"',
        "schema = 1\n[[rule]]\ntools = ['x']\neffect = 'block'",
        "schema = 1\n[[rule]]\ntools = ['x']\nid = 'a'",
        f"{RULE}effect = 'deny'\ntools = ['x']",
        f"{RULE}effect = 'allow'\ntools = ['x']\npriority = 400",
        f"{RULE}effect = 'allow'\ntools = ['x']\npriority = 199",
        f"{RULE}effect = 'allow'\ntools = ['x']\npriority = 100",
        f"{RULE}effect = 'block'\ntools = ['x']\npriority = 99",
        f"{RULE}effect = 'confirm'\ntools = ['x']\npriority = 99",
        f"{RULE}effect = 'allow'\ntools = ['x']\npriority = '250'",
        f"{RULE}effect = 'allow'\ntools = ['x']\nwhen.mood = 'plan'",
        f"{RULE}effect = 'allow'\ntools = ['x']\nwhen.mode = 1",
        f"{RULE}effect = 'allow'\ntools = ['x']\nwhen.mode = []",
        f"{RULE}effect = 'allow'\ntools = ['x']\nmatch = [7]",
        f"{RULE}effect = 'allow'\nwhen.mode = 'plan'",
        f"{RULE}effect = 'block'",
        f"{RULE}effect = 'block'\ntools = []",
        f"{RULE}effect = 'block'\ntools = ['']",
        f"{RULE}effect = 'block'\ntools = ['x', 'x']",
        *(f"{RULE}effect = 'block'\ntools = ['a{sign}b']" for sign in "[]{}()^$|\\ "),
        *(
            f"schema = 1\n[[rule]]\nid = '{name}'\neffect = 'block'\ntools = ['x']"
            for name in ("", "A", "a_b", "a-", "a--b")
        ),
    ],
)
def test_a_mistake_does_not_fit_the_schema(text: str, tmp_path: Path) -> None:
    """An editor that knows the schema underlines what the loader refuses as well."""
    schema = json.loads(SCHEMAS[0].read_text())
    assert list(mistakes(tomllib.loads(text), schema, schema)) != []
    (tmp_path / "rules.toml").write_text(text)
    with pytest.raises(ConfigError):
        load_policy(tmp_path / "rules.toml")


@for_each(
    "text",
    [
        f"{RULE}effect = 'block'\ntools = ['x']\npriority = 100",
        f"{RULE}effect = 'confirm'\nwhen.agent = 'sub*'\npriority = 199",
        f"{RULE}effect = 'allow'\ntools = ['x']\npriority = 200",
        f"{RULE}effect = 'allow'\ntools = ['mcp:*/a?', '@reads', 'ünder.x-y_z']\npriority = 399",
        f"{RULE}effect = 'block'\nwhen.mode = ['a', 'plan']",
        "schema = 1\n[[rule]]\nid = 'r2-d2'\neffect = 'block'\ntools = ['x']\nmatch = ['x', { tool = 'x' }]",
    ],
)
def test_what_the_loader_takes_fits_the_schema(text: str, tmp_path: Path) -> None:
    """An editor underlines nothing that is right, up to both ends of each band."""
    schema = json.loads(SCHEMAS[0].read_text())
    assert list(mistakes(tomllib.loads(text), schema, schema)) == []
    (tmp_path / "rules.toml").write_text(text)
    assert len(load_policy(tmp_path / "rules.toml").rules) == 7


@for_each("path", RULES, ids=lambda path: path.name)
def test_a_shipped_set_names_its_schema(path: Path) -> None:
    """The first line binds the schema for editors, and the file is where the line says."""
    first = re.fullmatch(r"#:schema (\S+)", path.read_text().splitlines()[0])
    assert first is not None
    assert first[1] == "./schema.json"
    assert (path.parent / first[1]).resolve() == SCHEMAS[0]


def test_every_set_is_shipped() -> None:
    """The program knows exactly the sets that lie in the folder."""
    assert list_shipped() == sorted(f"permitry:{path.stem}" for path in RULES)
    assert len(RULES) >= 15


@for_each("path", RULES, ids=lambda path: path.name)
def test_a_shipped_set_loads(path: Path) -> None:
    """Each set loads by its name, with a description, and brings rules of its own."""
    own = tomllib.loads(path.read_text())
    ids = {rule.id for rule in load_policy(f"permitry:{path.stem}").rules if hasattr(rule, "id")}
    assert {rule["id"] for rule in own.get("rule", [])} <= ids
    assert own["description"].strip()


@for_each("path", RULES, ids=lambda path: path.name)
def test_every_shipped_rule_has_examples(path: Path) -> None:
    """Each rule shows a call it matches and one it does not, and says why it is there."""
    for rule in tomllib.loads(path.read_text()).get("rule", []):
        assert all(rule.get(key) for key in ("match", "no_match", "reason")), rule["id"]
