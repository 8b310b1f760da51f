"""The folders into which git puts files, and where their names are read, by the words alone."""

from tests.tables import for_each

from permitry.actions.programs.git_files import files_of_git, fills_work_tree, join_words
from permitry.actions.programs.named import HERE
from permitry.actions.reading.strict import read_strictly
from permitry.core.action import Word


def brought(text: str) -> list[str]:
    """Return each folder and what is put there.

    With a `^` if it is relative to the top of a work tree, and a slash if only what is below it is touched.
    """
    found = []
    for each in files_of_git(read_strictly(text)[0].words):
        top = "" if each.work_tree is None else f"{each.work_tree.text}^"
        what = "any"
        if each.contents is not None:
            about = each.contents
            words = " ".join(word.text for word in about.sources)
            what = (
                f"{'old ' if about.is_old else ''}{about.format}({words}){'' if about.strip is None else about.strip}"
            )
            what += about.prefix
        found.append(f"{top}{each.word.text}{'/' if each.is_around else ''}{'?' if each.instead else ''}={what}")
    return found


TABLE = {
    "git apply": [".^./=patch()1"],
    "git apply -p0 a -- b": [".^./=patch(a b)0"],
    "git apply --directory=d a": [".^d=patch(a)1"],
    "git apply -px a": [".^./=any"],
    "git apply --unknown a": [".^./=any"],
    "git -C x apply a - /b": ["x^./=patch(x/a /b)1"],
    "git am -3 a": [".^./=mail(a)1"],
    "git am --skip": [],
    "git apply --check a": [],
    "git apply --cached a": [],
    "git checkout r -- a :/b c/'*'": ["a=commit(r a :/b c/*)", ".^./=commit(r a :/b c/*)", "c/=commit(r a :/b c/*)"],
    "git checkout r -- :/ :!a": [".^.=commit(r :/ :!a)"] * 2,
    "git checkout r a": ["r?=either(r a)", "a=either(r a)"],
    "git checkout -p r -- a": ["a?=commit(r a)"],
    "git checkout -- a": ["a=index(a)"],
    "git checkout ./a": ["./a=index(./a)"],
    "git checkout --unknown r -- a": ["a=any"],
    "git checkout --pathspec-from-file=a r": [".^./=any"],
    "git checkout a": [],
    "git checkout -qb a b": [],
    "git checkout a --": [],
    "git -C x -C y checkout r -- a": ["x/y/a=commit(r a)"],
    "git -C x -C /y checkout r -- .": ["/y=commit(r .)"],
    "git -C ~/x checkout r -- a": ["~/x/a=commit(r a)"],
    "git -C '' checkout -- a": ["a=index(a)"],
    "git --git-dir=g checkout r -- :/": [".=any"],
    "git -c user.name=x checkout -- a": ["a=index(a)"],
    "git -c core.bare=x checkout -- a": ["a=any"],
    "git -C x --work-tree=w switch a": ["x/w=any"],
    "git --work-tree w status": [],
    "git -c core.workTree=w pull": ["w=any"],
    "git -C": [],
    "git": [],
    "hg apply": [],
    "git restore a": ["a=index(a)"],
    "git restore -s r a -- b": ["a=commit(r a b)", "b=commit(r a b)"],
    "git restore -S a": [],
    "git restore -SW a": ["a=commit(HEAD a)"],
    "git restore --pathspec-from-file=a": [".^./=any"],
    "git checkout-index -a": [".^./=index(:/)", ".^./=old index(:/)"],
    "git checkout-index --prefix=d/x_ a": [".^d=index(a)d/x_", ".^d=old index(a)d/x_"],
    "git checkout-index --stdin": [".^./=any"],
    "git checkout-index -n a": [],
    "git read-tree -mu r": [".^./=commit(r)", ".^./=old commit(r)"],
    "git read-tree --prefix=d -u r": [".^d=commit(r)d/", ".^d=old commit(r)d/"],
    "git read-tree -mu r s": [".^./=any"],
    "git read-tree -m r": [],
    "git stash pop": [".^./=stash(0)"],
    "git stash apply --index 2": [".^./=stash(2)"],
    "git stash apply a b": [".^./=any"],
    "git stash branch n": [".^./=stash(0)"],
    "git stash branch n s": [".^./=stash(s)"],
    "git stash branch": [],
    "git stash": [],
    "git stash push a": [],
    "git worktree add -b n d r": ["d=any"],
    "git worktree add --unknown d": ["d=any"],
    "git worktree add --no-checkout d": [],
    "git worktree list": [],
    "git clone u": [],
    "git clone -b r u d": ["d=clone()"],
    "git clone --bare u d": [],
    "git init --template=t": [".git=tree(t/)"],
    "git init --template=t --bare d": ["d=tree(t/)"],
    "git init --template= d": [],
    "git init d": [],
}


