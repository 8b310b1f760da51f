"""What tests of whole calls share: rules that allow everything but what their restrictions are about."""

from pathlib import Path

import attrs

from permitry.actions.extract import ReadActions
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision
from permitry.core.policy import AuthorizationPolicy

EVERYTHING = 'schema = 1\n[[rule]]\nid = "all"\neffect = "allow"\ntools = ["*"]\n'
PUSH = '[[rule]]\nid = "no-push"\neffect = "block"\nwhen.command = "git push *"\n'


def policy_of(rules: str | Path) -> AuthorizationPolicy:
    """Return the policy of a rule file, or of a shipped set; it looks at no disk."""
    return attrs.evolve(load_policy(rules), reader=ReadActions("/home/ann", has_disk=False))


def all_but(folder: Path, rules: str) -> AuthorizationPolicy:
    """Return a policy that allows everything but what the rules are about, which are written below `folder`."""
    file = folder / "rules.toml"
    file.write_text(EVERYTHING + rules, encoding="utf-8")
    return policy_of(file)


def decide(policy: AuthorizationPolicy, text: str) -> Decision:
    """Return the decision about a shell command in a workspace."""
    return policy.decide(ToolCall("run_shell", {"command": text}), AuthContext(workspace="/home/ann/project"))
