"""Makes `programs.json`, the quick form of `programs.toml`, where a wheel or an editable install is built."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_QUICK = "src/permitry/actions/programs.json"


class ProgramsHook(BuildHookInterface):
    """Adds the quick form to the package: it is not in the repository."""

    def initialize(self, _version: str, build_data: dict[str, Any]) -> None:
        """Write the file, and let it be packed although git ignores it."""
        sys.path.insert(0, str(Path(self.root, "src")))
        from permitry.actions.programs.catalogue import compact  # noqa: PLC0415 -- it is not installed yet

        Path(self.root, _QUICK).write_text(compact(), encoding="utf-8")
        build_data["artifacts"].append(f"/{_QUICK}")
