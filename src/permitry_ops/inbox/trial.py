"""Rules that are tried: what they decide of one call, and what they permit that other ones did not.

The rules are text that was typed into a page. Nothing but shipped sets and the folder of the rule file is read for
them, nothing on the disk is looked up for a call, nothing is written, and no program is started.
"""

import functools
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import attrs

from permitry.config.catalogue import PREFIX
from permitry.config.layers import find_project
from permitry.config.load import compile_rules, load_rules
from permitry.config.origin import Origin
from permitry.config.starter import kinds_of, starter_text
from permitry.core.decision import Decision
from permitry.core.explanation import Line, lines_of
from permitry.core.json_values import parse_json
from permitry.core.texts import visible
from permitry.errors import CallError, ConfigError, PermitryError, Problem
from permitry_ops.diff.report import Report, compare
from permitry_ops.diff.side import Line as CallLine
from permitry_ops.diff.sources import Loaded

__all__ = ["UNNAMED", "Asked", "Outcome", "Start", "Trial", "send_trial"]

UNNAMED = "<rules>"
"""The name of rules that are in no file."""
_LARGEST = 256 * 1024
_SECONDS = 2.0
_SHIPPED = 'schema = 1\nextends = ["{}"]\n'


@attrs.frozen
class Start:
    """The rules that a page starts with: their `text`, the file that it is of, and `others` that count as they are.

    `within` are the folder of the file, and the files elsewhere that it extends; without a file there are none.
    """

    text: str
    name: str = UNNAMED
    others: tuple[str, ...] = ()
    within: tuple[Path, ...] = ()

    @classmethod
    def read(cls, names: Sequence[str], folder: Path) -> "Start":
        """Return the first of some rule files or shipped sets, to be changed, with the others.

        Without any, that of the project in a folder, or what `permitry init` would write. Raises: `PermitryError`.
        """
        if not names:
            project = find_project(folder)
            return (
                cls(starter_text(folder.name, kinds_of(folder)))
                if project is None
                else cls.read([str(project)], folder)
            )
        name, *others = names
        if name.startswith(PREFIX):
            load_rules(name)
            return cls(_SHIPPED.format(name), others=tuple(others))
        try:
            text = Path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise PermitryError(f"`{name}` cannot be read: {getattr(error, 'strerror', None) or error}") from error
        # A text area shows it so, and its text is what a change is compared with.
        return cls(visible(text), name, tuple(others), (Path(name).resolve().parent, *_reach(name)))

    def load(self, text: str) -> Loaded:
        """Return the rules with another text. Raises: `ConfigError`."""
        if len(text.encode("utf-8", "surrogatepass")) > _LARGEST:
            raise ConfigError(
                [Problem(self.name, 0, 0, 0, f"this is larger than {_LARGEST} bytes", "try a part of it")]
            )
        typed = Origin(self.name, text=text, within=self.within)
        return Loaded(load_rules(typed, *map(Origin, self.others)), has_disk=False)


def _reach(name: str) -> tuple[Path, ...]:
    """Return the files that a rule file reaches now; none where it has an error."""
    try:
        return tuple(compile_rules([name]).files)
    except ConfigError:
        return ()


@attrs.frozen
class Asked:
    """What is typed: the rules, and a call, as a command or as a tool with its arguments in JSON."""

    rules: str
    is_tool: bool = False
    command: str = ""
    tool: str = ""
    arguments: str = ""
    mode: str = "default"
    workspace: str = ""

    def line(self) -> CallLine:
        """Return the call and its context. Raises: `CallError`."""
        if not self.workspace.startswith("/"):
            raise CallError("the workspace is not an absolute path, such as `/srv/project`")
        context = {"mode": self.mode or "default", "workspace": self.workspace}
        if self.is_tool:
            return {"name": self.tool, "arguments": parse_json(self.arguments or "{}"), "context": context}
        return {"name": "run_shell", "arguments": {"command": self.command}, "context": context}


@attrs.frozen
class Outcome:
    """What the rules decide of the call, and what those of the start did.

    `problems` are those of the rules, `invalid` is that of the call; with one of them there is no decision.
    """

    problems: tuple[Problem, ...] = ()
    notices: tuple[str, ...] = ()
    invalid: str = ""
    decision: Decision | None = None
    before: Decision | None = None
    lines: tuple[Line, ...] = ()


@attrs.frozen
class Trial:
    """One trial of what was asked, of the rules that the page started with."""

    start: Start
    asked: Asked

    @functools.cached_property
    def _old(self) -> Loaded | None:
        try:
            return self.start.load(self.start.text)
        except ConfigError:
            return None

    @functools.cached_property
    def _new(self) -> Loaded:
        return self.start.load(self.asked.rules)

    def decide(self) -> Outcome:
        """Return what is decided of the call, as `permitry check` and `permitry explain` say it."""
        try:
            new = self._new
        except ConfigError as error:
            return Outcome(error.problems)
        try:
            line = self.asked.line()
            side = new.side(self.asked.workspace)
            request = side.request(line)
        except CallError as error:
            return Outcome(notices=new.rules.notices, invalid=str(error))
        explained = side.policy.explain(request.call, request.context, request.spec)
        before = None if self._old is None else self._old.side(self.asked.workspace).decide(line)
        lines = tuple(lines_of(explained, request.call.tool))
        return Outcome((), new.rules.notices, "", explained.decision, before, lines)

    def compare(self, seconds: float = _SECONDS) -> Report | None:
        """Return what the rules permit more and less than those of the start; None where one of both has an error.

        What takes longer than so many seconds is not proven.
        """
        try:
            old, new = self._old, self._new
        except ConfigError:
            return None
        if old is None:
            return None
        return compare(old, new, workspace=self.asked.workspace, seconds=seconds)


def send_trial(start: Start, asked: Asked, connection: "Connection[object, object]") -> None:
    """Send the `Outcome` of a trial, and then its `Report` or None."""
    trial = Trial(start, asked)
    connection.send(trial.decide())
    connection.send(trial.compare())
