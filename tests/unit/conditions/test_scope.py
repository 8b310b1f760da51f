"""What a rule is about: surely for what permits, generously for what restricts."""

from typing import Any, cast

import attrs
import pytest
from tests.tables import for_each

from permitry.conditions.agent import AgentCondition
from permitry.conditions.args import argument_condition
from permitry.conditions.command import ArgvPattern
from permitry.conditions.host import HostPattern
from permitry.conditions.match import Match
from permitry.conditions.mode import ModeCondition
from permitry.conditions.path import PathPattern
from permitry.conditions.scope import Conditions, Scope
from permitry.conditions.tools import ToolSelector
from permitry.conditions.written import Condition
from permitry.core.action import (
    Access,
    Action,
    Actions,
    Connect,
    Delegate,
    Operands,
    Place,
    Roots,
    Run,
    Touch,
    Unknown,
    Word,
)
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.pattern import Pattern
from permitry.core.rule import Request, Unsure
from permitry.core.spec import ToolSpec
from permitry.errors import UnevaluableError

ROOTS = Roots(("/w",), ("/home/me",))


@attrs.frozen
class _Given(Condition):
    """A condition that answers what it is told to, surely and generously, or cannot be evaluated."""

    surely: bool | None
    generously: bool | None
    is_about_call: bool = False

    def match(self, _: Request, needed: Match = Match.YES, /) -> Match:
        answer = self.surely if needed is Match.YES else self.generously
        if answer is None:
            raise UnevaluableError("no answer")
        return needed if answer else Match.NO

    def fact(self, _: Request, /) -> str:
        return "it is otherwise"


YES, NO, MAYBE, FAILS = _Given(True, True), _Given(False, False), _Given(False, True), _Given(None, None)
YES_HERE, NO_HERE, FAILS_HERE = (attrs.evolve(each, is_about_call=True) for each in (YES, NO, FAILS))


def _conditions(*patterns: str, plain: tuple[_Given, ...] = ()) -> Conditions:
    """Return conditions from words such as `command ls *`, `path src/**` and `host example.com`."""
    kinds: dict[str, list[str]] = {"command": [], "path": [], "host": []}
    for pattern in patterns:
        kind, _, text = pattern.partition(" ")
        kinds[kind].append(text)
    return Conditions(
        plain,
        tuple(map(ArgvPattern, kinds["command"])),
        tuple(map(PathPattern, kinds["path"])),
        tuple(HostPattern.parse(text, str) for text in kinds["host"]),
    )


def _place(name: str, *, is_certain: bool = True) -> Place:
    path = f"/w/{name}".rstrip("/")
    return Place(name, (path,), (path,), is_certain)


def _touch(name: str, access: Access = Access.READ) -> Touch:
    return Touch(access, _place(name))


def _connect(host: str | None, *, is_certain: bool = True) -> Connect:
    return Connect(host or "no address", "https", host, 443, is_certain)


def _run(text: str, doubt: str | None = None, *named: Action, is_listed: bool = True) -> Run:
    touches = tuple(each for each in named if isinstance(each, Touch))
    connects = tuple(each for each in named if isinstance(each, Connect))
    words = tuple(map(Word, text.split()))
    return Run(words, doubt, read_operands=lambda: Operands(touches, connects, is_listed=is_listed))


def _request(*certain: Action, tool: str = "bash", **rest: Any) -> Request:  # noqa: ANN401 -- passed on to the actions
    return Request(
        ToolCall(tool, {"command": "x"}), AuthContext(), reader=lambda *_: Actions(certain, roots=ROOTS, **rest)
    )


def _when(*patterns: str, **rest: Any) -> Scope:  # noqa: ANN401 -- passed on to the scope
    return Scope(when=_conditions(*patterns), **rest)


LS, RM = _run("ls"), _run("rm a", "it removes", _touch("a", Access.DELETE))
UNREADABLE = Unknown("$x", "an expansion")


# Tools ------------------------------------------------------------------------------------------------------------


@for_each(
    ("selectors", "surely", "generously"),
    [
        ((), True, True),
        (("bash",), True, True),
        (("grep", "ba*"), True, True),
        (("grep",), False, False),
        (("@agent",), False, False),
        (("@network",), True, True),
    ],
)
def test_one_of_the_selectors_is_enough(*, selectors: tuple[str, ...], surely: bool, generously: bool) -> None:
    """None at all means every tool."""
    scope = Scope(tuple(map(ToolSelector, selectors)))
    request = _request(RM, doubt="it removes")
    assert scope.selects(request, Match.YES) is scope.permits(request) is surely
    assert scope.selects(request, Match.ALIKE) is scope.restricts(request) is generously


