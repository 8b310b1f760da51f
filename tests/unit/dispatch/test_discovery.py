"""Plugins: one file, one tool; what fails is reported and stops nothing else, and what runs is what was read."""

import asyncio
import concurrent.futures
import importlib.metadata
import logging
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.core.spec import ToolSpec
from permitry.dispatch.argument_schema import ArgumentSchema
from permitry.dispatch.discovery import (
    PluginReloader,
    PluginReport,
    ToolPlugin,
    ToolsetPlugin,
    _watch_interrupts,
    load_entry_points,
    load_plugins,
)
from permitry.dispatch.plugin_folder import PluginFolder
from permitry.dispatch.registry import ToolRegistry
from permitry.handler import ToolHandler

HEAD = "from permitry.dispatch.discovery import ToolContext, ToolPlugin\n"
Folder = Callable[..., PluginFolder]


def _plugin(name: str, handler: str = "lambda a, c: 'done'", more: str = "") -> str:
    return f"{HEAD}plugin = ToolPlugin({{'name': {name!r}}}, {handler}, {more})\n"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Return a function that writes files into a plugin folder and reads it."""
    path = tmp_path / "plugins"
    path.mkdir()

    def written(**files: str) -> PluginFolder:
        for name, text in files.items():
            (path / f"{name}.py").write_text(text)
        return PluginFolder.read(path)

    return written


def test_adding_a_tool_is_writing_one_file(registry: ToolRegistry, handler: ToolHandler, folder: Folder) -> None:
    """Nothing else is touched, and the tool is there and can be called."""
    hello = _plugin("hello", "lambda arguments, context: f'Hello, {arguments[\"name\"]}.'")
    report = load_plugins(registry, folder(hello=hello))
    assert [(each.tool, each.source) for each in report.loaded] == [("hello", "plugins/hello.py")]
    assert handler.handle(ToolCall("hello", {"name": "Ada"})) == ToolResult(True, "Hello, Ada.")


def test_arguments_are_checked_once(
    registry: ToolRegistry, handler: ToolHandler, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the call is decided; a null that means "left out" does not reach the plugin."""
    schema = "{'type': 'object', 'properties': {'name': {'type': 'string'}, 'title': {'type': 'string'}}}"
    greet = f"{HEAD}plugin = ToolPlugin({{'name': 'greet', 'parameters': {schema}}}, lambda a, c: str(a))\n"
    checked: list[Mapping[str, object]] = []
    fit = ArgumentSchema.fit

    def counted(schema: ArgumentSchema, arguments: Mapping[str, object]) -> dict[str, object]:
        checked.append(arguments)
        return fit(schema, arguments)

    monkeypatch.setattr(ArgumentSchema, "fit", counted)
    load_plugins(registry, folder(greet=greet))
    result = handler.handle(ToolCall("greet", {"name": "Ada", "title": None}))
    assert (result, len(checked)) == (ToolResult(True, "{'name': 'Ada'}"), 1)


