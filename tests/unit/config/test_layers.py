"""Rules come from four layers; what the project brings is not trusted, what the admin brings is checked."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import attrs
import pytest

from permitry.config.layers import PROJECT_FILE, default_store, find_layers, find_project
from permitry.config.load import Origin, RuleSet, load_rules
from permitry.config.trust import TrustStore
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.errors import ConfigError

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file that root owns")


def _rule(rule_id: str, effect: str, more: str = "") -> str:
    return f'[[rule]]\nid = "{rule_id}"\neffect = "{effect}"\ntools = ["tool"]\n{more}\n'


ALLOW, BLOCK = _rule("permits", "allow"), _rule("restricts", "block")
TEMPLATE = '[template.mine]\nallow_tools = ["tool"]\n'


@attrs.frozen
class House:
    """A place for the file of each layer."""

    user: Path
    project: Path
    admin: Path
    trust: TrustStore

    def write(self, layer: str, *parts: str) -> Path:
        """Write the file of a layer, safe from others, and return its path."""
        path: Path = getattr(self, layer)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.parent.chmod(0o755)
        path.write_text("\n".join(["schema = 1", *parts]), encoding="utf-8")
        path.chmod(0o644)
        return path

    def layers(self) -> list[Origin]:
        """Return the layers in force in the project's folder."""
        work = self.project.parents[1]
        return find_layers(work, user_file=self.user, admin_file=self.admin, trust=self.trust)

    def rules(self) -> RuleSet:
        """Return what the layers say together."""
        return load_rules(self.layers())


@pytest.fixture
def house(tmp_path: Path) -> House:
    """Return a house with no files in it yet, but for the project's folder."""
    project = tmp_path / "work" / PROJECT_FILE
    project.parent.mkdir(parents=True)
    trust = TrustStore(tmp_path / "state" / "trust.json")
    return House(tmp_path / "user" / "rules.toml", project, tmp_path / "admin" / "rules.toml", trust)


def _problems(house: House) -> list[tuple[str, str]]:
    with pytest.raises(ConfigError) as caught:
        house.rules()
    return [(problem.path, problem.message) for problem in caught.value.problems]


def _verdict(rules: RuleSet) -> Verdict:
    return rules.policy().decide(ToolCall("tool"), AuthContext()).verdict


def test_without_any_file_only_the_shipped_base_is_in_force(house: House) -> None:
    """Missing files are left out, and the floor stays."""
    assert house.layers() == [Origin("permitry:base")]


@needs_root
def test_the_layers_come_lowest_first(house: House) -> None:
    """Shipped, user, project, admin; the project alone is not trusted, the admin alone is admin."""
    paths = [house.write(layer) for layer in ("user", "project", "admin")]
    assert house.layers() == [
        Origin("permitry:base"),
        Origin(str(paths[0])),
        Origin(str(paths[1]), is_trusted=False, root=paths[1].parent.parent),
        Origin(str(paths[2]), is_admin=True),
    ]