def test_a_tool_of_which_nothing_is_known_is_restricted_and_not_permitted() -> None:
    """A selector that looks at traits takes an unknown one for the worse."""
    scope = Scope((ToolSelector("@network"),))
    request = _request(tool="unheard_of")
    assert scope.permits(request) is False
    assert scope.restricts(request) is True


# Plain conditions -------------------------------------------------------------------------------------------------


@for_each(
    ("plain", "permits", "restricts"),
    [
        ((YES, YES), True, True),
        ((YES, NO), False, False),
        ((MAYBE,), False, True),
        ((FAILS, NO), False, False),
        ((NO, FAILS), False, False),
    ],
)
def test_all_plain_conditions_must_hold(*, plain: tuple[_Given, ...], permits: bool, restricts: bool) -> None:
    """Doubt speaks against a permission and for a restriction; a sure no outweighs a failure."""
    scope = Scope(when=_conditions(plain=plain))
    assert scope.permits(_request()) is permits
    assert scope.restricts(_request()) is restricts


@for_each("plain", [(FAILS,), (FAILS, YES), (YES, FAILS, FAILS), (FAILS, MAYBE)])
def test_a_condition_that_cannot_be_evaluated_is_an_error(plain: tuple[_Given, ...]) -> None:
    """Law 2 says what that means, to a permission (where nothing else says no) and to a restriction."""
    scope = Scope(when=_conditions(plain=plain))
    with pytest.raises(UnevaluableError, match="no answer"):
        scope.restricts(_request())
    with pytest.raises(UnevaluableError, match="no answer"):
        Scope(when=_conditions(plain=(YES, FAILS))).permits(_request())


def test_an_error_counts_only_where_something_fires() -> None:
    """A restriction on actions that surely happen not at all does not apply, whatever its other conditions."""
    scope = Scope(when=_conditions("command rm *", plain=(FAILS,)))
    assert scope.restricts(_request(LS)) is False
    with pytest.raises(UnevaluableError):
        scope.restricts(_request(RM))
    assert isinstance(scope.restricts(_request(UNREADABLE)), Unsure)


def test_an_error_of_a_permission_counts_only_where_it_would_cover() -> None:
    """What covers nothing anyway needs no answer."""
    scope = _when("command rm *", unless=_conditions(plain=(FAILS,)))
    with pytest.raises(UnevaluableError, match="no answer"):
        scope.covers(_request(RM))
    failing = Scope(when=_conditions("command rm *", plain=(FAILS,)))
    with pytest.raises(UnevaluableError, match="no answer"):
        failing.covers(_request(RM))
    assert failing.covers(_request(LS)) == frozenset()


@for_each("tool", ["bash", "grep"])
def test_another_tool_that_a_name_may_mean_is_restricted_as_well(tool: str) -> None:
    """It is asked about only while the answer can still change."""
    request = attrs.evolve(_request(RM, tool=tool), likely=(ToolSpec("grep"), ToolSpec("bash")))
    assert Scope((ToolSelector(tool),)).restricts(request) is True
    assert Scope((ToolSelector("other"),)).restricts(request) is False


@for_each(
    ("unless", "permits", "restricts"),
    [
        ((YES,), False, False),
        ((NO,), True, True),
        ((MAYBE,), False, True),
        ((YES, NO), True, True),
        ((NO, FAILS), True, True),
    ],
)
def test_an_exception_is_asked_the_other_way_round(
    *, unless: tuple[_Given, ...], permits: bool, restricts: bool
) -> None:
    """What may take a permission back does; a restriction is only lifted by what surely holds."""
    scope = Scope(unless=_conditions(plain=unless))
    assert scope.permits(_request()) is permits
    assert scope.restricts(_request()) is restricts


def test_an_exception_that_cannot_be_evaluated_lifts_nothing() -> None:
    """Law 2: both fail, so that the restriction counts as matched, and the error is on record."""
    scope = Scope(unless=_conditions(plain=(FAILS,)))
    with pytest.raises(UnevaluableError):
        scope.restricts(_request())
    with pytest.raises(UnevaluableError):
        scope.permits(_request())


def test_the_modes_of_a_scope_are_those_its_conditions_name() -> None:
    """Of `when` and of `unless`, so that a word no one uses can be reported."""
    plan, night = ModeCondition(("plan", "review")), ModeCondition(("night",))
    agent = AgentCondition((Pattern("main"),))
    assert Scope(when=Conditions((plan, agent)), unless=Conditions((night,))).modes == {"plan", "review", "night"}
    assert Scope(when=Conditions((agent,))).modes == frozenset()


# Permissions over actions -----------------------------------------------------------------------------------------


