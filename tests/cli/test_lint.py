"""`permitry lint`: findings for humans and machines, and exit codes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Outcome = tuple[int, str, str]
Objects = Callable[[str], list[dict[str, Any]]]

ODD = '[[rule]]\nid = "a"\neffect = "allow"\ntools = ["*read*"]\n'
FINE = '[[rule]]\nid = "b"\neffect = "block"\ntools = ["send_mail"]\n'


@pytest.fixture
def written(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Return a function that writes `rules.toml` into the current folder and returns its name."""
    monkeypatch.chdir(workspace)

    def write(text: str) -> str:
        Path("rules.toml").write_text(f"schema = 1\n{text}", encoding="utf-8")
        return "rules.toml"

    return write


def test_a_finding_has_its_place_first(cli: Callable[..., Outcome], written: Callable[[str], str]) -> None:
    """A human reads place, level, kind, rule and reason in one line, and below it what to do; the code is 1."""
    code, out, err = cli("lint", "--rules", written(ODD))
    head, suggestion = out.splitlines()
    assert (code, err) == (1, "")
    assert head.startswith("rules.toml:2: warning: unanchored-name: rule `a`: `*read*` covers every tool")
    assert suggestion == "    write the names, or a glob with a fixed beginning"


def test_a_finding_about_a_template_names_no_rule(cli: Callable[..., Outcome], written: Callable[[str], str]) -> None:
    """Templates have no id of a rule."""
    _, out, _ = cli("lint", "--rules", written("[template.t]\n"))
    assert out.startswith("rules.toml:2: warning: never-matches: the template `t` lists no tools")


def test_clean_rules_are_counted(cli: Callable[..., Outcome], written: Callable[[str], str]) -> None:
    """Without findings the code is 0, and the number of rules says that they were looked at."""
    assert cli("lint", "--rules", written(FINE)) == (0, "no findings in 1 rule\n", "")


def test_the_plural_is_right(cli: Callable[..., Outcome]) -> None:
    """Several rules are several rules."""
    code, out, _ = cli("lint", "--rules", "permitry:base")
    assert (code, out.split()[:3], out.split()[-1]) == (0, ["no", "findings", "in"], "rules")


def test_json_has_an_object_a_finding(
    cli: Callable[..., Outcome], written: Callable[[str], str], objects: Objects
) -> None:
    """Machines get six keys, and nothing but findings."""
    code, out, _ = cli("lint", "--json", "--rules", written(ODD + "[template.t]\n"))
    one, other = objects(out)
    assert code == 1
    assert list(one) == ["kind", "level", "rule", "source", "reason", "suggestion"]
    assert (one["kind"], one["rule"], one["source"]) == ("unanchored-name", "a", "rules.toml:2")
    assert other["rule"] is None
    assert cli("lint", "--json", "--rules", written(FINE)) == (0, "", "")


def test_rules_that_do_not_load_are_no_finding(cli: Callable[..., Outcome], written: Callable[[str], str]) -> None:
    """A mistake is reported as everywhere, with code 4."""
    code, out, err = cli("lint", "--rules", written("[[rule]]\n"))
    assert (code, out) == (4, "")
    assert "missing key `id`" in err


@pytest.mark.parametrize(
    "tools",
    [
        ["send_mail"],
        [{"name": "send_mail", "description": "", "input_schema": {}}],
        [{"type": "function", "function": {"name": "send_mail", "parameters": {}}}],
    ],
)
def test_the_list_of_tools_has_names_or_specs(
    cli: Callable[..., Outcome], written: Callable[[str], str], tools: list[object]
) -> None:
    """What is given to a model can be given to lint."""
    name = written(FINE)
    Path("tools.json").write_text(json.dumps(tools), encoding="utf-8")
    assert cli("lint", "--rules", name, "--tools", "tools.json")[0] == 0
    Path("tools.json").write_text(json.dumps(tools).replace("send_mail", "send_post"), encoding="utf-8")
    code, out, _ = cli("lint", "--rules", name, "--tools", "tools.json")
    assert code == 1
    assert "unknown-tool: rule `b`: `send_mail` is none of the tools" in out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "cannot read `tools.json`: No such file or directory"),
        ("[", "`tools.json` is not JSON"),
        ("\xff", "`tools.json` is not JSON"),
        ("{}", "`tools.json` has no list of tools"),
        ('["a", {"description": "b"}]', "tool 2 of `tools.json` has no name"),
        ('[""]', "tool 1 of `tools.json` has no name"),
        ('[{"name": 5}]', "tool 1 of `tools.json` has no name"),
        ('["a", {"name": "b", "parameters": []}]', "the schema of tool 2 of `tools.json` is not an object"),
    ],
)
def test_a_list_that_is_none_is_refused(
    cli: Callable[..., Outcome], written: Callable[[str], str], text: str | None, expected: str
) -> None:
    """Without the tools nothing is known about the rules, so the code is 4."""
    name = written(FINE)
    if text is not None:
        Path("tools.json").write_bytes(text.encode("latin-1"))
    code, out, err = cli("lint", "--rules", name, "--tools", "tools.json")
    assert (code, out) == (4, "")
    assert expected in err


