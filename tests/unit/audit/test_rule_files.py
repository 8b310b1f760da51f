"""The rules behind a version of a policy, as a store keeps them."""

import hashlib

from permitry.audit.rule_files import RuleFile


def test_it_is_described_without_its_text() -> None:
    """By the digest of its bytes."""
    described = RuleFile("a.toml", "# ä\n", "project", is_trusted=False).to_dict()
    assert described["digest"] == hashlib.sha256("# ä\n".encode()).hexdigest()
    assert "text" not in described
    assert (described["layer"], described["trusted"], described["observed"]) == ("project", False, False)