@for_each(
    ("patterns", "certain", "covered"),
    [
        (("command ls *",), (LS,), {0}),
        (("command ls *",), (LS, RM), {0}),
        (("command rm *", "command ls"), (LS, RM, LS), {0, 1, 2}),
        (("command *",), (UNREADABLE, LS), {1}),
        (("command *",), (_touch("a"), _connect("h"), Delegate("x")), set()),
        (("path **",), (_touch("a"), LS, Delegate()), {0}),
        (("path src/**",), (_touch("src/a"), _touch("lib/a")), {0}),
        (("host example.com",), (_connect("example.com"), _connect("h")), {0}),
        (("host *",), (_connect(None), _connect("h", is_certain=False), _touch("a")), set()),
    ],
)
def test_a_permission_covers_what_surely_fits(
    patterns: tuple[str, ...], certain: tuple[Action, ...], covered: set[int]
) -> None:
    """Each kind of condition covers its kind of action; what cannot be read is covered by none."""
    assert _when(*patterns).covers(_request(*certain)) == covered


@for_each(
    ("run", "is_covered"),
    [
        (_run("tar x", None, _touch("src/a")), True),
        (_run("tar x", None, _touch("src/a"), _touch("lib/a")), False),
        (_run("tar x", None, _touch("src/a"), is_listed=False), False),
        (_run("tar x", None, is_listed=False), False),
        (_run("tar x", None, is_listed=True), True),
        (_run("cat x", None, _touch("src/a")), False),
    ],
)
def test_a_permission_for_a_command_on_paths_needs_all_its_operands(*, run: Run, is_covered: bool) -> None:
    """They must be known, and each must fit."""
    assert bool(_when("command tar *", "path src/**").covers(_request(run))) is is_covered


@for_each(
    ("run", "is_covered"),
    [
        (_run("curl x", None, _connect("h")), True),
        (_run("curl x", None, _connect("h"), _connect("other")), False),
        (_run("curl x", None, is_listed=False), False),
    ],
)
def test_a_permission_for_a_command_on_hosts_needs_all_its_addresses(*, run: Run, is_covered: bool) -> None:
    """They must be known, and each must fit."""
    assert bool(_when("command curl *", "host h").covers(_request(run))) is is_covered


@for_each(
    ("patterns", "action"),
    [
        (("command ls", "path **"), _touch("a")),
        (("command ls", "host *"), _connect("h")),
        (("path **", "host *"), _touch("a")),
        (("path **", "host *"), _connect("h")),
    ],
)
def test_a_permission_of_two_kinds_covers_no_action_of_one(patterns: tuple[str, ...], action: Action) -> None:
    """All that is given must hold: a path alone is not a command on a path, and no path is an address."""
    assert _when(*patterns).covers(_request(action)) == frozenset()


@for_each(
    ("certain", "permits"),
    [
        ((RM,), True),
        ((RM, LS), True),
        ((RM, _touch("a")), True),
        ((RM, _touch("a", Access.WRITE)), False),
        ((RM, _run("mv a b", "it moves")), False),
        ((RM, Delegate()), False),
        ((RM, UNREADABLE), False),
        ((LS,), False),
        ((), False),
    ],
)
def test_a_permission_for_a_command_leaves_reading_aside(*, certain: tuple[Action, ...], permits: bool) -> None:
    """In a shell, what only reads needs no rule of its own; but a rule that covers nothing permits nothing."""
    assert _when("command rm *").permits(_request(*certain), is_alone=False) is permits


def test_a_permission_that_stands_alone_covers_all_by_itself() -> None:
    """An override comes before every restriction, so no one has looked at what it leaves aside."""
    assert _when("command rm *").permits(_request(RM, LS)) is False
    assert _when("command rm *").permits(_request(RM)) is True


def test_outside_a_shell_reading_is_not_left_aside() -> None:
    """What another tool reads, it may pass on."""
    certain = (_touch("src/a", Access.WRITE), _touch("lib/b"))
    assert _when("path src/**").permits(_request(*certain, tool="write_file"), is_alone=False) is False
    assert _when("path src/**").permits(_request(*certain), is_alone=False) is True


def test_what_a_call_may_do_besides_needs_no_permission() -> None:
    """Only what is certain is covered; possible actions are for restrictions."""
    assert _when("command rm *").permits(_request(RM, possible=(_run("mv a b"),), guessed=(UNREADABLE,))) is True


@for_each("unless", [(NO,), (YES,)])
def test_a_plain_exception_takes_back_a_permission_over_actions(unless: tuple[_Given, ...]) -> None:
    """Whole, or not at all."""
    scope = _when("command rm *", unless=_conditions(plain=unless))
    assert scope.permits(_request(RM)) is (unless == (NO,))
    assert bool(scope.covers(_request(RM))) is (unless == (NO,))


