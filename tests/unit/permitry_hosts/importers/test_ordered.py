"""Lists in which the first match decides, as restrictions and permissions."""

from permitry_hosts.importers.drafts import Ordered, in_phases, phases_of


def test_a_restriction_excepts_what_was_permitted_before() -> None:
    """What comes before decides."""
    allow, block = in_phases([Ordered("allow", ("a",), {"command": ["x"]}), Ordered("block", ("*",))])
    assert allow is not None
    assert allow.priority == 201
    assert block is not None
    assert block.unless == ({"tools": ["a"], "command": ["x"]},)


def test_a_rule_of_which_nothing_is_left_is_none() -> None:
    """An earlier rule decides about all of it."""
    assert in_phases([Ordered("allow", ("*",)), Ordered("block", ("a",))])[1] is None


def test_what_is_wider_than_there_is_no_exception() -> None:
    """Or it would lift what the host denies."""
    block = in_phases([Ordered("confirm", ("a",), exact=False), Ordered("block", ("a",))])[1]
    assert block is not None
    assert block.unless == ()


def test_rules_for_other_tools_and_modes_are_no_exceptions() -> None:
    """Only what may meet counts."""
    earlier = [Ordered("allow", ("b",)), Ordered("allow", ("a",), {"mode": ["yolo"]})]
    block = in_phases([*earlier, Ordered("block", ("a*",), {"mode": ["plan"]})])[-1]
    assert block is not None
    assert block.unless == ()


def test_permissions_keep_their_order() -> None:
    """A question among them ends the search where it comes first."""
    rules = [Ordered(effect, ("a",), firm=False) for effect in ("allow", "allow", "confirm", "allow")]
    assert [draft and draft.priority for draft in in_phases(rules)] == [201, 201, 202, 203]


def test_beyond_the_last_number_a_permission_is_left_out() -> None:
    """And a question is asked with the last."""
    rules = [Ordered("confirm" if number % 2 else "allow", (f"t{number}",), firm=False) for number in range(203)]
    drafts = in_phases(rules)
    assert drafts[-1] is None
    assert drafts[-2] is not None
    assert drafts[-2].priority == 399


def test_rules_in_groups_are_one_list() -> None:
    """Each group has its own of what becomes of them."""
    allow, block, ask = Ordered("allow", ("a",)), Ordered("block", ("a",)), Ordered("confirm", ("b",))
    first, none, last = phases_of([[allow, ask], [], [block]])
    assert [*first, *none, *last] == in_phases([allow, ask, block])
    assert (len(first), none, last) == (2, [], [None])
