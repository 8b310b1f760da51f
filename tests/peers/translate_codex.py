"""Rule files of Codex as rules of ours.

A prefix of words becomes a pattern that ends in `*`. A rule for the bare name of a program is for
every path of it in both; where Codex lists the paths that count, or has a rule for one path, a
restriction on the name excepts the others.
"""

import ast
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tests.peers.compared import Rule

from permitry.core.call import PayloadKind, ToolCall

EFFECTS = {"allow": "allow", "prompt": "confirm", "forbidden": "block"}


def call_of(argv: Sequence[str]) -> ToolCall:
    """Return the call that runs a program with its arguments."""
    return ToolCall("local_shell", {"command": list(argv)}, kind=PayloadKind.LOCAL_SHELL)


def _declarations(texts: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the calls a rule file of Codex consists of: names, and arguments by keyword."""
    for text in texts:
        for node in ast.parse(text.strip()).body:
            assert isinstance(node, ast.Expr)
            assert isinstance(node.value, ast.Call)
            assert isinstance(node.value.func, ast.Name)
            yield (
                node.value.func.id,
                {str(k.arg): ast.literal_eval(k.value) for k in node.value.keywords},
            )


def rules_of(texts: Iterable[str]) -> list[Rule]:
    """Return the rules of rule files."""
    declared = list(_declarations(texts))
    paths = {each["name"]: each["paths"] for name, each in declared if name == "host_executable"}
    prefixes = [each for name, each in declared if name == "prefix_rule"]
    firsts = [_alternatives(rule["pattern"][0]) for rule in prefixes]
    exact = [path for programs in firsts for path in programs if "/" in path]
    return [
        rule
        for prefix, programs in zip(prefixes, firsts, strict=True)
        for program in programs
        for rule in _rules(prefix, program, paths.get(program), exact)
    ]


def _alternatives(word: str | list[str]) -> list[str]:
    return [word] if isinstance(word, str) else word


def _rules(prefix: Rule, program: str, paths: list[str] | None, exact: list[str]) -> Iterator[Rule]:
    """Yield the rules for one program of a prefix: for its name, and for the paths that count."""
    effect = EFFECTS[prefix.get("decision", "allow")]
    rest = " ".join([*map(_word, prefix["pattern"][1:]), "*"])
    others = [f"/*/{program} *"] if paths is not None else []
    others = others or [f"{path} *" for path in exact if path.endswith(f"/{program}")]
    unless = {"command": others} if others and effect != "allow" else {}
    yield {"effect": effect, "when": {"command": [f"{_word(program)} {rest}"]}, "unless": unless}
    if counted := [path for path in paths or () if path not in exact]:
        yield {"effect": effect, "when": {"command": [f"{path} {rest}" for path in counted]}}


def _word(word: str | list[str]) -> str:
    if isinstance(word, str):
        return shlex.quote(word)
    return "{" + ",".join(map(shlex.quote, word)) + "}"
