"""A payload in, a reply out: for every host, whatever its payload looks like."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each
from tests.unit.permitry_hosts.hooks.payloads import call, captured, command, put

from permitry.errors import CallError
from permitry_hosts.hooks import answering
from permitry_hosts.hooks.answering import Options, answer
from permitry_hosts.hooks.host import Effect, Kind, Reply, Verb
from permitry_hosts.hooks.hosts import HOSTS, host_named

Answer = Callable[..., Reply]
ENVIRON = {"PWD": "/home/ann/project"}
every_host = for_each("host", HOSTS)


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Return the file of the record."""
    return tmp_path / "record.jsonl"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home folder, in which the rules are compiled once."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def replied(record: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: Path) -> Answer:
    """Return a function that answers a payload by the shipped rules, or by others."""
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr("permitry_hosts.hooks.answering.user_state", lambda: tmp_path)

    def reply(
        host: str,
        payload: object,
        *,
        rules: str | None = None,
        environ: Mapping[str, str] = ENVIRON,
        grants: bool = False,
    ) -> Reply:
        named = None
        if rules is not None:
            (tmp_path / "rules.toml").write_text(f"schema = 1\nextends = ['permitry:tools-{host}']\n{rules}")
            named = [str(tmp_path / "rules.toml")]
        return answer(host, json.dumps(payload).encode(), Options(named, grants, str(record)), environ)

    return reply


def silence(host: str) -> Reply:
    """Return the reply that leaves a call to the host."""
    document = captured(host).silent
    return Reply() if document is None else Reply.of(document)


@every_host
def test_a_host_reads_its_own_sample(host: str) -> None:
    """It is about one command in its shell, and no other host takes it for its own."""
    payload = host_named(host).sample("ls", "/home/ann", "s1")
    event = host_named(host).read(payload, {"PWD": "/home/ann"})
    assert [each for each in HOSTS if host_named(each).wrote(payload)] == [host]
    assert (event.kind, event.session, event.folder) == (Kind.BEFORE, "s1", "/home/ann")
    assert "ls" in str(event.arguments)


@every_host
def test_what_is_blocked_is_answered_in_the_words_of_the_host(replied: Answer, host: str) -> None:
    """Each in its own form, with the message for the model."""
    reply = replied(host, command(host, "npm publish"))
    assert "Publishing is left to the user." in reply.out
    expected = host_named(host).write(Effect(Verb.DENY, "NO"), host_named(host).read(captured(host).payload, ENVIRON))
    assert reply.code == expected.code
    # With this code, some look at the other words alone.
    assert not reply.code or reply.err in json.dumps(json.loads(reply.out), ensure_ascii=False)
    assert json.loads(expected.out) == captured(host).denied


@every_host
def test_an_error_is_a_denial_with_its_words(replied: Answer, host: str) -> None:
    """In the form of the host: some show the model no words of a hook that fails."""
    reply = replied(host, command(host, "make"), rules="nonsense = 1")
    event = host_named(host).read(command(host, "make"), ENVIRON)
    shape = host_named(host).write(Effect(Verb.DENY, "NO"), event)
    assert (reply.code, json.loads(reply.out).keys()) == (shape.code, json.loads(shape.out).keys())
    assert "permitry could not decide about this call, so it did not run: ConfigError" in reply.out
    assert "nonsense" in reply.out


@every_host
def test_the_settings_with_the_hook_are_protected(replied: Answer, host: str) -> None:
    """By a rule of `permitry:hooks`, at home and in a project; so is each file that can switch it off."""
    settings = host_named(host).settings
    folder = Path(settings.project).parent
    for path in (f"~/{settings.user}", settings.project, *map(folder.joinpath, settings.elsewhere)):
        assert "The hooks of this agent are the user" in replied(host, command(host, f"rm {path}")).out, path


@every_host
def test_a_list_in_place_of_a_command_switches_no_rule_off(replied: Answer, host: str) -> None:
    """Whatever the host makes of it."""
    for words in (["npm publish"], ["npm", "publish"], ["ls", "; npm publish"], ["ls", ";", "npm", "publish"]):
        assert "Publishing is left to the user." in replied(host, command(host, words)).out


@every_host
def test_what_no_rule_is_about_is_left_to_the_host(replied: Answer, host: str) -> None:
    """With nothing at all, or with what the host takes for no opinion."""
    assert replied(host, command(host, "make test")) == silence(host)


