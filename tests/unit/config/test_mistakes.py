"""Every mistake a rule file can hold: its message, its place, its caret and its hint, in one table."""

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest
from tests.tables import for_each

from permitry.config.catalogue import list_shipped
from permitry.config.load import Origin, load_rules
from permitry.errors import ConfigError, Problem


class Mistake(NamedTuple):
    """One wrong `rules.toml`, perhaps with files next to it, and the one problem that must be reported.

    `token` is what the carets underline: a line feed is the end of the line, and empty means that no line is shown.
    `path` is the file to load when it is not `rules.toml`, and `where` the file the problem is in when it is neither.
    """

    name: str
    text: str | bytes
    line: int
    column: int
    token: str
    message: str
    hint: str
    beside: Mapping[str, str] = MappingProxyType({})
    path: str = "rules.toml"
    where: str = ""


BLOCK, ALLOW, TOOLS = 'effect = "block"', 'effect = "allow"', 'tools = ["x"]'
A_LINE = "a line is `key = value`, a `[table]`, or a `[[rule]]`"
CLOSE = "close a string on the line that opened it; write other characters as `\\uXXXX`"
FITS_NO_PHASE = "restrictions have 100 to 199; leave the priority out for the default"
EFFECTS = "choose `allow`, `confirm` or `block`"
IN_RANGE = "leave it out to get the effect's default"
AN_EXAMPLE = "an example is a tool name, or a table with `tool` and conditions"
BRACKETS = "write `[[rule]]` with two brackets, once for each rule"
NO_TOOL = "write `mcp:server/tool`, or `mcp:server/*` for all"
KNOWN_SETS = f"known: {', '.join(list_shipped())}"
NAME_IT = "write a name, or take it out"
ONCE = "a key or table may stand only once; each rule begins with its own `[[rule]]`"
NAME_ONLY = "permitry judges by the name of the tool; `*` and `?` stand for characters of it"
NO_SUCH_CHARACTERS = "patterns know only `*` and `?`; list the names"


def _top(*lines: str) -> str:
    """Return a rule file whose line 2 is the first of `lines`."""
    return "\n".join(["schema = 1", *lines, ""])


def _rule(*lines: str) -> str:
    """Return a rule file with one rule, whose line 5 is the first of `lines`."""
    return _top("", "[[rule]]", 'id = "r"', *lines)


def _block(*lines: str) -> str:
    """Return a rule file with a rule that blocks `x`, whose line 7 is the first of `lines`."""
    return _rule(BLOCK, TOOLS, *lines)


