"""What a store needs of a database."""

import pytest
from tests.unit.store.conftest import Place, body

from permitry.errors import StoreError


@pytest.mark.parametrize(
    "statement", ["DELETE FROM chain", "UPDATE chain SET number = NULL", "UPDATE chain SET before = NULL"]
)
def test_a_chain_without_an_end_is_an_error(place: Place, statement: str) -> None:
    """It cannot be verified, nor go on."""
    place.change(statement)
    with pytest.raises(StoreError, match="damaged, or missing"):
        place.store.verify()
    if "before" not in statement:
        with pytest.raises(StoreError):
            place.store.append(body(6))
