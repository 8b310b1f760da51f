"""Hot reload: a changed folder changes its own tools, a broken file changes nothing, and nothing piles up."""

import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from permitry.core.call import ToolCall
from permitry.core.spec import ToolSpec
from permitry.dispatch.discovery import PluginReloader
from permitry.dispatch.plugin_folder import PluginFolder
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import RegistryError
from permitry.handler import Ready, ToolHandler

Write = Callable[..., None]


def _plugin(name: str, word: str) -> str:
    head = "from permitry.dispatch.discovery import ToolPlugin\n"
    return f"{head}plugin = ToolPlugin({{'name': '{name}'}}, lambda a, c: '{word}', version='{word}')\n"


def _modules() -> list[str]:
    return [name for name in sys.modules if name.startswith("permitry_plugins_")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return an empty plugin folder."""
    folder = tmp_path / "plugins"
    folder.mkdir()
    return folder


@pytest.fixture
def reloader(registry: ToolRegistry, path: Path) -> PluginReloader:
    """Return a reloader of the folder."""
    return PluginReloader(registry, lambda: PluginFolder.read(path))


def test_without_a_change_nothing_happens(reloader: PluginReloader, path: Path) -> None:
    """The first time all is new."""
    (path / "a.py").write_text(_plugin("a", "1"))
    report = reloader.poll()
    assert report is not None
    assert [each.tool for each in report.loaded] == ["a"]
    assert reloader.poll() is None


def test_tools_come_change_and_go(reloader: PluginReloader, handler: ToolHandler, path: Path) -> None:
    """With their files; a changed definition has another digest."""
    (path / "a.py").write_text(_plugin("a", "1"))
    (path / "b.py").write_text(_plugin("b", "1"))
    reloader.poll()
    before = handler.registry.get("a")
    (path / "a.py").write_text(_plugin("a", "2"))
    (path / "b.py").unlink()
    (path / "c.py").write_text(_plugin("c", "1"))
    reloader.poll()
    after = handler.registry.get("a")
    assert sorted(spec.name for spec in handler.registry) == ["a", "c"]
    assert handler.handle(ToolCall("a")).text == "2"
    assert before is not None
    assert after is not None
    assert before.digest != after.digest


def test_a_broken_file_keeps_its_tool(reloader: PluginReloader, handler: ToolHandler, path: Path) -> None:
    """It goes on as it was, until the file is mended or gone."""
    (path / "a.py").write_text(_plugin("a", "1"))
    reloader.poll()
    (path / "a.py").write_text("raise ValueError")
    report = reloader.poll()
    assert report is not None
    assert len(report.failed) == 1
    assert handler.handle(ToolCall("a")).text == "1"
    (path / "a.py").write_text(_plugin("a", "3"))
    reloader.poll()
    assert handler.handle(ToolCall("a")).text == "3"


def test_a_folder_that_is_not_trusted_any_more_keeps_its_tools(
    reloader: PluginReloader, handler: ToolHandler, path: Path
) -> None:
    """The problem is reported, and gone when the folder is back."""
    (path / "a.py").write_text(_plugin("a", "1"))
    reloader.poll()
    path.rename(path.with_name("away"))
    assert reloader.poll() is None
    assert "does not exist" in str(reloader.problem)
    assert handler.handle(ToolCall("a")).ok
    path.with_name("away").rename(path)
    assert (reloader.poll(), reloader.problem) == (None, None)


def test_tools_of_others_are_not_replaced(reloader: PluginReloader, handler: ToolHandler, path: Path) -> None:
    """Neither one that was there before, nor one that took the place of a plugin; nor are they taken out."""
    registry = handler.registry
    registry.register(ToolSpec("a"), lambda _: "host")
    (path / "a.py").write_text(_plugin("a", "1"))
    (path / "b.py").write_text(_plugin("b", "1"))
    report = reloader.poll()
    assert report is not None
    assert [each.reason for each in report.failed] == ["the tool `a` is already registered"]
    registry.register(ToolSpec("b"), lambda _: "host", replace=True)
    (path / "b.py").write_text(_plugin("b", "2"))
    reloader.poll()
    (path / "b.py").unlink()
    reloader.poll()
    assert [handler.handle(ToolCall(name)).text for name in ("a", "b")] == ["host", "host"]


def test_one_that_is_gone_already_is_no_error(reloader: PluginReloader, registry: ToolRegistry, path: Path) -> None:
    """The host may have taken it out."""
    (path / "a.py").write_text(_plugin("a", "1"))
    reloader.poll()
    registry.unregister("a")
    (path / "a.py").unlink()
    assert reloader.poll() is not None


def test_what_was_authorized_before_runs_as_it_was(reloader: PluginReloader, handler: ToolHandler, path: Path) -> None:
    """The rules saw the old definition."""
    (path / "a.py").write_text(_plugin("a", "1"))
    reloader.poll()
    ready = handler.begin(ToolCall("a"))
    (path / "a.py").write_text(_plugin("a", "2"))
    reloader.poll()
    assert isinstance(ready, Ready)
    assert handler.run(ready).text == "1"


def test_reloading_leaves_nothing_behind(reloader: PluginReloader, path: Path) -> None:
    """Neither modules nor finders pile up, and those of a tool that stays do stay."""
    (path / "b.py").write_text(_plugin("b", "1"))
    reloader.poll()
    finders, modules = len(sys.meta_path), len(_modules())
    for number in range(5):
        (path / "b.py").write_text(_plugin("b", str(number)))
        reloader.poll()
    assert (len(sys.meta_path), len(_modules())) == (finders, modules)
    (path / "b.py").write_text("raise ValueError")
    reloader.poll()
    assert (len(sys.meta_path), len(_modules())) == (finders, modules)
    (path / "b.py").unlink()
    reloader.poll()
    assert (len(sys.meta_path), len(_modules())) == (finders - 1, modules - 2)


def test_polls_from_many_threads_load_once(reloader: PluginReloader, path: Path) -> None:
    """The others see no change."""
    (path / "a.py").write_text(_plugin("a", "1"))
    together = threading.Barrier(8)

    def poll() -> object:
        together.wait(5)
        return reloader.poll()

    with ThreadPoolExecutor(8) as pool:
        reports = [each.result() for each in [pool.submit(poll) for _ in range(8)]]
    assert len([each for each in reports if each is not None]) == 1


def test_a_reader_that_fails_is_told(registry: ToolRegistry) -> None:
    """Before anything was loaded there is nothing to keep."""

    def read() -> PluginFolder:
        raise RegistryError("not trusted")

    reloader = PluginReloader(registry, read)
    assert (reloader.poll(), reloader.problem, len(registry)) == (None, "not trusted", 0)
