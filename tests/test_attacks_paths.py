"""Commands that change something outside of a folder in which they are permitted, and ordinary ones that do not."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from permitry.config.load import load_rules
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.spec import ArgumentRole, ToolSpec
from tests.tables import for_each, stored_rows

Decide = Callable[..., Verdict]

RULES = """
schema = 1
[[rule]]
id = "build"
effect = "allow"
tools = ["run_shell_command"]
when.command = [
  "cp *", "mv *", "ln *", "link *", "mkdir *", "rm *", "rmdir *", "unlink *", "install *", "sed *", "tee *", "touch *",
  "truncate *", "tar *", "unzip *", "rsync *", "find *", "shred *", "dd *", "cat *", "sort *",
]
when.path = ["build/**"]
[[rule]]
id = "files"
effect = "allow"
tools = ["run_shell_command"]
when.path = ["build/**"]
[[rule]]
id = "git"
effect = "allow"
tools = ["run_shell_command"]
when.command = ["git checkout *", "make *"]
[[rule]]
id = "tools"
effect = "allow"
tools = ["delete_file", "write_file"]
when.path = ["build/**"]
"""
LINKS = {
    "build/out": "../src/main.c",
    "build/to-src": "../src",
    "build/in": "x",
    "build/d/out": "../../src/main.c",
    "build/deep/er/up": "../../x",
    "build/tree/sub/inner": "../one",
    "build/venv/python": "/usr/bin/python3",
    "src/in": "../build/x",
    "src/to-a": "../build/a",
}
FILES = (
    "build/x", "build/y", "build/Makefile", "build/a/f", "build/a/out", "build/new/f", "build/old/f", "build/tree/one",
    "src/main.c",
)  # fmt: skip


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a workspace with a folder `build`, and links that lead in and out of it."""
    top = Path(os.path.realpath(tmp_path)) / "ws"
    for name in (*FILES, *LINKS):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (top / name).write_text("a\n", encoding="utf-8")
    for name, target in LINKS.items():
        (top / name).symlink_to(target)
    (top / "build" / "b").mkdir()
    return top


@pytest.fixture
def decide(workspace: Path, tmp_path: Path) -> Decide:
    """Return what is decided on a command line where much is permitted below `build`."""
    file = tmp_path / "rules.toml"
    file.write_text(RULES, encoding="utf-8")
    policy = load_rules([file]).policy()
    context = AuthContext(workspace=str(workspace))

    def decided(text: str, tool: str = "run_shell_command", argument: str = "command") -> Verdict:
        return policy.decide(
            ToolCall(tool, {argument: text} | ({"content": "x"} if tool == "write_file" else {})), context
        ).verdict

    return decided


ESCAPES = {
    "the name below a folder is a link": (
        "cp build/out build/d", "cp build/y build/to-src", "cp build/x build/d/out",
        "cp -t build/to-src build/x", "cp build/x build/y build/to-src/",
        "install build/x build/to-src", "mv build/x build/to-src", "mv -t build/to-src build/x",
        "ln build/x build/to-src", "ln -s ../x build/to-src", "cp build/d/out build/b/out2 build",
        "cp src/main.c build", "mv build/d/out build/b/", "cp -T build/x build/out", "tee build/out",
        "echo z > build/out",
    ),
    "the name of a source below a folder is a link": (
        "cp build/a/out build/d", "cp build/a/out build/d/", "cp -t build/d build/a/out",
        "cp -f build/a/out build", "cp build/x build/a/out build/d", "install build/a/out build/d",
        "mv build/a/out build/d", "mv -t build/d build/a/out", "ln -f build/a/out build/d",
        "ln -sf ../a/out build/d", "cp build/a/* build/d", "cd build && cp a/out d",
        "cp -p ./build/a/out build//d/.", "for f in out; do cp build/a/$f build/d; done",
    ),
    "the entry is outside": (
        "rm src/in", "rm -f src/in", "unlink src/in", "mv build/x src/in", "mv src/in build/z",
        "ln -sf x src/in", "ln -sfn ../build/y src/to-a", "sed -i s/a/b/ src/in",
        "install build/x src/in", "mv -T build/a src/to-a", "cp --remove-destination build/y src/in",
        "cp -f build/y src/in", "shred -u src/in", "touch -h src/in", "find src/in -delete",
        "mv src/to-a build/b", "cp -P build/in src/in", "link build/x src/in", "rm -r src/to-a",
        "git mv src/in build/z", "mkdir src/in", "rmdir src/to-a",
    ),
    "a link that is made leads out": (
        "ln -s ../src/main.c build/l", "ln -s ../../src build/b/l", "ln -s /etc build/l",
        "ln -sr src/main.c build/l", "ln -s ../../src/main.c build/b",
        "ln -st build/b ../../src/main.c", "cp -s ../src/main.c build/l", "ln -s . build/b/../../l",
        "ln -s .. build/l", "mv build/d/out build/out2", "mv build/deep/er/up build/up",
        "cp -P build/deep/er/up build/up", "cp -d build/deep/er/up build/b/",
        "cp -a build/deep/er/up build", "cp -r build/deep/er/up build/b",
        "ln build/deep/er/up build/up", "link build/deep/er/up build/up",
        "cp -lP build/deep/er/up build/up", "ln -s ../x build/l",
    ),
    "a tree holds links": (
        "cp -r build/deep/er build/b", "cp -a build/d build/b", "mv build/deep/er build/b",
        "cp -r build/y build/venv/.. ", "cp -r build/tree build/d/../venv",
        "rsync -a build/deep/ build/b", "rsync -a build/y build/d", "cp -R build/deep build/z",
        "tar -xf build/x -C build", "tar xf build/x -C build/d", "unzip build/x -d build/d",
        "cd build && tar xf x", "tar -xf build/x -C build/venv", "cp -rT build/a build/d",
        "rsync -r build/a/ build/to-src",
    ),
    "an earlier command moved things": (
        "mkdir -p build/a/b build/d; ln -sr build/Makefile build/a/b/l; mv build/a/b/l build/d/x; cp build/x build/d",
        "ln -sr build/x build/a/l; mv build/a/l build/l; tee build/l",
        "ln -s ../x build/a/l && cp -P build/a/l build/b/l && echo z > build/b/l",
        "ln -s ../a build/b/l && mv build/b/l build/l && touch build/l/new",
        "cp -P build/in build/b/l; cat build/y > build/b/l",
        "tar -xf build/x -C build/b && cp build/y build/b/x",
        "git checkout other && cp build/x build/y", "make all; echo z > build/new/f",
        "cd build/deep/er && mv ../er ../.. && touch ../../x",
        "cd build/deep/er && mv ../er ../../z ../..", "cd build/a && rm -r ../a; touch ../x",
        "mv build/y build/z | ln -s ../x build/b/y | mv build/b/y build/y | cp build/x build/y",
        "mv build/a/l build/l | ln -sr build/x build/a/l; touch build/l",
        "rm -rf build; cp build/x build", "mkdir -p build/none/../../src/new",
        "mkdir -p new/../build/x", "install -D build/x build/none/../../src/z/../../build/z",
        "for f in 1 2; do cp -P build/in build/b/l; tee build/b/l; done",
        "bash -c 'git checkout other; cp build/x build/y'",
        "ln -s x build/l1 && ls build && rm build/l1/../y && cp build/y build/l1",
        "rm build/to-src; ln -s ../../../x build/to-src",
        "rm build/to-src || touch build/to-src/new",
        "find build -name x -exec mv build/a/l build/l ';' -exec cp build/x build/l ';'",
    ),
}  # fmt: skip


