"""What counts as only reading, program by program."""

import itertools
import time
from collections.abc import Iterator
from pathlib import Path

from tests.tables import for_each

from permitry.actions.command import Command, Redirection
from permitry.actions.derive.unwrap import Classified, Refused, classify, why_not_reading, why_not_reading_all
from permitry.actions.programs.catalogue import Entry, catalogue
from permitry.actions.reading.strict import UnreadableError, read_strictly
from permitry.core.action import Word

READING = r"""
ls
ls -l
ls -lah
ls -1 src tests
ls -R src
ls -lt | head -20
ls -la ~/.config
ls -d */
ls *.py
ls src/**/*.ts
ls --color=never -l
ls -laS --block-size=M
cat README.md
cat -n src/main.py
cat package.json tsconfig.json
cat src/*.py | wc -l
cat ~/.bashrc
cat /etc/os-release
cat -A file.txt
cat < input.txt
pwd
cd src && ls
cd /tmp; pwd
head README.md
head -n 20 src/app.ts
head -50 src/app.ts
head -c 100 data.bin
head -n -5 file.txt
tail -n 30 server.log
tail -50 /var/log/syslog
tail -f app.log
tail -n +10 file.txt
tac notes.txt | head
wc -l src/main.py
wc -lwc *.md
nl -ba src/main.py
grep -rn "TODO" src
grep -rn --include='*.py' "import os" .
grep -rn --include=*.ts --exclude-dir=node_modules "useState" src
grep -E "^(foo|bar)" file.txt
grep -c error log.txt
grep -l "main" src/*.c
grep -A 3 -B 2 "panic" log.txt
grep -C5 "def main" app.py
grep -v '^#' config.ini | grep -v '^$'
grep -oP '(?<=version = ")[^"]+' Cargo.toml
grep -i -w "foo" -- *.txt
grep -rnw . -e 'pattern'
grep -q needle haystack.txt && echo found
grep -Hn "x" a.txt b.txt || echo none
egrep "a|b" file
fgrep 'a.b' file
rg TODO
rg -n "def main" src
rg -n -g '*.py' "import"
rg -g '!node_modules' -g '*.ts' useEffect
rg --files
rg --files -g '*.md' | sort
rg -l "foo" src tests
rg -i -C 3 "error" logs
rg -t py -t toml "version"
rg --type rust 'fn main' -A 5
rg -uu --hidden secret
rg -w --count foo
rg -o '\w+@\w+' -r '$0' mail.txt
rg --json foo src | head -5
rg -e foo -e bar src
rg --no-heading --line-number --color never foo
rg "a b" --glob "*.rs" --max-count 3
rg -U --multiline-dotall 'a.*b' src
rg --sort path -n foo
rg -- '--flag' src
fd
fd -e py
fd -t f -e ts . src
fd -H -I '^\.env'
fd --type d --max-depth 2
fdfind main
find .
find . -name '*.py'
find . -name "*.log" -type f -size +1M
find src -type f -name '*.ts' -not -path '*/node_modules/*'
find . -maxdepth 2 -type d
find . -mtime -1 -type f
find . -newer package.json -print
find . -type f -empty
find . -iname "readme*" -print0
find . \( -name '*.h' -o -name '*.c' \) -print
find . ! -path './.git/*' -type f | head -50
find . -path ./node_modules -prune -o -name '*.js' -print
find / -name hosts 2>/dev/null
find . -type f -printf '%s %p\n' | sort -rn | head
find . -regex '.*\.\(c\|h\)$'
find -L . -type l
find src tests -name '*_test.go' -mmin -60
find . -type f -perm -u+x
find . -type f -name '*.md' -ls
find . -user root -maxdepth 1
git status
git status -s
git status --short --branch
git status --porcelain=v2
git status -uno
git log
git log --oneline
git log --oneline -n 20 --graph --all
git log -5
git log -p -2
git log --stat -3
git log --since='2 weeks ago' --author=alice
git log --pretty=format:'%h %an %s' -10
git log --format='%H %ad' --date=short
git log --graph --decorate --oneline --all -30
git log main..HEAD
git log origin/main..HEAD --oneline
git log --follow -- src/main.py
git log -S'foo' --oneline -- src
git log -G 'regex' -p
git log -L 10,20:src/main.py
git log --grep=fix -i --oneline
git log --merges --first-parent main
git log --name-only -1
git log --name-status HEAD~5..HEAD
git log --diff-filter=A --summary
git log -1 --format=%ct
git log --all --source -- path/to/file
git --no-pager log -3
git --no-pager diff
git diff
git diff HEAD
git diff --stat HEAD~3
git diff --cached
git diff --staged --name-only
git diff main...feature
git diff HEAD~1 HEAD -- src/main.py
git diff --name-status origin/main
git diff -w --ignore-blank-lines
git diff --word-diff README.md
git diff -U10 src/app.ts
git diff --no-color --numstat
git diff --shortstat
git diff --check
git diff --no-index a.txt b.txt
git diff -M -C --summary HEAD~2
git diff --color-words
git show
git show HEAD
git show HEAD~2 --stat
git show HEAD:src/main.py
git show --name-only abc1234
git show -s --format=%an HEAD
git show stash@{0}
git show v1.0:README.md | head -20
git branch
git branch -a
git branch -vv
git branch -r
git branch --show-current
git branch --list 'feature/*'
git branch --contains abc123
git branch --merged main
git branch -a --sort=-committerdate
git tag
git tag -l
git tag --list 'v1.*'
git tag -l --sort=-version:refname | head -5
git tag -n3
git tag --contains HEAD
git remote
git remote -v
git stash list
git stash list --stat
git blame src/main.py
git blame -L 10,30 src/main.py
git blame -w -C HEAD~3 -- src/main.py
git ls-files
git ls-files '*.py'
git ls-files --others --exclude-standard
git ls-files -m -d
git ls-files -s src
git ls-tree -r HEAD --name-only
git ls-tree HEAD src/
git rev-parse HEAD
git rev-parse --abbrev-ref HEAD
git rev-parse --short HEAD
git rev-parse --show-toplevel
git rev-parse --git-dir
git rev-parse --verify -q main
git rev-list --count HEAD
git rev-list --all --max-count=5
git rev-list --left-right --count main...HEAD
git describe --tags
git describe --tags --always --dirty
git describe --abbrev=0
git shortlog -sn HEAD
git shortlog -sne --all
git cat-file -p HEAD
git cat-file -t abc123
git cat-file -e HEAD:README.md
git grep -n TODO
git grep -i "foo" -- '*.py'
git grep -l bar HEAD~5
git grep -e foo --and -e bar
git config --get user.email
git config --list
git config --global --list
git config -l --show-origin
git merge-base main HEAD
git merge-base --is-ancestor a b
git for-each-ref --sort=-committerdate --count=5 refs/heads
git for-each-ref --format='%(refname:short) %(objectname)' refs/tags
git reflog
git reflog -10
git reflog show main
git worktree list
git worktree list --porcelain
sed -n '1,80p' src/main.py
sed -n 5p file.txt
sed -n '10,20p;30q' file.txt
sed -n '/start/,/end/p' file.txt
sed -n '$p' file.txt
sed 's/foo/bar/g' file.txt
sed -e 's/a/b/' -e 's/c/d/' file.txt
sed -E 's/([0-9]+)/<\1>/g' file.txt
sed '/^#/d' config.ini
sed -n '/def /=' src/main.py
sed 's|/usr|/opt|' paths.txt | head
sed '1d;$d' file.txt
awk '{print $1}' file.txt
awk -F: '{print $1, $3}' /etc/passwd
awk -F',' 'NR>1 {sum += $3} END {print sum}' data.csv
awk '$3 > 100' data.txt
awk '/pattern/ {print NR": "$0}' file.txt
awk 'NR==10,NR==20' file.txt
awk 'END {print NR}' file.txt
awk 'length > 80' src/main.py
awk '{count[$1]++} END {for (k in count) print k, count[k]}' access.log
awk -v OFS='\t' '{print $2, $1}' file.txt
awk '!seen[$0]++' list.txt
awk 'BEGIN {FS=","} {printf "%s\n", $2}' data.csv
sort file.txt
sort -u names.txt
sort -rn -k2 data.txt
sort -t, -k3,3n data.csv
sort -h sizes.txt
sort --reverse --numeric-sort nums.txt
sort names.txt | uniq -c | sort -rn | head
sort -k1,1 -k2,2nr -s data.tsv
uniq names.txt
uniq -c
uniq -d list.txt
cut -d: -f1 /etc/passwd
cut -c1-80 file.txt
cut -f2,4 data.tsv
tr a-z A-Z < file.txt
tr -d '\r' < file.txt
tr -s ' ' < file.txt | cut -d' ' -f2
paste -sd, list.txt
paste a.txt b.txt
comm -23 a.txt b.txt
join -t, a.csv b.csv
diff a.txt b.txt
diff -u old.py new.py
diff -rq dir1 dir2
diff -y --suppress-common-lines a b
diff --color=always -U5 a b
cmp a.bin b.bin
md5sum file.iso
sha256sum *.tar.gz
sha1sum -c sums.txt
stat file.txt
stat -c '%s %n' file.txt
stat --format=%Y package.json
file image.png
file -b --mime-type data.bin
which python3
which -a node
type ls
command -v git
whoami
id
id -un
groups
uname -a
uname -sr
hostname
uptime
date
date +%Y-%m-%d
date -u +%FT%TZ
date -d yesterday +%F
date -d '-1 day' +%s
date -r file.txt
du -sh .
du -sh * | sort -h
du -h --max-depth=1 src
df -h
df -h /
ps aux
ps aux | grep node
ps -ef --forest
ps -p 1234 -o pid,cmd
pgrep -fl python
free -m
nproc
lscpu
lsblk -f
env
env | sort
printenv PATH
echo hello
echo "a b" 'c d'
echo -e 'a\tb'
echo done >&2
printf '%s\n' one two
printf "%d items\n" 3
printf '%5.2f|%-10s\n' 1.5 x
test -f package.json && echo yes
[ -d node_modules ] || echo missing
[ -f a.txt -a -r a.txt ]
test -n "abc"
[ "a" = "b" ] && echo same
true
false || true
seq 1 10
expr 1 + 2
basename /a/b/c.txt .txt
dirname /a/b/c.txt
realpath src/../README.md
readlink -f link
column -t -s, data.csv
fold -w 80 README.md
fmt -w 72 README.md
rev file.txt
od -c file.bin | head
xxd file.bin | head -5
xxd -l 64 file.bin
xxd -p -c 32 key.bin
hexdump -C file.bin | head
base64 file.bin
base64 -d < encoded.txt
strings -n 8 program | head
jq . package.json
jq -r '.scripts | keys[]' package.json
jq '.dependencies["react"]' package.json
jq -n '{a: 1}'
jq --arg v 1 '.[] | select(.id == $v)' data.json
cat data.json | jq '.items | length'
tree
tree -L 2
tree -L 3 -I node_modules
tree -a -d --noreport
tree -P '*.py' --prune
shuf -n 5 list.txt
shuf -i 1-10
unzip -l archive.zip
gzip -dc log.gz | head
xz -dc data.xz | wc -l
timeout 10 git log -1
timeout 5s ls -R
nice -n 10 grep -r foo src
stdbuf -oL tail -f app.log
env LC_ALL=C sort file.txt
LC_ALL=C sort file.txt
LANG=C.UTF-8 ls
TZ=UTC date
NO_COLOR=1 rg foo
COLUMNS=80 ls
xxd -c16 -s0x10 file.bin
GIT_PAGER=cat git log -3
GIT_NO_LAZY_FETCH=1 git show HEAD
git --no-lazy-fetch show HEAD
original-awk '{print $1}' f
bash -c 'ls -la'
sh -c 'cat a.txt | wc -l'
bash -lc "git status"
git ls-files | xargs wc -l
find . -name '*.py' -print0 | xargs -0 grep -n TODO
find . -name '*.py' | xargs -n1 basename
cat list.txt | xargs -I{} stat {}
ss -tulpn
ss -s
lsof -nP -iTCP:3000
netstat -tulnp
ip addr show
ip -br a
systemctl status nginx --no-pager
systemctl is-active docker
journalctl -u nginx -n 50 --no-pager
ls -la && git status && git diff --stat
git log --oneline | head -5; git status -s
ls 2>/dev/null || echo none
grep -r foo . 2>/dev/null | head
cat file.txt > /dev/null
set -o pipefail; git log | head -3
set -euo pipefail; ls
locale
bc -l
batcat -n src/main.py
bat --style=plain --paging=never README.md
who
w
sleep 1
yes | head -3
numfmt --to=iec 1048576
pr -n file.txt
expand -t4 file.txt
tsort deps.txt
mount
dmesg | tail -20
getconf _NPROCESSORS_ONLN
top -bn1 | head -15
factor 12345
cal 2024
cksum file.txt
b2sum file.txt
pstree -p
lsmod | head
vmstat 1 2
arch
tty
users
sum file.txt
readelf -h a.out
nm -C a.out | head
size a.out
dpkg-query -l bash
"""
"""Ordinary commands that only read, one a line."""

