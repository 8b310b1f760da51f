"""Rules change while they are in force: sound ones are swapped in whole, broken or vanished ones change nothing."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from permitry.config.layers import PROJECT_FILE, find_layers
from permitry.config.load import Origin, RuleSet, load_rules
from permitry.config.reload import Loaded, PolicyReloader, difference
from permitry.config.trust import TrustStore
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.errors import ConfigError

BROKEN = "schema = 2\n"
GONE = "the file is not a layer any more"


def _rules(effect: str, *extends: str) -> str:
    names = ", ".join(f'"{name}"' for name in extends)
    return f'schema = 1\nextends = [{names}]\n[[rule]]\nid = "r-{effect}"\neffect = "{effect}"\ntools = ["tool"]\n'


@attrs.frozen
class House:
    """The layers of a project, and what is reported of their changes."""

    folder: Path
    told: list[Loaded]

    @property
    def user(self) -> Path:
        """The user's file."""
        return self.folder / "user" / "rules.toml"

    @property
    def project(self) -> Path:
        """The project's file."""
        return self.folder / "outer" / "work" / PROJECT_FILE

    @property
    def trust(self) -> TrustStore:
        """The user's trust."""
        return TrustStore(self.folder / "state" / "trust.json")

    def write(self, path: Path, text: str) -> Path:
        """Write a rule file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def layers(self) -> list[Origin]:
        """Return the layers in force in the project."""
        work, none = self.project.parents[1], self.folder / "none"
        return find_layers(work, user_file=self.user, admin_file=none, trust=self.trust)

    def reloader(self, clock: Callable[[], int] = time.time_ns) -> PolicyReloader:
        """Return a reloader of the layers."""
        return PolicyReloader(self.layers, self.told.append, clock=clock)


@pytest.fixture
def house(tmp_path: Path) -> House:
    """Return a house with a user's file that permits."""
    made = House(tmp_path, [])
    made.project.parents[1].mkdir(parents=True)
    made.write(made.user, _rules("allow"))
    return made


def _verdict(reloader: PolicyReloader) -> str:
    return reloader.policy.decide(ToolCall("tool"), AuthContext()).verdict.value


def _problems(reloader: PolicyReloader) -> list[tuple[str, str]]:
    assert reloader.problems is not None
    return [(problem.path, problem.message) for problem in reloader.problems.problems]


