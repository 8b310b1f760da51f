"""Every example in the README and the documentation runs, and shows what it says it shows.

The blocks of one page run in order in one scratch folder that holds copies of `golden/` and `rules/`:

- `python` is executed, `pycon` is a doctest; after a line `<!-- needs: MODULE -->`, only where that is installed;
- `toml`, `json` and `jsonl` after a line `<!-- file: NAME -->` are written to that file; other `toml` must load;
- `console` holds commands after `$ ` and their whole output, standard error included; `...` means anything.

`sh` is only in the README, where `.ci/run` runs it; `text` is not run. For `postgresql:///audit` there is a
server with an empty database of that name.
"""

import doctest
import importlib
import importlib.util
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import attrs
import pytest
from tests.host_tables import HOSTS_PAGE, list_hosts
from tests.postgres import Cluster
from tests.tables import for_each

import permitry
import permitry_hosts
import permitry_ops
import permitry_tools
from permitry.config.load import load_policy
from permitry.config.schema import WhenTable
from permitry.rules import BUILT_IN_RULES

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(
    r"(?:<!-- (?:file: (?P<file>\S+)|needs: (?P<needs>\S+)) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)")
ANCHOR = re.compile(r"\]\((?!https?:)([^)#\s]*)#([^)]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FINDING = re.compile(r'"([a-z]+-[a-z-]+|redundant|shadowed)"')
CHECKER = doctest.OutputChecker()
_DATABASE = " postgresql:///audit"

# What the page and the module of an adapter need: each framework has an environment of its own.
FRAMEWORKS = {
    "anthropic": "anthropic",
    "claude_agent_sdk": "claude_agent_sdk",
    "langchain": "langchain",
    "openai_agents": "agents",
    "pydantic_ai": "pydantic_ai",
}


def skip_without_framework(name: str) -> None:
    """Skip the test of a page or module whose framework is not installed."""
    if name in FRAMEWORKS:
        pytest.importorskip(FRAMEWORKS[name], reason="an environment of its own: tests/adapters/run_all.sh")


def is_installed(module: str) -> bool:
    """Return whether a block can run: the recipes of a page need a framework each."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def sections(page: Path) -> list[str]:
    """Return the headings of a page, those in its blocks left out."""
    return HEADING.findall(BLOCK.sub("", page.read_text(encoding="utf-8")))


def anchors(page: Path) -> set[str]:
    """Return what links to parts of a page end with, on the site as where the pages are read as they are."""
    named = re.findall(r'<a id="([\w-]+)"></a>', page.read_text(encoding="utf-8"))
    made = (re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in sections(page))
    return {*named, *made}


def page_name(page: Path) -> str:
    """Return a page's path below the repository."""
    return page.relative_to(ROOT).as_posix()


@attrs.frozen
class Scratch:
    """The folder a page's blocks run in, and the folder of the program."""

    folder: Path
    programs: Path

    @property
    def where(self) -> Path:
        """The file that says where the last command left the shell."""
        return self.folder / ".where"

    @property
    def here(self) -> Path:
        """The current folder: a reader's shell stays where a `cd` has led it, and files are written there."""
        return Path(self.where.read_text(encoding="utf-8").strip()) if self.where.exists() else self.folder

    def run(self, language: str, text: str, file: str | None) -> None:
        """Run one block."""
        if file is not None:
            path = self.here / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        match language:
            case "python":
                exec(compile(text, "<example>", "exec"), {"__name__": "__main__"})  # noqa: S102 -- running examples is this test
            case "pycon":
                self.doctest(text)
            case "toml":
                self.load(text, file)
            case "console":
                self.console(text)
            case "yaml":
                # What it says is for another program; it must be one of that form.
                assert isinstance(importlib.import_module("yaml").safe_load(text), dict)
            case "json" | "jsonl" | "text":
                pass
            case _:
                pytest.fail(f"a block of `{language}` is never run")

    def load(self, text: str, file: str | None) -> None:
        """Load a rule file, which must be without a mistake."""
        if file is None or file.endswith("rules.toml"):
            path = self.here / (file or "example.toml")
            path.write_text(text, encoding="utf-8")
            load_policy(str(path))

    def doctest(self, text: str) -> None:
        """Run a session of the interpreter."""
        test = doctest.DocTestParser().get_doctest(text, {}, "example", None, None)
        shown: list[str] = []
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=shown.append)
        assert not shown, "".join(shown)

    def console(self, text: str) -> None:
        """Run each command and compare what it prints."""
        assert text.startswith("$ "), "a console block begins with a command"
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, want = part.partition("\n")
            got = self.output(command)
            assert CHECKER.check_output(want, got, doctest.ELLIPSIS), f"$ {command}\n{got}"

    def output(self, command: str) -> str:
        """Return what a shell command prints, on either stream."""
        environment = {
            **os.environ,
            "PATH": os.pathsep.join(map(str, (self.programs, Path(sys.executable).parent, os.environ["PATH"]))),
            "COLUMNS": "100",
            "PYTHONUNBUFFERED": "1",  # as at a terminal, what is written first on either stream comes first
            "XDG_STATE_HOME": str(self.folder / "state"),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
        }
        done = subprocess.run(  # noqa: S602 -- the commands are those of our own documentation
            f"{command}\npwd >'{self.where}'", shell=True, cwd=self.here, env=environment, check=False, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        return done.stdout


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm_program: Path) -> Scratch:
    """Return a fresh folder with copies of what examples refer to, as the current one."""
    for name in ("golden", "rules"):
        shutil.copytree(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return Scratch(tmp_path, warm_program.parent)


@pytest.mark.apart
@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_example_runs(
    page: Path, scratch: Scratch, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An example that does not do what the page says is a lie."""
    skip_without_framework(page.stem.replace("-", "_"))
    text = page.read_text(encoding="utf-8")
    if _DATABASE in text:
        server: Cluster = request.getfixturevalue("postgres")
        server.new("audit")
        monkeypatch.setenv("PGHOST", str(server.folder))
        monkeypatch.setenv("PGUSER", "postgres")
    for match in BLOCK.finditer(text):
        if match["language"] == "sh":
            assert page.name == "README.md"
            continue
        if match["needs"] is None or is_installed(match["needs"]):
            scratch.run(match["language"], match["text"], match["file"])


@for_each("page", PAGES, ids=page_name)
def test_every_file_is_named_where_a_reader_sees_it(page: Path) -> None:
    """A comment is not shown, so a reader would not know under which name to save the text."""
    text, end = page.read_text(encoding="utf-8"), 0
    for match in BLOCK.finditer(text):
        assert Path(match["file"] or "").name in text[end : match.start()], match["file"]
        end = match.end()


@for_each("page", PAGES, ids=page_name)
def test_every_link_leads_somewhere(page: Path) -> None:
    """A link to a page that is not there helps no one."""
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@for_each("page", PAGES, ids=page_name)
def test_every_link_to_a_section_finds_it(page: Path) -> None:
    """Sections move from page to page, and a reader would be left at the top of the old one."""
    for target, name in ANCHOR.findall(BLOCK.sub("", page.read_text(encoding="utf-8"))):
        there = page.parent / target if target else page
        if there.suffix == ".md":
            assert name in anchors(there), f"{target}#{name}"


def test_the_readme_is_short() -> None:
    """The first screen decides."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 130


def test_the_design_is_seen_at_first_sight() -> None:
    """The parts of a handler are public, and its six rules have the priorities that the page says."""
    (tree,) = re.findall(r"```text\n(ToolHandler.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    parts = re.findall(r"^(?:[├└]── )?(\w+)", tree, re.MULTILINE)
    assert set(parts) <= set(permitry.__all__)
    rules = re.findall(r"^│   [├└]── (\w+) +(\d+)", tree, re.MULTILINE)
    assert rules == [(type(rule).__name__, str(rule.priority())) for rule in BUILT_IN_RULES]


@for_each(
    ("folder", "names"),
    [
        ("rules", [path.stem for path in (ROOT / "src/permitry/rules").glob("[!_]*.py")]),
        (
            "commands",
            [path.stem for path in ROOT.glob("src/*/cli/[!_]*.py") if "def configure(" in path.read_text()],
        ),
        ("conditions", [*WhenTable.model_fields, "unless", "budget"]),
    ],
)
def test_everything_has_its_page(folder: str, names: list[str]) -> None:
    """One rule, command or condition: one page, or one section of the page that the folder begins with."""
    pages = ROOT / "docs/reference" / folder
    assert len(names) > 5
    for name in (name.strip("_").replace("_", "-") for name in names):
        is_section = name in (heading.replace("_", "-") for heading in sections(pages / "README.md"))
        assert is_section or (pages / f"{name}.md").is_file(), name


def test_every_host_has_its_row() -> None:
    """With the files that are changed for it."""
    text = HOSTS_PAGE.read_text(encoding="utf-8")
    assert list_hosts(text) == text, "python -m tests.host_tables"


def test_every_finding_of_lint_has_its_section() -> None:
    """Who reads the name of a finding looks it up."""
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "src/permitry_ops/lint").glob("[a-z]*.py"))
    findings = {name for text in texts if "def findings(" in text for name in FINDING.findall(text)}
    assert len(findings) > 20
    assert findings - {"permitry-probe"} <= set(sections(ROOT / "docs/reference/lint.md"))


@for_each("folder", ["commands", "conditions", "rules"])
def test_every_page_is_in_its_index(folder: str) -> None:
    """A page that the index of its folder does not name is found by accident."""
    pages = ROOT / "docs/reference" / folder
    named = set(LINK.findall((pages / "README.md").read_text(encoding="utf-8")))
    assert {page.name for page in pages.glob("*.md")} - {"README.md"} <= named


_EARLIER = ("permitry.adapters", "permitry.audit.otel")


def _modules() -> list[str]:
    packages = (permitry, permitry_hosts, permitry_ops, permitry_tools)
    names = (info.name for each in packages for info in pkgutil.walk_packages(each.__path__, f"{each.__name__}."))
    # Earlier names of modules warn, and have nothing of their own.
    return sorted(name for name in names if not name.startswith(_EARLIER))


_OF_FRAMEWORKS = tuple(f"permitry_hosts.adapters.{name}" for name in FRAMEWORKS)


@for_each("module", sorted(set(_modules()) - set(_OF_FRAMEWORKS)))
def test_docstring_examples_run(module: str) -> None:
    """The examples inside the packages run too."""
    if not module.endswith("__main__"):
        assert doctest.testmod(importlib.import_module(module)).failed == 0


@pytest.mark.parametrize("module", _OF_FRAMEWORKS)
def test_the_docstring_of_an_adapter_runs(module: str) -> None:
    """In the environment of its framework, where `tests/adapters/run_all.sh` chooses it by name."""
    skip_without_framework(module.removeprefix("permitry_hosts.adapters."))
    assert doctest.testmod(importlib.import_module(module)).failed == 0
