"""Laws 1 and 4 for names: no other spelling of a tool's name escapes a restriction.

Drawn are policies, a tool by its one name, and another form of that name as hosts, providers and models write it.
"""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from permitry.actions.extract import ReadActions
from permitry.conditions.args import argument_condition
from permitry.conditions.command import ArgvPattern
from permitry.conditions.path import PathPattern
from permitry.conditions.scope import Condition, Conditions, Scope
from permitry.conditions.server import ServerCondition
from permitry.conditions.tools import ToolSelector
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Phase, Verdict
from permitry.core.names import NamePattern, wire_name
from permitry.core.policy import AuthorizationPolicy
from permitry.core.spec import TRAIT_SELECTORS, ArgumentRole, ToolSpec, ToolTraits
from permitry.rules import BUILT_IN_RULES
from permitry.rules.configured import ConfiguredRule

OWN = ("send_money", "bash", "read_file", "delete_file", "web_fetch", "task", "run_it", "present_plan")
OF_SERVERS = ("mcp:bank/pay", "mcp:my_bank/pay_all", "mcp:docs.v2/search", "mcp:a/b__c", "mcp:a__b/c")
DECLARED = {
    "run_it": ToolSpec("run_it", traits=ToolTraits(spawns_agent=True), roles={"command": ArgumentRole.COMMAND}),
    "mcp:bank/pay": ToolSpec(
        "mcp:bank/pay", traits=ToolTraits(open_world=True), roles={"path": ArgumentRole.READ_PATH}
    ),
}
ARGUMENTS: tuple[dict[str, object], ...] = (
    {},
    {"command": "git push"},
    {"command": "ls; git push -f"},
    {"path": "a/.env"},
    {"limit": 3},
    {"limit": "x"},
)

_other_case = st.sampled_from((str.lower, str.upper, str.title, str.swapcase, str.capitalize))
_namespaces = st.sampled_from(("", "functions.", "default_api:", "tools__", "functions/default_api/"))
_of_servers = st.sampled_from(
    ("mcp__{}__{}", "{}__{}", "mcp.{}.{}", "{}/{}", "{}.{}", "{}:{}", "mcp_{}_{}", "MCP:{}/{}")
)


def _of_own(name: str, space: str, case: Callable[[str], str]) -> str:
    return space + case(name)


def _of_server(name: str, form: str, case: Callable[[str], str]) -> str:
    return case(form.format(*name.removeprefix("mcp:").split("/")))


_renamed = st.one_of(
    st.sampled_from(OWN).flatmap(
        lambda name: st.tuples(st.just(name), st.builds(_of_own, st.just(name), _namespaces, _other_case))
    ),
    st.sampled_from(OF_SERVERS).flatmap(
        lambda name: st.tuples(st.just(name), st.builds(_of_server, st.just(name), _of_servers, _other_case))
    ),
    st.sampled_from((*OWN, *OF_SERVERS)).map(lambda name: (name, wire_name(name))),
)

_plain: tuple[Condition, ...] = (
    ServerCondition((NamePattern("bank"),)), ServerCondition((NamePattern("a*"), NamePattern("docs.v2"))),
    argument_condition("limit", {"le": 5}), argument_condition("path", {"exists": True}),
)  # fmt: skip
_whens = st.builds(
    Conditions,
    st.one_of(st.just(()), st.just(()), st.sampled_from(_plain).map(lambda condition: (condition,))),
    st.sampled_from(((), (), (), (ArgvPattern("git push *"),))),
    st.sampled_from(((), (), (), (PathPattern("/**/.env"),))),
)


def _selectors(name: str) -> st.SearchStrategy[tuple[ToolSelector, ...]]:
    """Draw selectors that may be about the tool: by its name, by a pattern, by what it is."""
    patterns = (name, name, f"{name[:-2]}*", name.title(), f"*{name[-3:]}", "*", "mcp:*", "mcp:a/*", *TRAIT_SELECTORS)
    legal = [text for text in patterns if not text.startswith("Mcp:")]
    return st.lists(st.sampled_from(legal), max_size=2).map(lambda texts: tuple(map(ToolSelector, texts)))


@st.composite
def _policies(draw: st.DrawFn, name: str) -> AuthorizationPolicy:
    rules = [ConfiguredRule("all", Verdict.ALLOW, 250, Scope((ToolSelector("*"),)))]
    for number in range(draw(st.integers(1, 3))):
        effect = draw(st.sampled_from((Verdict.CONFIRM, Verdict.BLOCK)))
        unless = draw(st.sampled_from((None, None, draw(_whens))))
        scope = Scope(draw(_selectors(name)), draw(_whens), unless)
        rules.append(ConfiguredRule(f"r{number}", effect, 150, scope))
    return AuthorizationPolicy((*BUILT_IN_RULES, *rules), reader=ReadActions(None), declared=DECLARED)


_contexts = st.builds(AuthContext, is_plan_mode=st.sampled_from((False, False, True)), workspace=st.just("/w"))


@given(data=st.data(), context=_contexts, names=_renamed, arguments=st.sampled_from(ARGUMENTS))
def test_another_form_of_a_name_is_never_less_restricted(
    data: st.DataObject, context: AuthContext, names: tuple[str, str], arguments: dict[str, object]
) -> None:
    """What a restriction says of the one name it says of the other, or something stricter."""
    policy = data.draw(_policies(names[0]))
    one, other = (policy.decide(ToolCall(name, arguments), context) for name in names)
    if one.phase is Phase.RESTRICTION:
        assert other.verdict.strictness >= one.verdict.strictness, (names, one, other)
