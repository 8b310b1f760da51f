"""The house keeps its own rules: rings, third-party placement, sizes."""

import ast
import functools
import graphlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import permitry.port
from permitry.extras import load
from tests.tables import for_each

SOURCE = Path(__file__).resolve().parents[1] / "src" / "permitry"
FILES = sorted(SOURCE.rglob("*.py"))
# The packages outside of the trust line: they ask permitry, which imports none of them.
TOOLS = SOURCE.with_name("permitry_tools")
OTHERS = [path for name in ("tools", "hosts", "ops") for path in sorted(SOURCE.parent.glob(f"permitry_{name}/**/*.py"))]
EVERY = [*FILES, *OTHERS]

# DESIGN section 4. A folder or top file that is not here has no ring, and fails.
RINGS = {
    "errors": 0,
    "core": 1, "files": 1, "extras": 1, "adapters": 2, "hooks": 2,
    "conditions": 2, "actions": 2, "messages": 2, "audit": 2,
    "rules": 3, "store": 3, "dispatch": 3,
    "config": 4, "undo": 4, "channels": 4,
    "guard": 5,
    "handler": 6,
    "golden": 7, "testing": 7,
    "port": 7,
    "cli": 8,
    "__main__": 9, "__init__": 9,
}  # fmt: skip
# Those of the packages that are built on it, whose rooms do not import each other either.
RINGS_OF_HOSTS = {"importers": 1, "setup": 1, "hooks": 1, "adapters": 1, "gateway": 1, "cli": 2, "__init__": 3}
RINGS_OF_OPS = {
    "diff": 1, "fmt": 1, "bounded_connection": 1, "otel": 1, "parquet": 1,
    "lint": 2, "inbox": 2, "postgres": 2, "otlp": 2, "replay": 3, "coverage": 4,
    "cli": 5, "__init__": 6,
}  # fmt: skip

THIRD_PARTY = {
    "agents": ("permitry_hosts/adapters/openai_agents.py",),
    "ada_url": ("actions/",),
    "anthropic": ("permitry_hosts/adapters/anthropic.py",),
    "attrs": ("",),
    "docstring_parser": ("dispatch/schema.py",),
    "langchain": ("permitry_hosts/adapters/langchain.py",),
    "langchain_core": ("permitry_hosts/adapters/langchain.py",),
    "langgraph": ("permitry_hosts/adapters/langchain.py",),
    "claude_agent_sdk": ("permitry_hosts/adapters/claude_agent_sdk.py",),
    "fastmcp": ("permitry_hosts/adapters/fastmcp.py",),
    "jsonschema": ("dispatch/argument_schema.py", "dispatch/schema_keywords.py"),
    "httpcore": ("permitry_tools/web/",),
    "httpx": ("permitry_tools/web/",),
    "matplotlib": ("permitry_ops/replay/plot.py",),
    "mcp": (
        "messages/mcp_client.py",
        "permitry_hosts/gateway/",
        "permitry_tools/mcp.py",
        "permitry_tools/_mcp_client.py",
    ),
    "mcp_types": ("permitry_hosts/adapters/fastmcp.py", "permitry_hosts/gateway/", "messages/mcp_lists.py"),
    "opentelemetry": ("permitry_ops/otel.py", "permitry_ops/otlp.py"),
    "platformdirs": ("config/", "audit/"),
    "psycopg": ("permitry_ops/bounded_connection.py", "permitry_ops/postgres.py"),
    "psutil": ("permitry_tools/_descendants.py", "permitry_tools/_process.py"),
    "pyarrow": ("permitry_ops/parquet.py",),
    "pydantic": ("config/", "golden/", "permitry_tools/", "dispatch/schema.py"),
    "pydantic_ai": ("permitry_hosts/adapters/pydantic_ai.py",),
    "pydantic_core": (
        "permitry_hosts/adapters/pydantic_ai.py",
        "config/",
        "golden/",
        "permitry_tools/",
        "dispatch/schema.py",
    ),
    "ray": ("permitry_ops/replay/cluster.py",),
    "re2": ("conditions/", "dispatch/schema_keywords.py"),
    "referencing": ("dispatch/argument_schema.py", "dispatch/schema_keywords.py"),
    "rich": ("cli/", "permitry_hosts/cli/", "permitry_ops/cli/"),
    "shtab": ("cli/completion.py",),
    "starlette": ("permitry_hosts/gateway/", "permitry_ops/inbox/"),
    "tree_sitter": ("actions/",),
    "tree_sitter_bash": ("actions/",),
    "uvicorn": ("permitry_hosts/gateway/", "permitry_ops/inbox/"),
}

