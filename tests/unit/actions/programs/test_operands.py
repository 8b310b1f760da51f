"""What the operands of programs are."""

import time
from collections.abc import Iterator
from pathlib import Path

import attrs
from tests.tables import for_each

from permitry.actions.command import Command
from permitry.actions.derive.unwrap import Classified, classify, only_reads, why_not_reading
from permitry.actions.programs.bare_words import names_in_words
from permitry.actions.programs.candidates import code_of
from permitry.actions.programs.catalogue import catalogue
from permitry.actions.programs.entries import Entry, Shape
from permitry.actions.programs.named import Operands
from permitry.actions.programs.operands import touches_of
from permitry.actions.reading.strict import read_strictly
from permitry.actions.reading.words import UnreadableError
from permitry.core.action import Access, Word

LISTED = {
    # Scripts that name files.
    "sed 'w x' a": "r:a w:x",
    "sed -n 's/a/b/w x' a b": "r:a r:b w:x",
    "sed -i 'w x' a": "r:a w:a w:x",
    "sed -n 'w x\nr y' a": "r:a w:x r:y",
    # Programs that read what they are given.
    "cat a b": "r:a r:b",
    "cat -n -- -a": "r:-a",
    "cat - a": "r:a",
    "cat ~/x": "r:~/x",
    "cat src/*.py": "r:src/*.py",
    "head -n 5 a": "r:a",
    "tail -5 a b": "r:a r:b",
    "wc -l a": "r:a",
    "ls": "l:.",
    "ls -la src": "l:src",
    "ls -R": "l:.+",
    "tree": "l:.+",
    "tree -L 2 src -o out": "w:out l:src+",
    "du -sh a": "l:a+",
    "stat -c %s a": "l:a",
    "file -m magic a": "r:magic r:a",
    "diff -u a b": "r:a+ r:b+",
    "cmp a b": "r:a r:b",
    "sha256sum a": "r:a",
    "cut -d: -f1 a": "r:a",
    "sort -k 2 a": "r:a",
    "join -t , a b": "r:a r:b",
    "xxd -l 8 a": "r:a",
    "gzip -dc a.gz": "r:a.gz",
    "strings a": "r:a",
    # Programs with an expression or a script before the files.
    "grep foo": "",
    "grep foo a b": "r:a r:b",
    "grep -rn foo": "r:.+",
    "grep -r foo src": "r:src+",
    "grep -e foo a": "r:a",
    "grep -f pats a": "r:pats r:a",
    "egrep -c x a": "r:a",
    "rg foo": "r:.+",
    "rg foo src": "r:src+",
    "rg --files src": "r:src+",
    "fd": "l:.+",
    "fd x src": "l:src+",
    "sed -n 5p a": "r:a",
    "sed -e p -e d a": "r:a",
    "sed -i s/a/b/ a": "r:a w:a",
    "awk -F: '{print}' a": "r:a",
    "jq -r .x a": "r:a",
    "jq --arg a b . c": "r:c",
    "jq --slurpfile a b . c": "r:b r:c",
    "find": "l:.+",
    "find src -name '*.py'": "l:src+",
    "find . \\( -name a -o -newer b \\)": "r:b l:.+",
    "find a -name b -delete": "l:a+ d:a+",
    "find -name b -delete": "l:.+ d:.+",
    "find a -fprint b": "w:b l:a+",
    "test -f a": "l:a",
    "[ -d a -o -s b ]": "l:a l:b",
    "[ a = b ]": "",
    # Programs whose words are no paths.
    "echo /etc/passwd": "",
    "printf %s a": "",
    "basename /a/b": "",
    "date -d yesterday +%F": "",
    "date -r a": "r:a",
    "tr a b": "",
    "true": "",
    "seq 1 3": "",
    "cd /tmp": "",
    "echo src/*": "l:src/*",
    "grep a* b c": None,
    # Programs that write, copy, move and delete.
    "cp a b": "r:a i:b",
    "cp -r a b c": "r:a+ r:b+ i:c+",
    "cp -t d a b": "i:d r:a r:b",
    "cp -td a": "i:d r:a",
    "cp src/* d": "r:src/* i:d",
    "mv a b": "r:a+ d:a+ i:b+",
    "ln -s a b": "i:b",
    "ln -sr a b": "r:a i:b",
    "ln a b": "r:a w:a i:b",
    "cp -l a b": "r:a w:a i:b",
    "link a b": "r:a w:a i:b",
    "cp -s a b": "i:b",
    "install -m 644 a b": "r:a i:b",
    "install -d a b": "w:a w:b",
    "rm a b": "d:a d:b",
    "rm -rf a": "d:a+",
    "rmdir a": "d:a",
    "unlink a": "d:a",
    "shred -u a": "w:a d:a",
    "touch -r a b": "r:a w:b",
    "mkdir -p a/b": "w:a/b",
    "tee -a a": "w:a",
    "truncate -s 0 a": "w:a",
    "chmod 644 a": "w:a",
    "chmod -R 755 a": "w:a+",
    "chmod --reference=a b": "r:a w:b",
    "chown -R me:me a": "w:a+",
    "dd if=a of=b bs=1": "r:a w:b",
    "sort -o a b": "w:a r:b",
    "sort -oa b": "w:a r:b",
    "uniq a b": "r:a w:b",
    "tar xzf a -C b": "r:a w:b+",
    "tar xf a": "r:a w:.+",
    "tar -czf a b c": "w:a r:b+ r:c+",
    "unzip -l a": "r:a",
    "unzip a": "r:a w:.+",
    "unzip -d b a": "w:b+ r:a",
    # Programs of the network.
    "curl https://example.com/a": "h:https://example.com/a",
    "curl -sSL -o a https://example.com": "w:a h:https://example.com",
    "curl -O example.com/a": "h:example.com/a w:.+",
    "curl -d @a https://example.com": "r:a h:https://example.com",
    "curl -d a=b https://example.com": "h:https://example.com",
    "curl -T a --url https://example.com": "r:a h:https://example.com",
    "wget -q https://example.com/a": "h:https://example.com/a w:.+",
    "wget -O a https://example.com": "w:a h:https://example.com",
    "wget -P a https://example.com": "w:a+ h:https://example.com",
    "scp a me@example.com:b": "r:a h:example.com",
    "scp '[::1]:a' b": "h:[::1] w:b+",
    "rsync -a example.com:a b": "h:example.com w:b+",
    "rsync -a --delete a/ b": "r:a/+ w:b+ d:b+",
    "rsync -a --del --exclude-from=x a/ b": "r:x r:a/+ w:b+ d:b+",
    "rsync -a --remove-source-files a b": "r:a+ d:a+ w:b+",
    "rsync -an --delete a/ host:b": "h:host r:a/+",
    "mv --debug a b": "r:a+ d:a+ i:b+",
    "tar -cf a --remove-files b c": "w:a r:b+ d:b+ r:c+ d:c+",
    "ping -c 1 example.com": "h:example.com",
    "dig +short example.com": "h:example.com",
    "nc -z example.com 80": "h:example.com",
}
"""Commands whose operands are all known, and what they are: `+` for a tree, `i` for what copies are made into or of;
None if they must not be known."""

