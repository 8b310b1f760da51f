"""Each payload is one that its host could have written."""

from tests.tables import for_each

from permitry_hosts.hooks.answering import HOSTS, host_named
from permitry_hosts.hooks.host import Kind
from permitry_hosts.hooks.samples import sample


@for_each("name", HOSTS)
def test_a_host_reads_its_own(name: str) -> None:
    """It is about one command in its shell, and no other host takes it for its own."""
    payload = sample(name, "ls", "/home/ann", "s1")
    host = host_named(name)
    event = host.read(payload, {"PWD": "/home/ann"})
    assert [each for each in HOSTS if host_named(each).wrote(payload)] == [name]
    assert (event.kind, event.session, event.folder) == (Kind.BEFORE, "s1", "/home/ann")
    assert "ls" in str(event.arguments)
