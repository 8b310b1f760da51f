"""Work on many files, spread over a Ray cluster. Needs the extra `replay`."""

import logging
import os
import socket
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from permitry.errors import PermitryError
from permitry.extras import missing

__all__ = ["spread"]

_Result = TypeVar("_Result")

# Read by Ray when it is imported or started. Without support for several machines, it listens on loopback alone.
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
_LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
_SECONDS = 10


def spread(
    work: Callable[[str], _Result], names: Iterable[str], *, address: str | None = None, workers: int = 1
) -> Iterator[_Result]:
    """Yield what `work` returns for each name, in order, done somewhere in the cluster at an address.

    Without an address it is this machine, with so many workers, and ends with the last result.

    Raises: `PermitryError` where Ray is not installed, or not reached; and what `work` raises.
    """
    os.environ.update(_QUIET if address else _QUIET | _LOOPBACK)
    try:
        import ray  # noqa: PLC0415 -- an extra
    except ImportError as error:
        raise PermitryError(missing("ray", "replay")) from error
    try:
        _reach(address)
        ray.init(
            address or "local",
            num_cpus=None if address else workers,
            include_dashboard=None if address else False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
        remote: Any = ray.remote(_run)
        for waiting in [remote.remote(work, name) for name in names]:
            yield ray.get(waiting)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
        raise PermitryError(f"cannot use the Ray cluster: {error}") from error
    finally:
        ray.shutdown()


def _reach(address: str | None) -> None:
    """Fail at once where nothing answers at `host:port`: Ray would try for minutes."""
    host, _, port = (address or "").rpartition(":")
    if host and "/" not in host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=_SECONDS).close()


def _run(work: Callable[[str], _Result], name: str) -> _Result:
    return work(name)
