"""The strict loader: returns the rules and templates of rule files, or raises every problem of every file at once."""

import contextlib
import gc
import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import attrs
from pydantic import BaseModel, ValidationError

from permitry.conditions.keys import condition
from permitry.conditions.scope import Scope
from permitry.config._checks import tool_name_problem
from permitry.config.build import (
    DEEPEST,
    Known,
    build_templates,
    list_problems,
    plain_list,
    plain_rule,
    plain_template,
    plain_tool,
    read_rule,
)
from permitry.config.catalogue import PREFIX, find_file, find_shipped
from permitry.config.compiled import Compiled
from permitry.config.conditions import Given
from permitry.config.diagnostics import SourceText, unreadable_problem
from permitry.config.drafts import Draft, ListDraft, ProgramDraft, RuleDraft, TemplateDraft, ToolDraft, notices_on
from permitry.config.lists import ListUses, collect_trusted, lists_of
from permitry.config.locate import KeyPath
from permitry.config.named import explain_missing, out_of_bounds, shorten_name
from permitry.config.origin import Origin, writable_by_others
from permitry.config.plain import Plain, tool_of
from permitry.config.program_table import ProgramTable
from permitry.config.programs import ProgramDrafts
from permitry.config.ruleset import RuleSet
from permitry.config.schema import Header, ListTable, PolicyTable, RuleTable, TemplateTable, ToolTable, groups_of
from permitry.config.toml import load_toml
from permitry.config.translate import problems_of, type_problem
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.template import Template
from permitry.errors import ConfigError, Problem

__all__ = ["Compiled", "Origin", "RuleSet", "compile_rules", "load_policy", "load_rules", "without_collection"]

_MOST_PROBLEMS = 200
_RANKS = 4
_MOST_UNTRUSTED = {"rules": 200, "patterns": 64, "examples": 32, "values": 64}
_TWICE = {"template": ("defined", "rename one of the two"), "tool": ("declared", "take one of the two out")}
_TABLES: Mapping[str, type[BaseModel]] = {
    "tool": ToolTable, "program": ProgramTable, "list": ListTable, "template": TemplateTable, "rule": RuleTable,
}  # fmt: skip
Model = TypeVar("Model", bound=BaseModel)
_Templates: TypeAlias = tuple[Mapping[str, Template], Collection[str]]
"""The templates that are valid, and the names of all that are defined."""

Source: TypeAlias = Origin | str | os.PathLike[str]
"""A shipped set (`permitry:base`), the path of a rule file, or the text of one: a string with a line break."""


def load_policy(*sources: Source | Iterable[Source]) -> AuthorizationPolicy:
    """Return the policy of rule files, what they extend, and the built-in rules; `sources` are those of `load_rules`.

    Raises: `ConfigError` with every problem of every file.
    """
    return load_rules(*sources).policy()


