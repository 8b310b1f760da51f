"""What "always" may mean at the prompt: rules that would have permitted a call, the narrowest first."""

import difflib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs

from permitry.config.lint import lint
from permitry.config.load import load_rules
from permitry.config.narrowest import is_one_tool, is_plain, path_choices
from permitry.core.action import Run, Touch
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.explanation import ActionTrace
from permitry.errors import PermitryError
from permitry.files import replace_file
from permitry.handler import ToolHandler

__all__ = ["Always", "Offer"]

_HEADER = "schema = 1\n"
_SUBCOMMAND = re.compile(r"[a-z][a-z-]*")
_CODE = "covers-interpreter"
_ID = "always-"


@attrs.frozen
class Offer:
    """One way not to be asked again: in words, and as a rule of a rule file; without one, for all calls of the tool."""

    label: str
    rule: str | None = None


@attrs.define
class Always:
    """Offers what to remember of an approval, and remembers it for the session or in `file`."""

    handler: ToolHandler
    file: Path
    _texts: list[str] = attrs.field(factory=list, init=False)

    def offers(self, call: ToolCall, *, may_ignore: bool = True) -> list[Offer]:
        """Return the offers for a call, each of which would have let it run; none where a restriction asks.

        `may_ignore`: the tool may go on the ignore list, which is the last offer.
        """
        name = call.digest[:8]
        exact = _rule(f"{_ID}{name}", tools=[call.tool], **{"when.digest": [call.digest]})
        exactly = Offer("exactly this call", exact)
        alike = next((each for each in self._patterns(call, name) if self._permits(each, call)), None)
        found = [exactly] if self._permits(exactly, call) else []
        found += [] if alike is None else [alike]
        return [*found, Offer(f"every call of `{call.tool}`")] if may_ignore else found

    def for_session(self, offer: Offer) -> None:
        """Let the rule of an offer count until the session ends."""
        if offer.rule is not None:
            # Under an id of its own: the rule file it was saved in may be loaded again, and ids are unique.
            self._texts.append(offer.rule.replace(f'id = "{_ID}', f'id = "session-{_ID}'))
            self.handler.session.rules = load_rules(_HEADER + "\n" + "\n".join(dict.fromkeys(self._texts)))

    def diff(self, offer: Offer) -> str:
        """Return what `save` would change."""
        old = self._text()
        new = self._with(offer)
        lines = difflib.unified_diff(old.splitlines(), new.splitlines(), str(self.file), str(self.file), lineterm="")
        return "\n".join(lines)

    def save(self, offer: Offer) -> None:
        """Add the rule of an offer to the file, in one step.

        Raises: `OSError`, `ConfigError` when the file would not load.
        """
        text = self._with(offer)
        if self.file.exists():
            load_rules(self.file)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self.file, text.encode())

    def _text(self) -> str:
        return self.file.read_text(encoding="utf-8") if self.file.exists() else ""

    def _with(self, offer: Offer) -> str:
        return (self._text().rstrip("\n") or _HEADER.rstrip("\n")) + "\n\n" + (offer.rule or "")

    def _permits(self, offer: Offer, call: ToolCall) -> bool:
        """Return whether the call would run with the rule, and the rule permits no code in arguments."""
        if offer.rule is None:
            return True
        try:
            rules = load_rules(_HEADER + "\n" + offer.rule)
            policy = self.handler.policy.with_rules(rules)
        except PermitryError:
            return False
        context, spec = AuthContext.from_state(self.handler.session), self.handler.registry.get(call.tool)
        is_enough = policy.decide(call, context, spec).verdict is Verdict.ALLOW
        return is_enough and not any(finding.kind == _CODE for finding in lint(rules))

    def _patterns(self, call: ToolCall, name: str) -> Iterator[Offer]:
        """Yield offers for calls like this one: by the sub-command of each program, or by all its words."""
        asked = [each for each in self.handler.explain(call).actions if _is_asked(each)]
        paths = list(dict.fromkeys(filter(None, map(self._path, asked)))) if is_one_tool(call.tool) else []
        for commands in (list(filter(None, map(_command, asked))), list(filter(None, map(_exact, asked)))):
            if len(commands) + len(paths) < len({id(each) for each in asked}) or not asked:
                return
            shown = ", ".join(f"`{each}`" for each in dict.fromkeys([*commands, *paths]))
            rules = [
                *([_rule(f"{_ID}{name}-commands", **{"when.command": commands})] if commands else []),
                *([_rule(f"{_ID}{name}-paths", tools=[call.tool], **{"when.path": paths})] if paths else []),
            ]
            yield Offer(f"calls like {shown}", "\n".join(rules))

    def _path(self, each: ActionTrace) -> str | None:
        """Return a pattern for the folder of a path in the workspace; the name itself at its top."""
        if not isinstance(each.action, Touch):
            return None
        known = list(path_choices(each.action, self.handler.session.workspace))[:2]
        return known[-1] if known else None


def _is_asked(each: ActionTrace) -> bool:
    return each.is_certain and each.decision.verdict is not Verdict.ALLOW


def _words(each: ActionTrace) -> tuple[str, ...]:
    """Return the words of a command if they are all plain; none for anything else."""
    if not isinstance(each.action, Run) or any(word.is_open or word.is_glob for word in each.action.words):
        return ()
    argv = each.action.argv
    return argv if all(map(is_plain, argv)) else argv[:2] if _is_named(argv) else ()


def _is_named(argv: tuple[str, ...]) -> bool:
    return len(argv) > 1 and is_plain(argv[0]) and bool(_SUBCOMMAND.fullmatch(argv[1]))


def _command(each: ActionTrace) -> str | None:
    """Return a pattern for a program, with its sub-command if it has one, and any arguments."""
    words = _words(each)
    if not words:
        return None
    return " ".join(words[:2] if _is_named(words) else words[:1]) + " *"


def _exact(each: ActionTrace) -> str | None:
    """Return a pattern for a command with all its words, and any arguments after them."""
    words = _words(each)
    return " ".join(words) + " *" if words else None


def _rule(rule_id: str, **keys: Iterable[str]) -> str:
    lines = [f"{key} = [{', '.join(f'{chr(34)}{value}{chr(34)}' for value in values)}]" for key, values in keys.items()]
    head = ["[[rule]]", f'id = "{rule_id}"', 'effect = "allow"', 'reason = "approved with always at the prompt"']
    return "\n".join([*head, *lines, ""])
