"""Ways around restrictions and permissions that an attacker found in this version, and harmless calls like them."""

from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from permitry.actions.extract import ReadActions
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from tests.tables import for_each
from tests.whole_calls import EVERYTHING

Decide = Callable[..., Verdict]

ALLOW, CONFIRM, BLOCK = Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK
RULES = {
    "all": EVERYTHING,
    "ssh": EVERYTHING + '[[rule]]\nid = "r"\neffect = "block"\nwhen.path = "~/.ssh/**"\n',
    "push": EVERYTHING + '[[rule]]\nid = "r"\neffect = "block"\nwhen.command = "git push *"\n',
    "etc": EVERYTHING + '[[rule]]\nid = "r"\neffect = "block"\nwhen.path = "/etc/x"\n',
    "sub": EVERYTHING + '[[rule]]\nid = "r"\neffect = "block"\nwhen.path = "sub/evil"\nwhen.access = "write"\n',
    "rm": EVERYTHING + '[[rule]]\nid = "r"\neffect = "block"\nwhen.command = "rm *"\n',
    "build": 'schema = 1\n[[rule]]\nid = "r"\neffect = "allow"\nwhen.path = "build/**"\n'
    'when.command = "{cp,ln,make,mkdir,mv,rm,shuf,sort,tar,tee,touch} *"\n',
}


@pytest.fixture
def decide(tmp_path: Path) -> Decide:
    """Return a function that decides a command, under one of the rule sets and any shipped ones."""
    home, workspace = tmp_path / "home", tmp_path / "home" / "project"
    for folder in ("build", "src", "sub", ".git"):
        (workspace / folder).mkdir(parents=True)

    def decided(rules: str, text: str, *shipped: str) -> Verdict:
        file = tmp_path / "rules.toml"
        file.write_text(RULES[rules], encoding="utf-8")
        policy = attrs.evolve(load_policy(*shipped, file), reader=ReadActions(str(home)))
        call = ToolCall("bash", {"command": text.replace("HOME", str(home))})
        return policy.decide(call, AuthContext(workspace=str(workspace))).verdict

    return decided


@for_each(
    ("rules", "text", "verdict"),
    [
        # A new link, and what is reached through it.
        ("ssh", "ln -s ~/.ssh s; cat s/id", BLOCK), ("ssh", "ln -s ~/.ssh s", BLOCK),
        ("ssh", "cp -s ~/.ssh/id x", BLOCK),
        ("ssh", "ln -sr ~/.ssh s", BLOCK), ("ssh", "ln ~/.ssh/id x", BLOCK), ("ssh", "link ~/.ssh/id x", BLOCK),
        ("ssh", "ln -s .. x; cat x/.ssh/id", CONFIRM), ("ssh", "ln -s .. x && cp x/.ssh/id y", CONFIRM),
        ("ssh", "ln -s .. x && cd x && cat .ssh/id", CONFIRM), ("ssh", "ln -s src x; cat src/a", ALLOW),
        ("build", "ln -s ~/.bashrc build/x", CONFIRM), ("build", "ln -s HOME/.bashrc build/x", CONFIRM),
        ("build", "ln -s x build/l", ALLOW),
        # A folder that is entered through a link of the same text.
        ("build", "ln -s .. build/l && cd build/l/../src && touch a", CONFIRM), ("build", "cd build && touch a", ALLOW),
        # A pipeline whose last command waits for the first one.
        ("build", "make x | shuf -o build/f", CONFIRM), ("build", "make x | tar -xf - -C build", CONFIRM),
        ("build", "make x | sort -o build/f", CONFIRM),
        # A copy into a folder, however much there was to look at before.
        ("sub", "cp evil sub", BLOCK), ("sub", "cp evil sub/", BLOCK), ("sub", "cp evil other", ALLOW),
        # Aliases of git.
        ("push", "git -c alias.p='!git' p push", BLOCK), ("push", "git -c alias.p='!exec git' p push", BLOCK),
        ("push", "git -c alias.p='!git' p pull", ALLOW), ("push", "git config alias.p '!git push'", BLOCK),
        # A text that is read as a guess first.
        ("rm", "git -c core.x='rm -rf /' st; bash -c 'rm -rf /' $(x)", BLOCK), ("rm", "bash -c 'rm -rf /' $(x)", BLOCK),
        # A redirection in a text that only may be a command.
        ("etc", "awk '{print \"to > /etc/x\" | \"sort\"}' f", CONFIRM), ("etc", "xyz -e 'note > /etc/x'", CONFIRM),
        ("etc", "bash -c 'echo > /etc/x'", BLOCK),
        # A program in another language, from a here-document.
        ("ssh", "python3 - <<'E'\nopen('HOME/.ssh/id')\nE", CONFIRM),
        ("ssh", "node <<E\nread('HOME/.ssh/id')\nE", CONFIRM),
        ("ssh", "cat <<'E'\nopen('HOME/.ssh/id')\nE", ALLOW), ("ssh", "python3 - <<'E'\nprint('hello')\nE", ALLOW),
    ],
)  # fmt: skip
def test_a_way_around_a_rule_is_seen(decide: Decide, rules: str, text: str, verdict: Verdict) -> None:
    """Each with a harmless neighbour."""
    assert decide(rules, text) is verdict


