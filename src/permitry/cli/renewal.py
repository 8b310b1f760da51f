"""The rules of a running session, as their files are at each decision."""

import attrs

from permitry.audit.record import LineRecorder
from permitry.cli.inputs import tell
from permitry.config.reload import Loaded, PolicyReloader, difference
from permitry.confirm.channel import ConfirmationChannel
from permitry.confirm.request import ToolConfirmationRequest
from permitry.confirm.response import ToolConfirmationResponse
from permitry.errors import ConfigError
from permitry.guard import Guard

__all__ = ["Renewal", "RenewingChannel"]


@attrs.define(eq=False)
class Renewal:
    """Puts changed rules in force: they are recorded before they count, and reported to the user."""

    reloader: PolicyReloader
    recorder: LineRecorder
    guard: Guard
    _known: Loaded = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Begin with what the guard has."""
        self._known = self.reloader.loaded

    def renew(self) -> None:
        """Go on with the rules as they are now, or, when these have mistakes, with those in force, and say so.

        Raises: `ConfigError` where the files do not rest; `AuditError`.
        """
        self.reloader.settle()
        now = self.reloader.loaded
        # INVARIANT: compared with what is in force here, so that a change that could not be recorded is not lost.
        if now is self._known:
            return
        self.recorder.reloaded(**difference(self._known, now))
        self._known, self.guard.policy = now, now.policy
        if now.problems is None:
            tell(["the rules have changed", *now.rules.notices])
        else:
            tell(["the rules stay as they are; the files have mistakes:", *str(now.problems).splitlines()])

    def require(self) -> None:
        """Do what `renew` does, for hosts whose user may not see a report: files with mistakes permit nothing.

        What is wrong may be the very restriction that the user has just written; and a layer that is gone hides what
        changes in the others.

        Raises: `ConfigError`; `AuditError`.
        """
        self.renew()
        if self.reloader.problems is not None:
            # A new one each time: an error keeps the frames of all that it was raised through.
            raise ConfigError(self.reloader.problems.problems)


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