# A row is easier to check with the text above the expected message.
# fmt: off
MISTAKES = [
    # The file itself.
    Mistake("file-missing", "", 0, 0, "", "there is no file `gone/q`", "check the path", path="gone/q"),
    Mistake("file-near", "", 0, 0, "", "there is no file `rule.toml`", "did you mean `rules.toml`?", path="rule.toml"),
    Mistake("file-shipped", "", 0, 0, "", "there is no file `base`",
            "did you mean the shipped set `permitry:base`?", path="base"),
    Mistake("file-folder", "", 0, 0, "", "`folder` is a folder", "name a rule file in it", path="folder"),
    Mistake("file-fifo", "", 0, 0, "", "`pipe` is not a regular file", "name a rule file", path="pipe"),
    Mistake("set-unknown", "", 0, 0, "", "there is no shipped rule set `permitry:bsae`",
            "did you mean `permitry:base`?", path="permitry:bsae"),
    Mistake("byte-order-mark", b"\xef\xbb\xbfschema = 1\n", 1, 1, "",
            "the file begins with a byte order mark", "save it as UTF-8 without one"),
    Mistake("not-utf-8", 'schema = 1\ndescription = "é"\n'.encode("latin-1"), 2, 16, "",
            "byte 0xe9 is not UTF-8", "save the file as UTF-8"),
    Mistake("utf-16", "schema = 1\n".encode("utf-16"), 1, 1, "", "byte 0xff is not UTF-8", "save the file as UTF-8"),
    # TOML.
    Mistake("string-unclosed", _top('description = "abc'), 2, 19, "\n",
            r"not valid TOML: illegal character '\n'", CLOSE),
    Mistake("multi-line-string-unclosed", _top('description = """abc', "d").rstrip(), 3, 2, "\n",
            "not valid TOML: a text has no end", "close it with the quote that opened it"),
    Mistake("literal-string-unclosed", _top("description = '''abc", "d").rstrip(), 3, 2, "\n",
            "not valid TOML: a text in three single quotes has no end", "close it with three single quotes"),
    Mistake("value-missing", _top("description ="), 2, 14, "\n",
            "not valid TOML: invalid value", "put text in quotes, and close every list and table"),
    Mistake("value-unquoted", _rule("effect = allow", TOOLS), 5, 10, "a",
            "not valid TOML: invalid value", "put text in quotes, and close every list and table"),
    Mistake("key-twice", _rule(BLOCK, 'effect = "allow"'), 6, 1, "effect",
            "not valid TOML: `effect` is defined twice", ONCE),
    Mistake("table-twice", _top("[template.a]", "[template.a]"), 3, 1, "[template.a]",
            "not valid TOML: `[template.a]` is opened twice", ONCE),
    Mistake("table-added-to", _block('when = { mode = "a" }', 'when.agent = "b"'), 8, 1, "when.agent",
            "not valid TOML: `when.agent` adds to a table that is already complete", ONCE),
    Mistake("header-empty", _top("[]"), 2, 2, "]", "not valid TOML: invalid initial character for a key part",
            "a key is a word, a quoted text, or both joined by dots"),
    Mistake("equals-missing", _top("description: abc"), 2, 12, ":",
            "not valid TOML: expected '=' after a key in a key/value pair", A_LINE),
    Mistake("comma-missing", _rule(BLOCK, 'tools = ["x" "y"]'), 6, 14, '"', "not valid TOML: unclosed array", A_LINE),
    Mistake("inline-table-unclosed", _rule('when = { mode = "plan"'), 5, 23, "\n",
            "not valid TOML: unclosed inline table", A_LINE),
    Mistake("two-values", _top("description = 'it's'"), 2, 19, "s",
            "not valid TOML: expected newline or end of document after a statement", A_LINE),
    Mistake("no-statement", '{"schema": 1}\n', 1, 1, "{", "not valid TOML: invalid statement", A_LINE),
    Mistake("header-unclosed", _top("[template.a"), 2, 12, "\n",
            "not valid TOML: expected ']' at the end of a table declaration", A_LINE),
    Mistake("rule-header-unclosed", _top("[[rule]"), 2, 7, "]",
            "not valid TOML: expected ']]' at the end of an array declaration", A_LINE),
    # `schema`.
    Mistake("schema-missing", 'description = "x"\n', 1, 1, "d",
            "missing key `schema`", "begin the file with `schema = 1`"),
    Mistake("schema-unknown", "schema = 2\n", 1, 10, "2", "`schema` is 2; this version reads 1", "write `schema = 1`"),
    Mistake("schema-huge", "schema = 99_999_999\n", 1, 10, "99_999_999",
            "`schema` is too large; this version reads 1", "write `schema = 1`"),
    Mistake("schema-true", "schema = true\n", 1, 10, "true", "`schema` must be the number 1", "write `schema = 1`"),
    Mistake("schema-fraction", "schema = 1.0\n", 1, 10, "1.0", "`schema` must be the number 1", "write `schema = 1`"),
    Mistake("schema-string", 'schema = "1"\n', 1, 10, '"1"', "`schema` must be the number 1", "write `schema = 1`"),
    # `[policy]`.
    Mistake("policy-key", _top("[policy]", 'unmatch = "block"'), 3, 1, "unmatch", "unknown key `unmatch`",
            "did you mean `unmatched`?"),
    Mistake("policy-unmatched-allow", _top("[policy]", 'unmatched = "allow"'), 3, 13, '"allow"',
            "unknown word `allow` for `unmatched`", "choose `confirm` or `block`"),
    Mistake("policy-word", _top('policy = "block"'), 2, 10, '"block"', "`policy` must be a table, not a string",
            "write `[policy]`"),
    # `extends`.
    Mistake("extends-string", _top('extends = "permitry:base"'), 2, 11, '"permitry:base"',
            "`extends` must be a list, not a string", 'write `extends = ["permitry:base"]`'),
    Mistake("extends-unknown-set", _top('extends = ["permitry:plam"]'), 2, 12, '"permitry:plam"',
            "there is no shipped rule set `permitry:plam`", "did you mean `permitry:plan`?"),
    Mistake("extends-past-the-sets", _top('extends = ["permitry:../rules/base"]'), 2, 12, '"permitry:../rules/base"',
            "there is no shipped rule set `permitry:../rules/base`",
            KNOWN_SETS),
    Mistake("extends-far-set", _top('extends = ["permitry:zzzz"]'), 2, 12, '"permitry:zzzz"',
            "there is no shipped rule set `permitry:zzzz`",
            KNOWN_SETS),
    Mistake("extends-blank", _top('extends = ["permitry:base", " "]'), 2, 29, '" "', "the word is empty", NAME_IT),
    Mistake("extends-element", _top("extends = [3]"), 2, 12, "3",
            "`extends` holds a number; it must be a list of strings", "put it in quotes"),
    Mistake("extends-repeated", _top('extends = ["permitry:base", "permitry:base"]'), 2, 11,
            '["permitry:base", "permitry:base"]', "`permitry:base` is listed twice", "remove one of the two"),
    Mistake("extends-missing", _top('extends = ["zzz/q"]'), 2, 12, '"zzz/q"',
            "there is no file `zzz/q`", "check the path"),
    Mistake("extends-shipped", _top('extends = ["read-only"]'), 2, 12, '"read-only"',
            "there is no file `read-only`", "did you mean the shipped set `permitry:read-only`?"),
    Mistake("extends-slash", _top('extends = ["permitry/base"]'), 2, 12, '"permitry/base"',
            "there is no file `permitry/base`", "did you mean the shipped set `permitry:base`?"),
    Mistake("extends-near", _top('extends = ["comon.toml"]'), 2, 12, '"comon.toml"',
            "there is no file `comon.toml`", "did you mean `common.toml`?", {"common.toml": ""}),
    Mistake("extends-absolute", _top('extends = ["/etc/x.toml"]'), 2, 12, '"/etc/x.toml"',
            "`/etc/x.toml` is an absolute path", "name the file relative to this one"),
    Mistake("extends-folder", _top('extends = ["./folder"]'), 2, 12, '"./folder"',
            "`./folder` is a folder", "name a rule file in it"),
    Mistake("extends-fifo", _top('extends = ["./pipe"]'), 2, 12, '"./pipe"',
            "`./pipe` is not a regular file", "name a rule file"),
    Mistake("extends-itself", _top('extends = ["rules.toml"]'), 2, 12, '"rules.toml"',
            "rule files extend each other in a circle: rules.toml -> rules.toml", "cut one of the links"),
    Mistake("extends-circle", _top('extends = ["b.toml"]'), 2, 12, '"rules.toml"',
            "rule files extend each other in a circle: rules.toml -> b.toml -> c.toml -> rules.toml",
            "cut one of the links", where="c.toml",
            beside={"b.toml": _top('extends = ["c.toml"]'), "c.toml": _top('extends = ["rules.toml"]')}),
    # Unknown keys.
    Mistake("top-key-near", _top("[[rules]]"), 2, 1, "[[rules]]", "unknown key `rules`", "did you mean `rule`?"),
    Mistake("top-key-far", _top(TOOLS), 2, 1, "tools",
            "unknown key `tools`", "did you mean `tool`?"),
    Mistake("top-table-near", _top("", "[templates.x]"), 3, 1, "[templates.x]",
            "unknown key `templates`", "did you mean `template`?"),
    Mistake("tool-key-near", _top("", "[tool.x]", "trait = []"), 4, 1, "trait", "unknown key `trait`",
            "did you mean `traits`?"),
    Mistake("when-or", _block("when.or = []"), 7, 6, "or", "unknown key `or`", "the patterns of one key are "
            'alternatives: `path = ["a", "b"]`; else write one rule for each'),
    Mistake("when-all", _block("when.all = []"), 7, 6, "all", "unknown key `all`",
            "all keys of `when` must hold: write them side by side"),
    Mistake("when-not", _block("when.not = {}"), 7, 6, "not", "unknown key `not`",
            "write what is excepted under `unless`, next to `when`"),
    Mistake("when-path-sign", _block('when.path = ["a/**", "!a/b"]'), 7, 22, '"!a/b"',
            "the pattern `!a/b` begins with `!`, which excepts nothing", 'write `unless.path = "a/b"`'),
    Mistake("template-sign", _top("[template.a]", 'allow_tools = ["!x"]'), 3, 16, '"!x"',
            "the pattern `!x` begins with `!`, which excepts nothing", 'write `unless.tools = "x"`'),
    Mistake("role-path", _top("[tool.x]", 'roles.file = "path"'), 3, 1, "roles",
            "unknown role `path` of the argument `file`",
            "say what happens to it: `read_path`, `write_path` or `delete_path`"),
    Mistake("role-host", _top("[tool.x]", 'roles.file = "host"'), 3, 1, "roles",
            "unknown role `host` of the argument `file`", "did you mean `url`?"),
    Mistake("program-number", _top("program.x = 1"), 2, 13, "1", "`x` must be a table, not a number",
            "write `[program.x]`"),
    Mistake("program-key", _top("[program.x]", 'operand = "read"'), 3, 1, "operand", "unknown key `operand`",
            "did you mean `operands`?"),
    Mistake("program-operands", _top("[program.x]", 'operands = "red*"'), 3, 12, '"red*"',
            "`red` is not what an operand can be", "did you mean `read`?"),
    Mistake("program-options", _top("[program.x]", 'options = "v"'), 3, 11, '"v"', "`v` is not an option",
            "write `-a` or `--name`, and `-a=` or `--name=` where it takes a value"),
    Mistake("program-sub-command", _top("[program.x.commands.ls]", "does = 1"), 3, 8, "1",
            "`does` must be a string, not a number", "put it in quotes"),
    Mistake("program-shell-word", _top("[program.eval]", 'operands = "text"'), 2, 1, "[program.eval]",
            "`eval` is a word of the shell", "records are for programs"),
    Mistake("program-example", _top("[program.x]", 'operands = "read"', 'examples."x a" = "write a"'), 4, 18,
            '"write a"', "the example `x a` does something else: only reads, read a",
            "correct the record, or the example"),
    Mistake("program-nothing", _top("[program.x]", "undoable = true"), 2, 1, "[program.x]",
            "the record does not say what the program does",
            'say what it is called with, such as `operands = "read*"`, or what it does besides: `does = "writes"`'),
    Mistake("tool-number", _top("tool.x = 1"), 2, 10, "1", "`x` must be a table, not a number", "write `[tool.x]`"),
    Mistake("template-key-near", _top("[template.a]", "allow_tool = []"), 3, 1, "allow_tool",
            "unknown key `allow_tool`", "did you mean `allow_tools`?"),
    Mistake("template-key-far", _top("[template.a]", "zz = 1"), 3, 1, "zz",
            "unknown key `zz`", "known: allow_tools, description, exclusive, extends"),
    Mistake("rule-key-near", _block('efect = "block"'), 7, 1, "efect", "unknown key `efect`", "did you mean `effect`?"),
    Mistake("rule-key-singular", _rule(BLOCK, 'tool = ["x"]'), 6, 1, "tool",
            "unknown key `tool`", "did you mean `tools`?"),
    Mistake("rule-key-far", _block("zzz = 1"), 7, 1, "zzz", "unknown key `zzz`",
            "known: adds_label, budget, effect, enforce, id, keep, match, message, no_match, priority, reason, "
            "runs_any, tools, unless, when"),
    Mistake("rule-enforce-true", _block("enforce = true"), 7, 11, "true", "`enforce` can only be `false`",
            "take it out"),
    Mistake("rule-enforce-text", _block('enforce = "no"'), 7, 11, '"no"', "`enforce` can only be `false`",
            "take it out"),
    Mistake("policy-enforce-true", _top("[policy]", "enforce = true"), 3, 11, "true", "`enforce` can only be `false`",
            "take it out"),
    Mistake("rule-key-condition", _block('mode = ["x"]'), 7, 1, "mode", "unknown key `mode`", "write `when.mode`"),
    Mistake("when-key-near", _block('when.mod = "x"'), 7, 6, "mod", "unknown key `mod`", "did you mean `mode`?"),
    Mistake("when-key-far", _block('when.xyz = "x"'), 7, 6, "xyz", "unknown key `xyz`",
            "known: access, agent, args, attended, command, digest, host, label, looks, mode, path, prompt, repaired, "
            "repeat, server, template, text, tool_digest, tools, traits"),
    Mistake("renamed-taint", _block('taint = "web"'), 7, 1, "taint", "unknown key `taint`",
            "permitry says `adds_label`"),
    Mistake("peers-deny", _top('deny = ["Bash"]'), 2, 1, "deny", "unknown key `deny`",
            'write a rule with `effect = "block"` for each'),
    Mistake("peers-ask", _top('ask = ["Bash"]'), 2, 1, "ask", "unknown key `ask`",
            'write a rule with `effect = "confirm"` for each'),
    Mistake("peers-tool-name", _block('toolName = "x"'), 7, 1, "toolName", "unknown key `toolName`",
            'write `tools = ["NAME"]`'),
    Mistake("peers-decision", _rule(BLOCK, TOOLS, 'decision = "deny"'), 7, 1, "decision", "unknown key `decision`",
            "permitry says `effect`"),
    Mistake("peers-command-prefix", _block('commandPrefix = "git"'), 7, 1, "commandPrefix",
            "unknown key `commandPrefix`", 'write `when.command = "PREFIX *"`'),
    Mistake("peers-bash", _rule(ALLOW, 'tools = ["Bash(npm test:*)"]'), 6, 10, '"Bash(npm test:*)"',
            "`Bash(npm test:*)` is another program's way to name calls",
            'write `when.command = "npm test *"` with `tools = ["@shell"]`'),
    Mistake("peers-read", _rule(BLOCK, 'tools = ["Read(./.env)"]'), 6, 10, '"Read(./.env)"',
            "`Read(./.env)` is another program's way to name calls", 'write `when.path = "./.env"`'),
    Mistake("peers-fetch", _rule(BLOCK, 'tools = ["WebFetch(domain:example.com)"]'), 6, 10,
            '"WebFetch(domain:example.com)"', "`WebFetch(domain:example.com)` is another program's way to name calls",
            'write `when.host = "example.com"`'),
    Mistake("peers-other-call", _rule(BLOCK, 'tools = ["Task(x)"]'), 6, 10, '"Task(x)"',
            "`Task(x)` is another program's way to name calls",
            'write `tools = ["Task"]`, and what follows as a condition, such as `when.args.NAME`'),
    Mistake("text-of-a-permission", _rule(ALLOW, TOOLS, 'when.text = { contains = "x" }'), 7, 13,
            '{ contains = "x" }', "a text that lets a call run could be written into any argument",
            "name the argument: `when.args.NAME`; a text anywhere only restricts, as in `unless.text`"),
    Mistake("text-lifts", _block('unless.text = { regex = "x" }'), 7, 15,
            '{ regex = "x" }', "a text that lets a call run could be written into any argument",
            "name the argument: `unless.args.NAME`; a text anywhere only restricts, as in `when.text`"),
    Mistake("text-string", _block('when.text = "x"'), 7, 13, '"x"', "`text` must be a table, not a string",
            'write `when.text = { contains = "…" }`'),
    Mistake("text-operator", _block('when.text = { prefix = "x" }'), 7, 13, '{ prefix = "x" }',
            "unknown operator `prefix`", "known: contains, regex"),
    Mistake("unless-alternative", _block("[[rule.unless]]", 'mode = "x"', "[[rule.unless]]", 'modus = "x"'), 10, 1,
            "modus", "unknown key `modus`", "did you mean `mode`?"),
    Mistake("unless-alternative-access", _block("[[rule.unless]]", 'mode = "x"', "[[rule.unless]]", 'access = "read"'),
            10, 10, '"read"', "`access` without `path`", 'say of which paths: `path = "/**"` is all of them'),
    Mistake("looks-alone", _rule(ALLOW, TOOLS, "when.looks = true"), 7, 14, "true", "`looks` without `command`",
            'say of which commands: `command = "*"` is all of them'),
    Mistake("looks-not", _rule(ALLOW, 'when = { command = "*", looks = false }'), 6, 33, "false",
            "`looks = false` is not a condition", "leave it out"),
    Mistake("looks-of-a-restriction", _block('when = { command = "*", looks = true }'), 7, 25, "looks",
            "what only looks is permitted, or left out of a restriction; nothing else follows from it",
            "use `unless.looks` in this rule"),
    Mistake("unless-alternatives-none", _block("unless = []"), 7, 1, "unless", "`unless` is empty",
            "name a condition, or leave it out"),
    Mistake("unless-alternative-empty", _block('unless = [{ mode = "x" }, {}]'), 7, 27, "{}", "`unless` is empty",
            "name a condition, or leave it out"),
    Mistake("unless-alternative-label", _block("[[rule.unless]]", 'mode = "x"', "[[rule.unless]]", 'label = "x"'),
            10, 9, '"x"', "a label that lets a call run could be set by any call",
            "labels only restrict: use `when.label` in this rule"),
    Mistake("when-tools", _block('when.tools = ["y"]'), 7, 14, '["y"]', "`when.tools` is not a condition",
            "write `tools = [...]` in the rule itself"),
    Mistake("unless-tools-trait", _block('unless.tools = ["@read"]'), 7, 16, '["@read"]',
            "unknown trait selector `@read`", "did you mean `@reads`?"),
    Mistake("unless-tools-name", _block('unless.tools = ["y", "mcp__a__b"]'), 7, 16, '["y", "mcp__a__b"]',
            "`mcp__a__b` is another program's way to name a tool", "write `mcp:a/b`"),
    Mistake("args-operator", _block("when.args.limit = { lte = 3 }"), 7, 19, "{ lte = 3 }",
            "`args.limit`: unknown operator `lte`", "did you mean `le`?"),
    Mistake("example-key-near", _block('match = [{ tool = "x", agnet = "y" }]'), 7, 24, "agnet",
            "unknown key `agnet`", "did you mean `agent`?"),
    # Shapes.
    Mistake("rule-one-bracket", _top("[rule]", 'id = "x"'), 2, 1, "[rule]",
            "`rule` must be a list of tables, not a table", BRACKETS),
    Mistake("rule-sub-table-first", _top("", "[rule.when]"), 3, 1, "[rule.when]",
            "`rule` must be a list of tables, not a table", BRACKETS),
    Mistake("rule-element", _top('rule = ["x"]'), 2, 9, '"x"',
            "`rule` holds a string; it must be a list of tables", BRACKETS),
    Mistake("rule-string", _top('rule = "x"'), 2, 8, '"x"',
            "`rule` must be a list of tables, not a string", BRACKETS),
    Mistake("template-two-brackets", _top("[[template]]"), 2, 1, "[[template]]",
            "`template` must be a table, not a list", "write `[template.NAME]`"),
    Mistake("template-number", _top("template = 3"), 2, 12, "3",
            "`template` must be a table, not a number", "write `[template.NAME]`"),
    Mistake("template-value", _top("template.x = 3"), 2, 14, "3",
            "`x` must be a table, not a number", "write `[template.x]`"),
    Mistake("template-list", _top("[[template.x]]"), 2, 1, "[[template.x]]",
            "`x` must be a table, not a list", "write `[template.x]`"),
    Mistake("when-string", _block('when = "plan"'), 7, 8, '"plan"',
            "`when` must be a table, not a string", 'write `when.mode = "plan"`'),
    Mistake("mode-number", _block("when.mode = 3"), 7, 13, "3",
            "`mode` must be a string or a list of strings, not a number", "put it in quotes"),
    Mistake("mode-element", _block('when.mode = ["plan", 3]'), 7, 22, "3",
            "`mode` holds a number; it must be a list of strings", "put it in quotes"),
    Mistake("text-number", _block("reason = 3"), 7, 10, "3", "`reason` must be a string, not a number",
            "put it in quotes"),
    Mistake("id-number", _top("[[rule]]", "id = 3", BLOCK, TOOLS), 3, 6, "3", "`id` must be a string, not a number",
            "put it in quotes"),
    Mistake("tools-element", _rule(BLOCK, "tools = [3]"), 6, 10, "3",
            "`tools` holds a number; it must be a list of strings", "put it in quotes"),
    Mistake("match-element", _block("match = [3]"), 7, 10, "3",
            "`match` holds a number; it must be a list of tables", AN_EXAMPLE),
    Mistake("tools-string", _rule(BLOCK, 'tools = "x"'), 6, 9, '"x"',
            "`tools` must be a list, not a string", 'write `tools = ["x"]`'),
    Mistake("allow-tools-string", _top("[template.a]", 'allow_tools = "x"'), 3, 15, '"x"',
            "`allow_tools` must be a list, not a string", 'write `allow_tools = ["x"]`'),
    Mistake("template-extends-string", _top("[template.a]", 'extends = "b"'), 3, 11, '"b"',
            "`extends` must be a list, not a string", 'write `extends = ["b"]`'),
    Mistake("match-string", _block('match = "x"'), 7, 9, '"x"',
            "`match` must be a list, not a string", 'write `match = ["x"]`'),
    Mistake("priority-string", _block('priority = "150"'), 7, 12, '"150"',
            "`priority` must be a whole number, not a string", "write the number without quotes"),
    Mistake("priority-fraction", _block("priority = 150.5"), 7, 12, "150.5",
            "`priority` must be a whole number, not a fraction", IN_RANGE),
    Mistake("priority-true", _block("priority = true"), 7, 12, "true",
            "`priority` must be a whole number, not true or false", IN_RANGE),
    # Ids.
    Mistake("id-missing", _top("[[rule]]", BLOCK, TOOLS), 2, 1, "[[rule]]",
            "missing key `id`", 'give the rule a stable name, such as `id = "no-secrets"`'),
    Mistake("id-not-kebab", _top("[[rule]]", 'id = "No_Secrets"', BLOCK, TOOLS), 3, 6, '"No_Secrets"',
            "the id `No_Secrets` is not kebab-case", "write `no-secrets`"),
    Mistake("id-empty", _top("[[rule]]", 'id = ""', BLOCK, TOOLS), 3, 6, '""', "the id `` is not kebab-case",
            "use lower-case words joined by hyphens, such as `no-secrets`"),
    Mistake("id-built-in", _top("[[rule]]", 'id = "plan-mode"', BLOCK, TOOLS), 3, 6, '"plan-mode"',
            "the id `plan-mode` belongs to a built-in rule", "choose another id; built-in rules stay as they are"),
    Mistake("id-twice", _block("[[rule]]", 'id = "r"', BLOCK, TOOLS), 8, 6, '"r"',
            "two rules have the id `r`", "the first is at rules.toml:4; rename one of the two"),
    Mistake("id-twice-across-files", _top('extends = ["b.toml"]') + "\n" + _block().partition("\n")[2], 6, 6, '"r"',
            "two rules have the id `r`", "the first is at b.toml:4; rename one of the two", {"b.toml": _block()}),
    # Effects.
    Mistake("effect-missing", _rule(TOOLS), 3, 1, "[[rule]]",
            "missing key `effect`", EFFECTS),
    Mistake("effect-number", _rule("effect = 3", TOOLS), 5, 10, "3", "`effect` must be a string", EFFECTS),
    Mistake("effect-unknown", _rule('effect = "warn"', TOOLS), 5, 10, '"warn"', "unknown effect `warn`", EFFECTS),
    Mistake("effect-invisible", _rule(r'effect = "\u001B[31mwarn\n"', TOOLS), 5, 10, r'"\u001B[31mwarn\n"',
            "unknown effect `\x1b[31mwarn\n`", EFFECTS),
    Mistake("effect-near", _rule('effect = "blok"', TOOLS), 5, 10, '"blok"',
            "unknown effect `blok`", "did you mean `block`?"),
    Mistake("effect-capital", _rule('effect = "BLOCK"', TOOLS), 5, 10, '"BLOCK"',
            "unknown effect `BLOCK`", "did you mean `block`?"),
    Mistake("effect-deny", _rule('effect = "deny"', TOOLS), 5, 10, '"deny"',
            "unknown effect `deny`", "permitry says `block`"),
    Mistake("effect-forbid", _rule("effect = 'forbid'", TOOLS), 5, 10, "'forbid'",
            "unknown effect `forbid`", "permitry says `block`"),
    Mistake("effect-reject", _rule('effect = "Reject"', TOOLS), 5, 10, '"Reject"',
            "unknown effect `Reject`", "permitry says `block`"),
    Mistake("effect-ask", _rule('effect = "ask"', TOOLS), 5, 10, '"ask"',
            "unknown effect `ask`", "permitry says `confirm`"),
    Mistake("effect-prompt", _rule('effect = "prompt"', TOOLS), 5, 10, '"prompt"',
            "unknown effect `prompt`", "permitry says `confirm`"),
    Mistake("effect-ask-user", _rule('effect = "ask_user"', TOOLS), 5, 10, '"ask_user"',
            "unknown effect `ask_user`", "permitry says `confirm`"),
    Mistake("effect-permit", _rule('effect = "permit"', TOOLS), 5, 10, '"permit"',
            "unknown effect `permit`", "permitry says `allow`"),
    Mistake("effect-approve", _rule('effect = "APPROVE"', TOOLS), 5, 10, '"APPROVE"',
            "unknown effect `APPROVE`", "permitry says `allow`"),
    # Priorities.
    Mistake("priority-negative", _block("priority = -1"), 7, 12, "-1", "`priority` is -1, outside 0 to 399", IN_RANGE),
    Mistake("priority-past-the-last", _block("priority = 400 # x"), 7, 12, "400",
            "`priority` is 400, outside 0 to 399", IN_RANGE),
    Mistake("priority-huge", _block("priority = 99_999_999"), 7, 12, "99_999_999",
            "`priority` is outside 0 to 399", IN_RANGE),
    Mistake("priority-block-as-permission", _block("priority = 250"), 7, 12, "250",
            "a `block` rule cannot have priority 250", FITS_NO_PHASE),
    Mistake("priority-block-as-override", _block("priority = 99"), 7, 12, "99",
            "a `block` rule cannot have priority 99", FITS_NO_PHASE),
    Mistake("priority-confirm-as-override", _rule('effect = "confirm"', TOOLS, "priority = 99"), 7, 12, "99",
            "a `confirm` rule cannot have priority 99",
            "100 to 199 asks whatever is permitted; 200 to 399 asks unless a rule before it permits the call"),
    Mistake("priority-allow-as-restriction", _rule(ALLOW, TOOLS, "priority = 0x96"), 7, 12, "0x96",
            "an `allow` rule cannot have priority 150",
            "permissions have 200 to 399; nothing at 100 to 199 can allow"),
    Mistake("priority-admin-only", _rule(ALLOW, TOOLS, "priority = 99"), 7, 12, "99",
            "priority 99 would come before every restriction",
            "only files of the admin layer may use priorities below 100"),
    # Tools.
    Mistake("tools-empty", _rule(BLOCK, "tools = []"), 6, 9, "[]",
            "an empty list selects nothing", "name at least one, or leave the key out"),
    Mistake("tool-blank", _rule(BLOCK, 'tools = ["a", " "]'), 6, 15, '" "',
            "a tool name is empty", 'name a tool, or write "*" for every tool'),
    Mistake("tool-blank-at-an-end", _rule(BLOCK, 'tools = ["x "]'), 6, 10, '"x "',
            "the tool name `x ` holds blanks at an end or invisible characters", "remove them"),
    Mistake("tool-invisible", _rule(BLOCK, r'tools = ["x\u200By"]'), 6, 10, r'"x\u200By"',
            "the tool name `x\u200by` holds blanks at an end or invisible characters", "remove them"),
    Mistake("tool-brackets", _rule(BLOCK, 'tools = ["x", "a[bc]"]'), 6, 15, '"a[bc]"',
            "the pattern `a[bc]` uses brackets or braces", NO_SUCH_CHARACTERS),
    Mistake("tool-braces", _rule(BLOCK, 'tools = ["{a,b}"]'), 6, 10, '"{a,b}"',
            "the pattern `{a,b}` uses brackets or braces", NO_SUCH_CHARACTERS),
    Mistake("tool-parentheses", _rule(BLOCK, 'tools = ["Bash(git:*)"]'), 6, 10, '"Bash(git:*)"',
            "`Bash(git:*)` is another program's way to name calls",
            'write `when.command = "git *"` with `tools = ["@shell"]`'),
    Mistake("tool-anchors", _rule(BLOCK, 'tools = ["x", "^git_$"]'), 6, 15, '"^git_$"',
            "`^git_$` is not the name of a tool", NAME_ONLY),
    Mistake("tool-alternatives", _rule(BLOCK, 'tools = ["a|b"]'), 6, 10, '"a|b"',
            "`a|b` is not the name of a tool", NAME_ONLY),
    Mistake("tool-backslash", _rule(BLOCK, r"tools = ['git\w*']"), 6, 10, r"'git\w*'",
            r"`git\w*` is not the name of a tool", NAME_ONLY),
    Mistake("tool-blank-inside", _rule(BLOCK, 'tools = ["git push"]'), 6, 10, '"git push"',
            "`git push` is not the name of a tool", NAME_ONLY),
    Mistake("tool-regular-expression", _rule(BLOCK, 'tools = ["re:git.*"]'), 6, 10, '"re:git.*"',
            "`re:git.*` is not the name of a tool", NAME_ONLY),
    Mistake("tool-double-underscores", _rule(BLOCK, 'tools = ["mcp__docs__search"]'), 6, 9, '["mcp__docs__search"]',
            "`mcp__docs__search` is another program's way to name a tool", "write `mcp:docs/search`"),
    Mistake("tool-server-only", _rule(BLOCK, 'tools = ["mcp:docs"]'), 6, 10, '"mcp:docs"',
            "`mcp:docs` names a server but no tool", NO_TOOL),
    Mistake("tool-server-and-slash", _rule(BLOCK, 'tools = ["mcp:docs/"]'), 6, 10, '"mcp:docs/"',
            "`mcp:docs/` names a server but no tool", NO_TOOL),
    Mistake("tool-no-server", _rule(BLOCK, 'tools = ["mcp:/search"]'), 6, 10, '"mcp:/search"',
            "`mcp:/search` names a tool but no server", NO_TOOL),
    Mistake("tool-too-long", _rule(BLOCK, f'tools = ["{"a" * 257}"]'), 6, 10, f'"{"a" * 257}"',
            "a tool name is longer than 256 characters", "no tool has such a name"),
    Mistake("tool-unknown-trait", _rule(BLOCK, 'tools = ["@shel"]'), 6, 10, '"@shel"',
            "unknown trait selector `@shel`", "did you mean `@shell`?"),
    Mistake("tool-repeated", _rule(BLOCK, 'tools = ["x", "y", "x"]'), 6, 9, '["x", "y", "x"]',
            "`x` is listed twice", "remove one of the two"),
    # Scope and conditions.
    Mistake("rule-without-scope", _rule(BLOCK), 3, 1, "[[rule]]", "the rule names neither tools nor a condition",
            'add `tools`, or write `tools = ["*"]` if every call is meant'),
    Mistake("allow-without-tools", _rule(ALLOW, 'when.mode = "plan"'), 3, 1, "[[rule]]",
            "an `allow` rule must name its tools", 'write `tools = ["*"]` if every tool is meant'),
    Mistake("when-empty", _block("[rule.when]"), 7, 1, "[rule.when]",
            "`when` is empty", "name a condition, or leave it out"),
    Mistake("mode-empty", _block("when.mode = []"), 7, 13, "[]",
            "an empty list selects nothing", "name at least one, or leave the key out"),
    Mistake("mode-near", _block('when.mode = "plans"'), 7, 13, '"plans"',
            "unknown mode `plans`", "did you mean `plan`?"),
    Mistake("mode-not", _block('when.mode = ["!plan"]'), 7, 13, '["!plan"]',
            "unknown mode `!plan`", 'write `unless.mode = "plan"`'),
    Mistake("mode-near-in-a-list", _block('when.mode = ["review", "pln"]'), 7, 13, '["review", "pln"]',
            "unknown mode `pln`", "did you mean `plan`?"),
    Mistake("mode-blank-at-an-end", _block('when.mode = "plan "'), 7, 13, '"plan "',
            "`plan ` holds blanks at an end or invisible characters", "remove them"),
    Mistake("mode-capital", _block('when.mode = "YOLO"'), 7, 13, '"YOLO"',
            "unknown mode `YOLO`", "did you mean `yolo`?"),
    Mistake("mode-blank", _block('when.mode = ""'), 7, 13, '""', "the word is empty", NAME_IT),
    Mistake("mode-repeated", _block('when.mode = ["plan", "plan"]'), 7, 13, '["plan", "plan"]',
            "`plan` is listed twice", "remove one of the two"),
    Mistake("message-blank", _block('message = " "'), 7, 11, '" "',
            "the text is empty", "write a sentence, or leave the key out"),
    # Templates.
    Mistake("template-name", _top('[template."a b"]'), 2, 1, '[template."a b"]',
            "the template name `a b` is not one word", "use letters, digits, hyphens"),
    Mistake("template-trait", _top("[template.a]", 'allow_tools = ["@reads"]'), 3, 16, '"@reads"',
            "a template lists names, not the trait selector `@reads`", "name the tools"),
    Mistake("template-tool-repeated", _top("[template.a]", 'allow_tools = ["x", "x"]'), 3, 15, '["x", "x"]',
            "`x` is listed twice", "remove one of the two"),
    Mistake("template-parent-repeated", _top("[template.b]", "[template.a]", 'extends = ["b", "b"]'), 4, 11,
            '["b", "b"]', "`b` is listed twice", "remove one of the two"),
    Mistake("template-parent-blank", _top("[template.a]", 'extends = [""]'), 3, 12, '""',
            "the word is empty", NAME_IT),
    Mistake("template-unknown-parent", _top("[template.a]", 'extends = ["zz"]'), 3, 12, '"zz"',
            "unknown template `zz`", "define `[template.zz]`, or take it out"),
    Mistake("template-near-parent", _top("[template.reader]", "[template.a]", 'extends = ["reeder"]'), 4, 12,
            '"reeder"', "unknown template `reeder`", "did you mean `reader`?"),
    Mistake("template-parent-broken", _top("[template.a]", "zz = 1", "[template.b]", 'extends = ["a"]'), 3, 1, "zz",
            "unknown key `zz`", "known: allow_tools, description, exclusive, extends"),
    Mistake("template-tool-blank-inside", _top("[template.a]", 'allow_tools = ["read file"]'), 3, 16, '"read file"',
            "`read file` is not the name of a tool", NAME_ONLY),
    Mistake("template-itself", _top("[template.a]", 'extends = ["a"]'), 3, 11, '["a"]',
            "templates extend each other in a circle: a -> a", "cut one of the links"),
    Mistake("template-circle", _top("template.b.extends = ['c']", "template.c.extends = ['a']",
                                    "template.a.extends = ['b']"), 4, 22, "['b']",
            "templates extend each other in a circle: a -> b -> c -> a", "cut one of the links"),
    Mistake("template-twice-across-files", _top('extends = ["b.toml"]', "template.a = {}"), 3, 10, "a",
            "the template `a` is defined twice", "the first is at b.toml:2; rename one of the two",
            {"b.toml": _top("[template.a]")}),
    Mistake("when-unknown-template", _block('when.template = "review"'), 7, 17, '"review"',
            "unknown template `review`", "define `[template.review]` here or in a file this one extends"),
    Mistake("when-near-template", _top("[template.review]", "[[rule]]", 'id = "r"', BLOCK, 'when.template = "reveiw"'),
            6, 17, '"reveiw"', "unknown template `reveiw`", "did you mean `review`?"),
    Mistake("example-unknown-template", _block('match = ["x", { tool = "x", template = "t" }]'), 7, 40, '"t"',
            "unknown template `t`", "define `[template.t]` here or in a file this one extends"),
    # Examples.
    Mistake("repaired-string", _block('when.repaired = "yes"'), 7, 17, '"yes"',
            "`repaired` must be true or false, not a string", "write `true` or `false`, without quotes"),
    Mistake("repaired-number", _block("unless.repaired = 1"), 7, 19, "1",
            "`repaired` must be true or false, not a number", "write `true` or `false`, without quotes"),
    Mistake("tool-digest-short", _block('when.tool_digest = ["0123456789abcde"]'), 7, 20, '["0123456789abcde"]',
            "`0123456789abcde` is not a digest of a tool",
            "write its 64 hexadecimal digits, or the first 16 or more; `ToolSpec.digest` holds them"),
    Mistake("tool-digest-number", _block("when.tool_digest = 7"), 7, 20, "7",
            "`tool_digest` must be a string or a list of strings, not a number", "put it in quotes"),
    Mistake("repeat-once", _block("when.repeat = 1"), 7, 15, "1", "`repeat` is 1, out of range",
            "write a whole number of at least 2"),
    Mistake("label-of-a-block", _block('adds_label = "web"'), 7, 14, '"web"',
            "a blocked call never runs, so it leaves no label", "take `adds_label` out, or the effect"),
    Mistake("label-that-permits", _rule(ALLOW, TOOLS, 'when.label = "web"'), 7, 14, '"web"',
            "a label that lets a call run could be set by any call",
            "labels only restrict: use `unless.label` in this rule"),
    Mistake("example-tool-blank", _block('match = ["x", " "]'), 7, 15, '" "',
            "the name of the tool is empty", "an example names one tool"),
    Mistake("example-template-blank", _block('match = [{ tool = "x", template = "" }]'), 7, 35, '""',
            "the word is empty", NAME_IT),
    Mistake("example-too-long", _block(f'no_match = ["{"a" * 257}"]'), 7, 13, f'"{"a" * 257}"',
            "a tool name is longer than 256 characters", "no tool has such a name"),
    Mistake("example-glob", _rule(BLOCK, 'tools = ["git_*"]', 'match = ["git_*"]'), 7, 10, '"git_*"',
            "the example `git_*` is a pattern", "name one tool the pattern means"),
    Mistake("example-glob-table", _rule(BLOCK, 'tools = ["a?"]', 'no_match = [{ tool = "a?" }]'), 7, 22, '"a?"',
            "the example `a?` is a pattern", "name one tool the pattern means"),
    Mistake("example-server-only", _block('match = ["mcp:bank"]'), 7, 10, '"mcp:bank"',
            "`mcp:bank` names a server but no tool", NO_TOOL),
    Mistake("match-other-tool", _rule(BLOCK, 'tools = ["x", "y*"]', 'match = ["x", "z"]'), 7, 15, '"z"',
            "the `match` example `z` does not match the rule", "its tools are `x`, `y*`"),
    Mistake("match-other-mode", _block('when.mode = "plan"', 'match = [{ tool = "x", mode = "yolo" }]'), 8, 10,
            '{ tool = "x", mode = "yolo" }',
            "the `match` example `x` does not match the rule", "the example has mode = yolo (expected: plan)"),
    Mistake("match-other-agent", _block('when.agent = "sub*"', 'match = [{ tool = "x", agent = "main" }]'), 8, 10,
            '{ tool = "x", agent = "main" }',
            "the `match` example `x` does not match the rule", "the example has agent = main (expected: sub*)"),
    Mistake("match-other-template", _top("[template.a]", "[template.b]") + _block(
                'when.template = "a"', 'match = [{ tool = "x", template = "b" }]').partition("\n")[2], 10, 10,
            '{ tool = "x", template = "b" }',
            "the `match` example `x` does not match the rule", "the example has template = b (expected: a)"),
    Mistake("no-match-matches", _block('no_match = ["y", "x"]'), 7, 18, '"x"',
            "the `no_match` example `x` matches the rule", "narrow the rule, or move the example to `match`"),
]
# fmt: on


