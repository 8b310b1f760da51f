"""Every shipped tool says what it is and what its arguments are, so that rules on actions work on it."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.tables import for_each

from permitry.actions.extract import HARMLESS_ARGUMENTS
from permitry.config.default import create_default_authorization_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.json_values import mutable
from permitry.core.spec import ArgumentRole, ToolSpec
from permitry_tools import ToolServices, workspace_tools
from permitry_tools.corpus.service import Corpus
from permitry_tools.corpus.store import CorpusStore
from permitry_tools.delegate import AgentTask
from permitry_tools.web.settings import WebSettings

# What an argument of a shipped tool may be without a role: it says how, how much or what for, and nothing by it is
# opened, started or reached.
HARMLESS: Mapping[str, frozenset[str]] = {
    "how much to show": frozenset(
        {"detail", "hashline", "include_text", "limit", "max_files", "num_results", "offset"}
    ),
    "what to look for, among what the tool reads anyway": frozenset(
        {"date_from", "date_to", "entity_a", "entity_b", "focus_areas", "glob", "mode", "query", "question",
         "recency_weight", "sql"}
    ),
    "what is put into the file that has a role": frozenset({"content", "edits", "new_text", "old_text"}),
    "which of the session's own things": frozenset({"job_id"}),
    "what an agent is told; its calls are decided one by one": frozenset(
        {"acceptance_criteria", "model", "objective", "reasoning_effort"}
    ),
    "the session's own notes": frozenset({"explanation", "plan"}),
    "only the time it takes": frozenset({"timeout"}),
}  # fmt: skip
# Next to a command these change what it does, and the reader of commands says so where one is given.
DOUBTED = frozenset({"env", "login", "shell", "user"})

# What a name gives away: an argument called so has this role, or the test wants to know why not.
TELLING: Mapping[str, frozenset[ArgumentRole]] = {
    r"(file_?)?path|filename|file": frozenset(
        {ArgumentRole.READ_PATH, ArgumentRole.WRITE_PATH, ArgumentRole.DELETE_PATH, ArgumentRole.READ_TREE}
    ),
    r"dir(ectory)?|folder|work(ing_)?dir(ectory)?|cwd": frozenset({ArgumentRole.FOLDER, ArgumentRole.READ_TREE}),
    r"cmd|command|script": frozenset({ArgumentRole.COMMAND, ArgumentRole.ARGV, ArgumentRole.COMMAND_OR_ARGV}),
    r"chars|stdin": frozenset({ArgumentRole.INPUT}),
    r"urls?|uri|address|host": frozenset({ArgumentRole.URL}),
    r"patch|input|diff": frozenset({ArgumentRole.PATCH}),
    r"agent|subagent_type": frozenset({ArgumentRole.AGENT}),
}


class Runner:
    """A runner that is there, so that the tools that start agents are too."""

    def run(self, task: AgentTask, scope: object) -> str:
        """Return nothing of use."""
        raise NotImplementedError


def shipped(folder: Path) -> list[ToolSpec]:
    """Return the declarations of all shipped tools, with every service there is."""
    document = folder / "a.md"
    document.write_text("# A document\n\nAda Lovelace.\n", encoding="utf-8")
    corpus = Corpus(CorpusStore(folder / "corpus.sqlite3"))
    corpus.store.add(document)
    services = ToolServices(web=WebSettings("http://127.0.0.1:1"), corpus=corpus, runner=Runner())
    with workspace_tools(folder, services) as registry:
        assert registry.specs(AuthContext()) == tuple(registry)
        return sorted(registry, key=lambda spec: spec.name)


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory) -> list[ToolSpec]:
    """Return the declarations of all shipped tools."""
    return shipped(tmp_path_factory.mktemp("shipped"))


def properties(spec: ToolSpec) -> Mapping[str, Any]:
    """Return the schemas of a tool's arguments by name."""
    found: Mapping[str, Any] = mutable(spec.parameters).get("properties", {})
    return found


def roles_by_name(spec: ToolSpec) -> dict[str, ArgumentRole]:
    """Return the role of each argument that has one; `urls[]` applies to `urls`, `patch|input` to both."""
    return {
        name.removesuffix("?").split("[")[0]: role
        for key, role in (spec.roles or {}).items()
        for name in key.split("|")
    }  # fmt: skip


def mistakes(spec: ToolSpec) -> Iterator[str]:
    """Yield what a declaration lacks."""
    yield from (f"{spec.name}: {expected}" for expected in (*of_itself(spec), *of_its_arguments(spec)))


def of_itself(spec: ToolSpec) -> Iterator[str]:
    """Yield what is missing about the tool as a whole."""
    traits = spec.traits
    if spec.roles is None:
        yield "nobody says what its arguments are"
    if traits.read_only is None and traits.destructive is None:
        yield "neither reading nor destroying is decided"
    if traits.spawns_agent is None:
        yield "nobody says whether it starts agents"
    if traits.spawns_agent is False and traits.open_world is None:
        yield "nobody says whether it reaches out"
    if traits.read_only is True and traits.destructive is not False:
        yield "it only reads, and may destroy"
    if not re.fullmatch(r"[A-Z].{10,}\.", spec.description, re.DOTALL):
        yield "its description is not a sentence"
    if spec.timeout is not None and not 1 <= spec.timeout <= 3600:
        yield f"its timeout is {spec.timeout} seconds"
    if not 1_000 <= spec.output_limit <= 200_000:
        yield f"its answers have {spec.output_limit} characters"