TOLD = {
    "find . -name a -exec cat {} +": "l:.+",
    "find a b -exec grep c {} ';' -delete": "l:a+ l:b+ d:a+ d:b+",
    "xargs cat a": "r:a r:{}",
    "xargs echo a": "",
    "xargs": "",
    "git add a b": "r:a+ r:b+",
    "git --no-pager add -A": "r:.+",
    "git rm -r a": "d:a+",
    "git rm -r --cached a": "l:a+",
    "git clean -fd a": "r:a+ d:a+",
    "git clean -fdx": "r:.+ d:.+",
    "git clean -nd a": "r:a+",
    "trash a b": "r:a+ w:a+ d:a+ r:b+ w:b+ d:b+",
    "trash-put -rf a": "r:a+ w:a+ d:a+",
    "gio trash a": "r:a+ w:a+ d:a+",
    "gio trash --list": "",
    "gio remove -f a": "r:a+ w:a+ d:a+",
    "gio move a b": "r:a+ w:a+ d:a+ r:b+ w:b+",
    "zip -m a b": "r:a w:a r:b w:b d:b",
    "zip -rm a b": "r:a+ w:a+ r:b+ w:b+ d:b+",
    "zip -r a b": "r:a+ w:a+ r:b+ w:b+",
    "rclone purge a": "r:a+ w:a+ d:a+",
    "rclone delete m:a": "h:m",
    "rclone move -P a m:b": "r:a+ w:a+ d:a+ h:m",
    "rclone sync a b": "r:a+ w:a+ r:b+ w:b+ d:b+",
    "rimraf a": "r:a+ w:a+ d:a+",
    "git diff --no-index a ~/b": "r:--no-index+ r:a+ r:~/b+",
    "git -P a": "r:-P+ w:-P+",
    "git mv a b": "r:a+ d:a+ i:b+",
    "git clone https://example.com/a": "h:https://example.com/a w:.+",
    "git clone git@example.com:a b": "h:example.com w:b+",
    "git clone a b": "r:a+ w:b+",
    "ssh -p 22 me@example.com ls /": "h:example.com r:ls w:ls r:/ w:/",
    "python x.py": "r:x.py",
    "python -u x.py a": "r:x.py r:a w:a",
    "gzip a": "r:a w:a d:a",
    "less a": "r:a",
    "ldd a": "r:a",
    "kill 1": "",
    "hostname a": "",
    "tar tf a x": "r:a",
    "date 0101": "",
    "printf -v a b": "",
}
"""Commands whose operands are known, but that do or may do more than these tell."""