@for_each("text", TABLE)
def test_what_git_puts_where(text: str) -> None:
    """By its options, operands and paths."""
    assert brought(text) == TABLE[text]


def test_a_name_is_joined_to_a_folder() -> None:
    """Absolute names are not; an expansion in either is one of both."""
    folder = Word("~/a", is_home=True)
    assert join_words(folder, Word("b")) == Word("~/a/b", is_home=True)
    assert join_words(folder, HERE) == folder
    assert join_words(HERE, folder) == join_words(Word("x"), folder) == folder
    assert join_words(Word("$x", is_open=True), Word("b")) == Word("$x/b", is_open=True)


def test_which_calls_fill_a_work_tree() -> None:
    """Those that only look do not."""
    texts = ("git reset --hard", "/usr/bin/git -c a=b pull", "git status", "make pull")
    assert [fills_work_tree(read_strictly(text)[0].words) for text in texts] == [True, True, False, False]


def _matched(text: str) -> list[tuple[str, tuple[str, ...], str]]:
    """Return each folder, what the names end with that git looks for below it, and the access."""
    named = list(files_of_git(read_strictly(text)[0].words))
    found = [(each.word.found.tops[0].text if each.word.found else each.word.text, each) for each in named]
    return [(top, each.word.found.ends if each.word.found else (), each.access.value) for top, each in found]


@for_each(
    ("text", "top", "ends"),
    [
        ("git add '*.py'", ".", ("*.py",)), ("git add 'src/*/a.py'", "src", ("a.py",)), ("git add 'a/b*'", "a", ()),
        ("git add ':!a'", ".", ()), ("git -C x add 's?c'", "x", ("*c",)), ("git clean -n '*.c'", ".", ("*.c",)),
        ("git clean -ne '*.c'", ".", ()),
    ],
)  # fmt: skip
def test_a_pattern_is_compared_with_names_in_all_folders(text: str, top: str, ends: tuple[str, ...]) -> None:
    """Only the text behind its last wildcard is that of the name."""
    assert _matched(text) == [(top, ends, "read")]


@for_each(
    ("text", "accesses"),
    [
        ("git rm '*.c'", {"list", "read", "delete"}), ("git clean -f '*.c'", {"read", "delete"}),
        ("git stash push '*.c'", {"read", "write", "delete"}), ("git commit -m x '*.c'", {"read", "write", "delete"}),
    ],
)  # fmt: skip
def test_what_may_be_removed_is(text: str, accesses: set[str]) -> None:
    """By each access that the command may make; by any, where that is not known."""
    assert set(_matched(text)) == {(".", ("*.c",), access) for access in accesses}


@for_each("text", ["git add src", "git commit -m 'a * b'", "git rm a.c", "git log '*.c'", "git diff '*.c'", "ls '*'"])
def test_a_name_is_no_pattern(text: str) -> None:
    """Nor is a message; and what only looks is known otherwise."""
    assert _matched(text) == []
