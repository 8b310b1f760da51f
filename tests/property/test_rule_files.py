"""A rule file that was damaged is refused, or says what it still says: never something else.

The shipped sets are changed in small ways, and each result is compared with a plain reader that knows only TOML and
wildcards. A change no one can see in the file can therefore never make a policy weaker. The calls it is tried on do one
thing each, without options or links, so that what a pattern means for them is plain as well.
"""

import fnmatch
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import for_each

from permitry.config.load import Origin, RuleSet, load_rules
from permitry.core.action import Access, Action, Actions, Place, Roots, Run, Touch, Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.rule import Request
from permitry.core.spec import ToolSpec
from permitry.errors import ConfigError

Load: TypeAlias = Callable[[bytes], RuleSet | None]


class LoadBoth(Protocol):
    """A function from the text of a user, and of a project, to what both say."""

    def __call__(self, user: str, project: str = ...) -> RuleSet | None:
        """Return None when either is refused."""
        ...


RULES = Path(__file__).resolve().parents[2] / "rules"
TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(RULES.glob("*.toml"))}
DEFAULTS = {"block": 150, "confirm": 160, "allow": 250}
TOOLS = (
    *("read_file", "write_file", "run_shell", "bash", "shell", "git_push", "git_pull", "publish_package", "think"),
    *("update_plan", "send_money", "pay_invoice", "payload_size", "refund_", "delete_email", "git_delete_repo"),
    *("drop_table", "undelete", "permitry_trust", "grant_role", "add_ssh_key", "subtask", "spawn_agent", "unknown"),
    *("mcp:bank/pay_invoice", "mcp:github/delete_file", "mcp:docs/search", "mcp:permitry/approve", "mcp:ci/deploy_x"),
)
HOME, WORK = "/nowhere/me", "/nowhere/me/work"
COMMANDS = (
    *("git push", "git pull", "git push origin main", "Git push", "gitpush", "permitry trust .", "permitry check"),
    *("npm publish", "npm run publish", "gh release create v1", "gh release list", "docker push me/app", "make"),
)
PATHS = (
    *(f"{WORK}/.env", f"{WORK}/a/.ENV.local", f"{WORK}/.env.example", f"{WORK}/src/main.py", f"{HOME}/.ssh/id"),
    *(
        f"{WORK}/.permitry/rules.toml",
        f"{HOME}/.config/permitry/x",
        "/etc/permitry/a/b",
        "/etc/shadow",
        f"{HOME}/.npmrc",
    ),
)
ACTS = (
    *(ToolCall("bash", {"command": command}) for command in COMMANDS),
    *(ToolCall(tool, {"path": path}) for tool in ("read_file", "write_file") for path in PATHS),
)