def test_one_that_fails_stops_no_other(
    registry: ToolRegistry, folder: Folder, caplog: pytest.LogCaptureFixture
) -> None:
    """Each is logged with its reason, on one line."""
    caplog.set_level(logging.INFO, "permitry.dispatch.plugins")
    files = {
        "a_syntax": "def",
        "b_raises": "raise ValueError('two\\nlines')",
        "c_exits": "raise SystemExit(3)",
        "d_base": "class Mine(BaseException): pass\nraise Mine('mine')",
        "e_none": "x = 1",
        "f_wrong": "plugin = {'name': 'x'}",
        "g_nameless": f"{HEAD}plugin = ToolPlugin({{}}, print)",
        "h_bad_name": _plugin("two\nlines"),
        "i_no_handler": _plugin("x", "None"),
        "j_description": f"{HEAD}plugin = ToolPlugin({{'name': 'x', 'description': 1}}, print)",
        "k_parameters": f"{HEAD}plugin = ToolPlugin({{'name': 'x', 'parameters': [1]}}, print)",
        "l_bytes": "\0",
        "_internal": "raise ValueError",
        "m.dotted": _plugin("x"),
        "y_twice": _plugin("fine"),
        "z_taken": _plugin("taken"),
        "fine": _plugin("fine"),
    }
    registry.register(ToolSpec("taken", "the host's"), lambda _: "host")
    report = load_plugins(registry, folder(**files))
    assert [each.tool for each in report.loaded] == ["fine"]
    reasons = {each.source.removeprefix("plugins/").removesuffix(".py"): each.reason for each in report.failed}
    assert sorted(reasons) == sorted(files.keys() - {"fine", "_internal"})
    assert reasons["b_raises"] == "ValueError: two lines"
    assert reasons["c_exits"] == "SystemExit: 3"
    assert reasons["d_base"] == "Mine: mine"
    assert reasons["e_none"] == "it has no module-level `plugin` that is a ToolPlugin"
    assert reasons["i_no_handler"] == "the `handler` and `enabled` of its plugin must be functions"
    assert reasons["z_taken"] == "the tool `taken` is already registered"
    assert "Failed to load plugins/b_raises.py: ValueError: two lines" in caplog.messages
    assert "Loaded tool: fine" in caplog.messages
    traced = {each.source: each.trace for each in report.failed}
    assert "raise ValueError('two" in str(traced["plugins/b_raises.py"])
    assert traced["plugins/e_none.py"] is None


def test_ctrl_c_is_no_failure_of_a_plugin(registry: ToolRegistry, folder: Folder) -> None:
    """The user wants an end, and nothing is left in the interpreter."""
    before = len(sys.meta_path)
    with pytest.raises(KeyboardInterrupt):
        load_plugins(registry, folder(a="import signal; signal.raise_signal(signal.SIGINT)"))
    assert len(sys.meta_path) == before
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("is_main", [True, False])
def test_what_a_plugin_raises_by_itself_is_its_failure(
    registry: ToolRegistry, folder: Folder, *, is_main: bool
) -> None:
    """Whatever it is; the others are loaded, and the log says why one is not."""
    files = folder(a="raise KeyboardInterrupt", b="raise SystemExit(3)", c="raise GeneratorExit", d=_plugin("tool"))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        report = load_plugins(registry, files) if is_main else pool.submit(load_plugins, registry, files).result()
    reasons = ["KeyboardInterrupt:", "SystemExit: 3", "GeneratorExit:"]
    assert [each.reason for each in report.failed] == reasons
    assert [each.tool for each in report.loaded] == ["tool"]


def test_a_plugin_knows_its_file(registry: ToolRegistry, handler: ToolHandler, folder: Folder) -> None:
    """To find what lies next to it; the code is what was read all the same."""
    files = folder(tool=_plugin("tool", "lambda a, c: __file__"))
    load_plugins(registry, files)
    assert handler.handle(ToolCall("tool")).text == str(files.path / "tool.py")


def test_two_files_do_not_have_one_tool(registry: ToolRegistry, folder: Folder) -> None:
    """Neither where the first one replaces the tool that there was."""
    files = [
        folder(a=_plugin("tool", f"lambda a, c: 'a{number}'"), b=_plugin("tool", "lambda a, c: 'b'"))
        for number in range(2)
    ]
    reloader = PluginReloader(registry, lambda: files.pop(0))
    for _ in range(2):
        report = reloader.poll()
        assert report is not None
        assert ([each.source for each in report.loaded], len(report.failed)) == (["plugins/a.py"], 1)


def test_siblings_are_imported_from_what_was_read(registry: ToolRegistry, handler: ToolHandler, folder: Folder) -> None:
    """Nothing comes from the disk, not even later."""
    use = f"from . import _shared\nfrom ._shared import WORD\n{_plugin('tool', 'lambda a, c: _shared.late() + WORD')}"
    late = "WORD = 'read'\ndef late():\n    from ._later import WORD\n    return WORD\n"
    read = folder(tool=use, _shared=late, _later="WORD = 'also '")
    for name in ("_shared.py", "_later.py", "tool.py"):
        (read.path / name).write_text("raise ValueError('from the disk')")
    (read.path / "_new.py").write_text("")
    assert load_plugins(registry, read).failed == ()
    assert handler.handle(ToolCall("tool")).text == "also read"


