"""What a command may touch whose operands are not known."""

from collections.abc import Sequence

from tests.tables import for_each

from permitry.actions.programs.named import Operands
from permitry.actions.programs.operands import only_reads_alone
from permitry.actions.programs.possible import possible_operands
from permitry.actions.reading.strict import read_strictly
from permitry.core.action import Access, Descent, Word

SIGNS = {Access.READ: "r", Access.WRITE: "w", Access.DELETE: "d", Access.LIST: "l"}


def possible(words: Sequence[Word]) -> Operands:
    """Return what a command may touch, whatever is known of its operands."""
    return possible_operands(tuple(words), only_reads_alone)


def operands(text: str) -> Operands:
    """Return the same of the one command in a text."""
    (command,) = read_strictly(text)
    return possible(command.words)


def named(found: Operands) -> set[str]:
    """Return paths with a sign for the access, and one for what is below."""
    return {f"{SIGNS[each.access]}:{each.word.text}{'+' * each.is_tree}" for each in found.paths}


def seen(found: Operands) -> set[str]:
    """Return the texts that are a path, or may be one."""
    return {each.word.text for each in (*found.paths, *found.guessed)}


def test_everything_an_unknown_program_is_given_may_be_a_path() -> None:
    """A word may be read and written, and so may what is attached to an option or is behind a sign."""
    found = operands("unknown -f/etc/a --file=b if=c me@d -- e")
    for text in ("-f/etc/a", "/etc/a", "b", "c", "d", "if=c", "e"):
        accesses = {each.access for each in (*found.paths, *found.guessed) if each.word.text == text}
        assert accesses == {Access.READ, Access.WRITE}
    assert "--" not in seen(found)


@for_each(
    ("text", "named", "guessed"),
    [
        ("unknown a/b -f/etc/a --file=b c=d", "a/b", "-f/etc/a /etc/a --file=b b d"),
        ("unknown 'fix a/b' x", "", "fix a/b"),
        ("python -c 'open(\"a/b\")' c", "c", "-c a/b"),
        ("python3.12 -m x -c a=b", "", "-m"),
        ("perl -pe s/a/b/ c", "c", "-pe"),
        ("node -e a/b c", "c", "-e"),
        ("ruby --eval \"p 'a/b'\"", "", "a/b"),
        ("sed --unknown 'w x' c", "c x", "w x"),
        ("sed -e 'w x' -e 's/a/b/e' c", "c x", "-e"),
        ("gawk --unknown '{print > \"x\"}' c", "c", "x"),
        ("jq --unknown .a/b c", "c", ".a/b"),
        ("grep --unknown a/b c", "c", "a/b"),
        ("rg --unknown -e a/b c", "c", "a/b"),
    ],
)
def test_a_script_and_a_part_of_a_word_are_guesses(text: str, named: str, guessed: str) -> None:
    """Only a whole operand that has the look of a path is one."""
    found = operands(text)
    paths, guesses = ({each.word.text for each in group} for group in (found.paths, found.guessed))
    assert paths == set(named.split())
    assert guesses >= set([guessed] if "fix" in guessed or "w x" in guessed else guessed.split())
    assert not paths & guesses


@for_each(
    ("text", "hosts"),
    [
        ("ssh -o ProxyJump=a.example,me@b.example:22 c", {"a.example", "b.example", "c"}),
        ("ssh -L 80:a.example:80 c", {"a.example", "c"}),
        ("openssl s_client -connect a.example:443", {"a.example"}),
        ("psql 'host=a.example port=5'", {"a.example"}),
        ("wget -e http_proxy=a.example:80 c", {"a.example", "c"}),
    ],
)
def test_every_part_of_a_word_may_be_a_host(text: str, hosts: set[str]) -> None:
    """To a program of the network; it may be more than these."""
    found = operands(text)
    assert hosts <= {host.text for host in (*found.hosts, *found.guessed_hosts)}


@for_each(
    "text",
    [
        *(
            "docker run -v ~/.ssh:/x a",
            "docker run --mount type=bind,source='~/.ssh',target=/x a",
            "sed -n 'r ~/.ssh' x",
        ),
        *("sed '1w ~/.ssh' x", "sed 's/a/b/gw ~/.ssh' x", "awk 'BEGIN{while((getline l < \"~/.ssh\")>0) print l}'"),
        *("vim -c 'e ~/.ssh'", "awk 'BEGIN{for(print x > \"~/.ssh\";0;);}'", "awk '{print | \"~/.ssh\"}'"),
        *("original-awk '{print > \"~/.ssh\"}'", "awk '{print $1 > \"~/.ssh\"; close(x)}'"),
        *("jq -n 'import \"~/.ssh\" as $x; $x'", 'jq -n \'include "a" {"search": "~/.ssh"}; .\''),
        *("gawk 'BEGIN{system(\"~/.ssh\")}'", "mawk '{getline < \"~/.ssh\"}'"),
    ],
)
def test_a_path_within_a_word_is_seen(text: str) -> None:
    """In a pair with a colon, in a list, and in a script."""
    assert "~/.ssh" in seen(operands(text))


