"""How a permission reads matches: an effect must match exactly, and an exception takes back what it may match."""

import attrs
from tests.tables import for_each

from permitry.conditions.command import ArgvPattern
from permitry.conditions.path import PathPattern
from permitry.conditions.permit import cover, fits
from permitry.conditions.scope import Conditions
from permitry.config.load import load_rules
from permitry.core.action import Access, Action, Actions, Operands, Place, Roots, Run, Touch, Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.effects import Effect
from permitry.core.rule import Request

ACTIONS = Actions((), roots=Roots(("/w",), ("/home/u",)))
READ = Touch(Access.READ, Place("a", ("/w/a",), ("/w/a",)))
CAT = Conditions(commands=(ArgvPattern("cat *"),))


def _fits(conditions: Conditions, subject: Action, run: Run | None = None) -> bool:
    return fits(conditions, Effect(subject, run, ACTIONS))


def test_a_path_fits_with_its_access() -> None:
    """Another access, or a path that is not certain, does not surely fit."""
    conditions = Conditions(paths=(PathPattern("a"),), accesses=frozenset({Access.READ}))
    assert _fits(conditions, READ)
    assert not _fits(conditions, attrs.evolve(READ, access=Access.WRITE))
    assert not _fits(conditions, attrs.evolve(READ, place=attrs.evolve(READ.place, is_certain=False)))


@for_each(("is_listed", "is_fit"), [(True, True), (False, False)])
def test_a_program_fits_if_all_it_touches_is_known(*, is_listed: bool, is_fit: bool) -> None:
    """A condition on paths says nothing about what could not be read."""
    run = Run((Word("cat"), Word("a")), read_operands=lambda: Operands((READ,), is_listed=is_listed))
    assert _fits(attrs.evolve(CAT, paths=(PathPattern("a"),)), run) is is_fit


def test_a_redirection_is_not_covered_by_a_condition_on_commands() -> None:
    """Its file is an action of its own."""
    assert not _fits(CAT, attrs.evolve(READ, words=(Word("cat"),)))
    assert _fits(CAT, READ, Run((Word("cat"), Word("a"))))


def test_assignments_before_the_program_must_be_named() -> None:
    """They may make it do something else with the path."""
    assert not _fits(CAT, READ, Run((Word("cat"), Word("a")), sets=("PATH=bin",)))


@for_each(("unless", "covered"), [("b", {0}), ("*", set()), ("a", set())])
def test_an_exception_takes_back_what_it_may_match(unless: str, covered: set[int]) -> None:
    """Here a path that the program touches."""
    run = Run((Word("cat"), Word("a")), read_operands=lambda: Operands((READ,), is_listed=True))
    request = Request(ToolCall("t"), AuthContext(), reader=lambda *_: attrs.evolve(ACTIONS, certain=(run,)))
    assert cover(CAT, (Conditions(paths=(PathPattern(unless),)),), request) == covered