@for_each("text", [text for texts in ESCAPES.values() for text in texts])
def test_what_may_change_something_outside_is_asked_about(decide: Decide, text: str) -> None:
    """By a name that leads out, by an entry that is outside, or behind a command that made a link."""
    assert decide(text) is Verdict.CONFIRM


ORDINARY = stored_rows(__file__, "ORDINARY")


@for_each("text", ORDINARY)
def test_what_stays_inside_is_allowed(decide: Decide, text: str) -> None:
    """Ordinary commands on the files of one folder, alone and one behind the other."""
    assert decide(text) is Verdict.ALLOW


def test_at_least_thirty_ordinary_commands_are_looked_at() -> None:
    """So that the list says something."""
    assert len(set(ORDINARY)) >= 60


@for_each(
    ("tool", "path", "verdict"),
    [
        ("write_file", "build/new.txt", Verdict.ALLOW),
        ("write_file", "build/in", Verdict.ALLOW),
        ("write_file", "build/out", Verdict.CONFIRM),
        ("write_file", "build/to-src/new", Verdict.CONFIRM),
        ("write_file", "src/in", Verdict.CONFIRM),
        ("write_file", "src/new/../../build/z", Verdict.CONFIRM),
        ("delete_file", "build/x", Verdict.ALLOW),
        ("delete_file", "build/in", Verdict.ALLOW),
        ("delete_file", "src/in", Verdict.CONFIRM),
        ("delete_file", "build/out", Verdict.CONFIRM),
        ("delete_file", "src/to-a/f", Verdict.ALLOW),
    ],
)
def test_tools_that_change_files_are_judged_alike(decide: Decide, tool: str, path: str, verdict: Verdict) -> None:
    """By the entry itself and by what it leads to."""
    assert decide(path, tool, "path") is verdict


def test_a_link_to_a_file_is_written_where_both_are_permitted(tmp_path: Path) -> None:
    """By two patterns of one rule or by two rules; the link alone, or its target alone, is not enough.

    So it is for a tool that writes, and for a patch in the tool for patches and in a shell.
    """
    top = Path(os.path.realpath(tmp_path))
    (top / "ws").mkdir()
    (top / "a.json").touch()
    (top / "ws" / "l.json").symlink_to(top / "a.json")
    link, target = "l.json", f"{top}/a.json"
    specs = 'schema = 1\n[tool.put]\nroles.path = "write_path"\n[tool.patch]\nroles.input = "patch"\n'
    rule = '[[rule]]\nid = "r{}"\neffect = "allow"\nwhen.path = {}\n'
    shell = ToolSpec("sh", roles={"command": ArgumentRole.COMMAND}, applies_patches=True)
    patch = f"*** Begin Patch\n*** Update File: {link}\n@@\n-x\n+y\n*** End Patch"
    calls = {
        ToolCall("put", {"path": link}): None,
        ToolCall("patch", {"input": patch}): None,
        ToolCall("sh", {"command": f"apply_patch <<'E'\n{patch}\nE\n"}): shell,
    }
    found = []
    for paths in ([[link, target]], [[link], [target]], [[link]], [[target]], [[link], [f"{top}/ws"]]):
        text = specs + "".join(rule.format(at, some) for at, some in enumerate(paths))
        policy, context = load_rules([text]).policy(), AuthContext(workspace=str(top / "ws"))
        (verdict,) = {policy.decide(call, context, spec).verdict for call, spec in calls.items()}
        found.append(verdict)
    assert found == [Verdict.ALLOW, Verdict.ALLOW, Verdict.CONFIRM, Verdict.CONFIRM, Verdict.CONFIRM]
