"""A policy from the cache is the policy of the rule files, and a damaged cache is none.

The shipped sets are changed in small ways, and so is what the cache keeps of them.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from permitry.config.cache import RuleCache
from permitry.config.load import Origin, RuleSet, load_rules
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.errors import ConfigError

RULES = Path(__file__).resolve().parents[2] / "rules"
TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(RULES.rglob("*.toml"))}
CALLS = (
    *(ToolCall(name) for name in ("think", "permitry_trust", "mcp:bank/pay_invoice", "delete_email", "unknown")),
    *(ToolCall(name) for name in ("Permitry_Trust", "mcp__bank__pay_invoice", "functions.delete_email", "Run_Shell")),
    *(ToolCall("run_shell", {"command": text}) for text in ("git push", "ls", "permitry trust .", "npm publish")),
    *(ToolCall(name, {"path": ".env"}) for name in ("read_file", "write_file")),
)
# Each example of these loads rule sets and explains calls twice: with a thousand it took an hour of a night.
slow = settings(max_examples=min(200, settings().max_examples // 4))
_MOST_CALLS = 100 if settings().max_examples > 100 else 3
CODING_AGENT = [Origin("permitry:coding-agent")]
CONTEXTS = [AuthContext(mode=mode, workspace="/nowhere/work") for mode in ("default", "plan", "yolo")]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home folder, for rule files and what is kept of them."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def cache(folder: Path) -> Iterator[RuleCache]:
    """Return a cache, where a home folder has it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        yield RuleCache(folder / ".cache" / "permitry", folder / ".local" / "state" / "permitry" / "cache.key")


@pytest.fixture(scope="module")
def coding_agent() -> RuleSet:
    """Return the shipped sets, read from their files."""
    return load_rules(CODING_AGENT)


@st.composite
def _changed(draw: st.DrawFn) -> str:
    """Return a shipped set in which lines went elsewhere, effects and numbers changed, and wildcards were lost."""
    lines = draw(st.sampled_from(sorted(TEXTS.values()))).split("\n")
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        line = lines.pop(at)
        effect, number = draw(st.sampled_from(["block", "confirm", "allow"])), str(draw(st.integers(0, 400)))
        new = draw(
            st.sampled_from(
                [
                    [],
                    [re.sub(r"block|confirm|allow", effect, line)],
                    [line.replace("*", "", 1)],
                    [line.replace("when.", "unless.", 1)],
                    [re.sub(r"\d+", number, line)],
                    ["", "# é", line],
                ]
            )
        )
        lines[at:at] = new
    # Names of their own: the base rules are next to them.
    return "\n".join(lines).replace('id = "', 'id = "own-')


_origins = st.builds(
    lambda is_trusted, has_root: (is_trusted, has_root), is_trusted=st.booleans(), has_root=st.booleans()
)


def _loaded(origins: list[Origin]) -> RuleSet | None:
    try:
        return load_rules(origins)
    except ConfigError:
        return None


@slow
@given(text=_changed(), trust=_origins, calls=st.permutations(CALLS))
def test_the_policy_from_the_cache_is_that_of_the_files(
    cache: RuleCache, folder: Path, text: str, trust: tuple[bool, bool], calls: list[ToolCall]
) -> None:
    """Version, rules, notices, and every explanation with its files and lines."""
    path = folder / "rules.toml"
    path.write_text(text, encoding="utf-8")
    origins = [Origin("permitry:base"), Origin(str(path), is_trusted=trust[0], root=folder if trust[1] else None)]
    loaded = _loaded(origins)
    if loaded is None:
        with pytest.raises(ConfigError):
            cache.load(origins)
        assert cache.kept(origins) is None
        return
    assert cache.load(origins) == loaded
    kept = cache.kept(origins)
    assert kept == loaded
    assert kept is not None
    ours, theirs = kept.policy(), loaded.policy()
    assert ours.version == theirs.version
    for call in calls[:_MOST_CALLS]:
        for context in CONTEXTS:
            assert ours.explain(call, context) == theirs.explain(call, context)


@slow
@given(text=_changed(), call=st.sampled_from(CALLS))
def test_the_rules_of_one_tool_decide_as_all_of_them(cache: RuleCache, folder: Path, text: str, call: ToolCall) -> None:
    """What is left out could not have spoken; only the policy's version is another."""
    path = folder / "rules.toml"
    path.write_text(text, encoding="utf-8")
    origins = [Origin("permitry:base"), Origin(str(path))]
    loaded = _loaded(origins)
    if loaded is None:
        with pytest.raises(ConfigError):
            cache.load(origins, call.tool)
        return
    whole = loaded.policy()
    for part in (cache.load(origins, call.tool), cache.kept(origins, call.tool)):
        assert part is not None
        assert set(part.rules) <= set(loaded.rules)
        policy = part.policy()
        for context in CONTEXTS:
            decision = whole.decide(call, context)
            assert attrs.evolve(policy.decide(call, context), policy_version=decision.policy_version) == decision


@slow
@given(text=_changed(), change=_changed())
def test_a_file_that_changes_under_the_cache_is_read_again(
    cache: RuleCache, folder: Path, text: str, change: str
) -> None:
    """Whatever it said before."""
    path = folder / "rules.toml"
    origins = [Origin("permitry:base"), Origin(str(path))]
    for content in (text, change):
        path.write_text(content, encoding="utf-8")
        loaded = _loaded(origins)
        if loaded is None:
            with pytest.raises(ConfigError):
                cache.load(origins)
        else:
            assert cache.load(origins) == loaded


@slow
@given(data=st.data())
def test_a_changed_byte_of_the_cache_changes_no_policy(
    cache: RuleCache, coding_agent: RuleSet, data: st.DataObject
) -> None:
    """The files are read again, and say what they said."""
    cache.load(CODING_AGENT)
    before = set(cache.folder.iterdir())
    (path,) = (
        each for each in before if b"permitry:coding-agent" in each.read_bytes() and _is_of(cache, each, CODING_AGENT)
    )
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    byte = data.draw(st.integers(0, 255))
    assume(content[at] != byte)
    content[at] = byte
    path.write_bytes(content)
    assert cache.kept(CODING_AGENT) is None
    assert cache.load(CODING_AGENT) == coding_agent
    path.write_bytes(content[:at])
    assert cache.load(CODING_AGENT) == coding_agent


def _is_of(cache: RuleCache, path: Path, origins: list[Origin]) -> bool:
    """Return whether a file of the cache is the one for the origins: without it nothing is kept for them."""
    content = path.read_bytes()
    path.unlink()
    is_gone = cache.kept(origins) is None
    path.write_bytes(content)
    path.chmod(0o600)
    return is_gone
