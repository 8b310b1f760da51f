"""Parses programs of `awk`, to see whether they only print.

The grammar covers the part of the language whose only output is `print` to the standard output, without
commands, `getline` and functions that do more than compute. It accepts more than the language where that
does not matter (operators have no precedence), and less where implementations differ: a `>` is a
comparison only within parentheses and in a pattern, and a statement is never within parentheses.

Source: POSIX awk, "Grammar"; the grammars of gawk, mawk, busybox and the one true awk.
"""

import itertools
import re
from collections.abc import Iterator, Sequence

import attrs

from permitry.actions.programs.arguments import Parts, is_spread
from permitry.actions.programs.awk_tokens import Token, tokens_of
from permitry.actions.programs.entries import RefusedError

__all__ = ["check_awk", "opens_computed", "runs_computed"]

_DEEPEST = 40
_SPECIAL = frozenset({"BEGIN", "BEGINFILE", "END", "ENDFILE"})
_PREFIXES = frozenset({"!", "+", "-", "++", "--", "$"})
_VALUES = frozenset({"name", "number", "string", "regex", "function of awk", "(", "$"})
"""The kinds of tokens with which an operand begins; after another operand, they concatenate."""

_OPERATORS = frozenset(
    {"=", "+=", "-=", "*=", "/=", "%=", "^=", "**=", "+", "-", "*", "/", "%", "^", "**", "?", "in"}
    | {"<", "<=", "==", "!=", ">=", ">", "~", "!~", "&&", "||"}
)
_BETWEEN = _OPERATORS | _VALUES
_ENDS = frozenset({";", "\n"})

# For restrictions, a program is looked at without being parsed.
_COMPUTED = r"""(?!\s*+(?:[0-9]|"[^"\\]*+"\s*+(?:[;})\n]|\Z)))"""
_RUNS = re.compile(r"(?:(?<!\|)\|(?!\|)&?+|\bsystem\s*\()" + _COMPUTED)
_OPENS = re.compile(r"(?:>>?+(?!=)|\bgetline\b[^;}\n<]{0,99}<)" + _COMPUTED)
_ARGUMENTS = re.compile(r"\bARGV\s*\[[^\]\n]{0,99}\]\s*=(?!=)|\bsplit\s*\([^,\n]{0,99},\s*ARGV\b")
"""Sets the names of the files that a program of `awk` reads."""
_READS_TEXT = re.compile(r"""(?:\A|[;{(\n=])\s*+"[^"\\]*+"\s*+\|&?+(?=\s*+getline\b)""")


