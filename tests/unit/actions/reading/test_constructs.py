"""Arrays, functions, `select` and loops that count: what is in them is found, and what may run more is refused."""

import pytest
from tests.tables import for_each

from permitry.actions.reading.strict import UnreadableError, read_strictly


@for_each(
    ("text", "commands"),
    [
        ("v=(a 'b c' *.py)", ["v=(a 'b c' *.py)"]),
        ("v=(\n a $(b)\n); c ${v[0]}", ["b", "v=(\n a $(b)\n)", "c ${v[0]}"]),
        ("v=()", ["v=()"]),
        ('v="($x" a', ["a"]),
        ("foo() { a; b; } >f; foo c", ["a", "b", "foo c"]),
        ("foo ( )\n{\na $1\n}\nfoo && (foo)", ["a $1", "foo", "foo"]),
        ("select v in a b; do c $v; done", ["c $v"]),
        ("for ((i = 0; i < 3; i++)); do a $i; done", ["a $i"]),
        ("for ((i=9;i!=-1;i -= 2))\ndo a; done", ["a"]),
        ("for (( i=1; i<=2; ++i )); do for f in a b; do c $f; done; done", ["c a", "c b"]),
        (r"[[ $x =~ ^v(a|[0-9]{2})\.b$ ]]", [r"[[ $x =~ ^v(a|[0-9]{2})\.b$ ]]"]),
        ("[[ $x =~ $y && $x =~ a ]]", ["[[ $x =~ $y $x =~ a ]]"]),
    ],
)
def test_the_commands_in_a_construct_are_found(text: str, commands: list[str]) -> None:
    """In order; those of a function where it is defined."""
    assert [" ".join(each.argv) for each in read_strictly(text)] == commands


def test_the_commands_of_a_function_are_within_it() -> None:
    """They run when it is called, and may run several times."""
    assert [each.within for each in read_strictly("foo() { a; }; foo")] == [("function", "{…}"), ()]


@for_each(
    "text",
    [
        "v=(a) b", "v=([0]=a)", "v=('[0]'=a)", "v=(a", "v=(a # b\n)", "v=(a)b", "v=(a;b)", "v=(<(a))", "v+=(a)",
        "v=(a)(b)", "v[0]=a", "<<E v=(a\nE\n)", "[[ a =~ ]]",
        "ls() { a; }", "if() { a; }", "foo() a", "foo() (a)", "foo() { a; }; foo() { b; }", "cat <<E; foo() { a; }\nE",
        "foo() { cd a; }", "foo() { a; }; cd b; foo", "foo() { foo; }", "foo() { a; }; bar() { foo; }",
        "foo() { a; }; b | foo", "foo() { a; }; foo < b", "foo() { a; }; A=b foo", "foo() { alias a=b; }",
        "jobs() { a; }", "function foo { a; }",
        "select v; do a; done", "select v in a; do cd b; done", "select v in a b", "select v in a & do b; done",
        "select UID in a; do b; done",
        "for ((;;)); do a; done", "for ((i=0;i<n;i++)); do a; done", "for ((i=0;i<1;j++)); do a; done",
        "for ((i=0;i<1;i++)); do i=a; done", "for ((i=0;i<1;i++)); do read i; done", "for ((i=0;i<1;i++)) { a; }",
        "for ((i=0;i<1;i++)); do declare x; done", "for ((i=0;i<1;i++)) & do a; done", "for ((i=0;i<1;i++)); a",
        "for ((UID=0;UID<1;UID++)); do a; done", "for ((i=0;i<1;i++)); do cd a; done",
        "[[ a =~ b|c ]]", "[[ a =~ (b ]]", "[[ a =~ b) ]]", "[[ a =~ ", "[[ a =~ (b|$(c)) ]]",
    ],
)  # fmt: skip
def test_what_may_mean_something_else_is_refused(text: str) -> None:
    """Subscripts and arithmetic that bash evaluates, and functions whose commands run elsewhere than where they are."""
    with pytest.raises(UnreadableError):
        read_strictly(text)


@for_each(
    "text",
    [
        "n=0; for f in src/*.py; do n=$((n+1)); done; echo $n",
        "n=0; n=$((n + 1)); echo $((n * 2))",
        "n=3; while a; do n=$((n - 1)); done; echo $((n == 0))",
        "n=0; m=$((n < 2)); echo $((m + n))",
    ],
)
def test_arithmetic_names_variables_that_are_numbers(text: str) -> None:
    """The text gives them nothing else."""
    assert read_strictly(text)


@for_each(
    "text",
    [
        "echo $((n + 1))", "n=$((n + 1))", "n=a; echo $((n))", "n=$x; echo $((n))", "n='$((x))'; echo $((n))",
        "n=0; n=$x; echo $((n))", "n=0; n='a[$(id)]'; echo $((n))", "n=$((1))b; echo $((n))",
        "n=0; read n; echo $((n))",
        "n=0; declare n=x; echo $((n))", "n=0; export n; echo $((n))", "n=0; printf -v n x; echo $((n))",
        "n=0; mapfile n < x; echo $((n))", "n=0; . f; echo $((n))", "n=0; eval n=x; echo $((n))",
        "n=0; f() { n=x; }; f; echo $((n))", "n=0; for n in a; do b; done; echo $((n))", "n=0; unset n; echo $((n))",
        "n=0; select n in x; do a; done; echo $((n))", "false && n=0; echo $((n))", "(n=0); echo $((n))",
        "n=0 | a; echo $((n))", "n=0 & echo $((n))", "n=0; : $((n = 1)); git $n", "n=0; : $((n++))", "n=0; : $((--n))",
        "n=0; : $((n += 1))", "n=0; : $((n <<= 1))", "n=0; echo $((m))", "n=0; x=n; echo $((x))", "n=0 a; echo $((n))",
        "if a; then n=0; fi; echo $((n))", "n=0; getopts a n; echo $((n))", "n=0; n[0]=x; echo $((n))",
    ],
)  # fmt: skip
def test_arithmetic_evaluates_no_other_value(text: str) -> None:
    """A name in it, or a subscript with a substitution, would run."""
    with pytest.raises(UnreadableError):
        read_strictly(text)
