"""The user's word on projects: pinned, revocable, and believed only from a file no one else could have written."""

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from permitry.config.load import Origin, load_rules
from permitry.config.pin import PROJECT_FILE, real_path
from permitry.config.trust import TrustStore
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.errors import ConfigError

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")

ALLOW = 'schema = 1\n[[rule]]\nid = "permits"\neffect = "allow"\ntools = ["tool"]\n'
CHANGED = "the project has changed since it was trusted; see `permitry trust`"
_TRUST_ALL = """
import sys
from pathlib import Path
from permitry.config.trust import TrustStore
for root in sys.argv[2:]:
    TrustStore(Path(sys.argv[1])).trust(Path(root))
"""


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    """Return a store whose folder does not exist yet."""
    return TrustStore(tmp_path / "state" / "permitry" / "trust.json")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return the file of a project that permits a tool."""
    return _project(tmp_path / "work")


def _project(root: Path, text: str = ALLOW) -> Path:
    path = root / PROJECT_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _trust(store: TrustStore, file: Path) -> None:
    store.trust(file.parents[1])
    assert store.is_trusted(file)


def _verdict(origin: Origin) -> Verdict:
    return load_rules([origin]).policy().decide(ToolCall("tool"), AuthContext()).verdict


def _refusal(store: TrustStore) -> str:
    with pytest.raises(ConfigError) as caught:
        store.entries()
    (problem,) = caught.value.problems
    assert problem.path == str(store.path)
    assert problem.hint
    return problem.message


def test_nothing_is_trusted_at_first(store: TrustStore, file: Path) -> None:
    """Without a store there is no trust, and looking makes none."""
    assert not store.is_trusted(file)
    assert (store.entries(), store.path.parent.exists()) == ((), False)


def test_a_trusted_projects_permission_counts(store: TrustStore, file: Path) -> None:
    """What the user trusts permits."""
    _trust(store, file)
    assert _verdict(store.origin(file)) is Verdict.ALLOW


def test_trust_is_kept_in_the_file(store: TrustStore, file: Path) -> None:
    """Another process finds it there."""
    _trust(store, file)
    assert TrustStore(store.path).is_trusted(file)
    assert [entry.root for entry in TrustStore(store.path).entries()] == [real_path(file.parents[1])]


def test_file_and_folder_are_the_users_alone(store: TrustStore, file: Path) -> None:
    """Whatever the umask says."""
    before = os.umask(0)
    try:
        _trust(store, file)
    finally:
        os.umask(before)
    paths = (store.path, store.path.parent, store.path.with_name("trust.json.lock"))
    assert [stat.S_IMODE(path.stat().st_mode) for path in paths] == [0o600, 0o700, 0o600]


def test_a_changed_project_is_not_trusted_until_it_is_again(store: TrustStore, file: Path) -> None:
    """No one has agreed to the new bytes; going back to the old ones is agreed to."""
    _trust(store, file)
    file.write_text(ALLOW.replace('"tool"', '"*"'))
    assert not store.is_trusted(file)
    assert store.origin(file).distrust == CHANGED
    file.write_text(ALLOW)
    assert store.is_trusted(file)


def test_a_changed_file_it_extends_takes_the_trust_away(store: TrustStore, file: Path) -> None:
    """Permissions reached through `extends` are part of what was trusted."""
    file.with_name("more.toml").write_text(ALLOW)
    file.write_text('schema = 1\nextends = ["more.toml"]\n')
    _trust(store, file)
    file.with_name("more.toml").write_text(ALLOW.replace('"tool"', '"*"'))
    assert not store.is_trusted(file)


def test_a_change_between_looking_and_loading_is_not_trusted(store: TrustStore, file: Path) -> None:
    """What is loaded is what was pinned: the loader compares the bytes it parses."""
    _trust(store, file)
    origin = store.origin(file)
    file.write_text(ALLOW.replace("permits", "others"))
    rules = load_rules([origin])
    assert origin.is_trusted
    assert rules.rules == ()
    assert rules.notices == (f"{file}:2: permission `others` dropped: {CHANGED}",)


def test_a_link_swapped_between_looking_and_loading_is_not_trusted(store: TrustStore, file: Path) -> None:
    """Nor does a link to another file of the project help."""
    file.with_name("more.toml").write_text('schema = 1\n[[rule]]\nid="stops"\neffect="block"\ntools=["tool"]\n')
    file.with_name("wide.toml").write_text(ALLOW)
    file.write_text('schema = 1\nextends = ["more.toml"]\n')
    _trust(store, file)
    origin = store.origin(file)
    file.with_name("more.toml").unlink()
    file.with_name("more.toml").symlink_to("wide.toml")
    assert _verdict(origin) is Verdict.CONFIRM


def test_a_file_put_outside_between_looking_and_loading_is_not_read(store: TrustStore, file: Path) -> None:
    """A trusted project stays inside its folder too, so that no mistake shows what stands elsewhere."""
    file.with_name("more.toml").write_text("schema = 1\n")
    file.write_text('schema = 1\nextends = ["more.toml"]\n')
    _trust(store, file)
    origin = store.origin(file)
    (file.parents[2] / "secret").write_text("password\n")
    file.with_name("more.toml").unlink()
    file.with_name("more.toml").symlink_to(file.parents[2] / "secret")
    with pytest.raises(ConfigError, match="lies outside the project") as caught:
        load_rules([origin])
    assert "password" not in str(caught.value)


def test_restrictions_count_with_trust_and_without(store: TrustStore, file: Path) -> None:
    """Trust adds permissions, its loss takes no restriction away."""
    file.write_text(ALLOW.replace("allow", "block"))
    assert _verdict(store.origin(file)) is Verdict.BLOCK
    _trust(store, file)
    assert _verdict(store.origin(file)) is Verdict.BLOCK


def test_trusting_again_pins_the_new_bytes(store: TrustStore, file: Path) -> None:
    """One project, one entry."""
    _trust(store, file)
    file.write_text(f"{ALLOW}# reviewed\n")
    _trust(store, file)
    assert len(store.entries()) == 1


def test_a_revoked_project_is_not_trusted(store: TrustStore, file: Path) -> None:
    """The bytes have not changed, the user's mind has; nothing else is forgotten."""
    other = _project(file.parents[2] / "other")
    _trust(store, file)
    _trust(store, other)
    assert store.revoke(file.parents[1])
    assert (store.is_trusted(file), store.is_trusted(other)) == (False, True)


