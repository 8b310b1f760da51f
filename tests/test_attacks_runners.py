"""Ways to run a command, or to touch a file, through another program, and harmless calls like them."""

from collections.abc import Callable

import pytest

from permitry.core.decision import Verdict
from tests import whole_calls
from tests.tables import for_each

Decide = Callable[[str, str], Verdict]

ALLOW, CONFIRM, BLOCK = Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK
RULES = {
    "push": 'when.command = "git push *"\n',
    "git": 'when.path = "**/.git/**"\nwhen.access = "write"\n',
    "ssh": 'when.path = "~/.ssh/**"\n',
}


@pytest.fixture(scope="module")
def decide(tmp_path_factory: pytest.TempPathFactory) -> Decide:
    """Return a function that decides a command where everything is allowed but what one restriction is about."""
    folder = tmp_path_factory.mktemp("rules")
    policies = {
        name: whole_calls.all_but(folder, f'[[rule]]\nid = "r"\neffect = "block"\n{rule}')
        for name, rule in RULES.items()
    }
    return lambda rules, text: whole_calls.decide(policies[rules], text).verdict


@for_each(
    ("rules", "text", "verdict"),
    [
        # Options of zsh may be digits.
        ("push", "zsh -4c 'git push'", BLOCK), ("ssh", "zsh -f4c 'cat ~/.ssh/id'", BLOCK),
        # What `sed` runs.
        ("push", "echo git push | sed e", CONFIRM), ("push", "echo git push | sed -n 1e", CONFIRM),
        ("push", "sed 's/x/y/e' f", CONFIRM), ("push", "sed 'sxaxgit pushxe' f", CONFIRM),
        ("push", "sed '$!{N;s,a,b,ge;}' f", CONFIRM), ("push", "sed '1e git push' f", BLOCK),
        ("push", "gsed -s 's/a/b/;e git push' f", BLOCK), ("push", "/bin/sed --expr 'e git push' f", BLOCK),
        ("push", "sed 's/a/b\\\nc/;e git push' f", BLOCK), ("push", "sed '\\cacegit push' f", BLOCK),
        ("push", "sed p f -e 'e git push'", BLOCK), ("push", "sed -e 'a\\' -e 'x' -e 'e git push' f", BLOCK),
        ("push", "find . -name x -exec sed 'e git push' {} \\;", BLOCK), ("push", "sed '1e g\\it push' f", CONFIRM),
        ("push", "echo 'e git push' | sed -f - f", CONFIRM), ("push", "echo 'e git push' | xargs sed", CONFIRM),
        ("push", "sed -f - f <<'E'\ne git push\nE", BLOCK), ("push", "ls | xargs -I% sed 's/%/x/' f", CONFIRM),
        ("push", "sed 's/a/b/@' f", CONFIRM), ("push", "sed 'a\\\ne git push' f", ALLOW),
        ("push", "sed -i '1i git push' f", ALLOW), ("push", "sed '/e git push/d' f", ALLOW),
        ("push", "sed -f - f <<'E'\ns/a/b/\nE", ALLOW), ("push", "ls | xargs sed -i 's/a/b/'", ALLOW),
        ("push", "sed -i '' 's/[^/]*$//' f", ALLOW), ("push", "sed -f x.sed f", ALLOW),
        # What it writes and reads.
        ("git", "sed 'sxaxbxw.git/config' f", BLOCK), ("ssh", "sed '\\cacr../.ssh/id' f", BLOCK),
        ("git", "sed 's a b gw .git/config' f", BLOCK), ("git", "sed 's,[,],x,w .git/config' f", BLOCK),
        ("git", "gsed -ne 'w .git/config' f", BLOCK), ("git", "sed -i '' 'w .git/config' f", BLOCK),
        ("git", "sed p f -e 'w .git/config'", BLOCK), ("git", "sed 'e ls\nw .git/config' f", BLOCK),
        ("git", "sed 'w .git/config' f -e p", BLOCK),
        ("git", "sed -f- f <<'E'\nw .git/config\nE", CONFIRM), ("git", "sed -f - f <<'E'\nw .git/config\nE", BLOCK),
        ("git", "sed 's/a/b/@w .git/config' f", CONFIRM), ("git", "sed 's/w .git/config/x/' f", CONFIRM),
        ("git", "sed 's|w .git/config|x|' f", ALLOW), ("git", "sed 'a\\\nw .git/config' f", ALLOW),
        ("git", "sed -n '/w .git/p' f", ALLOW), ("git", "sed -i '$a w .git/config' f", ALLOW),
        ("ssh", "sed 'i r ../.ssh/id' f", ALLOW), ("ssh", "sed 'R ../.ssh/id' f", BLOCK),
    ],
)  # fmt: skip
def test_a_script_of_sed_is_seen_through(decide: Decide, rules: str, text: str, verdict: Verdict) -> None:
    """What cannot be read asks; a text, a pattern and a message do nothing."""
    assert decide(rules, text) is verdict


