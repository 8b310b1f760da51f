"""The cache of rule sets is used when nothing has changed, and never when something has."""

import hashlib
import hmac
import json
import os
import shutil
import stat
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import attrs
import pytest

import permitry.config.cache
import permitry.config.load
from permitry.config.cache import RuleCache
from permitry.config.catalogue import find_shipped
from permitry.config.layers import PROJECT_FILE, find_layers
from permitry.config.load import Origin, load_rules
from permitry.config.trust import TrustStore
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.errors import ConfigError

RULES = """schema = 1
extends = ["other.toml", "permitry:base"]
[template.look]
allow_tools = ["look"]
[template.see]
extends = ["look"]
exclusive = true
[tool.look]
traits = ["read_only"]
roles.path = "read_path"
[[rule]]
id = "small"
effect = "allow"
priority = 220
tools = ["search*", "@reads"]
when.args.limit = { le = 100.5, ge = -1 }
when.args.filter.name = { any = { prefix = "a" } }
when.mode = ["default", "yolo"]
unless.path = "**/.env"
message = "ask"
[[rule]]
id = "often"
effect = "confirm"
tools = ["x"]
when.repeat = 3
when.repaired = false
when.agent = ["sub*"]
when.host = ["*.example.com"]
when.command = ["git push *"]
budget = { targets = 5, per = "1h", by = "agent" }
[[rule]]
id = "tainting"
tools = ["web"]
adds_label = "seen"
"""
OTHER = "schema = 1\n[[rule]]\nid = 'other'\neffect = 'block'\ntools = ['other']\nreason = 'because'\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty home folder, which the environment names."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture
def cache(home: Path) -> RuleCache:
    """Return a cache in folders that do not exist yet."""
    return RuleCache(home / ".cache" / "permitry", home / ".local" / "state" / "permitry" / "cache.key")


def _layers(*files: Path | str) -> list[Origin]:
    """Return the origins of rule files of the user, above the floor."""
    return [Origin("permitry:base"), *(Origin(str(file)) for file in files)]


@pytest.fixture
def file(home: Path) -> Path:
    """Return a rule file that extends another one next to it."""
    folder = home / "rules"
    folder.mkdir()
    (folder / "other.toml").write_text(OTHER)
    (folder / "rules.toml").write_text(RULES)
    return folder / "rules.toml"


@pytest.fixture
def warm(cache: RuleCache, file: Path) -> list[Origin]:
    """Return the origins that the cache has kept."""
    origins = _layers(file)
    cache.load(origins)
    assert cache.kept(origins) is not None
    return origins


@pytest.fixture
def kept_file(cache: RuleCache, warm: list[Origin]) -> Path:
    """Return the only file in the cache."""
    assert warm
    (path,) = cache.folder.iterdir()
    return path


def test_what_is_kept_is_what_was_loaded(cache: RuleCache, warm: list[Origin]) -> None:
    """Rules, templates, tools, flows, files, places: all of it, and the same policy."""
    kept, loaded = cache.kept(warm), load_rules(warm)
    assert kept == loaded
    assert kept is not None
    assert [rule.source for rule in kept.rules] == [rule.source for rule in loaded.rules]
    assert kept.policy().version == loaded.policy().version
    assert list(kept.templates) == list(loaded.templates)
    assert list(kept.tools) == ["look"]
    assert {flow.id for flow in kept.flows} == {"often", "tainting"}


def test_what_is_observed_is_kept_as_well(cache: RuleCache, file: Path) -> None:
    """Apart from the rules; an observed set need not be among those that are in force."""
    file.write_text('schema = 1\n[[rule]]\nid = "no"\neffect = "block"\ntools = ["x"]\nenforce = false\n')
    origins = [*_layers(file), Origin("permitry:publishing", is_observed=True)]
    loaded = cache.load(origins)
    assert cache.kept(origins) == loaded == load_rules(origins)
    assert loaded.observed is not None
    observed = {rule.id for rule in loaded.observed.rules} - {rule.id for rule in loaded.rules}
    assert "no" in observed
    assert len(observed) > 1
    file.write_text("schema = 1\n")
    assert cache.kept(origins) is None


def test_without_a_cache_the_files_are_read(cache: RuleCache, file: Path) -> None:
    """The first load is as good as the second."""
    assert cache.kept(_layers(file)) is None
    assert cache.load(_layers(file)) == load_rules(_layers(file))


