"""The public names and their signatures are a promise: golden/api.txt holds it.

After a change on purpose, `python tests/test_api.py` writes the file again.
"""

import enum
import inspect
from collections.abc import Iterator
from pathlib import Path

import permitry

SNAPSHOT = Path(__file__).resolve().parents[1] / "golden" / "api.txt"


def described() -> str:
    """Return the public API as text, one name a line."""
    return "".join(f"{line}\n" for name in permitry.__all__ for line in lines_of(name, getattr(permitry, name)))


def lines_of(name: str, thing: object) -> Iterator[str]:
    """Yield a name with its parameters, and the public members of a class."""
    if not inspect.isclass(thing):
        yield f"{name}{parameters(thing)}"
        return
    bases = ", ".join(base.__name__ for base in thing.__bases__ if base is not object)
    is_built = not issubclass(thing, enum.Enum | Exception) and not getattr(thing, "_is_protocol", False)
    yield f"class {name}{parameters(thing) if is_built else ''}{f' < {bases}' if bases else ''}"
    for member, value in sorted(members(thing).items()):
        yield f"    {name}.{member}{parameters(value)}"


def members(thing: type) -> dict[str, object]:
    """Return the public members of a class, those of our base classes included that have no public name themselves."""
    bases = [each for each in thing.__mro__ if each is thing or each.__module__.startswith("permitry.")]
    own = [each for each in bases if each is thing or each.__name__ not in permitry.__all__]
    found = {name: value for each in reversed(own) for name, value in vars(each).items()}
    return {name: value for name, value in found.items() if not name.startswith("_")}


def parameters(thing: object) -> str:
    """Return the names of a callable's parameters (`=` where one has a default), or nothing for data."""
    function = thing.__func__ if isinstance(thing, classmethod | staticmethod) else thing
    if not inspect.isroutine(function) and not inspect.isclass(function):
        return ""
    shown: list[str] = []
    for each in inspect.signature(function).parameters.values():
        default = "" if each.default is inspect.Parameter.empty else "="
        stars = "**" if each.kind is each.VAR_KEYWORD else "*" if each.kind is each.VAR_POSITIONAL else ""
        if each.kind is each.KEYWORD_ONLY and not any(name.startswith("*") for name in shown):
            stars = "*, "
        shown.append(f"{stars}{each.name}{default}")
    return f"({', '.join(shown)})"


def test_the_public_api_is_the_one_promised() -> None:
    """A name or signature that changes by accident is noticed here."""
    assert described() == SNAPSHOT.read_text(encoding="utf-8")


if __name__ == "__main__":
    SNAPSHOT.write_text(described(), encoding="utf-8")
