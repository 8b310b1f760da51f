"""The validator of the policy of a guard."""

import os

from permitry.core.policy import AuthorizationPolicy
from permitry.errors import safe_str

__all__ = ["check_policy"]


def check_policy(_: object, __: object, policy: object) -> None:
    """Raise for what is not a policy, and say how to make one of it.

    Raises: `TypeError`.
    """
    if isinstance(policy, AuthorizationPolicy):
        return
    if isinstance(policy, (str, os.PathLike)):
        hint = f"load it first: policy=load_policy({os.fspath(policy)!r})"
    else:
        hint = "use load_policy(...) for rule files, or AuthorizationPolicy(rules) for rules"
    raise TypeError(f"`policy` must be an AuthorizationPolicy, not {safe_str(policy, repr)}; {hint}")
