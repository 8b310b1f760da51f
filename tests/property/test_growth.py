"""The work of a decision grows with the length of the command, and not faster.

What is counted are calls of functions, which are the same on every machine. Work inside one call is not seen; the time
bound in `test_parsers.py` is for that.
"""

import sys
from collections.abc import Callable
from types import FrameType

from tests.tables import for_each

from permitry import AuthContext, AuthorizationPolicy, ToolCall, load_policy
from permitry.actions.derive import script

_CONTEXT = AuthContext(workspace="/nowhere/space")
_POLICIES = {name: load_policy(f"permitry:{name}") for name in ("read-only", "coding-agent")}
_MANY = 100
_FORMS: dict[str, Callable[[int], str]] = {
    "pipeline": lambda count: " | ".join(["sort -u"] * count),
    "and": lambda count: " && ".join(["git status -s"] * count),
    "lines": lambda count: "ls src\n" * count,
    "words": lambda count: f"cat {'src/a ' * count}",
    "options": lambda count: f"ls {'-l ' * count}",
    "globs": lambda count: f"cat {'src/*.py ' * count}",
    "quoted pieces": lambda count: f"grep x {chr(39) * 2 * count}y",
    "quoted words": lambda count: "grep x " + "'a b' \"c d\" " * count,
    "redirections": lambda count: "cat " + "<in >/dev/null " * count,
    "written files": lambda count: "cat " + ">out " * count,
    "groups": lambda count: "(ls); { pwd; }; " * count,
    "wrappers": lambda count: "sh -c 'ls'; timeout 5 pwd; " * count,
    "here-documents": lambda count: "cat <<E\nx\nE\n" * count,
    "unknown programs": lambda count: "mystery src/a; " * count,
    "operands of an unknown program": lambda count: f"mystery {'src/a=b ' * count}",
    "refused": lambda count: "echo $(id); " * count,
    "cd after cd": lambda count: "cd sub; " * count + "ls",
    "cd and cd": lambda count: "cd sub && " * 5 * count + "ls",
    "cd elsewhere": lambda count: "".join(f"cd sub{at}; cat a; " for at in range(count)),
}


@for_each("name", _POLICIES)
@for_each("form", _FORMS)
def test_work_grows_with_the_length(name: str, form: str) -> None:
    """Twice the command is less than 2.6 times the work."""
    policy, make = _POLICIES[name], _FORMS[form]
    _work(policy, make(1))  # what is loaded on first use is loaded
    assert _work(policy, make(2 * _MANY)) < 2.6 * _work(policy, make(_MANY))


def _work(policy: AuthorizationPolicy, text: str) -> int:
    """Return how many functions are called for a decision."""
    count = 0
    vars(script.kept)["__wrapped__"].cache_clear()  # the work of reading a text that was not read before

    def note(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    call, before = ToolCall("run_shell", {"command": text}), sys.getprofile()
    sys.setprofile(note)
    try:
        policy.decide(call, _CONTEXT)
    finally:
        sys.setprofile(before)
    return count
