"""How a call of a host is read: by which rules, as which tool of which server, and in which folder."""

from pathlib import Path

import attrs
from tests.tables import for_each

from permitry.core.spec import ArgumentRole
from permitry_hosts.hooks.host import Event, Kind
from permitry_hosts.hooks.hosts import host_named
from permitry_hosts.hooks.policies import Policies
from permitry_hosts.hooks.reading import Reading, find_rules, own_tools, read_call

SHELL = Event(
    Kind.BEFORE, name="PreToolUse", session="s1", tool="Bash", arguments={"command": "ls"}, folder="/p", workspace="/p"
)


def _read(event: Event, host: str = "claude-code", rules: str = "permitry:tools-claude-code") -> Reading:
    return read_call(host_named(host), event, [rules], Policies(), host_named(host))


def test_a_tool_of_the_host_is_itself() -> None:
    """Of no server, with its arguments as they are."""
    read = _read(SHELL)
    assert (read.name, read.names) == ("Bash", [(None, "Bash")])
    assert read.arguments == SHELL.arguments


def test_a_tool_of_a_server_is_named_with_it() -> None:
    """As rules name it."""
    read = _read(attrs.evolve(SHELL, tool="get", server="docs"))
    assert (read.name, read.names) == ("mcp:docs/get", [("docs", "get")])


@for_each(("host", "joint"), [("copilot", "-"), ("opencode", "_")])
def test_a_joined_name_is_cut_in_every_way(host: str, joint: str) -> None:
    """One of them is right."""
    read = _read(attrs.evolve(SHELL, tool=f"a{joint}b{joint}c"), host)
    assert read.names == [(None, f"a{joint}b{joint}c"), ("a", f"b{joint}c"), (f"a{joint}b", "c")]


def test_a_call_is_made_in_the_folder_of_the_agent() -> None:
    """Where that is not the one of its project."""
    read = _read(attrs.evolve(SHELL, folder="/p/sub"))
    assert read.spec is not None
    (name,) = read.arguments.keys() - SHELL.arguments.keys()
    assert read.arguments[name] == "/p/sub"
    assert read.spec.roles is not None
    assert read.spec.roles[name] is ArgumentRole.FOLDER


def test_rules_that_are_named_are_all_that_count(tmp_path: Path) -> None:
    """Otherwise those of the layers, with the tools of the host."""
    host, event = host_named("claude-code"), attrs.evolve(SHELL, workspace=str(tmp_path))
    assert [origin.name for origin in find_rules(host, event, ["permitry:base"])] == ["permitry:base"]
    found = [origin.name for origin in find_rules(host, event, None)]
    assert found[:2] == ["permitry:hooks", "permitry:tools-claude-code"]
    assert "Bash" in own_tools(host, event)
    assert "make_tea" not in own_tools(host, event)


def test_observed_files_come_behind_the_rules(tmp_path: Path) -> None:
    """Whether rules are named or not."""
    host, event = host_named("claude-code"), attrs.evolve(SHELL, workspace=str(tmp_path))
    for rules in (["permitry:base"], None):
        *others, last = find_rules(host, event, rules, ["permitry:publishing"])
        assert (last.name, last.is_observed) == ("permitry:publishing", True)
        assert not any(each.is_observed for each in others)
    read = read_call(host, event, ["permitry:tools-claude-code"], Policies(), host, observed=["permitry:publishing"])
    assert read.rules.observed is not None
    assert not read.rules.rules
