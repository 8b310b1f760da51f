"""Named lists: several files fill one, and what a less trusted one adds never makes a call more allowed."""

import contextlib
import itertools
from collections.abc import Mapping
from pathlib import Path

import attrs
import pytest
from tests.tables import for_each

from permitry.config.cache import RuleCache
from permitry.config.lists import ListUses, NamedList, lists_of
from permitry.config.load import Origin, RuleSet, load_policy, load_rules
from permitry.config.plain import rule_set_of
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.policy import AuthorizationPolicy
from permitry.core.source import Lists
from permitry.errors import ConfigError, RuleError
from permitry.guard.session import Session

ROOT = Path.cwd()
LAYERS = {
    "admin": Origin("<admin.toml>", is_admin=True),
    "user": Origin("<user.toml>"),
    "project": Origin("<project.toml>", root=ROOT),
    "untrusted": Origin("<untrusted.toml>", is_trusted=False, root=ROOT),
}


@pytest.fixture(autouse=True)
def _texts_as_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a text for a file of its layer: one that only root could have written, or that is in the project."""
    monkeypatch.setattr("permitry.config.named.writable_by_others", lambda _: None)
    monkeypatch.setattr("permitry.config.load.out_of_bounds", lambda *_: None)


def _list(name: str, *values: str) -> str:
    return f"[list.{name}]\nvalues = {list(values)!r}\n"


def _rule(effect: str, condition: str, more: str = "") -> str:
    return f'[[rule]]\nid = "{effect}-it"\neffect = "{effect}"\ntools = ["send"]\n{condition}\n{more}\n'


def _loaded(files: Mapping[str, str]) -> RuleSet:
    """Return what the text of each layer says, by the name of the layer."""
    return load_rules([attrs.evolve(LAYERS[name], text=f"schema = 1\n{text}") for name, text in files.items()])


def _verdicts(policy: AuthorizationPolicy, context: AuthContext = AuthContext()) -> dict[str, str]:  # noqa: B008
    """Return what is decided about sending to each of three people."""
    calls = {to: ToolCall("send", {"to": to}) for to in ("a", "b", "c")}
    return {to: policy.decide(call, context).verdict.value for to, call in calls.items()}


USED = 'when.args.to = { in = "@people" }'


def test_a_rule_is_about_the_values_of_a_list() -> None:
    """And the explanation names the list."""
    policy = _loaded({"user": _list("people", "a", "b") + _rule("allow", USED)}).policy()
    assert _verdicts(policy) == {"a": "allow", "b": "allow", "c": "confirm"}
    assert "allow   allow-it  (<user.toml>:4, @people)  decided" in str(
        policy.explain(ToolCall("send", {"to": "a"}), AuthContext())
    )


def test_files_add_to_a_list() -> None:
    """Those that extend one another as those that are named together, in any order."""
    first, second = f"schema = 1\n{_list('people', 'a')}", f"schema = 1\n{_list('people', 'b')}{_rule('allow', USED)}"
    for sources in ([first, second], [second, first]):
        assert _verdicts(load_policy(*sources)) == {"a": "allow", "b": "allow", "c": "confirm"}


EFFECTS = {
    "allow": ("allow", ""),
    "confirm": ("confirm", ""),
    "question": ("confirm", "priority = 390"),
    "block": ("block", ""),
    "labelled": ("allow", 'adds_label = "sent"'),
    "counted": ("allow", "budget = { calls = 1 }"),
}
LABEL = '[[rule]]\nid = "after"\neffect = "block"\npriority = 110\nwhen.label = "sent"\ntools = ["*"]\n'
STRICTNESS = ["allow", "confirm", "block"]


@for_each("adding", ["user", "project", "untrusted"])
@for_each("effect", EFFECTS)
@for_each("place", ["when", "unless"])
@for_each("operator", ["in", "not_in"])
def test_a_less_trusted_layer_never_makes_a_call_more_allowed(
    adding: str, effect: str, place: str, operator: str
) -> None:
    """Wherever a list is used: also by the label and the budget that a call leaves."""
    verdict, more = EFFECTS[effect]
    condition = f'{place}.args.to = {{ {operator} = "@people" }}'
    also = LABEL if effect == "labelled" else ""
    every = f'[[rule]]\nid = "every"\neffect = "allow"\npriority = 395\ntools = ["*"]\n{also}'
    strict = "admin" if adding == "user" else "user"
    own = {strict: _list("people", "a") + _rule(verdict, condition, more) + every}
    alone, together = _loaded(own).policy(), _loaded({**own, adding: _list("people", "b")}).policy()
    for first in ("a", "b", "c"):
        before, after = _after(alone, first), _after(together, first)
        assert all(STRICTNESS.index(after[to]) >= STRICTNESS.index(before[to]) for to in before), first


def _after(policy: AuthorizationPolicy, first: str) -> dict[str, str]:
    """Return what is decided about sending to each, once a call to `first` has run."""
    session, call = Session(), ToolCall("send", {"to": first})
    session.apply(call, policy.side_effects(call, AuthContext.from_state(session)))
    return _verdicts(policy, AuthContext.from_state(session))


@for_each("adding", ["user", "project", "untrusted"])
def test_a_less_trusted_layer_may_restrict_more(adding: str) -> None:
    """A longer list of what is blocked is a restriction, which every layer may add."""
    strict = "admin" if adding == "user" else "user"
    files = {strict: _list("people", "a") + _rule("block", USED), adding: _list("people", "b")}
    assert _verdicts(_loaded(files).policy()) == {"a": "block", "b": "block", "c": "confirm"}


def test_a_list_that_adds_nothing_to_permissions_is_reported() -> None:
    """The file of the project looks as if it permitted."""
    rules = _loaded({"user": _list("people", "a") + _rule("allow", USED), "project": _list("people", "b")})
    assert _verdicts(rules.policy())["b"] == "confirm"
    assert rules.notices == (
        "<project.toml>:2: list `people`: counts only where it restricts; a more trusted layer has it too",
    )


def test_a_project_fills_a_list_of_its_own() -> None:
    """Trusted, it permits by it; not trusted, only its restrictions count."""
    text = _list("people", "a") + _rule("block", 'unless.args.to = { in = "@people" }')
    assert _verdicts(_loaded({"untrusted": text}).policy()) == {"a": "confirm", "b": "block", "c": "block"}
    text = _list("people", "a") + _rule("allow", USED)
    assert _verdicts(_loaded({"project": text}).policy())["a"] == "allow"
    assert _verdicts(_loaded({"untrusted": text}).policy())["a"] == "confirm"


@for_each(("using", "having"), [*itertools.combinations(LAYERS, 2)])
def test_a_rule_never_depends_on_a_list_of_a_less_trusted_layer(using: str, having: str) -> None:
    """Or it would load only while the other file is there."""
    with pytest.raises(ConfigError, match="unknown list `@people`"):
        _loaded({using: _rule("block", USED), having: _list("people", "a")})


@for_each("using", ["project", "untrusted"])
def test_a_project_may_name_a_list_of_the_user(using: str) -> None:
    """What the user trusts, the project may build on."""
    condition = 'unless.args.to = { in = "@people" }'
    rules = _loaded({"user": _list("people", "a"), using: _rule("block", condition)})
    assert _verdicts(rules.policy()) == {"a": "confirm", "b": "block", "c": "block"}


def test_a_project_that_is_not_trusted_adds_few_values() -> None:
    """Each costs time at every call."""
    with pytest.raises(ConfigError, match="more than 64 values in a project that is not trusted"):
        _loaded({"untrusted": _list("people", *map(str, range(65)))})


@for_each(("text", "message"))
def test_a_mistake_is_reported(text: str, message: str) -> None:
    """With its place, as in every table."""
    with pytest.raises(ConfigError, match=message):
        _loaded({"user": text})


def test_a_rule_set_has_its_lists_with_their_places() -> None:
    """Lint and hosts look at them."""
    rules = _loaded({"user": _list("people", "a"), "untrusted": _list("people", "b")})
    assert rules.lists == {"people": NamedList(("a", "b"), ("a",), "<user.toml>:2")}


# Sessions ---------------------------------------------------------------------------------------------------------

HOST = _list("people") + _rule("allow", USED) + _rule("block", 'when.args.to = { in = "@foes" }') + _list("foes", "c")


def test_a_session_fills_the_lists() -> None:
    """For permissions and restrictions, and for this session alone."""
    policy = _loaded({"user": HOST}).policy()
    assert _verdicts(policy) == {"a": "confirm", "b": "confirm", "c": "block"}
    session = Session(lists={"people": ["a"], "foes": ["b"]})
    assert _verdicts(policy, AuthContext.from_state(session)) == {"a": "allow", "b": "block", "c": "block"}
    assert _verdicts(policy) == {"a": "confirm", "b": "confirm", "c": "block"}


def test_the_policy_of_a_session_is_made_once() -> None:
    """As long as the session lives: later calls are decided as fast as those of a session without lists."""
    policy = _loaded({"user": HOST}).policy()
    session = Session(lists={"people": ["a"]})
    contexts = [AuthContext.from_state(session) for _ in range(2)]
    assert policy.within(contexts[0]) is policy.within(contexts[1]) is not policy


def test_a_session_may_have_rules_and_lists() -> None:
    """The lists are for the rules of the policy and those of the session."""
    rules = load_rules(f"schema = 1\n{_list('people')}{_rule('allow', USED)}")
    context = AuthContext.from_state(Session(rules=rules, lists={"people": ["a"]}))
    assert _verdicts(load_policy("schema = 1\n"), context)["a"] == "allow"


def test_a_sub_agent_has_the_lists_of_its_parent() -> None:
    """A list of its own never makes it allowed more."""
    policy = _loaded({"user": HOST}).policy()
    session = Session(lists={"people": ["a"]})
    assert _verdicts(policy, AuthContext.from_state(session.child("sub")))["a"] == "allow"
    child = AuthContext.from_state(session).child("sub", lists={"people": ["b"]})
    assert _verdicts(policy, child) == {"a": "confirm", "b": "confirm", "c": "block"}


@for_each(
    ("lists", "message"),
    [
        ({"peple": ["a"]}, "no rule uses the list `peple`; did you mean `people`?"),
        ({"ours": ["a b"]}, "the list `@ours`: the host pattern `a b` is empty or has a blank"),
    ],
)
def test_a_list_that_cannot_be_used_stops_the_session(lists: dict[str, list[str]], message: str) -> None:
    """A misspelt list of what is blocked would block nothing."""
    more = _list("ours") + '[[rule]]\nid = "ours"\neffect = "allow"\nwhen.host = "@ours"\n'
    policy = _loaded({"user": HOST + more}).policy()
    with pytest.raises(RuleError, match=message):
        policy.decide(ToolCall("send", {"to": "a"}), AuthContext(lists=Lists(lists)))


def test_a_label_and_a_budget_follow_the_lists_of_the_session() -> None:
    """What a call leaves behind is by the same values as the decision."""
    text = _list("people") + _rule("allow", USED, "budget = { calls = 1 }")
    policy, session = _loaded({"user": text}).policy(), Session(lists={"people": ["a"]})
    call = ToolCall("send", {"to": "a"})
    assert policy.decide(call, AuthContext.from_state(session)).verdict.value == "allow"
    session.apply(call, policy.side_effects(call, AuthContext.from_state(session)))
    assert policy.decide(call, AuthContext.from_state(session)).verdict.value == "confirm"


# What is stored -----------------------------------------------------------------------------------------------------


def test_the_cache_stores_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stored rule set is filled by a session as a loaded one."""
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / "rules.toml"
    path.write_text(f'schema = 1\nextends = ["permitry:base"]\n{HOST}', encoding="utf-8")
    origins = [Origin("permitry:base"), Origin(str(path))]
    cache = RuleCache(tmp_path / ".cache/permitry", tmp_path / ".local/state/permitry/cache.key")
    loaded, kept = cache.load(origins), cache.kept(origins)
    assert kept is not None
    assert kept.lists == loaded.lists
    context = AuthContext.from_state(Session(lists={"people": ["a"]}))
    assert _verdicts(kept.policy(), context)["a"] == "allow"


