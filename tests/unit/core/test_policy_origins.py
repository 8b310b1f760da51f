"""Where values came from, as a policy says it of a call that is asked about."""

import pytest
from tests.tables import for_each

from permitry.conditions.provenance.provenance import Provenance
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.policy import AuthorizationPolicy
from permitry.guard.session import Session

RULE = '[[rule]]\nid = "{0}"\neffect = "allow"\ntools = ["pay"]\n{1}\n'
PLAIN = load_policy("schema = 1\n" + RULE.format("plain", "when.args.to.prefix = 'AT'"))
ASKS = load_policy("schema = 1\n" + RULE.format("asks", 'when.args.to.from = ["user"]'))
CALL = ToolCall("pay", {"to": "DE22"})
HEARD = AuthContext(provenance=Provenance.of(["Pay AT11."], [("look", {}, {"iban": "DE22"})]))


def test_a_rule_that_asks_says_where_a_value_came_from() -> None:
    """As an explanation does."""
    assert ASKS.origins(CALL, HEARD) == ASKS.explain(CALL, HEARD).origins
    assert [origin.places for origin in ASKS.origins(CALL, HEARD)] == [("look #1, field `iban`",)]


def test_the_rules_of_an_agent_above_ask_as_well() -> None:
    """A sub-agent is asked about by them."""
    session = Session()
    session.heard("Pay AT11.")
    assert ASKS.origins(CALL, AuthContext.from_state(session.child("sub"))) != ()


@for_each(("policy", "context"), [(PLAIN, HEARD), (ASKS, AuthContext()), (AuthorizationPolicy(), HEARD)])
def test_where_there_is_nothing_to_say_nothing_is_explained(
    policy: AuthorizationPolicy, context: AuthContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ordinary requests stay as fast as they are."""
    monkeypatch.setattr(AuthorizationPolicy, "explain", lambda *_: pytest.fail("an explanation was made"))
    assert policy.origins(CALL, context) == ()
    assert policy.asks_origins is (policy is ASKS)