DANGEROUS = r"""
sort -o out.txt a.txt
sort -oout.txt a.txt
sort a.txt -o out.txt
sort a.txt -oout.txt
sort -uo out.txt a.txt
sort -uoF a.txt
sort -ruoout a.txt
sort --output=out.txt a.txt
sort --output out.txt a.txt
sort --outpu=out.txt a.txt
sort --out=out a.txt
sort --o=out a.txt
sort --o out a.txt
sort a.txt --output=out
sort -k1 -o out a.txt
sort -k 1 -t , -o out a.txt
sort '-o' out a.txt
sort "-o" out a.txt
sort \-o out a.txt
sort -"o" out a.txt
sort '--output=out' a.txt
sort --compress-program=sh a.txt
sort --compress-program sh a.txt
sort --comp=sh a.txt
sort -S1 --compress-prog=./x a.txt
sort -T . a.txt
sort *.md
sort ?.txt
sort [a-z]*.txt
sort -- a.txt > out
sort a.txt 2>&1 -o out
sort -k -o out a.txt
sort --key --output=x a.txt
sort -t -o x
uniq a.txt out.txt
uniq -c a.txt out.txt
uniq -- a.txt out.txt
uniq - out.txt
uniq a.txt -c
uniq src/*
uniq -f 1 a b
uniq -f 1* a
xxd a.bin out.txt
xxd -r a.hex out.bin
xxd -p a out
xxd -ps a out
xxd a -p
xxd a -- out
xxd -- a out
xxd src/*
xxd -c 16 a b
xxd -cols 16 a b
date -s 2020-01-01
date -s2020-01-01
date -us 2020-01-01
date --set=2020-01-01
date --set 2020-01-01
date --se=x
date --s x
date 010100002020
date +%F 0101
date -u 0101
date -- 0101
date -d x -s y
diff -l a b
diff --paginate a b
diff -ul a b
diff --pag a b
file -C -m magic
file --compile -m magic
file --comp
file -bC -m magic
file -z a.gz
file -p a.txt
tree -o out.txt
tree -ao out.txt
tree -oout.txt
tree -L 2 -o out
tree -Po x out
tree -Lo 2 out
tree -R -H . -L 1
tree -R
tree -H .
find . -delete
find . -name x -delete
find -delete
find . -exec rm {} \;
find . -exec rm {} +
find . -execdir sh -c x \;
find . -ok rm {} \;
find . -okdir rm {} \;
find . -fprint out
find . -fprint0 out
find . -fprintf out %p
find . -fls out
find . '-delete'
find . -"delete"
find . \-delete
find . -name x -o -delete
find . \( -name x -delete \)
find . ! -name x -delete
find . -name -delete
find . -name '*.txt' -printf %p -fprint out
find . -files0-from x
find . -D exec
find . -name x 2>/dev/null -delete
find . -type f -*
find * -name x
find . -perm -ok x \;
find . -name *.py
find . -size -delete
find -files0-from list.txt -delete
find . , -delete
rg --pre ./x foo
rg --pre=./x foo
rg foo --pre=./x
rg foo src --pre ./x
rg --pr=./x foo
rg --hostname-bin=./x foo
rg --hostname-bin ./x foo
rg --hostname=./x foo
rg -z foo
rg -nz foo
rg --search-zip foo
rg '--pre=./x' foo
rg --p\re=./x foo
rg --"pre"=./x foo
rg foo *
rg foo *.py
rg -g *.py foo
rg -e --pre=./x foo
rg --pre*
rg foo -*
rg -A --pre=./x foo
fd -x rm
fd -X rm
fd -e py -x rm
fd --exec rm
fd --exec=rm
fd --exec-batch rm
fd --exec-b rm
fd -Hx rm
fd -HX rm
fd . src -x touch {}
fd -l
fd --list-details
fdfind -x rm
fd foo *
git commit -m x
git add .
git push
git pull
git fetch
git clone https://example.com/x
git checkout main
git switch main
git restore a.txt
git reset --hard
git rm a.txt
git mv a b
git merge main
git rebase main
git cherry-pick abc
git revert HEAD
git clean -fd
git gc
git init
git apply x.patch
git am x.patch
git bisect start
git submodule update
git update-index --refresh
git update-ref refs/heads/x HEAD
git symbolic-ref HEAD refs/heads/x
git notes add -m x
git archive -o out HEAD
git bundle create out HEAD
git format-patch -1
git filter-branch
git hash-object -w a.txt
git mktag
git ls-remote
git remote add x y
git remote remove x
git remote update
git remote show origin
git remote prune origin
git remote -v update
git remote set-url origin x
git branch new
git branch -d x
git branch -D x
git branch -m a b
git branch -M a b
git branch -c a b
git branch -f a b
git branch -v new
git branch -a new
git branch --format=x new
git branch --sort=x new
git branch --sort x* y
git branch --edit-description
git branch --set-upstream-to=origin/main
git branch -u origin/main
git branch --unset-upstream
git branch -- new
git branch --delete x
git branch --del x
git branch -vd x
git branch new --color
git tag v1
git tag -a v1 -m x
git tag -d v1
git tag -f v1
git tag -s v1
git tag -v v1
git tag --sort=x v1
git tag -- v1
git tag -n v1
git stash
git stash push
git stash pop
git stash drop
git stash clear
git stash apply
git stash branch x
git stash show -p
git stash show --output=x
git stash list --output=x
git worktree add ../x
git worktree remove x
git worktree prune
git worktree
git reflog expire --all
git reflog delete HEAD@{0}
git reflog exists HEAD
git reflog -5 expire
git config user.name x
git config user.name
git config --add a.b c
git config --unset a.b
git config -e
git config --edit
git config --global user.name x
git config --get user.name --add x.y z
git config a.b --list
git config a.b --get
git config --replace-all a.b c
git -c core.pager=x log
git -c diff.external=./x diff
git -ccore.fsmonitor=./x status
git -C sub status
git --git-dir=x status
git --git-dir x status
git --work-tree=x status
git --exec-path=. status
git --config-env=core.pager=X log
git --namespace=x log
git --super-prefix=x log
git -p log
git --paginate log
git --no-pager -c a=b log
git --no-pager commit
git diff --output=out
git diff --output out
git diff HEAD --output=out
git diff --outp=out
git diff --ext-diff
git diff --ext
git diff --textconv
git diff '--output=out'
git diff --"output"=out
git diff *
git diff --out*
git log --output=out
git log -p --output=out
git log --ext-diff -p
git log --show-signature
git log --format=%G?
git log --pretty='%h %GS'
git log --format='%+G?'
git log --remerge-diff
git log --submodule=diff -p
git log -S --output=x
git log -n --output=x
git show --output=out
git show HEAD --output=out
git show --ext-diff
git shortlog
git shortlog -sn
git shortlog -sn --output=x HEAD
git rev-list --output=x HEAD
git grep -O foo
git grep -Osh foo
git grep -O./x foo
git grep --open-files-in-pager foo
git grep --open-files-in-pager=sh foo
git grep --open=sh foo
git grep -nO./x foo
git grep -lOsh foo
git grep foo -O
git grep --textconv foo
git grep --recurse-submodules foo
git cat-file --textconv HEAD:a
git cat-file --filters HEAD:a
git for-each-ref --format='%(signature:grade)'
git blame --output=x a
git status --output=x
git help log
git log --help
git st*
git --help
cd sub && git status
cd sub; git log
cd sub && ls && git diff
bash -c 'cd x && git status'
cd x; timeout 5 git status
command cd x; git status
cd x | git status
sed -i s/a/b/ f
sed -i.bak s/a/b/ f
sed -ni 1p f
sed -nEi 1p f
sed -Ei s/a/b/ f
sed --in-place s/a/b/ f
sed --in-place=.bak s/a/b/ f
sed --in-pl s/a/b/ f
sed s/a/b/ f -i
sed -n 1p f -i
sed -e s/a/b/ -i f
sed -f x.sed f
sed -nf x.sed f
sed --file=x.sed f
sed 'w out' f
sed -n '1,5w out' f
sed 's/a/b/w out' f
sed 's/a/b/gw out' f
sed 's/a/b/e' f
sed 's/a/b/ge' f
sed '1e ls' f
sed e f
sed 'W out' f
sed -n '/x/w out' f
sed '1!w out' f
sed '{w out' f
sed 's/a/b/;w out' f
sed 'p;w out' f
sed -e p -e 'w out' f
sed --expression='w out' f
sed --expression 'w out' f
sed -e'w out' f
sed 's,a,b,w out' f
sed 's|a|b|e' f
sed 'y/a/b/;w out' f
sed '/a\/b/w out' f
sed 's/[/]/x/;s/w out/p/' f
sed 's/a\/b/c/w out' f
sed -n 1p *
sed *.sed f
sed -n xp f
sed ':a;w out' f
sed 'ba#;w out' f
awk '{print > "out"}' f
awk '{print >> "out"}' f
awk '{print $1 > $2}' f
awk '{printf "x" > "out"}' f
awk 'BEGIN{system("x")}'
awk 'BEGIN { "ls" | getline x }'
awk '{print | "sh"}' f
awk '{print |& "sh"}' f
awk 'BEGIN{getline x < "f"}'
awk -f x.awk f
awk -fx.awk f
awk --file=x.awk f
awk '{print}' -f x.awk
awk -i inplace '{print}' f
awk -e 'BEGIN{system("x")}'
awk -o '{print}' f
awk -oout '{print}' f
awk -p '{print}' f
awk -d '{print}' f
awk -l readdir '{print}' f
awk '@load "x"; BEGIN{f()}'
awk '@include "x"'
awk 'BEGIN{f="system"; @f("x")}'
awk 'BEGIN{1system("x")}'
awk 'BEGIN{awk::system("x")}'
awk 'BEGIN{system ("x")}'
awk '{if (1) /(/; print > "f"; x = /)/}' f
awk '{print(1) > "out"}' f
awk '{print (1)(2) > "out"}' f
awk '{x = 1 > 2}' f
awk 1 /inet/tcp/0/example.com/80
awk 'BEGIN{ARGV[1]="/inet/tcp/0/example.com/80";ARGC=2}1'
awk -v x=a* '{print}' f
awk *
awk '/[/]/{print > "f"}/]/' f
gawk '{print > "out"}' f
mawk '{print > "out"}' f
tar xf a.tar
tar -xf a.tar
tar -x -f a.tar
tar cf a.tar b
tar -cf a.tar b
tar rf a.tar b
tar -tf a.tar
tar tvf a.tar | head
tar -tf a.tar --to-command=sh
tar -tf a.tar --to-comm=sh
tar -tf a.tar --checkpoint=1 --checkpoint-action=exec=sh
tar -tf a.tar --checkpoint-act=exec=sh
tar -tf a.tar -I sh
tar -tf a.tar -Ish
tar -tf a.tar --use-compress-program=sh
tar -tf a.tar --rsh-command=sh
tar -tf host:a.tar
tar tf host:a.tar
tar tfv host:a.tar
tar -tf a.tar -F sh
tar tzf a.tgz
tar -tf a.tar.gz
tar --list --extract -f a.tar
tar tf *.tar
tar -t
tar --delete -f a.tar b
shuf -o out a
shuf -oout a
shuf --output=out a
shuf a --output out
shuf --out=o a
base64 -o out a
base64 --output=out a
gzip a
gzip -k a
gzip -d a.gz
gzip -9 a
gunzip a.gz
xz a
xz -d a.xz
xz -t -d a.xz
xz -l a.xz -d
bzip2 a
bzip2 -t -d a
zstd a
zstd -d a.zst
zstd -dco out a.zst
zstd -c --rm a
zstd -t -d a.zst
unzip a.zip
unzip -o a.zip
unzip a.zip -l
unzip a.zip x -l
unzip -d out a.zip
unzip -lo a.zip
printf -v x y
printf -vx y
printf '%n' PATH
printf 'x%nfoo' PATH
printf '%5%%n' PATH
printf *
test -v x
test -R x
test 'a[$(x)]' -eq 1
[ * ]
[ -f *.txt ]
set -a
set -o allexport
set -- a b
set x
set +e
set -eo xtrace -a
env -S 'touch x'
env -S'touch x'
env --split-string='touch x'
env -i sh
env -u PATH ls
env - touch x
env PATH=. ls
env LD_PRELOAD=./x.so ls
env FOO=1 ls
env touch x
env LC_ALL=C touch x
env -C x git status
env LC_ALL=C PATH=. ls
env sh
env *
env LC_ALL=../x ls
timeout 5 touch x
timeout -s KILL 5 rm x
timeout 5
timeout 5 sh
timeout 5 sort -o x y
timeout 5 ./x
timeout --foo 5 ls
timeout 5 *
nice touch x
nice -n 5 touch x
nice -n 5 sort -o x y
nohup ls
stdbuf -oL touch x
command touch x
command -p ls
command sort -o x y
command ./x
env time -o out ls
env time --output=out ls
xargs rm
xargs
xargs touch
xargs sort
xargs rg foo
xargs git log
xargs sh -c x
xargs -I{} sh -c '{}'
xargs -I{} {}
xargs -I ls ls
xargs -I l ls
xargs -n1 -P4 rm
xargs env ls
xargs timeout 5 ls
xargs ./x
xargs -i rm
xargs -a x rm
xargs --arg-file=x rm
xargs find
xargs sed -n 1p
echo --pre=./x | xargs rg foo
ls | xargs -I{} touch {}
sh x.sh
sh
bash x.sh
bash -c 'touch x'
bash -c ls touch
bash -xc ls
bash -o pipefail -c 'touch x'
bash -c "bash -c 'touch x'"
bash -lc 'rm x'
bash -ic ls
bash --rcfile x -c ls
bash -c ls > out
sh -c 'ls > out'
sh -c 'ls; rm x'
sh -c '$x'
sh -c *
bash -c
zsh -c ls
bash -s
echo x | sh
echo x | bash
ls > out
ls >> out
ls 2> err
ls > /dev/stderr
ls > /dev/sda
ls >| out
cat < /dev/tcp/1.2.3.4/80
ls > /dev/tcp/1.2.3.4/80
echo x > /dev/udp/1.2.3.4/53
cat a > /dev/null > out
3>out ls
PATH=. ls
LD_PRELOAD=./x.so ls
LD_LIBRARY_PATH=. git status
GIT_DIR=x git status
GIT_EXTERNAL_DIFF=./x git diff
GIT_PAGER=./x git log
GIT_NO_LAZY_FETCH=0 git show
awk --assign 'BEGIN{system("x")}' 1
sed 'w out' -e p f
PAGER=./x git log
GIT_SSH_COMMAND=x git log
GIT_CONFIG_COUNT=1 git status
RIPGREP_CONFIG_PATH=x rg foo
LESSOPEN='|x %s' ls
BASH_ENV=./x bash -c true
PS4='$(x)' ls
IFS=/ ls
TZ=/tmp/x date
LC_ALL=ja_JP.SJIS sed p f
LANG=zh_CN.GBK awk 1 f
LANGUAGE=x/../../y ls
POSIXLY_CORRECT=1 uniq a -c
HOME=. git status
TERM=../x ls
CI=true git commit -m x
FOO=bar ls
./x
/bin/ls
src/../x
../x
x
touch x
rm x
rm -rf /
mv a b
cp a b
ln -s a b
mkdir x
rmdir x
chmod +x a
chown a b
tee out
ls | tee out
dd if=a of=b
truncate -s 0 a
mktemp
shred a
install a b
patch a b
split a
csplit a 2
python x.py
python3 -c 'x'
node -e x
perl -e x
ruby -e x
make
make -n
npm install
npm ls
npm test
npx x
pip install x
pip list
cargo build
cargo check
cargo --version
go build
go version
go test ./...
curl https://example.com
curl -o x file:///x
wget https://example.com
ssh host
scp a host:
rsync -a a b
nc -l 80
dig example.com
ping example.com
getent hosts example.com
docker ps
kubectl get pods
gh pr list
aws s3 ls
sudo ls
doas ls
su -c ls
chroot . ls
kill 1
pkill x
crontab -l
crontab x
systemctl restart x
systemctl start x
systemctl -H host status
systemctl status x -H host
journalctl --vacuum-time=1s
journalctl --rotate
ip link set eth0 down
ip addr add 1.2.3.4 dev eth0
ip netns exec x ls
ip -batch x
ss -K dst 1.2.3.4
ss -D out
ss -tr
ss -t dst example.com
ss -tn example.com
lsof -n -i @example.com
lsof -n -iTCP@example.com:80
ip route get example.com
lsof -i
lsof +D x
netstat -r
netstat -tul
hostname x
hostname -f
mount /dev/sda /mnt
mount -a
dmesg -C
dmesg -c
top
nm --plugin x.so a.out
nm @x
readelf @x
strings @x
strings *
who --lookup
bat --pager=./x README.md
bat --pager ./x README.md
bat --paging=always x
batcat --pag=./x x
ag --pager ./x foo
less README.md
more README.md
man ls
vim x
emacs x
tmux send-keys x
eval ls
exec ls
source x
. x
export FOO=1
declare A=1
unset PATH
alias ls=rm
trap ls EXIT
read PATH
shopt -s x
enable -n echo
hash -p x ls
pushd x
history -c
bind x
mapfile x
ls; rm x
ls && touch x
ls || touch x
ls | touch x
"""
"""Commands that may write, execute or connect, or whose harmlessness is not certain; one a line."""