@for_each("values", [None, "a", [None], [True], [["a"]]])
def test_stored_values_of_another_type_are_refused(values: object) -> None:
    """What is read from a cache is not trusted."""
    stored = {
        "rules": [], "templates": [], "tools": [], "programs": [], "files": [], "links": [], "notices": [],
        "unmatched": None, "observed": None,
        "lists": [{"name": "a", "values": values, "restricts_only": False, "source": "r.toml:1"}],
    }  # fmt: skip
    with pytest.raises(ValueError, match="`values` is not what it must be"):
        rule_set_of(stored)


def test_the_values_of_several_tables_are_one_list() -> None:
    """Those of the most trusted layer are kept apart."""
    tables = [
        {"name": "a", "values": ["x"], "restricts_only": True, "source": "p.toml:1"},
        {"name": "a", "values": ["y"], "restricts_only": False, "source": "u.toml:1"},
    ]
    lists = lists_of(tables)
    assert lists == {"a": NamedList(("x", "y"), ("y",), "p.toml:1")}
    assert ListUses(lists, permits=True).values("a", is_positive=True) == ("y",)
    assert ListUses(lists, permits=True, added=Lists({"a": ["z"]})).values("a", is_positive=True) == ("y", "z")
    assert ListUses(lists, permits=True).values("a", is_positive=False) == ("x", "y")