def test_revoking_what_is_not_known_changes_nothing(store: TrustStore, file: Path) -> None:
    """Nothing is written, and the answer says so."""
    assert not store.revoke(file.parents[1])
    assert not store.path.exists()


def test_a_project_that_is_gone_can_be_revoked(store: TrustStore, file: Path) -> None:
    """Whoever puts something there later is not trusted for it."""
    _trust(store, file)
    file.parents[1].rename(file.parents[2] / "away")
    assert store.revoke(file.parents[1])
    assert store.entries() == ()


def test_a_moved_project_is_not_trusted(store: TrustStore, file: Path) -> None:
    """Trust is in a place; a copy elsewhere may be in reach of others."""
    _trust(store, file)
    file.parents[1].rename(file.parents[2] / "moved")
    assert not store.is_trusted(file.parents[2] / "moved" / PROJECT_FILE)


def test_a_project_is_known_by_its_real_folder(store: TrustStore, file: Path) -> None:
    """A link to it is the same project; the link led elsewhere is another."""
    link = file.parents[2] / "link"
    link.symlink_to(file.parents[1])
    store.trust(link)
    assert store.is_trusted(file)
    assert store.is_trusted(link / PROJECT_FILE)
    link.unlink()
    link.symlink_to(_project(file.parents[2] / "other", ALLOW).parents[1])
    assert not store.is_trusted(link / PROJECT_FILE)


