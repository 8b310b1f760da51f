"""The commands that `git` runs: aliases, and values of some options and operands."""

import itertools
import re
from collections.abc import Collection, Iterator, Sequence

from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.inner import joined
from permitry.actions.programs.running import Inner
from permitry.core.action import Word

__all__ = ["git_program", "git_runs", "sets_elsewhere", "without_options"]

Words = Sequence[Word]

_UPLOAD_PACK = re.compile(r"-[lnqsv]*u(.*)", re.DOTALL)
_ELSEWHERE = re.compile(
    r"--config-env=(?:alias|include|help)|(?:-c)?(?:include(?:if)?\.|help\.autocorrect)", re.IGNORECASE
)


def without_options(words: Words) -> Words:
    """Return the words of a git command without the options before the sub-command; none if there are no options."""
    behind = _behind_options(words[1:], record_of("git").known.valued)
    if 0 < len(behind) < len(words) - 1:
        return (words[0], *behind)
    return ()


def git_program(words: Words) -> Iterator[Inner]:
    """Yield `git push` for `git-push`, the name under which git installs that sub-command."""
    before, dash, command = words[0].text.rpartition("/")[2].partition("-") if words else ("", "", "")
    if before == "git" and dash:
        yield Inner("", (Word("git"), Word(command), *words[1:]))


def git_runs(words: Words) -> Iterator[Inner]:
    """Yield what a `git` command runs."""
    yield from _aliases(words)
    rest = (without_options(words) or words)[1:]
    texts = tuple(word.text for word in rest)
    if texts[:2] == ("bisect", "run"):
        yield Inner("", tuple(rest[2:]))
    if texts[:1] == ("submodule",) and "foreach" in texts:
        yield from _foreach(rest[texts.index("foreach") + 1 :])
    if texts[:1] == ("remote-ext",):
        yield Inner("", text=joined(rest[2:]))
    if texts[:1] == ("for-each-repo",):
        yield Inner("", (words[0], *_behind_options(rest[1:], {"--config"})))
    for at, text in enumerate(texts):
        if texts[0] == "clone" and (packed := _UPLOAD_PACK.fullmatch(text)):
            yield Inner("", text=packed[1] or " ".join(texts[at + 1 : at + 2]))
        if text.startswith("!"):
            yield Inner("", text=text.lstrip("!"))
        elif texts[:1] == ("filter-branch",) and (text == "--setup" or (text[:2] == "--" and text.endswith("-filter"))):
            yield from (Inner("", text=following) for following in texts[at + 1 : at + 2])
    yield from _pushes(words[0], rest)
    yield from _transports(words)


def _pushes(git: Word, rest: Words) -> Iterator[Inner]:
    """Yield the `git push` that a sub-command runs, or does the same as."""
    texts = [word.text for word in rest]
    if texts[:1] in (["http-push"], ["send-pack"]):
        yield Inner("", (git, Word("push"), *rest[1:]))
    elif texts[:1] == ["subtree"] and "push" in texts:
        yield Inner("", (git, *rest[texts.index("push") :]))


def _transports(words: Words) -> Iterator[Inner]:
    """Yield the commands of addresses such as `ext::sh -c x`, also where an option sets one."""
    for word in words[1:]:
        before, mark, text = word.text.partition("ext::")
        # Alone or the value of an option; in a message it is only a text.
        if mark and (not before or (before.endswith("=") and len(before.split()) == 1)):
            # `% ` is a blank within a word; for `%S` and the like git puts in the service it asks for.
            words_of = re.sub(r"%.", lambda match: match[0].replace("% ", "\0"), text).split()
            yield Inner("", tuple(Word(each.replace("\0", " ")) for each in words_of))


def _aliases(words: Words) -> Iterator[Inner]:
    """Yield the commands of aliases that are set: `-c alias.p=push`, `config alias.p push`.

    If a variable or a file sets the alias, or git corrects names, it may be any git command.
    """
    for at, word in enumerate(words[1:], start=2):
        if sets_elsewhere(word.text) or words[at - 2].text == "--config-env":
            yield Inner("", (words[0], Word("{}", is_open=True)))
            continue
        name, equals, value = word.text.partition("=")
        if name.lower().startswith(("alias.", "-calias.")):
            for text in [value] if equals else [each.text for each in words[at : at + 1]]:
                # The text after `!` is run by a shell, with the operands appended.
                command = text[1:] if text.startswith("!") else f"git {text}"
                yield Inner("", text=f"{command} {joined(words[at + 1 :])}")


def sets_elsewhere(text: str) -> bool:
    """Return whether a text names a setting by which a name that is not known is a command of git."""
    return _ELSEWHERE.match(text) is not None


def _behind_options(words: Words, valued: Collection[str]) -> Words:
    """Return the words without the options at their beginning."""
    at = 0
    while at < len(words) and words[at].text.startswith("-"):
        at += 2 if words[at].text in valued else 1
    return words[at:]


def _foreach(words: Words) -> Iterator[Inner]:
    behind = tuple(itertools.dropwhile(lambda word: word.text.startswith("-"), words))
    yield Inner("", behind)
    yield Inner("", text=joined(behind))
