"""One rule that blocks pushing, and all else allowed: how much is asked about, and what does not run unasked."""

import json
import sys
from pathlib import Path

import pytest
from tests.tables import for_each
from tests.whole_calls import policy_of

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy

ONE_LINERS = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases" / "nl2bash.txt"
EVERYDAY = Path(__file__).resolve().parents[1] / "golden" / "ordinary_commands.jsonl"

# Each runs `git push` in bash, or does so for some value of a variable, some output, or some name of a file; or the
# text may change the variable that it has set.
DISGUISED = r"""
env FOO=1 git push
FOO=1 git push
$(echo git) push
git $(echo push)
git `echo push`
git ${X:-push}
git ${X}
git "$X"
git $X origin
git $(printf %s push) origin
x=push; git $x
x=push; git "$x"
x='push origin'; git $x
x=$(echo push); git $x
x=pu; git ${x}sh
g=git; $g push
g='git push'; $g
export x=push; git $x
read x <<< push; git $x
read -r a b <<< 'git push'; $a $b
for x in push; do git $x; done
for x in status push; do git "$x" origin; done
for g in git; do $g push; done
for x in pu*; do git $x; done
for x in $(echo push); do git $x; done
for x in push pull; do git ${x}; done
while read x; do git $x; done <<< push
echo push | while read -r x; do git "$x"; done
echo push | xargs git
echo git push | xargs -n 2 env
xargs git <<< push
xargs -I{} git {} <<< push
xargs -I{} sh -c '{}' <<< 'git push'
if true; then git push; fi
if git push; then :; fi
if false; then :; elif git push; then :; fi
while git push; do :; done
until git push; do :; done
case a in a) git push;; esac
case $(git push) in *) ;; esac
case push in x) x=y;; *) git ${0+push};; esac
git() { command git "$@"; }; git push
f() { git "$@"; }; f push
function f { git push; }; f
alias g='git push'; g
trap 'git push' EXIT
trap "git $x" EXIT
eval git push
eval "git $x"
eval $x
bash -c 'git push'
bash -c "git $x"
bash -c "$x"
bash -c 'git $0' push
bash -c '"$@"' _ git push
sh <<E␤git push␤E
sh <<E␤git $x␤E
bash <<< "$x"
cat <<E | sh␤git push␤E
cat <<E␤$(git push)␤E
cat <<< "$(git push)"
echo git push | sh
echo "$x" | bash
cat <(git push)
tee >(git push)
bash <(echo git push)
source <(echo git push)
. /dev/stdin <<< 'git push'
git push &
(sleep 1; git push) &
git {push,origin}
git {pu,pu}sh
{git,push}
git p\u\sh
git pu"s"h
git $'push'
git $'\x70ush'
g\it 'push'
git \␤ push
command git push
builtin command git push
exec git push
nohup git push &
time git push
! git push
timeout 5 git push
timeout $t git push
env -S 'git push'
env $x push
sudo $x push
sudo git $x
PATH=/opt:$PATH git push
IFS=_; x=git_push; $x
IFS=,; x=push,origin; git $x
BASH_ENV=x bash -c ls
x='-exec git push ;'; find . $x
find . $x
find . "$x" git push \;
find . -exec $x push \;
find . -exec git $x \;
i='a[$(git push)]'; echo $((i))
i='a[$(git push)]'; let i
i='a[$(git push)]'; [[ i -eq 1 ]]
i='a[$(git push)]'; echo ${a[i]}
i='a[$(git push)]'; declare -i j=i
[ -v $x ]
printf -v $x y
echo ${x@P}
echo ${!x}
git -c alias.p=push p
git -c "alias.p=$x" p
git -C . $x
git -C $x status
git rebase --exec "$x" main
git rebase $x
GIT_SSH_COMMAND='git push' git fetch
export GIT_PAGER='git push'; git log
PAGER="$x" git log
PS4='$(git push)'; set -x; ls
awk "BEGIN { system(\"$x\") }"
sed "$x" f
make $x
tar cf a $x
ssh $h ls
python3 -c "$x"
python3 $x
[[ -n $(git push) ]]
[ "$(git push)" ]
x=$(git push)
export x=$(git push)
x=`git push` ls
echo $(echo $(git push))
echo "${x:-$(git push)}"
echo "a $(git "$x") b"
ls > $(git push)
ls {a,$(git push)}
echo $(( $(git push) + 1 ))
coproc git push
select x in push; do git $x; done
set -- push; git "$@"
set -- push; git $1
shopt -s expand_aliases; alias ls='git push'; ls
x='a b'; git ${x% b}
git ${x/a/push}
x=PUSH; git ${x,,}
git "${x:-push}"
x=$'push'; git $x
git$IFS push
git${IFS}push
/usr/bin/git $x
ls & git push
case x in x) x=push;; esac; git $x
x=status; x=push; git $x
x=status; read x; git $x
x=status; read -r y x <<< 'a push'; git $x
x=status; mapfile x <<< push; git $x
x=status; printf -v x push; git $x
x=status; eval x=push; git $x
x=status; . ./f; git $x
x=status; unset x; git $x
x=status; for x in push; do :; done; git $x
x=status; : ${x:=push}; git $x
x=status; : $((x=1)); git $x
x=status; f() { x=push; }; f; git $x
x=status; trap 'x=push' DEBUG; git $x
x=status; declare x=push; git $x
x=status; export x=push; git $x
x=status; getopts push x; git $x
x=status; while read x; do :; done <<< push; git $x
x=status; ls ${y:-$(x=push)}; git $x
x=status; { x=push; }; git $x
x=status; if x=push; then git $x; fi
x=status; x=push git $x
x=status; true && x=push; git $x
x=status; IFS=t; git $x
x=status; coproc x=push; git $x
x=status; command read x <<< push; git $x
x=status; builtin read x <<< push; git $x
x=status; "read" x <<< push; git $x
x=status; re\ad x <<< push; git $x
x=status; {read,x} <<< push; git $x
x=status; read {x,y} <<< push; git $x
x=status; let x=1; git $x
x=status; select x in push; do git $x; break; done
x=status; wait -p x; git $x
x=status; time read x <<< push; git $x
x=status; ! read x <<< push; git $x
x=status; (( x = 1 )); git $x
x=status; [[ a =~ (a) ]]; git $BASH_REMATCH
set push; git $1
git $_
echo push; git $_
x=push; git "$x"; x=b
y=x; x=push; git ${!y}
declare -n x=y; y=push; git $x
cd /tmp; git $OLDPWD
PWD=push; cd /; git $PWD
for i in a push; do git $i; done
for i in {push,pull}; do git $i; done
for i in $(seq 3) push; do git $i; done
for i in "$@"; do git "$i"; done
xargs -a f git
find . -name '*' -exec git {} \;
find . -exec sh -c 'git $1' _ push \;
find . -exec sh -c '$0 push' git \;
parallel git ::: push
env git $x
env "$x" push
nice git $x
bash -c "git pu$x"
bash -c 'git $x'
bash -c 'x=push; git $x'
ssh localhost git push
cat f | while read a; do git $a; done
git stash && git $(cat f)
[ -f x ] && git `cat f`
cat <(bash -c "$x")
diff <(git $x) a
$(cat f)
$(<f)
`cat f`
ls $(bash f$(git push))
exec 3< <(git push)
while IFS= read -r l; do $l; done < f
while IFS= read -r l; do eval "$l"; done < f
while IFS= read -r l; do bash -c "$l"; done < f
echo "$(git push)" > f
cat <<< `git push`
git commit -m "$(git push)"
git commit --amend && git ${y-push}
make -f <(echo 'a:; git push')
sed -f <(echo e) f
printf '%s' a | git $x
test $(git push)
A=$(git push) ls
echo ${x:+$(git push)}
echo ${x#$(git push)}
echo "${x%`git push`}"
echo $'\''; git push #'
echo $"$(git push)"
echo $[$(git push)]
ls | while read f; do git $f; done
ls | while read -r f; do git "$f" origin; done
ls | while read f; do eval "$f"; done
ls | while read f; do sh -c "$f"; done
find . | while read f; do $f; done
find . | while read f; do . "$f" push; done < a
ls | while read f; do env $f push; done
ls | while read f; do sed "$f" a; done
ls | while read f; do awk "$f" a; done
ls | while read f; do find . $f; done
make $(ls)
npm $(ls)
ls | tee >(bash)
ls | tee >(git $x)
if true; then alias ls='git push'; fi; ls
x=(a push); git ${x[1]}
x[0]=push; git $x
git ${x[0]}
hash -p /usr/bin/git ls; ls push
enable -f x git; git $x
"""


