"""Who uses the inbox in tests, and what they are asked."""

from permitry.channels.request import EffectLine
from permitry.core.origin import Origin
from permitry_ops.inbox.access import User
from permitry_ops.inbox.stored import Shown

ANN, BOB, EVE = User("ann", True), User("bob", True), User("eve", False)
QUESTION = Shown(
    "q1", "d1", "run_shell", {"command": "rm -r build", "count": 3}, "deletes files",
    rule="ask-rm", source="rules.toml:3", session="s1", agent="main", path="build", folder="/home/ann/p",
    age=200.0, left=90.0, preview="--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new", errors=("odd: failed",),
    effects=(EffectLine(0, "rm -r build"),),
    origins=(Origin("command", "rm -r build", ("look #2, field `task`",), is_said=False),),
    remember="do not ask again in this session",
    may_grant=True,
)  # fmt: skip