def of_its_arguments(spec: ToolSpec) -> Iterator[str]:
    """Yield what is missing about its arguments."""
    schema, roles = mutable(spec.parameters), roles_by_name(spec)
    if schema.get("type") != "object" or schema.get("additionalProperties") is not False:
        yield "its schema is not an object with known keys only"
    known = HARMLESS_ARGUMENTS.union(*HARMLESS.values(), DOUBTED if spec.is_shell else ())
    for name, each in properties(spec).items():
        if not each.get("description"):
            yield f"`{name}` has no description"
        if name not in roles and name not in known:
            yield f"`{name}` has no role, and nobody says that it is harmless"
        for pattern, wanted in TELLING.items():
            if re.fullmatch(pattern, name) and roles.get(name) not in wanted:
                yield f"`{name}` has the role {roles.get(name)}"
    # A role that applies to no argument is for one that was renamed; `path?` alone means the whole workspace.
    stray = {name for name in roles if name not in properties(spec)} - {"path"}
    yield from (f"the role of `{name}` is for no argument" for name in stray)


def test_every_tool_declares_itself(specs: list[ToolSpec]) -> None:
    """Traits, roles, schema, description and limits: no tool is without one of them."""
    assert [expected for spec in specs for expected in mistakes(spec)] == []


def test_every_family_is_there(specs: list[ToolSpec]) -> None:
    """What is walked is what is shipped: one well-known name of each family, and the number of all."""
    names = {spec.name for spec in specs}
    assert names >= {
        "think", "read_file", "search_files", "repo_map", "view_image", "edit_file", "hashline_edit", "apply_patch",
        "read_artifact", "run_shell", "run_shell_bg", "exec_command", "write_stdin", "local_shell", "update_plan",
        "subtask", "fetch_url", "web_search", "deep_analysis", "graph_search",
    }  # fmt: skip
    assert len(names) == len(specs) == 31


@for_each(
    ("name", "changes", "expected"),
    [
        ("run_shell", {"roles": None}, "nobody says what its arguments are"),
        ("run_shell", {"roles": {}}, "`command` has the role None"),
        ("read_file", {"roles": {}}, "`path` has no role"),
        ("fetch_url", {"roles": {}}, "`urls` has the role None"),
        ("apply_patch", {"roles": {"patch": ArgumentRole.PATCH}}, "`input` has the role None"),
        ("shell", {"roles": {"command": ArgumentRole.COMMAND}}, "`workdir` has no role"),
        ("write_file", {"roles": {"path": ArgumentRole.TEXT}}, "`path` has the role"),
        ("write_file", {"roles": {"path": ArgumentRole.WRITE_PATH, "old": ArgumentRole.READ_PATH}}, "no argument"),
        ("think", {"description": ""}, "its description is not a sentence"),
        ("think", {"parameters": {"type": "object", "properties": {"note": {}}}}, "`note` has no description"),
        ("think", {"timeout": 100_000}, "its timeout is"),
    ],
)
def test_the_walk_sees_what_is_missing(
    specs: list[ToolSpec], name: str, changes: dict[str, Any], expected: str
) -> None:
    """A declaration with something taken away is found."""
    spec = next(spec for spec in specs if spec.name == name)
    assert any(expected in each for each in mistakes(attrs.evolve(spec, **changes)))


def test_what_only_reads_runs_and_the_rest_asks(specs: list[ToolSpec]) -> None:
    """By the built-in rules alone, each with arguments that are as harmless as can be."""
    policy, context = create_default_authorization_policy(), AuthContext(workspace="/srv/work")
    verdicts = {spec.name: policy.decide(ToolCall(spec.name, example(spec)), context, spec).verdict for spec in specs}
    runs = {name for name, verdict in verdicts.items() if verdict is Verdict.ALLOW}
    reading = {spec.name for spec in specs if spec.only_reads}
    # Without anything to type it only looks at what a session has written.
    assert runs == reading | {"write_stdin"}
    assert reading == {
        "check_shell_bg", "graph_search", "list_artifacts", "list_files", "query_documents_metadata", "read_artifact",
        "read_file", "read_image", "repo_map", "retrieve_documents", "search_files", "think", "view_image",
    }  # fmt: skip


def example(spec: ToolSpec) -> dict[str, Any]:
    """Return arguments for a call, each that is required with the simplest value of its kind."""
    simple: Mapping[str, Any] = {"string": "a", "integer": 1, "array": ["make"], "boolean": True, "number": 1}
    required = mutable(spec.parameters).get("required", ())
    return {name: simple.get(each.get("type"), "a") for name, each in properties(spec).items() if name in required}
