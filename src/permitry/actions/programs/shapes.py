"""Whether the words of a program fit a shape of its operands, and which role each operand has."""

from collections.abc import Iterator, Sequence

from permitry.actions.programs.arguments import Parts, is_spread
from permitry.actions.programs.awk import check_awk
from permitry.actions.programs.entries import Entry, RefusedError, Shape
from permitry.actions.programs.limits import has_option_behind
from permitry.core.action import Word

__all__ = ["check_shape", "is_many", "roles_by_shape"]


def check_shape(words: Sequence[Word], parts: Parts, entry: Entry, shape: Shape) -> None:
    """Check that the words name nothing but what the shape says.

    Raises: `RefusedError` if they may.
    """
    if parts.is_spread:
        raise RefusedError("a pattern for a value")
    if has_option_behind(parts, entry):
        raise RefusedError("an option behind an operand")
    with_value = {f"{name}=" for name, value in parts.found if value is not None}
    is_unsure = any(text in word.text for text in shape.unsure_text for word in words)
    if is_unsure or (with_value | parts.names) & shape.unsure:
        raise RefusedError("an option or a text that may name anything")
    texts = (value for name, value in parts.found if name in shape.literal)
    if any(text is not None and text.is_open for text in texts):
        raise RefusedError("an expansion in a text that may name anything")
    refused = entry.refused_start
    if refused and any(word.text.startswith(refused) for word in parts.operands):
        raise RefusedError(f"an operand that begins with `{refused}`")
    if entry.script == "jq" and any(word.is_open for word in parts.operands):
        raise RefusedError("an expansion that may be a program text")
    if entry.script == "awk":
        check_awk(parts)


def roles_by_shape(shape: Shape, parts: Parts) -> Iterator[tuple[str, Word]]:
    """Yield each operand with its role.

    Raises: `RefusedError` if they are too few or too many.
    """
    operands = [word for word in parts.operands if word.text not in shape.skip]
    has_instead = bool(shape.instead & parts.names)
    roles = [role for role in shape.operands if is_many(role) or not has_instead]
    while (extra := len(operands) - sum(not is_many(role) for role in roles)) < 0:
        optional = [at for at, role in enumerate(roles) if role.endswith("?")]
        if not optional:
            raise RefusedError("an operand is missing")
        del roles[optional[-1]]
    at = next((at for at, role in enumerate(roles) if is_many(role)), None)
    least = int(at is not None and roles[at].endswith("+"))
    if extra < least or (extra and at is None):
        raise RefusedError("not as many operands as expected")
    if at is not None:
        roles[at : at + 1] = [roles[at]] * extra
    for role, word in zip(roles, operands, strict=True):
        if is_spread(word) and not is_many(role):
            raise RefusedError("a pattern where operands are counted")
        yield role.rstrip("*+?"), word


def is_many(role: str) -> bool:
    """Return whether a role is that of any number of operands."""
    return role.endswith(("*", "+"))