def test_without_names_the_layers_are_looked_at(cli: Callable[..., Outcome], written: Callable[[str], str]) -> None:
    """The project's file is found from the current folder, and what is dropped is reported on standard error."""
    written("")
    Path(".permitry").mkdir()
    Path("rules.toml").rename(".permitry/rules.toml")
    project = Path(".permitry/rules.toml")
    project.write_text(f"schema = 1\n{ODD}{FINE}".replace('"send_mail"', '"write_fil"'), encoding="utf-8")
    code, out, err = cli("lint")
    assert code == 1
    assert "unknown-tool: rule `b`" in out
    assert "permission `a` dropped" in err
    assert "unanchored-name" not in out


def test_invisible_characters_are_shown(cli: Callable[..., Outcome], workspace: Path) -> None:
    """A name in a rule file must not steer the terminal."""
    folder = workspace / "a\x1bb"
    folder.mkdir()
    (folder / "rules.toml").write_text(f"schema = 1\n{ODD}", encoding="utf-8")
    _, out, _ = cli("lint", "--rules", folder / "rules.toml")
    assert "\x1b" not in out
    assert "a\\u001bb" in out


def test_many_rules_show_their_progress(
    cli: Callable[..., Outcome], written: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal, on standard error alone; a few rules take no time."""
    name = written(FINE)
    monkeypatch.setattr("permitry_ops.cli.lint._MANY", 1)
    assert "checking" not in cli("lint", "--rules", name)[2]
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    code, out, err = cli("lint", "--rules", name)
    assert (code, out) == (0, "no findings in 1 rule\n")
    assert "checking" in err


@pytest.mark.parametrize("key", ["parameters", "input_schema", "inputSchema"])
@pytest.mark.parametrize("is_inner", [False, True])
def test_the_schemas_of_a_list_are_looked_at(
    cli: Callable[..., Outcome], written: Callable[[str], str], objects: Objects, key: str, *, is_inner: bool
) -> None:
    """Each provider has a word of its own for them; what none of them has is an error."""
    name = written('[[rule]]\nid = "a"\neffect = "allow"\ntools = ["f"]\nunless.args.emails = { exists = true }\n')
    tool = {"name": "f", key: {"type": "object", "properties": {"email": {"type": "string"}}}}
    Path("tools.json").write_text(json.dumps([{"function": tool} if is_inner else tool]), encoding="utf-8")
    code, out, _ = cli("lint", "--rules", name, "--tools", "tools.json")
    assert (code, out.splitlines()[1]) == (1, "    did you mean `email`?")
    assert out.startswith("rules.toml:2: error: unknown-argument: rule `a`: `f` has no argument `emails`\n")
    (found,) = objects(cli("lint", "--rules", name, "--tools", "tools.json", "--json")[1])
    assert (found["kind"], found["level"]) == ("unknown-argument", "error")


def test_an_argument_with_a_role_is_an_argument(cli: Callable[..., Outcome], written: Callable[[str], str]) -> None:
    """A tool may take several forms of arguments; rules see the one that has the roles."""
    rule = '[[rule]]\nid = "a"\neffect = "block"\ntools = ["unified_exec"]\nwhen.args.{} = "x"\n'
    tools = map(json.loads, cli("tools", "--rules", "permitry:base", "--json")[1].splitlines())
    tool = next(each for each in tools if each["name"] == "exec_command")
    roles = {"action": "text", "cmd?": "command", "edits[].path|file": "write_path"}
    Path("tools.json").write_text(json.dumps([{**tool, "name": "unified_exec", "roles": roles}]), encoding="utf-8")
    for name in ("action", "cmd", "edits", "file", "yield_time_ms"):
        assert cli("lint", "--rules", written(rule.format(name)), "--tools", "tools.json")[0] == 0, name
    for name in ("cdm", "input"):
        assert "unknown-argument" in cli("lint", "--rules", written(rule.format(name)), "--tools", "tools.json")[1]


def test_the_tools_there_are_can_be_given_to_lint(cli: Callable[..., Outcome], written: Callable[[str], str]) -> None:
    """What `permitry tools` prints for a provider is such a list."""
    name = written('[[rule]]\nid = "a"\neffect = "block"\ntools = ["write_file"]\nwhen.args.pth = "x"\n')
    for shape in ("openai-chat", "anthropic", "mcp"):
        Path("tools.json").write_text(cli("tools", "--shape", shape, "--rules", "permitry:base")[1], encoding="utf-8")
        code, out, _ = cli("lint", "--rules", name, "--tools", "tools.json")
        assert (code, "did you mean `path`?" in out) == (1, True)


def test_a_host_without_prompts(cli: Callable[..., Outcome], tmp_path: Path) -> None:
    """What asks for the user is found only there."""
    path = tmp_path / "rules.toml"
    path.write_text('schema = 1\n[[rule]]\nid = "a"\neffect = "allow"\ntools = ["t"]\nwhen.prompt.words = ["pay"]\n')
    assert cli("lint", "--rules", path)[0] == 0
    code, out, _ = cli("lint", "--rules", path, "--no-prompts")
    assert (code, "never-heard" in out) == (1, True)