@pytest.fixture(scope="module")
def policy(all_but_push: Path) -> AuthorizationPolicy:
    """Return the policy; it looks at no disk."""
    return policy_of(all_but_push)


def asked(policy: AuthorizationPolicy, lines: list[str]) -> list[str]:
    """Return the commands that are asked about."""
    context = AuthContext(workspace="/home/ann/project")
    decisions = policy.decide_many([ToolCall("run_shell", {"command": line}) for line in lines], context)
    return [line for line, each in zip(lines, decisions, strict=True) if each.verdict is Verdict.CONFIRM]


@for_each("line", DISGUISED.strip().splitlines())
def test_no_disguised_push_runs_unasked(policy: AuthorizationPolicy, line: str) -> None:
    """Whatever a variable, an output or a name may hold."""
    call = ToolCall("run_shell", {"command": line.replace("␤", "\n")})
    decision = policy.decide(call, AuthContext(workspace="/home/ann/project"))
    assert decision.verdict is not Verdict.ALLOW


@for_each(
    "line", ["bash a.sh", "sh ./a.sh b 'c d'", "bash -eux a.sh", "bash -euo pipefail a.sh", "dash -- a.sh; echo a"]
)
def test_a_shell_runs_a_file_like_one_that_is_named_alone(policy: AuthorizationPolicy, line: str) -> None:
    """What is in the file is as unknown as that of `./a.sh`."""
    assert asked(policy, [line, "./a.sh"]) == []


def test_few_everyday_commands_are_asked_about(policy: AuthorizationPolicy) -> None:
    """Those that developers and agents type; it was 11.2 % before open words."""
    lines = [json.loads(line)["command"] for line in EVERYDAY.read_text(encoding="utf-8").splitlines()]
    found = asked(policy, lines)
    sys.stdout.write(f"asked about {len(found)} of {len(lines)} everyday commands ({len(found) / len(lines):.1%})\n")
    assert len(found) / len(lines) < 0.02


def test_few_published_one_liners_are_asked_about(policy: AuthorizationPolicy) -> None:
    """Those that people wrote; it was 24.0 % before open words."""
    if not ONE_LINERS.exists():
        pytest.skip("the shared cases are not here")
    lines = ONE_LINERS.read_text(encoding="utf-8").splitlines()
    found = asked(policy, lines)
    sys.stdout.write(f"asked about {len(found)} of {len(lines)} one-liners ({len(found) / len(lines):.1%})\n")
    assert len(found) / len(lines) < 0.11