# CONVENTIONS, "Words": private words that have plain ones.
PRIVATE_WORDS = re.compile(
    r"\b(told|stands|stood|beside|nobody|somebody|whoever|anew|surely|generously|speaks?|spoke|doors?|floors?|keepers?"
    r"|thawed|minted|residue|passed over|lets others in|(?<!there )is no (?!longer\b|more\b))\b",
    re.IGNORECASE,
)

LONGEST_FILE = 500
LONGEST_FUNCTION = 60


def place(path: Path) -> str:
    """Return a file's path below permitry; that of a shipped tool begins with its package."""
    return path.relative_to(SOURCE.parent).as_posix().removeprefix("permitry/")


def room(path: Path) -> str:
    """Return the folder below the package, or the name of a file at its top."""
    return path.relative_to(SOURCE.parent).parts[1].removesuffix(".py")


@functools.cache
def tree(path: Path) -> ast.Module:
    """Return a parsed file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def places(package: str) -> tuple[str, ...]:
    """Return where a foreign package may be imported."""
    return THIRD_PARTY.get(package, ())


def imports(path: Path) -> Iterator[str]:
    """Yield the dotted names of all modules a file imports, wherever in it."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own_imports(path: Path, package: str = "permitry") -> Iterator[tuple[str, ...]]:
    """Yield the parts below a package of each of its modules that a file imports."""
    for name in imports(path):
        parts = tuple(name.split("."))
        if parts[0] == package and len(parts) > 1:
            yield parts[1:]


PACKAGES = (("permitry", RINGS), ("permitry_hosts", RINGS_OF_HOSTS), ("permitry_ops", RINGS_OF_OPS))


@for_each("package, rings", PACKAGES)
def test_every_file_stands_in_a_ring(package: str, rings: dict[str, int]) -> None:
    """A folder without a ring has no place in the house."""
    assert {room(path) for path in SOURCE.with_name(package).rglob("*.py")} == set(rings)


@for_each("package, rings", PACKAGES)
def test_imports_point_inward(package: str, rings: dict[str, int]) -> None:
    """A file imports from lower rings and from its own folder, never from a neighbour."""
    outward = [
        f"{place(path)} imports {'.'.join(parts)}"
        for path in SOURCE.with_name(package).rglob("*.py")
        for parts in own_imports(path, package)
        if parts[0] != room(path) and parts[0] in rings and rings[parts[0]] >= rings[room(path)]
    ]
    assert outward == []


def test_permitry_imports_nothing_that_is_built_on_it() -> None:
    """What decides works without the other packages; its commands ask for some of them by name."""
    assert [place(path) for path in FILES for name in imports(path) if name.startswith("permitry_")] == []


def test_hosts_and_ops_do_not_know_each_other() -> None:
    """What two of them need is in permitry."""
    pairs = (("permitry_hosts", "permitry_ops"), ("permitry_ops", "permitry_hosts"))
    for one, other in pairs:
        files = SOURCE.with_name(one).rglob("*.py")
        assert [place(path) for path in files for name in imports(path) if name.split(".")[0] == other] == []


