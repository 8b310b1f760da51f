"""The pause of the garbage collector."""

import gc

from tests.tables import for_each

from permitry.config.load import without_collection


@for_each("was_enabled", [True, False])
@for_each("error", [None, ValueError])
def test_it_is_as_before_afterwards(error: type[Exception] | None, *, was_enabled: bool) -> None:
    """Also after an error, and where a host has switched it off."""
    (gc.enable if was_enabled else gc.disable)()
    try:
        with without_collection():
            assert not gc.isenabled()
            if error is not None:
                raise error
    except ValueError:
        pass
    finally:
        is_enabled = gc.isenabled()
        gc.enable()
    assert is_enabled is was_enabled
