"""The strict loader: everything a set of files says, or everything that is wrong with them."""

import bisect
import contextlib
import gc
import itertools
import tomllib
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest
from tests.tables import for_each

import permitry.config.named
from permitry.conditions.template import TemplateCondition
from permitry.config.build import DEEPEST
from permitry.config.catalogue import list_shipped
from permitry.config.load import Origin, RuleSet, load_policy, load_rules
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.template import Template
from permitry.errors import ConfigError, Problem
from permitry.rules import BUILT_IN_RULES
from permitry.rules.exclusive_template import ExclusiveTemplateRule

Write = Callable[[str, str], Origin]


def _rule(rule_id: str, effect: str = "block", *more: str) -> str:
    """Return the four lines of a rule, and more."""
    return "\n".join(["[[rule]]", f'id = "{rule_id}"', f'effect = "{effect}"', 'tools = ["tool"]', *more])


def _file(*parts: str, extends: str = "") -> str:
    """Return a rule file whose first part begins on line 3."""
    return "\n".join(["schema = 1", f"extends = [{extends}]", *parts])


def _problems(*origins: Origin) -> list[tuple[str, int, str]]:
    with pytest.raises(ConfigError) as caught:
        load_rules(origins)
    return [(problem.path, problem.line, problem.message) for problem in caught.value.problems]


def test_a_file_is_loaded_in_the_order_of_its_lines(write: Write) -> None:
    """Rules keep their order, and each knows the line of its header."""
    rules = load_rules([write("a.toml", _file(_rule("one"), _rule("two")))]).rules
    assert [(rule.id, rule.source) for rule in rules] == [("one", "a.toml:3"), ("two", "a.toml:7")]


@for_each("is_enabled", [True, False])
@for_each("text", [_file(_rule("a")), "schema = 2\n"])
def test_the_collector_is_afterwards_as_it_was(*, is_enabled: bool, text: str, write: Write) -> None:
    """Whether the file is loaded or refused; who has switched it off finds it off."""
    origin, was_enabled = write("a.toml", text), gc.isenabled()
    try:
        (gc.enable if is_enabled else gc.disable)()
        with contextlib.suppress(ConfigError):
            load_rules([origin])
        assert gc.isenabled() is is_enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()


def test_files_are_loaded_in_the_order_given(write: Write) -> None:
    """The first file's rules come first."""
    loaded = load_rules([write("b.toml", _file(_rule("b"))), write("a.toml", _file(_rule("a")))])
    assert [rule.id for rule in loaded.rules] == ["b", "a"]
    assert loaded.files == ("b.toml", "a.toml")


def test_nothing_to_load_is_an_empty_rule_set() -> None:
    """No file is not a mistake; the built-in rules are all there is."""
    assert load_rules([]) == RuleSet()
    assert load_rules([]).policy().rules == BUILT_IN_RULES


def test_a_file_with_nothing_but_its_header_is_fine(write: Write) -> None:
    """A set may say nothing yet."""
    assert load_rules([write("a.toml", "schema = 1\n")]) == RuleSet(files=("a.toml",))


def test_an_extended_file_is_found_beside_the_file_that_extends_it(write: Write) -> None:
    """The path is relative to the file, not to the current directory, and is shown as the user would type it."""
    write("sub/more/b.toml", _file(_rule("b")))
    loaded = load_rules([write("sub/a.toml", _file(_rule("a"), extends='"more/b.toml"'))])
    assert sorted(rule.source or "" for rule in loaded.rules) == ["sub/a.toml:3", "sub/more/b.toml:3"]


def test_an_extended_file_is_shown_in_full_when_the_first_one_is(write: Write, folder: Path) -> None:
    """Absolute names stay absolute."""
    write("a.toml", _file(extends='"b.toml"'))
    write("b.toml", _file(_rule("b")))
    [rule] = load_rules([Origin(str(folder / "a.toml"))]).rules
    assert rule.source == f"{folder / 'b.toml'}:3"


def test_a_file_that_is_reached_twice_is_loaded_once(write: Write) -> None:
    """A diamond of files is neither a circle nor a duplicate, under whatever name the file is reached."""
    write("base.toml", _file(_rule("base")))
    left = write("left.toml", _file(extends='"base.toml"'))
    right = write("sub/right.toml", _file(extends='"../base.toml", "./../base.toml"'))
    loaded = load_rules([left, right, Origin("./base.toml")])
    assert [rule.id for rule in loaded.rules] == ["base"]
    assert len(loaded.files) == 3


def test_a_shipped_set_goes_by_its_name(write: Write) -> None:
    """Directly or through `extends`, its rules are known by the set's name."""
    loaded = load_rules([write("a.toml", _file(extends='"permitry:base"')), Origin("permitry:base")])
    assert loaded.files[:2] == ("a.toml", "permitry:base")
    assert all((rule.source or "").startswith("permitry:") for rule in loaded.rules)


