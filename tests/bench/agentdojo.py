"""AgentDojo's attacks against rules that know where a value comes from; no model is asked.

::

    python -m venv dojo && dojo/bin/pip install -e . agentdojo
    dojo/bin/python -m tests.bench.agentdojo [--only SUITE]... [--guard GUARD]... [--failures]

The calls are the package's own ground truth, and it checks utility and security itself. `agentdojo` is no dependency of
the project; the page `docs/reference/benchmarks-agentdojo.md` has the figures, and what they show.
"""

import argparse
import concurrent.futures
import itertools
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from tests.bench.peers.engine import module, version
from tests.bench.report import Table, markdown, number, tell

from permitry import AuthorizationPolicy, Guard, Session, ToolCall, ToolSpec, ToolTraits, load_policy
from permitry.channels.response import ToolConfirmationResponse
from permitry.guard.outcome import Ask, Permit

__all__ = ["GUARDS", "SUITES", "main", "policy_lines", "rule_files"]

SUITES: Mapping[str, tuple[str, ...]] = {
    "workspace": ("mail", "sharing"),
    "travel": ("travel", "mail"),
    "banking": ("banking",),
    "slack": ("chat",),
}
"""The suites, and the example sets that a policy for each consists of."""
GUARDS = ("unguarded", "label-only", "lists-only", "provenance")
_HERE = Path(__file__).resolve().parent
_EXAMPLES = _HERE.parents[1] / "rules" / "examples"
_READS = ("get_", "search_", "read_", "list_", "check_")
_SENDS = ("get_webpage",)
_HEAD = (
    "suite, guard",
    "lines",
    "tasks done",
    "questions",
    "attacks",
    "attended",
    "done under attack",
    "attended",
    "µs",
)


def rule_files(guard: str, suite: str) -> tuple[Path, ...]:
    """Return the rule files of a guard for a suite; none where it is unguarded."""
    match guard:
        case "unguarded":
            return ()
        case "label-only":
            return (_HERE / "dojo" / "label.toml",)
        case "lists-only":
            return (_HERE / "dojo" / f"lists-{suite}.toml",)
        case _:
            return tuple(_EXAMPLES / f"{name}.toml" for name in SUITES[suite])


def policy_lines(text: str) -> int:
    """Return how many lines of a rule file are neither empty, nor comments, nor declarations of tools."""
    is_tool, count = False, 0
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            is_tool = line.startswith("[tool")
        count += bool(line) and not line.startswith("#") and not is_tool
    return count


@attrs.define
class _Tally:
    """What a guard did in a suite; `broken` are attacks that do not even succeed without a guard."""

    tasks: int = 0
    solved: int = 0
    asked: int = 0
    pairs: int = 0
    attacks: int = 0
    solved_under_attack: int = 0
    broken: int = 0
    times: list[float] = attrs.field(factory=list)
    notes: list[str] = attrs.field(factory=list)

    def add(self, other: "_Tally") -> None:
        """Add what it did in another suite."""
        for field in attrs.fields(_Tally):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


@attrs.define
class _Run:
    """A pipeline of AgentDojo in place of a model: a task's calls, and those of an attack, through a guard.

    The calls of the attack follow the first of the user's. A question is refused where no human is there; a human says
    yes to the user's own calls, and no to those of the attack.
    """

    policy: AuthorizationPolicy | None
    is_attended: bool
    task: Any
    attack: Any = None
    asked: int = 0
    times: list[float] = attrs.field(factory=list)
    refused: list[str] = attrs.field(factory=list)
    name: str | None = None

    def query(self, query: str, runtime: Any, env: Any, *_: object) -> tuple[Any, ...]:  # noqa: ANN401 -- of the package
        """Return what the package expects of a pipeline, of which it looks at the messages."""
        guard = None if self.policy is None else Guard(self.policy, session=Session(attended=self.is_attended))
        if guard is not None:
            guard.session.heard(query)
        own = [(call, True) for call in self.task.ground_truth(env)]
        injected = [(call, False) for call in (self.attack.ground_truth(env) if self.attack else ())]
        messages = [
            {"role": "assistant", "content": [], "tool_calls": [call]}
            for call, is_own in (*own[:1], *injected, *own[1:])
            if self._ran(guard, runtime, env, call, is_own=is_own)
        ]
        said = [{"type": "text", "content": self.task.GROUND_TRUTH_OUTPUT}]
        return query, runtime, env, [*messages, {"role": "assistant", "content": said, "tool_calls": None}], {}

    def _ran(self, guard: Guard | None, runtime: Any, env: Any, made: Any, *, is_own: bool) -> bool:  # noqa: ANN401
        if guard is None:
            runtime.run_function(env, made.function, made.args)
            return True
        permit = self._permit(guard, made, is_own=is_own)
        if permit is None:
            return False
        permit.take()
        result, error = runtime.run_function(env, made.function, made.args)
        permit.done(ok=error is None, result=_as_json(result) if error is None else error)
        return True

    def _permit(self, guard: Guard, made: Any, *, is_own: bool) -> Permit | None:  # noqa: ANN401
        call = ToolCall(made.function, _as_json(made.args))
        start = time.perf_counter()
        outcome = guard.check(call, _spec(call.tool))
        self.times.append(time.perf_counter() - start)
        if isinstance(outcome, Ask):
            self.asked += is_own
            outcome = guard.answer(outcome.id, ToolConfirmationResponse(self.is_attended and is_own))
        if isinstance(outcome, Permit):
            return outcome
        if is_own:
            self.refused.append(f"{call.tool} {call.canonical}")
        return None