def load_rules(*sources: Source | Iterable[Source]) -> RuleSet:
    """Return the rule set of rule files and all files they extend.

    A source is a shipped set (`permitry:base`), a path, the text of a rule file (a string with a line break), an
    `Origin`, or a list of these. All but an `Origin` are trusted. A text extends files relative to the current folder.

    Raises: `ConfigError` with every problem of every file; then nothing is loaded.
    """
    with without_collection():
        return compile_rules(_each(sources)).rules


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """Pause garbage collection: of many rules, looking for cycles takes a quarter of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _each(sources: Iterable[Source | Iterable[Source]]) -> Iterator[Source]:
    for source in sources:
        yield from (source,) if isinstance(source, Origin | str | os.PathLike) else source


def _origin_of(source: Source, number: int) -> Origin:
    if isinstance(source, Origin):
        return source
    if isinstance(source, str) and "\n" in source:
        return Origin(f"<text {number}>", text=source)
    return Origin(os.fspath(source))


def compile_rules(files: Iterable[Source]) -> Compiled:
    """Return what `load_rules` does, as plain data for the cache. Raises: `ConfigError`, as it does."""
    origins = [_origin_of(file, number) for number, file in enumerate(files, 1)]
    with without_collection():
        try:
            return _load(origins)
        except _NotPinnedError:
            # INVARIANT: only pinned bytes are trusted: the bytes that are parsed, and no other file.
            return attrs.evolve(_load([origin.unpinned() for origin in origins]), is_certain=False)


def _load(origins: Iterable[Origin]) -> Compiled:
    # A file that several origins reach is read once, for the first: so the most trusted come first.
    ordered = sorted(origins, key=lambda origin: (not origin.is_admin, not origin.is_trusted))
    whole, finds_observed = _read(ordered, _Loader())
    if not finds_observed:
        return whole
    # INVARIANT: what is observed changes nothing: the rest is read as if it were not written.
    return whole.watch_behind(_read(ordered, _Loader(only_obeyed=True))[0])


def _read(origins: Iterable[Origin], loader: "_Loader") -> tuple[Compiled, bool]:
    for origin in origins:
        loader.load(origin)
    return Compiled(*loader.result(), loader.reached, tuple(loader.named)), loader.finds_observed


class _NotPinnedError(Exception):
    """Raised when a file of a pinned origin is not one that was pinned, or has changed since."""


class _Loader:
    """Reads rule files, collects all problems, and builds the result at the end."""

    def __init__(self, *, only_obeyed: bool = False) -> None:
        self.only_obeyed = only_obeyed
        self.finds_observed = False
        self.problems: list[Problem] = []
        self.conflicts: list[str] = []
        self.untrusted_rules = 0
        self.rules: list[RuleDraft] = []
        self.ids: dict[str, RuleDraft] = {}
        self.templates: dict[str, TemplateDraft] = {}
        self.template_names: set[str] = set()
        self.tools: dict[str, ToolDraft] = {}
        self.programs = ProgramDrafts()
        self.lists: list[ListDraft] = []
        self.names: dict[Path, str] = {}
        self.links: list[str] = []
        self.open: list[Path] = []
        self.named: list[tuple[Path, Path]] = []
        self.reached: dict[Path, str] = {}
        self.unmatched: Plain | None = None

    def leaves_out(self) -> bool:
        """Return whether what is observed is left out here; note that there is something of that."""
        self.finds_observed = True
        return self.only_obeyed

    def load(self, origin: Origin) -> None:
        if origin.is_observed and self.leaves_out():
            return
        path = find_file(origin.name)
        if origin.text is None and (problem := explain_missing(origin.name, path)) is not None:
            message, hint = problem
            self.problems.append(Problem(origin.name, 0, 0, 0, message, hint))
        else:
            self.file(path, origin)

    def file(self, named: Path, origin: Origin) -> None:
        path = named.resolve()
        self.named.append((named, path))
        if path in self.names:
            self.links.append(origin.name)
            return
        self.names[path] = origin.name
        if origin.is_admin and not origin.name.startswith(PREFIX) and (writable := writable_by_others(named)):
            hint = "files of the admin layer, and their folders, belong to root: chown root, chmod go-w"
            self.problems.append(Problem(origin.name, 0, 0, 0, writable, hint))
            return
        if (problem := out_of_bounds(path, origin)) is not None:
            message, hint = problem
            self.problems.append(Problem(origin.name, 0, 0, 0, message, hint))
            return
        self.open.append(path)
        parsed = self.parsed(path, origin)
        if parsed is not None:
            source, data = parsed
            if self.header(source, data, path, origin):
                self.tables(source, data, origin)
        self.open.pop()

    def parsed(self, path: Path, origin: Origin) -> tuple[SourceText, dict[str, Any]] | None:
        name, text = origin.name, ""
        try:
            content = path.read_bytes() if origin.text is None else origin.text.encode("utf-8", "surrogatepass")
            if not origin.admits(path, content):
                raise _NotPinnedError
            self.reached[path] = hashlib.sha256(content).hexdigest()
            text = content.decode()
            data = load_toml(text)
            rules = data.get("rule")
            return SourceText(name, text, len(rules) if isinstance(rules, list) else None), data
        except (OSError, RecursionError, ValueError) as error:
            self.problems.append(unreadable_problem(name, text, error))
        return None

    def header(self, source: SourceText, data: dict[str, Any], path: Path, origin: Origin) -> bool:
        """Read the header and what it extends; return whether the tables count here."""
        rest = {key: value for key, value in data.items() if key not in _TABLES}
        header = self.validated(source, (), rest, Header)
        policy = (header and header.policy) or PolicyTable()
        counts = policy.enforce is None or not self.leaves_out()
        if counts and policy.unmatched is not None:
            self.set_unmatched(policy.unmatched, source.source(("policy", "unmatched")))
        # Also if the header is invalid elsewhere, so that problems of the extended files are reported in the same run.
        extends = data.get("extends")
        for i, name in enumerate(extends if isinstance(extends, list) else ()):
            if isinstance(name, str) and name.strip():
                self.extend(source, ("extends", i), name, path, origin)
        return counts

    def set_unmatched(self, verdict: str, source: str) -> None:
        # INVARIANT: the strictest counts, of files that are not trusted as well; of equals, the first.
        if self.unmatched is None or Verdict(self.unmatched["verdict"]) < Verdict(verdict):
            self.unmatched = {"verdict": verdict, "source": source}

    def extend(self, source: SourceText, place: KeyPath, name: str, path: Path, origin: Origin) -> None:
        shipped = name.startswith(PREFIX)
        target = find_shipped(name) if shipped else path.parent / name
        if not shipped and Path(name).is_absolute():
            message, hint = f"`{name}` is an absolute path", "name the file relative to this one"
        elif (problem := explain_missing(name, target, origin.within)) is not None:
            message, hint = problem
        elif len(self.open) > DEEPEST:
            message, hint = f"rule files extend each other more than {DEEPEST} deep", "extend the last ones directly"
        elif target.resolve() in self.open:
            circle = " -> ".join([*(self.names[p] for p in self.open[self.open.index(target.resolve()) :]), name])
            message, hint = f"rule files extend each other in a circle: {circle}", "cut one of the links"
        else:
            shown = name if shipped else shorten_name(target, origin.name)
            self.file(target, attrs.evolve(origin, name=shown, text=None))
            return
        self.problems.append(source.problem(place, message, hint))

    def tables(self, source: SourceText, data: dict[str, Any], origin: Origin) -> None:
        added: Mapping[str, Callable[[Draft[Any]], None]] = {
            "tool": self.add_tool, "program": self.add_program, "list": self.add_list, "rule": self.add_rule,
            "template": lambda draft: self.define(self.templates, draft),
        }  # fmt: skip
        for key, model in _TABLES.items():
            for name, value in self.entries(source, data, key):
                if key == "template":
                    self.template_names.add(str(name))
                table = self.validated(source, (key, name), value, model)
                if table is not None:
                    added[key](Draft(source, (key, name), table, origin))

    def entries(self, source: SourceText, data: dict[str, Any], key: str) -> Iterable[tuple[str | int, Any]]:
        """Return the tables under a key, each with its name or number."""
        tables = data.get(key)
        if tables is None:
            return ()
        if key == "rule" and isinstance(tables, list):
            return enumerate(tables)
        if key != "rule" and isinstance(tables, dict):
            return tables.items()
        wanted = "a list of tables" if key == "rule" else "a table"
        self.problems.append(type_problem(source, (key,), wanted, tables))
        return ()

    def validated(self, source: SourceText, path: KeyPath, value: object, model: type[Model]) -> Model | None:
        try:
            return model.model_validate(value)
        except ValidationError as error:
            self.problems += problems_of(source, path, error, model)
            return None

    def define(self, known: dict[str, Draft[Model]], draft: Draft[Model]) -> None:
        """Add a template or a tool; a tool may be declared again in the same words."""
        first = known.setdefault(draft.name, draft)
        if first is draft:
            return
        if draft.kind == "tool" and draft.table == first.table and first.origin.is_trusted:
            origin = max(first.origin, draft.origin, key=lambda each: each.rank)
            known[draft.name] = attrs.evolve(first, origin=origin)
            return
        what = draft.kind
        does, advice = _TWICE[what]
        if first.origin.is_trusted and not draft.origin.is_trusted:
            self.conflicts.append(f"{draft.place}: {what} `{draft.name}` dropped: it is {does} elsewhere")
        else:
            message = f"the {what} `{draft.name}` is {does} twice"
            self.problems.append(draft.problem((), message, f"the first is at {first.place}; {advice}", key=True))

    def add_tool(self, draft: ToolDraft) -> None:
        self.define(self.tools, draft)
        if problem := tool_name_problem(draft.name):
            self.problems.append(draft.problem((), *problem, key=True))
            # No valid declaration can be built from it, so it is not kept for the examples of rules either.
            del self.tools[draft.name]

    def add_program(self, draft: ProgramDraft) -> None:
        self.problems += self.programs.add(draft)

    def add_list(self, draft: ListDraft) -> None:
        self.problems += list_problems(draft)
        if not draft.origin.is_trusted and len(draft.table.values) > _MOST_UNTRUSTED["values"]:
            self.problems.append(draft.exceed(_MOST_UNTRUSTED["values"], "values"))
        self.lists.append(draft)

    def add_rule(self, draft: RuleDraft) -> None:
        if draft.table.enforce is not None and self.leaves_out():
            return
        if draft.origin.name.startswith(PREFIX):
            # The tests of permitry check these; here it would cost hundreds of commands at every start.
            draft = _without_examples(draft)
        elif not draft.origin.is_trusted:
            draft = self.bounded(draft)
        first = self.ids.setdefault(draft.table.id, draft)
        if first is not draft:
            hint = f"the first is at {first.source.source((*first.path, 'id'))}; rename one of the two"
            message = f"two rules have the id `{draft.table.id}`"
            self.problems.append(draft.problem(("id",), message, hint))
        self.rules.append(draft)

    def bounded(self, draft: RuleDraft) -> RuleDraft:
        """Return a rule of an untrusted project, renamed if a trusted rule has its id; report one beyond the limits."""
        table = draft.table
        patterns = [text for _, group in groups_of(table) for text in _patterns(group)]
        examples = [*table.match, *table.no_match]
        self.untrusted_rules += 1
        counted = (("rules", self.untrusted_rules), ("patterns", len(patterns)), ("examples", len(examples)))
        for what, count in counted:
            if count > _MOST_UNTRUSTED[what]:
                self.problems.append(draft.exceed(_MOST_UNTRUSTED[what], what))
                return _without_examples(draft)
        first = self.ids.get(table.id)
        if first is None or not first.origin.is_trusted:
            return draft
        # A project must not prevent trusted rules from loading by using one of their ids.
        renamed = f"project-{table.id}"
        while renamed in self.ids:
            renamed = f"project-{renamed}"
        self.conflicts.append(f"{draft.place}: rule `{table.id}` is called `{renamed}` here")
        return attrs.evolve(draft, table=table.model_copy(update={"id": renamed}))

    def result(self) -> tuple[Plain, tuple[Scope, ...]]:
        every, trusted = self.collect_templates()
        tools = [plain_tool(draft) for draft in _select_trusted(self.tools.values())]
        ranks = self.ranks()
        lists = [plain_list(draft, restricts_only=draft.origin.rank < ranks[draft.name]) for draft in self.lists]
        scopes = self.read_rules(every, trusted, tools, lists)
        if self.problems:
            order = {name: number for number, name in enumerate(self.names.values())}
            found = sorted(self.problems, key=lambda p: (order.get(p.path, len(order)), p.line, p.column))
            raise ConfigError(found[:_MOST_PROBLEMS])
        data = {
            "rules": [plain_rule(draft) for draft, _ in scopes],
            "templates": [plain_template(template) for template in trusted[0].values()],
            "tools": tools,
            "programs": list(self.programs.plain()),
            "lists": lists,
            "files": list(self.names.values()),
            "links": [name for name in self.links if name not in self.names.values()],
            "notices": list(self.notices()),
            "unmatched": self.unmatched,
            "observed": None,
        }
        return data, tuple(scope for _, scope in scopes)

    def collect_templates(self) -> tuple[_Templates, _Templates]:
        """Return all templates that are valid with all names, and the same of those that are trusted."""
        every, problems = build_templates(self.templates, self.template_names)
        self.problems += problems
        # Trusted definitions are checked without untrusted ones: no template of an untrusted project may widen a
        # trusted one, or make a trusted rule load that is an error without it.
        drafts = {draft.name: draft for draft in _select_trusted(self.templates.values())}
        names = self.template_names - (self.templates.keys() - drafts.keys())
        trusted, problems = build_templates(drafts, names)
        self.problems += [problem for problem in problems if problem not in self.problems]
        return (every, self.template_names), (trusted, names)

    def read_rules(
        self, every: _Templates, trusted: _Templates, plain_tools: Iterable[Plain], plain_lists: Iterable[Plain]
    ) -> list[tuple[RuleDraft, Scope]]:
        """Return the rules that count, with their scopes; add the problems of all to those that are known."""
        ranks, lists = self.ranks(), lists_of(plain_lists)
        tools = {each["name"]: tool_of(each) for each in plain_tools}
        fields = collect_trusted(plain_tools)
        # A definition of a less trusted layer cannot make a rule load that is an error without it.
        known_for = [
            Known(
                tools,
                ListUses(
                    {name: each for name, each in lists.items() if ranks[name] >= rank},
                    trusted={name: each for name, each in fields.items() if self.tools[name].origin.rank >= rank},
                ),
                self.programs.reader(rank),
            )
            for rank in range(_RANKS)
        ]
        found = []
        for draft in self.rules:
            names = trusted if draft.origin.is_trusted else every
            scope, problems = read_rule(draft, *names, known_for[draft.origin.rank])
            self.problems += problems
            found.append((draft, scope))
        return [(draft, scope) for draft, scope in found if draft.origin.is_trusted or _restricts(draft)]

    def ranks(self) -> dict[str, int]:
        """Return the rank of the most trusted file that has a list, by the name of the list."""
        ranks: dict[str, int] = {}
        for draft in self.lists:
            ranks[draft.name] = max(ranks.get(draft.name, 0), draft.origin.rank)
        return ranks

    def notices(self) -> Iterator[str]:
        yield from self.conflicts
        yield from notices_on(draft for draft in _select_untrusted(self.rules) if not _restricts(draft))
        ranks = self.ranks()
        for added in self.lists:
            if added.origin.rank < ranks[added.name]:
                why = "counts only where it restricts; a more trusted layer has it too"
                yield f"{added.place}: list `{added.name}`: {why}"
        yield from self.programs.notices()
        yield from notices_on(_select_untrusted((*self.templates.values(), *self.tools.values())))


def _select_trusted(drafts: Iterable[Draft[Model]]) -> Iterator[Draft[Model]]:
    return (draft for draft in drafts if draft.origin.is_trusted)


def _select_untrusted(drafts: Iterable[Draft[Any]]) -> Iterator[Draft[Any]]:
    return (draft for draft in drafts if not draft.origin.is_trusted)


def _without_examples(draft: RuleDraft) -> RuleDraft:
    return attrs.evolve(draft, table=draft.table.model_copy(update={"match": [], "no_match": []}))


def _patterns(group: Given) -> Iterator[str]:
    for key, texts in group.items():
        yield from texts if condition(key).has_wildcards else ()


def _restricts(draft: RuleDraft) -> bool:
    return draft.table.effect != Verdict.ALLOW.value