OVER_LINES = (
    "sed 'r a\nw out' f",
    "sed '$!{w out\n}' f",
    "sed 's/a/b/\nw out' f",
    "cat <<'EOF' > out\nx\nEOF",
    "ls\nrm x",
    "cd x\ngit status",
    "cd x &&\ngit status",
    "sh -c 'cd x\ngit log'",
    "awk '{print\n> \"out\"}' f",
)
"""The same over several lines."""

INSERTED = (
    # A harmless command, how many words of it name the program, and what must not stand anywhere behind them.
    (
        "sort -k 2 -t , a.txt b.txt",
        1,
        ("-o", "-oout", "-uo", "-uoout", "--output", "--output=out", "--outp=out", "--o"),
    ),
    ("sort -rn --key=2 a.txt", 1, ("--compress-program=sh", "--compress-program", "--comp=sh", "-T.", "-nT")),
    ("uniq -f 1 a.txt", 1, ("out", "-", "*", "a*")),
    ("xxd -l 16 -c 8 a.bin", 1, ("out", "-", "a*", "*", "-rx")),
    ("date -u -d now +%F", 1, ("-s", "-snow", "-us", "--set", "--set=now", "--se=now", "0101")),
    ("diff -u -U 3 a b", 1, ("-l", "-ul", "--paginate", "--pag")),
    ("file -b -m magic a", 1, ("-C", "-bC", "--compile", "--comp", "-z", "-p")),
    ("tree -L 2 -P x src", 1, ("-o", "-oout", "-ao", "-R", "-H", "-Po", "-Lo")),
    (
        "find . -name x -type f -size +1k -print",
        1,
        ("-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fls"),
    ),
    ("find -L . ! -path x -o -mtime -1", 1, ("-fprint0", "-fprintf", "-files0-from", "-*", "*")),
    (
        "rg -n -g x -A 3 foo src",
        1,
        ("--pre", "--pre=sh", "--pr=sh", "--hostname-bin=sh", "-z", "-nz", "--search-zip", "*"),
    ),
    ("fd -e py -t f foo src", 1, ("-x", "-X", "-Hx", "-HX", "--exec", "--exec=rm", "--exec-batch", "--exec-b", "-l")),
    ("git log -n 3 -S x HEAD a.txt", 2, ("--output", "--output=out", "--outp=out", "--ext-diff", "--show-signature")),
    ("git diff --stat HEAD a.txt", 2, ("--output", "--output=out", "--outp=out", "--ext-diff", "--textconv", "*")),
    ("git show -s --format=%h HEAD", 2, ("--output", "--output=out", "--ext-diff", "--format=%G?", "%G")),
    ("git shortlog -sn HEAD", 2, ("--output", "--output=out", "--outp=out")),
    ("git rev-list --count HEAD", 2, ("--output", "--output=out", "--show-signature")),
    ("git stash list -p", 3, ("--output", "--output=out", "--ext-diff")),
    ("git reflog show HEAD", 3, ("--output", "--output=out", "--ext-diff")),
    (
        "git grep -n -e foo -A 3 HEAD",
        2,
        ("-O", "-Osh", "-nO", "-lOsh", "--open-files-in-pager", "--open=sh", "--textconv"),
    ),
    (
        "git branch -a -v",
        2,
        ("new", "-d", "-D", "-m", "-M", "-c", "-C", "-f", "-u", "-vd", "--delete", "--edit-description"),
    ),
    ("git branch --list x", 2, ("-d", "-D", "-m", "-f", "-u", "--unset-upstream", "--set-upstream-to=x", "-q")),
    ("git tag -l x", 2, ("-d", "-a", "-s", "-f", "-v", "-m", "-F", "--delete", "-ld", "--create-reflog")),
    ("git tag --sort=x", 2, ("new", "-d", "a*")),
    ("git config --get user.name", 2, ("--add", "--unset", "--edit", "-e", "--replace-all", "--rename-section")),
    ("git remote -v", 2, ("update", "show", "add", "prune", "-u")),
    ("git worktree list --porcelain", 3, ("out", "--lock", "-f")),
    ("git --no-pager status", 1, ("-c", "-C", "-p", "--paginate", "--git-dir=x", "--work-tree=x", "--exec-path=x")),
    (
        "sed -n -e 1p f",
        1,
        ("-i", "-ni", "-i.bak", "-Ei", "-f", "-fx", "--in-place", "--in-place=x", "--in-pl", "--file=x"),
    ),
    ("sed s/a/b/ f", 1, ("-i", "-f", "--in-place", "*")),
    ("awk -F , -v x=1 {print} f", 1, ("-f", "-fx", "-i", "-e", "-o", "-p", "-d", "-l", "--file=x", "--include=x")),
    ("shuf -n 3 a", 1, ("-o", "-oout", "-eo", "--output", "--output=out", "--out=o")),
    ("base64 -w 0 a", 1, ("-o", "-oout", "--output", "--output=out")),
    ("gzip -dc a.gz", 1, ("-r", "-S", "--suffix=x")),
    ("zstd -dc a.zst", 1, ("-o", "-dco", "--rm", "-oout")),
    ("unzip -l a.zip", 1, ("-o", "-d", "-lo", "-x")),
    ("who -a", 1, ("--lookup", "--look")),
    ("ss -tln", 1, ("-K", "-tK", "--kill", "-D", "--diag=x", "-r", "-F", "-N")),
    ("journalctl -u x -n 3", 1, ("--rotate", "--vacuum-time=1s", "--vac=1", "--flush", "--sync")),
    ("systemctl status x", 2, ("-H", "-M", "-f", "--host=x", "--force", "--now")),
    ("dmesg -T", 1, ("-C", "-c", "-Tc", "--clear", "-n", "-D", "x")),
    ("hostname -s", 1, ("x", "-F", "-b", "-f")),
    ("bat -n a", 1, ("--pager", "--pager=sh", "--pag=sh", "--paging=always")),
    ("test -f a", 1, ("-v", "-R", "a[0]", "*")),
    ("set -e -u", 1, ("-a", "x", "--", "-m", "+e")),
)


