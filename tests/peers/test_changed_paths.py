"""What a path permission allows, against what really changes: random commands, decided and then run.

Each call is decided under rules that permit programs below some folders. What is allowed is run by bash as an
unprivileged user, in a copied tree full of links that lead in and out; then everything outside of the folders must be
as it was: entries, contents and the targets of links. A tree is carried on for some calls, and then made again.
"""

import collections
import hashlib
import io
import os
import random
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest

from permitry.config.load import load_rules
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy

SEED = 20261122
NOBODY = 65534
MOST_TRIED = 60
"""How many commands are decided for each one that runs, at most."""
PROGRAMS = (
    "cat", "cp", "dd", "echo", "find", "install", "link", "ln", "ls", "mkdir", "mv", "rm", "rmdir", "rsync", "sed",
    "shred", "sort", "tar", "tee", "touch", "truncate", "unlink", "unzip",
)  # fmt: skip
AREAS: tuple[tuple[str, ...], ...] = (
    *(("build",), ("build",), ("build", "src/gen"), ("build", "src/gen"), ("build", "far"), ("build/a", "build/d")),
)
"""The folders below which everything is permitted, relative to the workspace; `far` is beside it."""
FILES = (
    "build/x", "build/y", "build/Makefile", "build/a/f", "build/a/g/h", "build/d/x", "build/deep/er/z", "build/t/one",
    "build/t/sub/two", "src/main.c", "src/gen/x", "src/x", "Makefile", "main.c", "x", "f",
)  # fmt: skip
LINKS = {
    "build/in": "x",
    "build/chain": "in",
    "build/out": "../src/main.c",
    "build/to-a": "a",
    "build/to-src": "../src",
    "build/to-gen": "../src/gen",
    "build/dangling": "../new",
    "build/a/up": "../x",
    "build/a/l": "f",
    "build/d/out": "../../src/x",
    "build/deep/er/up": "../../x",
    "build/deep/er/upper": "../../../Makefile",
    "build/t/sub/inner": "../one",
    "build/u/up": "../x",
    "src/in": "../build/x",
    "src/to-a": "../build/a",
    "src/gen/l": "../../build/x",
}
INSIDE = (
    *("x", "y", "new", "a", "a/f", "a/new", "a/g", "b", "b/c", "d", "d/x", "d/new", "d/l", "in", "chain", "to-a"),
    *("to-a/f", "deep", "deep/er", "deep/er/up", "t", "t/sub", "t/sub/inner", "u", "u/up", "a/up", "a/l", "to-gen/x"),
    *("out", "to-src", "to-src/x", "dangling", "d/out", "deep/er/upper", "a/../x", "new/../../src/x", "a/", "d/", "."),
)
OUTSIDE = ("src/main.c", "src/in", "src/to-a", "src/to-a/f", "src/gen", "src/gen/x", "Makefile", "src", ".", "..", "x")
TEXTS = (
    *("x", "../x", "../y", "f", "a", "../a", "..", ".", "../build/x", "../../x", "../../src", "../src/x", "build/x"),
    *("../../Makefile", "../../../Makefile", "/etc/hostname", "b/c", "in", "er/z"),
)
FLAGS = {
    "cp": ("-r", "-a", "-P", "-d", "-f", "-n", "-l", "-s", "-T", "-R", "-p", "--remove-destination", "-rf", "-aT"),
    "mv": ("-f", "-n", "-T", "-v"),
    "rm": ("-r", "-f", "-rf", "-d", "-v"),
    "install": ("-D", "-m 644", "-T", "-d", "-C", "-Dm644"),
    "touch": ("-c", "-h"),
    "mkdir": ("-p", "-p", "-p", "-v"),
    "tee": ("-a",),
    "rsync": ("-a", "-r", "-rl", "--delete -r"),
}
LINKING = ("", "-s", "-s", "-sf", "-sfn", "-sr", "-srf", "-f", "-sT", "-P", "-L", "-sfT")
JOINS = (" && ", " && ", "; ", "; ", " || ", " | ", "\n")


