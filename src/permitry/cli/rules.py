"""`permitry rules`: the rules in force, in the order of evaluation, or the text of a shipped set."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

import attrs

from permitry.audit.rule_files import layer_of
from permitry.cli._row import COLUMNS, Row, lines_of
from permitry.cli.inputs import add_rules_option, origins_from
from permitry.cli.main import ExitCode
from permitry.config.catalogue import PREFIX, find_shipped
from permitry.config.diagnostics import nearest
from permitry.config.drafts import Drafts, RuleDraft, drafts_of
from permitry.config.load import Origin, RuleSet, load_rules
from permitry.config.named import explain_missing
from permitry.config.schema import ExampleTable
from permitry.core.rule import AuthorizationRule, phase_of
from permitry.core.texts import one_line
from permitry.errors import PermitryError

__all__ = ["configure"]

_LAYERS = ("built-in", "shipped", "user", "project", "admin")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry rules`."""
    add = parser.add_argument
    add("action", nargs="?", type=_action, metavar="enforce", help="let an observed rule be obeyed from now on")
    add("id", nargs="?", metavar="ID", help="the id of that rule")
    add_rules_option(parser, observes=True)
    add("--rule", action="append", metavar="ID", help="only the rule with this id, in full; may be given again")
    add("--layer", action="append", metavar="NAME", help="only rules of this layer, such as user; may be given again")
    add("--no-source", action="store_true", help="leave out the places of rules, which move")
    add("--yes", action="store_true", help="enforce it without asking")
    add("--store", "--record", dest="record", metavar="RECORD", help="the record that says what it would have changed")
    parser.add_argument("--json", action="store_true", help="print one JSON object a rule, and nothing else")
    parser.add_argument("--show", metavar="SET", help="print the text of a shipped set, such as permitry:publishing")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """Print the rules, and below them what was dropped."""
    if options.action is not None:
        from permitry.cli.observed import enforce

        if options.id is None:
            raise PermitryError("name the rule: permitry rules enforce ID")
        return enforce(options)
    if options.show is not None:
        print(_text_of(options.show), end="")
        return ExitCode.OK
    origins = origins_from(options)
    rules = load_rules(origins)
    rows = list(_rows(rules, _layers(rules, origins, is_named=options.rules is not None)))
    _check(options.layer, {row.layer for row in rows}.union(_LAYERS), "layer")
    _check(options.rule, {row.rule for row in rows}, "rule", rules.notices)
    _print(options, [row for row in rows if _is_wanted(row, options)], rules.notices)
    return ExitCode.OK


def _check(names: Iterable[str] | None, known: set[str], kind: str, notices: Iterable[str] = ()) -> None:
    """Raise for a name that is not known, with what a notice says of it."""
    for name in names or ():
        if name not in known:
            why = [notice for notice in notices if f"`{name}`" in notice]
            hint = why or [nearest(name, known, otherwise="`permitry rules` lists all")]
            raise PermitryError("; ".join([f"there is no {kind} `{name}` in force", *hint]))


def _is_wanted(row: Row, options: argparse.Namespace) -> bool:
    is_asked_for = options.rule is None or row.rule in options.rule
    return is_asked_for and (options.layer is None or row.layer in options.layer)


def _print(options: argparse.Namespace, rows: list[Row], notices: Iterable[str]) -> None:
    if options.json:
        for row in rows:
            print(json.dumps(_to_dict(row, options)))
        for notice in notices:
            print(json.dumps({"notice": notice}))
        return
    columns = list(COLUMNS)
    if options.no_source:
        columns.remove("source")
    if sys.stdout.isatty():
        from permitry.cli.render import console_on
        from permitry.cli.tables import rule_table

        rule_table(console_on(sys.stdout), rows, columns, is_whole=options.rule is not None)
    else:
        for line in lines_of(rows, columns):
            print(line)
    for notice in notices:
        print(one_line(notice))


def _to_dict(row: Row, options: argparse.Namespace) -> dict[str, object]:
    fields = attrs.asdict(row)
    if fields.pop("is_observed"):
        fields["enforce"] = False
    if options.no_source:
        del fields["source"]
    return fields


def _action(word: str) -> str:
    if word != "enforce":
        raise argparse.ArgumentTypeError(f"`{word}` is one word too many; rules are named with --rules")
    return word


def _text_of(name: str) -> str:
    name = PREFIX + name.removeprefix(PREFIX)
    path = find_shipped(name)
    if (missing := explain_missing(name, path)) is not None:
        raise PermitryError("; ".join(missing))
    return path.read_text(encoding="utf-8")


def _layers(rules: RuleSet, origins: Iterable[Origin], *, is_named: bool) -> Mapping[str, str]:
    starts = {origin.name: origin.name if is_named or origin.is_observed else layer_of(origin) for origin in origins}
    layers: dict[str, str] = {}
    layer = ""
    for name in rules.files:
        layer = starts.get(name, layer)
        layers[name] = "shipped" if name.startswith(PREFIX) else layer
    return layers


def _rows(rules: RuleSet, layers: Mapping[str, str]) -> Iterator[Row]:
    drafts = drafts_of(rules)
    # Built-in rules and those of files are whole ones; only foreign code has rules of two methods.
    in_force = cast("tuple[AuthorizationRule, ...]", rules.policy().rules)
    every = cast("tuple[AuthorizationRule, ...]", (rules.observed or rules).policy().rules)
    obeyed = {rule.id for rule in in_force}
    for rule in sorted(every, key=lambda rule: rule.priority()):
        row = _row(rule, drafts.rules.get(rule.id), layers)
        yield attrs.evolve(row, is_observed=rule.id not in obeyed)
    yield from _rows_of_labels(rules, drafts, layers)
    if rules.unmatched_source is not None:
        layer = layers[rules.unmatched_source.rpartition(":")[0]]
        about = "every call that no rule matches"
        yield Row("unmatched", "default", None, rules.unmatched.value, about, layer, rules.unmatched_source)


def _row(rule: AuthorizationRule, draft: RuleDraft | None, layers: Mapping[str, str]) -> Row:
    phase, source = phase_of(rule.priority()), rule.source or "code"
    return Row(
        rule.id,
        "" if phase is None else phase.value,
        rule.priority(),
        rule.effect.value,
        rule.reason if draft is None else _about(draft),
        layers.get(source.rpartition(":")[0], source),
        source,
        () if draft is None else tuple(map(_show, draft.table.match)),
    )


def _rows_of_labels(rules: RuleSet, drafts: Drafts, layers: Mapping[str, str]) -> Iterator[Row]:
    deciding = {rule.id for rule in rules.rules}
    for flow in rules.flows:
        if flow.id not in deciding and (draft := drafts.rules.get(flow.id)) is not None:
            source, examples = draft.source.source(draft.path), tuple(map(_show, draft.table.match))
            label = f"label {flow.label}"
            yield Row(flow.id, "after", None, label, _about(draft), layers[draft.source.name], source, examples)


def _about(draft: RuleDraft) -> str:
    table = draft.table
    parts = [", ".join(table.tools or ("every tool",))]
    parts += [f"{name} {_join(value)}" for name, value in (table.when or {}).items()]
    for group in table.unless or ():
        parts.append("unless " + " and ".join(f"{name} {_join(value)}" for name, value in group.items()))
    if table.budget is not None:
        given = table.budget.model_dump(exclude_none=True)
        parts.append("budget " + ", ".join(f"{name} {value}" for name, value in given.items()))
    return "; ".join(parts)


def _join(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else json.dumps(value, default=str)


def _show(example: ExampleTable) -> str:
    return example.shown or "{...}"
