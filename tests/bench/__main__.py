"""The benchmark: permitry next to its peers, measured in one run, with equal answers checked first.

::

    python -m tests.bench [--only QUESTION]... [--quick] [--write]
    python tests/bench ...       the same, also where a package brings a folder `tests` of its own, as vakt does
"""

import runpy
import sys
import types
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]

if not __package__:
    # Started as a folder. A `tests` that some package has put into the environment must not be found for ours.
    tests = types.ModuleType("tests")
    tests.__path__ = [str(_ROOT / "tests")]
    sys.modules["tests"] = tests
    sys.path[0] = str(_ROOT)
    runpy.run_module("tests.bench", run_name="__main__", alter_sys=True)
else:
    from tests.bench.command import main

    if __name__ == "__main__":
        sys.exit(main())
