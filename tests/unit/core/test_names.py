"""The names of tools: as providers take them, and all that one of them may mean."""

from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.core.names import NamePattern, name_forms, readings, server_tool, servers, wire_name


@for_each(("name", "wire"), [("look", "look"), ("mcp:bees/hives", "mcp__bees__hives"), ("my tool", "my_tool")])
def test_a_name_becomes_one_that_providers_take(name: str, wire: str) -> None:
    """One that is taken already stays as it is."""
    assert wire_name(name) == wire


def test_long_names_stay_different() -> None:
    """They end in digits of a digest."""
    one, other = wire_name("n" * 80), wire_name("n" * 81)
    assert (len(one), len(other), one == other) == (64, 64, False)


@for_each("name", ["send_money", "a", "read_file_2", "mcp:docs/get_all", "mcp:a_b/c"])
def test_a_plain_name_has_one_reading(name: str) -> None:
    """Nothing else is looked up for it."""
    assert readings(name) == {name} == name_forms(name)


@for_each("name")
def test_every_form_of_the_name_of_a_servers_tool_is_read(name: str) -> None:
    """Whatever a host, a provider or a model made of it, a pattern of the one name may mean it."""
    call = ToolCall(name)
    assert NamePattern("mcp:bank/pay_invoice").may_mean(call.readings)
    assert NamePattern("mcp:bank/*").may_mean(call.readings)
    assert NamePattern("bank").may_mean(servers(call.tool, call.server))


@for_each("name")
def test_every_form_of_the_name_of_an_own_tool_is_read(name: str) -> None:
    """Case, accents, width, joining characters, and what providers put before it."""
    assert NamePattern("send_money").may_mean(readings(name))
    assert NamePattern("Send_*").may_mean(readings(name))


@for_each(
    ("pattern", "name"),
    [
        ("mcp:a/b__c", "mcp__a__b__c"),
        ("mcp:a__b/c", "mcp__a__b__c"),
        ("mcp:a/*", "mcp__a__b__c"),
        ("mcp:a__b/*", "a__b__c"),
        ("mcp:my_bank/pay", "mcp_my_bank_pay"),
        ("mcp:my/bank_pay", "mcp_my_bank_pay"),
        ("mcp:docs.v2/search", "mcp__docs_v2__search"),
        ("mcp:docs.v2/*", "mcp__docs_v2__search"),
        ("mcp:my server/search", "mcp__my_server__search"),
        ("fs.read", "fs_read"),
        ("mcp:*", "bank__pay"),
        ("mcp:*/pay", "BANK.pay"),
        ("bank__pay", "mcp:bank/pay"),
        ("mcp__bank__pay", "mcp:bank/pay"),
        ("mcp:" + "s" * 40 + "/" + "t" * 40, wire_name("mcp:" + "s" * 40 + "/" + "t" * 40)),
    ],
)
def test_a_name_is_split_in_every_way(pattern: str, name: str) -> None:
    """Which part is the server's and which the tool's, the name alone does not say."""
    assert NamePattern(pattern).may_mean(ToolCall(name).readings)


@for_each(("pattern", "name"))
def test_a_name_is_not_taken_for_another(pattern: str, name: str) -> None:
    """An agent that is stopped for nothing is a defect as well."""
    assert not NamePattern(pattern).may_mean(ToolCall(name).readings)


def test_a_known_server_is_the_only_one() -> None:
    """Where the host names it, its letters are open and nothing else."""
    assert servers("mcp:a__b/c", "a__b") == {"a__b"}
    assert servers("a__b__c", None) == {"a", "a/b", "a__b"}


@for_each(
    ("name", "server", "read"),
    [
        ("Bash", None, (None, "Bash")),
        ("mcp__fs__read_file", None, ("fs", "read_file")),
        ("mcp__a__b__c", None, (None, "mcp__a__b__c")),
        ("mcp__a___b", None, (None, "mcp__a___b")),
        ("mcp__a__", None, (None, "mcp__a__")),
        ("mcp__a__b__c", "a__b", ("a__b", "c")),
        ("mcp__my_files__read", "my files", ("my files", "read")),
        ("mcp__other__read", "fs", ("fs", "mcp__other__read")),
        ("mcp__fs__", "fs", ("fs", "mcp__fs__")),
    ],
)
def test_the_tool_of_a_server_is_named_if_that_is_certain(
    name: str, server: str | None, read: tuple[str | None, str]
) -> None:
    """Otherwise rules see the whole name, of which restrictions try every reading."""
    assert server_tool(name, server) == read