@for_each(
    ("certain", "covered"),
    [
        ((_touch("src/a"), _touch("src/secret")), {0}),
        ((_touch("src/SECRET"),), set()),
        ((Touch(Access.READ, _place("src/*", is_certain=False)),), set()),
    ],
)
def test_an_exception_over_actions_takes_back_part_by_part(certain: tuple[Action, ...], covered: set[int]) -> None:
    """What may be meant is taken back, the rest stays."""
    assert _when("path src/**", unless=_conditions("path src/secret")).covers(_request(*certain)) == covered


@for_each(("plain", "covered"), [(YES, set()), (MAYBE, set()), (NO, {0})])
def test_an_exception_over_actions_may_have_conditions_of_its_own(plain: _Given, covered: set[int]) -> None:
    """They are asked generously as well."""
    unless = _conditions("path secret", plain=(plain,))
    assert _when("path **", unless=unless).covers(_request(_touch("secret"))) == covered


def test_an_exception_looks_at_what_a_command_touches() -> None:
    """A command is taken back by any of its operands."""
    scope = _when("command cat *", unless=_conditions("path secret"))
    certain = (_run("cat a", None, _touch("a")), _run("cat a secret", None, _touch("a"), _touch("secret")))
    assert scope.covers(_request(*certain)) == {0}


@for_each(
    ("actions", "permits"),
    [
        (Actions((LS,)), True),
        (Actions((_run("cat secret", None, _touch("secret")),)), False),
        (Actions((LS,), possible=(_touch("secret"),)), False),
        (Actions((UNREADABLE,)), False),
        (Actions(()), True),
    ],
)
def test_an_exception_over_actions_takes_back_a_permission_for_tools(*, actions: Actions, permits: bool) -> None:
    """Whatever the call may do counts; and what cannot be read may be just that."""
    scope = Scope((ToolSelector("bash"),), unless=_conditions("path secret"))
    request = _request(*actions.certain, possible=actions.possible)
    assert scope.permits(request) is permits


# Restrictions over actions ----------------------------------------------------------------------------------------


@for_each(
    ("patterns", "actions", "restricts"),
    [
        (("command rm *",), Actions((LS, RM)), True),
        (("command rm *",), Actions((LS,)), False),
        (("command rm *",), Actions((LS,), possible=(RM,)), True),
        (("path a",), Actions((RM,)), True),
        (("path a",), Actions((LS, _touch("A"))), True),
        (("path b",), Actions((RM, _touch("c"))), False),
        (("host h",), Actions((_connect("h", is_certain=False),)), True),
        (("host h",), Actions((_run("curl", None, _connect("h")),)), True),
        (("host h",), Actions((_connect("other"), _touch("a"))), False),
        (("command rm *",), Actions((_touch("a"), Delegate("rm"))), False),
        (("path **",), Actions(()), False),
    ],
)
def test_a_restriction_applies_when_one_action_may_fit(
    *, patterns: tuple[str, ...], actions: Actions, restricts: bool
) -> None:
    """Certain or possible, and what programs touch as well."""
    request = _request(*actions.certain, possible=actions.possible)
    assert _when(*patterns).restricts(request) is restricts


@for_each(
    ("certain", "restricts"),
    [
        ((_run("cat secret", None, _touch("secret")),), True),
        ((LS, _run("cat"), _touch("secret")), True),
        ((LS, _touch("secret")), False),
        ((_run("cat b", None, _touch("b")),), False),
    ],
)
def test_a_restriction_of_two_kinds_needs_both(*, certain: tuple[Action, ...], restricts: bool) -> None:
    """By whichever actions of the call: a redirection may well feed the program."""
    assert _when("command cat *", "path secret").restricts(_request(*certain)) is restricts


@for_each(
    ("patterns", "actions", "reason"),
    [
        (("command rm *",), Actions((LS, UNREADABLE)), "`$x` is not known before it runs: it may run `rm *`"),
        (("path a",), Actions((LS,), possible=(UNREADABLE,)), "`$x` is not known before it runs: it may touch `a`"),
        (
            ("command rm *", "path a"),
            Actions((_run("rm"), UNREADABLE)),
            "`$x` is not known before it runs: it may touch `a`",
        ),
        (("host h",), Actions((_connect(None),)), "`no address` is not a valid address: it may connect to `h`"),
        (("path a",), Actions((Touch(Access.READ, Place("x")),)), "`x` may lead anywhere: it may touch `a`"),
        (("path a",), Actions((), guessed=(UNREADABLE,)), "`$x` is not known before it runs: it may touch `a`"),
        (("path a",), Actions((), guessed=(_touch("a"),)), "`a` may be such a path: it may touch `a`"),
        (("path a",), Actions((), guessed=(RM,)), "`a` may be such a path: it may touch `a`"),
        (("command rm *",), Actions((), guessed=(RM,)), "`rm a` may be such a command: it may run `rm *`"),
    ],
)
def test_a_restriction_is_unsure_of_what_is_not_known(patterns: tuple[str, ...], actions: Actions, reason: str) -> None:
    """It says why it cannot tell."""
    request = _request(*actions.certain, possible=actions.possible, guessed=actions.guessed)
    answer = _when(*patterns).restricts(request)
    assert isinstance(answer, Unsure)
    assert str(answer) == reason


