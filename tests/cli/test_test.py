"""`permitry test`: golden cases, and the examples inside rules."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

Outcome = tuple[int, str, str]
Objects = Callable[[str], list[dict[str, Any]]]
Write = Callable[..., Path]

SHIPPED = sorted(f"permitry:{path.stem}" for path in (Path(__file__).parents[2] / "rules").glob("*.toml"))
WANT = {
    "verdict": "confirm",
    "rule": None,
    "phase": "default",
    "message": "This call needs the user's confirmation before it runs.",
}
BLOCKS_ALL = 'schema = 1\n[[rule]]\nid = "no"\neffect = "block"\ntools = ["*"]\nmessage = "No."\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, in which there are no cases."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


@pytest.fixture
def write(folder: Path) -> Write:
    """Return a function that writes a case, a good one unless `changes` say otherwise."""

    def written(name: str = "cases/one.json", **changes: object) -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        call = {"name": "write_file", "arguments": {"path": "notes.txt"}}
        case = {"id": path.stem, "why": "it is asked about", "call": call, "want": WANT, **changes}
        path.write_text(json.dumps(case))
        return path

    return written


def test_what_fails_steers_no_terminal(cli: Callable[..., Outcome], write: Write) -> None:
    """A repository chose the name of the file."""
    code, out, err = cli("test", write("a\x1b[2J\u202e.json", want={**WANT, "message": "\x1b]0;own\x07"}))
    assert code == 1
    assert not {"\x1b", "\x07", "\u202e"} & {*out, *err}
    assert "a\\u001b[2J\\u202e.json" in out


@pytest.mark.usefixtures("folder")
def test_the_shipped_sets_are_tested(cli: Callable[..., Outcome]) -> None:
    """Without anything named the shipped sets are loaded, which tries every example in them."""
    code, out, err = cli("test")
    assert (code, out, err) == (0, f"{len(SHIPPED)} passed, 0 failed\n", "")


def test_the_default_folder_is_found(cli: Callable[..., Outcome], write: Write, folder: Path) -> None:
    """Cases in `golden/cases` count without being named."""
    write("golden/cases/one.json")
    (folder / "golden/cases/index.txt").write_text("one\n")
    assert cli("test") == (0, f"{len(SHIPPED) + 1} passed, 0 failed\n", "")


def test_named_cases_are_tested(cli: Callable[..., Outcome], write: Write) -> None:
    """A case file that is named needs no index."""
    assert cli("test", write("a.json"), write("b.json")) == (0, f"{len(SHIPPED) + 2} passed, 0 failed\n", "")


@for_each(("field", "value"), [("verdict", "block"), ("rule", "yolo"), ("phase", "permission"), ("message", "Wait.")])
def test_a_case_that_does_not_hold_fails(cli: Callable[..., Outcome], write: Write, field: str, value: str) -> None:
    """A difference in any one field fails, and exactly that field is reported with both values."""
    path = write(want={**WANT, field: value})
    code, out, _ = cli("test", path)
    assert code == 1
    head, shown, count = out.splitlines()
    assert (head, count) == (f"FAILED {path}", f"{len(SHIPPED)} passed, 1 failed")
    assert shown == f"  want.{field}: want {json.dumps(value)}, got {json.dumps(WANT[field])}"


def test_the_other_cases_are_tested_all_the_same(cli: Callable[..., Outcome], write: Write) -> None:
    """One failure does not end the run."""
    good, bad = write("good.json"), write("bad.json", want={**WANT, "rule": "x"})
    code, out, _ = cli("test", bad, good)
    assert (code, out.splitlines()[-1]) == (1, f"{len(SHIPPED) + 1} passed, 1 failed")


@for_each(
    ("changes", "error"),
    [
        ({"id": "two"}, "the id `two` is not the name of the file"),
        ({"why": ""}, "`why`: "),
        ({"want": {**WANT, "verdict": "maybe"}}, "`want.verdict`: "),
        ({"wants": 1}, "`wants`: extra inputs are not permitted"),
        ({"call": {"name": "x"}}, "the key `arguments` is missing"),
        ({"context": {"yolo": True}}, "unknown key `context.yolo`"),
        ({"rules": ["none.toml"]}, "there is no file"),
        ({"rules": ["permitry:none"]}, "there is no shipped rule set `permitry:none`"),
    ],
)
def test_a_bad_case_fails(cli: Callable[..., Outcome], write: Write, changes: dict[str, object], error: str) -> None:
    """A case that cannot be used is a failure that says why."""
    code, out, _ = cli("test", write(**changes))
    assert code == 1
    assert error in out


@for_each("text", [b"{", b'{"id": "one", "id": "one"}', b"\xff", b"[]"])
def test_a_file_that_is_no_case_fails(cli: Callable[..., Outcome], write: Write, text: bytes) -> None:
    """Broken JSON, a duplicate key, other bytes, and another value are failures."""
    path = write()
    path.write_bytes(text)
    code, out, _ = cli("test", path)
    assert code == 1
    assert out.startswith(f"FAILED {path}\n")


@pytest.mark.usefixtures("folder")
def test_a_case_that_is_not_there_fails(cli: Callable[..., Outcome]) -> None:
    """A named file that does not exist is a failure, not nothing to do."""
    code, out, _ = cli("test", "missing.json")
    assert code == 1
    assert "missing.json: it cannot be read: No such file or directory\n" in out


@for_each(
    ("index", "error"),
    [
        (None, "the folder has no `index.txt`"),
        ("one\n", "the case is not in the index"),
        ("one\nthree\ntwo\n", "the case `three` is missing"),
        ("two\none\n", "`one` is out of order or listed twice"),
        ("one\none\ntwo\n", "`one` is out of order or listed twice"),
    ],
)
def test_index_and_cases_must_be_the_same(
    cli: Callable[..., Outcome], write: Write, folder: Path, index: str | None, error: str
) -> None:
    """A missing, unused or unsorted case, and a folder without an index, do not pass."""
    write("cases/one.json")
    write("cases/two.json")
    if index is not None:
        (folder / "cases/index.txt").write_text(index)
    code, out, err = cli("test", "cases")
    assert code != 0
    assert error in out + err


def test_the_index_can_be_written(cli: Callable[..., Outcome], write: Write, folder: Path) -> None:
    """`--write-index` writes the sorted ids, tests nothing, and makes the folder pass."""
    for name in ("b", "a-b", "a"):
        write(f"cases/{name}.json")
    assert cli("test", "--write-index", "cases") == (0, "", "")
    assert (folder / "cases/index.txt").read_text() == "a\na-b\nb\n"
    assert cli("test", "cases")[0] == 0


@for_each("name", ["missing", "file.json"])
def test_the_index_of_no_folder_cannot_be_written(cli: Callable[..., Outcome], tmp_path: Path, name: str) -> None:
    """`--write-index` on what is not a directory is invalid input, not a traceback."""
    (tmp_path / "file.json").write_text("{}")
    code, _, err = cli("test", "--write-index", tmp_path / name)
    assert (code, err) == (4, f"permitry: `{tmp_path / name}` is not a directory; an index lists the cases of one\n")


def test_named_rules_are_for_cases_that_name_none(cli: Callable[..., Outcome], write: Write, folder: Path) -> None:
    """`--rules` replaces the shipped sets, and decides the cases without rules of their own; the others keep theirs."""
    (folder / "no.toml").write_text(BLOCKS_ALL)
    blocked = {"verdict": "block", "rule": "no", "phase": "restriction", "message": "No."}
    bare, own = write("bare.json", want=blocked), write("own.json", rules=["permitry:base"])
    assert cli("test", "--rules", "no.toml", bare, own) == (0, "3 passed, 0 failed\n", "")


def test_named_rules_are_for_a_folders_cases_too(cli: Callable[..., Outcome], write: Write, folder: Path) -> None:
    """Cases found through an index are decided by the named rules like those that are named themselves."""
    (folder / "no.toml").write_text(BLOCKS_ALL)
    write(want={"verdict": "block", "rule": "no", "phase": "restriction", "message": "No."})
    (folder / "cases/index.txt").write_text("one\n")
    assert cli("test", "--rules", "no.toml", "cases") == (0, "2 passed, 0 failed\n", "")


def test_a_cases_rules_are_relative_to_it(cli: Callable[..., Outcome], write: Write, folder: Path) -> None:
    """A case in another folder finds the rule file next to it."""
    blocked = {"verdict": "block", "rule": "no", "phase": "restriction", "message": "No."}
    path = write("elsewhere/one.json", rules=["no.toml"], want=blocked)
    (folder / "elsewhere/no.toml").write_text(BLOCKS_ALL)
    assert cli("test", path)[0] == 0


def test_a_failing_example_fails(cli: Callable[..., Outcome], folder: Path) -> None:
    """A rule whose example does not hold is a failure, named with its place."""
    (folder / "bad.toml").write_text(f'{BLOCKS_ALL}no_match = ["anything"]\n')
    code, out, err = cli("test", "--rules", "bad.toml")
    assert code != 0
    assert "FAILED bad.toml\n" in out
    assert "bad.toml:7" in out + err


def test_json_is_one_object_a_case(cli: Callable[..., Outcome], write: Write, objects: Objects) -> None:
    """With `--json` every outcome is a line of its own, and there is nothing else."""
    good, bad = write("good.json"), write("bad.json", want={**WANT, "rule": "x"})
    code, out, err = cli("test", "--json", good, bad)
    shown = objects(out)
    assert (code, err) == (1, "")
    assert [each["name"] for each in shown] == [*SHIPPED, str(good), str(bad)]
    assert [each["kind"] for each in shown] == ["rules"] * len(SHIPPED) + ["case"] * 2
    assert [each["ok"] for each in shown] == [True] * (len(SHIPPED) + 1) + [False]
    assert shown[-1]["error"] == 'want.rule: want "x", got null'
