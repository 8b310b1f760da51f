"""One SQL statement that only reads: the operator `sql` of arguments.

Databases cut the same text differently: `--x` is a comment or two signs. So it is first cut by a
small lexer of our own, which takes only what PostgreSQL, MySQL, SQLite and SQL Server cut in the
same way; then sqlglot, an extra, says how each of them reads it.
"""

import contextlib
import importlib
import re
from collections.abc import Iterator
from types import ModuleType

import attrs

from permitry.conditions._compare import Truth
from permitry.errors import RuleError
from permitry.extras import missing

__all__ = ["Select", "read_select"]

_LONGEST = 4_000
_DEEPEST = 40
_ROOTS = ("Select", "Union", "Intersect", "Except")
_DIALECTS = ("postgres", "mysql", "sqlite", "tsql")
# A letter next to a quote gives strings a form of their own, such as `E'…'` and `q'[…]'`.
_TOKEN = re.compile(
    r"""\s+|(?P<word>[A-Za-z_][A-Za-z0-9_]*)(?!['"])|(?P<name>"[A-Za-z_][A-Za-z0-9_ ]*")(?!["'A-Za-z0-9_])
    |(?P<number>\d+(?:\.\d+)?)(?![A-Za-z0-9_'".])|(?P<text>'(?:[^'\\]|'')*')(?!['"A-Za-z0-9_])
    |(?P<sign><>|!=|<=|>=|\|\||[=<>+*/%(),.-])|(?P<odd>.{1,20})""",
    re.VERBOSE | re.DOTALL,
)
_INVISIBLE = re.compile(r"[^\x20-\x7e\t\n\r]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that write, lock, run or wait within a SELECT, and those that begin a statement of SQL
# Server, which needs no semicolon between two.
_REFUSED = _words("""
    add alter backup begin break bulk call checkpoint close commit continue copy create currval
    dbcc deallocate declare delete deny disable drop dump dumpfile enable exec execute fetch for
    get go goto grant holdlock if insert into kill load lock merge move nextval open outfile print
    procedure raiserror readtext receive reconfigure recursive restore return revert revoke
    rollback save savepoint send set setuser shutdown sp_executesql tablesample throw truncate
    update updatetext use waitfor while writetext xp_cmdshell
""")
_BEFORE_PARENTHESIS = _words("""
    all and any as between by case distinct else except exists filter from having in intersect
    join like not on or over partition select then union when where
""")
# What a text may be behind, besides a sign; behind another word it is of a type, perhaps of a user.
_BEFORE_TEXT = (_BEFORE_PARENTHESIS - {"from", "join", "as"}) | {"date", "timestamp", "escape"}
_FUNCTIONS = _words("""
    abs avg cast ceil ceiling char_length coalesce concat count date dense_rank extract
    first_value lag last_value lead left length lower ltrim max min nullif rank right
    round row_number rtrim substring sum trim upper
""")
_STATEMENTS = _words("alter create delete drop grant insert merge revoke truncate update")
_NODES = _words("""
    Abs Add Alias All And Any Avg Between Boolean Case Cast Ceil Coalesce Column Concat Count
    CTE DataType Date DenseRank Distinct Div DPipe EQ Except Exists Extract Filter FirstValue
    From Group GT GTE Having Identifier If In Intersect Is Join Lag LastValue Lead Left
    Length Like Limit Literal Lower LT LTE Max Min Mod Mul Neg NEQ Not Null Nullif Offset Or
    Order Ordered Paren Rank Right Round RowNumber Select Star Sub Subquery Substring Sum Table
    TableAlias Trim Tuple Union Upper Var Where Window With
""")


def _load() -> ModuleType:
    # An extra, for rules with this operator.
    try:
        return importlib.import_module("sqlglot")
    except ModuleNotFoundError as error:
        raise RuleError(missing(error.name, "sql")) from error


@attrs.frozen
class Select:
    """The test that a text only reads. Raises: `RuleError` where sqlglot is missing."""

    _sqlglot: ModuleType = attrs.field(init=False, repr=False, eq=False, factory=_load)

    def truth(self, text: str) -> Truth:
        """Return whether a text only reads, or a text why not; False only for the word of a change."""
        first = text.split(None, 1)[0].lower() if text.strip() else ""
        if first in _STATEMENTS:
            return False
        why = _find_oddity(text) or self._find_change(text)
        return why is None or f"is not certain to be one SQL statement that only reads: {why}"

    def _find_change(self, text: str) -> str | None:
        """Return what one of the databases may take for more than reading, by sqlglot; or None."""
        for dialect in _DIALECTS:
            # The kinds of the nodes, the root first. INVARIANT: law 2. Whatever a parser raises, the text was not read.
            found: list[list[str]] = []
            with contextlib.suppress(Exception):
                statements = self._sqlglot.parse(text, dialect=dialect, error_level=self._sqlglot.ErrorLevel.RAISE)
                found = [[type(node).__name__ for node in each.walk()] for each in statements]
            if len(found) != 1:
                return f"it is not one statement of {dialect}"
            if found[0][0] not in _ROOTS:
                return "it is not a SELECT"
            if unknown := set(found[0]) - _NODES:
                return f"`{min(unknown)}` is not known only to read"
        return None

    def __str__(self) -> str:
        return "select"

    def __reduce__(self) -> tuple[type["Select"], tuple[()]]:
        return Select, ()


def read_select(raw: object, _: int) -> Select:
    """Return the test that a rule file names. Raises: `RuleError` for all but `select`."""
    if raw != "select":
        raise RuleError(f'only `sql = "select"` is known, not `{str(raw)[:60]}`')
    return Select()


def _find_oddity(text: str) -> str | None:
    """Return what databases may cut differently, or what may do more than read; or None."""
    if len(text) > _LONGEST:
        return f"it is longer than {_LONGEST:,} characters"
    if _INVISIBLE.search(re.sub(r"'(?:[^'\\]|'')*'", "''", text)):
        return "it has a character that is not of ASCII outside of a text"
    before = ("", "")
    depth = 0
    for kind, piece in _tokens(text.strip().removesuffix(";").rstrip()):
        why = _find_problem(kind, piece, before)
        depth += (piece == "(") - (piece == ")")
        if why is not None or not 0 <= depth <= _DEEPEST:
            return why or "it is nested too deep"
        before = kind, piece
    return None


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yield each piece with its kind; one that is not known is `odd`."""
    for found in _TOKEN.finditer(text):
        if found.lastgroup is not None:
            yield found.lastgroup, found[0]


def _find_problem(kind: str, piece: str, before: tuple[str, str]) -> str | None:
    """Return what is wrong with a piece behind another one."""
    word, earlier = piece.lower(), before[1].lower()
    match before[0], piece:
        case _ if kind == "odd":
            return f"`{piece}` is not read"
        case _ if kind == "word" and word in _REFUSED:
            return f"the word `{piece}`"
        case (_, "-" | "*" | "/" | ".") if earlier + piece in ("--", "/*", "*/", ")."):
            return f"`{earlier}{piece}`"
        case ("name", "(") | ("word", "(") if earlier not in _FUNCTIONS | _BEFORE_PARENTHESIS:
            return f"the function `{before[1]}`"
        case ("word" | "name", _) if kind == "text" and earlier not in _BEFORE_TEXT:
            return f"a text behind `{before[1]}`"
    return None
