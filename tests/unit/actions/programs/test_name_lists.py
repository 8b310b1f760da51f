"""Lists of names that a program reads from a file or its input."""

from tests.tables import for_each

from permitry.actions.programs.name_lists import find_lists
from permitry.core.action import Word


def _found(text: str) -> list[str]:
    return [" ".join(word.text for word in file) for file in find_lists([Word(each) for each in text.split()])]


@for_each(
    ("text", "file"),
    [
        ("find -files0-from list -delete", "list"), ("tar cf x.tar -T list", "list"), ("tar -cvTlist", "list"),
        ("tar cfT x.tar list", ""), ("tar -czTf list x.tgz", "f"), ("tar cf x.tar --files-f=list", "list"),
        ("bsdtar cTf list x.tar", ""), ("du --files0-from=list", "list"), ("curl -fsSK list", "list"),
        ("wget -qi list", "list"), ("zip -r@ x.zip", "x.zip"), ("zip x.zip -x@list -r .", "list"),
        ("gcc @list", "list"), ("gcc -Wl,@list", "list"), ("7z a x.7z -ir@list", "list"),
        ("javac -d out @list", "list"), ("nm @list", "list"), ("hg add -Ilistfile:list", "list"),
        ("hg add relglob:*.key", "*.key"), ("svn rm --targets list", "list"),
        ("git rm --pathspec-from-file list", "list"), ("git cat-file --batch", ""), ("exiftool -@ list", "list"),
        ("pax -w", ""), ("nmap -iL list", "list"), ("xz -d --files=list", "list"), ("vim -q list", "list"),
    ],
)  # fmt: skip
def test_a_list_is_found_in_any_spelling(text: str, file: str) -> None:
    """With its file, where the words say which it is."""
    assert _found(text) == [file]


@for_each(
    "text",
    [
        "find . -name '*.py'", "tar --exclude=T -cf x.tar a", "tar cf Test.tar a", "curl -H'X-K: 1' http://x.org",
        "curl -sSfLo a http://x.org", "wget -nd http://x.org/i", "zip -r x.zip src", "convert a@2x.png b.png",
        "7z a x@y.7z a", "exiftool -Comment=me@x a", "hg add a", "rsync -a --exclude=T a b",
        "git fetch --all", "cat @x",
    ],
)  # fmt: skip
def test_a_sign_or_letter_elsewhere_gives_none(text: str) -> None:
    """It is a part of a name, or of the value of another option."""
    assert _found(text) == []