SIGNS = {Access.READ: "r", Access.WRITE: "w", Access.DELETE: "d", Access.LIST: "l"}


def operands(text: str) -> Operands:
    """Return the operands of one command."""
    (command,) = read_strictly(text)
    return touches_of(command.words)


def words_of(found: Operands) -> set[Word]:
    """Return every word that is a path, or that a copy is made of or into."""
    copied = {word for each in found.copies for word in (*each.sources, each.target)}
    return copied | {each.word for each in found.paths}


def named(found: Operands) -> set[str]:
    """Return paths and hosts in the notation of the list, the guesses among them."""
    both = (*found.paths, *found.guessed)
    paths = {f"{SIGNS[each.access]}:{each.word.text}{'+' * each.is_tree}" for each in both}
    copies = {f"i:{each.target.text}{'+' * each.is_tree}" for each in found.copies}
    return paths | copies | {f"h:{host.text}" for host in (*found.hosts, *found.guessed_hosts)}


def seen(found: Operands) -> set[str]:
    """Return the texts that are a path, or may be one."""
    return {each.word.text for each in (*found.paths, *found.guessed)}


@for_each(("text", "expected"), LISTED.items())
def test_operands_that_are_known(text: str, expected: str | None) -> None:
    """Every operand and every value of an option comes out as what the program does with it, and nothing else."""
    found = operands(text)
    assert found.is_listed == (expected is not None)
    assert expected is None or named(found) == set(expected.split())


@for_each(("text", "expected"), TOLD.items())
def test_operands_that_are_known_but_not_all(text: str, expected: str) -> None:
    """What runs a program, or does something that is neither a path nor a host, is nothing a permission may rely on."""
    found = operands(text)
    assert not found.is_listed
    assert named(found) == set(expected.split())


@for_each("text")
def test_operands_that_are_not_known(text: str) -> None:
    """What is not known about a command makes every word of it a possible path, and no permission may rely on it.

    What its record calls a name, such as a sub-command, is none.
    """
    found = operands(text)
    assert not found.is_listed
    words = read_strictly(text)[0].words
    names, _ = names_in_words(words)
    texts = {word.text for word in frozenset(words[1:]) - code_of(words) - names}
    assert texts <= seen(found) | {""}


@for_each(("text", "named", "unclear"))
def test_an_expansion_that_is_a_text_names_nothing(text: str, named: str, unclear: str) -> None:
    """It is the value of an option that is known to take one, or an operand that is known."""
    found = operands(text)
    assert {each.word.text for each in found.paths if each.word.is_open} == set(named.split())
    assert {word.text for word in found.unclear} == set(unclear.split())


def test_a_message_names_no_path() -> None:
    """A text with blanks is one operand."""
    assert ".env" not in seen(operands("git commit -m 'update .env handling'"))


def test_of_too_many_names_some_are_told() -> None:
    """The rest is a name that no one has seen, and no permission may rely on the list."""
    found = operands("cat " + " ".join(map(str, range(9000))))
    assert not found.is_listed
    assert found.paths[-1].word == Word("", is_open=True)


@for_each("text", ["curl", "curl --unknown"])
def test_of_too_many_hosts_some_are_told(text: str) -> None:
    """One that stands often counts once."""
    many = operands(f"{text} " + " ".join(f"{number}.example" for number in range(2000)))
    assert many.hosts[-1] == Word("", is_open=True)
    twice = operands(f"{text} " + "a.example " * 2000 + "b.example")
    assert "b.example" in {host.text for host in twice.hosts}


def test_a_command_that_only_reads_writes_nothing() -> None:
    """Where operands are not known, a command that certainly only reads is no possible writer."""
    for text in ("cat *.py", "git diff -- a", "git show HEAD:a", "xargs cat"):
        found = operands(text)
        assert {each.access for each in (*found.paths, *found.guessed)} == {Access.READ}
    assert "r:a" in named(operands("git show HEAD:a"))
    assert operands("xargs grep https://example.com").hosts == ()


def test_the_hosts_that_a_program_expands_are_all_named() -> None:
    """As `curl` does, in an address."""
    found = operands("curl 'http://{a,b}.example/c[1-2]'").hosts
    assert [host.text for host in found] == ["http://a.example/c[1-2]", "http://b.example/c[1-2]"]


