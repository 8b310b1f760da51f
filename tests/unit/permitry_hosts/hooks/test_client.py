"""The client: where the resident is not certain, the hook in process; where its reply is not, the call is blocked."""

import contextlib
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import permitry
from permitry.config.layers import ADMIN_FILE
from permitry_hosts.hooks import client
from permitry_hosts.hooks.host import Reply
from permitry_hosts.hooks.request import LARGEST, receive, seal

CLIENT = Path(client.__file__)
KEY = bytes(range(32))
IN_PROCESS = ("/bin/sh", "-c", 'echo "in process: $*"; cat; exit 2', "hook", "claude-code")
Serve = Callable[[socket.socket], object]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of a socket in a folder of this user's own, with a key."""
    folder = tmp_path_factory.mktemp("c")
    folder.chmod(0o700)
    key = folder / "s.key"
    key.write_bytes(KEY)
    key.chmod(0o600)
    return folder / "s"


def run(
    place: Path, payload: bytes = b"{}", *, seconds: float = 20, script: Path = CLIENT
) -> "subprocess.CompletedProcess[bytes]":
    """Return what becomes of a call."""
    words = [sys.executable, "-I", "-S", str(script), str(place), str(seconds), *IN_PROCESS]
    return subprocess.run(words, input=payload, capture_output=True, check=False)


@contextlib.contextmanager
def serving(place: Path, serve: Serve, user: int | None = None) -> Iterator[None]:
    """Answer clients, as a user if one is named."""
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(str(place))
        place.chmod(0o600)
        if user is not None:
            os.seteuid(user)
        try:
            line.listen()
        finally:
            if user is not None:
                os.seteuid(0)
        line.settimeout(0.05)
        is_over = threading.Event()

        def work() -> None:
            while not is_over.is_set():
                with contextlib.suppress(OSError, ValueError), line.accept()[0] as one:
                    one.settimeout(10)
                    serve(one)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()


def replying(change: Callable[[bytes], bytes] = lambda data: data, code: int = 0, key: bytes = KEY) -> Serve:
    """Return a resident whose reply is changed on the way."""

    def serve(one: socket.socket) -> None:
        one.sendall(b"+")
        request = receive(one, 1)
        one.sendall(change(seal(Reply("yes", "no", code), request, key)))

    return serve


@pytest.mark.parametrize("code", [0, 2])
def test_the_reply_is_printed_and_its_code_is_that_of_the_client(place: Path, code: int) -> None:
    """There is nothing else on either stream."""
    with serving(place, replying(code=code)):
        done = run(place)
    assert (done.returncode, done.stdout, done.stderr) == (code, b"yes\n", b"no\n")


def test_words_are_passed_on_as_they_were_given(place: Path, tmp_path: Path) -> None:
    """In a locale that does not decode them as UTF-8, too: they may name a rule file."""
    came: list[tuple[str, ...]] = []

    def serve(one: socket.socket) -> None:
        one.sendall(b"+")
        came.append(receive(one, 1).words)

    script = tmp_path / "client.py"
    code = f"exec(compile(open({str(CLIENT)!r}).read(), 'client', 'exec'))"
    script.write_text(f"import sys\nsys.getfilesystemencoding = lambda: 'latin-1'\n{code}\n")
    words = [sys.executable, "-I", "-S", str(script), str(place), "20", "x", "hook", "codex", "\xe9.toml"]
    with serving(place, serve):
        subprocess.run(words, input=b"{}", capture_output=True, check=False)
    assert came == [("codex", os.fsdecode(b"\xe9.toml"))]


def _is_in_process(done: "subprocess.CompletedProcess[bytes]", *, starts: bool = True) -> bool:
    words = "claude-code --start-resident" if starts else "claude-code"
    return (done.returncode, done.stdout) == (2, f"in process: {words}\n{{}}".encode())


def test_without_a_resident_the_hook_decides_in_process(place: Path) -> None:
    """It gets the whole payload, and starts the resident."""
    assert _is_in_process(run(place))
    assert _is_in_process(run(place / "nowhere" / "s"))
    with serving(place, lambda _: None):
        pass
    _mark(place).unlink()
    assert _is_in_process(run(place))