def test_the_users_file_is_looked_for_where_the_system_keeps_settings(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a parameter, the user's configuration folder is asked."""
    monkeypatch.setattr("platformdirs.user_config_path", lambda name: tmp_path / "settings" / name)
    path = attrs.evolve(house, user=tmp_path / "settings" / "permitry" / "rules.toml").write("user")
    assert find_layers(tmp_path, admin_file=house.admin) == [Origin("permitry:base"), Origin(str(path))]


def test_the_store_is_one_file_where_the_system_keeps_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless another is named, the store is a file in the user's state folder."""
    monkeypatch.setattr("platformdirs.user_state_path", lambda name: tmp_path / name)
    assert default_store() == tmp_path / "permitry" / "permitry.db"


def test_the_projects_file_is_found_from_a_folder_deep_inside(house: House) -> None:
    """The search goes upward from the workspace."""
    path = house.write("project")
    inside = path.parents[1] / "src" / "deep"
    inside.mkdir(parents=True)
    assert find_layers(inside, user_file=house.user, admin_file=house.admin, trust=house.trust)[1].name == str(path)


def test_the_nearest_project_file_is_the_one(house: House) -> None:
    """Of two project files above a workspace, the nearer one counts."""
    outer = house.write("project")
    inner = attrs.evolve(house, project=outer.parents[1] / "inner" / PROJECT_FILE)
    inner.project.parent.mkdir(parents=True)
    assert [layer.name for layer in inner.layers()] == ["permitry:base", str(outer)]
    inner.write("project")
    assert [layer.name for layer in inner.layers()] == ["permitry:base", str(inner.project)]


def test_a_folder_in_place_of_the_users_file_is_a_problem(house: House) -> None:
    """What stands where rules are kept, and is none, is not skipped."""
    house.user.mkdir(parents=True)
    assert _problems(house) == [(str(house.user), f"`{house.user}` is a folder")]


@pytest.mark.parametrize("layer", ["user", "admin"])
def test_a_link_to_nowhere_in_place_of_a_file_is_a_problem(house: House, layer: str) -> None:
    """A layer whose file was taken away is not a layer that was never written."""
    path = house.write(layer)
    path.unlink()
    path.symlink_to("nowhere")
    assert _problems(house) == [(str(path), f"there is no file `{path}`")]


@pytest.mark.parametrize("error", [PermissionError(13, "no"), OSError(40, "too many links"), OSError(5, "broken")])
def test_a_layer_that_cannot_be_looked_at_is_in_force(
    house: House, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    """Only a file that is not there is left out; what cannot be reached is for the loader to report."""

    def refuse(_: object) -> None:
        raise error

    monkeypatch.setattr("permitry.config.layers.os.lstat", refuse)
    layers = house.layers()
    assert [layers[1], layers[-1]] == [Origin(str(house.user)), Origin(str(house.admin), is_admin=True)]
    assert [layer.is_trusted for layer in layers] == [True, True, False, True]


@pytest.mark.parametrize("layer", ["user", "admin"])
def test_a_file_where_the_folder_of_a_layer_would_be_is_no_layer(house: House, layer: str) -> None:
    """Below a file there is nothing, and nothing is what a layer no one wrote is."""
    getattr(house, layer).parent.write_text("", encoding="utf-8")
    assert house.layers() == [Origin("permitry:base")]


def test_the_users_file_is_not_taken_for_a_project_again(house: House) -> None:
    """A file that is both is the user's, and trusted."""
    path = house.write("project")
    assert find_layers(path.parent, user_file=path, admin_file=house.admin) == [
        Origin("permitry:base"),
        Origin(str(path)),
    ]


@needs_root
@pytest.mark.parametrize("layer", ["user", "project", "admin"])
def test_a_restriction_of_any_layer_beats_the_permission_of_any_other(house: House, layer: str) -> None:
    """Phases make precedence: where a rule stands does not lift a restriction."""
    for other in {"user", "project", "admin"} - {layer}:
        house.write(other, _rule(f"{other}-permits", "allow"))
    house.write(layer, BLOCK)
    assert _verdict(house.rules()) is Verdict.BLOCK


def test_a_users_permission_counts(house: House) -> None:
    """The user's own file is trusted."""
    house.write("user", ALLOW)
    assert _verdict(house.rules()) is Verdict.ALLOW


def test_a_projects_permission_does_not_count_and_is_told(house: House) -> None:
    """What a repository allows itself is dropped, with a notice that says where it stands."""
    path = house.write("project", ALLOW)
    rules = house.rules()
    assert _verdict(rules) is Verdict.CONFIRM
    assert rules.notices == (
        f"{path}:2: permission `permits` dropped: the project is not trusted; see `permitry trust`",
    )


def test_a_projects_template_is_dropped_and_told(house: House) -> None:
    """A list of tools that need no confirmation is a permission as well."""
    path = house.write("project", TEMPLATE)
    rules = house.rules()
    assert rules.templates == {}
    assert rules.notices == (f"{path}:2: template `mine` dropped: the project is not trusted; see `permitry trust`",)


@pytest.mark.parametrize("effect", ["confirm", "block"])
def test_a_projects_restriction_counts(house: House, effect: str) -> None:
    """A repository may ask for more care than the user does."""
    house.write("user", ALLOW)
    house.write("project", _rule("careful", effect))
    rules = house.rules()
    assert _verdict(rules) is Verdict(effect)
    assert rules.notices == ()


def test_what_a_project_extends_is_trusted_no_more_than_the_project(house: House) -> None:
    """Permissions and templates reached through `extends` are dropped, the restrictions there are kept."""
    house.write("project", 'extends = ["more.toml"]')
    attrs.evolve(house, project=house.project.with_name("more.toml")).write("project", ALLOW, TEMPLATE, BLOCK)
    rules = house.rules()
    assert [rule.id for rule in rules.rules][-1:] == ["restricts"]
    assert "permits" not in {rule.id for rule in rules.rules}
    assert (rules.templates, len(rules.notices)) == ({}, 2)


def test_a_shipped_set_a_project_extends_brings_no_permission(house: House) -> None:
    """Nor does a project choose shipped permissions for the user."""
    house.write("project", 'extends = ["permitry:coding-agent"]')
    rules = house.rules()
    assert Verdict.ALLOW not in {rule.effect for rule in rules.rules}
    assert rules.templates == {}
    assert any(notice.startswith("permitry:coding:") for notice in rules.notices)


def test_what_the_user_extends_stays_trusted_when_the_project_extends_it_too(house: House) -> None:
    """An untrusted mention takes nothing away from a trusted one."""
    house.write("user", 'extends = ["permitry:coding-agent"]')
    house.write("project", 'extends = ["permitry:coding-agent"]')
    rules = house.rules()
    assert set(rules.templates) == {"edit", "review"}
    assert rules.notices == ()


@needs_root
def test_an_admin_permission_may_come_before_every_restriction(house: House) -> None:
    """Only the admin's file may use priorities below 100."""
    house.write("project", BLOCK)
    house.write("admin", _rule("first", "allow", "priority = 10"))
    assert _verdict(house.rules()) is Verdict.ALLOW


@pytest.mark.parametrize("layer", ["user", "project"])
def test_no_other_layer_may_come_before_the_restrictions(house: House, layer: str) -> None:
    """The same rule in a lower layer loads nothing."""
    house.write(layer, _rule("first", "allow", "priority = 10"))
    with pytest.raises(ConfigError, match="would come before every restriction"):
        house.rules()


def _refused(house: House, named: Path, file: Path | None = None) -> None:
    """Check that the layers are refused because of the file or folder `named`, told at `file` or the admin's."""
    with pytest.raises(ConfigError) as caught:
        house.rules()
    message = f"`{named.resolve()}` is not owned by root, or others may write it"
    hint = "files of the admin layer, and their folders, belong to root: chown root, chmod go-w"
    assert caught.value.problems == ((str(file or house.admin), 0, 0, 0, message, hint, ""),)


@needs_root
@pytest.mark.parametrize("mode", [0o664, 0o646, 0o666])
def test_an_admin_file_that_others_may_write_is_refused(house: House, mode: int) -> None:
    """Writable by group or world means that anybody may have written it."""
    path = house.write("admin")
    path.chmod(mode)
    _refused(house, path)


@needs_root
@pytest.mark.parametrize("mode", [0o775, 0o757, 0o1777])
def test_an_admin_folder_that_others_may_write_is_refused(house: House, mode: int) -> None:
    """Who may write the folder may replace the file."""
    path = house.write("admin")
    path.parent.chmod(mode)
    _refused(house, path.parent)


@needs_root
@pytest.mark.parametrize("owned", [lambda path: path, lambda path: path.parent], ids=["file", "folder"])
def test_an_admin_file_or_folder_of_another_owner_is_refused(house: House, owned: Callable[[Path], Path]) -> None:
    """Its owner could write it at any time."""
    path = owned(house.write("admin"))
    os.chown(path, 1, 0)
    _refused(house, path)


@needs_root
@pytest.mark.parametrize("modes", [(0o600, 0o700), (0o444, 0o555), (0o644, 0o755)])
def test_an_admin_file_of_root_alone_is_taken(house: House, modes: Sequence[int]) -> None:
    """Readable by all is fine, writable by root alone is a must."""
    path = house.write("admin")
    path.chmod(modes[0])
    path.parent.chmod(modes[1])
    assert house.rules().files[0] == str(path)


@needs_root
def test_what_an_admin_file_extends_is_checked_too(house: House) -> None:
    """A file that anybody may write does not become the admin's by being mentioned."""
    house.write("admin", 'extends = ["more.toml"]')
    more = attrs.evolve(house, admin=house.admin.with_name("more.toml"))
    path = more.write("admin", _rule("first", "allow", "priority = 10"))
    assert _verdict(house.rules()) is Verdict.ALLOW
    path.chmod(0o666)
    _refused(house, path, path)


@needs_root
def test_a_link_from_an_admin_file_is_followed_before_it_is_checked(house: House) -> None:
    """What counts is the folder in which the rules are."""
    target = attrs.evolve(house, admin=house.admin.parents[1] / "open" / "rules.toml").write("admin")
    house.admin.parent.mkdir()
    house.admin.symlink_to(target)
    assert house.rules().files[0] == str(house.admin)
    target.parent.chmod(0o777)
    _refused(house, target.parent)


@needs_root
def test_what_others_could_have_written_is_not_even_read(house: House) -> None:
    """No other problem of such a file is reported, and nothing it extends is opened."""
    path = house.write("admin", 'extends = ["gone.toml"]', "no TOML")
    path.chmod(0o666)
    _refused(house, path)


@needs_root
def test_a_project_takes_no_trust_from_what_the_admin_extends_too(house: House) -> None:
    """The admin's templates stay, though the project mentions the same set and is in a lower layer."""
    house.write("project", 'extends = ["permitry:coding-agent"]')
    house.write("admin", 'extends = ["permitry:coding-agent"]')
    rules = house.rules()
    assert set(rules.templates) == {"edit", "review"}
    assert rules.notices == ()


@needs_root
def test_a_project_that_extends_the_admins_file_takes_nothing_from_it(house: House) -> None:
    """The file is the admin's, overrides included, whoever mentions it."""
    house.write("admin", _rule("first", "allow", "priority = 10"))
    house.write("project", 'extends = ["../../admin/rules.toml"]', BLOCK)
    rules = house.rules()
    assert _verdict(rules) is Verdict.ALLOW
    assert rules.notices == ()


def test_a_trusted_projects_permissions_and_templates_count(house: House) -> None:
    """The store has pinned these bytes, and nothing is dropped."""
    house.write("project", ALLOW, TEMPLATE)
    house.trust.trust(house.project.parents[1])
    rules = house.rules()
    assert (_verdict(rules), list(rules.templates), rules.notices) == (Verdict.ALLOW, ["mine"], ())


def test_a_project_that_changed_since_it_was_trusted_is_not(house: House) -> None:
    """Its permissions are dropped again, and the notice says why; its restrictions count."""
    house.write("project", ALLOW)
    house.trust.trust(house.project.parents[1])
    path = house.write("project", ALLOW, BLOCK)
    rules = house.rules()
    assert _verdict(rules) is Verdict.BLOCK
    assert rules.notices == (
        f"{path}:2: permission `permits` dropped: the project has changed since it was trusted; see `permitry trust`",
    )


def test_a_trusted_project_lifts_no_restriction(house: House) -> None:
    """Trust adds permissions, and they come after every restriction."""
    house.write("user", BLOCK)
    house.write("project", ALLOW)
    house.trust.trust(house.project.parents[1])
    assert _verdict(house.rules()) is Verdict.BLOCK


def test_a_trusted_project_may_not_come_before_the_restrictions(house: House) -> None:
    """Only the admin overrides; a project that tries does not load, and so is not trusted."""
    house.write("project", _rule("first", "allow", "priority = 10"))
    with pytest.raises(ConfigError, match="would come before every restriction"):
        house.trust.trust(house.project.parents[1])
    assert house.trust.entries() == ()


def test_a_damaged_store_costs_the_trust_and_no_layer(house: House) -> None:
    """The rules load, the project's permissions are dropped, and the notice names the store."""
    house.write("project", ALLOW)
    house.trust.trust(house.project.parents[1])
    house.trust.path.write_text("{")
    rules = house.rules()
    assert _verdict(rules) is Verdict.CONFIRM
    assert rules.notices[0].endswith(f"dropped: nothing is trusted: `{house.trust.path}` is damaged")


def test_a_user_finds_trust_where_the_system_keeps_state(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a parameter, the store in the user's state folder is asked."""
    monkeypatch.setattr("platformdirs.user_state_path", lambda name: tmp_path / "state" / name)
    house.write("project", ALLOW)
    TrustStore(tmp_path / "state" / "permitry" / "trust.json").trust(house.project.parents[1])
    layers = find_layers(house.project.parents[1], user_file=house.user, admin_file=house.admin)
    assert [layer.is_trusted for layer in layers] == [True, True]


def test_where_there_is_no_project_none_is_found(house: House) -> None:
    """The folder of rules alone makes no project."""
    assert find_project(house.project.parents[1]) is None
    path = house.write("project")
    assert find_project(house.project.parent) == path
