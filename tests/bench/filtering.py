"""What it costs to show a model only the tools that it may use now."""

from collections.abc import Mapping, Sequence

import attrs
from tests.bench.peers.engine import Loaded
from tests.bench.peers.everyone import absent, installed
from tests.bench.peers.permitry_ import policy_of, rule_file
from tests.bench.report import Report, Scale, Table, Tell, number
from tests.bench.timing import Request, Subject, Timing, measure
from tests.bench.workload import BenchCall, BenchRule, rules

from permitry import AuthContext, AuthorizationPolicy, ToolRegistry, ToolSpec

__all__ = ["run"]

_BASE = "permitry"
_COLD = "permitry, the first time"
_ROUNDS = 4
_TEXT = """\
A registry of tools, filtered for one context: all tools are allowed by one rule, and some are blocked by name or by
glob. permitry is asked once for the list (`registry.specs(context, policy)`), the others once for every tool, with
requests made beforehand. permitry also proves that a block holds for every call of a tool, whatever its arguments; here
no rule looks at them, so the question to the others means the same."""


@attrs.frozen
class _Scene:
    """Tools, and rules that block some of them by name alone."""

    tools: tuple[str, ...]
    rules: tuple[BenchRule, ...]


def run(scale: Scale, tell: Tell) -> Report:
    """Return what filtering costs, permitry next to the others."""
    tell(f"filtering: {scale.tools} tools")
    scene = _scene(scale.tools)
    engines = {each.name: each.load(each.write(scene.rules)) for each in installed() if len(scene.rules) <= each.most}
    shown = {name: _shown(engine, scene) for name, engine in engines.items()}
    text = rule_file(scene.rules)
    registry, context = _registry(scene), AuthContext()
    shown[_BASE] = tuple(spec.name for spec in registry.specs(context, policy_of(text)))
    wrong = sorted(name for name, names in shown.items() if names != shown["naive loop"])
    subjects = _subjects(registry, policy_of(text), context)
    for name, engine in engines.items():
        if name != _BASE and name not in wrong:
            subjects[name] = _one_by_one(engine, scene)
    # One request is a whole list.
    timings = measure(subjects, rounds=scale.rounds, seconds=scale.seconds, fewest=1)
    return Report(
        "Filtering the list of tools",
        (_ratios(timings, scale.tools, len(shown["naive loop"])),),
        (_figures(timings, scale.tools),),
        text=_TEXT,
        facts={"filter-ms": timings[_BASE].p50 / 1000} if scale.tools == 1_000 else {},
        wrong=tuple(f"filtering: {name} shows other tools" for name in wrong),
    )


def _scene(count: int) -> _Scene:
    made = [attrs.evolve(rule, condition=None) for rule in rules(count)]
    # What the rules of the workload allow needs no rule here; what they block stays.
    blocks = [rule for rule in made if rule.is_block]
    tools = [rule.tool.replace("*", "invoice") for rule in made]
    return _Scene(tuple(dict.fromkeys(tools)), (BenchRule("everything", "*", is_block=False), *blocks))


def _registry(scene: _Scene) -> ToolRegistry:
    registry = ToolRegistry()
    for tool in scene.tools:
        registry.register(ToolSpec(tool), lambda _: "done")
    return registry


def _shown(engine: Loaded, scene: _Scene) -> tuple[str, ...]:
    answers = ((tool, engine.read(engine.ask(*engine.prepare(BenchCall(tool))))) for tool in scene.tools)
    return tuple(tool for tool, answer in answers if answer == "allow")


def _subjects(registry: ToolRegistry, policy: AuthorizationPolicy, context: AuthContext) -> dict[str, Subject]:
    def cold(_: int) -> Sequence[Request]:
        # A policy that has never been asked.
        fresh = [AuthorizationPolicy(policy.rules, reader=policy.reader) for _ in range(_ROUNDS + 1)]
        return [(context, each) for each in fresh]

    return {
        _BASE: Subject(registry.specs, lambda _: [(context, policy)] * 50),
        _COLD: Subject(registry.specs, cold, is_repeatable=False),
    }


def _one_by_one(engine: Loaded, scene: _Scene) -> Subject:
    requests = [(tool, engine.prepare(BenchCall(tool))) for tool in scene.tools]
    ask, read = engine.ask, engine.read

    def names() -> list[str]:
        return [tool for tool, request in requests if read(ask(*request)) == "allow"]

    return Subject(names, lambda _: [()] * 20)


def _ratios(timings: Mapping[str, Timing], tools: int, shown: int) -> Table:
    base = timings[_BASE].p50
    rows = [(name, f"{number(timing.p50 / base)}x") for name, timing in timings.items() if name != _BASE]
    rows += [(one.name, one.reason) for one in absent()]
    caption = f"How many times as long as permitry, once warm, the list of {tools:,} tools takes ({shown:,} are shown):"
    return Table(caption, ("engine", "times permitry's"), tuple(rows))


def _figures(timings: Mapping[str, Timing], tools: int) -> Table:
    rows = [(name, number(timing.p50 / 1000)) for name, timing in timings.items()]
    return Table(f"ms for the list of {tools:,} tools, median:", ("engine", "ms"), tuple(rows))