def test_a_broken_project_is_not_trusted_and_costs_no_old_trust(store: TrustStore, file: Path) -> None:
    """Trusting raises before anything is written."""
    _trust(store, file)
    before = store.path.read_bytes()
    file.write_text("schema = 2\n")
    with pytest.raises(ConfigError):
        store.trust(file.parents[1])
    assert store.path.read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"version": 1}', b'{"version": 2, "projects": {}}',
        b'{"version": 1, "projects": []}', b'{"version": 1, "projects": {"/work": []}}',
        b'{"version": 1, "projects": {"/work": {".permitry/rules.toml": null}}}',
    ],
)  # fmt: skip
def test_a_damaged_store_trusts_nothing_and_says_so(store: TrustStore, file: Path, content: bytes) -> None:
    """Half a store is not a store, and it is not written over."""
    _trust(store, file)
    store.path.write_bytes(content)
    assert _refusal(store) == "is damaged"
    assert not store.is_trusted(file)
    (notice,) = load_rules([store.origin(file)]).notices
    assert notice.endswith(f"permission `permits` dropped: nothing is trusted: `{store.path}` is damaged")
    with pytest.raises(ConfigError):
        store.trust(file.parents[1])
    assert store.path.read_bytes() == content


def test_a_linked_store_trusts_nothing(store: TrustStore, file: Path) -> None:
    """Who may write the other end would decide."""
    _trust(store, file)
    store.path.rename(store.path.with_name("other.json"))
    store.path.symlink_to("other.json")
    assert _refusal(store) == "is a link"
    assert not store.is_trusted(file)


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_store_that_others_may_write_trusts_nothing(store: TrustStore, file: Path, mode: int) -> None:
    """It may hold anybody's word."""
    _trust(store, file)
    store.path.chmod(mode)
    assert "no other user may write" in _refusal(store)
    assert not store.is_trusted(file)


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o1777])
def test_a_store_in_a_folder_that_others_may_write_trusts_nothing(store: TrustStore, file: Path, mode: int) -> None:
    """Who may write the folder may replace the file; nothing is written there either."""
    _trust(store, file)
    store.path.parent.chmod(mode)
    assert "no other user may write" in _refusal(store)
    assert not store.is_trusted(file)
    store.path.unlink()
    with pytest.raises(ConfigError, match="no other user may write"):
        store.trust(file.parents[1])


@needs_root
@pytest.mark.parametrize("owned", [lambda path: path, lambda path: path.parent], ids=["file", "folder"])
def test_a_store_of_another_owner_trusts_nothing(store: TrustStore, file: Path, owned: Callable[[Path], Path]) -> None:
    """Its owner could write it at any time."""
    _trust(store, file)
    os.chown(owned(store.path), 1, 0)
    assert "must be yours" in _refusal(store)
    assert not store.is_trusted(file)


@pytest.mark.parametrize("replace", [os.mkfifo, Path.mkdir], ids=["pipe", "folder"])
def test_a_store_that_is_no_file_trusts_nothing(store: TrustStore, file: Path, replace: Callable[[Path], None]) -> None:
    """No one waits for a pipe that no one fills."""
    store.path.parent.mkdir(parents=True, mode=0o700)
    replace(store.path)
    assert _refusal(store) == "cannot be read: it is not a regular file"
    assert not store.is_trusted(file)


