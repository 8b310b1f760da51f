"""What pydantic finds wrong becomes one problem per mistake, at its own place."""

from collections.abc import Callable

from tests.tables import for_each

from permitry.config.diagnostics import SourceText
from permitry.config.translate import type_problem
from permitry.errors import Problem

Load = Callable[[str], tuple[Problem, ...]]

STRING, NUMBER, FLOAT, TRUE = '"x"', "3", "1.5", "true"
LIST, TABLE, DATE, TIME = '["x"]', "{ x = 1 }", "2024-01-31", "07:32:00"
RULE = 'schema = 1\n\n[[rule]]\nid = "r"\neffect = "block"\ntools = ["x"]\n'
TEXTS = [NUMBER, FLOAT, TRUE, LIST, TABLE, DATE, TIME]
LISTS = [STRING, NUMBER, FLOAT, TRUE, TABLE, DATE, TIME]
WORDS = [NUMBER, FLOAT, TRUE, TABLE, DATE, TIME]


def _is_at(problems: tuple[Problem, ...], line: int, column: int, value: str) -> bool:
    """Return whether there is one problem, and it underlines `value` at this place and has a way out."""
    return [(*problem[1:4], problem.hint != "") for problem in problems] == [(line, column, len(value), True)]


@for_each("value", TEXTS)
@for_each("key", ["reason", "message"])
def test_a_text_of_a_rule_of_another_type_is_told_at_the_value(problems_of: Load, key: str, value: str) -> None:
    """The value is underlined, whatever it is."""
    problems = problems_of(f"{RULE}{key} = {value}\n")
    assert _is_at(problems, 7, len(key) + 4, value)
    assert problems[0].message.startswith(f"`{key}` must be a string, not ")


@for_each("value", TEXTS)
@for_each("key", ["id", "effect"])
def test_an_id_or_effect_of_another_type_is_told_at_the_value(problems_of: Load, key: str, value: str) -> None:
    """The value is underlined, whatever it is."""
    keys = {"id": '"r"', "effect": '"block"', "tools": '["x"]', key: value}
    problems = problems_of("schema = 1\n[[rule]]\n" + "".join(f"{name} = {keys[name]}\n" for name in keys))
    assert _is_at(problems, 2 + list(keys).index(key) + 1, len(key) + 4, value)


@for_each("value", [STRING, "2", FLOAT, LIST, TABLE, DATE, TIME])
def test_a_schema_other_than_one_is_told_at_the_value(problems_of: Load, value: str) -> None:
    """A version this loader does not know is refused, whatever its type."""
    problems = problems_of(f"schema = {value}\n")
    assert _is_at(problems, 1, 10, value)
    assert problems[0].hint == "write `schema = 1`"


@for_each("value", TEXTS)
def test_a_description_of_another_type_is_told_at_the_value(problems_of: Load, value: str) -> None:
    """In the header and in a template alike."""
    assert _is_at(problems_of(f"schema = 1\ndescription = {value}\n"), 2, 15, value)
    assert _is_at(problems_of(f"schema = 1\n[template.a]\ndescription = {value}\n"), 3, 15, value)


@for_each("value", [STRING, FLOAT, "150.0", "nan", TRUE, LIST, TABLE, DATE, TIME])
def test_a_priority_that_is_no_whole_number_is_told_at_the_value(problems_of: Load, value: str) -> None:
    """No number is read from text, and true is not 1."""
    problems = problems_of(f"{RULE}priority = {value}\n")
    assert _is_at(problems, 7, 12, value)
    assert problems[0].message.startswith("`priority` must be a whole number, not ")
    assert ("quotes" in problems[0].hint) is (value == STRING)


@for_each("value", LISTS)
@for_each("key", ["match", "no_match"])
def test_examples_that_are_no_list_are_told_at_the_value(problems_of: Load, key: str, value: str) -> None:
    """One example still needs its brackets."""
    problems = problems_of(f"{RULE}{key} = {value}\n")
    assert _is_at(problems, 7, len(key) + 4, value)
    assert problems[0].message.startswith(f"`{key}` must be a list, not ")


@for_each("value", LISTS)
def test_tools_that_are_no_list_are_told_at_the_value(problems_of: Load, value: str) -> None:
    """One tool still needs its brackets."""
    problems = problems_of(f'schema = 1\n[[rule]]\nid = "r"\neffect = "block"\ntools = {value}\n')
    assert _is_at(problems, 5, 9, value)
    assert (problems[0].hint == f"write `tools = [{value}]`") is (value == STRING)


@for_each("value", LISTS)
@for_each("key", ["extends", "allow_tools"])
def test_lists_of_a_template_that_are_none_are_told_at_the_value(problems_of: Load, key: str, value: str) -> None:
    """One name still needs its brackets."""
    problems = problems_of(f"schema = 1\n[template.a]\n{key} = {value}\n")
    assert _is_at(problems, 3, len(key) + 4, value)


@for_each("value", LISTS)
def test_extends_that_is_no_list_is_told_at_the_value(problems_of: Load, value: str) -> None:
    """One file still needs its brackets."""
    assert _is_at(problems_of(f"schema = 1\nextends = {value}\n"), 2, 11, value)


@for_each("value", WORDS)
@for_each("key", ["mode", "agent", "template"])
def test_a_condition_that_is_no_word_or_list_is_told_at_the_value(problems_of: Load, key: str, value: str) -> None:
    """Neither a string nor a list of strings."""
    assert _is_at(problems_of(f"{RULE}when.{key} = {value}\n"), 7, len(key) + 9, value)