@every_host
def test_a_permission_counts_only_if_it_is_granted(replied: Answer, host: str) -> None:
    """The user's own prompts stay, unless the user wants the rules to answer them."""
    rules = "[[rule]]\nid = 'a'\neffect = 'allow'\nwhen.command = 'make *'"
    assert replied(host, command(host, "make test"), rules=rules) == silence(host)
    granted = replied(host, command(host, "make test"), rules=rules, grants=True)
    if captured(host).permits:
        assert '"allow"' in granted.out
    else:
        assert granted == silence(host)


@every_host
def test_a_question_is_refused_where_the_host_would_not_ask(replied: Answer, host: str) -> None:
    """With words about what to do; Copilot asks, and says no if there is no one."""
    payload = command(host, "rm -rf /srv/data")
    reply = replied(host, payload)
    if host_named(host).read(payload, ENVIRON).can_ask:
        assert '"ask"' in reply.out
    else:
        assert "No one can be asked here" in reply.out
        assert '"ask"' not in reply.out


@every_host
def test_the_payload_says_which_host_wrote_it(replied: Answer, host: str) -> None:
    """Some hosts run the hooks of another one."""
    payload = command(host, "npm publish")
    expected = replied(host, payload)
    for named in HOSTS:
        assert replied(named, payload) == expected, named


@for_each("host", [host for host in HOSTS if captured(host).has_folder])
def test_a_command_begins_where_the_agent_is(replied: Answer, host: str) -> None:
    """Not in the folder of the project, if the agent has gone elsewhere; two hosts do not say where it is."""
    there = {**command(host, "cat ../keys/a"), "cwd": "/home/ann/project/sub"}
    environ = {f"{name}_PROJECT_DIR": "/home/ann/project" for name in ("CLAUDE", "GEMINI", "QWEN", "COPILOT", "CURSOR")}
    rules = "[[rule]]\nid = 'a'\neffect = 'block'\nwhen.path = 'keys/**'"
    assert "was blocked" in replied(host, there, rules=rules, environ={**ENVIRON, **environ}).out


ELSEWHERE = {"CLAUDE_PROJECT_DIR": "/home/ann/project", "CURSOR_PROJECT_DIR": "/home/ann/project"}


@for_each(("tool", "arguments"))
def test_files_are_named_from_where_the_agent_is(replied: Answer, tool: str, arguments: dict[str, str]) -> None:
    """By every tool, and where a tool without a path looks at the current folder, too."""
    there = {
        **captured("claude-code").payload,
        "tool_name": tool,
        "tool_input": arguments,
        "cwd": "/home/ann/project/keys",
    }
    rules = "[[rule]]\nid = 'a'\neffect = 'block'\nwhen.path = 'keys/**'"
    assert "was blocked" in replied("claude-code", there, rules=rules, environ={**ENVIRON, **ELSEWHERE}).out


def test_a_permission_is_about_the_file_from_where_the_agent_is(replied: Answer) -> None:
    """And not about one of the same name in the project."""
    call = {"tool_name": "NotebookEdit", "tool_input": {"notebook_path": "docs/a"}}
    rules = "[[rule]]\nid = 'a'\neffect = 'allow'\nwhen.path = 'docs/**'"
    for folder, word in (("/home/ann/project", '"allow"'), ("/home/ann", "")):
        payload = {**captured("claude-code").payload, **call, "cwd": folder}
        reply = replied("claude-code", payload, rules=rules, environ={**ENVIRON, **ELSEWHERE}, grants=True)
        assert word in reply.out
        assert bool(reply.out) is bool(word)


@for_each(("folder", "text"), [("/home/ann/keys", "a"), ("../../keys", "a"), ("~/x", "/home/ann/keys/a")])
def test_a_folder_that_a_call_names_itself_counts(replied: Answer, folder: str, text: str) -> None:
    """From where the agent is, and not that one."""
    payload = command("cursor", f"cat {text}")
    there = {
        **payload,
        "tool_input": {**payload["tool_input"], "working_directory": folder},
        "cwd": "/home/ann/project/sub",
    }
    rules = "[[rule]]\nid = 'a'\neffect = 'block'\nwhen.path = '/home/ann/keys/**'"
    assert "was blocked" in replied("cursor", there, rules=rules, environ={**ENVIRON, **ELSEWHERE}).out


@for_each(("host", "tool", "arguments"))
def test_a_folder_that_the_host_ignores_moves_nothing(
    replied: Answer, host: str, tool: str, arguments: dict[str, str]
) -> None:
    """A model may add arguments that the tool does not have."""
    rules = "[[rule]]\nid = 'a'\neffect = 'block'\nwhen.path = '/home/ann/project/**'"
    reply = replied(host, call(host, tool, arguments), rules=rules)
    assert reply not in (silence(host), Reply())