@for_each(
    ("patterns", "actions"),
    [
        (("command *",), Actions(guessed=(RM,))),
        (("path b",), Actions(guessed=(RM,))),
        (("path a",), Actions((_connect(None),))),
        (("host h",), Actions((Touch(Access.READ, Place("x")),))),
    ],
)
def test_a_restriction_is_sure_that_what_does_not_fit_does_not_happen(
    patterns: tuple[str, ...], actions: Actions
) -> None:
    """Any text could be some command, what is not an address is not a path, and a path is not an address."""
    assert _when(*patterns).restricts(_request(*actions.certain, guessed=actions.guessed)) is False


def test_what_surely_happens_outweighs_a_doubt() -> None:
    """Next to the unknown something is known that fits."""
    assert _when("command rm *").restricts(_request(UNREADABLE, RM)) is True


def test_what_surely_does_not_happen_outweighs_a_doubt() -> None:
    """One kind of condition is met by no one, the other only perhaps."""
    scope = _when("command rm *", "path b")
    assert scope.restricts(_request(RM, guessed=(_touch("b"),))) == Unsure("`b` may be such a path", "touch `b`")
    assert scope.restricts(_request(RM, guessed=(_touch("c"),))) is False


@for_each(
    ("patterns", "actions"),
    [
        (("command rm *",), Actions((attrs.evolve(RM, is_guess=True),))),
        (("path a",), Actions((attrs.evolve(RM, is_guess=True),))),
        (("command rm a",), Actions((Run((Word("rm"), Word("$x", is_open=True))),))),
        (("command rm a",), Actions((), possible=(Run((Word("rm"), Word("*", is_glob=True))),))),
        (("path a/b",), Actions((Touch(Access.READ, Place("a", ("/w/a",), ("/w/a",), is_tree=True)),))),
        (("path a",), Actions((Run((Word("x"),), read_operands=lambda: Operands(guessed=(_touch("a"),))),))),
        (("host h",), Actions((Run((Word("x"),), read_operands=lambda: Operands(guessed=(_connect("h"),))),))),
    ],
)
def test_a_guess_makes_a_restriction_unsure(patterns: tuple[str, ...], actions: Actions) -> None:
    """Law 3: a block needs certainty."""
    request = _request(*actions.certain, possible=actions.possible)
    assert isinstance(_when(*patterns).restricts(request), Unsure)


@for_each("run", [attrs.evolve(RM, is_guess=True), attrs.evolve(RM, is_wrapper=True)])
def test_any_command_is_not_about_a_guess_or_a_wrapper(run: Run) -> None:
    """Any text could be some command, and what a wrapper runs is an action of its own."""
    assert _when("command *").restricts(_request(possible=(run,))) is False
    assert _when("command rm *").restricts(_request(possible=(run,))) is not False


@for_each(
    ("patterns", "specificity"),
    [
        ((), (0, 0)),
        (("path **",), (1, 0)),
        (("host h",), (1, 0)),
        (("path /etc/x", "path ~/y"), (1, 1)),
        (("command *",), (0, 0)),
        (("command *", "path a/b"), (0, 0)),
        (("command git push *", "command rm *"), (2, 1)),
        (("command git push *", "path a/b"), (2, 2)),
    ],
)
def test_commands_are_more_specific_than_paths(patterns: tuple[str, ...], specificity: tuple[int, int]) -> None:
    """And of several patterns the widest counts."""
    assert _when(*patterns).specificity == specificity


# What lifts a restriction -----------------------------------------------------------------------------------------


@for_each(
    ("certain", "restricts"),
    [
        ((_touch("src/a"),), False),
        ((_touch("src/a"), _touch("lib/a")), True),
        ((Touch(Access.READ, _place("src/a", is_certain=False)),), True),
        ((_run("rm src/a", "it removes", _touch("src/a")),), False),
        ((_run("rm src/a b", "it removes", _touch("src/a"), _touch("b")),), True),
    ],
)
def test_an_exception_lifts_action_by_action(*, certain: tuple[Action, ...], restricts: bool) -> None:
    """Only what surely fits it is lifted, and the rest still binds."""
    assert _when("path **", unless=_conditions("path src/**")).restricts(_request(*certain)) is restricts