GIT = """
block | git-push origin main
block | /usr/lib/git-core/git-push
block | git-push
block | sudo git-push -f
block | bash -c 'git-push'
block | git for-each-repo --config=x push
block | git for-each-repo --keep-going --config x push origin
block | git clone -u 'git push' x y
block | git clone -qu 'git push' x y
block | git clone --upload-pack='git push' x
block | git fetch --upload-pack 'git push' x
block | git ls-remote 'ext::git push'
block | git clone 'ext::sh -c git% push% x' y
allow | git-lfs pull
allow | git-absorb push
allow | man git-push
allow | git push-all
allow | git for-each-repo --config=maintenance.repo maintenance run
allow | git clone -b u --depth 1 x
allow | git clone -q x push
allow | git fetch -u origin
allow | git clone ext::x
"""
ENVIRONMENT = """
block | export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0='!git push'; git p
block | export GIT_SSH_COMMAND='git push'; git fetch
block | env PAGER='git push' man x
block | LESSOPEN='|git push %s' less f
confirm | export GIT_CONFIG_PARAMETERS="'alias.p=push'"; git p
confirm | export LD_PRELOAD=./x.so; ls
confirm | LD_PRELOAD=./x.so ls
confirm | env LD_AUDIT=./x.so ls
confirm | export PYTHONSTARTUP=x.py; python3
confirm | export BASH_ENV=x; bash -c ls
confirm | export NODE_OPTIONS='--require ./x.js'; node y.js
confirm | export NODE_OPTIONS='--import=data:text/javascript,x'; npm test
confirm | export PERL5OPT=-Mx; perl y
confirm | export RUBYOPT=-rx; ruby y
confirm | export MAKEFLAGS='--eval=$(shell git push)'; make
confirm | export TAR_OPTIONS='--to-command=git\\ push'; tar xf a
confirm | export FZF_DEFAULT_OPTS='--preview "git push"'; fzf
confirm | export ENV='$(git push)'; ksh
confirm | declare -x RUSTC_WRAPPER='git push'; cargo build
confirm | export npm_config_script_shell='git push'; npm test
confirm | export SHELL='git push'; vim f
allow | export NODE_OPTIONS=--max-old-space-size=4096; npm run build
allow | export MAKEFLAGS=-j8; make
allow | export RUBYOPT=-W0; ruby x.rb
allow | export ENV=production; npm start
allow | export LD_PRELOAD=; ls
allow | export GREETING='hello world'; make
"""
WRAPPED = """
block | bwrap --bind / / git push
block | bwrap --ro-bind /usr /usr --symlink usr/lib /lib --setenv A b --proc /proc --dev /dev --unshare-all git push
block | bwrap --die-with-parent --dev-bind / / --chdir /x bash -c 'git push'
block | flatpak-spawn --host git push
block | flatpak-spawn --env=A=b --watch-bus --directory=/x git push
confirm | flatpak run --command=git org.x.App push
block | systemd-inhibit --what sleep --why 'a b' git push
block | systemd-inhibit git push
block | systemd-run --user --unit x git push
block | rr record -n git push
block | rr record git push
block | setarch -R git push
block | setarch --addr-no-randomize git push
block | ls src | xargs -x git push
block | ls src | xargs -0x git push
block | ls src | xargs -iI git push
block | ls src | xargs -lL git push
block | watch -dn git push
block | dtach -c s -E git push
block | cpulimit -l 5 -c 1 git push
block | tsp -E git push
block | runcon a:b:c git push
block | runcon -t a_t git push
block | bwrap --overlay a b c git push
block | chrt -o git push
block | chrt -r 5 git push
block | softlimit -m 9 git push
block | prlimit -n5 git push
confirm | podman exec -l git push
confirm | kubectl exec -f p.yaml git push
block | setarch x86_64 -R git push
block | tox exec -- git push
block | tox -e py exec -e py -- git push
block | ncat -c 'git push' h 1
block | ncat --sh-exec 'git push' -l 1
block | nc -lc 'git push' 1
confirm | socat - EXEC:'git push',pty
confirm | socat TCP-LISTEN:1 system:'git push'
confirm | socat - 'TCP:h:1!!SHELL:git push'
confirm | gh codespace ssh -c x -- git push
confirm | gh cs ssh 'git push'
confirm | gh alias set p '!git push'
confirm | gh alias set --shell p 'git push'
confirm | docker run --rm -v a:b img git push
confirm | docker exec -it c bash -c 'git push'
confirm | docker compose exec app git push
confirm | docker run --network host --entrypoint git img push
confirm | podman run --entrypoint=git img push
confirm | kubectl exec pod -- git push
confirm | kubectl exec pod git push
confirm | oc exec pod -- git push
block | script -qc 'git push' /dev/null
block | watch -n 1 -d git push
block | flock -n x git push
block | parallel 'git push' ::: a
block | find . | entr git push
confirm | find . | entr -s 'git push'
block | ls | xargs -I{} git push {}
confirm | ls | xargs -I % git %
allow | bwrap --ro-bind / / --tmpfs /git ls push
allow | systemd-inhibit --who 'git push' make
allow | setarch -R ./a.out
allow | tox -e push
allow | socat - TCP:git:80
allow | nc -zv git 80
allow | gh pr create --title 'git push works'
allow | gh alias set co 'pr checkout'
allow | docker run --rm -v git:push img npm test
allow | docker run --entrypoint sh img -c 'npm test'
allow | kubectl exec pod -- ls
allow | flatpak run org.x.App
"""
LANGUAGES = """
confirm | make --eval 'x:; git push' x
confirm | make --eval='$(shell git push)'
confirm | make -E 'x:; git push'
confirm | make SHELL='git push'
confirm | make 'X:=$(shell git push)' all
confirm | gmake 'X=${shell git push}'
confirm | make CC='git push'
confirm | expect -c 'spawn git push; interact'
confirm | expect -c 'if {1} {exec git push}'
confirm | expect -c 'puts [exec git push]'
confirm | expect <<< 'spawn git push'
confirm | echo 'system git push' | expect -
confirm | sqlite3 db '.shell git push'
confirm | sqlite3 -cmd '.sys git push' db
confirm | sqlite3 db '.import "|git push" t'
confirm | sqlite3 db '.output |git push'
confirm | sqlite3 db <<'E'\\n.shell git push\\nE
confirm | echo '.sh git push' | sqlite3 db
confirm | psql -c '\\! git push'
confirm | psql --command='select 1 \\! git push'
confirm | psql -c "copy t to program 'git push'"
confirm | psql <<'E'\\n\\! git push\\nE
confirm | printf '%s' '\\! git push' | psql db
confirm | psql -c '\\set x `git push`'
confirm | mysql -e 'system git push'
confirm | mariadb -e '\\! git push'
allow | make CFLAGS='-O2 -g' all
allow | make VERSION=1.2 push
allow | make -j4 git push
allow | expect -c 'puts {git push}'
allow | expect push.exp
allow | sqlite3 db 'select * from push'
allow | sqlite3 db .schema
allow | echo 'select 1;' | sqlite3 db
allow | echo 'git push' | psql
allow | psql -c "select 'git push'"
allow | psql -c 'select `git push`'
allow | psql < git.sql
allow | echo '.shell git push' | cat
"""


