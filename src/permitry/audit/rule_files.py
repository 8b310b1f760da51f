"""The rules behind a version of a policy, as a store keeps them: what an auditor is shown of them."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol, TypeGuard, cast

import attrs

from permitry.core.context import AuthContext
from permitry.core.policy import AuthorizationPolicy

__all__ = ["RuleFile", "keep_rules", "layer_of"]

_SHIPPED = "permitry:"
_BUILT_IN = "built-in"


class _Origin(Protocol):
    """A rule file as it was loaded: how far it is trusted, and who could have written it."""

    @property
    def name(self) -> str: ...
    @property
    def text(self) -> str | None: ...
    @property
    def root(self) -> object: ...
    @property
    def is_admin(self) -> bool: ...
    @property
    def is_trusted(self) -> bool: ...
    @property
    def is_observed(self) -> bool: ...


@attrs.frozen
class RuleFile:
    """The name and the text of a rule file, and whose it is: `shipped`, `user`, `project` or `admin`.

    The permissions of one that is not trusted do not count, and nothing in one that `is_observed` is obeyed.
    """

    name: str
    text: str = attrs.field(repr=False)
    layer: str = "user"
    is_trusted: bool = True
    is_observed: bool = False

    @property
    def digest(self) -> str:
        """The SHA-256 of its bytes."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def to_dict(self) -> dict[str, object]:
        """Return the file as a record names it: without its text."""
        return {
            "name": self.name,
            "digest": self.digest,
            "layer": self.layer,
            "trusted": self.is_trusted,
            "observed": self.is_observed,
        }


class _RuleStore(Protocol):
    """A store that keeps the rules behind decisions as well."""

    def has_policy(self, version: str, /) -> bool:
        """Return whether the rules of a version are kept."""
        ...

    def keep_policy(self, version: str, files: Iterable[RuleFile], body: str, /) -> None:
        """Keep the rules of a version, with the record that names them."""
        ...


def keep_rules(
    store: object,
    version: str | None,
    policy: AuthorizationPolicy,
    context: AuthContext,
    line_of: Callable[[Mapping[str, object]], str],
) -> None:
    """Keep the rules behind a version in a store that keeps rules, once; `line_of` makes a record of an event.

    The version is that of the policy, or of what it becomes in a context or in one above. Of another one, such as that
    of the policy with grants, these rules are a part, and the record says so.
    """
    if version is None or not _keeps_rules(store) or store.has_policy(version):
        return
    every = [policy.within(each) for each in context.lineage()]
    exact = [each for each in every if each.version == version]
    behind = [*exact, *every][0]
    origins = cast("tuple[_Origin, ...]", behind.source_files)
    files = list(map(_rule_file, origins))
    fields = {
        "event": "policy",
        "policy_version": version,
        "files": [each.to_dict() for each in files],
        "code_rules": list(_rules_of_code(behind, {each.name for each in files})),
        "lists": sorted(context.lists or ()),
        "whole": bool(exact),
    }
    store.keep_policy(version, files, line_of(fields))


def _keeps_rules(store: object) -> TypeGuard[_RuleStore]:
    return hasattr(store, "keep_policy")


def _rule_file(origin: _Origin) -> RuleFile:
    trust = {"is_trusted": origin.is_trusted, "is_observed": origin.is_observed}
    return RuleFile(origin.name, origin.text or "", layer_of(origin), **trust)


def layer_of(origin: _Origin) -> str:
    """Return whose an origin is: `shipped`, `user`, `project` or `admin`."""
    if origin.name.startswith(_SHIPPED):
        return "shipped"
    if origin.is_admin:
        return "admin"
    if origin.root is not None:
        return "project"
    return "user"


def _rules_of_code(policy: AuthorizationPolicy, files: set[str]) -> Iterator[str]:
    """Yield the ids of rules that are neither built in nor in one of some files."""
    for rule in policy.rules:
        source = str(getattr(rule, "source", None))
        if source != _BUILT_IN and source.rpartition(":")[0] not in files:
            yield str(getattr(rule, "id", type(rule).__qualname__))
