"""The lenient reader never finds less than the strict one, and reads any text."""

from hypothesis import assume, given
from hypothesis import strategies as st

from permitry.actions.derive.recursive import read_recursively
from permitry.actions.reading.strict import UnreadableError, read_strictly

PIECES = (
    *" \t\n;&|()<>'\"\\$`{}~#!*?[]=", "&&", "||", ">>", "<<", "<<-", "<<<", "2>&1", "2>", "\\\n", "$(", "${x}", "$'a'",
    "{a,b}", "A=1 ", "if ", "then ", "fi", "done", "for ", "[[ ", "time ", "E\n", "<<E\n", "<<'E'\n", "x=", "&>", "|&",
    ";;", "<(", "function ", "f() ", "coproc ", "é", "\0", "\r", "a", "b c", "-x", "sudo ", "sh -c ", "xargs ", "eval ",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
SAFE = st.text("abz019-_./:,+@% é", min_size=1, max_size=5)
WORDS = st.one_of(
    st.text("abz-./", min_size=1, max_size=4),
    SAFE.map(lambda text: f"'{text};|'"),
    SAFE.map(lambda text: f'"{text} # &"'),
    st.sampled_from([";", "|", " ", "#", "'", '"', "(", "$"]).map(lambda char: f"\\{char}"),
)
TAILS = st.sampled_from(["", " 2>&1", " >out", " <in -x", " 2>/dev/null -delete", " # note", "\n"])
COMMANDS = st.tuples(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), TAILS).map("".join)
JOINS = st.sampled_from(["\n", "\n\n"])
SCRIPTS = st.tuples(st.lists(COMMANDS, min_size=1, max_size=4), JOINS).map(lambda pair: pair[1].join(pair[0]))


@given(text=st.one_of(TEXTS, SCRIPTS))
def test_the_strict_readers_commands_are_found(text: str) -> None:
    """Every argv the strict reader reports is among what the lenient one finds, where each word is known to both."""
    try:
        strict = read_strictly(text)
    except UnreadableError:
        assume(condition=False)
        return
    run = [each for each in strict if not (each.only_assigns or each.argv[0] == "[[" or "/dev/fd/63" in each.argv)]
    known = {each.argv for each in run if not any(word.is_open for word in each.words)}
    assert known <= {command.argv for command in read_recursively(text).commands}


@given(text=st.one_of(TEXTS, st.text()))
def test_any_text_is_read(text: str) -> None:
    """Nothing raises, and every command is inside the text."""
    for command in read_recursively(text).commands:
        assert 0 <= command.start <= command.end <= len(text)
