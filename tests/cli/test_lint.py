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
    """A human reads place, kind, rule and reason in one line, and below it what to do; the code is 1."""
    code, out, err = cli("lint", "--rules", written(ODD))
    head, suggestion = out.splitlines()
    assert (code, err) == (1, "")
    assert head.startswith("rules.toml:2: unanchored-name: rule `a`: `*read*` covers every tool")
    assert suggestion == "    write the names, or a glob with a fixed beginning"


def test_a_finding_about_a_template_names_no_rule(cli: Callable[..., Outcome], written: Callable[[str], str]) -> None:
    """Templates have no id of a rule."""
    _, out, _ = cli("lint", "--rules", written("[template.t]\n"))
    assert out.startswith("rules.toml:2: never-matches: the template `t` lists no tools")


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
    """Machines get five keys, and nothing but findings."""
    code, out, _ = cli("lint", "--json", "--rules", written(ODD + "[template.t]\n"))
    one, other = objects(out)
    assert code == 1
    assert list(one) == ["kind", "rule", "source", "reason", "suggestion"]
    assert (one["kind"], one["rule"], one["source"]) == ("unanchored-name", "a", "rules.toml:2")
    assert other["rule"] is None
    assert cli("lint", "--json", "--rules", written(FINE)) == (0, "", "")


def test_rules_that_do_not_load_are_no_finding(cli: Callable[..., Outcome], written: Callable[[str], str]) -> None:
    """A mistake is told as everywhere, with code 4."""
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
    ("text", "told"),
    [
        (None, "cannot read `tools.json`: No such file or directory"),
        ("[", "`tools.json` is no JSON"),
        ("\xff", "`tools.json` is no JSON"),
        ("{}", "`tools.json` holds no list of tools"),
        ('["a", {"description": "b"}]', "tool 2 of `tools.json` has no name"),
        ('[""]', "tool 1 of `tools.json` has no name"),
        ('[{"name": 5}]', "tool 1 of `tools.json` has no name"),
    ],
)
def test_a_list_that_is_none_is_refused(
    cli: Callable[..., Outcome], written: Callable[[str], str], text: str | None, told: str
) -> None:
    """Without the tools nothing is known about the rules, so the code is 4."""
    name = written(FINE)
    if text is not None:
        Path("tools.json").write_bytes(text.encode("latin-1"))
    code, out, err = cli("lint", "--rules", name, "--tools", "tools.json")
    assert (code, out) == (4, "")
    assert told in err


def test_without_names_the_layers_are_looked_at(cli: Callable[..., Outcome], written: Callable[[str], str]) -> None:
    """The project's file is found from the current folder, and what is dropped is told on standard error."""
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
