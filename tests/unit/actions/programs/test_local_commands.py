"""Commands that a program runs on this machine by an option."""

from tests.tables import for_each

from permitry.actions.programs.local_commands import local_commands
from permitry.actions.reading.strict import read_strictly


@for_each(
    ("text", "commands"),
    [
        ("ssh -o ProxyCommand='a b' h", ["a b"]), ("ssh -oproxycommand=a h", ["a"]),
        ("ssh h -o 'LocalCommand a b' c", ["a b"]),
        ("ssh -o PKCS11Provider=/a.so h", ["/a.so"]), ("ssh -F f h", ["f"]), ("ssh -vF f h", ["f"]),
        ("ssh -Ff h", ["f"]),
        ("ssh h grep -F x", []), ("ssh -o BatchMode=yes -i k h", []), ("ssh h", []),
        ("ssh -o RemoteCommand=a h", ["a"]),
        ("scp -F f a h:", ["f"]), ("sftp -b f h", ["f"]), ("lftp -f f", ["f"]), ("autossh -F f h", ["f"]),
        ("su -c make -s /x/sh", ["/x/sh"]), ("su --shell=/x/sh", ["/x/sh"]), ("su -s /bin/bash -c make", []),
        ("su -s /bin/x/../../a/bash", ["/bin/x/../../a/bash"]), ("su -c make", []), ("sudo -R /x make", ["/x"]),
        ("sudo make -D x", []), ("cat -F f", []),
    ],
)  # fmt: skip
def test_what_an_option_runs_is_found(text: str, commands: list[str]) -> None:
    """And nothing else, where another machine runs the rest."""
    assert list(local_commands(read_strictly(text)[0].words)) == commands
