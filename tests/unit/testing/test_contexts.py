"""What helps to write tests of rules."""

from collections.abc import Callable

from tests.tables import for_each

from permitry.core.context import AuthContext
from permitry.core.template import Template
from permitry.testing import AuthContextBuilder


@for_each(
    ("step", "context"),
    [
        (lambda b: b, AuthContext()),
        (lambda b: b.in_plan_mode(), AuthContext(is_plan_mode=True)),
        (lambda b: b.in_yolo_mode(), AuthContext(yolo_mode=True)),
        (lambda b: b.in_mode("review"), AuthContext(mode="review")),
        (lambda b: b.ignoring("a", "b").ignoring("c"), AuthContext(tool_ignore_list=("a", "b", "c"))),
        (lambda b: b.using(Template("t")), AuthContext(active_template=Template("t"))),
        (lambda b: b.as_agent("helper"), AuthContext(agent="helper")),
        (lambda b: b.in_workspace("work"), AuthContext(workspace="work")),
        (lambda b: b.unattended(), AuthContext(attended=False)),
        (lambda b: b.counting(bash=2), AuthContext(counts={"bash": 2})),
        (lambda b: b.labelled("x", "y"), AuthContext(labels=frozenset({"x", "y"}))),
        (lambda b: b.in_plan_mode().in_yolo_mode(), AuthContext(is_plan_mode=True, yolo_mode=True)),
    ],
)
def test_every_step_of_the_builder_sets_its_field(
    step: Callable[[AuthContextBuilder], AuthContextBuilder], context: AuthContext
) -> None:
    """A context built step by step is the context of the same fields."""
    assert step(AuthContextBuilder()).build() == context
