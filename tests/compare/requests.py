"""The requests that two checkouts are asked: rules as a user writes them, each with the calls to decide by them.

A line with `rules` is the text of a rule file, or names of some, for the lines behind it; its answer is the error,
where it cannot be loaded. Every other line is a call: `tool`, `arguments`, and `context`, parameters of `AuthContext`.
"""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

__all__ = ["KINDS", "Line"]

Line: TypeAlias = Mapping[str, Any]

ROOT = Path(__file__).parents[2]
CASES = ROOT.parent / "shared" / "cases"
MODES: tuple[Mapping[str, bool], ...] = ({}, {"is_plan_mode": True}, {"yolo_mode": True})
"""The three contexts in which a command is decided."""
SHIPPED = ("permitry:coding-agent", "permitry:hooks", "permitry:read-only")
DENY = """
schema = 1
[[rule]]
id = "commands"
effect = "allow"
tools = ["@shell"]
[[rule]]
id = "no-push"
effect = "block"
when.command = ["git push *"]
[[rule]]
id = "no-keys"
effect = "block"
when.path = ["~/.ssh/**", "**/.env"]
"""


def _set(name: str) -> Line:
    return {"rules": f'schema = 1\nextends = ["{name}"]\n'}


def _call(tool: str, arguments: Mapping[str, Any], **context: Any) -> Line:  # noqa: ANN401 -- as in JSON
    return {"tool": tool, "arguments": arguments, "context": {"workspace": "/nowhere/space", **context}}


def _command(text: str, **context: bool) -> Line:
    return _call("run_shell", {"command": text}, **context)


# What is written down ------------------------------------------------------------------------------------------------


