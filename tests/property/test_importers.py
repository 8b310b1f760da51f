"""Whatever a host's rules say: what is made loads, and no restriction is lost."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import stored_rows

from permitry_hosts.importers import HOSTS, Outcome, Source, write_rules

_WORDS = stored_rows(__file__, "_WORDS")
_TEXTS = st.lists(
    st.sampled_from([*_WORDS, "!a", "src/", "domain:a.*", "model:x", "x=1", "|", "é", "\x7f", "\n"]), max_size=4
)
_TOOLS = st.sampled_from(
    ["Bash", "Read", "Edit", "Write", "WebFetch", "Agent", "Grep", "mcp__a__b", "mcp__*", "*", "Foo"]
)
_RULES = st.builds(lambda tool, words: f"{tool}({''.join(words)})", _TOOLS, _TEXTS) | _TOOLS | _TEXTS.map("".join)
_SETTINGS = st.fixed_dictionaries({kind: st.lists(_RULES, max_size=4) for kind in ("deny", "ask", "allow")})
_ACTIONS = st.sampled_from(["allow", "ask", "deny"])
_PERMISSIONS = st.sampled_from(["bash", "edit", "read", "*", "webfetch", "task", "mcp_*", "x", "external_directory"])
_CONFIGS = st.dictionaries(
    _PERMISSIONS, _ACTIONS | st.dictionaries(_TEXTS.map("".join), _ACTIONS, max_size=3), max_size=4
)


@settings(max_examples=40)
@given(_SETTINGS)
def test_no_restriction_of_claude_code_is_lost(permissions: dict[str, list[str]]) -> None:
    """Each has a rule, or no effect there."""
    _check("claude-code", {"permissions": permissions})


@settings(max_examples=40)
@given(_CONFIGS)
def test_no_restriction_of_opencode_is_lost(permission: dict[str, object]) -> None:
    """Each has a rule, or no effect there."""
    _check("opencode", {"permission": permission})


def _check(host: str, content: object) -> None:
    made = write_rules(HOSTS[host].read([Source("f", json.dumps(content))]), ["f"])
    for row in made.rows:
        assert not row.is_lost
        assert row.lines or row.effect == "allow" or row.outcome is Outcome.IGNORED
