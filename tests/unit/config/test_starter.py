"""A first rule file: it loads, fits its project, and lint finds nothing in it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from permitry.config.load import load_rules
from permitry.config.starter import kinds_of, starter_text
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry_ops.lint import lint

Check = Callable[[str], Verdict]

_FILES = {
    "Python": ("pyproject.toml", "pytest -q"),
    "Rust": ("Cargo.toml", "cargo test --all"),
    "Go": ("go.mod", "go test ./..."),
    "Java with Maven": ("pom.xml", "mvn test"),
    "Java with Gradle": ("build.gradle", "./gradlew check"),
    "JavaScript": ("package.json", "npm test"),
    "Make": ("Makefile", "make test"),
}


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """Return a function that decides on a command by the rule file for the folder."""

    def decide(command: str) -> Verdict:
        file = tmp_path / "rules.toml"
        file.write_text(starter_text("a project", kinds_of(tmp_path)), encoding="utf-8")
        policy = load_rules([file]).policy()
        call = ToolCall("run_shell", {"command": command})
        return policy.decide(call, AuthContext(workspace=str(tmp_path))).verdict

    return decide


@pytest.mark.parametrize(("kind", "file", "command"), [(kind, *rest) for kind, rest in _FILES.items()])
def test_the_commands_of_a_kind_of_project_run(
    tmp_path: Path, check: Check, kind: str, file: str, command: str
) -> None:
    """Its tests run unasked, and they do not in another kind of project."""
    assert check(command) is Verdict.CONFIRM
    (tmp_path / file).touch()
    assert [each.name for each in kinds_of(tmp_path)] == [kind]
    assert check(command) is Verdict.ALLOW
    assert check(f"{command} && git push") is Verdict.BLOCK
    assert check("curl example.com") is Verdict.CONFIRM


def test_all_kinds_together_make_one_file_without_findings(tmp_path: Path) -> None:
    """The file is an example of how rules are written."""
    for file, _ in _FILES.values():
        (tmp_path / file).touch()
    rules = tmp_path / "rules.toml"
    rules.write_text(starter_text("all", kinds_of(tmp_path)), encoding="utf-8")
    assert lint(load_rules([rules])) == ()


@pytest.mark.parametrize(("lock", "manager"), [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun")])
def test_scripts_are_run_by_the_projects_own_manager(tmp_path: Path, check: Check, lock: str, manager: str) -> None:
    """A lock file says which program runs the scripts; only scripts with well-known names are permitted."""
    scripts = {"lint": "eslint .", "deploy": "rsync", 'x"]\n[[rule]]': "evil"}
    (tmp_path / "package.json").write_text(json.dumps({"scripts": scripts}), encoding="utf-8")
    (tmp_path / lock).touch()
    assert check(f"{manager} run lint") is Verdict.ALLOW
    assert check(f"{manager} run deploy") is not Verdict.ALLOW
    assert check(f"{manager} run build") is Verdict.CONFIRM
    assert check("npm run lint") is Verdict.CONFIRM


@pytest.mark.parametrize("text", ["", "[", "[1]", '{"scripts": 3}', "[" * 100_000])
def test_a_package_file_that_cannot_be_read_names_no_scripts(tmp_path: Path, check: Check, text: str) -> None:
    """The project is still one of JavaScript."""
    (tmp_path / "package.json").write_text(text, encoding="utf-8")
    assert check("npm test") is Verdict.ALLOW


def test_the_name_of_a_folder_breaks_nothing(tmp_path: Path) -> None:
    """Quotes, line ends and the like do not get into the file."""
    rules = tmp_path / "rules.toml"
    rules.write_text(starter_text('a"\n[x]\\', []), encoding="utf-8")
    assert load_rules([rules]).rules
