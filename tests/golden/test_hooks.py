"""What `permitry:hooks` says about pushes: a branch for the usual remote is a question, all else is blocked."""

import pytest

from permitry.core.policy import AuthorizationPolicy
from tests.tables import for_each
from tests.whole_calls import decide, policy_of

ORDINARY = """
git push
git push origin
git push origin main
git push upstream HEAD
git push -u origin feature/x
git push --set-upstream origin feature/x
git push origin HEAD:refs/heads/sync
make && git push origin main
cd ../tool && git pull && git push
sudo git push
bash -c 'git push origin main'
"""
OTHERS = r"""
git push -f
git push --force-with-lease
git push origin main --force
git push -f origin main
git push -uf origin main
git push origin +main
git push origin "+HEAD:main"
git push origin :old
git push origin -d old
git push --delete origin old
git push --mirror
git push --all
git push --tags
git push origin main --tags
git push --prune origin
git push origin 'refs/heads/*'
git push origin refs/heads/*
git push origin main other
git push fork main
git push ../copy main
git push https://example.com/x.git main
git push git@example.com:x.git main
git push --repo=evil
git push --receive-pack=./x origin main
git push --exec ./x origin main
git push -o ci.skip origin main
git push origin "$BRANCH"
git push origin $(cat branch)
git push $REMOTE main
git -c remote.origin.url=evil push
git -c remote.pushDefault=evil push origin main
git --git-dir=../x push
GIT_SSH_COMMAND=./x git push
export GIT_DIR=x; git push
find . -exec git push origin {} +
git push && git push --force
git push origin main; npm publish
/opt/git push
"""


@pytest.fixture(scope="module")
def hooks() -> AuthorizationPolicy:
    """Return the set of hooks; it looks at no disk."""
    return policy_of("permitry:hooks")


@pytest.fixture(scope="module")
def publishing() -> AuthorizationPolicy:
    """Return the set that blocks every push."""
    return policy_of("permitry:publishing")


@for_each("command", ORDINARY.strip().splitlines())
def test_the_push_of_a_branch_is_asked_about(
    hooks: AuthorizationPolicy, publishing: AuthorizationPolicy, command: str
) -> None:
    """By the rule that says so, which no permission lifts; where publishing is left to the user it is blocked."""
    decision = decide(hooks, command)
    assert (decision.verdict.value, decision.rule_id, decision.phase.value) == ("confirm", "ask-push", "restriction")
    assert decide(publishing, command).verdict.value == "block"


@for_each("command", OTHERS.strip().splitlines())
@for_each("name", ["hooks", "publishing"])
def test_any_other_push_is_blocked(
    hooks: AuthorizationPolicy, publishing: AuthorizationPolicy, name: str, command: str
) -> None:
    """As are packages: what overwrites, deletes, is more than one branch, or goes elsewhere."""
    assert decide({"hooks": hooks, "publishing": publishing}[name], command).verdict.value == "block"


@for_each("command", ["git push --dry-run origin main", "git pull", "git commit -m 'git push'", "echo git push"])
def test_no_rule_is_about_what_pushes_nothing(hooks: AuthorizationPolicy, command: str) -> None:
    """It is left to the host."""
    assert decide(hooks, command).rule_id in (None, "read-only")