@attrs.define
class Commands:
    """Prints random commands on the paths of the tree."""

    rng: random.Random
    top: Path
    present: Sequence[str] = ()
    is_inside: bool = False

    def look(self) -> None:
        """Note what is in the workspace, so that some commands succeed."""
        names = (Path(folder) / name for folder, *found in os.walk(self.top / "ws") for name in found[0] + found[1])
        self.present = sorted(str(name.relative_to(self.top / "ws")) for name in names)

    def path(self) -> str:
        """Return a path, mostly of something below `build`."""
        rng = self.rng
        is_in = rng.random() < 0.92
        name = rng.choice(INSIDE if is_in else OUTSIDE)
        if rng.random() < 0.5:
            found = rng.choice([name for name in self.present if name.startswith("build/") or rng.random() < 0.3])
            is_in = found.startswith("build/")
            name = found.removeprefix("build/")
        if rng.random() < 0.04:
            return f"{self.top}/ws/{'build/' if is_in else ''}{name}"
        if rng.random() < 0.03:
            return f"{self.top}/far/{rng.choice(('x', 'new', 'l'))}"
        if self.is_inside:
            return name if is_in else f"../{name}"
        return f"build/{name}" if is_in else name

    def paths(self) -> str:
        """Return one path, or some."""
        return " ".join(self.path() for _ in range(self.rng.choice((1, 1, 1, 2, 3))))

    def flags(self, program: str) -> str:
        """Return some of the flags of a program, each behind a blank."""
        known = FLAGS.get(program, ())
        count = min(self.rng.choice((0, 0, 1, 1, 2)), len(known))
        return "".join(f" {each}" for each in self.rng.sample(known, count))

    def one(self) -> str:
        """Return one command."""
        rng = self.rng
        program = rng.choice(("cp", "cp", "cp", "mv", "mv", "mv", "ln", "ln", "ln", "mkdir", "rm", "install", "other"))
        match program:
            case "cp" | "mv" | "install":
                if rng.random() < 0.15:
                    return f"{program}{self.flags(program)} -t {self.path()} {self.paths()}"
                return f"{program}{self.flags(program)} {self.paths()} {self.path()}"
            case "ln":
                kind = rng.choice(LINKING)
                source = rng.choice(TEXTS) if "s" in kind and "r" not in kind and rng.random() < 0.8 else self.path()
                return f"ln {kind} {source} {self.path()}"
            case "mkdir" | "rm":
                return f"{program}{self.flags(program)} {self.paths()}"
            case _:
                return self.other()

    def other(self) -> str:
        """Return a command of a program that is less common."""
        rng, path = self.rng, self.path
        prints = "echo z" if rng.random() < 0.5 else f"cat {path()}"
        archive = rng.choice(("plain", "links", "up", "through"))
        return rng.choice((
            f"{prints} > {path()}", f"{prints} >> {path()}", f"{prints} | tee{self.flags('tee')} {self.paths()}",
            f"sed -i s/a/b/ {self.paths()}", f"touch{self.flags('touch')} {self.paths()}", f"rmdir {path()}",
            f"truncate -s {rng.choice((0, 9))} {self.paths()}", f"unlink {path()}", f"link {path()} {path()}",
            f"tar -xf {'' if self.is_inside else 'build/'}{archive}.tar -C {path()}", f"tar -cf {path()} {path()}",
            f"dd if={path()} of={path()}", f"sort -o {path()} {path()}", f"shred -u {path()}", f"ls {path()}",
            f"find {path()} -name '[a-f]*' -delete", f"rsync{self.flags('rsync')} {self.paths()} {path()}",
            f"unzip -o {'' if self.is_inside else 'build/'}plain.zip -d {path()}",
        ))  # fmt: skip

    def text(self) -> str:
        """Return a command line of some commands, perhaps behind `cd build &&`."""
        rng = self.rng
        self.is_inside = rng.random() < 0.2
        parts = [self.one() for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4)))]
        if rng.random() < 0.06:
            parts[0] = f"for f in a d x; do {self.one().replace('/x', '/$f')}; done"
        if rng.random() < 0.06:
            parts[-1] = f"({parts[-1]})"
        if self.is_inside:
            moved = "build" if rng.random() < 0.7 else f"build/{rng.choice(('a', 'd', 'deep/er', 'to-a', 't/sub'))}"
            return f"cd {moved} && " + " && ".join(parts)
        text = parts[0]
        for part in parts[1:]:
            text += rng.choice(JOINS) + part
        return text


# The tree ------------------------------------------------------------------------------------------------------------