@pytest.mark.usefixtures("replied")
def test_a_tool_that_only_its_name_declares_is_where_the_agent_is(record: Path, tmp_path: Path) -> None:
    """Where the rules have no tools of hosts."""
    (tmp_path / "rules.toml").write_text("schema = 1\n[[rule]]\nid = 'a'\neffect = 'block'\nwhen.path = 'keys/**'")
    there = {**command("gemini", "cat a"), "cwd": "/home/ann/project/keys"}
    environ = {**ENVIRON, "GEMINI_PROJECT_DIR": "/home/ann/project"}
    options = Options([str(tmp_path / "rules.toml")], record=str(record))
    reply = answer("gemini", json.dumps(there).encode(), options, environ)
    assert "was blocked" in reply.out


@every_host
@for_each("data", [b"", b"{", b"[]", b"null", b"{}", b"{}{}", b"\xff", b'{"a": 1, "a": 2}', b"[" * 9_000])
def test_what_is_not_a_payload_is_not_answered(host: str, data: bytes) -> None:
    """The caller blocks the call."""
    with pytest.raises((CallError, UnicodeDecodeError)):
        answer(host, data, Options(), ENVIRON)


@every_host
def test_a_payload_without_one_of_its_parts_is_not_answered(replied: Answer, host: str) -> None:
    """A tool without arguments, or arguments without a tool, could be anything."""
    for part in {captured(host).tool[0], captured(host).arguments[0]}:
        rest = {key: value for key, value in captured(host).payload.items() if key != part}
        for payload in (rest, {**rest, part: 7}, {**rest, part: []}):
            with pytest.raises(CallError):
                replied(host, payload)


@every_host
def test_an_event_that_is_not_known_is_not_answered(replied: Answer, host: str) -> None:
    """It could be one that a call waits for."""
    with pytest.raises(CallError):
        replied(host, put(captured(host).payload, captured(host).event, "BeforeSomething"))


def test_an_observed_file_changes_no_answer(record: Path, replied: Answer, tmp_path: Path, home: Path) -> None:
    """What it would have blocked, or permitted, is on record."""
    path = tmp_path / "observed.toml"
    path.write_text(
        'schema = 1\n[[rule]]\nid = "no"\neffect = "block"\nwhen.command = ["make"]\n'
        '[[rule]]\nid = "may"\neffect = "allow"\nwhen.command = ["cargo *"]\n'
    )
    options = Options(None, True, str(record), observed=[str(path)])
    for text in ("make", "cargo install x"):
        payload = command("claude-code", text)
        reply = answer("claude-code", json.dumps(payload).encode(), options, ENVIRON)
        assert reply == replied("claude-code", payload), home
    would = [json.loads(line).get("would") for line in record.read_text().splitlines() if '"decided"' in line]
    assert would[0] == {"verdict": "block", "rule": "no"}
    assert {"verdict": "allow", "rule": "may"} in would


def test_every_decision_is_recorded_with_session_and_agent(replied: Answer, record: Path) -> None:
    """The ids of calls repeat between an agent and its sub-agents."""
    for agent in ({}, {"agent_id": "a7", "agent_type": "reviewer"}):
        replied("claude-code", {**command("claude-code", "npm publish"), **agent})
    begun, *lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert (begun["event"], begun["session"]) == ("session", "claude-code:s1")
    assert [(line["session"], line["call_id"], line["verdict"]) for line in lines] == [
        ("claude-code:s1", "toolu_1", "block"),
        ("claude-code:s1", "a7/toolu_1", "block"),
    ]


@for_each(("host", "event"))
def test_what_is_only_reported_is_not_answered_with_a_decision(
    replied: Answer, host: str, event: dict[str, Any]
) -> None:
    """A result, or a message of the user."""
    assert replied(host, {**command(host, "npm publish"), **event}) == Reply()
    read = host_named(host).read({**captured(host).payload, **event}, ENVIRON)
    assert read.kind in (Kind.AFTER, Kind.PROMPT)


def test_rules_of_the_project_count(replied: Answer, tmp_path: Path) -> None:
    """Its restrictions at least, which need no trust."""
    (tmp_path / "project/.permitry").mkdir(parents=True)
    rules = "schema = 1\n[[rule]]\nid = 'a'\neffect = 'block'\nwhen.command = 'make deploy'\nmessage = 'Not today.'"
    (tmp_path / "project/.permitry/rules.toml").write_text(rules)
    payload = {**command("gemini", "make deploy"), "cwd": str(tmp_path / "project")}
    assert "Not today." in replied("gemini", payload).out