WRAPPERS = (
    ("xargs -n 1", ("-i", "-p", "--interactive", "rm", "sh", "-e", "--arg-file")),
    ("env LC_ALL=C", ("-S", "-i", "-u", "-C", "-", "--split-string=x", "PATH=.", "touch", "sh")),
    ("timeout -k 1 5", ("rm", "sh", "--foo", "*")),
    ("nice -n 5", ("rm", "--foo", "-x", "*")),
    ("stdbuf -oL", ("rm", "--foo", "-x", "*")),
    ("command", ("rm", "-p", "--foo", "*")),
)
"""What runs the command that follows, and what must not stand before that command."""


def why(text: str) -> str | None:
    """Return why a script does not only read."""
    return why_not_reading_all(read_strictly(text))


def plain(words: list[str]) -> str | None:
    """Return why a command of bare words does not only read; a `*` is an unquoted one."""
    return why_not_reading(Command(tuple(Word(word, is_glob="*" in word) for word in words)))


def lines(text: str) -> list[str]:
    """Return the commands of a list."""
    return text.strip("\n").split("\n")


@for_each("command", lines(READING))
def test_ordinary_commands_only_read(command: str) -> None:
    """What developers and agents type all day to look at things comes out as reading."""
    assert why(command) is None


@for_each("command", [*lines(DANGEROUS), *OVER_LINES])
def test_dangerous_commands_never_read(command: str) -> None:
    """A command that may write, execute or connect, however it is spelled, never comes out as reading."""
    assert why(command) is not None


