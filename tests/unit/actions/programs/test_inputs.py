"""Which programs take commands from their standard input."""

from tests.tables import for_each

from permitry.actions.programs.inputs import reads_commands, takes_commands
from permitry.actions.reading.lenient import read_leniently


@for_each(
    ("text", "reads"),
    [
        *(("sh", True), ("bash -s a", True), ("bash -", True), ("sh f", False), ("bash -c x", False)),
        *(("bash -eo posix", True), ("bash -o posix f", False), ("bash --rcfile f", True), ("bash /dev/fd/3", True)),
        *(("ssh h", True), ("ssh h ls", False), ("ssh -N h", False), ("ssh -L 1:h:2 h -fN", False)),
        *(("ssh -l -N h", True), ("ssh -vNp 1 h", True)),
        *(("at now", True), ("crontab -", True), ("crontab f", False)),
        *(("su", True), ("su - bob", True), ("su -c x", False), ("script f", True), ("script -qc x f", False)),
        *(("sudo -s", True), ("sudo -u bob -i", True), ("sudo --user bob --shell", True), ("doas -s", True)),
        *(("sudo", False), ("sudo -s ls", False), ("sudo ls -i", False)),
        *((". /dev/stdin", True), ("source -", True), (". /dev/./fd/0", True), (". /proc/self/fd/0", True)),
        *((". $x", True), (". -- -", True), (". ./f $x", False)),
        *(("xargs sh", True), ("xargs -I% sh -c %", True), ("xargs bash -c", True), ("xargs ls", False)),
        *(("chroot d", True), ("chroot --userspec a d", True), ("chroot d ls", False), ("unshare -r", True)),
        *(("make -f -", True), ("make -f/dev/stdin", True), ("make -f Makefile", False), ("cat", False)),
    ],
)
def test_a_shell_without_a_script_reads_commands(text: str, *, reads: bool) -> None:
    """From its standard input, whatever feeds it."""
    assert reads_commands(read_leniently(text).commands[0].words) is reads


def test_an_assignment_takes_no_commands() -> None:
    """Also in a construct behind a pipe, where its words are none."""
    assert not takes_commands((), is_piped=True)
