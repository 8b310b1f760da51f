"""The webhook through which a command asks."""

import argparse
import os

from permitry.channels.webhook import WebhookChannel
from permitry.errors import PermitryError

__all__ = ["webhook_from"]

_SECRET = "PERMITRY_WEBHOOK_SECRET"  # noqa: S105 -- where it is, and not the secret itself


def webhook_from(options: argparse.Namespace) -> WebhookChannel:
    """Return the channel of `--webhook`; its secret leaves the environment. Raises: `PermitryError`."""
    if options.answers is not None or options.unattended not in (None, "wait"):
        raise PermitryError("--webhook asks, and goes with `--unattended wait` alone, not with another way to answer")
    secret = os.environ.pop(_SECRET, "")
    if not secret:
        what = "`whsec_` and then at least 24 random bytes in base64"
        raise PermitryError(f"--webhook needs the secret of both sides in {_SECRET}, which is not set: {what}")
    try:
        return WebhookChannel(options.webhook, secret)
    except ValueError as error:
        raise PermitryError(f"--webhook with {_SECRET}: {error}") from error