def _archive(members: dict[str, str | None]) -> bytes:
    """Return an archive: of files, or of links where a target is given."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, target in members.items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = (tarfile.SYMTYPE, target) if target else (tarfile.REGTYPE, "")
            info.size = 0 if target else 2
            tar.addfile(info, io.BytesIO(b"t\n"))
    return buffer.getvalue()


def _plant(top: Path) -> None:
    """Make the tree that calls begin with."""
    for name in FILES:
        file = top / "ws" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"a {name}\n", encoding="utf-8")
    (top / "far").mkdir()
    (top / "far" / "x").write_text("far\n", encoding="utf-8")
    (top / "ws" / "build" / "u").mkdir()
    (top / "ws" / "build" / "b").mkdir()
    for name, target in LINKS.items():
        (top / "ws" / name).symlink_to(target)
    build = top / "ws" / "build"
    (build / "far").symlink_to(top / "far")
    (build / "plain.tar").write_bytes(_archive({"x": None, "g/h": None, "l/x": None, "out": None, "to-src/x": None}))
    (build / "links.tar").write_bytes(_archive({"l": "x", "l2": "../../Makefile", "x": "../x"}))
    (build / "up.tar").write_bytes(_archive({"../src/main.c": None, "/etc/x": None}))
    (build / "through.tar").write_bytes(_archive({"l": "../src", "l/main.c": None, "to-src/new": None}))
    shutil.make_archive(str(build / "plain"), "zip", top / "ws" / "src", "main.c")


def _snapshot(top: Path, areas: Sequence[str]) -> dict[str, str]:
    """Return everything outside of the permitted areas."""
    permitted = {str(top / ("" if area == "far" else "ws") / area) for area in areas}
    found: dict[str, str] = {}
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if f"{folder}/{name}" not in permitted]
        for name in (*folders, *files):
            full = f"{folder}/{name}"
            if full not in permitted:
                found[full] = _content(full)
    return found


def _content(name: str) -> str:
    mode = os.lstat(name).st_mode
    if stat.S_ISLNK(mode):
        return f"-> {os.readlink(name)}"  # noqa: PTH115 -- text, as the rest
    if stat.S_ISREG(mode):
        return hashlib.sha256(Path(name).read_bytes()).hexdigest()
    return stat.filemode(mode)[0]


@attrs.define
class Ground:
    """A tree that calls are run in, made from another one whenever it is wanted again."""

    seed: Path
    top: Path

    def renew(self) -> None:
        """Make the tree again."""
        shutil.rmtree(self.top, ignore_errors=True)
        subprocess.run(["cp", "-a", self.seed, self.top], check=True)

    def run(self, text: str) -> None:
        """Run a command line as an unprivileged user."""
        owner: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        subprocess.run(
            ["bash", "-c", text],
            cwd=self.top / "ws",
            env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=20,
            check=False,
            **owner,
        )


@pytest.fixture
def ground() -> Iterator[Ground]:
    """Return a tree that an unprivileged user owns and can reach."""
    with tempfile.TemporaryDirectory() as name:
        top = Path(os.path.realpath(name))
        top.chmod(0o755)
        _plant(top / "seed")
        if os.geteuid() == 0:
            subprocess.run(["chown", "-hR", f"{NOBODY}:{NOBODY}", top / "seed"], check=True)
            subprocess.run(["chown", f"{NOBODY}:{NOBODY}", top], check=True)
        yield Ground(top / "seed", top / "here")


def _policy(file: Path, areas: Sequence[str], top: Path) -> AuthorizationPolicy:
    paths = [f"{top}/here/far/**" if area == "far" else f"{area}/**" for area in areas]
    commands = [f"{program} *" for program in PROGRAMS]
    file.write_text(
        "schema = 1\n[[rule]]\nid = 'build'\neffect = 'allow'\ntools = ['run_shell_command']\n"
        f"when.command = {commands}\nwhen.path = {paths}\n[[rule]]\nid = 'files'\neffect = 'allow'\n"
        f"tools = ['run_shell_command']\nwhen.path = {paths}\n",
        encoding="utf-8",
    )
    return load_rules([file]).policy()


def _check(ground: Ground, wanted: int, seed: int) -> "collections.Counter[str]":
    """Run commands until as many as wanted have run; returns how often each program did."""
    rng = random.Random(seed)  # noqa: S311 -- a seed is to give the same commands again
    policies = {areas: _policy(ground.seed.parent / "rules.toml", areas, ground.seed.parent) for areas in AREAS}
    context = AuthContext(workspace=str(ground.top / "ws"))
    commands = Commands(rng, ground.top)
    ran: collections.Counter[str] = collections.Counter()
    allowed = tried = 0
    while allowed < wanted and tried < wanted * MOST_TRIED:
        areas, end = rng.choice(AREAS), allowed + rng.choice((2, 5, 10))
        ground.renew()
        history: list[str] = []
        while allowed < end and tried < wanted * MOST_TRIED:
            commands.look()
            tried += 1
            text = commands.text()
            call = ToolCall("run_shell_command", {"command": text})
            if policies[areas].decide(call, context).verdict is not Verdict.ALLOW:
                continue
            before = _snapshot(ground.top, areas)
            ground.run(text)
            history.append(text)
            allowed += 1
            ran.update({word for word in text.split() if word in PROGRAMS})
            assert _snapshot(ground.top, areas) == before, (areas, history)
    assert allowed >= wanted, f"only {allowed} of {tried} commands were allowed"
    return ran


@pytest.mark.skipif(sys.platform != "linux", reason="the programs are those of GNU")
def test_nothing_outside_the_permitted_folders_changes(ground: Ground) -> None:
    """Fifty allowed command lines."""
    _check(ground, 50, SEED)


@pytest.mark.large
@pytest.mark.skipif(sys.platform != "linux", reason="the programs are those of GNU")
def test_nothing_outside_changes_in_many_runs(ground: Ground) -> None:
    """Five thousand allowed command lines, with each of the programs among them."""
    ran = _check(ground, 5_000, SEED + 1)
    assert {"cp", "install", "ln", "mkdir", "mv", "rm", "sed", "tar", "tee", "touch", "truncate"} <= ran.keys()
