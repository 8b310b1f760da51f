"""What commands know besides a record."""

import argparse
from pathlib import Path

from permitry_ops.cli.tool_list import circumstances_from


def test_the_shipped_tools_and_the_templates_are_known(tmp_path: Path) -> None:
    """With the workspace that is meant where a record names none."""
    rules = tmp_path / "rules.toml"
    rules.write_text('schema = 1\n[template.review]\ndescription = "reads"\nallow_tools = ["read_file"]\n')
    found = circumstances_from(argparse.Namespace(tools=None, rules=[str(rules)]), str(tmp_path))
    assert found.workspace == str(tmp_path)
    assert found.templates.keys() == {"review"}
    assert found.tools["run_shell"].name == "run_shell"
