"""The finding `untrusted-counterparty`."""

from collections.abc import Callable

import pytest
from tests.tables import for_each

from permitry_ops.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Rule = Callable[..., str]

LOOK = '[tool.look]\ntraits = ["read_only"]\ntrusted_fields = ["mine", "a.b"]\n'
BOOK = '[tool.book]\ntrusted_fields = ["*"]\n'


@pytest.fixture
def found(linted: Linted, rule: Rule) -> Callable[..., list[str]]:
    """Return a function that returns the reasons of the findings about one source of one argument."""

    def reasons(tool: str, argument: str, source: str, *more: str, head: str = "") -> list[str]:
        lines = (f'tools = ["{tool}"]', f'when.args.{argument}.from = ["user", "{source}"]')
        text = rule("a", "allow", *lines, *more)
        kind = "untrusted-counterparty"
        return [each.reason for each in linted(f"{head}{LOOK}{BOOK}{text}") if each.kind == kind]

    return reasons


Found = Callable[..., list[str]]


@for_each(
    "argument",
    [
        "to", "cc", "bcc", "recipient", "recipients", "recipientEmail", "user_email", "email", "emails", "to_address",
        "participants", "attendees", "iban", "toAccount", "account", "bank_account_number", "mail.to", "receiver-id",
    ],
)  # fmt: skip
def test_who_is_reached_is_not_for_others_to_choose(found: Found, argument: str) -> None:
    """Whatever the case of the name, and in objects."""
    assert found("send_mail", argument, "look#by") == [f"others may fill `look#by`, and choose `{argument}` by it"]


@for_each(
    "argument",
    ["email_id", "from_account", "sender_email", "my_account", "total", "account_type", "body", "user", "tos", "_"],
)
def test_other_arguments_reach_no_one(found: Found, argument: str) -> None:
    """The id of a mail, and the account of the user."""
    assert found("send_mail", argument, "look#by") == []


@for_each("source", ["look#mine", "look#a.b", "look", "book#anything", "book", "call:make#id"])
def test_what_only_the_operator_fills_is_trusted(found: Found, source: str) -> None:
    """As it is declared; an earlier call is another matter."""
    assert found("send_money", "to", source) == []


@for_each("source", ["look#by@subject", "named:look#by", "named:look"])
@for_each(
    ("tool", "argument", "line", "is_found"),
    [
        ("send_mail", "to", "", False),
        ("invite", "user_email", "", False),
        ("send_mail", "iban", "", True),
        ("send_money", "to", "", True),
        ("makePayment", "recipient", "", True),
        ("mcp:bank/refund", "recipient", "", True),
        ("order", "recipient", "when.args.amount = { le = 5 }", True),
        ("order", "recipient", "when.args.count = { le = 5 }", False),
    ],
)
def test_the_user_named_the_source(
    found: Found, source: str, tool: str, argument: str, line: str, *, is_found: bool
) -> None:
    """That is not trust for who gets the money; for who gets a mail it may do."""
    (*reasons,) = found(tool, argument, source, line)
    assert bool(reasons) is is_found
    assert all("not trusted with money" in each for each in reasons)


@for_each("head")
def test_what_a_tool_declares_counts(found: Found, head: str) -> None:
    """A tool that only reads reaches no one, and a path is not a person."""
    assert found("move", "to", "look#by", head=head) == []
    assert len(found("move", "to", "look#by")) == 1


def test_a_restriction_that_others_can_lift(linted: Linted, rule: Rule) -> None:
    """`not_from`, and a rule about every tool."""
    (found,) = linted(rule("a", "confirm", 'when.args.to.not_from = ["look#by"]'))
    assert (found.kind, found.level, found.source) == ("untrusted-counterparty", "warning", "rules.toml:2")
    assert found.suggestion == (
        'if only you can fill the field, declare `trusted_fields = ["by"]` in `[tool."look"]`; otherwise have the user '
        "name the record, as in `look#by@subject`"
    )
    (found,) = linted(rule("a", "confirm", 'tools = ["*"]', 'unless.args.iban.from = ["named:look"]'))
    assert found.suggestion.endswith('`trusted_fields = ["*"]` in `[tool."look"]`; otherwise take the source out')