BUDGET = """
[[rule]]
id = 'few'
effect = 'block'
when.command = 'make *'
budget = {{ calls = 2, per = '1h', by = 'session' }}
message = 'Enough of it.'
{more}
"""


@every_host
def test_a_budget_counts_from_one_hook_to_the_next(replied: Answer, host: str) -> None:
    """In one session; another one has its own."""
    rules = BUDGET.format(more="")
    replies = [replied(host, command(host, "make test"), rules=rules).out for _ in range(3)]
    assert ["Enough" in reply for reply in replies] == [False, False, True]
    other = put(command(host, "make test"), captured(host).session, "s2")
    assert replied(host, other, rules=rules) == silence(host)


def test_a_call_that_the_host_asks_about_counts(replied: Answer) -> None:
    """Whether it ran is not reported."""
    rules = BUDGET.format(more="[[rule]]\nid = 'ask'\neffect = 'confirm'\nwhen.command = 'make *'")
    replies = [replied("copilot", command("copilot", "make test"), rules=rules).out for _ in range(3)]
    assert ['"ask"' in reply for reply in replies] == [True, True, False]


def test_a_question_says_what_an_expansion_becomes(replied: Answer) -> None:
    """Next to the reason."""
    rules = "[[rule]]\nid = 'ask'\neffect = 'confirm'\nwhen.command = 'make *'"
    reply = replied("copilot", command("copilot", "make -C $(pwd)"), rules=rules)
    assert "; `$(pwd)` is now `/" in reply.out


def test_a_permission_that_is_asked_for_is_not_counted(replied: Answer) -> None:
    """The call was, before."""
    rules = BUDGET.format(more="")
    request = {**command("claude-code", "make test"), "hook_event_name": "PermissionRequest"}
    for _ in range(3):
        assert replied("claude-code", request, rules=rules) == Reply()


@every_host
def test_the_model_is_not_shown_where_a_rule_is_written(replied: Answer, host: str, tmp_path: Path) -> None:
    """It is shown what it may do; the place is for the operator."""
    rules = "[[rule]]\nid = 'a'\neffect = 'confirm'\nwhen.command = 'make *'\nmessage = 'Say why.'\nreason = 'makes'"
    payload = command(host, "make test")
    out = replied(host, payload, rules=rules).out
    assert str(tmp_path) not in out
    assert ("makes" if host_named(host).read(payload, ENVIRON).can_ask else "Say why.") in out


def test_a_server_that_could_be_read_as_another_one_is_refused(replied: Answer) -> None:
    """`mcp:a/b/c` is a tool of the server `a`."""
    server = {"tool_name": "mcp__a_b__c", "mcp_server": {"name": "a/b"}}
    assert "not understood" in replied("claude-code", {**captured("claude-code").payload, **server}).out


@every_host
def test_the_hook_itself_is_guarded_whatever_the_rules_are(replied: Answer, host: str) -> None:
    """A module that is put next to it would run in the next hook."""
    text = f"touch {Path(pytest.__file__).parents[1]}/a.pth"
    assert "These files belong to permitry" in replied(host, command(host, text), rules="").out


def _named(host: str, tool: str) -> dict[str, Any]:
    return put(captured(host).payload, captured(host).tool, tool)


@for_each(
    ("rule", "word"),
    [
        ("tools = ['mcp:prod/*']\neffect = 'block'", "was blocked"),
        ("tools = ['mcp:prod{}eu/drop']\neffect = 'block'", "was blocked"),
        ("tools = ['mcp:*/eu{}drop']\neffect = 'block'", "was blocked"),
        ("tools = ['prod{}eu{}drop']\neffect = 'block'", "was blocked"),
        ("tools = ['mcp:dev/*']\neffect = 'block'", ""),
        ("tools = ['mcp:prod/*']\neffect = 'allow'", ""),
    ],
)
@for_each(("host", "joint"), [("copilot", "-"), ("opencode", "_")])
def test_a_server_in_a_joined_name_is_restricted(replied: Answer, host: str, joint: str, rule: str, word: str) -> None:
    """However the name is to be cut; no permission is about such a guess."""
    payload, rule = _named(host, f"prod{joint}eu{joint}drop"), rule.replace("{}", joint)
    reply = replied(host, payload, rules=f"[[rule]]\nid = 'a'\n{rule}", grants=True)
    assert word in reply.out
    assert bool(reply.out) is bool(word)


