"""What watches the process of the inbox learns whether it serves, and nothing else."""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from permitry.errors import PermitryError
from permitry_ops.inbox.stored import Inbox

__all__ = ["health_route"]


def health_route(inbox: Inbox) -> Route:
    """Return the route `/health`: 200 while questions can be read, and 503 otherwise."""

    async def answer(_: Request) -> Response:
        try:
            await run_in_threadpool(inbox.open)
        except PermitryError:
            return PlainTextResponse("the questions cannot be read", 503)
        return PlainTextResponse("ok")

    return Route("/health", answer, methods=["GET"])
