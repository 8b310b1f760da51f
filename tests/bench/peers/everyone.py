"""All engines, permitry first."""

from collections.abc import Iterator

import attrs
from tests.bench.peers.by_hand import ByHand, Naive
from tests.bench.peers.casbin import Casbin
from tests.bench.peers.cedar import Cedar
from tests.bench.peers.engine import Engine, is_installed
from tests.bench.peers.permitry_ import Permitry
from tests.bench.peers.rbacx import Rbacx
from tests.bench.peers.rego import Opa, Regorus
from tests.bench.peers.vakt import Vakt

__all__ = ["Absent", "absent", "engines", "installed"]


@attrs.frozen
class Absent:
    """An engine that cannot be measured here, and what to tell about it."""

    name: str
    reason: str


def engines() -> tuple[Engine, ...]:
    """Return every engine there is an adapter for."""
    return Permitry(), ByHand(), Naive(), Cedar(), Casbin(), Vakt(), Rbacx(), Opa(), Regorus()


def installed() -> tuple[Engine, ...]:
    """Return the engines that can be asked here."""
    return tuple(engine for engine in engines() if is_installed(engine))


def absent() -> Iterator[Absent]:
    """Yield the engines that are not installed."""
    for engine in engines():
        if not is_installed(engine):
            yield Absent(engine.name, f"not installed (`{engine.package}`)")
