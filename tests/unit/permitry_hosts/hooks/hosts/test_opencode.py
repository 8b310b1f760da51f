"""opencode: the plugin."""

from tests.tables import for_each
from tests.unit.permitry_hosts.hooks.payloads import FOLDER, Captured, as_text

from permitry_hosts.hooks.host import Effect, Reply, Verb
from permitry_hosts.hooks.hosts.opencode import HOST, PLUGIN

CAPTURED = Captured(
    {
        "ev": "tool.execute.before", "directory": FOLDER,
        "input": {"tool": "bash", "sessionID": "s1", "callID": "k1"},
        "output": {"args": {"command": "?", "description": "x"}},
    },
    {"deny": "NO"},
    tool=("input", "tool"),
    arguments=("output", "args"),
    session=("input", "sessionID"),
    event=("ev",),
    permits=False,
    has_folder=False,
    after=lambda result: {"ev": "tool.execute.after", "output": {"args": {}, "output": as_text(result)}},
    own="list",
)  # fmt: skip

_MOST_LINES = 25


def test_the_plugin_is_short() -> None:
    """It only passes on what it is given."""
    assert len(PLUGIN.splitlines()) <= _MOST_LINES


@for_each("verb", [Verb.ALLOW, Verb.ASK, Verb.SILENCE])
def test_there_is_a_no_or_nothing(verb: Verb) -> None:
    """A plugin cannot permit."""
    assert HOST.write(Effect(verb), HOST.read(CAPTURED.payload, {})) == Reply()


def test_the_folder_is_that_of_the_process_if_it_is_not_named() -> None:
    """The plugin runs in the folder of the project."""
    rest = {key: value for key, value in CAPTURED.payload.items() if key != "directory"}
    assert HOST.read(rest, {"PWD": "/home/ann"}).workspace == "/home/ann"