def test_what_was_not_read_is_not_found(registry: ToolRegistry, folder: Folder) -> None:
    """A file that has come since is none of the folder's."""
    read = folder(tool=f"from . import _new\n{_plugin('tool')}")
    (read.path / "_new.py").write_text("")
    assert load_plugins(registry, read).failed[0].reason.startswith("ImportError: cannot import name '_new'")


def test_two_folders_do_not_meet(registry: ToolRegistry, folder: Folder, tmp_path: Path) -> None:
    """Files of the same name are modules of their own."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "tool.py").write_text(f"from ._shared import WORD\n{_plugin('other', 'lambda a, c: WORD')}")
    (other / "_shared.py").write_text("WORD = 'other'")
    first = folder(tool=f"from ._shared import WORD\n{_plugin('tool', 'lambda a, c: WORD')}", _shared="WORD = 'first'")
    for each in (first, PluginFolder.read(other)):
        assert load_plugins(registry, each).failed == ()


@pytest.mark.parametrize(
    ("handler_text", "told"),
    [
        ("lambda a, c: 'text'", ToolResult(True, "text")),
        ("lambda a, c: (False, 'no')", ToolResult(False, "no")),
        ("lambda a, c: {'n': 1}", ToolResult(True, '{"n": 1}', structured={"n": 1})),
        ("asynchronous", ToolResult(True, '{"n": 1}', structured={"n": 1})),
        ("lambda a, c: asynchronous(a, c)", ToolResult(True, '{"n": 1}', structured={"n": 1})),
        ("Callable()", ToolResult(True, '{"n": 1}', structured={"n": 1})),
    ],
)
def test_a_handler_answers_as_it_likes(
    registry: ToolRegistry, handler: ToolHandler, folder: Folder, handler_text: str, told: ToolResult
) -> None:
    """Text, a pair or an object, at once or awaited, on a thread and on a loop."""
    head = (
        "async def asynchronous(a, c):\n    return {'n': 1}\n"
        "class Callable:\n    async def __call__(self, a, c):\n        return {'n': 1}\n"
    )
    load_plugins(registry, folder(tool=f"{head}{_plugin('tool', handler_text)}"))
    assert handler.handle(ToolCall("tool")) == told
    assert asyncio.run(handler.ahandle(ToolCall("tool"))) == told


def test_a_plugin_is_given_the_context_and_the_services(
    registry: ToolRegistry, handler: ToolHandler, folder: Folder
) -> None:
    """Of the very call, and those of the host; `enabled` sees them, too."""
    text = _plugin("tool", "lambda a, c: c.auth.mode + c.services['x']", "lambda c: c.services['x'] == 'y'")
    load_plugins(registry, folder(tool=text), services={"x": "y"})
    assert handler.handle(ToolCall("tool")).text == "yoloy"


def test_entry_points_give_tools_too(registry: ToolRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin, or a module that has one; a package that is broken stops no other."""

    class Point(importlib.metadata.EntryPoint):
        def load(self) -> object:
            if self.name == "broken":
                raise ImportError("no module")
            return ToolPlugin({"name": self.name}, lambda _, __: "done")

    points = [Point(name, f"package:{name}", "permitry.tools") for name in ("second", "broken", "first")]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points if group == "permitry.tools" else [])
    report = load_entry_points(registry)
    assert [each.tool for each in report.loaded] == ["first", "second"]
    assert [(each.source, each.reason) for each in report.failed] == [
        ("package:broken (broken)", "ImportError: no module")
    ]
    assert load_entry_points(registry).loaded == ()


