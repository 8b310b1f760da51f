"""What `import permitry` offers, and what it costs."""

import subprocess
import sys
import time

import permitry

MOST = 4.0


def seconds(*arguments: str) -> float:
    """Return how long one Python process takes."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True)
    return time.perf_counter() - begun


def test_every_public_name_is_there() -> None:
    """Each is loaded when it is first used, and is the same object afterwards."""
    for name in permitry.__all__:
        assert getattr(permitry, name) is getattr(permitry, name)
    assert dir(permitry) == sorted(permitry.__all__)


def test_another_name_is_an_error() -> None:
    """As of any module, and nothing is loaded for it."""
    assert not hasattr(permitry, "Decide")


def test_importing_loads_neither_pydantic_nor_rich() -> None:
    """The packages of the edges stay out until something at the edge is used."""
    code = "import permitry, sys; assert not {'pydantic', 'rich', 'asyncio'} & set(sys.modules), sorted(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_decision_needs_neither_pydantic_nor_rich() -> None:
    """Deciding is core and rules only."""
    code = (
        "import permitry, sys\n"
        "policy = permitry.create_default_authorization_policy()\n"
        "policy.decide(permitry.ToolCall('bash'), permitry.AuthContext())\n"
        "assert not {'pydantic', 'rich', 'asyncio'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_costs_at_most_four_bare_pythons() -> None:
    """The ratio of the best of several runs; both are measured in turn, so that noise hits both."""
    pairs = [(seconds("-I", "-c", "pass"), seconds("-c", "import permitry")) for _ in range(7)]
    bare, ours = (min(times) for times in zip(*pairs, strict=True))
    assert ours <= MOST * bare, f"{ours / bare:.1f} times a bare Python"