def test_a_program_that_deletes_may_delete() -> None:
    """Of a program that deletes, every word may be deleted when an option is not known, and what lies below it."""
    assert {"d:a+", "w:a+", "r:a+"} <= named(operands("rm --unknown a"))


@for_each(
    "text",
    [
        "rsync --unknown --delete a", "rsync --unknown --del a", "tar --unknown --remove-fil -cf x a",
        "zip -rm x a -i y", "zip -x y -m x a", "tar --unknown $X a", "find a -unknown -delete",
    ],
)  # fmt: skip
def test_a_program_that_deletes_by_an_option_may_delete_by_a_guess(text: str) -> None:
    """Whether it deletes, and which of its operands, is not certain behind an option that is not known."""
    found = possible([Word(word, is_open="$" in word) for word in text.split()])
    assert Access.DELETE not in {each.access for each in found.paths}
    assert Access.DELETE in {each.access for each in found.guessed if each.word.text == "a"}


@for_each("text", ["rsync --unknown a b", "tar --unknown -cf x a", "zip -r x a -i y", "rsync -e ssh --de a b"])
def test_a_program_that_is_given_no_such_option_deletes_nothing(text: str) -> None:
    """An option that is not known is not the one that deletes, and too little of its name is none."""
    found = operands(text)
    assert ("--de" in text) is (Access.DELETE in {each.access for each in (*found.paths, *found.guessed)})


def test_a_sub_command_that_deletes_may_delete() -> None:
    """`git rm '*.py'` is a pattern of git's own, so that what it deletes is not certain."""
    assert "d:*.py" in {each.removesuffix("+") for each in named(operands("git rm '*.py'"))}


@for_each("program", ["/bin/rm", "./rm", "/usr/bin/RM"])
def test_a_program_that_deletes_may_be_named_with_a_folder(program: str) -> None:
    """`/bin/rm -r a` deletes as `rm -r a` does, although no permission relies on it."""
    found = operands(f"{program} -r a")
    assert {"d:a+", "w:a+", "r:a+"} <= named(found)
    assert not found.is_listed


@for_each(
    ("text", "hosts"),
    [
        ("pip install git+https://example.com/a", ["git+https://example.com/a"]),
        ("unknown --from=a=https://x.com,http://y.com", ["https://x.com,", "http://y.com"]),
        ("git fetch https://example.com/a", ["https://example.com/a"]),
        ("git push git@example.com:a/b", ["example.com"]),
        ("git fetch example.com:a", ["example.com"]),
        ("git push origin main:main", []),
        ("git -c http.proxy=example.com fetch", ["example.com"]),
        ("export http_proxy=http://example.com", ["http://example.com"]),
        ("mysql -hexample.com", ["example.com"]),
        ("docker build . /a ~/b c=/d", ["build", "c"]),
        ("unknown a@b c:d e/f@g:h", []),
        ("ssh -J a b", ["a", "b"]),
        ("socat - tcp:example.com:80", ["tcp:example.com:80", "tcp", "example.com"]),
    ],
)
def test_hosts_of_programs_that_are_not_known(text: str, hosts: list[str]) -> None:
    """What looks like an address may be connected to; for a program of the network every word may."""
    assert list(dict.fromkeys(host.text for host in operands(text).hosts)) == hosts


@for_each(
    ("text", "fills"),
    [
        ("python3 -m tarfile -e a", True), ("python3 -Imzipfile -ea", True), ("python3 -m pytest", False),
        ("hg update", True), ("hg help update", False), ("svn commit -m update", False), ("svn up", True),
        ("tarsnap -cf archive-x src", False), ("star -x f=a", True), ("wget $u", False), ("wget -r u", True),
        ("unsquashfs a", True), ("hg", False),
    ],
)  # fmt: skip
def test_a_program_may_put_files_under_names_that_it_is_not_given(text: str, *, fills: bool) -> None:
    """By an option, by its first word, or always; not by a word further on."""
    words = tuple(Word(each, is_open=each.startswith("$")) for each in text.split())
    assert any(each.descent is Descent.NEW for each in possible(words).paths) is fills
