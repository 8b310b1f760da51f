"""Rule files that are on record."""

from pathlib import Path

from permitry.audit.rule_files import RuleFile, layer_of
from permitry.config.load import load_rules
from permitry.config.origin import Origin
from permitry.config.recorded import origins_on_record

RULE = '[[rule]]\nid = "{0}"\neffect = "allow"\ntools = ["{0}"]\n'


def test_files_are_read_again_without_the_disk(tmp_path: Path) -> None:
    """With the trust that each had: what an untrusted project permits still counts for nothing."""
    (tmp_path / "b.toml").write_text("schema = 1\n" + RULE.format("b"))
    (tmp_path / "a.toml").write_text('schema = 1\nextends = ["b.toml"]\n' + RULE.format("a"))
    (tmp_path / "p.toml").write_text("schema = 1\n" + RULE.format("p"))
    project = Origin(str(tmp_path / "p.toml"), is_trusted=False, root=tmp_path)
    before = load_rules(str(tmp_path / "a.toml"), project)
    for path in tmp_path.glob("*.toml"):
        path.unlink()
    files = [
        RuleFile(each.name, each.text or "", layer_of(each), each.is_trusted, each.is_observed)
        for each in before.source_files
    ]
    again = load_rules(origins_on_record(files))
    assert [each.layer for each in files] == ["user", "user", "project"]
    assert [rule.id for rule in again.rules] == ["b", "a"] == [rule.id for rule in before.rules]
    assert again.policy().version == before.policy().version


def test_a_file_that_has_another_name_by_now_comes_by_itself() -> None:
    """What it extended is no longer found under the name that it was recorded with, and counts all the same."""
    files = [
        RuleFile("a.toml", 'schema = 1\nextends = ["b.toml"]\n' + RULE.format("a")),
        RuleFile("/elsewhere/b.toml", "schema = 1\n" + RULE.format("b")),
    ]
    assert {rule.id for rule in load_rules(origins_on_record(files)).rules} == {"a", "b"}


def test_no_file_of_today_is_read(tmp_path: Path) -> None:
    """One of the same name that is there by now, or a rule file of an admin that is not."""
    (tmp_path / "b.toml").write_text("no rules")
    name = str(tmp_path / "a.toml")
    files = [RuleFile(name, 'schema = 1\nextends = ["b.toml"]\n' + RULE.format("a"), "admin")]
    assert [rule.id for rule in load_rules(origins_on_record(files)).rules] == ["a"]
