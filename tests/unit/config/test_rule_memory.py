"""A rule set is kept as long as nothing that it depends on has changed."""

import contextlib
import os
from pathlib import Path

import pytest

from permitry.config import rule_memory as module
from permitry.config.cache import RuleCache
from permitry.config.origin import Origin
from permitry.config.rule_memory import RuleMemory
from permitry.config.ruleset import RuleSet
from permitry.errors import ConfigError

RULE = 'schema = 1\n[[rule]]\nid = "one"\neffect = "{}"\ntools = ["t"]\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a rule file."""
    path = tmp_path / "rules.toml"
    path.write_text(RULE.format("block"))
    return path


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of what was loaded."""
    loads: list[str] = []
    load = RuleCache.load

    def counting(self: RuleCache, origins: list[Origin], tool: str | None = None) -> RuleSet:
        loads.append(str(tool))
        return load(self, origins, tool)

    monkeypatch.setattr(RuleCache, "load", counting)
    return loads


def _effect(memory: RuleMemory, file: Path, tool: str | None = None) -> str:
    return memory.load([Origin(str(file))], tool).rules[0].effect.name


def test_it_is_loaded_once(file: Path, counted: list[str]) -> None:
    """For the first time twice, so that its files were the same before and after."""
    memory = RuleMemory()
    first = memory.load([Origin(str(file))])
    assert memory.load([Origin(str(file))]) is first
    assert len(counted) == 2


def test_a_change_counts_at_once(file: Path) -> None:
    """Also one that leaves size and times as they were."""
    memory = RuleMemory()
    assert _effect(memory, file) == "BLOCK"
    status = file.stat()
    file.write_text(RULE.format("allow"))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert _effect(memory, file) == "ALLOW"


def test_the_bytes_are_compared(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock may be too coarse to tell two versions apart, and a mapping changes no time once it was written to."""
    monkeypatch.setattr(module, "_status", lambda _: (1, 2, 3, 4, 5))
    memory = RuleMemory()
    assert _effect(memory, file) == "BLOCK"
    file.write_text(RULE.format("allow"))
    assert _effect(memory, file) == "ALLOW"


def test_a_file_that_is_too_large_to_compare_is_loaded_again(file: Path, counted: list[str]) -> None:
    """Each time."""
    file.write_text(RULE.format("block") + "#" * 300_000)
    memory = RuleMemory()
    assert _effect(memory, file) == "BLOCK"
    before = len(counted)
    assert _effect(memory, file) == "BLOCK"
    assert len(counted) > before


def test_rules_of_an_administrator_are_loaded_again(file: Path) -> None:
    """They are refused as soon as another user may write in a folder above them."""
    memory, origin = RuleMemory(), Origin(str(file), is_admin=True)
    with contextlib.suppress(ConfigError):
        # The one who runs this test may be root.
        memory.load([origin])
    file.parent.chmod(0o777)
    with pytest.raises(ConfigError, match="owned by root"):
        memory.load([origin])


def test_a_link_that_leads_elsewhere_counts(tmp_path: Path) -> None:
    """Also to the very same file, under a name that is outside the project."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "in").mkdir(parents=True)
    outside.mkdir()
    file = root / "rules.toml"
    file.write_text('schema = 1\nextends = ["link/more.toml"]\n')
    (root / "in/more.toml").write_text(RULE.format("block"))
    (outside / "more.toml").hardlink_to(root / "in/more.toml")
    (root / "link").symlink_to("in")
    memory, origin = RuleMemory(), Origin(str(file), is_trusted=False, root=root)
    memory.load([origin])
    (root / "link").unlink()
    (root / "link").symlink_to(outside)
    with pytest.raises(ConfigError, match="outside"):
        memory.load([origin])


def test_a_link_under_another_name_counts(file: Path, tmp_path: Path) -> None:
    """A file that is extended twice, the second time by a link, is read once; then the link leads elsewhere."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "more.toml").write_text(RULE.format("block").replace("one", name))
    (tmp_path / "link").symlink_to("one")
    file.write_text('schema = 1\nextends = ["one/more.toml", "link/more.toml"]\n')
    memory = RuleMemory()
    assert [each.id for each in memory.load([Origin(str(file))]).rules] == ["one"]
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("two")
    assert [each.id for each in memory.load([Origin(str(file))]).rules] == ["one", "two"]


def test_a_file_that_it_extends_counts(file: Path, tmp_path: Path) -> None:
    """And so does one that a link leads to."""
    other = tmp_path / "other.toml"
    other.write_text(RULE.format("block"))
    file.write_text('schema = 1\nextends = ["other.toml"]\n')
    memory = RuleMemory()
    assert _effect(memory, file) == "BLOCK"
    other.write_text(RULE.format("confirm"))
    assert _effect(memory, file) == "CONFIRM"
    third = tmp_path / "third.toml"
    third.write_text(RULE.format("allow"))
    other.unlink()
    other.symlink_to(third)
    assert _effect(memory, file) == "ALLOW"


def test_a_mistake_is_raised_each_time(file: Path) -> None:
    """The rules before are no longer in force."""
    memory = RuleMemory()
    memory.load([Origin(str(file))])
    file.write_text("schema = 7")
    for _ in range(2):
        with pytest.raises(ConfigError):
            memory.load([Origin(str(file))])
    file.unlink()
    with pytest.raises(ConfigError):
        memory.load([Origin(str(file))])


def test_trust_tool_folder_and_environment_are_parts_of_the_question(
    file: Path, counted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each asks for rules of its own."""
    memory = RuleMemory()
    memory.load([Origin(str(file))])
    memory.load([Origin(str(file), is_trusted=False)])
    memory.load([Origin(str(file), root=file.parent)])
    memory.load([Origin(str(file))], "t")
    monkeypatch.chdir(file.parent)
    memory.load([Origin("rules.toml")])
    monkeypatch.chdir("/")
    with pytest.raises(ConfigError):
        memory.load([Origin("rules.toml")])
    monkeypatch.setenv("HOME", str(file.parent))
    memory.load([Origin(str(file))])
    assert len(counted) == 13


def test_files_that_change_all_the_time_are_not_kept(file: Path, counted: list[str]) -> None:
    """They are loaded again and again."""
    memory = RuleMemory()
    load = RuleCache.load

    def changing(self: RuleCache, origins: list[Origin], tool: str | None = None) -> RuleSet:
        rules = load(self, origins, tool)
        file.write_text(f"{file.read_text()}#")
        return rules

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RuleCache, "load", changing)
        memory.load([Origin(str(file))])
    before = len(counted)
    memory.load([Origin(str(file))])
    assert len(counted) == before + 2


def test_the_ones_used_last_are_kept(file: Path, counted: list[str]) -> None:
    """So that memory has a bound."""
    memory = RuleMemory()
    for number in range(64):
        memory.load([Origin(str(file))], str(number))
    memory.load([Origin(str(file))], "0")
    memory.load([Origin(str(file))], "64")
    before = len(counted)
    memory.load([Origin(str(file))], "0")
    assert len(counted) == before
    memory.load([Origin(str(file))], "1")
    assert len(counted) == before + 2
