"""The narrowest conditions for calls like one that was approved."""

from tests.tables import for_each

from permitry.config.load import load_policy, load_rules
from permitry.config.narrowest import choices, narrowest, widest
from permitry.core.action import Access, Action, Connect, Place, Touch
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext

_CONTEXT = AuthContext(workspace="/w")
_POLICY = load_policy("permitry:tools-claude-code")


PLACE = Place("src/x", ("/w/src/x",), ("/w/src/x",))


def _actions(call: ToolCall) -> tuple[Action, ...]:
    return _POLICY.request(call, _CONTEXT).actions.certain


def _bash(command: str) -> ToolCall:
    return ToolCall("Bash", {"command": command})


@for_each(("command", "patterns"))
def test_a_command_has_the_pattern_of_its_sub_command(command: str, patterns: list[str]) -> None:
    """Of what changes the files it names, only the command itself; of an unknown program never the name alone."""
    call = _bash(command)
    assert narrowest(call, _actions(call), "/w") == ({"when": {"command": patterns}},)


@for_each("command", ["git $x", "echo 'a b'", "rm *.txt", "cat a; $(b)", "cat ~/.ssh/id > a; sudo $x"])
def test_what_cannot_be_named_has_no_pattern(command: str) -> None:
    """An expansion, a glob, and what cannot be read: a part of a call is not enough."""
    call = _bash(command)
    patterns = [list(choices(call, each, "/w")) for each in _actions(call)]
    assert command.startswith(("git", "echo")) or [] in patterns
    assert [] not in patterns or narrowest(call, _actions(call), "/w") == ()


@for_each(
    ("command", "patterns"),
    [("git add a && ls -l", ["git add *", "ls *"]), ("rm a", ["rm a"]), ("git push origin main", ["git push *"])],
)
def test_the_widest_is_all_of_a_sub_command(command: str, patterns: list[str]) -> None:
    """Of what changes the files it names no wider than the narrowest; nothing where an action has no pattern."""
    call = _bash(command)
    assert widest(call, _actions(call), "/w") == ({"when": {"command": patterns}},)
    assert widest(call, _actions(_bash("echo 'a b'; rm *.txt")), "/w") == ()


def test_choices_go_from_narrow_to_wide() -> None:
    """All words, then fewer of them; a folder, then those above it, but never the workspace."""
    (run,) = _actions(_bash("git push origin main"))
    found = [each["when"] for each in choices(_bash(""), run)]
    texts = ("git push origin main", "git push origin main *", "git push origin *", "git push *")
    assert found == [{"command": [text]} for text in texts]
    call = ToolCall("Write", {"file_path": "src/a/b.py", "content": ""})
    (touch,) = _actions(call)
    found = [each["when"] for each in choices(call, touch, "/w")]
    assert found == [{"path": [text], "access": ["write"]} for text in ("src/a/b.py", "src/a/**", "src/**")]


@for_each("path", ["/etc/passwd", "../a", "~/a", "a b", "."])
def test_a_path_elsewhere_has_no_pattern(path: str) -> None:
    """Nor the workspace itself, nor a name with signs of patterns or blanks."""
    call = ToolCall("Write", {"file_path": path, "content": ""})
    assert narrowest(call, _actions(call), "/w") == ()


def test_an_address_has_the_pattern_of_its_host() -> None:
    """For the tool that was called."""
    call = ToolCall("WebFetch", {"url": "https://docs.python.org/3/"})
    assert narrowest(call, _actions(call)) == ({"tools": ["WebFetch"], "when": {"host": ["docs.python.org"]}},)


def test_a_command_with_a_redirection_needs_two_rules() -> None:
    """One for the program, one for the file; both load."""
    call = _bash("ls > out/names.txt")
    found = narrowest(call, _actions(call), "/w")
    expected = {"tools": ["Bash"], "when": {"path": ["out/**"], "access": ["write"]}}
    assert found == ({"when": {"command": ["ls *"]}}, expected)
    text = 'schema = 1\n[[rule]]\nid = "a"\neffect = "allow"\ntools = ["Bash"]\n'
    load_rules(text + 'when.path = ["out/**"]\nwhen.access = ["write"]\n')


@for_each("action", [Connect("https://a.com", "https", "a.com"), Touch(Access.WRITE, PLACE, "src/x")])
def test_the_name_of_a_tool_is_no_pattern(action: Action) -> None:
    """A model, or a server, chooses it: a rule for the tool `*` would be one for all."""
    assert list(choices(ToolCall("write", {}), action, "/w"))
    assert list(choices(ToolCall("*", {}), action, "/w")) == []