@for_each("value", [NUMBER, FLOAT, TRUE, DATE, '["y"]'])
@for_each(
    "line",
    ["when.mode = ['x', {}]", "match = ['x', {}]", "no_match = ['y', {{ tool = {} }}]", "match = [{{tool = {}}}]"],
)
def test_a_wrong_element_is_told_at_the_element(problems_of: Load, line: str, value: str) -> None:
    """Inside a list the one wrong element is underlined, not the list."""
    text = line.format(value)
    assert _is_at(problems_of(f"{RULE}{text}\n"), 7, text.index(value, 8) + 1, value)


@for_each("value", [STRING, NUMBER, TRUE, LIST, DATE])
def test_a_table_that_is_none_is_told_at_the_value(problems_of: Load, value: str) -> None:
    """Conditions, templates and rules are tables."""
    assert _is_at(problems_of(f"{RULE}when = {value}\n"), 7, 8, value)
    assert _is_at(problems_of(f"schema = 1\ntemplate.a = {value}\n"), 2, 14, value)
    assert _is_at(problems_of(f"schema = 1\nrule = [{value}]\n"), 2, 9, value)


@for_each("value", [STRING, NUMBER, TRUE, DATE])
def test_all_templates_or_all_rules_of_another_type_are_told_at_the_value(problems_of: Load, value: str) -> None:
    """`template` is a table of tables, `rule` a list of tables."""
    assert _is_at(problems_of(f"schema = 1\ntemplate = {value}\n"), 2, 12, value)
    assert _is_at(problems_of(f"schema = 1\nrule = {value}\n"), 2, 8, value)


@for_each(
    ("value", "have"),
    [
        (STRING, "a string"),
        (NUMBER, "a number"),
        (FLOAT, "a fraction"),
        (TRUE, "true or false"),
        (LIST, "a list"),
        (DATE, "a date or time"),
        (TIME, "a date or time"),
    ],
)
def test_a_type_is_told_in_the_words_of_toml(problems_of: Load, value: str, have: str) -> None:
    """No name of a Python class is shown."""
    [problem] = problems_of(f"schema = 1\ntemplate.x = {value}\n")
    assert problem.message == f"`x` must be a table, not {have}"


def test_a_type_problem_of_an_element_names_the_list() -> None:
    """An index is not a name; the key before it is."""
    source = SourceText("rules.toml", "rule = [1]\n")
    problem = type_problem(source, ("rule", 0), "a table", 1)
    assert problem[1:5] == (1, 9, 1, "`rule` holds a number; it must be a list of tables")


@for_each("value", [STRING, FLOAT, TRUE, LIST, TABLE, DATE, TIME])
def test_a_schema_of_another_type_is_never_printed(problems_of: Load, value: str) -> None:
    """Nothing of Python's way to write it is shown, and 1.0 or true are not 1."""
    for each in (value, "1.0", "true"):
        assert [problem.message for problem in problems_of(f"schema = {each}\n")] == ["`schema` must be the number 1"]


@for_each("value", TEXTS)
def test_an_effect_of_another_type_is_never_printed(problems_of: Load, value: str) -> None:
    """Nothing of Python's way to write it is shown; the three words are the way out."""
    [problem] = problems_of(f"schema = 1\n[[rule]]\nid = 'r'\ntools = ['x']\neffect = {value}\n")
    assert (problem.message, problem.hint) == ("`effect` must be a string", "choose `allow`, `confirm` or `block`")


def test_every_mistake_of_one_table_is_told(problems_of: Load) -> None:
    """Pydantic finds them together, and none is left for the next run."""
    text = 'schema = 1\n[[rule]]\neffect = "deny"\ntools = ["", "@x"]\nresaon = "y"\nwhen.mode = []\n'
    told = [(problem.line, problem.message.partition(" `")[0]) for problem in problems_of(text)]
    assert told == [
        (2, "missing key"),
        (3, "unknown effect"),
        (4, "a tool name is empty"),
        (4, "unknown trait selector"),
        (5, "unknown key"),
        (6, "an empty list selects nothing"),
    ]


@for_each("key", ["unless.mode", "when.command", "when.host", "when.path", "when.server", "when.label"])
@for_each("value", WORDS)
def test_any_condition_on_words_of_another_type_is_told_at_the_value(problems_of: Load, key: str, value: str) -> None:
    """Whichever condition it is, in `when` and in `unless`."""
    assert _is_at(problems_of(f"{RULE}{key} = {value}\n"), 7, len(key) + 4, value)


@for_each("value", [STRING, FLOAT, TRUE, LIST, TABLE, DATE])
@for_each("key", ["when.repeat", "budget.calls", "budget.targets"])
def test_a_number_of_another_type_is_told_at_the_value(problems_of: Load, key: str, value: str) -> None:
    """No number is read from text, and none is guessed."""
    problems = problems_of(f"{RULE}{key} = {value}\n")
    assert _is_at(problems[:1], 7, len(key) + 4, value)


def test_a_word_that_is_none_of_a_few_is_told_with_them(problems_of: Load) -> None:
    """The choices are the way out."""
    [problem] = problems_of(f"{RULE}budget = {{ calls = 1, by = 'day' }}\n")
    hint = "choose `session`, `agent`, `tool`, `principal` or `organisation`"
    assert (problem.message, problem.hint) == ("unknown word `day` for `by`", hint)
