"""Calls that tell a rule from the rule of the host."""

from tests.tables import for_each

from permitry.config.rule_text import Draft
from permitry_hosts.importers.drafts import Imported, Outcome, Probe, Row
from permitry_hosts.importers.probes import fill_stars, is_about_all, is_about_any, parts_of, probe_commands
from permitry_hosts.importers.rule_file import write_rules


def test_stars_become_nothing_a_word_and_two() -> None:
    """Without blanks that are too many."""
    assert fill_stars("git * push*") == ["git push", "git a pusha", "git a b pusha b"]
    assert fill_stars("make") == ["make"]


def test_probes_have_a_word_more_one_less_quotes_and_another_folder() -> None:
    """And whether the host says that its rule is about them."""
    probes = probe_commands(["git push"], "Bash", lambda text: text.startswith("git push"))
    assert {probe.shown: probe.matches for probe in probes} == {
        "git push": True,
        "git push more": True,
        'git push "two words"': True,
        "cd x && git push": False,
        "git": False,
        'git "push"': False,
    }
    assert [probe.shown for probe in probes if probe.is_quoted] == ['git "push"']
    assert "echo 'a" not in {probe.shown for probe in probe_commands(["echo 'a b'"], "Bash", bool)}


def test_a_text_is_taken_apart_as_hosts_do() -> None:
    """A restriction needs one command, and a permission all that do more than change the folder."""
    assert parts_of("a 'x; y' && b|c\nd") == ["a 'x; y'", "b", "c", "d"]
    assert is_about_any("x; rm a", lambda text: text.startswith("rm"))
    assert is_about_all("cd x && make", lambda text: text == "make")
    assert not is_about_all("ls; make", lambda text: text == "make")


def _probe(command: str, *, matches: bool, is_quoted: bool = False) -> Probe:
    return Probe("Bash", {"command": command}, command, matches, is_quoted)


@for_each(
    ("effect", "probes", "outcome", "note"),
    [
        ("block", [_probe("make a", matches=True), _probe("x", matches=False)], Outcome.SAME, ""),
        ("block", [_probe("make a", matches=False)], Outcome.STRICTER, "also `make a`"),
        ("block", [_probe("x", matches=True)], Outcome.LOOSER, "not `x`"),
        ("block", [_probe("make a", matches=False, is_quoted=True)], Outcome.SAME_WORDS, ""),
        ("allow", [_probe("make a", matches=False)], Outcome.LOOSER, "also `make a`"),
        ("allow", [_probe("x", matches=True)], Outcome.STRICTER, "not `x`"),
        ("allow", [_probe("x", matches=True), _probe("make", matches=False)], Outcome.LOOSER, "also `make`"),
        ("allow", [_probe("ls", matches=True)], Outcome.SAME, ""),
    ],
)
def test_what_differs_is_reported(effect: str, probes: list[Probe], outcome: Outcome, note: str) -> None:
    """With one call; what runs unasked by itself says nothing about a permission."""
    draft = Draft(effect, ("Bash",), {"command": ["make *"]})
    rows = [Row("f:1", "x", effect, (draft,), probes=tuple(probes)), Row("f:2", "y", "allow")]
    found = write_rules(Imported("claude-code", rows), ["f"]).rows[0]
    assert (found.outcome, found.note) == (outcome, note)


def test_the_order_of_a_list_is_no_difference() -> None:
    """A rule is tried without its exceptions, and what was said before is not said to be the same."""
    alone = Draft("block", ("Bash",), {"command": ["make *"]})
    draft = Draft("block", ("Bash",), alone.when, ({"command": ["make a"]},))
    probes = (_probe("make a", matches=True),)
    row = Row("f:1", "x", "block", (draft,), probes=probes, alone=(alone,))
    wide = Row("f:2", "y", "block", (draft,), Outcome.WIDENED, "why", probes=probes)
    rows = write_rules(Imported("claude-code", [row, wide]), ["f"]).rows
    assert [(each.outcome, each.note) for each in rows] == [
        (Outcome.SAME, ""),
        (Outcome.LOOSER, "why; not `make a`"),
    ]
