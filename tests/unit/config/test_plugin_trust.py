"""Trusting a plugin folder: its files as they are now, and nothing else."""

from pathlib import Path

import pytest

from permitry.config.pin import PluginPin
from permitry.config.trust import TrustStore
from permitry.errors import ConfigError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a plugin folder with a tool and an internal file."""
    path = tmp_path / "plugins"
    path.mkdir()
    (path / "hello.py").write_text("plugin = 1")
    (path / "_shared.py").write_text("")
    return path


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    """Return an empty store."""
    return TrustStore(tmp_path / "state" / "trust.json")


def test_what_was_trusted_is_what_is_given(store: TrustStore, folder: Path) -> None:
    """The bytes to run are those that were compared."""
    with pytest.raises(ConfigError, match="the plugin folder is not trusted, and a plugin is code"):
        store.plugins(folder)
    store.trust_plugins(folder)
    plugins = store.plugins(folder)
    (folder / "hello.py").write_text("evil = 1")
    assert plugins.files["hello.py"] == b"plugin = 1"


@pytest.mark.parametrize("change", ["edit", "internal", "more", "fewer"])
def test_any_change_takes_the_trust_away(store: TrustStore, folder: Path, change: str) -> None:
    """Also in an internal file, one more, and one less; and undoing it gives it back."""
    store.trust_plugins(folder)
    match change:
        case "edit":
            (folder / "hello.py").write_text("plugin = 2")
        case "internal":
            (folder / "_shared.py").write_text("#")
        case "more":
            (folder / "more.py").touch()
        case _:
            (folder / "_shared.py").unlink()
    with pytest.raises(ConfigError, match="has changed since it was trusted"):
        store.plugins(folder)
    (pin,) = store.entries()
    assert (isinstance(pin, PluginPin), pin.holds()) == (True, False)
    store.trust_plugins(folder)
    assert store.plugins(folder).path == folder


def test_a_folder_is_trusted_where_it_is(store: TrustStore, folder: Path) -> None:
    """A copy elsewhere is not; a link to it leads to it."""
    store.trust_plugins(folder)
    copy = folder.with_name("copy")
    copy.mkdir()
    for name in ("hello.py", "_shared.py"):
        (copy / name).write_bytes((folder / name).read_bytes())
    with pytest.raises(ConfigError, match="is not trusted"):
        store.plugins(copy)
    link = folder.with_name("link")
    link.symlink_to(folder)
    assert store.plugins(link).path == folder


def test_a_revoked_folder_is_not_trusted(store: TrustStore, folder: Path) -> None:
    """Even when it is gone by then."""
    store.trust_plugins(folder)
    assert (store.revoke(folder), store.revoke(folder)) == (True, False)
    with pytest.raises(ConfigError, match="is not trusted"):
        store.plugins(folder)


def test_what_is_no_plugin_folder_is_refused(store: TrustStore, tmp_path: Path) -> None:
    """Nothing there, nothing in it, or internal files only."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "_shared.py").touch()
    for name, told in (("nowhere", "does not exist"), ("empty", "there is no plugin in it")):
        with pytest.raises(ConfigError, match=told):
            store.trust_plugins(tmp_path / name)
    assert store.entries() == ()


def test_a_store_inside_the_folder_trusts_nothing(folder: Path) -> None:
    """Whoever may write the plugins could write it, too."""
    store = TrustStore(folder / "trust.json")
    for use in (store.trust_plugins, store.plugins):
        with pytest.raises(ConfigError, match="lies inside the project"):
            use(folder)
