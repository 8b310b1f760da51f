"""A first rule file for a project: what its kind of project runs all day, allowed on top of a shipped set."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import attrs

__all__ = ["ProjectKind", "kinds_of", "starter_text"]

_MOST_BYTES = 1_000_000
_SCRIPTS = ("test", "lint", "build", "check", "typecheck", "format")
_LOCK_FILES = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun"}


@attrs.frozen
class ProjectKind:
    """A kind of project, and the patterns of the commands its agent runs, by what they are for."""

    name: str
    commands: Mapping[str, tuple[str, ...]]

    @property
    def slug(self) -> str:
        """The name as part of a rule's id."""
        return self.name.lower().replace(" ", "-")


_PYTHON = {
    "tests": (
        "pytest *", "python -m pytest *", "python3 -m pytest *", "uv run pytest *", "poetry run pytest *",
        "python -m unittest *", "python3 -m unittest *", "tox", "tox -e *", "nox", "nox -s *",
    ),
    "checks": ("ruff check *", "ruff format *", "black *", "isort *", "flake8 *", "mypy *", "pyright *"),
}  # fmt: skip
_RUST = {
    "tests": ("cargo test *", "cargo nextest run *", "cargo bench *"),
    "checks": ("cargo check *", "cargo build *", "cargo clippy *", "cargo fmt *", "cargo doc *"),
}
_GO = {
    "tests": ("go test *",),
    "checks": ("go build *", "go vet *", "gofmt *", "golangci-lint run *"),
}
_MAVEN = {"tests": ("mvn test *", "./mvnw test *"), "checks": ("mvn compile *", "./mvnw compile *")}
_GRADLE = {
    "tests": ("gradle test *", "./gradlew test *"),
    "checks": ("gradle build *", "gradle check *", "./gradlew build *", "./gradlew check *"),
}
_MARKERS = (
    ("Python", ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"), _PYTHON),
    ("Rust", ("Cargo.toml",), _RUST),
    ("Go", ("go.mod",), _GO),
    ("Java with Maven", ("pom.xml",), _MAVEN),
    ("Java with Gradle", ("build.gradle", "build.gradle.kts"), _GRADLE),
)
_GIT = (
    "git add *", "git commit *", "git switch *", "git checkout -b *", "git restore --staged *", "git stash",
    "git stash push *", "git stash pop *",
)  # fmt: skip

_FOR_A_HOST = """\
# What a coding agent may do unasked in this project ({found}), where its hook has `--grant`.
# What no rule here is about, the agent asks about as it does without permitry: see permitry:hooks.
# Add a pattern where you are asked too often; `permitry explain --command '...'` says why you are.

schema = 1
description = "A coding agent at work in {name}."
extends = ["permitry:hooks"]
"""
_FOR_A_LOOP = """\
# What a coding agent may do in this project ({found}).
# Reading runs, edits and other commands are asked about, publishing is blocked: see permitry:coding-agent.
# Add a pattern where you are asked too often; `permitry explain --command '...'` says why you are.

schema = 1
description = "A coding agent at work in {name}."
extends = ["permitry:coding-agent"]
"""
_RULE = """\
[[rule]]
id = "{id}"
effect = "allow"
reason = "{reason}"
when.command = [
{patterns}
]
match = ["{example}", "cd src && {example} | tail -5"]
no_match = ["{example}; rm -rf build", "{example} > ../notes.txt"]
"""
_TAIL = """\
# Edits are asked about unless the template `edit` is active (`permitry run --template edit`), or with this rule:
# [[rule]]
# id = "edit-sources"
# effect = "allow"
# reason = "edits the project's sources"
# when.path = ["src/**", "tests/**", "docs/**"]
"""


def kinds_of(folder: Path) -> list[ProjectKind]:
    """Return the kinds of project that the files in a folder show; several may be one project."""
    kinds = [
        ProjectKind(name, commands)
        for name, markers, commands in _MARKERS
        if any((folder / marker).is_file() for marker in markers)
    ]
    if (folder / "package.json").is_file():
        kinds.append(ProjectKind("JavaScript", _node_commands(folder)))
    if (folder / "Makefile").is_file():
        kinds.append(ProjectKind("Make", {"tests": ("make test", "make check"), "checks": ("make lint", "make build")}))
    return kinds


def _node_commands(folder: Path) -> Mapping[str, tuple[str, ...]]:
    manager = next((name for file, name in _LOCK_FILES.items() if (folder / file).is_file()), "npm")
    scripts = _scripts(folder / "package.json")
    checks = [f"{manager} run {script} *" for script in scripts if script != "test"]
    tests: dict[str, tuple[str, ...]] = {"tests": (f"{manager} test *", f"{manager} run test *")}
    return tests | {"checks": tuple(checks)} if checks else tests


def _scripts(file: Path) -> list[str]:
    try:
        with file.open("rb") as stream:
            given = json.loads(stream.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return []
    scripts = given.get("scripts") if isinstance(given, dict) else None
    # Only names that are known here: the file is the project's, and its words are not written into rules.
    return [name for name in _SCRIPTS if isinstance(scripts, dict) and name in scripts]


def starter_text(name: str, kinds: list[ProjectKind], *, is_for_host: bool = False) -> str:
    """Return a rule file for a project in a folder `name`; a host asks its user by itself."""
    found = ", ".join(kind.name for kind in kinds) or "no kind of project that is known here"
    start = _FOR_A_HOST if is_for_host else _FOR_A_LOOP
    head = start.format(found=found, name=re.sub(r"[^\w .-]", "_", name))
    rules = [
        _rule(f"{kind.slug}-{purpose}", f"runs the project's {purpose} ({kind.name})", patterns)
        for kind in kinds
        for purpose, patterns in kind.commands.items()
    ]
    git = _rule("git-local", "changes the local repository only", _GIT)
    return "\n".join([head, *rules, git] if is_for_host else [head, *rules, git, _TAIL])


def _rule(rule_id: str, reason: str, patterns: tuple[str, ...]) -> str:
    listed = "\n".join(f'  "{pattern}",' for pattern in patterns)
    return _RULE.format(id=rule_id, reason=reason, patterns=listed, example=patterns[0].removesuffix(" *"))