@for_each("line", [line for table in (GIT, ENVIRONMENT, WRAPPED, LANGUAGES) for line in table.split("\n") if line])
def test_a_blocked_command_does_not_run_through_another_program(decide: Decide, line: str) -> None:
    """It is blocked where it certainly runs, and asked about in another language and in a container."""
    verdict, _, text = line.partition(" | ")
    assert decide("push", text.replace("\\n", "\n")).value == verdict


HIDDEN = r"""
gi{t..t..1} push
git pus{h..h..1}
gi{t..u..2} push
gi{t..v..0} push
git{1..99999} push
touch ./-exec; find . -exe[c] git push \;
find . -* git push \;
x=status; echo push | xargs -I "$x" git status
m=tatus; echo push | xargs -Is"$m" git status
echo push | xargs -rIstatus git status
echo push | xargs --repl=status git status
strace -o '|git push' true
strace -o '!git push' true
sudo GIT_SSH_COMMAND='git push' git fetch
strace -E GIT_PAGER='git push' git log
systemd-run --user -p ExecStartPre='git push' ls
systemd-cat -t x git push
perf trace git push
fakechroot git push
machinectl shell .host /usr/bin/git push
kitty git push
cmd.exe /c git push
cmd /C git push
genv -S 'git push'
gtimeout 5 git push
echo push | gxargs git
gfind . -name x -exec git push \;
gcp /usr/bin/git x; ./x push
hyperfine --cleanup='git push' ls
mispipe 'git push' ls
ansible localhost -m shell -a 'git push'
apt-get -o DPkg::Pre-Invoke='git push' install y
dpkg --pre-invoke='git push' -i a
lldb -o 'platform shell git push'
sops exec-env f 'git push'
apt-get --option=APT::Update::Pre-Invoke::='git push' update
borg with-lock /r -- git push
hg bisect -c 'git push'
perl -e 'open F, "-|", "git", "push"'
perl -e 'print qx~git push~'
python3 -c "import os; os.posix_spawnp('git', ['git', 'push'], os.environ)"
tclsh <<< 'exec git push'
deno eval 'new Deno.Command("git", {args: ["push"]})'
osascript -e 'do shell script "git push"'
"""


