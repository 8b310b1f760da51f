"""The user's folders are those that platformdirs says, whether it is asked or not."""

import sys
from pathlib import Path

import platformdirs
import pytest
from tests.tables import for_each

from permitry.config.folders import user_cache, user_config, user_state

KINDS = [
    (user_cache, "XDG_CACHE_HOME", "user_cache_path"),
    (user_config, "XDG_CONFIG_HOME", "user_config_path"),
    (user_state, "XDG_STATE_HOME", "user_state_path"),
]
every_kind = pytest.mark.parametrize(
    ("ours", "variable", "theirs"), KINDS, ids=lambda each: getattr(each, "__name__", "")
)


@every_kind
@for_each("home", [None, "", "/home/me", "/home/me/", "me"])
@for_each("named", [None, "", " ", "/x", "/x/", " /x", "/x ", "x", "~/x", "/a b/ü"])
def test_the_short_cut_leads_where_the_long_way_leads(  # noqa: PLR0917 -- two variables, and three of each kind
    monkeypatch: pytest.MonkeyPatch, ours: object, variable: str, theirs: str, home: str | None, named: str | None
) -> None:
    """Whatever the environment says."""
    for name, value in (("HOME", home), (variable, named)):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    wanted = getattr(platformdirs, theirs)("permitry")
    assert callable(ours)
    assert ours() == wanted
    monkeypatch.delitem(sys.modules, "platformdirs")
    assert ours() == wanted


@every_kind
def test_whoever_has_loaded_platformdirs_is_answered_by_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ours: object, variable: str, theirs: str
) -> None:
    """So that there is one place to say otherwise."""
    monkeypatch.setenv(variable, "/elsewhere")
    monkeypatch.setattr(platformdirs, theirs, lambda name: tmp_path / name)
    assert callable(ours)
    assert ours() == tmp_path / "permitry"
