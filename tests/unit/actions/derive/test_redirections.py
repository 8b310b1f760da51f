"""What redirections touch, and what they connect to."""

from tests.tables import for_each

from permitry.actions.derive.redirections import may_be_socket, socket_of


def test_bash_connects_instead_of_opening_such_a_file() -> None:
    """To a host and a port, for TCP and UDP."""
    connect = socket_of("/dev/tcp/example.com/80")
    assert connect is not None
    assert (connect.host, connect.port, connect.is_certain) == ("example.com", 80, False)
    assert socket_of("/dev/tcp") is None
    assert socket_of("out.txt") is None


@for_each(("target", "may_be"))
def test_an_expansion_may_become_such_a_name(target: str, *, may_be: bool) -> None:
    """Unless what is known of it begins otherwise, or the host is known."""
    assert may_be_socket(target) is may_be