SPELLED = r"""
sudo rm * | sudo rm x | allow
sudo * | sudo rm x | confirm
sudo env * | sudo env rm x | confirm
sudo npm test | sudo -u x npm test | confirm
sudo bash x.sh | sudo bash x.sh | allow
timeout 60 * | timeout 60 rm x | confirm
timeout 60 npm test | timeout 60 npm test | allow
time make * | time make all | allow
nohup npm run dev * | nohup npm run dev | allow
env X=1 npm test * | env X=1 npm test | allow
env * npm test * | env PATH=/x npm test | confirm
env PATH=/x npm test * | env PATH=/x npm test | allow
npm test * | PATH=/x npm test | confirm
PATH=/x npm test * | PATH=/x npm test | allow
X=1 npm test * | X=1 npm test | allow
X=1 npm test * | npm test | confirm
X=1 npm test * | X=2 npm test | confirm
X=1 npm test * | X=1 Y=2 npm test | confirm
X=1 npm test * | PATH=/y; X=1 npm test | confirm
X=1 npm test * | X=$(ls) npm test | confirm
bash * | bash x.sh | allow
bash * | bash -x x.sh a b | allow
bash * | bash rm | confirm
bash * | bash -c foo | confirm
bash * | bash -ec foo | confirm
bash * | bash -c 'rm x' | confirm
bash * | bash $x | confirm
bash * | bash <(ls) | confirm
bash * | echo rm | bash | confirm
bash * | bash --init-file x foo | confirm
bash -c * | bash -c 'rm x' | confirm
bash -c 'npm test' | bash -c 'npm test' | allow
bash -c 'npm *' | bash -c 'npm test' | confirm
bash -c npm* | bash -c 'npm test; rm x' | confirm
bash x.sh * | bash x.sh $(rm y) | confirm
bash scripts/*.sh | bash scripts/t.sh | allow
/bin/zsh -lc 'npm test && tail' * | /bin/zsh -lc 'npm test && tail' | allow
/bin/zsh -lc 'npm test && tail' * | /bin/zsh -lc 'npm test && rm' | confirm
. * | . x | allow
npx * | npx foo | allow
npx * | npx eslint src | allow
npx * | npx -y foo | allow
npx * | npx -c foo | confirm
npx * | npx --call=foo | confirm
npx * | npx -p foo rm x | confirm
npx eslint * | npx eslint src | allow
npx eslint * | npx cowsay | confirm
uv run * | uv run foo | confirm
uv run pytest * | uv run pytest -q | allow
xargs rm * | ls | xargs rm | allow
xargs * | ls | xargs rm | confirm
find * | find . -exec rm {} + | confirm
git * | git -c core.pager=rm log | confirm
npx --yes eslint * | npx --yes eslint src | allow
ssh * | ssh host | confirm
ssh * | ssh -o ProxyCommand='rm x' host | confirm
bash * | bash /dev/stderr 2<<< 'rm x' | confirm
bash * | bash ../dev/fd/3 3<<< 'rm x' | confirm
bash * | cd /dev/fd; bash 3 3<<< 'rm x' | confirm
bash * | ls; bash x.sh | allow
bash * | sed -i s/a/b/ x.sh; bash x.sh | confirm
bash * | echo 'rm x' > x.sh; bash x.sh | confirm
bash * | bash -euo pipefail x.sh | confirm
xargs sudo * | echo rm x | xargs sudo | confirm
xargs npx * | echo rm x | xargs npx | confirm
npx * | npx $x | confirm
npx * | npx "$x" | confirm
npx * | npx r? | confirm
npx * | npx --package deploy --call deploy | confirm
npx * | npx node@20 -e x | confirm
. * | . x* | confirm
zsh * | zsh -3c deploy | confirm
fish * | fish -C deploy | confirm
pwsh * | pwsh -Command foo | confirm
nu * | nu -e 'rm x' | confirm
uvx * | uvx python3.11 -c x | confirm
uvx * | uvx pypy3 -c x | confirm
pnpm * | pnpm exec cargo publish | confirm
pnpm * | pnpm dlx foo | allow
pipx * | pipx run foo | allow
"""
RUN_BY_ANY = r"""
bash * | bash -c 'rm x; ls' | allow
sudo * | sudo rm x | allow
env * | env X=1 rm x | allow
env * | env PATH=/x rm x | confirm
bash * | echo rm | bash | confirm
bash * | bash -c 'echo x > f' | confirm
bash * | bash -c "$x" | confirm
sudo * | sudo $x | confirm
"""


def _rows(text: str) -> list[list[str]]:
    rows = (line.split(" | ", 1) for line in text.strip().splitlines())
    return [[pattern, *rest.rsplit(" | ", 1)] for pattern, rest in rows]


def _verdict(pattern: str, command: str, *keys: str) -> str:
    conditions = f"when.command = ['''{pattern}''', 'ls *', 'echo *']"
    lines = ("schema = 1", "[[rule]]", 'id = "r"', 'effect = "allow"', 'tools = ["@shell"]', *keys, conditions)
    policy = load_rules(["\n".join(lines) + "\n"]).policy()
    return policy.decide(ToolCall("run_shell", {"command": command}), AuthContext(workspace="/w")).verdict.value


@for_each(("pattern", "command", "verdict"), _rows(SPELLED))
def test_what_is_run_is_permitted_where_it_is_spelled_out(pattern: str, command: str, verdict: str) -> None:
    """A wildcard for it permits only a script or a package, of which nothing but the name is known."""
    assert _verdict(pattern, command) == verdict


@for_each(("pattern", "command", "verdict"), _rows(RUN_BY_ANY))
def test_a_rule_may_say_that_what_is_run_is_any(pattern: str, command: str, verdict: str) -> None:
    """What cannot be read, and what the shell itself writes, is no command that is run."""
    assert _verdict(pattern, command, "runs_any = true") == verdict


@for_each(("pattern", "unless", "command", "verdict"))
def test_an_exception_may_name_the_whole_line(pattern: str, unless: str, command: str, verdict: str) -> None:
    """It takes back what the pattern spells out."""
    assert _verdict(pattern, command, f"unless.command = ['''{unless}''']") == verdict


def test_a_restriction_sees_each_assignment_that_a_permission_does() -> None:
    """Of one pattern in both, the block counts."""
    rules = [("a", "allow"), ("b", "block")]
    keys = "tools = ['@shell']\nwhen.command = ['CI=1 npm test *']\n"
    text = "".join(f"[[rule]]\nid = '{name}'\neffect = '{effect}'\n{keys}" for name, effect in rules)
    policy = load_rules([f"schema = 1\n{text}"]).policy()
    call = ToolCall("run_shell", {"command": "CI=1 npm test"})
    assert policy.decide(call, AuthContext(workspace="/w")).rule_id == "b"