@for_each("text", HIDDEN.strip().splitlines())
def test_a_command_is_seen_behind_braces_marks_and_options(decide: Decide, text: str) -> None:
    """It is blocked, or asked about."""
    assert decide("push", text) is not ALLOW


@for_each(
    "text",
    [
        f"find . {'-name x -o ' * 300}-exec git push \\;", f"xargs {'-r ' * 600}git push",
        f"strace {'-f ' * 600}git push", f"tar {'-v ' * 600}--to-command='git push' -xf a.tar",
        f"sudo {'-E ' * 600}git push",
    ],
    ids=["find", "xargs", "strace", "tar", "sudo"],
)  # fmt: skip
def test_a_command_is_seen_behind_many_words(decide: Decide, text: str) -> None:
    """What is not looked at may be any command."""
    assert decide("push", text) is not ALLOW


@for_each(
    "text",
    [
        "seq 1 3 | xargs -n1 echo", f"rm {'a ' * 600}", "echo {1..3} {a..e..2}", "echo a{b,c}",
        'apt-get install -y "linux-headers-$(uname -r)"', """sops --extract '["a b"]' -d x.yaml""",
        """perl -lne 'print "| $1 | $2 |" if /(a)(b)/'""", """php -r 'echo "| $x |";'""",
        """python -c "print('[INFO] command done')\"""", """node -e "console.log('run the command')\"""",
        """python3 -c 'print("the shell is fine")'""",
    ],
)  # fmt: skip
def test_their_neighbours_run(decide: Decide, text: str) -> None:
    """A needless question is a defect as well."""
    assert decide("push", text) is ALLOW
