"""Golden cases that are written down."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

ASKS = "This call needs the user's confirmation before it runs."
WANT = {"verdict": "confirm", "rule": None, "phase": "default", "message": ASKS}

Write: TypeAlias = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes the case `one`, a good one unless `changes` say otherwise."""

    def written(name: str = "one", **changes: object) -> Path:
        call = {"name": "write_file", "arguments": {"path": "a.txt"}}
        given = {"id": name, "why": "it is asked about", "call": call, "want": WANT, **changes}
        case = {key: value for key, value in given.items() if value is not None}
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(case))
        return path

    return written
