"""The options of a pattern, in whatever place a command has them."""

import shlex

import attrs
from tests.tables import for_each

from permitry.conditions.command import ArgvPattern
from permitry.conditions.match import Match
from permitry.core.action import Word


def _words(command: str) -> list[Word]:
    """Return words; `…` marks one that is open and in quotes, `*` a glob."""
    return [
        Word(text, is_glob="*" in text, is_open="…" in text, is_single="…" in text)
        for text in shlex.split(command.replace("…", "$x…"))
    ]


@for_each(
    ("pattern", "command"),
    [
        ("git push --force *", "git push origin main --force"),
        ("git push --force *", "git push origin --force -- main"),
        ("git reset --hard HEAD", "git reset HEAD --hard"),
        ("git reset --hard HEAD", "git reset HEAD --hard --quiet"),
        ("npm publish --access public *", "npm publish . --access public"),
        ("npm publish --access public *", "npm publish . --access=public"),
        ("npm publish --access *", "npm publish . --access=public"),
        ("npm publish --access *", "npm publish . --access=…"),
        ("npm publish . --access=public", "npm publish --access public ."),
        ("kubectl --context {prod,live} delete *", "kubectl delete pod x --context live"),
        ("kubectl --context {prod,live} delete", "kubectl delete --context=live"),
        ("kubectl -n prod delete *", "kubectl delete x -n prod"),
        ("tar -f a.tar x *", "tar x b -vf a.tar"),
        ("apply -auto-approve *", "apply plan.out -auto-approve"),
        ("push --force* *", "push main --force-with-lease=main"),
        ("push {--force,now} *", "push main --force"),
        ("ssh ** rm -rf *", "ssh host -- rm x -rf"),
        ("test -- --update *", "test -- x --update"),
        ("rm x --force", "rm x -v q --force"),
    ],
)
def test_an_option_is_met_in_every_place(pattern: str, command: str) -> None:
    """Also behind operands, and with its value joined to it or not, in whichever way the pattern has it."""
    assert ArgvPattern(pattern).match_words(_words(command)) >= Match.ALIKE
    assert ArgvPattern(pattern).match_words(_words(command)) is not Match.NO


@for_each(
    ("pattern", "command"),
    [
        # An operand may be one behind an option without a value.
        ("git push --force * main", "git push main --force origin"),
        ("git push --lease origin *", "git push --lease=main origin"),
        ("kubectl -n prod delete *", "kubectl delete x -nprod"),
        ("kubectl -nnprod delete *", "kubectl delete x -n nprod"),
        ("git push --force *", "git push origin …"),
        ("git push --force *", "git push origin --f…"),
        ("git push --force *", "git push origin *"),
        ("kubectl --context prod delete *", "kubectl delete x --context=…"),
        ("kubectl --context prod delete *", "kubectl delete x --context …"),
        ("kubectl --context=prod delete *", "kubectl delete x --context …"),
        ("kubectl -n prod delete *", "kubectl delete x -* prod"),
        ("npm publish --access *", "npm publish . --acc*ss=public"),
        ("npm publish --access *", "npm publish . --…=public"),
        ("rm x -r b", "rm [xb]* -r"),
    ],
)
def test_what_may_be_an_option_is_a_guess(pattern: str, command: str) -> None:
    """A restriction asks where it is not certain that the command has the option, or the value."""
    assert ArgvPattern(pattern).match_words(_words(command)) < Match.ALIKE
    assert ArgvPattern(pattern).match_words(_words(command)) is not Match.NO


@for_each(
    ("pattern", "command"),
    [
        ("git push --force *", "git push origin -- --force"),
        ("git push -f *", "git push origin -- -f"),
        ("git push -f *", "git push origin -- …"),
        ("git push --force *", "git push origin 'x --force'"),
        ("git push --force *", "git push origin --forced"),
        ("git push --force-with-lease *", "git push origin --force"),
        ("git commit --amend *", "git commit --all"),
        ("kubectl --context=prod delete *", "kubectl delete x --cont=dev"),
        ("git push --force *", "git push origin --x…"),
        ("git push --force *", "git push origin *.txt"),
        ("git push --force", "git push origin --force"),
        ("python -u", "python -u parse.py"),
        ("python -u", "python -u -v parse.py"),
        ("perl -w", "perl -wpe 's/a/b/'"),
        ("git push --force", "git push --force origin"),
        ("git checkout -- *", "git checkout a b"),
        ("cat - *", "cat a -"),
        ("kubectl --context prod delete *", "kubectl delete x --context staging"),
        ("kubectl --context prod delete *", "kubectl delete prod"),
        ("kubectl --context --force delete *", "kubectl delete x --force"),
    ],
)
def test_what_is_no_option_is_left_alone(pattern: str, command: str) -> None:
    """Behind `--` there are operands, and an option has its whole name."""
    assert ArgvPattern(pattern).match_words(_words(command)) is Match.NO


@for_each(
    ("pattern", "command"),
    [
        ("git reset --hard *", "git reset HEAD~1 --har"),
        ("git reset --hard *", "git reset --h"),
        ("git push --delete *", "git push origin x --del"),
        ("rm --recursive *", "rm x --rec"),
        ("kubectl --context=prod delete *", "kubectl delete x --cont=prod"),
        ("kubectl --context prod delete *", "kubectl delete x --cont prod"),
    ],
)
def test_a_long_option_may_be_cut_short(pattern: str, command: str) -> None:
    """Where no other option begins like it, as git and GNU's programs take it; nothing is certain of that."""
    assert ArgvPattern(pattern).match_words(_words(command)) is not Match.NO
    assert ArgvPattern(pattern).match_words(_words(command)) < Match.ALIKE


def test_a_permission_takes_options_as_they_are_written() -> None:
    """What is one thing for a restriction is not for a permission."""
    assert ArgvPattern("git push --force *").match_words(_words("git push origin --force")) is not Match.YES
    joined = _words("npm publish --access=public")
    assert ArgvPattern("npm publish --access public").match_words(joined) is not Match.YES


def test_the_value_of_an_option_is_no_option() -> None:
    """Where it is known that an open word is such a value."""
    value = attrs.evolve(_words("…")[0], is_value=True)
    assert ArgvPattern("git commit --amend *").match_words([*_words("git commit x -m"), value]) is Match.NO


def test_what_may_be_the_value_of_an_option_is_not_needed_as_a_word() -> None:
    """The index does not look for `prod`, as `--context=prod` is another word."""
    assert [fact.value for fact in ArgvPattern("kubectl --context prod delete *").needs] == ["delete"]
