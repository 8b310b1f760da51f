"""`permitry trust`: a deliberate word of the user, shown in full, and taken back."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Outcome = tuple[int, str, str]
Cli = Callable[..., Outcome]
Objects = Callable[[str], list[dict[str, Any]]]

ALLOW = '[[rule]]\nid = "permits"\neffect = "allow"\ntools = ["tool"]\n'
BLOCK = '[[rule]]\nid = "restricts"\neffect = "block"\ntools = ["other"]\n'
TEMPLATE = '[template.mine]\nallow_tools = ["tool"]\n'
CALL = '{"name": "tool", "arguments": {}}'

COUNTED = ["file", "sha256", "permissions", "templates", "tools", "restrictions"]


@pytest.fixture
def project(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a project, as the current one, that extends a second file."""
    folder = workspace / ".permitry"
    folder.mkdir()
    (folder / "rules.toml").write_text(f'schema = 1\nextends = ["more.toml"]\n{ALLOW}\n{TEMPLATE}')
    (folder / "more.toml").write_text(f"schema = 1\n{BLOCK}")
    monkeypatch.chdir(workspace)
    return workspace


def _trusted(cli: Cli) -> bool:
    return cli("check", "--call", CALL)[0] == 0


def _digest(cli: Cli) -> str:
    return str(json.loads(cli("trust", "--json")[1])["digest"])


def test_a_trusted_project_permits(cli: Cli, project: Path) -> None:
    """Before, the call was to be confirmed; after, it is allowed, and no notice is left."""
    assert (project.is_dir(), _trusted(cli)) == (True, False)
    assert cli("trust")[0] == 0
    assert cli("check", "--call", CALL)[::2] == (0, "")


def test_what_is_trusted_is_shown(cli: Cli, project: Path) -> None:
    """The folder, the digest, and what each file holds."""
    digest = _digest(cli)
    code, out, err = cli("trust")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"trusted {project.resolve()}",
        f"  digest {digest}",
        "  .permitry/rules.toml: 1 permission, 1 template, 0 tools, 0 restrictions",
        "  .permitry/more.toml: 0 permissions, 0 templates, 0 tools, 1 restriction",
    ]


def test_with_json_one_object_is_printed(cli: Cli, objects: Objects, project: Path) -> None:
    """It holds the SHA-256 of each file too."""
    code, out, err = cli("trust", "--json")
    (shown,) = objects(out)
    assert (code, err, list(shown)) == (0, "", ["project", "digest", "trusted", "files"])
    assert (shown["project"], shown["trusted"], len(shown["digest"])) == (str(project.resolve()), True, 64)
    assert [list(file) for file in shown["files"]] == [[*COUNTED, "lists", "programs", "unmatched"]] * 2
    assert [file["file"] for file in shown["files"]] == [".permitry/rules.toml", ".permitry/more.toml"]


def test_what_a_file_says_of_other_calls_is_shown(cli: Cli, objects: Objects, project: Path) -> None:
    """That, and the lists of a file, change what other rules decide."""
    text = 'schema = 1\n[policy]\nunmatched = "block"\n[list.a]\nvalues = []\n'
    (project / ".permitry" / "rules.toml").write_text(text)
    assert cli("trust")[1].endswith("0 tools, 0 restrictions, 1 list, what no rule matches: block\n")
    (file,) = objects(cli("trust", "--json")[1])[0]["files"]
    assert (file["lists"], file["unmatched"]) == (1, "block")


def test_a_shipped_set_is_shown_with_its_permissions(cli: Cli, objects: Objects, project: Path) -> None:
    """Trusting the project lets them count as well; it has no digest, since it comes with permitry."""
    (project / ".permitry" / "rules.toml").write_text('schema = 1\nextends = ["permitry:coding-agent"]\n')
    (shown,) = objects(cli("trust", "--json")[1])
    shipped = {file["file"]: file for file in shown["files"]}["permitry:coding"]
    assert (shipped["sha256"], shipped["templates"]) == (None, 2)


def test_of_shipped_sets_that_only_restrict_the_number_is_shown(cli: Cli, project: Path) -> None:
    """Trust changes nothing for them, and there are many."""
    (project / ".permitry" / "rules.toml").write_text('schema = 1\nextends = ["permitry:money", "permitry:access"]\n')
    assert [line.split(":")[0] for line in cli("trust")[1].splitlines()[2:]] == [
        "  .permitry/rules.toml", "  2 shipped sets without permissions",
    ]  # fmt: skip


@pytest.mark.parametrize("words", [(), (".",), ("../workspace",)])
def test_the_project_is_found_or_named(cli: Cli, project: Path, words: tuple[str, ...]) -> None:
    """Without a folder the nearest project counts."""
    assert cli("trust", *words)[1].startswith(f"trusted {project.resolve()}\n")