def test_words_keep_what_the_shell_may_make_of_them() -> None:
    """A home folder stays one as an operand or the next word, and is none where it is attached."""
    assert [each.word.is_home for each in operands("sort -o ~/a ~/b").paths] == [True, True]
    assert [each.word.is_home for each in operands("sort -o~/a").paths] == [False]
    assert [each.word.is_glob for each in operands("cp a/* b").paths] == [True]
    assert [each.sources[0].is_glob for each in operands("cp a/* b").copies] == [True]


@for_each("text", ["cat", "cp a", "grep x", "sed p", "sort -k", "curl", "git", "find -newer", "test -f"])
def test_an_open_word_is_never_known(text: str) -> None:
    """An expansion may become an option or several words: nothing may rely on what is there."""
    words = (*read_strictly(text)[0].words, Word("$x", is_open=True))
    assert not touches_of(words).is_listed
    assert words[-1] in words_of(touches_of(words))


def stored(name: str) -> Iterator[tuple[str, Command]]:
    """Yield the commands of a file next to this one that are readable, their wrappers taken off."""
    for line in Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines():
        try:
            found = classify(read_strictly(line.replace("⏎", "\n")))
        except UnreadableError:
            continue
        yield from ((line, each.command) for each in found if isinstance(each, Classified))


def test_what_only_reads_names_nothing_else() -> None:
    """A command that only reads writes nothing, deletes nothing and connects to nothing, whatever its words are."""
    for line, command in stored("commands_reading.txt"):
        found = touches_of(command.words, only_reads)
        assert not any(each.access.is_change for each in found.paths), line
        assert found.hosts == (), line


def test_what_does_more_than_read_says_so_or_is_not_listed() -> None:
    """A permission over paths and hosts never covers a doubt that is neither."""
    for line, command in stored("commands_dangerous.txt"):
        found = touches_of(command.words)
        does = found.hosts or found.copies or any(each.access.is_change for each in found.paths)
        alone = attrs.evolve(command, redirections=(), assignments=(), within=())
        assert does or not found.is_listed or why_not_reading(alone) is None, line


def test_a_program_that_is_not_sure_is_not_known() -> None:
    """A program named by an expansion is none of those that are known, whatever it is written like."""
    found = touches_of((Word("cat", is_open=True), Word("a")))
    assert not found.is_listed
    assert named(found) == {"r:a", "w:a"}


def entries() -> Iterator[tuple[str, Entry]]:
    """Yield every entry of the data, those of sub-commands as well."""
    for name, entry in catalogue().items():
        yield name, entry
        yield from ((f"{name} {inner}", command) for inner, command in entry.commands.items())


def test_the_data_says_what_most_operands_are() -> None:
    """At least 120 programs are classified."""
    assert sum(bool(entry.shapes) for entry in catalogue().values()) >= 120


def test_shapes_name_options_that_are_known() -> None:
    """Every option that has a meaning is in the lists of the program, and every role is one."""
    fields = (
        "when",
        "instead",
        "reads",
        "writes",
        "entries",
        "at",
        "folders",
        "connects",
        "trees",
        "keeps",
        "exact",
        "unsure",
    )
    for name, entry in entries():
        kinds = attrs.astuple(entry.known, recurse=False)
        known = frozenset().union(*(kind for kind in kinds if isinstance(kind, frozenset)), ("*", "if", "of"))
        for shape in entry.shapes:
            used = {option.removesuffix("=") for field in fields for option in getattr(shape, field)}
            used |= shape.strips | shape.alters
            assert used <= known, name
            assert all(roles(shape)), name


def roles(shape: Shape) -> Iterator[bool]:
    """Yield whether each role of a shape is known."""
    known = {"list", "read", "kept", "write", "replace", "delete", "any", "below", "into", "link", "linked"}
    known |= {"host", "text", "pair", "none", "file", "name"}
    for role in shape.operands:
        yield set(role.rstrip("*+?").split("/")) <= known
    yield shape.here in ("", "new", "read", "write", "trees")
    yield shape.format in ("", "patch", "tar", "tree", "zip")


@for_each(
    "text",
    ["x " + "a=" * 30_000, "x " + "a://" * 16_000, "rg " + "-i " * 20_000, "x " + "b " * 30_000, "x " + "a" * 65_000],
)
def test_long_commands_take_no_time(text: str) -> None:
    """The operands of 64 KiB are told without an explosion."""
    words = read_strictly(text)[0].words
    begin = time.process_time()
    touches_of(words)
    assert time.process_time() - begin < 8