def golden() -> Iterator[Line]:
    """Yield the calls of the golden cases and sessions, each by the rules of its case and by some shipped sets."""
    calls = []
    for path in sorted((ROOT / "golden" / "cases").glob("*.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        named = case.get("rules", [])
        files = [path.parent.joinpath(name) for name in named if ":" not in name]
        yield {"rules": [*(name for name in named if ":" in name), *map(str, files)]}
        given = case.get("context", {})
        own = {name: given[name] for name in ("is_plan_mode", "yolo_mode", "mode", "attended") if name in given}
        for call in case.get("calls") or [case["call"]]:
            is_text = isinstance(call, str)
            calls.append(_command(call, **own) if is_text else _call(call["name"], call["arguments"], **own))
            yield calls[-1]
    calls += (call for path in sorted((ROOT / "golden" / "sessions").glob("*/session.jsonl")) for call in _of(path))
    for name in SHIPPED:
        yield _set(name)
        yield from calls


def disguises() -> Iterator[Line]:
    """Yield each disguised command in three contexts, by a block and by a shipped set."""
    texts = (ROOT / "tests" / "disguises.txt").read_text(encoding="utf-8").replace("␤", "\n").splitlines()
    for rules in ({"rules": DENY}, _set("permitry:coding-agent")):
        yield rules
        yield from (_command(text, **mode) for text in texts for mode in MODES)


def cases() -> Iterator[Line]:
    """Yield every call and command in `../shared/cases`, and the rules next to them, as far as they are ours."""
    calls = [call for path in sorted(CASES.rglob("*.json*")) for call in _of(path)]
    calls += map(_command, (CASES / "nl2bash.txt").read_text(encoding="utf-8").splitlines())
    for rules in ({"rules": DENY}, *map(_set, SHIPPED)):
        yield rules
        yield from calls
    for line in (CASES / "reports.jsonl").read_text(encoding="utf-8").splitlines():
        report = json.loads(line)
        if isinstance(report.get("rules"), str) and isinstance(report.get("call"), str):
            yield {"rules": report["rules"]}
            yield from (_command(report["call"], **mode) for mode in MODES)


def _of(path: Path) -> Iterator[Line]:
    """Yield the calls in a file of JSON or of lines of JSON, wherever they are in it."""
    text = path.read_text(encoding="utf-8")
    for part in text.splitlines() if path.suffix == ".jsonl" else [text]:
        yield from _within(json.loads(part))


def _within(value: object) -> Iterator[Line]:
    if isinstance(value, list):
        yield from (call for each in value for call in _within(each))
    if not isinstance(value, dict):
        return
    name = next((value[key] for key in ("name", "tool", "tool_name") if isinstance(value.get(key), str)), None)
    given = next((value[key] for key in ("arguments", "args", "tool_input") if key in value), None)
    if isinstance(given, str) and given.startswith("{"):
        given = json.loads(given)
    if name and isinstance(given, dict):
        yield _call(name, given)
    text = next((value[key] for key in ("command", "cmd", "call") if isinstance(value.get(key), str)), None)
    if text is not None:
        yield _command(text)
    yield from (call for each in value.values() for call in _within(each))


# What is made up -----------------------------------------------------------------------------------------------------

_TOOLS = ("read_file", "write_file", "run_shell", "fetch", "deploy", "mcp:github/create_issue", "exec_command", "x")
_NAMES = (*_TOOLS, "*", "@reads", "@writes", "@shell", "@network", "mcp:*/*", "write_*", "*_file")
_PATHS = ("src/**", "~/.ssh/**", "**/.env", "/**/.git/**", "/etc/**", "src/*.py", "secret", ".", "**")
_COMMANDS = (
    "git push *",
    "git *",
    "rm *",
    "rm -rf *",
    "ls",
    "cat *",
    "curl *",
    "git push --force *",
    "npm {run,test} *",
)
_ACCESSES = ("read", "write", "delete")
_HOSTS = ("example.com", "*.example.com", "localhost:5432", "https://example.com", "*")
_PLACES = ("src/a.py", "~/.ssh/id", ".env", "src/../.env", "/etc/passwd", "src", "$HOME/.ssh/id", "s*", ".git/config")
_PARTS = (
    "ls", "cat {p}", "git push", "git push origin main --force", "rm -rf {p}", "echo x > {p}", "cp -r {p} b", "$x push",
    "curl https://example.com/{p}", "curl -- $u", "sh -c 'git push'", "xargs -0 rm", "cd src && cat a.py", "git status",
    "x=1 git push", "find {p} -delete", "sudo -u a git push", "python3 -c 'print(1)'", "nc -z localhost 5432",
    "npm test", "tar xf a.tar", "git checkout main -- .", "(rm {p})", "if ls; then git push; fi",
    "cat <<E\n$(git push)\nE", "echo '",
)  # fmt: skip
_JOINS = ("; ", " && ", " | ", " || ", "\n", " & ")


def generated(many: int, seed: int) -> Iterator[Line]:
    """Yield made-up rule files, each with twenty calls."""
    chance = random.Random(seed)  # noqa: S311 -- no secret
    for _ in range(many // 20):
        rules = "".join(_rule(chance, at) for at in range(chance.randint(1, 6)))
        extends = f'extends = ["{chance.choice(SHIPPED)}"]\n' if chance.random() < 0.1 else ""
        yield {"rules": f"schema = 1\n{extends}{rules}"}
        yield from (_made(chance) for _ in range(20))


def _rule(chance: random.Random, number: int) -> str:
    effect = chance.choice(("allow", "allow", "confirm", "block"))
    when = _conditions(chance, chance.choice((0, 1, 1, 1, 2)), has_text=effect != "allow")
    unless = _conditions(chance, chance.choice((0, 0, 0, 1, 2)), has_text=effect == "allow")
    lines = [f'[[rule]]\nid = "r{number}"\neffect = "{effect}"']
    if effect == "allow" or not when or chance.random() < 0.5:
        lines.append(f"tools = {json.dumps(_some(chance, _NAMES))}")
    if effect != "allow" and chance.random() < 0.3:
        lines.append(f"priority = {chance.randint(100, 199)}")
    lines += [*(f"when.{each}" for each in when), *(f"unless.{each}" for each in unless)]
    return "\n".join(lines) + "\n"


def _conditions(chance: random.Random, many: int, *, has_text: bool) -> list[str]:
    makers: dict[str, Callable[[], str]] = {
        "path": lambda: json.dumps(_some(chance, _PATHS)),
        "command": lambda: json.dumps(_some(chance, _COMMANDS)),
        "host": lambda: json.dumps(_some(chance, _HOSTS)),
        "mode": lambda: json.dumps(_some(chance, ("plan", "yolo", "default"))),
        "attended": lambda: chance.choice(("true", "false")),
        "agent": lambda: json.dumps(_some(chance, ("main", "helper", "*"))),
        "args.path": lambda: chance.choice(('{ glob = "*.py" }', '{ prefix = "src/" }', "{ exists = true }", '"a"')),
        "args.n": lambda: chance.choice(("{ gt = 5 }", "{ in = [1, 2] }", "{ le = 3, optional = true }", "7")),
        **({"text.contains": lambda: json.dumps(chance.choice(("push", "secret")))} if has_text else {}),
    }
    names = chance.sample(list(makers), many)
    if "path" in names and chance.random() < 0.3:
        return [*(f"{name} = {makers[name]()}" for name in names), f"access = {json.dumps(_some(chance, _ACCESSES))}"]
    return [f"{name} = {makers[name]()}" for name in names]


def _some(chance: random.Random, choices: tuple[str, ...]) -> list[str]:
    return chance.sample(choices, chance.choice((1, 1, 2)))


def _made(chance: random.Random) -> Line:
    parts = chance.choices(_PARTS, k=chance.choice((1, 1, 1, 2, 3)))
    text = "".join(f"{part}{chance.choice(_JOINS)}" for part in parts[:-1]) + parts[-1]
    command: object = text.replace("{p}", chance.choice(_PLACES))
    if chance.random() < 0.1:
        command = chance.choice((str(command).split(), [command], [str(command).split()], 5, None, True, {}))
    arguments: dict[str, object] = {
        "command": command, "cmd": command, "path": chance.choice((*_PLACES, 3, None, ["a"])),
        "url": chance.choice(("https://example.com/a", "http://a.example.com:5432", "$u", "//x", 1)),
        "n": chance.choice((1, 7, 3.0, "7", True)), "content": chance.choice(("a", "secret", "push")),
    }  # fmt: skip
    kept = [name for name in arguments if chance.random() < 0.7]
    context = {**chance.choice(MODES), "attended": chance.random() < 0.7, "agent": chance.choice(("main", "helper"))}
    return _call(chance.choice(_TOOLS), {name: arguments[name] for name in kept}, **context)


KINDS: Mapping[str, Callable[[int, int], Iterator[Line]]] = {
    "golden": lambda _, __: golden(),
    "disguises": lambda _, __: disguises(),
    "cases": lambda _, __: cases(),
    "generated": generated,
}
"""What is asked, by the word for it; made-up requests are so many, from a seed."""
