"""The rules of a running session, as their files are at each decision."""

import attrs

from permitry.audit.record import StoredRecorder
from permitry.channels.channel import ConfirmationChannel
from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.cli.inputs import tell
from permitry.config.reload import Loaded, PolicyReloader, difference
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.errors import ConfigError, count
from permitry.guard.guard import Guard
from permitry.guard.refusal import MISTAKEN_RULES
from permitry.rules.configured import ConfiguredRule

__all__ = ["Renewal", "RenewingChannel"]


@attrs.define(eq=False)
class Renewal:
    """Puts changed rules in force: they are recorded before they count, and reported to the user."""

    reloader: PolicyReloader
    recorder: StoredRecorder
    guard: Guard
    _known: Loaded = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._known = self.reloader.loaded

    def renew(self) -> None:
        """Put the rules in force as they are now; mistakes block every call. Raises: as `require`."""
        self._load()
        if self.reloader.problems is not None:
            self.guard.policy = _refuse_all(self.reloader.problems)

    def require(self) -> None:
        """Do what `renew` does, but raise for mistakes. Raises: `ConfigError`; `AuditError`."""
        self._load()
        if self.reloader.problems is not None:
            # A new one each time: an error keeps the frames of all that it was raised through.
            raise ConfigError(self.reloader.problems.problems)

    def _load(self) -> None:
        self.reloader.settle()
        before, now = self._known, self.reloader.loaded
        # INVARIANT: compared with what is in force here, so that a change that could not be recorded is not lost.
        if now is before:
            return
        self.recorder.keep_policy(now.policy.version, now.policy, AuthContext.from_state(self.guard.session))
        self.recorder.reloaded(**difference(before, now))
        self._known, self.guard.policy = now, now.policy
        if now.problems is not None:
            tell(["no call runs: the rule files have mistakes", *str(now.problems).splitlines()])
        elif before.problems is not None:
            tell(["the rule files are right again", *now.rules.notices])
        else:
            tell(["the rules have changed", *now.rules.notices])


def _refuse_all(problems: ConfigError) -> AuthorizationPolicy:
    """Return a policy that blocks every call: what is wrong may be a new restriction."""
    first, *others = problems.problems
    source = f"{first.path}:{first.line}" if first.line else first.path
    more = f", and {count(len(others), 'more mistake')}" if others else ""
    reason = f"the rule files have mistakes: {source}: {first.message}{more}"
    return AuthorizationPolicy(
        [ConfiguredRule("rule-files", Verdict.BLOCK, 100, reason=reason, message=MISTAKEN_RULES, source=source)]
    )


@attrs.frozen
class RenewingChannel:
    """Asks on another channel; its answer meets the rules as they are when it comes."""

    channel: ConfirmationChannel
    renewal: Renewal

    def ask(self, request: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
        """Return the answer."""
        answer = self.channel.ask(request)
        self.renewal.renew()
        return answer