@attrs.define
class _Awk:
    """A parser of one program; each method consumes what it is named after, or refuses the program."""

    tokens: Sequence[Token]
    own: frozenset[str]
    at: int = 0
    depth: int = 0

    def peek(self) -> str:
        return self.tokens[self.at].kind

    def take(self, *kinds: str) -> bool:
        """Consume the next token if it is one of these."""
        is_taken = self.peek() in kinds
        self.at += is_taken
        return is_taken

    def expect(self, *kinds: str) -> None:
        if not self.take(*kinds):
            found = self.tokens[self.at].text.strip()
            raise RefusedError(f"`{found}` in a program of `awk`" if found else "a line of `awk` ends")

    def skip(self, *kinds: str) -> None:
        while self.take(*kinds):
            pass

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise RefusedError("a program of `awk` that is too deep")

    # Items and statements ------------------------------------------------------------------------

    def program(self) -> None:
        self.skip(*_ENDS)
        while self.peek():
            self.item()
            self.skip(*_ENDS)

    def item(self) -> None:
        if self.take("function", "func"):
            self.function()
        elif self.take(*_SPECIAL) or self.peek() == "{":
            self.block()
        else:
            self.list(has_greater=True)
            if self.peek() == "{":
                self.block()
            elif self.peek():
                self.expect(*_ENDS)

    def function(self) -> None:
        self.expect("name")
        self.expect("(")
        while self.take("name"):
            if not self.take(","):
                break
        self.expect(")")
        self.skip("\n")
        self.block()

    def block(self) -> None:
        self.expect("{")
        self.deeper()
        self.skip(*_ENDS)
        while not self.take("}"):
            self.statement()
            self.skip(*_ENDS)
        self.depth -= 1

    def statement(self) -> None:
        self.deeper()
        kind = self.peek()
        if kind == "{":
            self.block()
        elif self.take("if", "while", "for", "do"):
            self.compound(kind)
        else:
            self.simple()
            self.end()
        self.depth -= 1

    def compound(self, kind: str) -> None:
        if kind == "for":
            self.head()
        elif kind != "do":
            self.condition()
        self.body()
        if kind == "if":
            self.otherwise()
        elif kind == "do":
            self.skip(*_ENDS)
            self.expect("while")
            self.condition()
            self.end()

    def condition(self) -> None:
        self.expect("(")
        self.list(has_greater=True)
        self.expect(")")

    def body(self) -> None:
        self.skip("\n")
        if not self.take(";"):
            self.statement()

    def otherwise(self) -> None:
        before = self.at
        self.skip(*_ENDS)
        if self.take("else"):
            self.body()
        else:
            self.at = before

    def head(self) -> None:
        """Consume the head of a `for`: only expressions, though some implementations allow statements there."""
        self.expect("(")
        parts = 0
        while not self.take(")"):
            if self.take(";"):
                parts += 1
                self.skip("\n")
            else:
                self.expression(has_greater=True)
                if self.peek() not in (";", ")"):
                    raise RefusedError("a `for` of `awk`")
        if parts not in (0, 2):
            raise RefusedError("a `for` of `awk`")

    def simple(self) -> None:
        if self.take("print", "printf"):
            if not self.is_at_end():
                self.list(has_greater=False, has_or=False)
        elif self.take("delete"):
            self.expect("name")
            self.subscript()
        elif self.take("exit", "return"):
            if not self.is_at_end():
                self.expression()
        elif not self.take("next", "nextfile", "break", "continue"):
            self.expression()

    def is_at_end(self) -> bool:
        return self.peek() in (*_ENDS, "}")

    def end(self) -> None:
        if self.peek() != "}":
            self.expect(*_ENDS)

    # Expressions ---------------------------------------------------------------------------------

    def list(self, *, has_greater: bool, has_or: bool = True) -> None:
        self.expression(has_greater=has_greater, has_or=has_or)
        while self.take(","):
            self.skip("\n")
            self.expression(has_greater=has_greater, has_or=has_or)

    def expression(self, *, has_greater: bool = False, has_or: bool = True) -> None:
        """Consume operands and the operators between them.

        Without `has_greater` a `>` may be a redirection, and without `has_or` so may `>=` and `||`.
        """
        refused = {">"} if not has_greater else set()
        refused |= {">=", "||"} if not has_or else set()
        choices = 0
        self.operand()
        while (kind := self.peek()) in _BETWEEN or (choices and kind == ":"):
            if kind in refused:
                raise RefusedError(f"`{kind}` in a program of `awk` may be a redirection")
            choices += (kind == "?") - (kind == ":")
            self.joined(kind)
        if choices:
            raise RefusedError("a choice of `awk` without its end")

    def joined(self, kind: str) -> None:
        """Consume an operator of this kind, if there is one, and the operand after it."""
        if self.take("in"):
            self.expect("name")
            return
        self.at += kind not in _VALUES
        if kind in ("&&", "||"):
            self.skip("\n")
        self.operand()

    def operand(self) -> None:
        self.skip(*_PREFIXES)
        token = self.tokens[self.at]
        if self.take("("):
            self.inside(")")
        elif self.take("function of awk"):
            if self.peek() == "(" or token.text != "length":
                self.arguments()
        elif token.is_called or token.text in self.own:
            self.call(token)
        elif self.take("name"):
            self.subscript()
        else:
            self.expect("number", "string", "regex")
        self.take("++", "--")

    def call(self, token: Token) -> None:
        if not (token.is_called and token.text in self.own):
            raise RefusedError(f"the function `{token.text}` of `awk`")
        self.at += 1
        self.arguments()

    def arguments(self) -> None:
        self.expect("(")
        if not self.take(")"):
            self.inside(")")

    def subscript(self) -> None:
        if self.take("["):
            self.inside("]")

    def inside(self, end: str) -> None:
        self.deeper()
        self.list(has_greater=True)
        self.expect(end)
        self.depth -= 1


def _own_functions(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the names of the functions that a program defines."""
    for before, token in itertools.pairwise(tokens):
        if before.kind in ("function", "func"):
            yield token.text


def check_awk(parts: Parts) -> None:
    """Refuse the arguments of `awk` unless the program among them only prints."""
    if parts.is_spread:
        raise RefusedError("`awk` with a pattern for a value")
    if not parts.operands:
        return
    program, files = parts.operands[0], parts.operands[1:]
    if is_spread(program):
        raise RefusedError("a program of `awk` from a pattern")
    if any(word.is_open or word.text.startswith("/inet") for word in files):
        raise RefusedError("`awk` reads from the network")
    tokens = tuple(tokens_of(program.text))
    _Awk(tokens, frozenset(_own_functions(tokens))).program()


# For restrictions ----------------------------------------------------------------------------------------------------


def runs_computed(program: str) -> bool:
    """Return whether a program of `awk` may run a command that is not a literal in it."""
    return _RUNS.search(_READS_TEXT.sub("", program)) is not None


def opens_computed(program: str) -> bool:
    """Return whether a program of `awk` may run a command or open a file that is not a literal in it."""
    return runs_computed(program) or _OPENS.search(program) is not None or _ARGUMENTS.search(program) is not None
