"""The version of a policy: a digest of all that its decisions depend on."""

import hashlib
from collections.abc import Iterable, Mapping

import attrs

from permitry.core.decision import Verdict
from permitry.core.extend import Policy
from permitry.core.flow import Flow
from permitry.core.rule import ActionReader, AnyRule
from permitry.core.spec import ToolSpec
from permitry.errors import safe_str

__all__ = ["digest_rules"]


def digest_rules(
    rules: Iterable[AnyRule],
    flows: Iterable[Flow],
    declared: Mapping[str, ToolSpec],
    unmatched: Verdict,
    reader: ActionReader | None,
    *,
    observed: Policy | None,
) -> str:
    """Return a short digest, the same for the same rules in any process; it never raises."""
    # A decision needs it, and never raises: a rule that cannot be shown is described by its class.
    texts = [safe_str(part, repr) if attrs.has(type(part)) else type(part).__qualname__ for part in (*rules, *flows)]
    texts += [f"{name} {declared[name].digest}" for name in sorted(declared)]
    if unmatched is not Verdict.CONFIRM:
        texts.append(unmatched.value)
    texts += filter(None, [getattr(reader, "digest", "")])
    if observed is not None:
        texts.append(f"observed {observed.version}")
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
