"""The benchmark runs at tiny sizes, compares answers before times, and says who is missing. No figure is judged here.

It runs in processes of its own: `tests` is not a package here, and a peer may bring a package of that name.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.tables import for_each

ROOT = Path(__file__).resolve().parents[2]
ENGINES = ("hand-written if/elif", "naive loop", "cedarpy", "pycasbin", "vakt", "rbacx", "OPA, in process", "regorus")
PREAMBLE = f"""
import json, sys, types
sys.modules["tests"] = types.ModuleType("tests")
sys.modules["tests"].__path__ = [{str(ROOT / "tests")!r}]
"""

Ask: TypeAlias = Callable[[str], Any]


def bench(*options: str) -> "subprocess.CompletedProcess[str]":
    """Return the run of the benchmark with some options."""
    command = [sys.executable, "tests/bench", *options]
    return subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, timeout=300)


def answer_to(script: str) -> Any:  # noqa: ANN401 -- whatever the script prints as JSON
    """Return what a script that may import the benchmark prints last, read as JSON."""
    command = [sys.executable, "-c", PREAMBLE + script]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def rows(text: str) -> dict[str, list[str]]:
    """Return the rows of all tables by their first cell; of equal ones the first."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("| "):
            first, *rest = (cell.strip() for cell in line.strip("|").split("|"))
            found.setdefault(first, rest)
    return found


def test_decisions_are_measured_next_to_every_engine_that_is_here() -> None:
    """All answers agree; each engine has a ratio, or a row that says what to install."""
    done = bench("--quick", "--only", "decisions")
    assert done.returncode == 0, done.stderr
    found = rows(done.stdout.partition("## Targets")[0])
    for engine in ENGINES:
        ((_, first),) = ((name, cells[0]) for name, cells in found.items() if name.startswith(engine))
        assert first.startswith("not installed (`") or float(first.removesuffix("x").replace(",", "")) > 0


QUICK = [
    ("one-tool", "## Many rules about one tool"),
    ("filtering", "## Filtering the list of tools"),
    ("text-calls", "## Calls in a model's text"),
]


@for_each(("question", "title"), QUICK)
def test_a_quick_question_is_answered(question: str, title: str) -> None:
    """It ends well, under its title, and every table has as many cells in a row as in its head."""
    _check_answer(question, title)


@pytest.mark.large
@for_each(("question", "title"))
def test_every_other_question_is_answered(question: str, title: str) -> None:
    """As the quick ones; together they take more than a minute."""
    _check_answer(question, title)


def _check_answer(question: str, title: str) -> None:
    done = bench("--quick", "--only", question)
    assert done.returncode == 0, done.stderr
    section = done.stdout.partition(title)[2].partition("## Targets")[0]
    tables = [part for part in section.split("\n\n") if part.startswith("| ")]
    assert tables
    for table in tables:
        lines = table.strip().splitlines()
        assert len(lines) > 2
        assert len({line.count("|") for line in lines}) == 1


def test_an_engine_that_lies_is_reported_apart() -> None:
    """Equal answers come before times: who allows what the rules block is named, with the call."""
    shown = answer_to("""
from tests.bench.agreement import disagreements
from tests.bench.peers.by_hand import ByHand, Naive
from tests.bench.peers.engine import Loaded
from tests.bench.workload import calls, rules
made = rules(40)
oracle, honest = Naive().load(Naive().write(made)), ByHand().load(ByHand().write(made))
liar = Loaded(lambda call: "allow", lambda call: (call,), str)
print(json.dumps({name: str(each) for name, each in
    disagreements({"honest": honest, "liar": liar}, oracle, calls(made, "mixed", 100)).items()}))
""")
    assert list(shown) == ["liar"]
    assert "says `allow`, and not `" in shown["liar"]


def test_a_peer_that_is_missing_has_a_row_that_says_so() -> None:
    """Nothing fails for want of a peer."""
    shown = answer_to("""
sys.modules.update(cedarpy=None, vakt=None)
from tests.bench import filtering
from tests.bench.report import QUICK, markdown
report = filtering.run(QUICK, lambda text: None)
print(json.dumps(markdown(report.ratios[0])))
""")
    assert rows(shown)["cedarpy"] == ["not installed (`cedarpy`)"]
    assert rows(shown)["vakt"] == ["not installed (`vakt`)"]


def test_the_rules_are_mixed_as_the_page_says() -> None:
    """80 % exact names, 15 % globs, 5 % conditions, of all three kinds."""
    globs, conditions, total = answer_to("""
from tests.bench.workload import rules
made = rules(1_000)
print(json.dumps([sum(rule.is_glob for rule in made),
    sorted(rule.condition.what for rule in made if rule.condition), len({rule.id for rule in made})]))
""")
    assert (globs, len(conditions), total) == (150, 50, 1_000)
    assert set(conditions) == {"limit", "mode", "path"}