def test_one_starts_the_resident_and_the_others_wait_for_it(place: Path) -> None:
    """Twelve in process at once would take longer than a host waits."""
    with ThreadPoolExecutor(4) as pool:
        started = [pool.submit(run, place) for _ in range(4)]
        while not _mark(place).exists():
            time.sleep(0.01)
        with serving(place, replying()):
            done = [each.result() for each in started]
    assert [_is_in_process(each) for each in done].count(True) == 1
    assert sorted(each.stdout for each in done)[1:] == [b"yes\n"] * 3


def _mark(place: Path) -> Path:
    return place.with_name("s.starting")


def test_a_start_that_comes_to_nothing_is_not_waited_for_again(place: Path) -> None:
    """Nor is one at another time, as a clock that was set may say."""
    _mark(place).touch()
    began = time.monotonic()
    assert _is_in_process(run(place))
    assert time.monotonic() - began > 2
    for age in (10, -1_000):
        then = time.time() - age
        os.utime(_mark(place), (then, then))
        assert _is_in_process(run(place))
        assert abs(_mark(place).stat().st_mtime - then) > 5


def test_where_nothing_can_be_noted_the_hook_decides_in_process(place: Path) -> None:
    """It may start a resident that another one starts as well."""
    _mark(place).mkdir()
    os.utime(_mark(place), (0, 0))
    assert _is_in_process(run(place))


@pytest.mark.parametrize(
    ("name", "mode"),
    [("..", 0o710), ("..", 0o701), ("..", 0o777), (".", 0o666), (".", 0o620), ("key", 0o640), ("key", 0o604)],
)
def test_what_others_could_change_is_not_used(place: Path, name: str, mode: int) -> None:
    """The folder, the socket, and the key."""
    with serving(place, replying()):
        {"..": place.parent, ".": place, "key": place.with_name("s.key")}[name].chmod(mode)
        assert _is_in_process(run(place))


@pytest.mark.parametrize("key", [b"", KEY[1:], KEY + b"x"])
def test_a_key_of_another_length_is_none(place: Path, key: bytes) -> None:
    """An empty one could be known to anyone."""
    place.with_name("s.key").write_bytes(key)
    with serving(place, replying(key=KEY)):
        assert _is_in_process(run(place))


def test_links_are_not_followed(place: Path) -> None:
    """They could be changed later."""
    elsewhere = place.with_name("t")
    with serving(elsewhere, replying()):
        place.symlink_to(elsewhere)
        assert _is_in_process(run(place))
    place.unlink()
    place.with_name("s.key").rename(place.with_name("k"))
    place.with_name("s.key").symlink_to(place.with_name("k"))
    with serving(place, replying()):
        assert _is_in_process(run(place))


NAMELESS = """
import ctypes, sys
words = [word.encode() for word in sys.argv[1:]]
texts = [b"=x", b"A=1"]
arrays = [(ctypes.c_char_p * (len(each) + 1))(*each, None) for each in (words, texts)]
ctypes.CDLL(None).execve(words[0], *arrays)
"""


@pytest.mark.parametrize("is_served", [False, True])
def test_a_variable_without_a_name_is_left_out(place: Path, *, is_served: bool) -> None:
    """Neither the hook in process nor the resident could be given it."""
    words = [sys.executable, "-I", "-S", str(CLIENT), str(place), "20", *IN_PROCESS]
    known = []

    def serve(line: socket.socket) -> None:
        line.sendall(b"+")
        request = receive(line, 1)
        known.append(request.environ)
        line.sendall(seal(Reply("yes"), request, KEY))

    with serving(place, serve) if is_served else contextlib.nullcontext():
        done = subprocess.run([sys.executable, "-c", NAMELESS, *words], input=b"{}", capture_output=True, check=False)
    assert done.stdout.decode().partition(":")[0] == ("yes\n" if is_served else "in process")
    assert [each.get(b"A") for each in known if b"" not in each] == [b"1"] * is_served


def test_a_resident_that_does_not_take_the_call_leaves_it(place: Path) -> None:
    """It closes the line, says something else, or nothing for too long."""
    for serve in (lambda one: one.close(), lambda one: one.sendall(b"-"), lambda _: time.sleep(4)):
        with serving(place, serve):
            assert _is_in_process(run(place))
        place.unlink()


