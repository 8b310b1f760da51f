"""Records of programs that rule files have: which counts, and what it adds to."""

from typing import Any

from tests.tables import for_each

from permitry.actions.programs.catalogue import shipped
from permitry.actions.programs.entries import Options
from permitry.actions.programs.records import Record, Records
from permitry.core.action import Actions, Run, Word


def _record(name: str = "ours", rank: int = 2, **fields: Any) -> Record:  # noqa: ANN401 -- any field of a record
    return Record(name, fields, f"r{rank}.toml:1", rank)


def test_without_records_all_is_as_it_is_shipped() -> None:
    """The very catalogue, so that what is remembered is shared, and there is no other reading."""
    assert Records().catalogue() is shipped()
    assert (Records().below, Records().digest) == ((), "")


def test_a_record_of_a_new_program_says_all_that_is_known_of_it() -> None:
    """And nothing of another one."""
    known = Records([_record(operands="read*", options="-ab")]).catalogue()
    assert known["ours"].is_known
    assert known["ours"].options == Options(plain=frozenset({"-a", "-b"}))
    assert "ours" not in shipped()
    assert known["cat"] == shipped()["cat"]


def test_a_record_of_a_known_program_adds_options_and_sub_commands() -> None:
    """Its other fields take the place of those that are shipped."""
    saves = Records([_record("curl", writes="--save=", refused={"--own": "runs"})]).catalogue()["curl"]
    assert saves.known.valued == shipped()["curl"].known.valued | {"--save"}
    assert saves.refused.keys() >= shipped()["curl"].refused.keys()
    known = Records([_record("git", options="--ours", commands={"ours": {"operands": "read*"}})]).catalogue()["git"]
    assert known.options.plain == shipped()["git"].options.plain | {"--ours"}
    assert known.commands["log"] == shipped()["git"].commands["log"]
    assert known.commands["ours"].shapes
    assert Records([_record("df", does="network")]).catalogue()["df"].reason == "opens network connections"


def test_a_program_of_which_it_is_only_known_what_it_runs_becomes_known() -> None:
    """The record says what else it does."""
    assert not shipped()["ansible"].is_known
    known = Records([_record("ansible", does="system")]).catalogue()["ansible"]
    assert (known.is_known, known.runs) == (True, shipped()["ansible"].runs)


def test_that_a_program_runs_commands_elsewhere_may_be_added() -> None:
    """So that paths in its words are those of another machine."""
    assert "ours" in Records([_record(elsewhere=True)]).catalogue().elsewhere


@for_each(
    ("ranks", "expected"), [([1, 3, 2], 3), ([2, 1], 2), ([1], 1), ([3, 0], 0), ([0, 2], 0)]
)  # fmt: skip
def test_of_several_records_that_of_the_most_trusted_file_counts(ranks: list[int], expected: int) -> None:
    """One that is not trusted does where all records count: it can only restrict."""
    assert Records(_record(rank=rank) for rank in ranks).counting()["ours"].rank == expected


def test_the_trusted_ones_are_all_but_those_of_a_project_that_is_not() -> None:
    """Permissions rely on them."""
    records = Records(_record(rank=rank) for rank in (0, 1, 3))
    assert [each.rank for each in records.trusted.every] == [3, 1]


def test_restrictions_see_what_is_known_without_each_less_trusted_layer() -> None:
    """Nothing at all, then the admin's, then the user's as well; not those that are not trusted."""
    records = Records(_record(rank=rank) for rank in (0, 1, 2, 3))
    assert [[each.rank for each in below.every] for below in records.below] == [[], [3], [3, 2]]


def test_other_records_have_another_digest() -> None:
    """It says what they say, and whose they are, and not in which line."""
    one = Records([_record(operands="read*")])
    assert one.digest == Records([Record("ours", {"operands": "read*"}, "elsewhere.toml:9", 2)]).digest
    others = [Records([_record(operands="write*")]), Records([_record(rank=0, operands="read*")]), Records()]
    assert len({one.digest, *(each.digest for each in others)}) == 4


def test_the_records_of_a_call_are_those_of_its_programs() -> None:
    """Wrappers and what may run included."""
    actions = Actions(
        (Run((Word("ours"), Word("a"))),), (Run((Word("cat"),), within=("wrap",)),), (Run((Word("may"),)),)
    )
    records = Records(_record(name) for name in ("ours", "wrap", "may", "other"))
    assert [each.name for each in records.records_used_in(actions)] == ["ours", "wrap", "may"]


def test_a_record_says_where_it_is_and_what_it_does() -> None:
    """For people who wonder why a call was decided so."""
    assert str(_record()) == "what `ours` does is said in r2.toml:1"
    assert str(_record(rank=0)) == "what `ours` does is said in r0.toml:1, which is not trusted: it only restricts"