def test_a_store_that_cannot_be_read_trusts_nothing(
    store: TrustStore, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's reason is reported, in lower case."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    _trust(store, file)
    monkeypatch.setattr("permitry.config.trust.os.open", refuse)
    assert _refusal(store) == "cannot be read: permission denied"


def test_a_store_that_cannot_be_written_is_told(store: TrustStore, file: Path) -> None:
    """A file where its folder should be, for one."""
    store.path.parents[1].write_text("")
    with pytest.raises(ConfigError, match="cannot be written: "):
        store.trust(file.parents[1])


def test_a_link_in_place_of_the_lock_is_not_followed(store: TrustStore, file: Path) -> None:
    """Nothing is made at its other end."""
    store.path.parent.mkdir(parents=True, mode=0o700)
    store.path.with_name("trust.json.lock").symlink_to(file.parents[2] / "made")
    with pytest.raises(ConfigError, match="cannot be written: "):
        store.trust(file.parents[1])
    assert not (file.parents[2] / "made").exists()


@pytest.mark.parametrize("folder", [".permitry", "state/permitry", "."])
def test_a_store_inside_the_project_trusts_nothing(store: TrustStore, file: Path, folder: str) -> None:
    """An agent that works in the project could write there that it is trusted."""
    _trust(store, file)
    inside = TrustStore(file.parents[1] / folder / "trust.json")
    inside.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    inside.path.write_bytes(store.path.read_bytes())
    assert inside.entries() == store.entries()
    assert not inside.is_trusted(file)
    assert "lies inside the project" in inside.origin(file).distrust
    with pytest.raises(ConfigError, match="lies inside the project"):
        inside.trust(file.parents[1])


def test_a_failed_write_leaves_the_old_store_and_no_litter(
    store: TrustStore, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is replaced in one step, or not at all."""

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    _trust(store, file)
    before = store.path.read_bytes()
    monkeypatch.setattr("permitry.config.trust.os.fsync", fail)
    with pytest.raises(OSError, match="No space"):
        store.revoke(file.parents[1])
    assert store.path.read_bytes() == before
    assert {path.name for path in store.path.parent.iterdir()} == {"trust.json", "trust.json.lock"}


def test_two_processes_that_trust_at_once_lose_nothing(store: TrustStore, tmp_path: Path) -> None:
    """Each reads and writes while the other waits."""
    roots = [_project(tmp_path / f"work-{number}").parents[1] for number in range(12)]
    halves = (roots[:6], roots[6:])
    words = [[sys.executable, "-c", _TRUST_ALL, str(store.path), *map(str, half)] for half in halves]
    running = [subprocess.Popen(each) for each in words]
    assert [process.wait(30) for process in running] == [0, 0]
    assert [entry.root for entry in store.entries()] == sorted(map(real_path, roots))


def test_threads_that_trust_at_once_lose_nothing(store: TrustStore, tmp_path: Path) -> None:
    """The lock holds within a process too."""
    roots = [_project(tmp_path / f"work-{number}").parents[1] for number in range(8)]
    threads = [threading.Thread(target=store.trust, args=(root,)) for root in roots]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.entries()) == len(roots)


def test_a_reader_sees_the_old_store_or_the_new(store: TrustStore, file: Path) -> None:
    """Never half of one, however often it is written."""
    _trust(store, file)
    other = _project(file.parents[2] / "other").parents[1]
    ended = threading.Event()

    def write() -> None:
        for _ in range(50):
            store.trust(other)
            store.revoke(other)
        ended.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = [store.is_trusted(file)]
    while not ended.is_set():
        seen.append(store.is_trusted(file))
    writer.join()
    assert all(seen)


@pytest.mark.parametrize("name", ["naïve", "a b\n\x1b[2J", os.fsdecode(b"\xff")])
def test_a_folder_of_any_name_can_be_trusted(store: TrustStore, tmp_path: Path, name: str) -> None:
    """Also one that is not text."""
    _trust(store, _project(tmp_path / name))


def test_the_store_is_where_the_system_keeps_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By default it is next to the record."""
    monkeypatch.setattr("platformdirs.user_state_path", lambda name: tmp_path / name)
    assert TrustStore().path == tmp_path / "permitry" / "trust.json"


def test_a_store_of_this_version_reads_as_written(store: TrustStore, file: Path) -> None:
    """The format is plain: version, projects, files, digests."""
    _trust(store, file)
    (entry,) = store.entries()
    projects = {str(entry.root): dict(entry.digests)}
    assert json.loads(store.path.read_text()) == {"version": 1, "projects": projects}


def test_an_origin_without_a_pin_stays_what_it_is(store: TrustStore, file: Path) -> None:
    """Only what was pinned can lose its trust."""
    origin = Origin(str(file))
    assert origin.unpinned() is origin
    _trust(store, file)
    pinned = store.origin(file)
    assert pinned.unpinned() == attrs.evolve(pinned, is_trusted=False, pinned=None, distrust=CHANGED)