def test_the_nearest_project_is_searched_upward(cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a folder deep inside it."""
    inside = project / "src" / "deep"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    assert cli("trust")[1].startswith(f"trusted {project.resolve()}\n")
    assert cli("trust", "--revoke")[:2] == (0, f"revoked {project.resolve()}\n")


def test_a_folder_named_is_not_searched_upward(cli: Cli, project: Path) -> None:
    """What is named is meant."""
    (project / "src").mkdir()
    code, out, err = cli("trust", "src")
    assert (code, out) == (4, "")
    assert err.startswith(
        "src: there is no file `.permitry/rules.toml` in it\n      hint: name the folder of a project"
    )


def test_without_a_project_there_is_a_way_out(cli: Cli, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here or above."""
    monkeypatch.chdir(workspace)
    message = "permitry: there is no `.permitry/rules.toml` here or above; name the folder of a project\n"
    assert cli("trust") == (4, "", message)


def test_rules_that_do_not_load_are_not_trusted(cli: Cli, project: Path) -> None:
    """All their mistakes are reported, and an old trust is not renewed."""
    (project / ".permitry" / "more.toml").write_text("schema = 2\nfoo = 1\n")
    code, out, err = cli("trust")
    assert (code, out) == (4, "")
    assert err.endswith("2 problems\n")
    assert cli("trust", "--list") == (0, "", "")


def test_a_changed_project_is_listed_as_changed(cli: Cli, objects: Objects, project: Path) -> None:
    """With the digest that was trusted; what is not in force is not called trusted."""
    digest = _digest(cli)
    assert cli("trust", "--list") == (0, f"trusted {project.resolve()}\n  digest {digest}\n", "")
    (project / ".permitry" / "more.toml").write_text("schema = 1\n")
    assert cli("trust", "--list") == (0, f"changed {project.resolve()}\n  digest {digest}\n", "")
    assert objects(cli("trust", "--list", "--json")[1]) == [
        {"project": str(project.resolve()), "digest": digest, "trusted": False}
    ]
    assert not _trusted(cli)


def test_a_revoked_project_does_not_permit(cli: Cli, objects: Objects, project: Path) -> None:
    """The list is empty again."""
    cli("trust")
    assert objects(cli("trust", "--revoke", "--json")[1]) == [{"project": str(project.resolve()), "trusted": False}]
    assert (cli("trust", "--list"), _trusted(cli)) == ((0, "", ""), False)


def test_a_project_that_is_gone_can_be_revoked(cli: Cli, project: Path) -> None:
    """Also from inside its folder, and by name."""
    for words in ((), (str(project),)):
        cli("trust")
        rules = (project / ".permitry" / "rules.toml").read_text()
        (project / ".permitry" / "rules.toml").unlink()
        assert cli("trust", "--revoke", *words)[0] == 0
        (project / ".permitry" / "rules.toml").write_text(rules)


@pytest.mark.parametrize("words", [(), (".",), ("nowhere",)])
def test_revoking_what_is_not_trusted_is_reported(cli: Cli, project: Path, words: tuple[str, ...]) -> None:
    """A mistyped folder must not look like trust taken back."""
    code, out, err = cli("trust", "--revoke", *words)
    assert (code, out) == (4, "")
    assert err.startswith(f"permitry: `{project.resolve()}")
    assert err.endswith("` is not trusted; `permitry trust --list` shows what is\n")


def test_a_damaged_store_is_reported_by_name(cli: Cli, project: Path, home: Path) -> None:
    """Each form of the command stops, and the way out is reported."""
    cli("trust")
    store = home / "permitry" / "trust.json"
    store.write_text("{")
    for words in ((), ("--list",), ("--revoke",)):
        code, out, err = cli("trust", *words)
        assert (code, out) == (4, "")
        assert err.startswith(f"{store}: is damaged\n      hint: look at it, delete it, and trust your projects again")
    assert project.is_dir()
    assert not _trusted(cli)


@pytest.mark.parametrize("words", [("--list", "--revoke"), ("--list", "."), ("one", "two")])
def test_a_wrong_use_is_invalid_input(cli: Cli, words: tuple[str, ...]) -> None:
    """A folder with `--list` would look as if the list were about it."""
    assert cli("trust", *words)[:2] == (4, "")


def test_a_name_does_not_steer_the_terminal(cli: Cli, tmp_path: Path) -> None:
    """Folders are shown spelled out."""
    folder = tmp_path / "a\x1b[2J\nb\u202e" / ".permitry"
    folder.mkdir(parents=True)
    (folder / "rules.toml").write_text("schema = 1\n")
    for words in ((folder.parent,), ("--list",), ("--revoke", folder.parent)):
        code, out, _ = cli("trust", *words)
        assert (code, out.replace("\n", "").isprintable()) == (0, True)


def test_no_tool_call_trusts_a_project(cli: Cli, asked: Callable[..., str]) -> None:
    """The shipped base blocks every tool that is named as if it did."""
    for name in ("permitry_trust", "mcp:permitry/trust"):
        assert cli("check", "--rules", "permitry:base", "--call", asked(name))[0] == 2


# Plugin folders ---------------------------------------------------------------------------------------------------


def test_a_plugin_folder_is_trusted_listed_and_revoked(cli: Cli, objects: Objects, workspace: Path) -> None:
    """By its files; one that comes takes the trust away."""
    folder = workspace / "tools"
    folder.mkdir()
    (folder / "hello.py").write_text("plugin = 1")
    (shown,) = objects(cli("trust", str(folder), "--json")[1])
    assert (shown["plugins"], shown["trusted"], [file["file"] for file in shown["files"]]) == (
        str(folder.resolve()), True, ["hello.py"],
    )  # fmt: skip
    assert cli("trust", str(folder))[1].splitlines()[2:] == ["  hello.py"]
    assert cli("trust", "--list")[1].startswith(f"trusted {folder.resolve()}\n")
    (folder / "more.py").touch()
    assert objects(cli("trust", "--list", "--json")[1]) == [
        {"plugins": str(folder.resolve()), "digest": shown["digest"], "trusted": False}
    ]
    assert cli("trust", "--revoke", str(folder))[0] == 0
    assert cli("trust", "--list")[1] == ""


def test_a_project_with_python_files_is_a_project(cli: Cli, project: Path) -> None:
    """Its rules come first."""
    (project / "tool.py").touch()
    assert cli("trust")[1].splitlines()[2].startswith("  .permitry/rules.toml: 1 permission")