def test_a_tool_of_the_host_is_of_no_server(replied: Answer) -> None:
    """Its name is known."""
    rules = "[[rule]]\nid = 'a'\ntools = ['mcp:plan/*']\neffect = 'block'"
    assert replied("opencode", _named("opencode", "plan_enter"), rules=rules) == silence("opencode")


@for_each(("host", "joint"), [("copilot", "-"), ("opencode", "_")])
def test_a_server_in_a_joined_name_is_restricted_where_rules_declare_the_tool(
    replied: Answer, host: str, joint: str
) -> None:
    """Only the host's own tools are surely not those of a server."""
    declared, blocked = f"[tool.prod{joint}drop]\nroles.path = 'write_path'", "tools = ['mcp:prod/*']\neffect = 'block'"
    rules = f"{declared}\n[[rule]]\nid = 'a'\n{blocked}"
    assert "was blocked" in replied(host, _named(host, f"prod{joint}drop"), rules=rules).out


@for_each(("host", "joint"), [("copilot", "-"), ("opencode", "_")])
def test_a_call_counts_for_every_reading_of_its_name(replied: Answer, host: str, joint: str) -> None:
    """For budgets, and for labels."""
    rules = (
        "[[rule]]\nid = 'a'\ntools = ['mcp:prod/*']\neffect = 'block'\nbudget = { calls = 1, per = '1h' }\n"
        "[[rule]]\nid = 'b'\ntools = ['mcp:mail/*']\nadds_label = 'web'\nreason = 'x'\n"
        "[[rule]]\nid = 'c'\neffect = 'block'\nwhen.label = 'web'\nwhen.command = 'make *'"
    )
    first, second = (replied(host, _named(host, f"prod{joint}get"), rules=rules) for _ in range(2))
    assert (first, "was blocked" in second.out) == (silence(host), True)
    assert replied(host, command(host, "make x"), rules=rules) == silence(host)
    assert replied(host, _named(host, f"mail{joint}read"), rules=rules) == silence(host)
    assert "was blocked" in replied(host, command(host, "make x"), rules=rules).out


RESOURCES = [
    ("claude-code", "ReadMcpResource", {"server": "fs"}),
    ("codex", "read_mcp_resource", {"server": "fs"}),
    ("gemini", "read_mcp_resource", {}),
    ("cursor", "FetchMcpResource", {"server": "fs"}),
]


@for_each(("host", "tool", "arguments"), RESOURCES)
def test_a_resource_that_is_a_file_is_one(replied: Answer, host: str, tool: str, arguments: dict[str, str]) -> None:
    """Whoever reads it."""
    rules = "[[rule]]\nid = 'a'\neffect = 'confirm'\nwhen.path = '/home/ann/keys/**'"
    for uri, is_asked in (("file:///home/ann/keys/a", True), ("docs://index", False)):
        payload = {**captured(host).payload, "tool_name": tool, "tool_input": {**arguments, "uri": uri}}
        reply = replied(host, payload, rules=rules)
        assert ("No one can be asked here" in reply.out) is is_asked


def test_a_payload_may_begin_with_a_byte_order_mark(replied: Answer, tmp_path: Path) -> None:
    """Some programs write one before UTF-8; what is in another encoding is refused, and says so."""
    text = json.dumps(command("codex", "npm publish"))
    options = Options(record=str(tmp_path / "record.jsonl"))
    with_mark = answer("codex", text.encode("utf-8-sig"), options, ENVIRON)
    assert with_mark == replied("codex", command("codex", "npm publish"))
    assert "deny" in with_mark.out
    for encoding in ("utf-16", "utf-32"):
        with pytest.raises(CallError, match="only UTF-8 is read"):
            answer("codex", text.encode(encoding), options, ENVIRON)
    for data in (
        text.encode("utf-16-le"),
        b'\xff{"a": 1}',
        text.replace("push", "p\xfcsh").encode("latin-1") + b"\xff",
    ):
        with pytest.raises(CallError, match=r"not valid JSON|not UTF-8"):
            answer("codex", data, options, ENVIRON)


@for_each("host", HOSTS)
def test_what_goes_wrong_is_short_and_text(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    """A host may not read what is long, or has half of a surrogate pair, and then let the call run."""

    def fail(*_: object) -> None:
        raise OSError("\udcff" + "x" * 100_000)

    monkeypatch.setattr(answering, "_effect", fail)
    reply = answer(host, json.dumps(command(host, "npm publish")).encode(), Options(), ENVIRON)
    assert max(len(reply.out), len(reply.err)) < 10_000
    assert json.dumps(json.loads(reply.out), ensure_ascii=False).encode()
