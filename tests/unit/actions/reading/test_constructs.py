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
