"""What "always" may mean at the prompt: rules that would have permitted a call, the narrowest first."""

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from permitry.config.load import load_rules
from permitry.config.narrowest import Conditions, narrowest, widest
from permitry.config.rule_text import Draft, draft_text
from permitry.config.ruleset import RuleSet
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.errors import PermitryError
from permitry.extras import load
from permitry.files import replace_file
from permitry.handler import ToolHandler

__all__ = ["Always", "Offer"]

_HEADER = "schema = 1\n"
_CODE = "covers-interpreter"
_ID = "always-"


@attrs.frozen
class Offer:
    """One way not to be asked again, in words and as a rule, or for all calls of the tool."""

    label: str
    rule: str | None = None
    is_for_request: bool = False


@attrs.define
class Always:
    """Offers what to remember of an approval, and remembers it for the session or in `file`."""

    handler: ToolHandler
    file: Path
    _texts: list[str] = attrs.field(factory=list, init=False)
    _of_turn: tuple[str, list[str]] = attrs.field(factory=lambda: ("", []), init=False)

    def offers(self, call: ToolCall, *, may_ignore: bool = True) -> list[Offer]:
        """Return the offers that would have let a call run; `may_ignore`: also the ignore list, last."""
        name = call.digest[:8]
        exact = _rule(f"{_ID}{name}", {"tools": (call.tool,), "when": {"digest": [call.digest]}})
        offers = [Offer("exactly this call", exact), *self._alike(call, name)]
        if self.handler.session.turn:
            until = "exactly this call, until you write again"
            offers.insert(0, Offer(until, exact, is_for_request=True))
        found = [each for each in offers if self._permits(each, call)]
        return [*found, Offer(f"every call of `{call.tool}`")] if may_ignore else found

    def for_session(self, offer: Offer) -> None:
        """Let the rule of an offer count until the session ends, or the user writes again."""
        if offer.rule is None:
            return
        session = self.handler.session
        if self._of_turn[0] != session.turn:
            self._of_turn = session.turn, []
        texts = {True: self._of_turn[1], False: self._texts}[offer.is_for_request]
        # Under an id of its own: the rule file it was saved in may be loaded again, and ids are unique.
        scope = {True: "request", False: "session"}[offer.is_for_request]
        texts.append(offer.rule.replace(f'id = "{_ID}', f'id = "{scope}-{_ID}'))
        if self._of_turn[1]:
            session.permit_for_turn(_load([*self._texts, *self._of_turn[1]]), _load(self._texts))
        else:
            session.rules = _load(self._texts)

    def diff(self, offer: Offer) -> str:
        """Return what `save` would change."""
        old = self._text()
        new = self._with(offer)
        lines = difflib.unified_diff(old.splitlines(), new.splitlines(), str(self.file), str(self.file), lineterm="")
        return "\n".join(lines)

    def save(self, offer: Offer) -> None:
        """Add the rule of an offer to the file, in one step. Raises: `OSError`, `ConfigError`."""
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
        """Return whether the call would run with the rules, and they permit no code in arguments."""
        try:
            rules = load_rules(_HEADER + "\n" + (offer.rule or ""))
            policy = self.handler.policy.with_rules(rules)
        except PermitryError:
            return False
        context, spec = AuthContext.from_state(self.handler.session), self.handler.registry.get(call.tool)
        is_enough = policy.decide(call, context, spec).verdict is Verdict.ALLOW
        lint = load("permitry_ops.lint:lint")
        return is_enough and not any(finding.kind == _CODE for finding in lint(rules))

    def _alike(self, call: ToolCall, name: str) -> Iterator[Offer]:
        """Yield offers for calls like this one, the narrower first."""
        asked = [each for each in self.handler.explain(call).actions if each.decision.verdict is not Verdict.ALLOW]
        actions = [each.action for each in asked if each.is_certain]
        workspace = self.handler.session.workspace
        narrow, wide = narrowest(call, actions, workspace), widest(call, actions, workspace)
        for found in filter(None, (narrow, wide) if narrow != wide else (narrow,)):
            shown = ", ".join(f"`{pattern}`" for keys in found for pattern in _patterns(keys))
            rules = [_rule(f"{_ID}{name}-{number}", keys) for number, keys in enumerate(found, 1)]
            yield Offer(f"calls like {shown}", "\n".join(rules))


def _load(texts: list[str]) -> RuleSet:
    return load_rules(_HEADER + "\n" + "\n".join(dict.fromkeys(texts)))


def _patterns(keys: Conditions) -> Iterator[str]:
    when: Any = keys["when"]
    yield from next(iter(when.values()))


def _rule(rule_id: str, keys: Conditions) -> str:
    tools: Any = keys.get("tools", ())
    when: Any = keys.get("when", {})
    return draft_text(Draft("allow", tuple(tools), when), rule_id, "approved with always at the prompt")
