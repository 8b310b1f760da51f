"""A human's answer to a confirmation request."""

from collections.abc import Mapping

import attrs
from attrs import validators

from permitry.errors import safe_str

__all__ = ["Approve", "Deny", "Respond", "ToolConfirmationResponse"]


def _check_arguments(_: object, __: object, arguments: Mapping[str, object] | None) -> None:
    """Raise `TypeError` for what is not a mapping of names to values."""
    if arguments is not None and not isinstance(arguments, Mapping):
        raise TypeError(f"edited `arguments` must be a mapping of names to values, not {safe_str(arguments, repr)}")


_is_bool = validators.instance_of(bool)


@attrs.frozen
class ToolConfirmationResponse:
    """A human's answer. Only `approved` without `abort` and `result` lets a call run.

    `skip_future` asks not to be asked about the tool again, and counts only with an approval. `abort` ends the
    session. `instructions` are the human's words to the model. `arguments` replace the call's own, and the edited
    call is decided again. With a `result` the human answers in place of the tool, which does not run: the model gets
    this text as what the call returned, and nothing else may be given.

    Raises: `TypeError` for values of other types; `ValueError` for a `result` together with anything else.
    """

    approved: bool = attrs.field(validator=_is_bool)
    skip_future: bool = attrs.field(default=False, validator=_is_bool)
    abort: bool = attrs.field(default=False, validator=_is_bool)
    instructions: str = attrs.field(default="", validator=validators.instance_of(str))
    arguments: Mapping[str, object] | None = attrs.field(default=None, kw_only=True, validator=_check_arguments)
    result: str | None = attrs.field(
        default=None, kw_only=True, validator=validators.optional(validators.instance_of(str))
    )

    def __attrs_post_init__(self) -> None:
        others = ("approved", "skip_future", "abort", "instructions", "arguments")
        if self.result is not None and (
            given := [name for name in others if getattr(self, name) not in (False, "", None)]
        ):
            raise ValueError(f"a `result` answers in place of the tool, and does not go with `{given[0]}`")

    @property
    def is_approval(self) -> bool:
        """Whether the call may run."""
        # Compared: without attrs' validators, any text is a flag, and "no" is as true as "yes".
        return self.approved is True and self.abort is False and self.result is None

    @property
    def outcome(self) -> str:
        """What it says, in a word: `approved`, `responded` or `rejected`."""
        if self.is_approval:
            return "approved"
        return "rejected" if self.result is None else "responded"

    @property
    def is_remembered(self) -> bool:
        """Whether the tool goes on the ignore list."""
        return self.skip_future is True and self.is_approval


def _approve(*, remember: bool = False, arguments: Mapping[str, object] | None = None) -> ToolConfirmationResponse:
    """Return the answer that lets a call run, perhaps with other arguments, or for the whole session."""
    return ToolConfirmationResponse(True, skip_future=remember, arguments=arguments)


def _deny(why: str = "", *, abort: bool = False) -> ToolConfirmationResponse:
    """Return the answer that lets nothing run, with words to the model; perhaps end the session."""
    return ToolConfirmationResponse(False, abort=abort, instructions=why)


def _respond(result: str) -> ToolConfirmationResponse:
    """Return the answer in place of the tool, which does not run: the model gets this text."""
    return ToolConfirmationResponse(False, result=result)


Approve, Deny, Respond = _approve, _deny, _respond
