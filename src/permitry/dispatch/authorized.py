"""`AuthorizedCall`: the only thing the registry runs, and the table of those that have not run."""

import os
import weakref
from typing import Generic, NoReturn, TypeVar

from permitry.errors import ReplayError

__all__ = ["Authorizations", "AuthorizedCall"]

Authorized = TypeVar("Authorized")


class AuthorizedCall:
    """A call that may run once: created after a decision, redeemed where it was created.

    It cannot be built, copied or pickled. What runs is what was authorized: `Authorizations` keeps the call itself and
    looks it up by this object's identity, so nothing written onto the object matters.
    """

    __slots__ = ("__weakref__",)

    def __init__(self) -> None:
        raise TypeError("an AuthorizedCall is created by a Guard, never built")

    def __copy__(self) -> NoReturn:
        raise TypeError("an AuthorizedCall cannot be copied")

    def __deepcopy__(self, memo: object) -> NoReturn:
        raise TypeError("an AuthorizedCall cannot be copied")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("an AuthorizedCall cannot be pickled")


class Authorizations(Generic[Authorized]):
    """What was authorized and has not run, by the identity of its `AuthorizedCall`. Thread-safe."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        # By identity: the token, the process that created it, and what it gives.
        self._kept: dict[int, tuple[weakref.ref[AuthorizedCall], int, Authorized]] = {}

    def create(self, authorized: Authorized) -> AuthorizedCall:
        """Return a new object that gives `authorized` once; without it, that is dropped."""
        token = object.__new__(AuthorizedCall)
        key = id(token)
        kept = self._kept
        # Forgotten with its token.
        kept[key] = weakref.ref(token, lambda _: kept.pop(key, None)), os.getpid(), authorized
        return token

    def __contains__(self, token: AuthorizedCall) -> bool:
        """Return whether `redeem` would give what was authorized."""
        found = self._kept.get(id(token))
        # A fork copies the entry as well; the authorization stays with the process that got it.
        return found is not None and found[0]() is token and found[1] == os.getpid()

    def redeem(self, token: AuthorizedCall) -> Authorized:
        """Return what was authorized, once, where it was created; `ReplayError` for any other object."""
        if token not in self:
            raise ReplayError("this call was not authorized here, or has already run")
        # The pop is atomic: of two threads with one token, one gets the entry. The entry is removed when the token is
        # destroyed, and so before another object can have the token's id.
        found = self._kept.pop(id(token), None)
        if found is None:
            raise ReplayError("this call has already run")
        return found[2]
