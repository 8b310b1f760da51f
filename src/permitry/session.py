"""The mutable state of one agent session, from which every context is read."""

from collections import Counter

import attrs

from permitry.core.template import Template

__all__ = ["Session"]


@attrs.define
class Session:
    """What changes while an agent works: modes, ignore list, template, call counts.

    A handler reads an `AuthContext` from it for every question, so a change counts from the next call on.
    `messages` collects what the model must be told by the host (see `ToolHandler.process_confirmation`).
    """

    is_plan_mode: bool = False
    yolo_mode: bool = False
    tool_ignore_list: list[str] = attrs.field(factory=list)
    active_template: Template | None = None
    _word: str = attrs.field(default="default", kw_only=True, alias="mode")
    agent: str = attrs.field(default="main", kw_only=True)
    workspace: str | None = attrs.field(default=None, kw_only=True)
    attended: bool = attrs.field(default=True, kw_only=True)
    counts: Counter[str] = attrs.field(factory=Counter, kw_only=True)
    labels: set[str] = attrs.field(factory=set, kw_only=True)
    messages: list[str] = attrs.field(factory=list, kw_only=True)

    def __attrs_post_init__(self) -> None:
        self.is_plan_mode = self.is_plan_mode or self._word == "plan"
        self.yolo_mode = self.yolo_mode or self._word == "yolo"
        self._word = _host_word(self._word)

    @property
    def host_mode(self) -> str:
        """The word of the host for its mode; `default` when it has none of its own."""
        return self._word

    @property
    def mode(self) -> str:
        """The mode in force: `plan` while its flag is set, then the word of the host, then `yolo` or `default`."""
        if self.is_plan_mode:
            return "plan"
        return "yolo" if self.yolo_mode and self._word == "default" else self._word

    def switch_mode(self, mode: str) -> None:
        """Enter `plan`, `yolo`, `default`, or a mode of the host; plan and YOLO are left by entering another."""
        # INVARIANT: the flags alone say plan and yolo, so that clearing a flag always leaves the mode.
        self.is_plan_mode = mode == "plan"
        self.yolo_mode = mode == "yolo"
        self._word = _host_word(mode)

    def ignore(self, tool: str) -> None:
        """Do not ask about `tool` again in this session."""
        self.tool_ignore_list.append(tool)

    def count(self, tool: str) -> None:
        """Note that `tool` ran."""
        self.counts[tool] += 1


def _host_word(mode: str) -> str:
    return "default" if mode in ("plan", "yolo") else mode
