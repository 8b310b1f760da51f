"""What a hook lets run is kept first, where a rule says so; its end is noted when the host reports it."""

import contextlib
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from permitry.actions.changes import Change
from permitry.core.call import ToolCall
from permitry.errors import PermitryError

if TYPE_CHECKING:
    from permitry.undo.vault import Vault

__all__ = ["LateVault", "note_end"]


@attrs.frozen
class LateVault:
    """The vault in a folder, of which nothing is loaded before something is to be kept."""

    folder: Path

    def keep(
        self, call: ToolCall, changes: Sequence[Change], *, session: str = "", workspace: str | None = None
    ) -> str:
        """Keep what is at these paths.

        Raises: `UndoError`.
        """
        return self._vault.keep(call, changes, session=session, workspace=workspace)

    def renew(self, entry: str) -> str:
        """Keep again what has changed since.

        Raises: `UndoError`.
        """
        return self._vault.renew(entry)

    def ended(self, entry: str) -> None:
        """Note what is there now that the call has ended."""
        self._vault.ended(entry)

    @property
    def _vault(self) -> "Vault":
        from permitry.undo.vault import Vault  # noqa: PLC0415 -- most hooks keep nothing

        return Vault(self.folder)


def note_end(folder: Path, session: str, call_id: str | None, digests: Callable[[], Collection[str]]) -> None:
    """Note that a call has ended, if something was kept for it; a failure leaves its end unknown.

    `digests` returns those that the call may have: a model may give one id to several.
    """
    if call_id is None or not folder.is_dir():
        return
    from permitry.undo.vault import Vault  # noqa: PLC0415 -- as above

    vault = Vault(folder)
    with contextlib.suppress(PermitryError, OSError):
        entry = vault.of_call(session, call_id, digests)
        if entry is not None:
            vault.ended(entry)