def test_templates_and_rules_of_several_files_work_together(write: Write) -> None:
    """A template may extend one of another file, and a rule may name it."""
    write("b.toml", "schema = 1\n[template.reader]\nallow_tools = ['r']\n")
    editor = "[template.editor]\nextends = ['reader']"
    rule = _rule("a", "block", "when.template = 'editor'")
    loaded = load_rules([write("a.toml", _file(editor, rule, extends='"b.toml"'))])
    assert loaded.templates["editor"].extends == (loaded.templates["reader"],)
    assert loaded.rules[0].scope.when.plain == (TemplateCondition(("editor",)),)


def test_line_ends_of_windows_and_a_missing_last_one_are_fine(write: Write) -> None:
    """Places are the same as with the line ends of Unix."""
    text = _file(_rule("one"), _rule("two", "block", "when.mod = 1")).replace("\n", "\r\n")
    [problem] = _all_problems(write("a.toml", text))
    assert problem[1:] == (11, 6, 3, "unknown key `mod`", "did you mean `mode`?", "when.mod = 1")


def _all_problems(origin: Origin) -> tuple[Problem, ...]:
    with pytest.raises(ConfigError) as caught:
        load_rules([origin])
    return caught.value.problems


def test_a_column_counts_characters_and_not_bytes(write: Write) -> None:
    """What is before the mistake may be of any script."""
    [problem] = _all_problems(write("a.toml", 'schema = 1\nrule = [{ id = "é", effect = "block" }]\n'))
    assert (problem.line, problem.column, problem.span) == (2, 16, 3)


def test_all_problems_of_all_files_are_told_at_once_in_order(write: Write) -> None:
    """Files in the order they are reached, then lines, then columns; files that are not there come last."""
    write("b.toml", "schema = 1\nschemas = 1\n[template.x]\nextends = ['q', 'p']\n")
    first = write("a.toml", _file(_rule("A_A"), _rule("two", "warn"), extends='"b.toml", "c.toml", "d.toml"'))
    write("c.toml", "schema = \n")
    assert _problems(Origin("gone/z"), first, write("e.toml", "")) == [
        ("a.toml", 2, "there is no file `d.toml`"),
        ("a.toml", 4, "the id `A_A` is not kebab-case"),
        ("a.toml", 9, "unknown effect `warn`"),
        ("b.toml", 2, "unknown key `schemas`"),
        ("b.toml", 4, "unknown template `q`"),
        ("b.toml", 4, "unknown template `p`"),
        ("c.toml", 1, "not valid TOML: invalid value"),
        ("e.toml", 1, "missing key `schema`"),
        ("gone/z", 0, "there is no file `gone/z`"),
    ]


def test_problems_of_one_line_are_told_from_left_to_right(write: Write) -> None:
    """Whatever the order in which they are found."""
    text = 'schema = 1\nrule = [{ zzz = 1, tools = [""], effect = "warn", id = "A" }]\n'
    assert [problem.column for problem in _all_problems(write("a.toml", text))] == [11, 29, 43, 56]


def test_one_mistake_in_one_file_loads_nothing_of_any(write: Write) -> None:
    """A policy with holes where the mistakes were is never made."""
    good, bad = write("good.toml", _file(_rule("good"))), write("bad.toml", "schema = 2\n")
    assert _problems(good, bad) == [("bad.toml", 1, "`schema` is 2; this version reads 1")]


def test_what_a_file_extends_is_read_although_its_header_is_wrong(write: Write) -> None:
    """Two runs to see two mistakes would be one too many."""
    write("b.toml", "schema = 3\n")
    assert [place[:2] for place in _problems(write("a.toml", 'schema = 2\nextends = ["b.toml"]\n'))] == [
        ("a.toml", 1),
        ("b.toml", 1),
    ]


def _write_chain(write: Write, links: int) -> Origin:
    """Write files that extend each other in a row of so many links, and return the first."""
    for i in range(links):
        write(f"{i}.toml", f'schema = 1\nextends = ["{i + 1}.toml"]\n')
    write(f"{links}.toml", _file(_rule("last")))
    return Origin("0.toml")


def test_files_may_extend_each_other_as_deep_as_is_said(write: Write) -> None:
    """The rule of the last file is loaded."""
    assert [rule.id for rule in load_rules([_write_chain(write, DEEPEST)]).rules] == ["last"]


@for_each("more", [1, 200])
def test_files_that_extend_each_other_any_deeper_are_a_problem(write: Write, more: int) -> None:
    """The first link too many is reported, and none behind it is followed."""
    origin = _write_chain(write, DEEPEST + more)
    message = f"rule files extend each other more than {DEEPEST} deep"
    assert _problems(origin) == [(f"{DEEPEST}.toml", 2, message)]
    assert _all_problems(origin)[0].hint == "extend the last ones directly"


@for_each("extends", ['"b.toml"', "7", '[7, "b.toml"]', '["", "b.toml"]', "{ x = 1 }"])
def test_an_entry_of_extends_that_names_no_file_is_told_once(write: Write, extends: str) -> None:
    """What can be followed is followed; the rest is reported by its type alone."""
    write("b.toml", "schema = 1\n")
    assert len(_problems(write("a.toml", f"schema = 1\nextends = {extends}\n"))) == 1