@for_each(
    ("certain", "answer"),
    [
        ((LS,), False),
        ((LS, LS), False),
        ((LS, RM), True),
        ((Run((Word("ls"), Word("$x", is_open=True))),), False),
        ((Run((Word("$x", is_open=True), Word("ls"))),), True),
        ((LS, UNREADABLE), Unsure("`$x` is not known before it runs", "run `*`")),
    ],
)
def test_an_exception_of_commands_lifts_one_on_every_command(
    *, certain: tuple[Action, ...], answer: bool | Unsure
) -> None:
    """A part that is lifted is not a reason for a doubt."""
    scope = _when("command *", unless=_conditions("command ls *"))
    assert scope.restricts(_request(*certain)) == answer
    assert scope.restricts(_request(LS, possible=(attrs.evolve(RM, is_wrapper=True),))) is False


@for_each(("plain", "restricts"), [(YES, False), (MAYBE, True), (NO, True)])
def test_an_exception_over_actions_lifts_only_where_its_other_conditions_surely_hold(
    *, plain: _Given, restricts: bool
) -> None:
    """What cannot be evaluated lifts nothing."""
    scope = _when("path **", unless=_conditions("path a", plain=(plain,)))
    assert scope.restricts(_request(_touch("a"))) is restricts
    with pytest.raises(UnevaluableError):
        _when("path **", unless=_conditions("path a", plain=(FAILS,))).restricts(_request(_touch("a")))


def test_a_path_is_lifted_for_the_program_that_is_named() -> None:
    """An exception of two kinds is about a path in the hands of a program."""
    scope = _when("path secret", unless=_conditions("command cat *", "path secret"))
    assert scope.restricts(_request(_run("cat secret", None, _touch("secret")))) is False
    assert scope.restricts(_request(_run("rm secret", "it removes", _touch("secret")))) is True
    assert scope.restricts(_request(_touch("secret"))) is True


def test_an_address_is_lifted_for_the_program_that_is_named() -> None:
    """The same for addresses."""
    scope = _when("host h", unless=_conditions("command curl *", "host h"))
    assert scope.restricts(_request(_run("curl", None, _connect("h")))) is False
    assert scope.restricts(_request(_run("wget", None, _connect("h")))) is True


@for_each(
    ("actions", "restricts"),
    [
        (Actions((LS,)), False),
        (Actions((LS, LS)), False),
        (Actions((LS, RM)), True),
        (Actions((LS,), possible=(LS,)), False),
        (Actions((LS,), possible=(RM,)), True),
        (Actions((LS,), guessed=(LS,)), True),
        (Actions((UNREADABLE,)), True),
        (Actions(()), True),
    ],
)
def test_an_exception_over_actions_lifts_a_restriction_on_tools_as_a_whole(
    *, actions: Actions, restricts: bool
) -> None:
    """Only when everything the call does fits it, and nothing else is possible."""
    scope = Scope((ToolSelector("bash"),), unless=_conditions("command ls *"))
    request = _request(*actions.certain, possible=actions.possible, guessed=actions.guessed)
    assert scope.restricts(request) is restricts


def test_a_plain_exception_lifts_a_restriction_over_actions() -> None:
    """Whole, before its actions are looked at."""
    assert _when("command rm *", unless=_conditions(plain=(YES,))).restricts(_request(RM)) is False
    assert _when("command rm *", unless=_conditions(plain=(NO,))).restricts(_request(RM)) is True


@for_each("exception", ["path secret", "host evil.com"])
def test_what_is_open_may_be_what_an_exception_is_about(exception: str) -> None:
    """A permission does not cover it, whatever else is known of the program."""
    scope = _when("command rm *", unless=_conditions(exception))
    opened = Touch(Access.DELETE, Place("$x", is_certain=False, is_open=True)), _connect(None, is_certain=False)
    assert scope.covers(_request(_run("rm a", "removes", _touch("a"), _connect("ok.com")))) == {0}
    assert not scope.covers(_request(_run("rm a", "removes", *opened)))


def test_an_exception_for_a_program_is_none_for_what_an_assignment_makes_of_it() -> None:
    """Neither for what it touches, nor for its input; a pattern may name the assignment."""
    run = attrs.evolve(_run("cat secret", None, _touch("secret")), sets=("PATH=bin",))
    given = attrs.evolve(_touch("secret"), words=run.words, sets=run.sets)
    scope = _when("path secret", unless=_conditions("command cat *", "path secret"))
    named = _when("path secret", unless=_conditions("command PATH=* cat *", "path secret"))
    for action in (run, given):
        bare = attrs.evolve(action, sets=())
        assert [scope.restricts(_request(each)) for each in (bare, action)] == [False, True]
        assert [named.restricts(_request(each)) for each in (bare, action)] == [True, False]