TRUSTED = '[tool.look]\ntrusted_fields = ["iban"]\n'
BY_TOOL = 'unless.args.to.from = ["look"]'


@for_each(("layer", "loads"), [("admin", True), ("user", False), ("project", False), ("untrusted", False)])
def test_a_rule_trusts_no_field_that_a_less_trusted_layer_declares(layer: str, *, loads: bool) -> None:
    """It would be the less trusted layer that says where values may come from."""
    files = {"admin": _rule("confirm", BY_TOOL) + TRUSTED * (layer == "admin")}
    files |= {} if layer == "admin" else {layer: TRUSTED}
    with contextlib.nullcontext() if loads else pytest.raises(ConfigError, match="no trusted fields"):
        _loaded(files)


def test_a_tool_that_two_layers_declare_is_that_of_the_more_trusted() -> None:
    """Whichever is read first."""
    for names in itertools.permutations(("user", "project")):
        files = dict.fromkeys(names, TRUSTED)
        _loaded({**files, "user": files["user"] + _rule("confirm", BY_TOOL)})


def test_the_values_of_a_list_are_part_of_the_version() -> None:
    """A question about a call is not answered under other values."""
    texts = (_list("people", *names) + _rule("allow", 'when.args.to.from = ["list:people"]') for names in ("a", "b"))
    assert len({_loaded({"user": text}).policy().version for text in texts}) == len("ab")


@for_each("condition", ['unless.args.to.from = ["list:people"]', 'when.args.to.not_from = ["list:people"]'])
def test_a_less_trusted_layer_vouches_for_no_value(condition: str) -> None:
    """What it adds to a list does not lift a restriction."""
    files = {
        "admin": _list("people", "a") + _rule("confirm", condition) + _rule("allow", ""),
        "project": _list("people", "b"),
    }
    assert _verdicts(_loaded(files).policy()) == {"a": "allow", "b": "confirm", "c": "confirm"}
