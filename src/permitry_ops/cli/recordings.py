"""What commands know besides a record: templates, declared tools, and the workspace."""

import argparse
from pathlib import Path

from permitry.cli.inputs import rules_from
from permitry.core.context import AuthContext
from permitry_ops.cli.toolset import Toolset
from permitry_ops.replay.record import Circumstances

__all__ = ["circumstances_from"]


def circumstances_from(options: argparse.Namespace, workspace: str) -> Circumstances:
    """Return what is known of recorded sessions. Raises: as `Toolset.opened`, `rules_from`."""
    with Toolset.opened(argparse.Namespace(tools=options.tools, plugins=[]), Path(workspace)) as toolset:
        tools = {spec.name: spec for spec in toolset.registry.specs(AuthContext())}
    return Circumstances(workspace, rules_from(options, workspace).templates, tools)