def test_what_is_asked_for_by_name_is_there() -> None:
    """Each text that is the place of something in another package, as `load` takes it."""
    texts = [node.value for path in FILES for node in ast.walk(tree(path)) if isinstance(node, ast.Constant)]
    asked = {text for text in texts if isinstance(text, str) and re.fullmatch(r"permitry_[\w.]+:\w+", text)}
    assert len(asked) > 5
    for text in asked:
        assert load(text) is not None


def test_rules_do_not_know_each_other() -> None:
    """One rule, one file; only what a rule file says may use the conditions."""
    for path in sorted((SOURCE / "rules").glob("[!_]*.py")):
        known = {parts[0] for parts in own_imports(path)} & {"rules", "conditions"}
        allowed = {"conditions"} if path.stem in ("configured", "flow") else set()
        assert known <= allowed, place(path)


def test_what_reads_text_and_what_knows_programs_do_not_know_each_other() -> None:
    """`actions/derive/` alone asks both; what both need is next to them."""
    for folder in ("reading", "programs"):
        for path in sorted((SOURCE / "actions" / folder).glob("*.py")):
            rooms = {parts[1] for parts in own_imports(path) if parts[0] == "actions" and len(parts) > 1}
            assert not {"reading", "programs", "derive"} - {folder} & rooms, place(path)


def test_third_parties_stay_in_their_places() -> None:
    """Every foreign package is imported only where the design puts it."""
    known = {"permitry", "permitry_tools", "permitry_hosts", "permitry_ops", *sys.stdlib_module_names}
    foreign = {(place(path), name.split(".")[0]) for path in EVERY for name in imports(path)}
    assert foreign
    assert [each for each in sorted(foreign) if each[1] not in known and not each[0].startswith(places(each[1]))] == []