@pytest.mark.parametrize("taken", [False, True])
def test_a_toolset_is_registered_as_a_whole_and_only_with_a_workspace(
    registry: ToolRegistry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, taken: bool
) -> None:
    """Where one of its names is taken, none of its tools is there."""

    def register(registry: ToolRegistry, folder: Path) -> None:
        for name in ("first", "second"):
            registry.register(ToolSpec(name), lambda _: str(folder))

    point = importlib.metadata.EntryPoint("all", "package:all", "permitry.tools")
    monkeypatch.setattr(importlib.metadata.EntryPoint, "load", lambda _: ToolsetPlugin(register))
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [point][: len(group)])
    if taken:
        registry.register(ToolSpec("second"), lambda _: "mine")
    assert load_entry_points(registry) == PluginReport()
    report = load_entry_points(registry, workspace=tmp_path)
    assert [each.tool for each in report.loaded] == ([] if taken else ["first", "second"])
    assert len(report.failed) == taken
    assert [spec.name for spec in registry] == (["second"] if taken else ["first", "second"])


def test_arguments_are_looked_at_before_the_handler_runs(
    registry: ToolRegistry, handler: ToolHandler, folder: Folder
) -> None:
    """In a plain handler and in an async one."""
    schema = "{'type': 'object', 'required': ['n'], 'properties': {'n': {'type': 'integer'}}}"
    head = f"{HEAD}async def later(arguments, context): return str(arguments['n'] + 1)\n"
    files = {
        name: f"{head}plugin = ToolPlugin({{'name': {name!r}, 'parameters': {schema}}}, {how})\n"
        for name, how in (("now", "lambda a, c: str(a['n'] + 1)"), ("later", "later"))
    }
    load_plugins(registry, folder(**files))
    for name in files:
        assert handler.handle(ToolCall(name, {"n": 1})) == ToolResult(True, "2")
        told = handler.handle(ToolCall(name, {"n": "1"}))
        assert told == ToolResult(False, "The arguments do not fit: `n` must be integer, not string.")
        assert "`n` is missing" in handler.handle(ToolCall(name)).text


def test_arguments_are_checked_by_the_whole_schema(
    registry: ToolRegistry, handler: ToolHandler, folder: Folder
) -> None:
    """What is inside an argument as well; a schema that cannot be used fails in its file."""
    parameters = "{'properties': {'a': {'items': {'type': 'string', 'pattern': '^b'}}}}"
    files = {"good": f"{{'name': 'good', 'parameters': {parameters}}}"}
    files["bad"] = "{'name': 'bad', 'parameters': {'$ref': 'http://127.0.0.1:9/a'}}"
    files = {name: f"{HEAD}plugin = ToolPlugin({given}, lambda a, c: 'done')\n" for name, given in files.items()}
    report = load_plugins(registry, folder(**files))
    assert [(each.source, "nothing is fetched" in each.reason) for each in report.failed] == [("plugins/bad.py", True)]
    assert handler.handle(ToolCall("good", {"a": ["b"]})).ok
    assert "`a[1]` does not fit `pattern`" in handler.handle(ToolCall("good", {"a": ["b", "c"]})).text


@pytest.mark.parametrize("more", ["traits={}", "roles={'a': 3}", "timeout='60'", "version=1"])
def test_a_wrong_field_of_a_plugin_fails_in_its_file_alone(registry: ToolRegistry, folder: Folder, more: str) -> None:
    """Nothing of it is registered, and the next one is; also where the folder is reloaded."""
    read = folder(a_bad=_plugin("bad", more=more), b_good=_plugin("good"))
    report = PluginReloader(registry, lambda: read).poll()
    assert report is not None
    assert [each.source for each in report.failed] == ["plugins/a_bad.py"]
    assert [spec.name for spec in registry] == [each.tool for each in report.loaded] == ["good"]


def test_an_interrupt_is_seen_and_goes_on() -> None:
    """The handler of before raises, and is in force again afterwards."""
    with _watch_interrupts() as is_interrupted:
        assert not is_interrupted()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert is_interrupted()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_that_is_set_meanwhile_stays() -> None:
    """A plugin may want to hear of interrupts itself."""
    try:
        with _watch_interrupts():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        with _watch_interrupts() as is_interrupted:
            assert not is_interrupted()
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def test_only_the_main_thread_is_interrupted() -> None:
    """Elsewhere there is nothing to watch."""
    seen: list[bool] = []

    def watch() -> None:
        with _watch_interrupts() as is_interrupted:
            seen.append(is_interrupted())

    thread = threading.Thread(target=watch)
    thread.start()
    thread.join()
    assert seen == [False]
