"""What an engine is to the benchmark: it is given rules, calls in its own words, and asked."""

import importlib
import importlib.metadata
import importlib.util
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import attrs
from tests.bench.workload import BenchCall, BenchRule

__all__ = ["Engine", "Loaded", "is_installed", "module", "version"]


@attrs.frozen
class Loaded:
    """An engine with rules in it: `prepare` makes the arguments of `ask`, `read` says what an answer means.

    `read` returns `allow`, `block` or `confirm`, or `not allow` from engines that know only one kind of no.
    """

    ask: Callable[..., object]
    prepare: Callable[[BenchCall], tuple[Any, ...]]
    read: Callable[[Any], str]


class Engine(Protocol):
    """A way to decide calls by rules.

    `package` is what is installed for it, empty for what Python alone can do, and `module` what is imported. `most` is
    the number of rules up to which measuring it is bearable. `is_native` says that its memory is not Python's. `note`
    tells how the rules are put, and what of them it cannot express.
    """

    @property
    def name(self) -> str: ...  # noqa: D102 -- described above
    @property
    def package(self) -> str: ...  # noqa: D102 -- described above
    @property
    def module(self) -> str: ...  # noqa: D102 -- described above
    @property
    def is_native(self) -> bool: ...  # noqa: D102 -- described above
    @property
    def most(self) -> int: ...  # noqa: D102 -- described above
    @property
    def note(self) -> str: ...  # noqa: D102 -- described above

    def write(self, rules: Sequence[BenchRule]) -> Any:  # noqa: ANN401 -- what only `load` reads
        """Return the rules in the words of the engine; this is not timed."""
        ...

    def load(self, written: Any) -> Loaded:  # noqa: ANN401 -- what `write` returned
        """Return the engine, ready to be asked; this is timed."""
        ...


def module(name: str) -> Any:  # noqa: ANN401 -- peers are optional: nothing is known about them here
    """Return a module of a peer."""
    return importlib.import_module(name)


def is_installed(engine: Engine) -> bool:
    """Return whether an engine can be asked here."""
    return not engine.module or importlib.util.find_spec(engine.module) is not None


def version(package: str) -> str:
    """Return the version of a package, or that it is not there."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
