"""Rule files that are on record."""

from pathlib import Path

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
    again = load_rules(origins_on_record(map(rule_file, before.source_files)))
    assert [layer_of(each) for each in before.source_files] == ["user", "user", "project"]
    assert [rule.id for rule in again.rules] == ["b", "a"] == [rule.id for rule in before.rules]
    assert again.policy().version == before.policy().version