def test_a_warm_load_reads_no_toml(cache: RuleCache, warm: list[Origin], monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the cache would be for nothing."""
    monkeypatch.setattr(permitry.config.load, "compile_rules", lambda _: pytest.fail("it was read again"))
    assert cache.load(warm).files


@pytest.mark.parametrize(
    ("tool", "ids"),
    [
        ("x", ["small", "often"]),
        ("search_web", ["small"]),
        ("other", ["other", "small"]),
        ("functions.Other", ["other", "small"]),
        ("none", ["small"]),
    ],
)
def test_the_rules_of_one_tool_are_those_that_can_speak_of_it(
    cache: RuleCache, warm: list[Origin], tool: str, ids: list[str]
) -> None:
    """By name, by pattern, or, as traits are not known here, by any trait; cold and warm."""
    own = {"small", "often", "other", "tainting"}
    for rules in (cache.kept(warm, tool), RuleCache(cache.folder / "no", cache.secret).load(warm, tool)):
        assert rules is not None
        assert [rule.id for rule in rules.rules if rule.id in own] == ids
        assert list(rules.templates) == ["look", "see"]


@pytest.mark.parametrize("name", ["rules.toml", "other.toml"])
def test_a_changed_file_is_noticed_though_its_times_and_size_are_the_same(
    cache: RuleCache, warm: list[Origin], file: Path, name: str
) -> None:
    """Bytes are compared, nothing else."""
    path = file.with_name(name)
    before = path.stat()
    path.write_text(path.read_text().replace("'block'", "'allow'").replace('"allow"', '"block"').replace("220", "120"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert cache.kept(warm) is None
    assert cache.load(warm) == load_rules(warm)


@pytest.mark.parametrize("name", ["rules.toml", "other.toml"])
def test_a_file_that_is_gone_is_a_problem(cache: RuleCache, warm: list[Origin], file: Path, name: str) -> None:
    """As without a cache."""
    file.with_name(name).unlink()
    with pytest.raises(ConfigError):
        cache.load(warm)


def test_a_mistake_is_told_and_not_kept(cache: RuleCache, warm: list[Origin], file: Path) -> None:
    """What does not load now did so once; that is of no help."""
    file.write_text("schema = 2")
    for _ in range(2):
        with pytest.raises(ConfigError, match="this version reads 1"):
            cache.load(warm)


def test_a_link_that_leads_elsewhere_is_noticed(cache: RuleCache, file: Path) -> None:
    """Also when both files are already known, and none of them has changed."""
    (file.parent / "third.toml").write_text("schema = 1\n[[rule]]\nid = 'third'\neffect = 'block'\ntools = ['t']\n")
    link = file.parent / "link.toml"
    link.symlink_to("other.toml")
    file.write_text(RULES.replace('"other.toml", ', '"other.toml", "link.toml", '))
    origins = _layers(file)
    cache.load(origins)
    assert cache.kept(origins) is not None
    link.unlink()
    link.symlink_to("third.toml")
    assert cache.kept(origins) is None
    assert "third" in {rule.id for rule in cache.load(origins).rules}


def test_a_pipe_in_place_of_a_file_does_not_hang(cache: RuleCache, warm: list[Origin], file: Path) -> None:
    """It is not a rule file."""
    file.with_name("other.toml").unlink()
    os.mkfifo(file.with_name("other.toml"))
    assert cache.kept(warm) is None


@pytest.mark.parametrize(
    "change",
    [
        {"is_trusted": False},
        {"is_admin": True},
        {"root": Path("/")},
        {"pinned": {}},
        {"distrust": "another reason"},
        {"name": "permitry:base"},
        {"is_observed": True},
    ],
    ids=str,
)
def test_other_origins_are_something_else(cache: RuleCache, warm: list[Origin], change: dict[str, Any]) -> None:
    """What was trusted says nothing about what is not."""
    assert cache.kept([warm[0], attrs.evolve(warm[1], **change)]) is None
    assert cache.kept([*warm, Origin("permitry:plan")]) is None


@pytest.mark.parametrize("name", ["_FORMAT", "VERSION", "_code"])
def test_another_version_is_something_else(
    cache: RuleCache, warm: list[Origin], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """What another permitry accepted is not known to this one."""
    monkeypatch.setattr(permitry.config.cache, name, list if name == "_code" else "other")
    assert cache.kept(warm) is None


def test_the_version_is_the_one_of_the_package() -> None:
    """It stands here a second time because asking for it takes longer than everything else."""
    assert version("permitry") == permitry.config.cache.VERSION


def test_another_install_has_other_shipped_sets(
    cache: RuleCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one checkout ships as `permitry:base` says nothing about what another does."""
    origins = [Origin("permitry:base")]
    cache.load(origins)
    shutil.copytree(find_shipped("permitry:base").parent, tmp_path / "rules")
    (tmp_path / "rules" / "base.toml").write_text(OTHER)
    monkeypatch.setattr("permitry.config.catalogue._FOLDER", tmp_path / "rules")
    assert cache.kept(origins) is None
    assert [rule.id for rule in cache.load(origins).rules] == ["other"]


def test_the_same_files_read_by_another_install_are_something_else(
    cache: RuleCache, warm: list[Origin], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy of the code, with equal sizes and times, is still another."""
    package = Path(permitry.config.cache.__file__).parents[1]
    monkeypatch.setattr(permitry.config.cache, "_PACKAGE", Path(shutil.copytree(package, tmp_path / "copy")))
    assert cache.kept(warm) is None


def test_relative_names_belong_to_their_folder(
    cache: RuleCache, file: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same name elsewhere is another file."""
    monkeypatch.chdir(file.parent)
    here = cache.load(_layers("rules.toml"))
    assert cache.kept(_layers("rules.toml")) == here
    monkeypatch.chdir(home)
    assert cache.kept(_layers("rules.toml")) is None
    assert cache.kept(_layers("rules/rules.toml")) is None


# Trust ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def project(home: Path) -> Path:
    """Return a project whose rules allow something."""
    path = home / "project" / PROJECT_FILE
    path.parent.mkdir(parents=True)
    path.write_text("schema = 1\n[[rule]]\nid = 'p'\neffect = 'allow'\ntools = ['p']\n")
    return path


@pytest.fixture
def decided(cache: RuleCache, project: Path, tmp_path: Path) -> Callable[[], Verdict]:
    """Return a function that says what becomes of the project's tool."""

    def verdict() -> Verdict:
        store, none = TrustStore(tmp_path / "trust" / "trust.json"), tmp_path / "none"
        layers = find_layers(project.parent, user_file=none, admin_file=none, trust=store)
        return cache.load(layers).policy().decide(ToolCall("p"), AuthContext()).verdict

    return verdict


def test_trust_is_asked_for_at_every_start(project: Path, decided: Callable[[], Verdict], tmp_path: Path) -> None:
    """Granted, revoked, or lost by a change: the cache follows each time."""
    store = TrustStore(tmp_path / "trust" / "trust.json")
    root = project.parents[1]
    assert [decided(), decided()] == [Verdict.CONFIRM] * 2
    store.trust(root)
    assert [decided(), decided()] == [Verdict.ALLOW] * 2
    before = project.read_text()
    project.write_text(f"{before}# another byte\n")
    assert [decided(), decided()] == [Verdict.CONFIRM] * 2
    project.write_text(before)
    assert [decided(), decided()] == [Verdict.ALLOW] * 2
    store.revoke(root)
    assert [decided(), decided()] == [Verdict.CONFIRM] * 2


def test_what_lost_its_trust_while_it_was_read_is_not_kept(cache: RuleCache, project: Path) -> None:
    """Else the answer for one moment would stand for all others."""
    pinned = Origin(str(project), root=project.parents[1], pinned={project: "0" * 64})
    origins = [Origin("permitry:base"), pinned]
    assert cache.load(origins).rules == load_rules(origins[:1]).rules
    assert cache.kept(origins) is None


# Who writes to the home folder ------------------------------------------------------------------------------------


def test_nothing_is_kept_for_an_admin(cache: RuleCache, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever writes to the user's folders, seen or unseen, changes none of the admin's rules."""
    monkeypatch.setattr("permitry.config.named.writable_by_others", lambda _: None)
    origins = [Origin("permitry:base"), Origin(str(file), is_admin=True)]
    assert cache.load(origins) == load_rules(origins)
    assert cache.kept(origins) is None
    assert not cache.folder.exists()


def test_nothing_is_kept_without_the_floor(cache: RuleCache, file: Path) -> None:
    """Neither the cache nor the user's own rules are guarded then; a set that extends the floor has it."""
    extending = file.with_name("extending.toml")
    extending.write_text('schema = 1\nextends = ["permitry:base"]\n')
    cache.load([Origin(str(extending))])
    assert not cache.folder.exists()
    for origins, is_kept in (([Origin(str(file))], False), (_layers(file), True)):
        assert cache.load(origins) == load_rules(origins)
        assert (cache.kept(origins) is not None) is is_kept
    for name, is_kept in (("read-only", False), ("plan", True), ("coding-agent", True)):
        cache.load([Origin(f"permitry:{name}")])
        assert (cache.kept([Origin(f"permitry:{name}")]) is not None) is is_kept


@pytest.mark.parametrize("how", ["outside", "a link to the outside", "another's"])
def test_nothing_is_kept_for_a_file_that_is_not_the_users(
    cache: RuleCache, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Such a file says what holds for who writes to the home folder, too."""
    outside, origins = tmp_path / "rules.toml", _layers(file)
    outside.write_text(OTHER)
    if how == "outside":
        origins = _layers(outside)
    elif how == "a link to the outside":
        file.unlink()
        file.symlink_to(outside)
    else:
        looked = os.stat
        monkeypatch.setattr(os, "stat", lambda path, **named: _of_another(looked(path, **named), path == str(file)))
    assert cache.load(origins) == load_rules(origins)
    assert cache.kept(origins) is None


def _of_another(status: os.stat_result, is_it: bool) -> os.stat_result:  # noqa: FBT001 -- two values
    fields = list(status)
    fields[stat.ST_UID] += is_it
    return os.stat_result(fields)


def _priority(number: int) -> Callable[[dict[str, Any]], None]:
    return lambda data: data["rules"]["rules"][-2].update(priority=number, effect="allow")


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data["rules"]["rules"].pop(0),
        lambda data: data["rules"]["rules"].clear(),
        lambda data: data["rules"]["rules"][0].update(effect="allow"),
        lambda data: data["rules"]["rules"][3]["when"].update(mode=["plan"]),
        lambda data: data["rules"]["rules"].append({**data["rules"]["rules"][0], "effect": "allow"}),
        lambda data: data["rules"]["templates"].pop(0),
        lambda data: data["rules"]["templates"][0].update(allow_tools=["*"]),
        _priority(0),
        _priority(99),
    ],
)
def test_no_forger_lifts_the_floor(cache: RuleCache, change: Callable[[dict[str, Any]], object]) -> None:
    """Even with the secret: a shipped rule stays as it is, and none comes before those of an admin."""
    origins = [Origin("permitry:coding-agent")]
    cache.load(origins)
    (path,) = cache.folder.iterdir()
    _sealed_anew(cache, path, lambda _: None)
    assert cache.kept(origins) == load_rules(origins)
    _sealed_anew(cache, path, change)
    assert cache.kept(origins) is None
    assert cache.load(origins) == load_rules(origins)


def test_a_forger_can_say_what_the_users_file_could(cache: RuleCache, warm: list[Origin], kept_file: Path) -> None:
    """That much, and no more, is left to who knows the secret."""
    _sealed_anew(cache, kept_file, lambda data: data["rules"]["rules"].pop(-1))
    kept = cache.kept(warm)
    assert kept is not None
    assert len(kept.rules) == len(load_rules(warm).rules)
    assert {flow.id for flow in kept.flows} == {"often"}


_MINE = {"tools": ["other"], "effect": "allow", "priority": None, "when": None, "unless": None, "budget": None}
_MINE |= {"id": "mine", "reason": "", "message": None, "adds_label": None}


def _drop_other(data: dict[str, Any]) -> None:
    """Take the block of the extended file away."""
    data["rules"]["rules"] = [each for each in data["rules"]["rules"] if each["id"] != "other"]


def _no_files(data: dict[str, Any]) -> None:
    """Take the block away, and all files that could tell."""
    _drop_other(data)
    data.update(files=[], named=[])


def _forget(name: str, *keys: str) -> Callable[[dict[str, Any]], None]:
    """Take a file out of some of the lists of files."""

    def change(data: dict[str, Any]) -> None:
        _drop_other(data)
        for key in keys:
            data[key] = [each for each in data[key] if not each[0].endswith(name)]
            data["rules"]["files"] = [each for each in data["rules"]["files"] if key == "named" or name not in each]

    return change


def _elsewhere(data: dict[str, Any]) -> None:
    """Say that the rules are of another file that is there."""
    other = os.path.realpath(__file__)
    digest = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    data.update(named=[[other, other]], files=[[other, digest]])


def _as_base(data: dict[str, Any]) -> None:
    data["rules"]["rules"].append({**_MINE, "source": "permitry:base:1"})


def _add_file(data: dict[str, Any]) -> None:
    """Bring in one more file, and a rule that says it is of it."""
    other = os.path.realpath(__file__)
    data["named"].append([other, other])
    data["files"].append([other, hashlib.sha256(Path(__file__).read_bytes()).hexdigest()])
    data["rules"]["rules"].append({**_MINE, "source": f"{other}:1"})


@pytest.mark.parametrize(
    "change",
    [
        _no_files,
        lambda data: data.update(files=[], named=[]),
        lambda data: data.update(files=[]),
        lambda data: data.update(named=[]),
        lambda data: data.update(files=[], named=[], rules={**data["rules"], "files": []}),
        _forget("rules.toml", "named"),
        _forget("rules.toml", "files"),
        _forget("rules.toml", "named", "files"),
        _forget("base.toml", "named", "files"),
        _forget("other.toml", "files"),
        lambda data: data["named"].pop(1),
        lambda data: data["rules"]["files"].pop(),
        lambda data: data["rules"]["files"].append("/dev/null"),
        lambda data: data["files"].append(["/dev/null", hashlib.sha256(b"").hexdigest()]),
        lambda data: data["files"].append([data["files"][0][0], "0" * 64]),
        lambda data: data["named"].append([data["named"][0][0], "/dev/null"]),
        _elsewhere,
        _as_base,
        lambda data: data["rules"]["rules"].append({**_MINE, "source": "permitry:coding-agent:1"}),
        lambda data: data["rules"]["rules"].append({**_MINE, "source": "elsewhere.toml:1"}),
        lambda data: data["rules"]["rules"].append({**_MINE, "source": ""}),
        lambda data: data["rules"]["rules"].append({**_MINE, "source": None}),
        lambda data: data["rules"]["rules"][-1].update(source="permitry:base:11"),
        _add_file,
    ],
)
def test_no_forger_cuts_rules_from_their_files(
    cache: RuleCache, warm: list[Origin], kept_file: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    """Even with the secret: each file that is asked for is looked at, and each rule is of one of them."""
    _sealed_anew(cache, kept_file, change)
    assert cache.kept(warm) is None
    assert cache.load(warm) == load_rules(warm)


@pytest.mark.parametrize("name", ["rules.toml", "other.toml"])
def test_what_a_forger_kept_ends_with_the_next_edit(
    cache: RuleCache, warm: list[Origin], kept_file: Path, file: Path, name: str
) -> None:
    """Whatever was sealed, a file that was edited since is read."""
    _sealed_anew(cache, kept_file, _drop_other)
    assert cache.kept(warm) is not None
    with (file.parent / name).open("a") as stream:
        stream.write("# one more line\n")
    assert cache.kept(warm) is None
    assert "other" in {rule.id for rule in cache.load(warm).rules}


def test_an_edited_shipped_set_is_read_as_it_is(
    cache: RuleCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever `compiled.json` says, or if there is none."""
    folder = Path(shutil.copytree(find_shipped("permitry:base").parent, tmp_path / "rules"))
    monkeypatch.setattr("permitry.config.catalogue._FOLDER", folder)
    origins = [Origin("permitry:base")]
    assert cache.load(origins) == cache.kept(origins)
    text = (folder / "base.toml").read_text()
    (folder / "base.toml").write_text(f"{text}# another byte\n")
    assert cache.load(origins) == load_rules(origins)
    assert cache.kept(origins) is None
    (folder / "base.toml").write_text(text)
    assert cache.kept(origins) is None
    cache.load(origins)
    assert cache.kept(origins) is not None
    (folder / "compiled.json").unlink()
    assert cache.kept(origins) is None


# The cache itself -------------------------------------------------------------------------------------------------


def test_cache_and_secret_are_for_the_user_alone(cache: RuleCache, kept_file: Path) -> None:
    """No one else reads or writes either."""
    for path, mode in ((kept_file, 0o600), (cache.secret, 0o600), (cache.folder, 0o700)):
        assert stat.S_IMODE(path.stat().st_mode) == mode
    assert len(cache.secret.read_bytes()) == 32


@pytest.mark.parametrize("which", ["file", "folder", "secret", "its folder"])
def test_what_others_may_write_is_not_read(cache: RuleCache, warm: list[Origin], kept_file: Path, which: str) -> None:
    """One bit is enough."""
    path = {"file": kept_file, "folder": cache.folder, "secret": cache.secret, "its folder": cache.secret.parent}[which]
    path.chmod(path.stat().st_mode | stat.S_IWOTH)
    assert cache.kept(warm) is None
    assert cache.load(warm) == load_rules(warm)


@pytest.mark.parametrize("which", ["file", "secret", "folder"])
def test_a_link_is_not_followed(cache: RuleCache, warm: list[Origin], kept_file: Path, which: str) -> None:
    """Wherever it leads."""
    path = {"file": kept_file, "secret": cache.secret, "folder": cache.folder}[which]
    moved = path.rename(path.with_name("moved"))
    path.symlink_to(moved)
    assert cache.kept(warm) is None
    assert cache.load(warm) == load_rules(warm)


def test_another_secret_seals_nothing(cache: RuleCache, warm: list[Origin]) -> None:
    """Whoever can write the cache, and nothing else, can forge nothing."""
    cache.secret.write_bytes(bytes(32))
    assert cache.kept(warm) is None
    cache.load(warm)
    assert cache.kept(warm) is not None


@pytest.mark.parametrize("secret", [b"", b"short", bytes(33)], ids=len)
def test_a_damaged_secret_is_no_secret(cache: RuleCache, warm: list[Origin], secret: bytes) -> None:
    """Nothing is kept then, and everything works."""
    cache.secret.write_bytes(secret)
    assert cache.kept(warm) is None
    assert cache.load(warm) == load_rules(warm)


def test_what_is_kept_for_one_set_does_not_pass_for_another(
    cache: RuleCache, warm: list[Origin], kept_file: Path
) -> None:
    """The seal is over the key as well."""
    other = [Origin("permitry:base")]
    cache.load(other)
    (kept_other,) = set(cache.folder.iterdir()) - {kept_file}
    kept_other.write_bytes(kept_file.read_bytes())
    assert cache.kept(warm) is not None
    assert cache.kept(other) is None


def _seal(cache: RuleCache, path: Path, body: bytes) -> bytes:
    """Return the seal that only the owner of the secret can make."""
    told = path.stem.encode() + b"\n" + body
    return hmac.digest(cache.secret.read_bytes(), told, "sha256").hex().encode()


def _sealed_anew(cache: RuleCache, path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what is kept, and seal it again."""
    data = json.loads(path.read_bytes().partition(b"\n")[2])
    change(data)
    body = json.dumps(data).encode()
    path.write_bytes(_seal(cache, path, body) + b"\n" + body)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.pop("rules"),
        lambda data: data.pop("files"),
        lambda data: data["rules"].pop("notices"),
        lambda data: data["rules"].pop("unmatched"),
        lambda data: data["rules"].update(unmatched={"verdict": "allow", "source": data["rules"]["files"][-1] + ":1"}),
        lambda data: data["rules"].update(unmatched={"verdict": "block"}),
        lambda data: data["rules"].update(unmatched={"verdict": "block", "source": "elsewhere.toml:1"}),
        lambda data: data["rules"].update(more=1),
        lambda data: data["rules"].update(rules={}),
        lambda data: data["rules"]["rules"].append("rule"),
        lambda data: data["rules"]["rules"][-2].pop("unless"),
        lambda data: data["rules"]["rules"][-2].update(unless=[]),
        lambda data: data["rules"]["rules"][-2].update(unless={"mode": ["plan"]}),
        lambda data: data["rules"]["rules"][-2].update(unless=[{"mode": ["plan"]}, {"whenever": 1}]),
        lambda data: data["rules"]["rules"][-2].update(effect="permit"),
        lambda data: data["rules"]["rules"][-2].update(tools=[]),
        lambda data: data["rules"]["rules"][-2].update(tools="*"),
        lambda data: data["rules"]["rules"][-2].update(priority=True),
        lambda data: data["rules"]["rules"][-2]["when"].update(whenever=1),
        lambda data: data["rules"]["rules"][-2]["when"].update(command=[]),
        lambda data: data["rules"]["rules"][-2]["when"].update(command=["git {push"]),
        lambda data: data["rules"]["rules"][-2]["budget"].update(targets=None),
        lambda data: data["rules"]["rules"][-2]["budget"].update(by="nobody"),
        lambda data: data["rules"]["rules"][-2]["budget"].update(by="principal"),
        lambda data: data["rules"]["rules"][-2]["budget"].update(by="principal", targets=None, calls=5, seconds=None),
        lambda data: data["rules"]["templates"].reverse(),
        lambda data: data["rules"]["templates"].append(data["rules"]["templates"][0]),
        lambda data: data["rules"]["tools"][0].update(roles={"path": "nothing"}),
        lambda data: data["rules"]["tools"][0].update(traits=[1]),
        lambda data: data.update(named=[["a"]]),
        lambda data: data.update(files=[["a"]]),
        lambda data: data.update(files=[[None, "b"]]),
    ],
)
def test_what_is_no_rule_set_is_read_anew(
    cache: RuleCache, warm: list[Origin], kept_file: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    """Even under a seal that holds, every value is looked at."""
    _sealed_anew(cache, kept_file, lambda _: None)
    assert cache.kept(warm) == load_rules(warm)
    _sealed_anew(cache, kept_file, change)
    assert cache.kept(warm) is None
    assert cache.load(warm) == load_rules(warm)


@pytest.mark.parametrize("body", [b"", b"\n", b"\n{}", b"\n[]", b"\nnull", b"\n" + b"[" * 100_000])
def test_rubbish_is_read_anew(cache: RuleCache, warm: list[Origin], kept_file: Path, body: bytes) -> None:
    """Sealed or not."""
    kept_file.write_bytes(body)
    assert cache.kept(warm) is None
    kept_file.write_bytes(_seal(cache, kept_file, body[1:]) + body)
    assert cache.kept(warm) is None


def test_the_usual_places_are_those_of_the_user(cache: RuleCache) -> None:
    """Where no one names others."""
    assert RuleCache() == cache


@pytest.mark.parametrize("which", ["folder", "secret"])
@pytest.mark.parametrize("by", ["another place", "a link", "a link above", "XDG"])
def test_where_an_agent_may_write_nothing_is_kept(
    cache: RuleCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str, by: str
) -> None:
    """Neither read nor written: whoever has the secret can forge, and `permitry:base` knows the usual places only."""
    origins, elsewhere = [Origin("permitry:base")], tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    usual = cache.folder if which == "folder" else cache.secret.parent
    there = cache
    match by:
        case "another place":
            there = attrs.evolve(cache, **{which: elsewhere / "x"})
        case "a link":
            usual.parent.mkdir(parents=True)
            usual.symlink_to(elsewhere)
        case "a link above":
            usual.parent.parent.mkdir(parents=True, exist_ok=True)
            usual.parent.symlink_to(elsewhere)
        case _:
            monkeypatch.setenv("XDG_CACHE_HOME" if which == "folder" else "XDG_STATE_HOME", str(elsewhere))
            there = RuleCache()
    assert there.load(origins) == load_rules(origins)
    assert there.kept(origins) is None
    assert list(elsewhere.iterdir()) == []
    assert not cache.secret.exists()


def test_a_home_that_is_a_link_is_a_home(cache: RuleCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`~` stands for both of its names."""
    (tmp_path / "link").symlink_to("home")
    monkeypatch.setenv("HOME", str(tmp_path / "link"))
    linked, origins = RuleCache(), [Origin("permitry:base")]
    assert linked != cache
    assert linked.load(origins) == linked.kept(origins)


def test_nothing_is_made_in_the_home_of_another(cache: RuleCache, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As root with the user's `HOME`, for one: the user could not write there afterwards."""
    monkeypatch.setattr(os, "geteuid", lambda: home.stat().st_uid + 1)
    cache.load([Origin("permitry:base")])
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("name", ["replace", "hardlink_to"])
def test_what_fails_leaves_nothing_behind(
    cache: RuleCache, file: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """However often it does."""

    def refused(*_: object) -> None:
        raise OSError(28, "no space left")

    monkeypatch.setattr(Path, name, refused)
    assert cache.load(_layers(file)) == load_rules(_layers(file))
    assert [path for folder in (cache.folder, cache.secret.parent) for path in folder.glob(".permitry-*")] == []


def test_code_that_changes_while_it_reads_keeps_nothing(
    cache: RuleCache, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the old code accepted is not known to the new one."""
    compiled = permitry.config.load.compile_rules

    def upgraded(origins: list[Origin]) -> permitry.config.load.Compiled:
        found = compiled(origins)
        monkeypatch.setattr(permitry.config.cache, "VERSION", "other")
        return found

    monkeypatch.setattr(permitry.config.load, "compile_rules", upgraded)
    cache.load(_layers(file))
    assert cache.kept(_layers(file)) is None
    assert not cache.folder.exists()


@pytest.mark.parametrize("which", ["folder", "secret"])
def test_a_place_that_cannot_be_written_is_no_error(cache: RuleCache, home: Path, file: Path, which: str) -> None:
    """There is no cache then, that is all."""
    (home / (".cache" if which == "folder" else ".local")).touch()
    assert cache.load(_layers(file)) == load_rules(_layers(file))
    assert cache.kept(_layers(file)) is None


def test_nothing_is_left_beside_what_is_kept(cache: RuleCache, kept_file: Path) -> None:
    """What is written is written elsewhere first."""
    assert list(cache.folder.iterdir()) == [kept_file]
    assert list(cache.secret.parent.iterdir()) == [cache.secret]


@pytest.mark.parametrize("which", ["folder", "secret"])
def test_what_a_killed_process_began_is_cleared_away(cache: RuleCache, file: Path, which: str) -> None:
    """After an hour: until then it may be someone's who is still writing."""
    folder = cache.folder if which == "folder" else cache.secret.parent
    cache.load([Origin("permitry:base")])
    old, new = folder / ".permitry-0", folder / ".permitry-1"
    for path in (old, new):
        path.touch()
    os.utime(old, ns=(0, 0))
    cache.load(_layers(file))
    assert not old.exists()
    assert new.exists()


def test_only_so_many_sets_are_kept(
    cache: RuleCache, warm: list[Origin], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest go first."""
    monkeypatch.setattr(permitry.config.cache, "_MOST_FILES", 2)
    for path in cache.folder.iterdir():
        os.utime(path, ns=(0, 0))
    for name in ("a.toml", "b.toml"):
        file.with_name(name).write_text("schema = 1")
        cache.load(_layers(file.with_name(name)))
    assert len(list(cache.folder.iterdir())) == 2
    assert cache.kept(warm) is None


@pytest.mark.parametrize("literal", ["1979-05-27", "nan"])
def test_what_json_cannot_say_is_not_kept(cache: RuleCache, file: Path, literal: str) -> None:
    """It loads or is refused as ever."""
    file.write_text(f"schema = 1\n[[rule]]\nid = 'd'\neffect = 'block'\ntools = ['d']\nwhen.args.x = {literal}\n")
    try:
        load_rules(_layers(file))
    except ConfigError:
        with pytest.raises(ConfigError):
            cache.load(_layers(file))
    else:
        cache.load(_layers(file))
    assert cache.kept(_layers(file)) is None


def test_what_happens_to_unmatched_calls_is_kept(cache: RuleCache, file: Path) -> None:
    """With its place, also where only the rules of one tool are read."""
    file.write_text(file.read_text(encoding="utf-8") + '\n[policy]\nunmatched = "block"\n', encoding="utf-8")
    origins = _layers(file)
    loaded = cache.load(origins)
    assert (loaded.unmatched, str(loaded.unmatched_source).startswith(str(file))) == (Verdict.BLOCK, True)
    for tool in (None, "unknown"):
        kept = cache.kept(origins, tool)
        assert kept is not None
        assert (kept.unmatched, kept.unmatched_source) == (loaded.unmatched, loaded.unmatched_source)