def test_calls_meet_rules_or_miss_them_as_their_kind_says() -> None:
    """Every hit is decided by a rule, no miss is, and the mixture and the fresh names have both."""
    shown = answer_to("""
from tests.bench.peers.by_hand import Naive
from tests.bench.workload import KINDS, calls, fresh_calls, rules
made = rules(200)
decide = Naive().load(made).ask
kinds = {kind: calls(made, kind, 300) for kind in KINDS} | {"new": list(fresh_calls(made, 300))}
print(json.dumps({kind: sorted({decide(call) for call in sample}) for kind, sample in kinds.items()}))
""")
    assert shown == {
        "hit": ["allow", "block"],
        "miss": ["confirm"],
        "mixed": ["allow", "block", "confirm"],
        "new": ["allow", "block", "confirm"],
    }


def test_of_the_rounds_the_best_one_counts() -> None:
    """A round in which the machine was busy does not show; the first one only warms up."""
    p50 = answer_to("""
import time
from tests.bench.timing import Subject, measure
def sleep(turn):
    time.sleep(0.0 if turn == 2 else 0.02)
requests = lambda turn: [(turn,)] * 5
print(json.dumps(measure({"a": Subject(sleep, requests)}, rounds=3, seconds=5)["a"].p50))
""")
    assert p50 < 20_000


def test_the_page_has_ratios_and_no_figures() -> None:
    """Another machine has other figures, which the command prints; the plot is shown where there is one."""
    page = answer_to("""
from tests.bench.page import page
from tests.bench.report import Report, Table
ratios, figures = (Table(told, ("engine", "x"), (("a", "1"),)) for told in ("The ratios:", "The figures:"))
print(json.dumps(page({"decisions": Report("Decisions", (ratios,), (figures,), text="So it is.")}, ["decisions"])))
""")
    order = ["# Benchmarks", "Versions: Python", "The ratios:", "](benchmarks.svg)"]
    places = [page.index(part) for part in order]
    assert places == sorted(places)
    assert "The figures:" not in page


def test_a_target_says_whether_it_is_met() -> None:
    """Bounds from above and from below; what was not measured is neither."""
    shown = answer_to("""
from tests.bench.report import markdown
from tests.bench.targets import targets
print(json.dumps(markdown(targets({"p50-10000": 1.6, "cedarpy-10": 12.0}))))
""")
    found = rows(shown)
    assert found["a decision, 10,000 rules, mixed, median"][-1] == "no"
    assert found["cedarpy, 10 rules"][-1] == "yes"
    assert found["vakt, 10,000 rules"][-2:] == ["not measured", ""]


def test_only_a_whole_and_thorough_run_is_written_down() -> None:
    """The page must not be made of a quick look."""
    done = bench("--quick", "--write")
    assert done.returncode == 2
    assert "--write writes the whole page" in done.stderr


def test_each_guard_of_agentdojo_has_rules_that_load() -> None:
    """The package need not be there; the example sets stay short, as tools are declared and no task is named."""
    lines = answer_to(
        "from permitry import load_policy\n"
        "from tests.bench.agentdojo import GUARDS, SUITES, policy_lines, rule_files\n"
        "files = {(guard, suite): rule_files(guard, suite) for guard in GUARDS for suite in SUITES}\n"
        "for each in files.values():\n"
        "    load_policy(*map(str, each)) if each else None\n"
        "texts = {suite: [path.read_text() for path in files['provenance', suite]] for suite in SUITES}\n"
        "print(json.dumps({suite: sum(map(policy_lines, each)) for suite, each in texts.items()}))"
    )
    assert set(lines) == {"workspace", "travel", "banking", "slack"}
    assert max(lines.values()) <= 45


def test_lines_of_policy_are_those_that_decide() -> None:
    """Neither empty lines, nor comments, nor declarations of tools."""
    text = "# a\nschema = 1\n[tool]\na = {}\n\n[[rule]]\nid = 'x'\n[tool.b]\ntraits = []\n"
    assert answer_to(f"from tests.bench.agentdojo import policy_lines\nprint(policy_lines({text!r}))") == 3


def test_what_is_heard_of_a_task_comes_from_its_other_runs() -> None:
    """Those without an attack; a run says nothing of itself, and one that is attacked nothing of any."""
    heard = answer_to(
        "from tests.bench.agentdyn import words_of_others\n"
        "def line(run, attack, **given):\n"
        "    of = {'run': run, 'suite': 's', 'user_task': 't', 'injection_task': attack, 'attack_succeeded': attack}\n"
        "    return {**of, 'arguments': given}\n"
        "runs = {'a': [line('a', None, to=['ann', 5])], 'b': [line('b', None, to={'x': 'bob'}, c=True)],\n"
        "        'x': [line('x', 'i', to='eve')]}\n"
        "print(json.dumps({name: words_of_others(runs)(run).split() for name, run in runs.items()}))"
    )
    assert heard == {"a": ["bob"], "b": ["5", "ann"], "x": ["5", "ann", "bob"]}