@for_each(
    ("pattern", "restricts"), [("host h", True), ("host h:22", "unsure"), ("host ssh://h", "unsure"), ("host i", False)]
)
def test_an_unknown_port_or_scheme_is_a_guess(pattern: str, restricts: object) -> None:
    """A restriction asks then."""
    answer = _when(pattern).restricts(_request(Connect("h", None, "h", is_certain=False)))
    assert ("unsure" if isinstance(answer, Unsure) else answer) == restricts


# Near misses ------------------------------------------------------------------------------------------------------


def _facts(scope: Scope, request: Request, needed: Match = Match.YES) -> list[str]:
    return list(scope.facts(request, needed))


def test_the_facts_are_the_conditions_that_do_not_hold() -> None:
    """Each with what is the case instead, or why it cannot be evaluated."""
    scope = Scope(when=_conditions(plain=(YES, NO, MAYBE, FAILS)))
    assert _facts(scope, _request()) == ["it is otherwise", "it is otherwise", "no answer"]
    assert _facts(scope, _request(), Match.ALIKE) == ["it is otherwise", "no answer"]


@for_each(("unless", "facts"), [(YES, ["`unless` holds"]), (NO, [])])
def test_an_exception_is_a_fact_when_it_holds(unless: _Given, facts: list[str]) -> None:
    """One that is about actions is reported by the actions."""
    assert _facts(Scope(unless=_conditions(plain=(unless,))), _request()) == facts
    assert _facts(_when("command ls", unless=_conditions("command rm")), _request(LS)) == []


def test_every_action_that_is_not_covered_is_a_fact() -> None:
    """But for what only reads in a shell; a restriction has no such facts."""
    scope = _when("command rm *")
    certain = (RM, LS, _run("mv a b", "it moves"), Delegate("x"), UNREADABLE)
    told = [f"`{each}` is not covered" for each in ("mv a b", "delegate to x", "$x")]
    assert _facts(scope, _request(*certain)) == told
    assert _facts(scope, _request(*certain), Match.ALIKE) == []


def test_outside_a_shell_reading_is_a_fact_too() -> None:
    """There it needs a permission."""
    told = ["`read lib/b` is not covered (expected: touch `src/**`)"]
    assert _facts(_when("path src/**"), _request(_touch("lib/b"), tool="read_file")) == told


def test_a_tool_without_roles_has_no_actions_to_miss() -> None:
    """No one said what its arguments are."""
    assert _facts(_when("path src/**"), _request(_touch("lib/b"), tool="unheard_of")) == []


# Redirections -----------------------------------------------------------------------------------------------------


@for_each(
    ("patterns", "name", "permits"),
    [
        (("command echo *", "path src/**"), "src/a", True),
        (("command echo *", "path src/**"), "lib/a", False),
        (("command printf *", "path src/**"), "src/a", False),
        (("command echo *",), "src/a", False),
        (("command *",), "src/a", False),
    ],
)
def test_a_redirection_needs_a_path_and_the_command_it_belongs_to(
    *, patterns: tuple[str, ...], name: str, permits: bool
) -> None:
    """A permission for commands alone says nothing about the file."""
    redirected = attrs.evolve(_touch(name, Access.WRITE), words=(Word("echo"), Word("x")))
    scope = _when(*patterns)
    assert scope.permits(_request(_run("echo x"), redirected), is_alone=False) is permits
    assert (1 in scope.covers(_request(_run("echo x"), redirected))) is permits


def test_a_write_that_belongs_to_no_program_is_not_that_of_a_command() -> None:
    """A permission for a command and a path does not cover what a patch writes."""
    assert not _when("command echo *", "path src/**").covers(_request(_touch("src/a", Access.WRITE)))


# Exceptions of a permission over commands -------------------------------------------------------------------------


@for_each("exception", ["host private", "path secret/**"])
def test_an_exception_counts_where_operands_are_not_listed(exception: str) -> None:
    """What the program touches besides may be what the exception is about."""
    scope = _when("command curl *", unless=_conditions(exception))
    listed = _run("curl x", "it connects", _connect("example.com"), _touch("src/a"))
    assert scope.permits(_request(listed)) is True
    assert scope.permits(_request(_run("curl x", "it connects", is_listed=False))) is False


def test_an_exception_over_commands_needs_no_operands() -> None:
    """The words alone say whether it holds."""
    scope = _when("command curl *", unless=_conditions("command curl -K *"))
    assert scope.permits(_request(_run("curl x", "it connects", is_listed=False))) is True
    assert scope.permits(_request(_run("curl -K x", "it connects", is_listed=False))) is False


# Errors and doubts ------------------------------------------------------------------------------------------------


