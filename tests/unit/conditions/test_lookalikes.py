"""What the patterns of a restriction seem to mean and do not."""

from typing import Any

from tests.tables import for_each

from permitry.conditions.lookalikes import look_alikes
from permitry.config.conditions import scope_of
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict

_BELOW, _SUBDOMAIN = "is this one entry, and nothing below it", "is this one host, and no subdomain of it"


def _found(**when: Any) -> list[tuple[str, str, bool]]:  # noqa: ANN401 -- conditions as a file has them
    return [(each.reason, each.hint, each.is_likely) for each in look_alikes(scope_of((), when, None).when)]


@for_each(
    ("when", "reason", "hint", "is_likely"),
    [
        ({"command": ["git push"]}, "`git push` fits the command without any", "`git push *`", False),
        ({"path": ["secrets"]}, f"`secrets` {_BELOW}", "`secrets/**` next to it", True),
        ({"path": ["/srv/Data/"]}, f"`/srv/Data` {_BELOW}", "`/srv/Data/**` next", True),
        ({"path": ["~/.ssh"]}, f"`~/.ssh` {_BELOW}", "`~/.ssh/**` next", True),
        ({"path": ["Makefile"]}, f"`Makefile` {_BELOW}", "if it is a folder", False),
        ({"path": [".env"]}, "`.env` is in the workspace itself", "write `/**/.env`", True),
        ({"path": ["*.pem"]}, "`*.pem` is in the workspace itself", "write `/**/*.pem`", True),
        ({"command": ["git push.*"]}, "`git push.*` is compared letter by letter", "write `git push *`", True),
        ({"command": [r"rm\s+.*"]}, "is not a regular expression", "write `rm *`", True),
        ({"command": ["^git push"]}, "is not a regular expression", "write `git push *`", True),
        ({"command": ["*push*"]}, "`*push*` is the name of a program", "write `* ** *push* **`", True),
        ({"host": [".example.com"]}, "no host is called `.example.com`", "write `*.example.com`", True),
        ({"path": ["$HOME/x/**"]}, "`$HOME/x/**` is not expanded", "write `~/x/**`", True),
        ({"path": ["${HOME}/x"]}, "is not expanded", "write `~/x`", True),
        ({"path": ["$DATA/x"]}, "is not expanded", "from `/`, from `~/`", True),
        ({"path": ["%APPDATA%/x"]}, "is not expanded", "from `/`, from `~/`", True),
        ({"host": ["example.com"]}, f"`example.com` {_SUBDOMAIN}", "`*.example.com` next", True),
        ({"host": ["api.example.com"]}, f"`api.example.com` {_SUBDOMAIN}", "`*.api.example.com` next", False),
        ({"args": {"n": "<= 100"}}, "`<= 100` of `args.n` is compared as a text", "`when.args.n = { le = 100 }`", True),
        ({"args": {"n": ">0.5"}}, "is compared as a text", "`when.args.n = { gt = 0.5 }`", True),
        ({"args": {"o": {"to": {"eq": "*@a.org"}}}}, "`*@a.org` of `args.o.to` is compared letter by", "glob", True),
        ({"args": {"to": {"in": ["b", "*@a.org"]}}}, "the star as well", '{ glob = "*@a.org" }', True),
    ],
)
def test_a_pattern_that_seems_to_mean_more(when: dict[str, Any], reason: str, hint: str, *, is_likely: bool) -> None:
    """Why it does not, how that is written, and whether it is likely to be meant."""
    [(why, how, likely)] = _found(**when)
    assert reason in why
    assert hint in how
    assert likely is is_likely


@for_each(
    "when",
    [
        {"command": ["git push *", "*"]},
        {"command": [" ".join(["a"] * 32)]},
        # What they seem to mean would be no pattern.
        {"command": ["git {-f,a.*} x *", "git {-f,a.*}", "^a{b,c.*}"]},
        {"path": ["src/**", "a*.pem", "~", "/", "."]},
        {"host": ["*.example.com", "*", "private", "10.0.0.1", "[::1]"]},
        {"args": {"a": "x", "b": 3, "c": {"glob": "*"}, "d": {"eq": "*", "optional": True}, "e": {"in": [1, 2]}}},
        {"args": {"a": {"eq": "*", "ne": "b"}, "b": "!*", "c": "<= x"}, "mode": ["plan"]},
    ],
)
def test_a_pattern_that_means_what_it_says(when: dict[str, Any]) -> None:
    """Nothing is found in it."""
    assert _found(**when) == []


def test_what_is_written_as_well_is_not_likely_to_be_forgotten() -> None:
    """A folder and what is below it, a host and its subdomains."""
    assert [likely for *_, likely in _found(path=["a", "a/**"], host=["b.example", "*.b.example"])] == [False, False]


@for_each(("when", "tool", "seems", "other"))
def test_such_a_rule_is_a_near_miss(when: str, tool: str, seems: dict[str, Any], other: dict[str, Any]) -> None:
    """Where the call is what its pattern seems to mean, with what to write; for another call it is not."""
    policy = load_policy(f'schema = 1\n[[rule]]\nid = "no"\neffect = "block"\ntools = ["*"]\nwhen.{when}\n')
    is_comparable = "<3" not in when
    for arguments, is_near in ((seems, is_comparable), (other, False)):
        told = policy.explain(ToolCall(tool, arguments), AuthContext(workspace="/w"))
        assert told.decision.verdict is not Verdict.BLOCK
        [near] = [each.near_miss or "" for each in told.rules if each.rule_id == "no"]
        assert ("(write `" in near) is is_near