def test_files_and_functions_stay_small() -> None:
    """No file is longer than 500 lines, no function longer than 60; ruff keeps the complexity."""
    long = [place(path) for path in EVERY if len(path.read_text(encoding="utf-8").splitlines()) > LONGEST_FILE]
    for path in EVERY:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                is_long = (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION
                long += [f"{place(path)}: {node.name}"] if is_long else []
    assert long == []


# Private to one folder and still imported from another, and why: each is to go.
SHARED_PRIVATES = {
    "permitry_ops.lint._schemas": "`permitry lint` reads the schemas that it hands to the checks",
    "permitry.conditions._argv": "lint compares the patterns of commands token by token",
    "permitry.conditions._compare": "lint compares arguments as conditions do",
}


def private_imports(path: Path) -> Iterator[str]:
    """Yield each private module or name that a file imports from a folder that it is not in, or below."""
    folder = path.relative_to(SOURCE.parent).parent.parts
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split("_")[0].split(".")[0] == "permitry":
            module = tuple((node.module or "").split("."))
            for name in (alias.name for alias in node.names):
                parts = (*module, name)
                first = next((at for at, part in enumerate(parts) if part[0] == "_" and part[:2] != "__"), None)
                if first is None:
                    continue
                # A name belongs to its module, a module to its folder.
                is_name = first == len(module) and not SOURCE.parent.joinpath(*module).is_dir()
                owner = module[:-1] if is_name else parts[:first]
                if folder[: len(owner)] != owner:
                    yield ".".join(parts[: first + 1])


def test_what_is_private_stays_in_its_folder() -> None:
    """A private module serves its folder and those below, a private name the folder of its module."""
    assert {name for path in EVERY for name in private_imports(path)} == SHARED_PRIVATES.keys()


# Who knows the shipped tools by name, and why.
USERS_OF_TOOLS = {
    "permitry_ops/cli/corpus.py": "`permitry corpus` fills the store that the document tools read",
    "permitry_hosts/cli/gateway.py": "`permitry gateway` reads the servers of a tools file",
    "permitry_ops/cli/run.py": "`permitry run --diff` compares the workspace with what it was",
    "permitry_ops/cli/toolset.py": "`permitry run` and `permitry tools` offer them, as a tools file says",
}


def test_only_the_command_line_knows_the_shipped_tools() -> None:
    """What decides, asks and records works without them: they are outside of the trust line."""
    others = [path for path in EVERY if not path.is_relative_to(TOOLS)]
    users = {place(path) for path in others if "permitry_tools" in {name.split(".")[0] for name in imports(path)}}
    assert users == USERS_OF_TOOLS.keys()


def test_the_shipped_tools_know_only_the_port() -> None:
    """Each import of permitry is from there; each name there is used, and none is private."""
    used = set()
    for path in sorted(TOOLS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "permitry.port":
                used |= {alias.name for alias in node.names}
            else:
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                assert "permitry" not in {name.split(".")[0] for name in names}, place(path)
    assert used == set(permitry.port.__all__)
    assert not [name for name in used if name.startswith("_")]


def test_the_core_is_pure() -> None:
    """Nothing in core/ can read a clock, a file, a socket, randomness or a log."""
    forbidden = {
        "asyncio",
        "logging",
        "os",
        "pathlib",
        "random",
        "secrets",
        "socket",
        "subprocess",
        "threading",
        "time",
    }
    for path in (SOURCE / "core").glob("*.py"):
        assert not forbidden & {name.split(".")[0] for name in imports(path)}, place(path)


def test_files_do_not_import_each_other_in_a_circle() -> None:
    """Each can be read after those it builds on; imports for types alone, and those inside functions, count as well."""
    names = {".".join(path.relative_to(SOURCE.parent).with_suffix("").parts): path for path in EVERY}
    modules = {name.removesuffix(".__init__"): path for name, path in names.items()}
    graph = {name: (set(imports(path)) & modules.keys()) - {name} for name, path in modules.items()}
    # What gathers the public names loads them on first use.
    del graph["permitry"]
    graphlib.TopologicalSorter(graph).prepare()


# Files without tests of their own name, and why.
NOT_MIRRORED = {
    "handler.py": "its tests are a folder, tests/unit/handler",
}


def mirror(path: Path) -> Path:
    """Return where the tests of a file are; those of an `__init__.py` are in `test_init.py`."""
    *folders, name = place(path).split("/")
    test = f"test_{name.replace('__init__', 'init')}"
    if folders[-1:] in (["cli"], ["adapters"]):
        return Path(__file__).parent.joinpath(folders[-1], test)
    return Path(__file__).parent.joinpath("unit", *folders, test)


def test_every_source_file_has_its_mirror_test() -> None:
    """A reader finds the tests of a file at its own path; classes of values alone need none."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    working = [path for path in EVERY if any(isinstance(node, functions) for node in ast.walk(tree(path)))]
    assert {place(path) for path in working if not mirror(path).exists()} == NOT_MIRRORED.keys()


# In a list of characters these signs mean themselves.
CHARACTERS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{[0-9,]+\})\+|\(\?>")


def test_no_pattern_has_a_possessive_group() -> None:
    """Python before 3.11.5 (Debian 12 has 3.11.2) matches one wrongly; of single characters it does not."""
    found = [
        f"{place(path)}:{node.lineno}: {node.value}"
        for path in EVERY
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant)
        if isinstance(node.value, str)
        if POSSESSIVE_GROUP.search(CHARACTERS.sub("c", node.value))
    ]
    assert found == []


def test_private_words_do_not_come_back() -> None:
    """Pages, rule sets and source are in the words of the field, so that a stranger need not learn ours."""
    root = SOURCE.parents[1]
    pages = [root / "README.md", *(root / "docs").rglob("*.md"), *(root / "rules").rglob("*.toml")]
    found = [
        f"{path.relative_to(root)}:{number}: {line.strip()}"
        for path in [*pages, *EVERY]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if PRIVATE_WORDS.search(line)
    ]
    assert found == []