def test_it_can_be_switched_off(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hook in process is as strict."""
    monkeypatch.setenv("PERMITRY_NO_RESIDENT", "1")
    with serving(place, replying()):
        assert _is_in_process(run(place), starts=False)


def test_rules_of_an_administrator_are_read_in_process(place: Path, tmp_path: Path) -> None:
    """A process that is the user's could have been changed by the user."""
    assert f'_ADMIN = "{ADMIN_FILE}"' in CLIENT.read_text()
    rules, script = tmp_path / "rules.toml", tmp_path / "client.py"
    script.write_text(CLIENT.read_text().replace(str(ADMIN_FILE), "/proc/1/mem/x" if os.geteuid() else str(rules)))
    if os.geteuid() == 0:
        rules.touch()
        os.chown(rules, 1, 1)
    else:
        script.write_text(CLIENT.read_text().replace(str(ADMIN_FILE), "/etc/passwd"))
    with serving(place, replying()):
        assert _is_in_process(run(place, script=script), starts=False)


def _is_blocked(done: "subprocess.CompletedProcess[bytes]", why: str = "") -> bool:
    is_said = b"permitry did not answer, so this call did not run" in done.stderr and why.encode() in done.stderr
    return (done.returncode, done.stdout) == (2, b"") and is_said


@pytest.mark.parametrize(
    "change",
    [
        lambda _: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: data[:32],
        lambda data: data + b"x",
        lambda data: bytes([data[0] ^ 1]) + data[1:],
        lambda data: data[:32] + b"\2" + data[33:],
        lambda data: data.replace(b"yes", b"YES"),
        lambda data: data * 2,
        lambda _: bytes(41),
        lambda _: b"x" * 20_000_000,
    ],
    ids=["none", "half", "cut", "seal", "more", "other seal", "other code", "other text", "twice", "zeros", "flood"],
)
def test_a_reply_that_is_not_whole_and_sealed_blocks(place: Path, change: Callable[[bytes], bytes]) -> None:
    """Nothing of it is printed."""
    with serving(place, replying(change)):
        assert _is_blocked(run(place))


@pytest.mark.parametrize("code", [1, 3, 127, 255])
def test_other_codes_block(place: Path, code: int) -> None:
    """Some hosts run the call then."""
    with serving(place, replying(code=code)):
        assert _is_blocked(run(place))


def test_a_reply_under_another_key_blocks(place: Path) -> None:
    """Who replaces the socket has to know the key."""
    with serving(place, replying(key=bytes(32))):
        assert _is_blocked(run(place))


def test_a_reply_to_another_request_blocks(place: Path) -> None:
    """Also to the same payload: each request has a number of its own."""
    kept = bytearray()

    def keep(data: bytes) -> bytes:
        kept.extend(data)
        return data

    with serving(place, replying(keep)):
        assert run(place).returncode == 0
    place.unlink()
    with serving(place, replying(lambda _: bytes(kept))):
        assert _is_blocked(run(place))


def test_there_is_one_deadline_for_the_whole(place: Path) -> None:
    """However often a byte comes."""

    def drip(one: socket.socket) -> None:
        one.sendall(b"+")
        receive(one, 1)
        for _ in range(100):
            one.sendall(b"x")
            time.sleep(0.1)

    begun = time.monotonic()
    with serving(place, drip):
        assert _is_blocked(run(place, seconds=1), "TimeoutError")
        assert time.monotonic() - begun < 5


def test_a_payload_that_does_not_end_blocks(place: Path) -> None:
    """The deadline is for it as well."""
    words = [sys.executable, "-I", "-S", str(CLIENT), str(place), "1", *IN_PROCESS]
    with (
        serving(place, replying()),
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process,
    ):
        assert process.wait(10) == 2


def test_a_payload_may_have_8_mib(place: Path) -> None:
    """And not a byte more."""
    sizes = []

    def serve(one: socket.socket) -> None:
        one.sendall(b"+")
        request = receive(one, 1)
        sizes.append(len(request.payload))
        one.sendall(seal(Reply("yes"), request, KEY))

    with serving(place, serve):
        assert run(place, b"x" * LARGEST).stdout == b"yes\n"
    place.unlink()
    with serving(place, serve):
        assert _is_blocked(run(place, b"x" * (LARGEST + 1)), "larger")
    assert sizes == [LARGEST]


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_not_taken_for_the_line(place: Path, closed: str) -> None:
    """A reply that goes into the socket is no objection to the host."""
    words = [sys.executable, "-I", "-S", str(CLIENT), str(place), "5", "/bin/false", "hook", "claude-code"]
    with serving(place, replying()):
        done = subprocess.run(["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *words], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, b"")


def test_an_output_that_cannot_be_written_blocks(place: Path) -> None:
    """Nothing on standard output would be no objection."""
    words = [sys.executable, "-I", "-S", str(CLIENT), str(place), "5", *IN_PROCESS]
    with serving(place, replying()), open("/dev/full", "wb") as full:  # noqa: PTH123 -- a device
        assert subprocess.run(words, input=b"{}", stdout=full, stderr=subprocess.PIPE, check=False).returncode == 2


def test_nothing_to_run_in_its_place_blocks(place: Path) -> None:
    """And so does a command that is none."""
    for command in (["/nowhere/python", "hook"], []):
        words = [sys.executable, "-I", "-S", str(CLIENT), str(place), "5", *command]
        done = subprocess.run(words, input=b"{}", capture_output=True, check=False)
        assert _is_blocked(done)


@as_root
def test_a_resident_of_another_user_is_not_used(place: Path) -> None:
    """Whoever owns the socket: it counts who listens."""
    with serving(place, replying(), user=65534):
        assert _is_in_process(run(place))
    for path in (place, place.with_name("s.key"), place.parent):
        again = Path(shutil.copytree(place.parent, place.parent.with_name("copy"), ignore=lambda *_: ["s"])) / "s"
        again.parent.chmod(0o700)
        with serving(again, replying()):
            os.chown(again.parent / path.relative_to(place.parent), 65534, -1)
            assert _is_in_process(run(again))
        shutil.rmtree(again.parent)


def test_the_deadline_is_not_left_to_the_hook_in_process(place: Path) -> None:
    """It has its own; an alarm would outlive the change of the program."""
    words = [sys.executable, "-I", "-S", str(CLIENT), str(place), "0.1", "/bin/sh", "-c", "sleep 1; exit 7", "hook"]
    assert subprocess.run(words, input=b"{}", capture_output=True, check=False).returncode == 7


def test_its_seal_is_the_keyed_hash_of_nonce_request_and_reply(place: Path) -> None:
    """As the module of hashes computes it, which the client does not import."""
    requests = []

    def serve(one: socket.socket) -> None:
        one.sendall(b"+")
        request = receive(one, 1)
        requests.append(request)
        body = bytes([0]) + (2).to_bytes(8, "big") + b"{}"
        one.sendall(hashlib.blake2b(request.data + body, key=KEY, digest_size=32).digest() + body)

    with serving(place, serve):
        assert run(place, b"payload").stdout == b"{}"
    assert requests[0].words == ("claude-code",)
    assert requests[0].payload == b"payload"
    assert requests[0].folder == os.fsencode(Path.cwd())
    assert requests[0].environ[b"PATH"] == os.environb[b"PATH"]


def test_a_hook_that_was_installed_before_finds_the_client(place: Path, tmp_path: Path) -> None:
    """At its earlier place; without the present one the call is blocked."""
    earlier = Path(permitry.__file__).parent / "hooks" / "client.py"
    done, same = run(place, script=earlier), run(place)
    assert (done.returncode, done.stdout, done.stderr) == (same.returncode, same.stdout, same.stderr)
    assert done.stdout.startswith(b"in process: ")
    alone = tmp_path / "permitry/hooks/client.py"
    alone.parent.mkdir(parents=True)
    shutil.copy(earlier, alone)
    done = run(place, script=alone)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"permitry did not answer, so this call did not run" in done.stderr
    words = ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, "-I", "-S", str(alone), str(place), "1"]
    assert subprocess.run(words, input=b"", capture_output=True, check=False).returncode == 2
    present = tmp_path / "permitry_hosts/hooks/client.py"
    present.parent.mkdir(parents=True)
    present.touch()
    assert run(place, script=alone).returncode == 2
