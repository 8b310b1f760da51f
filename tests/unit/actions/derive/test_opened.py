"""Which open words may be commands: as bash and the program would read them."""

from tests.tables import for_each

from permitry.actions.derive.opened import may_run_open
from permitry.actions.reading.strict import read_strictly


@for_each(
    "text",
    [
        "ls $x", "cat -- $x", 'grep "$x" f', "git log $x", 'git -C "$d" status', 'git "$x"', 'git commit -m "$x"',
        'find "$d" -name "$n"', 'find src/"$x" -print', 'xargs rm "$x"', "xargs -n 1 rm $x", 'sudo -u "$u" ls',
        'awk -v "a=$x" p f', "awk p $x", 'make -C "$d"', 'tar -cf "$f" x',
        '[ -n "$x" ]', '[ "$x" = y ]', "[[ -n $x ]]", "printf %s $x", 'printf "$x"', "export A=$x", 'read -p "$x" a',
        'docker run -v "$x":/y img ls', "shift $x", 'foo "a $x"', "sort -- $x", 'strace -f ls "$x"',
        'sort -k "$x" -u', 'tar -C "$d" -xf "$f"', 'tar xf "$f"', 'ssh -p "$p" h', 'foo "$#" "$PWD/$x"',
        'git fetch origin "refs/heads/$b"', 'git grep -e "$x"', 'find "$d" -exec rm {} ";"', 'make "-j$(nproc)"',
        'sudo ls "$x"', "ls | xargs git log", 'wait "$!"', 'rg -- "$x" a',
    ],
)  # fmt: skip
def test_an_open_word_is_an_operand(text: str) -> None:
    """Of a program that runs nothing, or after what a program takes for a command, or in quotes after an option."""
    assert not may_run_open(read_strictly(text)[-1].words)


@for_each(
    "text",
    [
        "git $x", 'git "$x" y', "git -C $d status", 'git -c "$x" log', "git grep $x", 'git rebase "$x"', "find $d",
        "find . -name $x", "xargs -n $x ls", "sudo -u $u ls", 'strace -o "$x" ls',
        "python $x", 'python -c "$x"', 'awk "$x"', "awk -v $x p", 'sed "$x" f', "make $x", "tar cf a $x", "ssh $h ls",
        "[ $x ]", '[ "$x" "$y" ]', '[ -v "$x" ]', 'printf "$x" y', "printf $x", "printf -v $x y", "export $x",
        "unset $x", "read $x", "eval $x", "bash $x", "npm $x run a", "docker run -v $x:/y img ls", "foo $x",
        'python a.py "$x"', 'python - "$x"', 'perl -pe "s/$x//" f', 'npm view "$x"', 'foo "$x"',
        'foo -- "$x"', 'foo "-a$x"', 'foo --a -- "$x"',
        'tar -x "$y"', 'tar xfC "$y" a "$z"', 'split -d "$y"',
        'make -s "$y"', 'make "A=$y"', 'make "a$y"', 'make -- "A=$y"', 'npm run a -- "$y"',
        'python -m timeit "a $y"',
        "find -files0-from - -exec tar cf a {} ';'", 'make -f "$y"', 'ssh -v "$y"', 'ssh h "ls $y"',
        'git rebase --root "$y"',
        'git fetch -q "$y"',
        'git fetch "e$y"', 'git -c protocol.ext.allow=always fetch "ext::$y"', 'git config "$y" x', 'git grep "$x"',
        'find "$a" "$b" "$c"', 'find "$a" git push ";"', 'rsync a "$b"', 'sed p a "$y"', 'rg "$x" .', 'sort "$x"',
        'sort -k "$x" "$y"', 'sort -o -k "$x"', 'sort --unknown -k "$x"', 'sort * -- "$x"', "sort -k $x",
        'sort --compress-program "$x"', 'sort -t "$x" --compress-program="$y"', 'find . -exec sh -c "ls $x" ";"',
        'find . -exec tar "$x" ";"', 'sudo bash -c "ls $x"', 'watch "ls $x"', 'xargs -a "$x" sort', "xargs tar cf a",
        'wait "$x"', 'psql -c "a $x"', 'docker "$x" run img ls', 'docker run "$x" img',
    ],
)  # fmt: skip
def test_an_open_word_may_be_a_command(text: str) -> None:
    """An option that runs something, a name that bash evaluates, a script."""
    assert may_run_open(read_strictly(text)[-1].words)
