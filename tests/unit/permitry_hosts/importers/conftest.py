"""What the tests of importers share: a source becomes a rule file, which is loaded and decides."""

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import pytest

from permitry.actions.extract import ReadActions
from permitry.config.load import load_rules
from permitry.config.origin import Origin
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry_hosts.importers import HOSTS, Source, Written, write_rules

Verdicts: TypeAlias = Callable[..., Verdict]
Import: TypeAlias = Callable[..., Written]


@pytest.fixture
def made() -> Import:
    """Return a function that imports the text of one file of a host."""

    def run(host: str, text: str, name: str = "source", *, is_users: bool = False) -> Written:
        source = Source(name, textwrap.dedent(text), is_users=is_users)
        return write_rules(HOSTS[host].read([source]), [name])

    return run


@pytest.fixture
def decide() -> Verdicts:
    """Return a function that decides a call under the rules that were made."""

    def run(rules: Written, tool: str, /, *, context: dict[str, Any] | None = None, **arguments: object) -> Verdict:
        loaded = load_rules([Origin("rules.toml", text=rules.text)])
        policy = attrs.evolve(loaded.policy(), reader=ReadActions("/home/ann", has_disk=False))
        server, slash, name = tool.removeprefix("mcp:").partition("/")
        call = ToolCall(name, arguments, server=server) if slash else ToolCall(tool, arguments)
        return policy.decide(
            call, AuthContext(**{"workspace": str(Path("/home/ann/project")), **(context or {})})
        ).verdict

    return run