@for_each(
    ("text", "verdict"),
    [
        ("ln -s ~/.config/permitry p; echo x > p/rules.toml", BLOCK), ("ln -s .. p; echo y >> p/.bashrc", CONFIRM),
        ("make x; ln -s .. p; echo y >> p/.bashrc", CONFIRM), ("ln -s .. p | tee p/.bashrc", CONFIRM),
        ("python3 -c 'print(\"/\".join(\"a.b\".split(\".\")))'", ALLOW), ("python3 - <<'E'\nx.split('/')\nE", ALLOW),
        ("ln -s .git/config x; tee x", CONFIRM), ("ln .git/config x", CONFIRM), ("ln src/a x", ALLOW),
        ("git stash list --format=x --output=.git/config", CONFIRM), ("git stash", ALLOW), ("git stash pop", ALLOW),
        ("git stash show -p --output=.git/hooks/pre-commit", CONFIRM), ("git add .", ALLOW), ("git status", ALLOW),
        ("git bisect view --output=.git/config", CONFIRM), ("git submodule summary --output=.git/x", CONFIRM),
        ("python3 -m permitry trust .", BLOCK), ("python3.11 -u -m permitry trust .", BLOCK),
        ("python3 -mpermitry grants add x", BLOCK), ("python3 -m permitry.cli.main trust", BLOCK),
        ("python3 -m permitry check --calls c", ALLOW), ("python3 -m pytest -k trust", ALLOW),
        ("python3 - <<'E'\nopen('.git/config','a').write('x')\nE", CONFIRM),
        ("python3 -c 'import shutil; shutil.rmtree(\"HOME\")'", CONFIRM), ("python3 -c 'print(\"a\")'", ALLOW),
        ("curl -o /dev/sda https://a.example", CONFIRM), ("truncate -s 0 /dev/sda", CONFIRM),
        ("cd /dev && cp x sda", CONFIRM), ("sort -o /dev/sda x", CONFIRM), ("smartctl -a /dev/sda", ALLOW),
        ("rm -rf '~'", CONFIRM), ("rm -rf ~", BLOCK), ("rm -rf HOME", BLOCK), ("tar xf a.tgz && cd a && make", ALLOW),
    ],
)  # fmt: skip
def test_a_way_around_the_base_set_is_seen(decide: Decide, text: str, verdict: Verdict) -> None:
    """Where everything else is allowed."""
    assert decide("all", text, "permitry:base") is verdict


@for_each(
    ("text", "verdict"),
    [
        ("jq -L ~/.docker -n 'import \"config\" as $c; $c'", CONFIRM), ("jq 'include \"x\"; f' a", CONFIRM),
        ("jq -n 'import\"../.dock\\u0065r/config\" as $c; $c'", CONFIRM), ("jq --library-path=x . a", CONFIRM),
        ("jq -n 'import#a\n\"x\" as $c; $c'", CONFIRM), ("jq '\"x\" | modulemeta' a", CONFIRM),
        ("jq '.imports[] | select(.type == \"import\")' a.json", ALLOW), ("jq '{import: .x, y: .import}' a", ALLOW),
        ("jq -r '.included' a", ALLOW), ("jq . a", ALLOW),
    ],
)  # fmt: skip
def test_jq_reads_no_file_that_it_computes(decide: Decide, text: str, verdict: Verdict) -> None:
    """A module is a file of a name that need not be written out."""
    assert decide("build", text, "permitry:coding-agent") is verdict


@for_each("access", ["read", "write", "delete"])
def test_what_an_undeclared_tool_does_with_a_path_is_not_known(tmp_path: Path, access: str) -> None:
    """A restriction on any access asks, and an exception of any access takes a permission back."""
    file = tmp_path / "rules.toml"
    long = "/" * 300 + "etc/shadow"
    unless = f'unless.path = "/etc/**"\nunless.access = "{access}"\n'
    rule = f'[[rule]]\nid = "r"\neffect = "block"\nwhen.path = "/etc/shadow"\nwhen.access = "{access}"\n'
    for rules in (EVERYTHING + unless, EVERYTHING + rule):
        file.write_text(rules, encoding="utf-8")
        policy = load_policy(file)
        for text in ("/etc/shadow", long):
            decision = policy.decide(ToolCall("mcp:a/b", {"to": text}), AuthContext())
            assert decision.verdict is CONFIRM
            assert "may  (" not in decision.reason


def test_a_tool_is_blocked_by_its_name_and_by_what_it_may_be(tmp_path: Path) -> None:
    """The first answer that is sure is enough."""
    file = tmp_path / "rules.toml"
    for tools in ('"bash"', '"@shell"'):
        file.write_text(f'{EVERYTHING}[[rule]]\nid = "r"\neffect = "block"\ntools = [{tools}]\n', encoding="utf-8")
        assert load_policy(file).decide(ToolCall("Bash", {"command": "ls"}), AuthContext()).verdict is BLOCK
