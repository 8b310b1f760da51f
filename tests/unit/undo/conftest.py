"""A vault, and a call that changes some paths."""

from collections.abc import Callable
from pathlib import Path

import pytest

from permitry.actions.changes import Change
from permitry.core.call import ToolCall
from permitry.undo.vault import Vault

CALL = ToolCall("bash", {"command": "x"})
Keep = Callable[..., str]


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """Return an empty vault."""
    return Vault(tmp_path / "state" / "undo", clock=lambda: 1_000.0)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Return a folder with a file, and a folder with a file, a second name of it, and a link."""
    folder = tmp_path / "work"
    (folder / "d").mkdir(parents=True)
    (folder / "a").write_text("a\n")
    (folder / "d" / "x").write_text("x\n")
    (folder / "d" / "y").hardlink_to(folder / "d" / "x")
    (folder / "d" / "link").symlink_to("../a")
    return folder


@pytest.fixture
def keep(vault: Vault, work: Path) -> Keep:
    """Return what keeps paths of the folder, and all that is below them."""

    def kept(*names: str, is_tree: bool = True) -> str:
        return vault.keep(CALL, [Change(str(work / name), is_tree) for name in names], session="s")

    return kept
