"""The notation in which it is said what is known about a program."""

import tomllib

from permitry.actions.programs.catalogue import Catalogue, record_of, shipped
from permitry.actions.programs.entries import Entry, Options, Wrapper
from permitry.actions.programs.notation import by_name

TEXT = """
[group]
quiet = "-q --quiet"
[program."show display"]
options = "-ab @quiet -n= --colour[=] -k: --pair== -NUM"
operands = "read*"
trees = "-a -b"
[[program."show display".modes]]
when = "-x"
operands = "write"
[program.word]
options = "-ab"
whole_words = true
[program.save]
options = "-a"
more = "-b"
reads = "-f= --file="
texts = "-m[=] -t"
writes = "-o:"
refused = { "--run= --start=" = "runs it", "-x" = "does it" }
refused_values = { "-f --file" = "@" }
operands = "read"
[[program.save.modes]]
when = "-b"
operands = "read"
folders = "-d="
[program.after]
wraps = true
options = "-v"
shows = "-h"
leading = 1
[other."over above"]
elsewhere = true
runs = "-x="
optional = 1
sets = true
runs_behind = { "in into" = { leading = 2 } }
"""

KNOWN = Catalogue(tomllib.loads(TEXT))


def test_options_are_listed_by_what_they_take() -> None:
    """Letters one by one; a group stands for its options."""
    assert KNOWN["show"].options == Options(
        plain=frozenset({"-a", "-b", "-q", "--quiet"}),
        valued=frozenset({"-n"}),
        attached=frozenset({"--colour"}),
        separate=frozenset({"-k"}),
        doubled=frozenset({"--pair"}),
        has_numbers=True,
    )


def test_some_programs_have_whole_words_for_options() -> None:
    """Then letters are not options of their own."""
    assert KNOWN["word"].options.plain == {"-ab"}


def test_an_option_is_spelled_where_its_value_has_a_field() -> None:
    """With its ending it is an option of the program as well; without, it is one that is listed elsewhere."""
    entry = KNOWN["save"]
    harmless = Options(frozenset({"-a"}), frozenset({"-f", "--file"}), frozenset({"-m"}))
    assert entry.options == harmless
    others = Options(frozenset({"-b"}), frozenset({"--run", "--start", "-d"}), separate=frozenset({"-o"}))
    assert entry.known == harmless.with_more(others)
    assert entry.shapes[0].reads == {"-f", "--file"}
    assert entry.shapes[0].writes == {"-o"}
    assert [shape.folders for shape in entry.shapes] == [{"-d"}, frozenset()]
    assert entry.texts == {"-m", "-t"}
    assert entry.refused == {"--run": "runs it", "--start": "runs it", "-x": "does it"}
    assert entry.refused_values == {"-f": "@", "--file": "@"}


def test_a_mode_has_a_shape_of_its_own() -> None:
    """It comes before the usual one, and has all that it does not say otherwise."""
    mode, usual = KNOWN["show"].shapes
    assert (mode.operands, mode.when) == (("write",), frozenset({"-x"}))
    assert (usual.operands, usual.when) == (("read*",), frozenset())
    assert mode.trees == usual.trees == {"-a", "-b"}


def test_a_program_may_have_several_names() -> None:
    """All is known about it under each of them."""
    assert KNOWN["display"] == KNOWN["show"] != Entry()


def test_a_program_may_run_its_operands() -> None:
    """After its own options; one that does nothing else says with which of them it does not."""
    assert KNOWN["show"].runs is None
    assert KNOWN["after"].runs == Wrapper(1, Options(plain=frozenset({"-v"})), shows=frozenset({"-h"}))
    assert KNOWN["over"].runs == Wrapper(0, Options(valued=frozenset({"-x"})), sets=True, optional=1)
    assert KNOWN["above"].runs_behind == {"in": Wrapper(2), "into": Wrapper(2)}


def test_a_sub_command_is_read_when_it_is_asked_for() -> None:
    """Those of git are many; the entry of git is the same without them."""
    commands = record_of("git").commands
    assert commands["log"] is commands["log"]
    assert "log" in commands
    assert "frobnicate" not in commands
    assert len(list(commands)) == len(commands) > 40


def test_the_words_of_a_field_are_those_of_all_records() -> None:
    """Those of modes and sub-commands included."""
    assert shipped().words("here") == {"read", "trees", "write", "new"}
    assert {"read+", "into", "none"} <= shipped().words("operands")
    assert "diff" in shipped().groups


def test_a_key_may_hold_several_names() -> None:
    """Of options and of programs."""
    assert by_name({"a b": 1, "c": 2}) == {"a": 1, "b": 1, "c": 2}