def _counting(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list that grows with every load."""
    loads: list[object] = []

    def counted(origins: tuple[Origin, ...]) -> RuleSet:
        loads.append(origins)
        time.sleep(0.02)
        return load_rules(origins)

    monkeypatch.setattr("permitry.config.reload.load_rules", counted)
    return loads


def _takes_two_looks(reloader: PolicyReloader) -> bool:
    """Return whether the first look sees something, and the second takes it over."""
    return [reloader.poll(), reloader.poll()] == [False, True]


def test_the_first_policy_is_there_at_once(house: House) -> None:
    """No one has to poll first, and no one is notified."""
    reloader = house.reloader()
    assert (_verdict(reloader), reloader.problems, house.told) == ("allow", None, [])


def test_a_first_load_that_fails_raises(house: House) -> None:
    """Without a policy nothing is allowed."""
    house.write(house.user, BROKEN)
    with pytest.raises(ConfigError):
        house.reloader()


def test_whatever_fails_at_first_is_a_config_error(house: House) -> None:
    """Also what no one thought of."""

    def fail() -> list[Origin]:
        raise RuntimeError("oh")

    with pytest.raises(ConfigError, match="cannot be loaded: RuntimeError: oh"):
        PolicyReloader(fail, house.told.append)


def test_a_changed_file_counts_after_two_polls(house: House) -> None:
    """Not before, and it is reported once."""
    reloader = house.reloader()
    house.write(house.user, _rules("block"))
    assert _verdict(reloader) == "allow"
    assert _takes_two_looks(reloader)
    assert _verdict(reloader) == "block"
    assert not reloader.poll()
    assert house.told == [reloader.loaded]


def test_unchanged_files_are_not_loaded_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A poll only looks."""
    reloader = house.reloader()
    loads, before = _counting(monkeypatch), reloader.policy
    assert not reloader.poll()
    assert reloader.policy is before
    assert loads == []


def test_settled_files_are_not_even_read(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Times that are old tell every change; only young ones may hide one."""
    reloader = house.reloader(lambda: time.time_ns() + 3_600_000_000_000)
    monkeypatch.setattr("permitry.config.reload.file_digest", pytest.fail)
    assert not reloader.poll()


def test_a_file_touched_and_not_changed_is_not_loaded_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bytes decide."""
    reloader = house.reloader(lambda: time.time_ns() + 3_600_000_000_000)
    loads = _counting(monkeypatch)
    os.utime(house.user, (1, 1))
    assert not reloader.poll()
    assert loads == []


def test_a_change_that_keeps_size_and_times_is_seen(house: House) -> None:
    """Setting a file's time back does not hide that it was changed."""
    text = _rules("allow").replace("r-allow", "r-other")
    reloader = house.reloader(lambda: time.time_ns() + 3_600_000_000_000)
    before = house.user.stat()
    house.write(house.user, text)
    os.utime(house.user, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert house.user.stat().st_size == before.st_size
    assert _takes_two_looks(reloader)
    assert "r-other" in {rule.id for rule in reloader.loaded.rules.rules}


def test_a_change_within_one_tick_of_the_clock_is_seen(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a file is young its bytes are compared, whatever the system says of it."""
    monkeypatch.setattr("permitry.config.reload._status", lambda _: (0, 0, 0, 10, 10))
    reloader = house.reloader(lambda: 11)
    house.write(house.user, _rules("block"))
    assert _takes_two_looks(reloader)
    assert _verdict(reloader) == "block"


def test_a_link_under_another_name_is_followed(house: House) -> None:
    """A file that is extended twice, the second time by a link, is read once; then the link leads elsewhere."""
    folder = house.user.parent
    for name, effect in (("one", "allow"), ("two", "block")):
        house.write(folder / name / "more.toml", _rules(effect))
    (folder / "link").symlink_to("one")
    house.write(house.user, 'schema = 1\nextends = ["one/more.toml", "link/more.toml"]\n')
    reloader = house.reloader()
    assert _verdict(reloader) == "allow"
    (folder / "link").unlink()
    (folder / "link").symlink_to("two")
    reloader.poll()
    reloader.poll()
    assert _verdict(reloader) == "block"


def test_a_file_swapped_by_a_link_is_seen(house: House) -> None:
    """Links are followed, at any place on the way."""
    house.user.parent.rename(house.folder / "one")
    house.user.parent.symlink_to("one")
    reloader = house.reloader()
    house.write(house.folder / "two" / "rules.toml", _rules("block"))
    house.user.parent.unlink()
    house.user.parent.symlink_to("two")
    assert _takes_two_looks(reloader)
    assert _verdict(reloader) == "block"


def test_an_extended_file_that_changes_is_seen(house: House) -> None:
    """All files that were read are looked at."""
    more = house.write(house.user.with_name("more.toml"), "schema = 1\n")
    house.write(house.user, _rules("allow", "more.toml"))
    reloader = house.reloader()
    house.write(more, _rules("block"))
    assert _takes_two_looks(reloader)
    assert _verdict(reloader) == "block"


def test_a_layer_written_later_counts(house: House) -> None:
    """A project's file that was not there at the start restricts once it was seen twice."""
    reloader = house.reloader()
    house.write(house.project, _rules("block"))
    assert _takes_two_looks(reloader)
    assert _verdict(reloader) == "block"


def test_a_broken_file_keeps_the_last_good_policy(house: House) -> None:
    """It is reported once, with its place, and nothing of it counts."""
    reloader = house.reloader()
    before = reloader.policy
    house.write(house.user, BROKEN)
    assert [reloader.poll(), reloader.poll()] == [True, False]
    assert reloader.policy is before
    assert _problems(reloader) == [(str(house.user), "`schema` is 2; this version reads 1")]
    assert [event.problems for event in house.told] == [reloader.problems]


def test_another_mistake_is_told_again(house: House) -> None:
    """Whoever repairs a file sees how far it is."""
    reloader = house.reloader()
    house.write(house.user, BROKEN)
    reloader.poll()
    house.write(house.user, "schema = 3\n")
    assert reloader.poll()
    assert _problems(reloader) == [(str(house.user), "`schema` is 3; this version reads 1")]


def test_a_repaired_file_counts(house: House) -> None:
    """And the problems are gone."""
    reloader = house.reloader()
    house.write(house.user, BROKEN)
    assert reloader.poll()
    house.write(house.user, _rules("block"))
    assert _takes_two_looks(reloader)
    assert (_verdict(reloader), reloader.problems) == ("block", None)


def test_a_lacking_file_put_in_place_repairs_what_extends_it(house: House) -> None:
    """Also a file that was never seen before."""
    reloader = house.reloader()
    house.write(house.user, _rules("allow", "more.toml"))
    reloader.poll()
    assert _problems(reloader)
    house.write(house.user.with_name("more.toml"), _rules("block"))
    assert _takes_two_looks(reloader)
    assert (_verdict(reloader), reloader.problems) == ("block", None)


@pytest.mark.parametrize("layer", ["user", "project"])
def test_a_layer_that_vanishes_stays_in_force(house: House, layer: str) -> None:
    """Deleting a file lifts no restriction."""
    house.user.unlink()
    path = house.write(getattr(house, layer), _rules("block"))
    reloader = house.reloader()
    path.unlink()
    assert reloader.poll()
    assert (_verdict(reloader), _problems(reloader)) == ("block", [(str(path), GONE)])
    house.write(path, _rules("confirm"))
    assert _takes_two_looks(reloader)
    assert (_verdict(reloader), reloader.problems) == ("confirm", None)


def test_a_layer_added_later_stays_in_force_too(house: House) -> None:
    """What was in force once is."""
    reloader = house.reloader()
    house.write(house.project, _rules("block"))
    assert _takes_two_looks(reloader)
    house.project.unlink()
    assert reloader.poll()
    assert (_verdict(reloader), _problems(reloader)) == ("block", [(str(house.project), GONE)])


def test_a_nearer_project_does_not_hide_the_one_in_force(house: House) -> None:
    """Writing an empty rule file below it lifts no restriction."""
    outer = house.write(house.project.parents[2] / PROJECT_FILE, _rules("block"))
    reloader = house.reloader()
    house.write(house.project, "schema = 1\n")
    assert reloader.poll()
    assert (_verdict(reloader), _problems(reloader)) == ("block", [(str(outer), GONE)])


def test_while_a_layer_is_gone_nothing_else_counts(house: House) -> None:
    """All files are sound together, or the last good policy stays."""
    house.write(house.project, _rules("block"))
    reloader = house.reloader()
    house.project.unlink()
    house.write(house.user, _rules("confirm"))
    reloader.poll()
    assert "r-allow" in {rule.id for rule in reloader.loaded.rules.rules}


def test_a_named_or_extended_file_that_vanishes_is_broken(house: House) -> None:
    """Files named by the user, and what they extend, are there or nothing changes."""
    more = house.write(house.user.with_name("more.toml"), _rules("block"))
    house.write(house.user, _rules("allow", "more.toml"))
    reloader = PolicyReloader(lambda: [Origin(str(house.user))])
    for path in (more, house.user):
        path.rename(path.with_suffix(".away"))
        assert reloader.poll()
        assert _verdict(reloader) == "block"
        assert reloader.problems is not None


def test_whatever_fails_later_keeps_the_last_good_policy(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what no one thought of, in the search for layers as well."""
    reloader = house.reloader()

    def fail(*_: object) -> Origin:
        raise IndexError("oh")

    monkeypatch.setattr(TrustStore, "origin", fail)
    house.write(house.project, _rules("block"))
    assert reloader.poll()
    assert _verdict(reloader) == "allow"
    assert _problems(reloader) == [("rules", "cannot be loaded: IndexError: oh")]


def test_trust_given_and_taken_counts_at_the_next_poll(house: House) -> None:
    """Also when not a byte of the rules has changed."""
    house.user.unlink()
    house.write(house.project, _rules("allow"))
    reloader = house.reloader()
    assert _verdict(reloader) == "confirm"
    house.trust.trust(house.project.parents[1])
    assert reloader.poll()
    assert _verdict(reloader) == "allow"
    house.trust.revoke(house.project.parents[1])
    assert reloader.poll()
    assert _verdict(reloader) == "confirm"


def test_a_trusted_project_that_changes_loses_its_permissions(house: House) -> None:
    """The new restrictions count, the new permissions do not, and the notice says why."""
    house.user.unlink()
    house.write(house.project, _rules("allow"))
    house.trust.trust(house.project.parents[1])
    reloader = house.reloader()
    house.write(house.project, _rules("allow").replace('"tool"', '"*"'))
    assert _takes_two_looks(reloader)
    assert _verdict(reloader) == "confirm"
    assert [notice.split(": ")[-1] for notice in house.told[-1].rules.notices] == [
        "the project has changed since it was trusted; see `permitry trust`"
    ]


def test_a_file_changed_to_and_fro_while_it_is_read_is_loaded_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is in force is what is in the files afterwards."""
    reloader = house.reloader()
    house.write(house.user, _rules("block"))
    turns = iter(["allow"])

    def swapped(origins: tuple[Origin, ...]) -> RuleSet:
        for effect in turns:
            house.write(house.user, _rules(effect))
            rules = load_rules(origins)
            house.write(house.user, _rules("block"))
            return rules
        return load_rules(origins)

    monkeypatch.setattr("permitry.config.reload.load_rules", swapped)
    assert _takes_two_looks(reloader)
    assert _verdict(reloader) == "block"


def test_a_file_that_never_rests_is_a_problem(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """No one keeps the others waiting for ever."""
    reloader = house.reloader()
    house.write(house.user, _rules("block"))

    def restless(origins: tuple[Origin, ...]) -> RuleSet:
        rules = load_rules(origins)
        house.user.write_text(f"{house.user.read_text()}#")
        return rules

    monkeypatch.setattr("permitry.config.reload.load_rules", restless)
    assert reloader.poll()
    assert _verdict(reloader) == "allow"
    assert _problems(reloader) == [("rules", "the rule files change faster than they can be read")]


def test_many_pollers_take_over_once(house: House) -> None:
    """Two of them see the change; the others find that all is done."""
    reloader = house.reloader()
    house.write(house.user, _rules("block"))
    start, found = threading.Barrier(8), []

    def poll() -> None:
        start.wait()
        found.append(reloader.poll())

    threads = [threading.Thread(target=poll) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (sorted(found), len(house.told)) == ([False] * 7 + [True], 1)


def test_a_reader_never_sees_half_a_policy(house: House) -> None:
    """Rules and policy belong together at every moment, and every policy is one of the two written."""
    reloader = house.reloader()
    seen, ended = set(), threading.Event()

    def read() -> None:
        while not ended.is_set():
            loaded = reloader.loaded
            assert loaded.policy.rules[-len(loaded.rules.rules) :] == loaded.rules.rules
            seen.add(loaded.policy.version)

    reader = threading.Thread(target=read)
    reader.start()
    versions = {reloader.policy.version}
    for effect in ("block", "allow") * 5:
        house.write(house.user, _rules(effect))
        assert _takes_two_looks(reloader)
        versions.add(reloader.policy.version)
    ended.set()
    reader.join()
    assert len(versions) == 2
    assert seen <= versions


def test_a_call_back_may_ask_and_poll(house: House) -> None:
    """It finds the new policy in force."""
    seen = []
    reloader = PolicyReloader(house.layers, lambda _: seen.append((_verdict(reloader), reloader.poll())))
    house.write(house.user, _rules("block"))
    assert _takes_two_looks(reloader)
    assert seen == [("block", False)]


# Half a file ------------------------------------------------------------------------------------------------------

_TWO = _rules("allow") + '[[rule]]\nid = "r-block"\neffect = "block"\ntools = ["tool"]\n'
_PIECES = [*(_TWO[:end] for end in range(len(_rules("allow")), len(_TWO), 7)), _TWO]


def test_a_file_that_is_written_in_pieces_counts_when_it_is_whole(house: House) -> None:
    """A file cut behind a whole rule is sound; what followed must not be missing."""
    house.write(house.user, _TWO)
    reloader = house.reloader()
    for piece in _PIECES:
        house.write(house.user, piece)
        reloader.poll()
        assert _verdict(reloader) == "block"
    reloader.poll()
    assert (_verdict(reloader), reloader.problems) == ("block", None)


def test_so_does_a_file_that_another_one_extends(house: House) -> None:
    """Each file that is read is looked at twice."""
    more = house.write(house.user.with_name("more.toml"), _TWO)
    house.write(house.user, f'schema = 1\nextends = ["more.toml"]\n[template.t]\nallow_tools = ["{more.name}"]\n')
    reloader = house.reloader()
    for piece in _PIECES:
        house.write(more, piece)
        reloader.poll()
        assert _verdict(reloader) == "block"


def test_two_files_that_change_in_turns_count_when_both_rest(house: House) -> None:
    """What is seen twice of one says nothing of the other."""
    house.write(house.project, _rules("block"))
    reloader = house.reloader()
    for number in range(3):
        house.write((house.user, house.project)[number % 2], f"schema = 1\n# {number}\n")
        assert not reloader.poll()
        assert _verdict(reloader) == "block"
    assert reloader.poll()
    assert _verdict(reloader) == "confirm"


def test_a_file_put_in_place_at_once_counts_after_two_looks(house: House) -> None:
    """Renaming is how to write a file that is read meanwhile."""
    reloader = house.reloader()
    house.write(house.folder / "new.toml", _rules("block")).replace(house.user)
    assert _takes_two_looks(reloader)
    assert _verdict(reloader) == "block"


def test_what_is_in_force_needs_no_second_look(house: House) -> None:
    """A file that is put back as it was has been seen before."""
    reloader = house.reloader()
    house.write(house.user, BROKEN)
    assert reloader.poll()
    house.write(house.user, _rules("allow"))
    assert reloader.poll()
    assert (_verdict(reloader), reloader.problems) == ("allow", None)


def test_looks_that_are_too_near_are_one(house: House) -> None:
    """A writer that pauses between two lines of a fast session has not ended."""
    now = [1_000_000_000]
    reloader = PolicyReloader(house.layers, house.told.append, clock=lambda: now[0], apart=0.2)
    house.write(house.user, _rules("block"))
    assert [reloader.poll() for _ in range(5)] == [False] * 5
    now[0] += 200_000_000
    assert reloader.poll()
    assert _verdict(reloader) == "block"


def test_a_clock_set_back_keeps_no_change_waiting(house: House) -> None:
    """The next look after it counts, and not one an hour later."""
    now = [10_000_000_000_000]
    reloader = PolicyReloader(house.layers, house.told.append, clock=lambda: now[0], apart=0.2)
    house.write(house.user, _rules("block"))
    assert not reloader.poll()
    now[0] -= 3_600_000_000_000
    assert reloader.poll()
    assert _verdict(reloader) == "block"


def test_settled_rules_are_those_that_were_written_last(house: House) -> None:
    """One call, right after the file was written, is enough."""
    reloader = PolicyReloader(house.layers, house.told.append, apart=0.05)
    assert not reloader.settle()
    house.write(house.user, _rules("block"))
    assert reloader.settle()
    assert (_verdict(reloader), len(house.told)) == ("block", 1)


def test_a_file_with_a_mistake_is_looked_at_twice(house: House) -> None:
    """It may be half of one; a whole one that has a mistake is reported, and is not waited for again."""
    reloader = PolicyReloader(house.layers, house.told.append, apart=0.1)
    house.write(house.user, BROKEN)
    whole = threading.Timer(0.05, house.write, (house.user, _rules("block")))
    whole.start()
    assert reloader.settle()
    whole.join()
    assert (_verdict(reloader), reloader.problems) == ("block", None)
    house.write(house.user, BROKEN)
    assert [reloader.settle(), reloader.settle(within=0.0)] == [True, False]
    assert (_verdict(reloader), _problems(reloader)[0][0]) == ("block", str(house.user))


def test_files_that_never_rest_settle_nothing(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """No one decides by rules of which it is not known whether they still hold."""
    reloader = house.reloader()
    texts = iter(range(10_000))

    def write(_: float) -> None:
        house.write(house.user, f"{_rules('block')}# {next(texts)}\n")

    monkeypatch.setattr("permitry.config.reload.time.sleep", write)
    write(0)
    with pytest.raises(ConfigError, match="faster than they can be read"):
        reloader.settle(within=0.1)
    assert _verdict(reloader) == "allow"


def test_files_that_change_while_they_are_read_settle_nothing(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """This is not a mistake in a file, with which the last good policy would go on."""
    reloader = house.reloader()
    house.write(house.user, _rules("block"))
    monkeypatch.setattr("permitry.config.reload._MOST_TRIES", 0)
    for _ in range(2):
        with pytest.raises(ConfigError, match="faster than they can be read"):
            reloader.settle(within=0.02)


def test_a_slow_writer_is_never_read_half(house: House) -> None:
    """With looks further apart than its pieces, the whole file is in force at every moment."""
    house.write(house.user, _TWO)
    reloader = PolicyReloader(house.layers, house.told.append, apart=5.0)

    def write() -> None:
        for piece in _PIECES:
            house.write(house.user, piece)
            time.sleep(0.01)

    writer = threading.Thread(target=write)
    writer.start()
    while writer.is_alive():
        reloader.poll()
        assert _verdict(reloader) == "block"
        time.sleep(0.005)
    writer.join()


# What is told ----------------------------------------------------------------------------------------------------


def test_the_difference_names_what_came_and_went_by_file(house: House) -> None:
    """Rules, those that only label, and templates; never what they say."""
    before = house.reloader().loaded
    label = '[[rule]]\nid = "labels"\ntools = ["x"]\nadds_label = "web"\n'
    house.write(house.user, f"{_rules('block')}{label}[template.t]\nallow_tools = ['a']\n")
    house.write(house.project, _rules("confirm"))
    after = house.reloader().loaded
    assert difference(before, after) == {
        "added": {str(house.user): ["labels", "r-block"], str(house.project): ["r-confirm"], "templates": ["t"]},
        "removed": {str(house.user): ["r-allow"]},
        "changed": {},
        "version_before": before.policy.version,
        "policy_version": after.policy.version,
        "problems": [],
    }


def test_a_rule_that_only_moved_has_not_changed(house: House) -> None:
    """Its line is not a part of what it means; its effect, its tools and its reason are."""
    house.write(house.user, _rules("allow"))
    before = house.reloader().loaded
    house.write(house.user, _rules("allow").replace("schema", "\n\nschema"))
    assert difference(before, house.reloader().loaded)["changed"] == {}
    house.write(house.user, _rules("allow").replace('"tool"', '"other"'))
    assert difference(before, house.reloader().loaded)["changed"] == {str(house.user): ["r-allow"]}


def test_the_difference_names_the_tools_that_are_declared_otherwise(house: House) -> None:
    """What a tool is decides which rules are about it."""
    writes = '[tool.tool]\ntraits = ["destructive"]\n'
    house.write(house.user, f"{_rules('allow')}{writes}")
    before = house.reloader().loaded
    house.write(house.user, f"{_rules('allow')}{writes.replace('destructive', 'read_only')}[tool.more]\ntraits = []\n")
    told = difference(before, house.reloader().loaded)
    assert (told["added"], told["removed"], told["changed"]) == ({"tools": ["more"]}, {}, {"tools": ["tool"]})


def test_files_that_do_not_count_are_told_with_what_is_wrong(house: House) -> None:
    """Nothing came and nothing went."""
    reloader = house.reloader()
    before = reloader.loaded
    house.write(house.user, BROKEN)
    reloader.poll()
    told = difference(before, reloader.loaded)
    assert (told["added"], told["removed"], told["changed"]) == ({}, {}, {})
    assert told["version_before"] == told["policy_version"]
    assert told["problems"] == [f"{house.user}:1: `schema` is 2; this version reads 1"]


def test_the_difference_names_a_change_for_unmatched_calls() -> None:
    """As the other parts of a file are named."""
    loaded = [
        Loaded(rules, rules.policy())
        for rules in (RuleSet(), RuleSet(unmatched=Verdict.BLOCK, unmatched_source="rules.toml:3"))
    ]
    assert difference(*loaded)["added"] == {"rules.toml": ["unmatched"]}


def test_what_is_observed_is_looked_at_as_well(house: House) -> None:
    """A change of it is on record, and so is that it is obeyed from now on."""
    watched = house.write(house.folder / "watched.toml", _rules("block"))
    reloader = PolicyReloader(lambda: [*house.layers(), Origin(str(watched), is_observed=True)])
    first = reloader.loaded
    house.write(watched, _rules("block").replace('"tool"', '"other"'))
    assert _takes_two_looks(reloader)
    second = reloader.loaded
    assert first.policy.version != second.policy.version
    assert difference(first, second)["changed"] == {str(watched): ["r-block (observed)"]}
    house.write(house.user, _rules("allow", "../watched.toml"))
    assert _takes_two_looks(reloader)
    found = difference(second, reloader.loaded)
    assert found["removed"] == {str(watched): ["r-block (observed)"]}
    assert str(found["added"]).endswith("watched.toml': ['r-block']}")
