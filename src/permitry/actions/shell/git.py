"""What `git` runs for a user besides itself."""

import itertools
from collections.abc import Iterator, Sequence

from permitry.actions.shell.running import Inner
from permitry.core.action import Word

__all__ = ["git_runs"]

Words = Sequence[Word]

_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"})


def git_runs(words: Words) -> Iterator[Inner]:
    """Yield what git runs, and the same command without the options before the sub-command."""
    yield from _aliases(words)
    at = 1
    while at < len(words) and words[at].text.startswith("-"):
        at += 2 if words[at].text in _VALUED else 1
    rest = words[at:]
    if at > 1 and rest:
        yield Inner("", (words[0], *rest))
    texts = tuple(word.text for word in rest)
    if texts[:2] == ("bisect", "run"):
        yield Inner("", tuple(rest[2:]))
    if texts[:1] == ("submodule",) and "foreach" in texts:
        yield from _foreach(rest[texts.index("foreach") + 1 :])
    for at, text in enumerate(texts):
        if text.startswith(("!", "ext::")):
            yield Inner("", text=text.removeprefix("ext::").lstrip("!").replace("% ", " "))
        elif text.startswith("--") and text.endswith("-filter") and texts[:1] == ("filter-branch",):
            yield from (Inner("", text=following) for following in texts[at + 1 : at + 2])


def _aliases(words: Words) -> Iterator[Inner]:
    """Yield the git commands that aliases stand for: `-c alias.p=push`, `config alias.p push`; with any operands."""
    for at, word in enumerate(words[1:], start=2):
        name, equals, value = word.text.partition("=")
        if name.lower().startswith(("alias.", "-calias.")):
            for text in [value] if equals else [each.text for each in words[at : at + 1]]:
                if not text.startswith("!"):
                    yield Inner("", text=f"git {text} {_joined(words[at + 1 :])}")


def _foreach(words: Words) -> Iterator[Inner]:
    behind = tuple(itertools.dropwhile(lambda word: word.text.startswith("-"), words))
    yield Inner("", behind)
    yield Inner("", text=_joined(behind))


def _joined(words: Words) -> str:
    return " ".join(word.text for word in words)
