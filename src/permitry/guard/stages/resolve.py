"""What is decided on, recorded, asked about and authorized is one tool, even after a reload."""

from permitry.guard.case import Case, Parts

__all__ = ["resolve"]


def resolve(case: Case, parts: Parts) -> Case:
    """Look up the declaration of the tool, once."""
    spec = parts.tools.declare(case.call, case.spec)
    return case if spec is case.spec else case.with_spec(spec)
