"""Which open words may be commands: as bash and the program would read them."""

import pytest

from permitry.actions.shell.opened import may_run_open
from permitry.actions.shell.strict import read_strictly


@pytest.mark.parametrize(
    "text",
    [
        "ls $x", "cat -- $x", 'grep "$x" f', "git log $x", 'git -C "$d" status', 'git "$x"', 'git commit -m "$x"',
        'find "$d" -name "$n"', 'find src/"$x" -print', 'xargs rm "$x"', "xargs -n 1 rm $x", 'sudo -u "$u" ls',
        "python a.py $x", "python - $x", 'awk -v "a=$x" p f', "awk p $x", 'make -C "$d"', 'tar -cf "$f" x',
        '[ -n "$x" ]', '[ "$x" = y ]', "[[ -n $x ]]", "printf %s $x", 'printf "$x"', "export A=$x", 'read -p "$x" a',
        'npm view "$x"', 'docker run -v "$x":/y img ls', "shift $x", 'foo "$x"', "sort -- $x", 'strace -f ls "$x"',
    ],
)  # fmt: skip
def test_an_open_word_is_an_operand(text: str) -> None:
    """Of a program that runs nothing, or after what a program takes for a command, or in quotes after an option."""
    assert not may_run_open(read_strictly(text)[-1].words)


@pytest.mark.parametrize(
    "text",
    [
        "git $x", 'git "$x" y', "git -C $d status", 'git -c "$x" log', "git grep $x", 'git rebase "$x"', "find $d",
        "find . -name $x", "xargs -n $x ls", "sudo -u $u ls", 'strace -o "$x" ls',
        "python $x", 'python -c "$x"', 'awk "$x"', "awk -v $x p", 'sed "$x" f', "make $x", "tar cf a $x", "ssh $h ls",
        "[ $x ]", '[ "$x" "$y" ]', '[ -v "$x" ]', 'printf "$x" y', "printf $x", "printf -v $x y", "export $x",
        "unset $x", "read $x", "eval $x", "bash $x", "npm $x run a", "docker run -v $x:/y img ls", "foo $x",
    ],
)  # fmt: skip
def test_an_open_word_may_be_a_command(text: str) -> None:
    """An option that runs something, a name that bash evaluates, a script."""
    assert may_run_open(read_strictly(text)[-1].words)