def _does(call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> Actions:  # noqa: ARG001 -- the protocol's
    """Return the one thing a call does; a command does more than read, but for `git pull`, of all things."""
    done: list[Action] = []
    if command := str(call.arguments.get("command", "")):
        doubt = None if command == "git pull" else "it does more"
        done.append(Run(tuple(map(Word, command.split())), doubt))
    if path := str(call.arguments.get("path", "")):
        done.append(Touch(Access.WRITE, Place(path, (path,), (path,))))
    doubt = None if not done or (isinstance(done[0], Run) and done[0].doubt is None) else "it does more"
    return Actions(tuple(done), roots=Roots((WORK,), (HOME,)), doubt=doubt)


QUESTIONS = [
    *(Request(ToolCall(tool), AuthContext(mode=mode), None, _does) for tool in TOOLS for mode in ("default", "plan")),
    *(Request(call, AuthContext(mode="yolo"), None, _does) for call in ACTS),
]


def _parts(text: str, size: int = 4) -> list[str]:
    """Return a set as files of a few rules each, so that one change does not load all the others."""
    head, *rules = re.split(r"^(?=\[\[rule\]\]$)", text, flags=re.MULTILINE)
    return [head + "".join(rules[at : at + size]) for at in range(0, len(rules), size)]


PARTS = {f"{name}-{number}": part for name, text in TEXTS.items() for number, part in enumerate(_parts(text))}

every_set = for_each("text", TEXTS.values(), ids=TEXTS)
# With the small profile every 23rd place is damaged.
STEP = 1 if settings().max_examples > 100 else 23
every_part = for_each("text", PARTS.values(), ids=PARTS)


@pytest.fixture(scope="session")
def load(tmp_path_factory: pytest.TempPathFactory) -> Load:
    """Return a function that loads a rule file, or returns None when it is refused; nothing else may be raised."""
    path = tmp_path_factory.mktemp("rules") / "rules.toml"

    def loaded(content: bytes) -> RuleSet | None:
        path.write_bytes(content)
        try:
            return load_rules([Origin(str(path))])
        except ConfigError:
            return None

    return loaded


@pytest.fixture(scope="session")
def load_both(tmp_path_factory: pytest.TempPathFactory) -> LoadBoth:
    """Return a function that loads the user's text, and an untrusted project's if there is one, or returns None."""
    folder = tmp_path_factory.mktemp("both")

    def loaded(user: str, project: str = "schema = 1") -> RuleSet | None:
        (folder / "user.toml").write_text(user, encoding="utf-8")
        (folder / "project.toml").write_text(project, encoding="utf-8")
        try:
            return load_rules(
                [Origin(str(folder / "project.toml"), is_trusted=False), Origin(str(folder / "user.toml"))]
            )
        except ConfigError:
            return None

    return loaded


# The plain reader -------------------------------------------------------------------------------------------------


def _tables(text: str, seen: set[str]) -> Iterator[dict[str, Any]]:
    """Yield a file and the shipped sets it extends, each once, as TOML says them."""
    data = tomllib.loads(text)
    yield data
    for name in {entry.removeprefix("permitry:") for entry in data.get("extends", [])} - seen:
        seen.add(name)
        yield from _tables(TEXTS[name], seen)


def _says(rule: dict[str, Any], request: Request) -> bool:
    """Return whether a rule, as it is written, speaks about a request."""
    selectors = {"@reads": request.is_read_only, "@writes": not request.is_read_only}
    when, unless, restricts = rule.get("when", {}), rule.get("unless", {}), rule["effect"] != "allow"
    return (
        request.context.mode in _list(when.get("mode", request.context.mode))
        and any(
            selectors[tool] if tool in selectors else fnmatch.fnmatchcase(request.call.tool, tool)
            for tool in rule.get("tools", ["*"])
        )
        and all(_acts(kind, when[kind], request, over_approximate=restricts) for kind in _KINDS if kind in when)
        and not (
            unless
            and all(_acts(kind, unless[kind], request, over_approximate=not restricts) for kind in _KINDS & {*unless})
        )
    )


def _list(value: Any) -> list[Any]:  # noqa: ANN401 -- what TOML holds
    return [value] if isinstance(value, str) else value


def _acts(kind: str, patterns: Any, request: Request, *, over_approximate: bool) -> bool:  # noqa: ANN401 -- what TOML holds
    """Return whether a pattern fits what a call does; generously, in any case and wherever a program is."""
    done = str(request.call.arguments.get(kind, ""))
    return bool(done) and any(_KINDS_FIT[kind](pattern, done, over_approximate) for pattern in _list(patterns))


def _fits_command(pattern: str, command: str, over_approximate: bool) -> bool:  # noqa: FBT001 -- one of a pair of readers
    tokens, words = pattern.split(), command.split()
    if over_approximate:
        tokens[0], words[0] = tokens[0].rpartition("/")[2].lower(), words[0].lower()
    if tokens[-1] in ("*", "**"):
        tokens, words = tokens[:-1], words[: len(tokens) - 1]
    return len(tokens) == len(words) and all(map(_fits_word, tokens, words))


def _fits_word(token: str, word: str) -> bool:
    before, brace, rest = token.partition("{")
    inside, _, behind = rest.partition("}")
    return any(fnmatch.fnmatchcase(word, before + each + behind) for each in (inside.split(",") if brace else [""]))


def _fits_path(pattern: str, path: str, over_approximate: bool) -> bool:  # noqa: FBT001 -- one of a pair of readers
    head, _, rest = pattern.partition("/")
    whole = {"": f"/{rest}", "~": f"{HOME}/{rest}"}.get(head, f"{WORK}/{pattern}")
    if over_approximate:
        whole, path = whole.lower(), path.lower()
    return _fits_names([name for name in whole.split("/") if name not in ("", ".")], path.split("/")[1:])


def _fits_names(patterns: list[str], names: list[str]) -> bool:
    if not patterns or not names:
        return not names and all(pattern == "**" for pattern in patterns)
    if patterns[0] == "**":
        return _fits_names(patterns[1:], names) or _fits_names(patterns, names[1:])
    return fnmatch.fnmatchcase(names[0], patterns[0]) and _fits_names(patterns[1:], names[1:])


_KINDS_FIT: dict[str, Callable[[str, str, bool], bool]] = {"command": _fits_command, "path": _fits_path}
_KINDS = frozenset(_KINDS_FIT)
LEAST_OF_PERMISSIONS = 200


def _check(text: str, loaded: RuleSet) -> None:
    """Check that rules and templates are those of the text, and that no restriction is lost in the verdict."""
    tables = list(_tables(text, set()))
    rules = [rule for table in tables for rule in table.get("rule", [])]
    templates = {name: value for table in tables for name, value in table.get("template", {}).items()}
    assert {name: list(template.allowed_tools) for name, template in loaded.templates.items()} == {
        name: value.get("allow_tools", []) for name, value in templates.items()
    }
    written = {(rule["id"], rule["effect"], rule.get("priority", DEFAULTS[rule["effect"]])) for rule in rules}
    assert {(rule.id, rule.effect.value, rule.priority()) for rule in loaded.rules} == written
    policy = attrs.evolve(loaded.policy(), reader=_does)
    for request in QUESTIONS:
        spoken = {rule["id"]: Verdict(rule["effect"]) for rule in rules if _says(rule, request)}
        assert {rule.id for rule in loaded.rules if rule.matches(request)} == set(spoken)
        restrictions = {rule.id for rule in loaded.rules if rule.priority() < LEAST_OF_PERMISSIONS}
        strictest = max((verdict.strictness for rule, verdict in spoken.items() if rule in restrictions), default=0)
        assert policy.decide(request.call, request.context).verdict.strictness >= strictest


# Small changes ----------------------------------------------------------------------------------------------------


@st.composite
def _in_bytes(draw: st.DrawFn, content: bytes) -> bytes:
    """Delete, replace or insert a byte, swap two, or cut the file off."""
    at = draw(st.integers(0, len(content) - 2))
    byte = draw(st.one_of(st.sampled_from(b"\"'[]{}=,.#*?@\\\n ax"), st.integers(0, 255)))
    before, one, two, after = content[:at], content[at : at + 1], content[at + 1 : at + 2], content[at + 2 :]
    new = bytes([byte])
    return draw(
        st.sampled_from(
            [
                before + two + after,
                before + new + two + after,
                before + new + one + two + after,
                before + two + one + after,
                before,
            ]
        )
    )


@st.composite
def _in_lines(draw: st.DrawFn, text: str) -> str:
    """Delete a line, duplicate it, put it elsewhere, or replace its effect or one of its wildcards."""
    lines = text.split("\n")
    at = draw(st.integers(0, len(lines) - 1))
    line = lines.pop(at)
    other = draw(st.sampled_from(["block", "confirm", "allow"]))
    new = draw(
        st.sampled_from(
            [[], [line, line], [re.sub(r"block|confirm|allow", other, line)], [line.replace("*", "", 1)], ["", line]]
        )
    )
    to = draw(st.sampled_from([at, at, at, draw(st.integers(0, len(lines)))]))
    return "\n".join([*lines[:to], *new, *lines[to:]])


_texts = st.sampled_from(list(PARTS.values()))
_damaged = st.one_of(
    _texts.flatmap(_in_lines),
    _texts.flatmap(_in_lines).flatmap(_in_lines),
    _texts.flatmap(lambda text: _in_bytes(text.encode())).map(lambda content: content.decode(errors="replace")),
)


def _keys(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each key, and each word of a header that is not a name someone chose, begins and ends."""
    for pattern in (r"^\[*([a-z_]+)", r"^when\.([a-z_]+)", r"[{,] ([a-z_]+)(?= = \")"):
        yield from (match.span(1) for match in re.finditer(pattern, text, re.MULTILINE))


_KEYS = [(text, *span) for text in PARTS.values() for span in _keys(text)]
_RENAMES: list[Callable[[str], str]] = [
    lambda key: key[:-1],
    lambda key: f"{key}x",
    lambda key: f"{key}_{key}",
    str.upper,
    lambda key: f'"{key} "',
    lambda key: f"x.{key}",
    lambda key: f"{key}.x",
]

_names = st.sampled_from(["one", "two", "three", "four"])
_templates = st.dictionaries(_names, st.lists(_names, unique=True, max_size=2), max_size=3)


def _file_of(templates: dict[str, list[str]]) -> str:
    """Return a file of templates, each of which allows a tool of its own name."""
    tables = [
        f"[template.{name}]\nextends = {parents}\nallow_tools = ['{name}']" for name, parents in templates.items()
    ]
    return "\n".join(["schema = 1", *tables])


# The laws ---------------------------------------------------------------------------------------------------------


@every_set
def test_the_plain_reader_agrees_with_the_loader_on_what_is_shipped(load: Load, text: str) -> None:
    """Without this, the laws below could hold because everything is refused."""
    loaded = load(text.encode())
    assert loaded is not None
    _check(text, loaded)


@given(text=_damaged)
def test_a_damaged_file_is_refused_or_says_what_it_still_says(load: Load, text: str) -> None:
    """Every rule and template that loads is one that can be read in the file, and every one in the file is loaded."""
    loaded = load(text.encode())
    if loaded is not None:
        _check(text, loaded)


@given(content=_texts.flatmap(lambda text: _in_bytes(text.encode())))
def test_a_changed_byte_raises_nothing_but_a_config_error(load: Load, content: bytes) -> None:
    """Whatever the byte, there is a rule set or a list of problems."""
    loaded = load(content)
    assert loaded is None or tomllib.loads(content.decode())["schema"] == 1


@given(content=st.binary(max_size=40))
def test_a_file_of_any_bytes_raises_nothing_but_a_config_error(load: Load, content: bytes) -> None:
    """Rubbish after a proper header is refused or harmless."""
    for loaded in (load(content), load(b"schema = 1\n" + content)):
        assert loaded is None or loaded.rules == ()


@given(text=_damaged)
def test_every_rule_that_loads_points_at_its_own_header(load: Load, text: str) -> None:
    """The line of a rule is a `[[rule]]`, and the first rule from there on is the rule itself."""
    loaded = load(text.encode())
    for rule in () if loaded is None else loaded.rules:
        name, _, line = (rule.source or "").rpartition(":")
        lines = TEXTS.get(name.removeprefix("permitry:"), text).split("\n")[int(line) - 1 :]
        assert lines[0].strip().startswith("[[")
        assert tomllib.loads("\n".join(lines))["rule"][0]["id"] == rule.id


@given(key=st.sampled_from(_KEYS), rename=st.sampled_from(_RENAMES))
def test_a_renamed_key_is_never_ignored(load: Load, key: tuple[str, int, int], rename: Callable[[str], str]) -> None:
    """A key the loader does not know fails the load, at every level and in every file."""
    text, start, end = key
    assert load(f"{text[:start]}{rename(text[start:end])}{text[end:]}".encode()) is None


@given(user=_templates, project=_templates)
def test_an_untrusted_file_changes_nothing_that_is_trusted(
    load_both: LoadBoth, user: dict[str, list[str]], project: dict[str, list[str]]
) -> None:
    """Whatever templates a project defines, those of the user are refused, or exactly what they are alone."""
    alone, together = load_both(_file_of(user)), load_both(_file_of(user), _file_of(project))
    assert together is None or (alone is not None and together.templates == alone.templates)


@every_part
def test_an_effect_with_two_letters_swapped_is_never_another_effect(load: Load, text: str) -> None:
    """No slip of the pen in an effect goes by."""
    count = 0
    for match in [*re.finditer(r'effect = "([a-z]+)"', text)][::STEP]:
        for at in range(match.start(1), match.end(1) - 1):
            swapped = f"{text[:at]}{text[at + 1]}{text[at]}{text[at + 2 :]}"
            if swapped != text:
                count += 1
                assert load(swapped.encode()) is None
    assert count


@every_part
def test_a_line_that_is_twice_is_never_ignored(load: Load, text: str) -> None:
    """A key, a table or a rule that is repeated fails the load; an example that is repeated changes nothing."""
    lines = text.split("\n")
    whole = load(text.encode())
    for at, line in enumerate(lines):
        if at % STEP == 0 and line and not line.startswith("#"):
            loaded = load("\n".join([*lines[: at + 1], *lines[at:]]).encode())
            is_example = line.startswith("  ")
            assert loaded is None or (is_example and _effects(loaded) == _effects(whole))


_SAID = re.compile(
    r"^(?:\[\[rule\]\]|(?:tools|when\.\w+) = \[\n(?:  .*\n)+\]|(?:schema|id|effect|tools|when\.\w+) = .*[^\[])\n",
    re.MULTILINE,
)


@every_part
def test_what_says_whom_a_rule_is_about_cannot_be_left_out(load: Load, text: str) -> None:
    """Without its header, id, effect, tools or condition a rule fails the load; so does a file without `schema`.

    A restriction that has both tools and a condition, or several conditions, may lose one of them: then it binds more
    than before.
    """
    places = [match.span() for match in _SAID.finditer(text)]
    assert len(places) > 3 * text.count("\n[[rule]]\n")
    for start, end in places[::STEP]:
        left = text[:start] + text[end:]
        loaded = load(left.encode())
        assert loaded is None or _has_lost_half_a_scope(text, left)


def _effects(rules: RuleSet | None) -> list[tuple[object, ...]]:
    """Return what rules say, whatever the lines they are in; an exception that is written twice says it once."""
    found = () if rules is None else rules.rules
    scopes = [attrs.evolve(rule.scope, unless=tuple(dict.fromkeys(rule.scope.unless))) for rule in found]
    return [(rule.id, rule.effect, rule.priority_number, scope) for rule, scope in zip(found, scopes, strict=True)]


def _has_lost_half_a_scope(text: str, left: str) -> bool:
    pairs = zip(tomllib.loads(text)["rule"], tomllib.loads(left)["rule"], strict=True)
    [(before, after)] = [(before, after) for before, after in pairs if before != after]
    if after["effect"] == "allow":
        return False
    scope = {"tools", "when"}
    has_fewer_conditions = bool(after.get("when")) and set(after["when"]) < set(before["when"])
    return has_fewer_conditions or (scope <= set(before) and len(scope & set(after)) == 1)