def _problems(mistake: Mistake, folder: Path) -> tuple[Problem, ...]:
    text = mistake.text if isinstance(mistake.text, bytes) else mistake.text.encode()
    (folder / "rules.toml").write_bytes(text)
    for name, other in mistake.beside.items():
        (folder / name).write_text(other, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_rules([Origin(mistake.path)])
    return caught.value.problems


def _source_line(mistake: Mistake) -> str:
    """Return the line that is reported, with its line end."""
    text = mistake.beside.get(mistake.where, mistake.text)
    return f"{text}\n".splitlines(keepends=True)[mistake.line - 1] if isinstance(text, str) else ""


def _kind(text: str) -> str:
    """Return a message or hint without what differs from file to file."""
    return re.sub(r"`[^`]*`|\d+|: .* -> .*", "…", text)


def test_the_table_holds_at_least_forty_kinds_and_no_row_twice() -> None:
    """No two rows show the same mistake, and the rows are of more than forty kinds, whatever names they use."""
    assert len({mistake.name for mistake in MISTAKES}) == len(MISTAKES)
    assert len({(mistake.text, mistake.path) for mistake in MISTAKES}) == len(MISTAKES)
    assert len({(_kind(mistake.message), _kind(mistake.hint)) for mistake in MISTAKES}) >= 40


@for_each("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_every_message_and_hint_is_in_house_style(mistake: Mistake) -> None:
    """A message begins in lower case, has no final period, and comes with a hint of the same style."""
    for text in (mistake.message, mistake.hint):
        assert text
        assert not text[0].isupper()
        assert not text.endswith(".")


@for_each("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_told_once_with_place_message_and_hint(mistake: Mistake, folder: Path) -> None:
    """The mistake is the one problem found, at its place, in its words, with its way out."""
    [problem] = _problems(mistake, folder)
    assert problem.path == (mistake.where or mistake.path)
    assert (problem.line, problem.column) == (mistake.line, mistake.column)
    assert (problem.message, problem.hint) == (mistake.message, mistake.hint)


@for_each("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_the_carets_stand_under_the_wrong_token(mistake: Mistake, folder: Path) -> None:
    """The problem prints its source line, and carets under exactly the token that is wrong."""
    [problem] = _problems(mistake, folder)
    printed = str(problem).split("\n")[1:-1]
    if mistake.token:
        line = _source_line(mistake)
        source, carets = printed
        assert source == f"{mistake.line:>5} | {line.rstrip()}"
        assert f"{line[: mistake.column - 1]}{mistake.token}" == line[: mistake.column - 1 + len(mistake.token)]
        assert carets == " " * (8 + mistake.column - 1) + "^" * len(mistake.token)
    else:
        assert printed == []


@for_each("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_nothing_of_a_file_reaches_a_terminal_that_is_not_to_be_seen(mistake: Mistake, folder: Path) -> None:
    """Whatever is in a file, no line that is printed holds a control character."""
    for line in str(ConfigError(_problems(mistake, folder))).split("\n"):
        assert line.isprintable()


@for_each("invisible", ["\u202e", "\u200b", "\u00ad", "\ue000"])
def test_an_invisible_character_of_a_line_is_marked_and_the_carets_stay_in_place(invisible: str, folder: Path) -> None:
    """A file cannot write its own line backwards, and the marks move no caret."""
    (folder / "rules.toml").write_text(f"schema = 1\n'{invisible}x' = 1\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_rules([Origin("rules.toml")])
    [_, line, carets, *_] = str(caught.value).split("\n")
    assert (line, carets) == ("    2 | '\ufffdx' = 1", "        ^^^^")
