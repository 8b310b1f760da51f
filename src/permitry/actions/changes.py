"""What a call would change on the disk, as far as that is known with certainty: what is to be kept to undo it."""

from collections.abc import Iterator, Sequence
from typing import Protocol, assert_never

import attrs

from permitry.actions.git_commands import GitCommand, git_command
from permitry.core.action import Access, Action, Actions, Connect, Delegate, Place, Run, Touch, Unknown, phrase
from permitry.core.call import ToolCall
from permitry.core.spec import ToolSpec

__all__ = ["Change", "Changes", "Undo", "changes_of"]


@attrs.frozen
class Change:
    """A path that is made, changed or removed, its folders without links; `is_tree`: with all that is below it."""

    path: str
    is_tree: bool = False


@attrs.frozen
class Changes:
    """All that a call would make, change or remove; `doubt` is why that is not known, None where it is certain.

    A call of `git` changes what git says beforehand that it would, and nothing else.
    """

    paths: tuple[Change, ...] = ()
    doubt: str | None = None
    git: GitCommand | None = None


class Undo(Protocol):
    """Keeps what calls change, so that they can be undone."""

    def keep(
        self, call: ToolCall, changes: Sequence[Change], *, session: str = "", workspace: str | None = None
    ) -> str:
        """Keep what is at these paths, or that nothing is, and return the id under which it can be brought back.

        Raises: `UndoError` with the reason; then nothing is kept, and the call must not run for this.
        """
        ...

    def renew(self, entry: str) -> str:
        """Return the id under which what is there now is kept: a new one where that has changed since.

        Raises: `UndoError` with the reason; then the call must not run for this.
        """
        ...

    def ended(self, entry: str) -> None:
        """Note what the call has made of what was kept, so that later changes are noticed. Never raises."""
        ...


def changes_of(actions: Actions, tool: ToolSpec | None) -> Changes:
    """Return what a call changes; possible actions and guesses do not count, as for any permission."""
    doubt = _doubt_of(tool)
    command = _only_git(actions.certain) if doubt is None else None
    if command is not None:
        return Changes(git=command)
    found: dict[Change, None] = {}
    for action in actions.certain:
        doubt = doubt or _doubt_about(action)
        found |= dict.fromkeys(_changes(action))
    if doubt is None and not found and tool is not None and not (tool.only_reads or tool.is_shell):
        doubt = "it is not declared what the tool changes"
    if doubt is not None:
        return Changes((), doubt)
    return Changes(tuple(found))


def _only_git(actions: Sequence[Action]) -> GitCommand | None:
    """Return the command of `git` that is all that changes anything.

    Of two, the first could change what the second does, and so could whatever else is changed.
    """
    commands = [command for each in actions if isinstance(each, Run) and (command := git_command(each)) is not None]
    others = [each for each in actions if not (isinstance(each, Run) and git_command(each) is not None)]
    only_read = not any(_doubt_about(each) is not None or any(_changes(each)) for each in others)
    if len(commands) == 1 and only_read:
        return commands[0]
    return None


def _doubt_of(tool: ToolSpec | None) -> str | None:
    """Return why a tool may change more than its arguments name."""
    if tool is None or tool.roles is None:
        return "it is not declared what the tool changes"
    if tool.is_shell or tool.only_reads:
        return None
    if tool.traits.open_world is not False:
        return "the tool may change something outside of this machine"
    return "the tool may start an agent" if tool.traits.spawns_agent is not False else None


def _doubt_about(action: Action) -> str | None:
    """Return why it is not known what an action changes, or why that cannot be undone."""
    match action:
        case Unknown():
            return action.reason
        case Connect() | Delegate():
            return f"`{phrase(action)}` cannot be undone"
        case Touch():
            return _doubt_about_place(action)
        case Run():
            return _doubt_about_run(action)
        case _:
            assert_never(action)


def _doubt_about_run(run: Run) -> str | None:
    if run.is_wrapper:
        return None
    named = run.operands
    if run.doubt is not None and not (named.are_all_changes and named.is_listed and not run.sets):
        return f"it is not known what `{phrase(run)}` changes"
    if named.connects:
        return f"`{phrase(run)}` cannot be undone"
    return next(filter(None, map(_doubt_about_place, named.touches)), None)


def _doubt_about_place(touch: Touch) -> str | None:
    if not _does_change(touch) or _is_known(touch.place):
        return None
    return f"`{touch.place.text}` is not certain"


def _is_known(place: Place) -> bool:
    return place.is_certain and bool(place.real) and not (place.is_open or place.has_wildcards)


def _does_change(touch: Touch) -> bool:
    return touch.access.is_change or any(each.is_change for each in touch.instead)


def _changes(action: Action) -> Iterator[Change]:
    if isinstance(action, Touch):
        # What a tool does to a folder is not known.
        yield from _find_changes(action, is_tree=not action.words)
    elif isinstance(action, Run) and not action.is_wrapper:
        for touch in action.operands.touches:
            yield from _find_changes(touch, is_tree=False)


def _find_changes(touch: Touch, *, is_tree: bool) -> Iterator[Change]:
    if _does_change(touch):
        is_tree = is_tree or touch.place.is_tree or touch.access is Access.DELETE
        yield from (Change(name, is_tree) for name in touch.place.real)
