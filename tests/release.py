"""What the shipped sets permit more than those of the last release: `python -m tests.release` writes the table."""

import contextlib
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from permitry_ops.cli.diff import markdown_row
from permitry_ops.diff.report import Change, Report, command_of, compare
from permitry_ops.diff.sources import load

ROOT = Path(__file__).resolve().parents[1]
RELEASE = "c0feded53d345a26445c2d9fbf12bd535fa39dab"
"""The revision of 0.1.0."""
PAGE = ROOT / "CHANGELOG.md"
_TABLE = re.compile(r"(<!-- table: release -->\n).*?(?=<!-- end -->)", re.DOTALL)
_HEAD = "| set | rule | call | before | now |\n|---|---|---|---|---|\n"


def list_sets() -> list[str]:
    """Return the files of sets that both the release and this tree have; none where this clone lacks the release."""
    command = ["git", "-C", str(ROOT), "ls-tree", "--name-only", RELEASE, "rules/"]
    listed = subprocess.run(command, check=False, capture_output=True, text=True).stdout
    return [name for name in listed.splitlines() if name.endswith(".toml") and (ROOT / name).exists()]


def compare_sets() -> dict[str, Report]:
    """Return what each set permits more now than in the release, by its name."""
    found: dict[str, Report] = {}
    for name in list_sets():
        with contextlib.chdir(ROOT), load(f"git:{RELEASE}:{name}") as old, load(str(ROOT / name)) as new:
            found[Path(name).stem] = compare(old, new, workspace="/permitry/workspace", only_wider=True)
    return found


def write_table(page: str, reports: dict[str, Report]) -> str:
    """Return the text of the CHANGELOG with a row for each way in which a set permits more."""
    rows = "".join(f"{row}\n" for name, report in reports.items() for row in _rows(name, report))
    return _TABLE.sub(lambda found: f"{found[1]}\n{_HEAD}{rows}\n", page)


def _rows(name: str, report: Report) -> Iterator[str]:
    for change in report.wider:
        yield markdown_row(name, change.title, f"`{command_of(change.witness.line)}`", *_verdicts(change))
    for each in report.unproven:
        yield markdown_row(name, each.title, f"not proven: {', '.join(each.why)}", "", "")
    if not (report.wider or report.unproven):
        yield markdown_row(name, "nothing more is allowed", "", "", "")


def _verdicts(change: Change) -> tuple[str, str]:
    return change.witness.before.verdict.value, change.witness.after.verdict.value


if __name__ == "__main__":
    PAGE.write_text(write_table(PAGE.read_text("utf-8"), compare_sets()), "utf-8")