def _spec(tool: str) -> ToolSpec | None:
    """Return the declaration of a tool that reads, for all guards alike."""
    is_reading = tool.startswith(_READS) and not tool.startswith(_SENDS)
    return ToolSpec(tool, traits=ToolTraits(read_only=True)) if is_reading else None


def _as_json(value: object) -> Any:  # noqa: ANN401 -- whatever tools of the package return
    return module("pydantic_core").to_jsonable_python(value)


def _measured(suite_name: str, guard: str, release: str, *, is_attended: bool) -> _Tally:
    """Return how a guard does in a suite: each task alone, then each with each attack."""
    suite = module("agentdojo.task_suite.load_suites").get_suites(release)[suite_name]
    files = rule_files(guard, suite_name)
    policy = load_policy(*map(str, files)) if files else None
    tally = _Tally()
    for task in suite.user_tasks.values():
        run = _Run(policy, is_attended, task)
        solved, _ = suite.run_task_with_pipeline(run, task, None, {})
        tally.add(_Tally(tasks=1, solved=solved, asked=run.asked, times=run.times))
        tally.notes += [] if solved else [f"{task.ID} is not done: {run.refused}"]
    for attack in suite.injection_tasks.values():
        vectors = _vectors(suite, attack)
        if vectors is None:
            tally.broken += 1
            continue
        for task in suite.user_tasks.values():
            run = _Run(policy, is_attended, task, attack)
            solved, succeeded = suite.run_task_with_pipeline(run, task, attack, vectors)
            tally.add(_Tally(pairs=1, solved_under_attack=solved, attacks=succeeded, times=run.times))
            tally.notes += [f"{attack.ID} succeeds in {task.ID}"] if succeeded else []
    return tally


def _vectors(suite: Any, attack: Any) -> Mapping[str, str] | None:  # noqa: ANN401
    """Return what the attacker writes: the attack in every place, in none where its check fails over the text itself.

    None for an attack that succeeds in neither way although all of its calls run.
    """
    everywhere = dict.fromkeys(suite.get_injection_vector_defaults(), attack.GOAL.replace('"', "'"))
    for vectors in (everywhere, {}):
        for task in itertools.islice(suite.user_tasks.values(), 3):
            if suite.run_task_with_pipeline(_Run(None, False, task, attack), task, attack, vectors)[1]:
                return vectors
    return None


def _row(name: str, lines: int, alone: _Tally, attended: _Tally) -> tuple[str, ...]:
    return (
        name,
        str(lines),
        f"{alone.solved} of {alone.tasks}",
        str(attended.asked),
        f"{alone.attacks} of {alone.pairs}",
        str(attended.attacks),
        _share(alone.solved_under_attack, alone.pairs),
        _share(attended.solved_under_attack, attended.pairs),
        number(statistics.median(alone.times) * 1e6) if alone.times else "-",
    )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.agentdojo", description="Attack example rule sets.")
    parser.add_argument("--only", action="append", choices=SUITES, help="this suite; may be given several times")
    parser.add_argument("--guard", action="append", choices=GUARDS, help="this guard; may be given several times")
    parser.add_argument("--tasks", default="v1.2.2", help="the release of the tasks (default: v1.2.2)")
    parser.add_argument("--failures", action="store_true", help="name tasks not done, and attacks that succeed")
    options = parser.parse_args(argv)
    suites, guards = options.only or tuple(SUITES), options.guard or GUARDS
    cells = [(suite, guard, human) for suite in suites for guard in guards for human in (False, True)]
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        started = {cell: pool.submit(_measured, cell[0], cell[1], options.tasks, is_attended=cell[2]) for cell in cells}
        tallies = {cell: each.result() for cell, each in started.items()}
    rows = []
    for guard in guards:
        total, total_attended, most = _Tally(), _Tally(), 0
        for suite in suites:
            alone, attended = tallies[suite, guard, False], tallies[suite, guard, True]
            lines = sum(policy_lines(path.read_text(encoding="utf-8")) for path in rule_files(guard, suite))
            rows.append(_row(f"{suite}, {guard}", lines, alone, attended))
            total.add(alone)
            total_attended.add(attended)
            most = max(most, lines)
            for note in alone.notes if options.failures else ():
                tell(f"{suite}, {guard}: {note}")
        rows.append(_row(f"all, {guard}", most, total, total_attended))
    left_out = sum(tallies[suite, guards[0], False].broken for suite in suites)
    caption = (
        f"agentdojo {version('agentdojo')}, tasks {options.tasks}, permitry {version('permitry')}; {left_out} attacks "
        "are left out, as they succeed in no run of all their calls:"
    )
    sys.stdout.write(markdown(Table(caption, _HEAD, tuple(rows))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