def reads(text: str) -> bool:
    """Return whether a script is readable and only reads."""
    try:
        return why(text) is None
    except UnreadableError:
        return False


def stored(name: str) -> list[str]:
    """Return the commands of a file next to this one; a `⏎` in a line is a newline of the command."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [line.replace("⏎", "\n") for line in lines(text)]


def test_many_more_commands_only_read() -> None:
    """What agents and developers type, in all its spellings, comes out as reading."""
    commands = stored("commands_reading.txt")
    assert len(commands) > 1_500
    assert [command for command in commands if not reads(command)] == []


def test_many_more_dangerous_commands_never_read() -> None:
    """What is one word away from reading, and bypasses known elsewhere, never come out as reading."""
    commands = stored("commands_dangerous.txt")
    assert len(commands) > 700
    assert [command for command in commands if reads(command)] == []


def test_an_open_word_may_be_anything() -> None:
    """An expansion at any place of a harmless command makes it one that may do more, but behind `--`."""
    word = Word("$x", is_open=True)
    for command, named, _ in INSERTED:
        words = [Word(text) for text in command.split()]
        for at in range(named, len(words) + 1):
            assert why_not_reading(Command((*words[:at], word, *words[at:]))) is not None, (command, at)
    for attached in ("-k$x", "--key=$x", "-$x"):
        assert why_not_reading(Command((Word("sort"), Word(attached, is_open=True)))) is not None
    assert why_not_reading(Command((Word("cat", is_open=True),))) is not None
    for command in ("sort --", "git log --", "cat", "echo", "printf %s"):
        words = [Word(text) for text in command.split()]
        assert why_not_reading(Command((*words, word))) is None


def insertions() -> Iterator[tuple[list[str], list[str]]]:
    """Yield each harmless command and each form it takes when one dangerous word is put into it."""
    for command, named, dangers in INSERTED:
        words = command.split()
        for danger, at in itertools.product(dangers, range(named, len(words) + 1)):
            yield words, [*words[:at], danger, *words[at:]]


def test_a_dangerous_word_is_dangerous_anywhere() -> None:
    """Putting a dangerous word at any place of a harmless command makes it one that does not only read."""
    assert [words for words, _ in insertions() if plain(words) is not None] == []
    assert [changed for _, changed in insertions() if plain(changed) is None] == []


def test_a_dangerous_word_is_dangerous_within_a_wrapper() -> None:
    """Putting a dangerous word among those of a wrapper is no way round either."""
    for wrapper, dangers in WRAPPERS:
        words = wrapper.split()
        assert plain([*words, "ls"]) is None
        for danger, at in itertools.product(dangers, range(1, len(words) + 1)):
            changed = [*words[:at], danger, *words[at:], "ls"]
            assert plain(changed) is not None, changed


def test_a_dangerous_word_behind_two_hyphens_is_an_operand() -> None:
    """Behind `--` an option is a name, and a pattern cannot become an option."""
    for command in ("sort -- -o", "rg foo -- --pre=sh", "git diff -- --output=x", "git log -- -O *", "sort -- *.md"):
        assert why(command) is None


@for_each("wrapper", ["timeout 5", "nice", "nice -n 5", "env", "env LC_ALL=C", "command", "stdbuf -oL"])
def test_wrappers_hide_nothing(wrapper: str) -> None:
    """What is behind a wrapper is judged as if it stood alone, for harmless and dangerous commands alike."""
    for command, _, dangers in INSERTED:
        if command.startswith(("env", "set", "timeout", "xargs")):
            continue
        words = [*wrapper.split(), *command.split()]
        assert plain(words) is None, words
        assert plain([*words, dangers[0]]) is not None, words


@for_each("danger", ["sort -o x", "rm x", "ls > x", "cd x && git log", "sed -i p f", "FOO=1 ls"])
def test_shells_hide_nothing(danger: str) -> None:
    """A text behind `sh -c` is read strictly and judged, however deep it lies."""
    text = danger
    for _ in range(4):
        quoted = text.replace("\\", "\\\\").replace('"', '\\"')
        text = f'sh -c "{quoted}"'
        assert why(text) is not None


def test_shells_are_read_four_deep() -> None:
    """Shells and wrappers around a command are taken off up to four times."""
    four = "timeout 5 nice env sh -c ls"
    assert why(four) is None
    assert why(f"nice {four}") is not None


def test_only_a_literal_text_of_a_shell_is_read() -> None:
    """Anything but `-c` or `-lc` and one text is refused, whatever it is."""
    assert why("bash -c ls") is None
    assert why("bash -lc ls") is None
    for command in ("bash -c ls x", "bash -e -c ls", "bash --norc -c ls", "bash ls", "bash -cls", "bash", "zsh -c ls"):
        assert why(command) is not None


def test_git_behind_cd_is_refused_wherever_they_stand() -> None:
    """A repository that lies embedded in the workspace executes what its configuration says."""
    assert why("git log; cd x; ls") is None
    for script in ("cd x; git log", "cd x && ls && git log", "sh -c 'cd x'; git log", "env cd x; nice git log"):
        assert why(script) is not None
    assert why_not_reading(read_strictly("sh -c 'cd x; git log'")[0]) is not None


@for_each("operator", ["<", ">", ">>"])
def test_redirections_to_the_network(operator: str) -> None:
    """Bash opens a connection for `/dev/tcp` and `/dev/udp`, in either direction."""
    for target in ("/dev/tcp/example.com/80", "/dev/udp/example.com/53"):
        command = Command((Word("cat"),), redirections=(Redirection(operator, target),))
        assert why_not_reading(command) is not None


def test_redirections_of_files() -> None:
    """A file may be read; only /dev/null and other descriptors may be written."""
    assert why("cat < a.txt > /dev/null 2>&1 >&2") is None
    for target in ("out", "/dev/stdout", "/dev/null/../out", "", "/dev/nullx", "/DEV/NULL"):
        assert why_not_reading(Command((Word("ls"),), redirections=(Redirection(">", target),))) is not None


@for_each("word", ["*", "?.md", "[a-z]", "-*", "--*", "*.py"])
def test_patterns_that_may_become_options(word: str) -> None:
    """A pattern that may become an option is refused unless every option of the program is harmless."""
    for program in ("ls", "cat", "grep x", "wc", "jq ."):
        assert why(f"{program} {word}") is None
    for program in ("sort", "rg x", "git diff", "sed p", "find", "diff a", "awk 1", "fd x", "sort -k 1 -t"):
        assert why(f"{program} {word}") is not None


@for_each("command", ["rg --glob=*.py x", "rg -g*.py x", "rg x src/*.py", "git diff src/*", "sort a*"])
def test_patterns_that_cannot_become_options(command: str) -> None:
    """A pattern whose beginning is fixed can only become what it begins with."""
    assert why(command) is None


@for_each(
    "command",
    [
        "sed p* f",
        "uniq a*",
        "xxd a*",
        "git branch --sort x*",
        "git tag a*",
        "awk -v x=a* 1 f",
        "sed -e p* f",
        "awk a* f",
        "tar tf a*",
    ],
)
def test_patterns_that_may_become_several_words(command: str) -> None:
    """Where the number of words matters, a pattern is refused whatever it begins with."""
    assert why(command) is not None


@for_each("value", ["-o", "--output=x", "--", "-*"])
def test_values_never_look_like_options(value: str) -> None:
    """A word behind an option that takes a value is refused if it looks like an option; a number does not."""
    assert why(f"sort -k {value} a") is not None
    assert why("date -d '-1 day' +%F") is None
    assert why("sort -t - a") is None


@for_each(
    "script",
    [
        *("p", "5p", "1,5p", "$!d", "0~3p", "2,~4p", "/a/,+3p", "/a/I,/b/Md", "\\,a/b,p", "/[^x]/p"),
        *("s/a/b/", "s|a/b|c|2gp", "s/a\\/b/c/", "s/[[:alpha:]]x[]]/y/", "y/abc/xyz/", "s,[a-z],&,I", "s/x/\\n/g"),
        *(":a;N;$!ba;s/\\n/ /g", "b", "t end", "/x/{p;n;d}", "{p};p", "q5", "l 3", "1!G;h;$!d", "=;p", "# note\np\n"),
        *("", ";;p;", "1d\n2d", "p}", "p # note", ":a;$!{N;ba};s/\\n/,/", "v 4.2", "s/a/b\\\nc/"),
        *("a x", "1i import os", "/x/a line", "c\\text", "a\\\nx\\\ny\np", "i x\\\\\np", "a\\  x", "a w f"),
        *("sxaxbx", "s a b ", "s;a;b;", "s&a&b&", "\\cac,$d"),
    ],
)
def test_sed_scripts_that_print(script: str) -> None:
    """Addresses, the plain commands, substitutions without a file and jumps only change what is printed."""
    assert plain(["sed", "-n", script, "f"]) is None
    assert plain(["sed", "-e", script, f"--expression={script}", "f"]) is None


@for_each(
    "script",
    [
        *(
            "w f",
            "e",
            "e ls",
            "W f",
            "r f",
            "R f",
            "a",
            "i\n",
            "c\\ \nx",
            "a x\\",
            "a x\nw f",
            "1",
            "1,p",
            "1,",
            "k",
            "@",
        ),
        *(
            "s/a/b/w f",
            "s/a/b/e",
            "s/a/b/gw f",
            "s/a/b",
            "s/a",
            "s",
            "s[a[b[",
            "s]a]b]",
            "s\\a\\b\\",
            "séaébé",
            "s/a\\",
            "s/a/b\nc/",
            "s/a\nb/c/",
            "s/a\\\nb/c/",
        ),
        *(
            "s/[/x/",
            "s/[/]/x/",
            "s/[]/x/",
            "s/[^]/x/",
            "s/[\\]/x/",
            "s/[[:a/x/",
            "/[/p",
            "/a",
            "\\",
            "y/a/b/g",
            "y/a/b/w f",
            "y/[/]/xyz/",
            "s/[^\\]/]/x/",
        ),
        *(
            "p w f",
            "pw f",
            "}w f",
            "{w f",
            "p#\nw f",
            "ba#;p",
            ":a#",
            "a\\\nx\nw f",
            "sxaxbxe",
            "sxaxbxw f",
            "t x w f",
            "$!",
            "xp",
            "p;;w f",
            "+1p",
        ),
    ],
)
def test_sed_scripts_that_are_refused(script: str) -> None:
    """A command that writes, executes or reads, an odd text, and what two kinds of sed read differently are refused."""
    assert plain(["sed", "-n", script, "f"]) is not None
    assert plain(["sed", "-e", "p", "-e", script, "f"]) is not None


@for_each(
    "program",
    [
        *("1", "{print}", "NR == 3", "$3 > 5 {print $1}", "/a|b/", "!/a/ && $2 ~ /^[^,]+$/", "END {print NR / 2}", ""),
        *(
            "{if ($1 > 5) print; else print 0}",
            "{print ($1 > 5)}",
            "{a[$1] += $2 / 3} END {for (k in a) print k, a[k]}",
        ),
        *(
            "function f(x) { return x / 2 } {print f($1)}",
            '{print "a > b | c" # > "x"\n}',
            '{print "\\"> \\\\"}',
            "x\n/a/",
        ),
        *("{gsub(/[\\/]/, x)}", "BEGIN {while (i++ < 3) print i}", "{x = a ? b : c; y = x++ + 1}"),
        *(
            "/[[:space:]]/ {n++} END {print n}",
            "length > 80",
            "{print length($0)}",
            "$0 >= 5 || $1 <= 3",
            "(1)/2",
            "a[1]/2",
        ),
    ],
)
def test_awk_programs_that_print(program: str) -> None:
    """Patterns, fields, arithmetic, strings, arrays and own functions only change what is printed."""
    assert plain(["awk", "-F", ",", program, "f"]) is None


@for_each(
    "program",
    [
        *(
            '{print > "f"}',
            '{print >> "f"}',
            '{print | "sh"}',
            "{print |& x}",
            "{x = a & b}",
            "{x = a > b}",
            '{print(1) > "f"}',
        ),
        *(
            "{system(x)}",
            "{system (x)}",
            "{getline}",
            '{"ls" | getline}',
            "{close(x)}",
            "{f(x)}",
            "{@f(x)}",
            '@load "x"',
        ),
        *(
            '{ARGV[1] = "f"}',
            '{SYMTAB["x"] = 1}',
            "{PROCINFO[1]}",
            "{1system(x)}",
            "{0x1f}",
            "{1e5}",
            "{awk::system(x)}",
        ),
        *(
            '{"a',
            '{"a\nb"}',
            '{"a\\\nb"}',
            "/a",
            "/a\n/",
            "/[/]/",
            "/[/",
            "{if (x) /a/}",
            "{x++ /2/ y}",
            "{print /a/}",
            "{$/2/}",
        ),
        *(
            "{x = /=a/}",
            "{",
            "}",
            "(",
            ")",
            "({)}",
            "}{",
            "{print\\\n}",
            "{`x`}",
            "{caf\u00e9}",
            "{length / 2}",
            "while (1) /a/",
        ),
    ],
)
def test_awk_programs_that_are_refused(program: str) -> None:
    """Pipes, redirections, foreign functions, and every slash that two kinds of awk read differently are refused."""
    assert plain(["awk", program, "f"]) is not None


def test_printf_formats() -> None:
    """Every conversion but `%n` prints."""
    for text in ("%s\\n", "100%%", "%-5.2f|%+d|%05x", "%(%F %T)T|%s", "%b%q%c", "plain", "%%n"):
        assert plain(["printf", text, "x"]) is None
        assert plain(["printf", "--", text, "x"]) is None
    for text in ("%n", "%%%n", "%5%%n", "%hn", "%", "%(%F", "%(%F)x", "%(x)T%n", "%y", "-v", "-"):
        assert plain(["printf", text, "x"]) is not None
    assert plain(["printf"]) is None
    assert why("printf '%*d' 3 x") is None
    assert why("printf %*d 3 x") is not None


@for_each("command", ["awk", "sed", "rg -e", "find . -name", "env LC_ALL=C", "nice", "command -v x* y"])
def test_commands_that_lack_something(command: str) -> None:
    """A program that would only complain about a missing word reads."""
    assert why(command) is None


@for_each("command", ["xxd -p* a", "ip -b* addr", "timeout 5* ls", "timeout -s K* 5 ls", "xargs -d a* ls", "git l*"])
def test_patterns_where_words_are_counted(command: str) -> None:
    """A pattern among the words of a wrapper, of whole-word options or in place of a sub-command is refused."""
    assert why(command) is not None


def test_long_options_are_matched_whole() -> None:
    """Every true prefix of a long option is unknown, harmless or not, with and without a value."""
    for option in ("--output", "--compress-program", "--reverse", "--key"):
        for end in range(3, len(option)):
            assert why(f"sort {option[:end]}=x a") is not None
            assert why(f"sort {option[:end]} x a") is not None


def test_an_unknown_option_is_never_harmless() -> None:
    """For every program with listed options, an option that is not listed is refused in every spelling."""
    for name, entry in catalogue().items():
        if not entry.any_option and entry.script not in ("test", "printf"):
            for option in ("--permitry", "--permitry=x", "-é"):
                assert plain([name, option]) is not None, name


def everything() -> Iterator[tuple[str, Entry]]:
    """Yield every entry of the data, those of sub-commands as well."""
    waiting = list(catalogue().items())
    while waiting:
        name, entry = waiting.pop()
        yield name, entry
        waiting += [(f"{name} {command}", inner) for command, inner in entry.commands.items()]


def test_the_data_names_many_programs() -> None:
    """At least 130 programs may be used to read, and many more are known not to."""
    never = [name for name, entry in catalogue().items() if entry.never or entry.network]
    assert sum(entry.is_known for entry in catalogue().values()) - len(never) >= 130
    assert len(never) >= 100


def test_the_data_names_each_option_once() -> None:
    """No option is of two kinds, listed and refused, or a pattern; and letters are single letters."""
    for name, entry in everything():
        kinds = (entry.options.plain, entry.options.valued, entry.options.attached, entry.options.separate)
        known = [option for kind in kinds for option in kind]
        assert len(known) == len(set(known)), name
        assert not set(known) & entry.refused.keys(), name
        assert not set("*?[") & set("".join(known)), name
        assert entry.whole_words or all(option[:2] == "--" or len(option) == 2 for option in known), name


def test_reasons_are_one_line_for_a_human() -> None:
    """A reason names what is refused, in one line without a final period."""
    assert why("sort -o x a") == "`sort -o` writes a file"
    assert why("sort --outp=x a") == "`sort` with the unknown option `--outp`"
    assert why("rm x") == "`rm` deletes files"
    assert why("curl x") == "`curl` opens network connections"
    assert why("kubectl -n x get pods") == "`kubectl` opens network connections"
    assert why("./x") == "`./x` is named by its path"
    assert why("ls > out") == "writes `out`"
    assert why("git st") == "`git st` is not known to only read"


def test_judged_says_of_each_program_why_it_may_do_more() -> None:
    """Every program behind its wrappers comes out with its own doubt, and redirections are left to the caller."""
    commands = read_strictly("nice ls > out; sh -c 'cat a | sort -o b'; env -S x; cd x; git log")
    results = classify(commands)
    assert [(one.command.argv[0], one.doubt) for one in results if isinstance(one, Classified)] == [
        ("ls", None),
        ("cat", None),
        ("sort", "`sort -o` writes a file"),
        ("cd", None),
        ("git", "`git` behind `cd` may find a repository that runs programs"),
    ]
    assert [one for one in results if isinstance(one, Refused)] == [
        Refused(commands[2], "`env -S` splits a text into a command")
    ]


def test_an_assignment_is_a_doubt() -> None:
    """A variable that may change what a program does, wherever it is set."""
    for text in ("PATH=. ls", "sh -c 'ls; LD_PRELOAD=x ls'", "env PATH=. ls", "PATH=. sh -c ls"):
        last = classify(read_strictly(text))[-1]
        assert isinstance(last, Classified)
        assert last.doubt is not None
        assert last.command.argv == ("ls",)
    assert classify(read_strictly("LC_ALL=C ls")) == tuple(Classified(one) for one in read_strictly("LC_ALL=C ls"))


@for_each(
    "text",
    [
        "awk '" + "/[a/" * 9_000 + "'",
        "awk '" + "(" * 30_000 + "'",
        "awk '" + "x(" * 15_000 + "'",
        "sed '" + "s/[[:/x/;" * 4_000 + "'",
        "sed " + "-e p " * 9_000,
        "printf '" + "%(" * 15_000 + "'",
        "find " + "-name x " * 7_000,
        "git log " + "%x" * 20_000,
        "env " * 12_000 + "ls",
        "sort " + "-" + "b" * 40_000,
        "ls; " * 990 + "ls",
        "sh -c 'ls'; " * 990 + "ls",
    ],
    ids=lambda text: text[:12],
)
def test_long_commands_take_no_time(text: str) -> None:
    """Every check is linear: 64 KiB of the worst text are judged without an explosion."""
    commands = read_strictly(text)
    begin = time.process_time()
    why_not_reading_all(commands)
    assert time.process_time() - begin < 8