@for_each("certain", [(UNREADABLE,), (LS, UNREADABLE)])
@for_each("plain", [(FAILS,), (YES, FAILS), (FAILS, MAYBE)])
def test_an_error_and_a_doubt_together_ask(certain: tuple[Action, ...], plain: tuple[_Given, ...]) -> None:
    """Neither is sure, so it cannot apply for certain; what is sure to fire raises."""
    scope = Scope(when=_conditions("command rm *", plain=plain))
    assert scope.restricts(_request(*certain)) == Unsure("`$x` is not known before it runs", "run `rm *`")
    with pytest.raises(UnevaluableError):
        scope.restricts(_request(*certain, RM))


def test_a_program_named_by_an_expansion_is_a_doubt() -> None:
    """It may be any; one that is written out and fits next to an expansion is sure."""
    scope = _when("command rm *")
    unknown = Run((Word("$CC", is_open=True), Word("x")))
    assert scope.restricts(_request(unknown)) == Unsure("`$CC` is not known before it runs", "run `rm *`")
    assert scope.restricts(_request(Run((Word("rm"), Word("$x", is_open=True))))) is True


# All calls at once ------------------------------------------------------------------------------------------------


# Alternatives of `unless` -----------------------------------------------------------------------------------------


def test_two_alternatives_together_lift_what_neither_does_alone() -> None:
    """Each action is lifted by one of them; one action that neither lifts is enough to restrict."""
    reads = attrs.evolve(_conditions("path a/**"), accesses=frozenset({Access.READ}))
    writes = attrs.evolve(_conditions("path b/**"), accesses=frozenset({Access.WRITE}))
    for when in (Conditions(), _conditions("path /**")):
        both, one = Scope(when=when, unless=(reads, writes)), Scope(when=when, unless=reads)
        lifted = _request(_touch("a/x"), _touch("b/x", Access.WRITE))
        other = _request(_touch("a/x"), _touch("a/x", Access.WRITE))
        assert [both.restricts(lifted), one.restricts(lifted), both.restricts(other)] == [False, True, True]


def test_an_alternative_without_an_answer_lifts_nothing_and_hinders_no_other() -> None:
    """It takes the permission back, though. Where nothing else lifts, the error is on record."""
    request = _request(_touch("a"))
    broken = Conditions((argument_condition("limit", {"le": 3}),))
    sure = Conditions((AgentCondition((Pattern("main"),)),))
    for unless in ((broken, sure), (sure, broken)):
        assert Scope(unless=unless).restricts(request) is False
    with pytest.raises(UnevaluableError):
        Scope(unless=(broken,)).restricts(request)
    elsewhere = Conditions((AgentCondition((Pattern("other"),)),))
    with pytest.raises(UnevaluableError):
        Scope(unless=(elsewhere, broken)).permits(request)
    assert Scope(unless=(elsewhere,)).permits(request) is True
    assert list(Scope(unless=(elsewhere, sure)).facts(request, Match.ALIKE)) == ["`unless` holds"]


@for_each(
    ("scope", "arguments", "lacks"),
    [
        (_when("path src/**"), {"file": "src/a"}, True),
        (_when("host example.com"), {"link": "https://example.com/"}, True),
        (_when("command ls"), {"command": "ls"}, True),
        (_when("path src/**"), {"text": "hello"}, False),
        (_when("host example.com"), {"file": "src/a"}, False),
    ],
)
def test_what_is_not_declared_is_a_fact(scope: Scope, arguments: dict[str, str], *, lacks: bool) -> None:
    """Where an argument looks like what the permission is about, and the tool says nothing of it."""
    request = Request(ToolCall("unheard_of", arguments), AuthContext())
    told = ["it is not declared what the arguments of `unheard_of` are"] if lacks else []
    assert _facts(scope, request) == told
    assert _facts(scope, request, Match.ALIKE) == []


def test_a_path_or_host_of_a_list_is_shown_with_its_name() -> None:
    """So that a reader finds it in the file."""
    listed = attrs.evolve(PathPattern("src/**"), listed="folders")
    assert Conditions(paths=(listed, PathPattern("a"))).does == "touch `src/**` of `@folders`, ..."


def test_a_restriction_is_near_only_where_its_actions_are_done() -> None:
    """What a call may only do, or does not, is no near miss for another condition."""
    scope = Scope(when=_conditions("path a", plain=(NO,)))
    near = [
        _facts(scope, request, Match.ALIKE)
        for request in (_request(_touch("a")), _request(_touch("b")), _request(LS, possible=(UNREADABLE,)))
    ]
    assert near == [["it is otherwise"], [], []]


@for_each("answer", [True, False, None])
def test_a_selector_that_answers_no_match_selects_for_a_restriction_only(answer: object) -> None:
    """A truth is a number too, and less than any match that counts."""

    class Wrong(ToolSelector):
        def match(self, *_: object) -> Match:
            return cast("Match", answer)

    scope = Scope((Wrong("bash"),))
    assert not scope.selects(_request(), Match.YES)
    assert scope.selects(_request(), Match.ALIKE)