def test_a_third_rule_of_the_same_id_is_told_with_the_first(write: Write) -> None:
    """Every further one points back at the first."""
    problems = _all_problems(write("a.toml", _file(_rule("r"), _rule("r"), _rule("r"))))
    assert [(problem.line, problem.hint) for problem in problems] == [
        (8, "the first is at a.toml:4; rename one of the two"),
        (12, "the first is at a.toml:4; rename one of the two"),
    ]


def test_a_file_that_cannot_be_read_is_a_problem(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failing disk or a missing right is told like any other mistake."""

    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    [problem] = _problems(write("a.toml", "schema = 1\n"))
    assert problem == ("a.toml", 0, "cannot be read: permission denied")


def test_a_file_that_cannot_be_looked_at_is_a_problem(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder one may not enter is reported where it is named, as an origin or in `extends`."""
    origin = write("a.toml", _file(extends='"b.toml"'))
    message = "`b.toml` cannot be looked at: permission denied"
    monkeypatch.setattr(Path, "is_file", lambda path: _refuse(path) if path.name == "b.toml" else path.exists())
    assert _problems(origin, Origin("b.toml")) == [("a.toml", 2, message), ("b.toml", 0, message)]


def _refuse(path: Path) -> bool:
    raise PermissionError(13, "Permission denied", str(path))


@for_each("name", ["a" * 300, "b/" * 5000 + "c"], ids=["name", "path"])
def test_a_name_no_system_can_hold_is_a_problem(write: Write, name: str) -> None:
    """Too long a name is reported where it is written, as an origin or in `extends`."""
    origin = write("a.toml", _file(extends=f'"{name}"'))
    assert [problem[:2] for problem in _problems(origin, Origin(name))] == [("a.toml", 2), (name, 0)]


DEEP = [("[", "", "]"), ('{"a"=', "1", "}")]


@for_each(("opening", "inside", "closing"), DEEP)
def test_a_file_nested_too_deeply_is_a_problem(write: Write, opening: str, inside: str, closing: str) -> None:
    """Nesting that Python cannot follow does not end the program."""
    [problem] = _problems(write("a.toml", f"x = {opening * 5000}{inside}{closing * 5000}\n"))
    assert problem == ("a.toml", 0, "lists or tables are nested too deeply")


def _is_shallow(text: str) -> bool:
    try:
        return bool(tomllib.loads(text))
    except RecursionError:
        return False


@for_each(("opening", "inside", "closing"), DEEP)
def test_a_file_nested_almost_too_deeply_is_a_problem(write: Write, opening: str, inside: str, closing: str) -> None:
    """Whatever depth the parser can follow, what comes after it fails no other way."""
    texts = [f"x = {opening * depth}{inside}{closing * depth}\n" for depth in range(1, 1000)]
    deepest = bisect.bisect(texts, False, key=lambda text: not _is_shallow(text))
    for text in texts[max(0, deepest - 40) : deepest + 1]:
        assert _problems(write("a.toml", text))


@for_each("priority", ["9" * 5000, "-" + "9" * 5000, "0x" + "f" * 5000, "99_999_999"])
def test_a_number_too_long_to_print_is_a_problem(write: Write, priority: str) -> None:
    """Numbers of any length are reported, and none of them is printed."""
    problems = _all_problems(write("a.toml", _file(_rule("a", "block", f"priority = {priority}"))))
    assert [len(problem.message) < 50 for problem in problems] == [True]
    assert _problems(write("a.toml", f"schema = {priority}\n"))


HEAD = "schema = 1\n[[rule]]\nid = 'r'\ntools = ['x']\n"


@for_each("depth", [2, 500, 2000])
@for_each(
    "text",
    [
        "schema{} = 1",
        f"{HEAD}effect{{}} = 1",
        *(f"{HEAD}effect = 'block'\n{key}{{}} = 1" for key in ("priority", "when.mode", "match", "reason")),
    ],
)
def test_a_dotted_key_of_any_length_is_a_problem(write: Write, text: str, depth: int) -> None:
    """A value of any depth is reported by its type, and none of it is printed."""
    [problem] = _all_problems(write("a.toml", text.format(".a" * depth)))
    assert len(problem.message) < 70


def _write_user_and_project(write: Write, user: str, project: str) -> tuple[Origin, Origin]:
    """Write a trusted and an untrusted file, and return their origins."""
    write("project.toml", f"schema = 1\n{project}")
    return write("user.toml", f"schema = 1\n{user}"), Origin("project.toml", is_trusted=False)


def test_an_untrusted_template_is_no_parent_of_a_trusted_one(write: Write) -> None:
    """What the project calls by the missing name never widens a template; the user is shown what is missing."""
    user, project = _write_user_and_project(
        write, "[template.mine]\nextends = ['reader']", "[template.reader]\nallow_tools = ['*']"
    )
    alone = _problems(user)
    assert alone == [("user.toml", 3, "unknown template `reader`")]
    assert _problems(user, project) == _problems(project, user) == alone


def test_an_untrusted_template_closes_no_gap_between_trusted_ones(write: Write) -> None:
    """Nor does it stand between two templates of the user's."""
    user, project = _write_user_and_project(
        write, "[template.a]\n[template.b]\nextends = ['x']", "[template.x]\nextends = ['a']\nallow_tools = ['*']"
    )
    assert _problems(user, project) == [("user.toml", 4, "unknown template `x`")]


def test_a_mistake_in_trusted_templates_is_told_once_though_they_are_built_twice(write: Write) -> None:
    """With a project and without it, the same is wrong."""
    user, project = _write_user_and_project(write, "[template.a]\nextends = ['q']", "[template.b]")
    assert _problems(user, project) == [("user.toml", 3, "unknown template `q`")]


def test_an_untrusted_template_that_extends_a_trusted_one_is_dropped_alone(write: Write) -> None:
    """The user's template stays as it is, and the project's is not offered."""
    user, project = _write_user_and_project(
        write, "[template.a]\nallow_tools = ['read']", "[template.b]\nextends = ['a']\nallow_tools = ['*']"
    )
    assert load_rules([user, project]).templates == load_rules([user]).templates == {"a": Template("a", ("read",))}


@for_each("step", [1, -1], ids=["trusted-first", "untrusted-first"])
def test_a_file_counts_with_the_trust_of_its_strongest_origin(write: Write, step: int) -> None:
    """Who names a file first does not matter, nor that an untrusted file extends it too."""
    write("shared.toml", _file(_rule("a", "allow"), "[template.t]"))
    trusted = write("user.toml", _file(extends='"shared.toml"'))
    untrusted = Origin(write("project.toml", _file(extends='"user.toml"')).name, is_trusted=False)
    loaded = load_rules([trusted, untrusted][::step])
    assert [rule.id for rule in loaded.rules] == ["a"]
    assert (set(loaded.templates), loaded.notices) == ({"t"}, ())


def test_a_template_with_a_wrong_key_is_still_known(write: Write) -> None:
    """Rules and examples that name it are not reported as well."""
    example = "match = [{ tool = 'tool', template = 't' }]"
    rule = _rule("a", "block", "when.template = 't'", example)
    assert _problems(write("a.toml", _file("[template.t]", "zzz = 1", rule))) == [("a.toml", 4, "unknown key `zzz`")]


def test_a_template_with_a_wrong_key_is_known_to_those_that_extend_it(write: Write) -> None:
    """One mistake is one problem, in the same file or in another; what is really unknown is still told."""
    write("b.toml", "schema = 1\n[template.t]\nzzz = 1\n")
    child = "[template.child]\nextends = ['t']"
    assert _problems(write("a.toml", _file(child, extends='"b.toml"'))) == [("b.toml", 3, "unknown key `zzz`")]
    other = "[template.other]\nextends = ['q']"
    assert ("a.toml", 6, "unknown template `q`") in _problems(write("a.toml", _file(child, other, extends='"b.toml"')))


def test_an_untrusted_template_with_a_mistake_lets_no_trusted_one_load(write: Write) -> None:
    """A project's broken template is not a parent of the user's either."""
    user, project = _write_user_and_project(write, "[template.a]\nextends = ['t']", "[template.t]\nzzz = 1")
    assert ("project.toml", 3, "unknown key `zzz`") in _problems(user, project)


def test_a_circle_of_templates_is_not_told_again_at_an_example(write: Write) -> None:
    """An example that needs the links waits until the circle is cut."""
    templates = "[template.a]\nextends = ['b']\n[template.b]\nextends = ['a']"
    example = "match = [{ tool = 'tool', template = 'b' }]"
    problems = _problems(write("a.toml", _file(templates, _rule("r", "block", "when.template = 'a'", example))))
    assert [problem[:2] for problem in problems] == [("a.toml", 4)]


def test_only_an_admin_origin_may_use_the_first_hundred_priorities(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may in the file itself and in what it extends."""
    write("b.toml", _file(_rule("b", "allow", "priority = 0")))
    name = write("a.toml", _file(_rule("a", "allow", "priority = 99"), extends='"b.toml"')).name
    assert len(_problems(Origin(name))) == 2
    monkeypatch.setattr(permitry.config.named, "writable_by_others", lambda _: None)
    assert len(load_rules([Origin(name, is_admin=True)]).rules) == 2


def test_a_file_of_an_admin_that_others_may_write_is_a_problem(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it is read, not even what it extends."""
    monkeypatch.setattr(permitry.config.named, "writable_by_others", lambda _: "open to all")
    name = write("a.toml", "no TOML").name
    assert _problems(Origin(name, is_admin=True)) == [("a.toml", 0, "open to all")]


def test_a_shipped_set_of_an_admin_is_not_checked_for_its_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shipped sets belong to whoever installed permitry, as its code does."""
    monkeypatch.setattr(permitry.config.named, "writable_by_others", lambda _: "open to all")
    assert load_rules([Origin("permitry:coding-agent", is_admin=True)]).templates


def test_an_untrusted_origin_keeps_its_restrictions_only(write: Write) -> None:
    """Permissions and templates are dropped, each with a notice that says where it stands."""
    parts = ("[template.t]", _rule("a", "allow"), _rule("c", "confirm"), _rule("b"))
    name = write("a.toml", _file(*parts)).name
    loaded = load_rules([Origin(name, is_trusted=False)])
    assert [rule.id for rule in loaded.rules] == ["c", "b"]
    assert dict(loaded.templates) == {}
    assert loaded.notices == (
        "a.toml:4: permission `a` dropped: the project is not trusted; see `permitry trust`",
        "a.toml:3: template `t` dropped: the project is not trusted; see `permitry trust`",
    )


def test_a_mistake_in_an_untrusted_permission_is_still_a_mistake(write: Write) -> None:
    """What would be dropped is checked first."""
    name = write("a.toml", _file(_rule("a", "allow", "priority = 150"))).name
    assert len(_problems(Origin(name, is_trusted=False))) == 1


def test_the_policy_of_a_rule_set_holds_the_built_in_rules_too(write: Write) -> None:
    """The six of them, and the file's own."""
    loaded = load_rules([write("a.toml", _file(_rule("a")))])
    assert loaded.policy().rules == (*BUILT_IN_RULES, *loaded.rules)


def test_load_policy_decides_by_the_named_files(write: Write) -> None:
    """Paths and shipped names together make one policy."""
    policy = load_policy(write("a.toml", _file(_rule("a", "allow"))).name, "permitry:base")
    assert policy.decide(ToolCall("tool"), AuthContext()).verdict is Verdict.ALLOW
    assert policy.decide(ToolCall("permitry_trust"), AuthContext()).verdict is Verdict.BLOCK


def test_load_policy_takes_paths(write: Write, folder: Path) -> None:
    """A path object is as good as its text, and both go next to a shipped name."""
    write("a.toml", _file(_rule("a", "allow")))
    policy = load_policy(folder / "a.toml", "permitry:base")
    assert policy.rules == load_policy(str(folder / "a.toml"), "permitry:base").rules
    assert policy.decide(ToolCall("tool"), AuthContext()).verdict is Verdict.ALLOW


def test_load_rules_takes_names_paths_and_origins_together(write: Write) -> None:
    """All of them in one list, and a bare one is trusted."""
    origins = [write(f"{name}.toml", _file(_rule(name, "allow"))) for name in ("a", "b", "c")]
    loaded = load_rules([origins[0].name, Path(origins[1].name), origins[2]])
    assert [rule.id for rule in loaded.rules] == ["a", "b", "c"]
    assert (loaded.files, loaded.notices) == (("a.toml", "b.toml", "c.toml"), ())


def test_a_source_is_a_set_a_path_or_a_text_alone_or_in_a_list(write: Write) -> None:
    """Alike for rules and for policies, and in their order."""
    write("a.toml", _file(_rule("a")))
    text, more = _file(_rule("b"), extends='"a.toml"'), _file(_rule("c"))
    for sources in ((Path("a.toml"), text, more), (["a.toml", text], more), ([text, more],)):
        loaded = load_rules(*sources)
        assert [rule.id for rule in loaded.rules] == ["a", "b", "c"]
        assert load_policy(*sources).rules == loaded.policy().rules
    assert [rule.source for rule in load_rules(text, more).rules] == ["a.toml:3", "<text 1>:3", "<text 2>:3"]
    assert load_rules("permitry:base") == load_rules(["permitry:base"])
    assert load_rules() == RuleSet()


@for_each(
    ("text", "place", "message"),
    [
        ("schema = 1\nshema = 2\n", ("<text 1>", 2), "unknown key `shema`"),
        ('schema = 1\nextends = ["gone.toml"]\n', ("<text 1>", 2), "there is no file `gone.toml`"),
        ("schema = 1\ndescription = '\ud800'\n", ("<text 1>", 2), "byte 0xed is not UTF-8"),
    ],
)
def test_a_mistake_in_a_text_has_its_line(text: str, place: tuple[str, int], message: str) -> None:
    """There is no file to show."""
    with pytest.raises(ConfigError) as caught:
        load_rules(text)
    assert [((each.path, each.line), each.message) for each in caught.value.problems] == [(place, message)]


def test_load_policy_raises_what_load_rules_raises(folder: Path) -> None:
    """A missing file is no empty policy."""
    assert folder.is_dir()
    with pytest.raises(ConfigError, match="there is no file `gone"):
        load_policy("gone/a")


# Tools, labels and exclusive templates ----------------------------------------------------------------------------


_TOOL = '[tool.http_get]\ntraits = ["read_only", "open_world"]\nroles.url = "url"'


def test_a_declared_tool_is_known_to_the_policy(write: Write) -> None:
    """A selector sees its traits, and a condition its roles."""
    rule = '[[rule]]\nid = "r"\neffect = "block"\ntools = ["@network"]\nwhen.host = "evil.com"'
    policy = load_rules([write("a.toml", _file(_TOOL, rule))]).policy()
    verdicts = [
        policy.decide(ToolCall("http_get", {"url": f"https://{host}/x"}), AuthContext()).verdict
        for host in ("evil.com", "example.com")
    ]
    assert verdicts == [Verdict.BLOCK, Verdict.CONFIRM]


def test_a_tool_is_declared_once(write: Write) -> None:
    """Two declarations would leave open which one counts; both places are reported."""
    origins = [write("a.toml", _file(_TOOL)), write("b.toml", _file(_TOOL.replace(', "open_world"', "")))]
    assert _problems(*origins) == [("b.toml", 3, "the tool `http_get` is declared twice")]


def test_a_tool_may_be_declared_again_in_the_same_words(write: Write) -> None:
    """As it is in two sets for hosts that have a tool of the same name."""
    origins = [write("a.toml", _file(_TOOL)), write("b.toml", _file(_TOOL))]
    assert list(load_rules(origins).tools) == ["http_get"]


@for_each("name", ['"x*"', '"@shell"', '"mcp__a__b"', '"a b"', '""'])
def test_a_declaration_names_one_tool(write: Write, name: str) -> None:
    """A pattern, a selector and what can be no name are refused at the header."""
    [(_, line, _)] = _problems(write("a.toml", _file(f"[tool.{name}]")))
    assert line == 3


def test_a_tool_of_a_server_may_be_declared(write: Write) -> None:
    """By the name rules see."""
    loaded = load_rules([write("a.toml", _file('[tool."mcp:docs/get"]\nroles.url = "url"'))])
    assert set(loaded.tools) == {"mcp:docs/get"}


def test_an_untrusted_declaration_is_dropped(write: Write) -> None:
    """What a project says of a tool could make a call look harmless; the notice says where it stands."""
    user, project = _write_user_and_project(write, "", _TOOL)
    loaded = load_rules([user, project])
    assert dict(loaded.tools) == {}
    assert loaded.notices == (
        "project.toml:2: tool `http_get` dropped: the project is not trusted; see `permitry trust`",
    )


def test_an_untrusted_label_and_budget_are_kept(write: Write) -> None:
    """They only restrict; what belongs to a dropped permission goes with it."""
    web = '[[rule]]\nid = "web"\nadds_label = "web"\ntools = ["x"]'
    few = _rule("few", "confirm", "budget = { calls = 1 }")
    free = _rule("free", "allow", "budget = { calls = 1 }", 'adds_label = "y"')
    project = f"{web}\n{few}\n{free}"
    loaded = load_rules(_write_user_and_project(write, "", project))
    assert [(flow.id, flow.label, flow.counts) for flow in loaded.flows] == [("web", "web", False), ("few", None, True)]
    assert [rule.id for rule in loaded.rules] == ["few"]


def test_a_label_reaches_the_session_and_the_next_rule(write: Write) -> None:
    """After reading the web, sending mail asks."""
    reads = '[[rule]]\nid = "web"\nadds_label = "web"\ntools = ["fetch_url"]'
    asks = '[[rule]]\nid = "mail"\neffect = "block"\ntools = ["mail"]\nwhen.label = "web"'
    policy = load_rules([write("a.toml", _file(reads, asks))]).policy()
    marks = policy.side_effects(ToolCall("fetch_url", {"url": "https://a"}), AuthContext())
    before, after = (policy.decide(ToolCall("mail"), AuthContext(labels=labels)) for labels in ((), marks.labels))
    assert (before.verdict, after.verdict) == (Verdict.CONFIRM, Verdict.BLOCK)


@for_each(("line", "is_blocked"), [("exclusive = true", True), ("exclusive = false", False), ("", False)])
def test_an_exclusive_template_blocks_every_other_tool(*, write: Write, line: str, is_blocked: bool) -> None:
    """While it is active; the rule is there only where a file defines one."""
    loaded = load_rules([write("a.toml", _file(f"[template.t]\n{line}\nallow_tools = ['read_file']"))])
    policy, context = loaded.policy(), AuthContext(yolo_mode=True, active_template=loaded.templates["t"])
    assert (ExclusiveTemplateRule() in policy.rules) is is_blocked
    assert policy.decide(ToolCall("read_file"), context).verdict is Verdict.ALLOW
    assert (policy.decide(ToolCall("bash"), context).verdict is Verdict.BLOCK) is is_blocked


def test_the_modes_of_a_rule_set_are_those_its_rules_name(write: Write) -> None:
    """Of rules that decide, and of those that only label."""
    rules = (_rule("a", "block", 'when.mode = "night"'), '[[rule]]\nid = "b"\nadds_label = "x"\nwhen.mode = "day"')
    assert load_rules([write("a.toml", _file(*rules))]).modes == {"night", "day"}


# What an untrusted project may do ---------------------------------------------------------------------------------


def test_an_untrusted_rule_that_takes_a_trusted_name_is_renamed(write: Write) -> None:
    """The trusted rule loads as it is, the other under a free name, and it still restricts."""
    user, project = _write_user_and_project(
        write, _rule("mine"), '[[rule]]\nid = "mine"\neffect = "block"\ntools = ["other"]'
    )
    loaded = load_rules([project, user])
    assert [rule.id for rule in loaded.rules] == ["mine", "project-mine"]
    assert loaded.notices == ("project.toml:2: rule `mine` is called `project-mine` here",)
    for tool in ("tool", "other"):
        assert loaded.policy().decide(ToolCall(tool), AuthContext()).verdict is Verdict.BLOCK


def test_two_untrusted_rules_of_one_name_are_a_mistake_as_anywhere(write: Write) -> None:
    """Only the names of others are stepped aside for."""
    write("project.toml", _file(_rule("one"), _rule("one")))
    assert [message for _, _, message in _problems(Origin("project.toml", is_trusted=False))] == [
        "two rules have the id `one`"
    ]


_COMMANDS = ", ".join(f'"x{i} *"' for i in range(64))
_EXAMPLES = ", ".join(f'"x{i}"' for i in range(32))


@for_each(
    ("what", "most", "more"),
    [
        ("rules", [_rule(f"r{i}") for i in range(200)], [_rule("more")]),
        ("patterns", [_rule("r", "block", f"when.command = [{_COMMANDS}]")], ['unless.command = ["y *"]']),
        (
            "examples",
            [_rule("r", "block", 'when.mode = "ci"')[:-1] + f'"\nno_match = [{_EXAMPLES}]'],
            ['match = ["tool"]'],
        ),
    ],
)
def test_an_untrusted_project_has_bounds(write: Write, what: str, most: list[str], more: list[str]) -> None:
    """As many are fine, one more is a problem, and a trusted file may have any number."""
    project = Origin(write("a.toml", _file(*most)).name, is_trusted=False)
    assert load_rules([project]).rules
    trusted = write("a.toml", _file(*most, *more))
    assert load_rules([trusted]).rules
    [(_, _, message)] = _problems(project)
    assert message.startswith("more than ")
    assert message.endswith(f" {what} in a project that is not trusted")


def test_a_folder_called_like_a_shipped_set_is_no_shipped_set(write: Write) -> None:
    """Its files are shown with their folder, and bounds and pins hold for them as for all others."""
    write("permitry:x.toml/more.toml", _file(_rule("more")))
    name = write("permitry:x.toml/rules.toml", _file(_rule("one"), extends='"more.toml"')).name
    loaded = load_rules([Origin(f"./{name}", is_trusted=False)])
    assert loaded.files == ("./permitry:x.toml/rules.toml", "./permitry:x.toml/more.toml")
    write("permitry:x.toml/more.toml", _file(_rule("more")) + "\n#" + "x" * 300_000)
    [(shown, _, message)] = _problems(Origin(f"./{name}", is_trusted=False))
    assert shown == "./permitry:x.toml/more.toml"
    assert "is larger than" in message


# What happens to a call that no rule matches -----------------------------------------------------------------------


def _unmatched(*words: str) -> str:
    return "\n".join(["schema = 1", "[policy]", *(f'unmatched = "{word}"' for word in words)])


@for_each("words", list(itertools.product(["", "confirm", "block"], repeat=3)))
def test_the_strictest_file_says_what_happens_to_an_unmatched_call(words: tuple[str, ...], write: Write) -> None:
    """Whatever its layer and its trust, and in whatever order: no file makes it looser."""
    layers = [write(f"{number}.toml", _unmatched(*filter(None, [word]))) for number, word in enumerate(words)]
    origins = [layers[0], attrs.evolve(layers[1], is_trusted=False), layers[2]]
    strictest = max(words, key=["", "confirm", "block"].index)
    for order in itertools.permutations(origins):
        loaded = load_rules(order)
        decision = loaded.policy().decide(ToolCall("t"), AuthContext())
        assert (decision.verdict, decision.rule_id) == (Verdict(strictest or "confirm"), None)
        assert decision.source == loaded.unmatched_source
        places = [f"{number}.toml:3" for number, word in enumerate(words) if word == strictest]
        assert loaded.unmatched_source in (places if strictest else [None])


def test_of_equal_files_the_most_trusted_is_named(write: Write) -> None:
    """An operator reads the file that cannot be changed by a project."""
    project, own = write("project.toml", _unmatched("block")), write("own.toml", _unmatched("block"))
    assert load_rules([attrs.evolve(project, is_trusted=False), own]).unmatched_source == "own.toml:3"


def test_what_is_extended_counts_for_unmatched_calls(write: Write) -> None:
    """And a rule that matches goes before."""
    write("strict.toml", _unmatched("block"))
    text = _file('[policy]\nunmatched = "confirm"', _rule("may", "allow"), extends='"strict.toml"')
    policy = load_rules([write("a.toml", text)]).policy()
    answers = {name: policy.decide(ToolCall(name), AuthContext()) for name in ("tool", "other")}
    assert {name: each.verdict for name, each in answers.items()} == {"tool": Verdict.ALLOW, "other": Verdict.BLOCK}
    assert answers["other"].source == "strict.toml:3"


def test_no_shipped_set_blocks_what_no_rule_matches() -> None:
    """The integrity check of the cache compares rules, templates and tools."""
    assert all(load_rules([name]).unmatched_source is None for name in list_shipped())


# Observed rules ---------------------------------------------------------------------------------------------------

_WATCH = "[policy]\nenforce = false"


def _ids(rules: RuleSet | None) -> list[str]:
    assert rules is not None
    return [rule.id for rule in rules.rules]


def test_an_observed_rule_is_apart_from_the_others(write: Write) -> None:
    """The rest is as if it were not written; all of it together is what would be in force."""
    rules = load_rules([write("a.toml", _file(_rule("one", "block", "enforce = false"), _rule("two")))])
    assert (_ids(rules), _ids(rules.observed)) == (["two"], ["one", "two"])
    alone = load_rules([write("b.toml", _file(_rule("two")))])
    assert alone.observed is None
    assert rules.policy().decide(ToolCall("tool"), AuthContext()).rule_id == "two"


def test_nothing_in_an_observed_file_is_obeyed(write: Write) -> None:
    """Neither its rules, nor what it declares, nor its values of a list, nor what it says of unmatched calls."""
    own = write("own.toml", _file('[list.names]\nvalues = ["a"]', _rule("named", "block", 'when.args.n.in = "@names"')))
    more = '[list.names]\nvalues = ["b"]\n[template.t]\n[tool.tool]\ntraits = ["read_only"]\n'
    text = _file(f'{_WATCH}\nunmatched = "block"', more, _rule("also", "block", 'when.args.n.in = "@names"'))
    for watched in (
        write("w.toml", text),
        attrs.evolve(write("o.toml", text.replace(_WATCH, "[policy]")), is_observed=True),
    ):
        rules, alone = load_rules([own, watched]), load_rules([own])
        assert attrs.evolve(rules, observed=None, files=alone.files) == alone
        assert (rules.files, _ids(rules.observed)) == (("own.toml", watched.name), ["named", "also"])
        assert rules.observed is not None
        assert (rules.observed.unmatched, list(rules.observed.tools)) == (Verdict.BLOCK, ["tool"])
        assert list(rules.observed.lists["names"].values) == ["a", "b"]


def test_what_an_observed_file_extends_is_obeyed(write: Write) -> None:
    """It is a file with a `[policy]` as well. Of an observed origin all is observed, but for what others bring."""
    write("base.toml", _file(_rule("base")))
    text = _file(_WATCH, _rule("own"), extends='"base.toml"')
    rules = load_rules([write("a.toml", text)])
    assert (_ids(rules), _ids(rules.observed)) == (["base"], ["base", "own"])
    origin = attrs.evolve(write("b.toml", _file(_rule("own"), extends='"base.toml"')), is_observed=True)
    assert _ids(load_rules([origin])) == []
    assert _ids(load_rules([origin, Origin("base.toml")])) == ["base"]
    assert _ids(load_rules([origin, Origin("b.toml")])) == ["base", "own"]


def test_an_observed_file_switches_off_no_rule_of_another(write: Write) -> None:
    """An id is taken once, observed or not; and what is not trusted is renamed."""
    own = write("own.toml", _file(_rule("no")))
    again = write("again.toml", _file(_rule("no", "block", "enforce = false")))
    assert _problems(own, again) == [("again.toml", 4, "two rules have the id `no`")]
    rules = load_rules([own, attrs.evolve(again, is_trusted=False)])
    assert (_ids(rules), _ids(rules.observed)) == (["no"], ["no", "project-no"])


def test_an_observed_permission_of_a_project_is_dropped(write: Write) -> None:
    """As any other; an observed restriction of it is observed."""
    text = _file(_rule("may", "allow", "enforce = false"), _rule("no", "block", "enforce = false"))
    rules = load_rules([attrs.evolve(write("p.toml", text), is_trusted=False)])
    assert (_ids(rules), _ids(rules.observed)) == ([], ["no"])
    assert [notice.partition(":")[2] for notice in rules.notices] == [
        "3: permission `may` dropped: the project is not trusted; see `permitry trust`"
    ]


def test_what_an_observed_rule_leaves_behind_is_not_kept(write: Write) -> None:
    """No label and no count, which obeyed rules could ask for; a notice says so."""
    text = _file(
        _rule("marks", "allow", "enforce = false", 'adds_label = "web"'),
        _rule("some", "block", "enforce = false", "budget.calls = 1"),
        _rule("asks", "block", 'when.label = "web"'),
    )
    rules = load_rules([write("a.toml", text)])
    policy = rules.policy()
    assert not policy.side_effects(ToolCall("tool"), AuthContext()).labels
    assert rules.notices == (
        "a.toml:3: rule `marks` is observed, so that its label is not set",
        "a.toml:9: rule `some` is observed, so that its budget is not counted",
    )


def test_mistakes_in_what_is_observed_are_mistakes(write: Write) -> None:
    """They would be there on the day that it is obeyed."""
    text = _file(_rule("a", "block", "enforce = false", 'match = ["other"]'))
    assert [line for _, line, _ in _problems(write("a.toml", text))] == [8]
    for word in ("true", '"no"'):
        assert _problems(write("a.toml", _file(_rule("a", "block", f"enforce = {word}"))))
