"""What programs run besides themselves, as far as their words say it."""

from tests.tables import for_each

from permitry.actions.derive.runners import program_of, shell_text, unfolded
from permitry.actions.programs.running import Inner
from permitry.actions.reading.lenient import read_leniently
from permitry.core.action import Word


def words_of(text: str) -> tuple[Word, ...]:
    """Return the words of the first command of a text."""
    return read_leniently(text).commands[0].words


def _words(*texts: str) -> tuple[Word, ...]:
    return tuple(map(Word, texts))


@for_each("text")
def test_the_words_behind_a_program_are_found(text: str) -> None:
    """Options and their values are stepped over."""
    assert ("rm", "x") in {tuple(word.text for word in inner.words) for inner in unfolded(words_of(text))}


@for_each("text")
def test_the_text_for_a_shell_is_found(text: str) -> None:
    """It comes out as it will be read."""
    assert "rm x" in {(inner.text or "").strip() for inner in unfolded(words_of(text))}


@for_each("option", ["-S 'rm x'", "-S'rm x'", "-iS 'rm x'", "--split-string='rm x'"])
def test_env_splits_a_text(option: str) -> None:
    """In every spelling of the option."""
    assert "rm x" in {(inner.text or "").strip() for inner in unfolded(words_of(f"env {option}"))}


@for_each("text", ["ls -la", "command -v rm", "echo rm x", "git push", "find . -name rm", "grep sudo f"])
def test_a_plain_command_runs_nothing_else(text: str) -> None:
    """Most programs run only themselves."""
    assert unfolded(words_of(text)) == ()


def test_what_xargs_adds_is_open() -> None:
    """The arguments come from its input."""
    assert any(inner.words[-1].is_open for inner in unfolded(words_of("xargs git push")))


@for_each(
    ("text", "each"),
    [
        ("pee {}", "'a{}' "), ("vim {}", "-c ':!a{}' "), ("find . {}", "-exec a{} ';' "), ("psql {}", "-c '\\! a{}' "),
        ("sed '{}' f", "e a{}\n"), ("parallel ::: {}", "a{} "), ("systemd-run {}rm x", "--b{} b "),
        ("env {}", "-S a{} "), ("setarch {}rm x", "-R "), ("docker run {}--entrypoint rm a x", "-v a "),
    ],
)  # fmt: skip
@for_each("count", [12, 70])
def test_of_too_many_commands_the_rest_may_be_any(text: str, each: str, count: int) -> None:
    """What is not looked at is not taken for harmless."""
    inners = unfolded(words_of(text.format("".join(each.format(at) for at in range(count)))))
    last = f"a{count - 1}" if "a{}" in each else "rm x"
    found = [inner.text or " ".join(word.text for word in inner.words) for inner in inners]
    assert any(last in command for command in found) or "{}" in found


@for_each("text", ["/usr/lib/git-core/git-push -f x", "git-push -f x"])
def test_a_program_of_git_is_a_command_of_git(text: str) -> None:
    """By the name of its file."""
    assert "git push -f x" in {" ".join(word.text for word in inner.words) for inner in unfolded(words_of(text))}


def test_the_mark_of_xargs_is_none_of_its_command() -> None:
    """Not the option of another program, nor the word behind an attached mark."""
    for text in ("xargs sed -i s/a/b/ f", "xargs -I{} sed s/a/b/ {}"):
        words = [word for inner in unfolded(words_of(text)) for word in inner.words]
        assert not any(word.is_open for word in words if word.text != "{}")


def test_what_hash_puts_behind_a_name_is_run() -> None:
    """With whatever words that name is called with."""
    [inner] = unfolded(words_of("hash -p /bin/rm foo"))
    assert (inner.words[0].text, inner.words[1].is_open) == ("/bin/rm", True)


def test_the_mark_of_xargs_is_whatever_it_says() -> None:
    """A word that holds it becomes one that no one knows."""
    for text in ("xargs -I% rm a%", "xargs -I % rm a%", "xargs --replace=% rm a%", "xargs rm a{}"):
        assert any(inner.words[1:2] and inner.words[1].is_open for inner in unfolded(words_of(text)))


def test_env_splits_options_as_well() -> None:
    """What is split is read by `env` again."""
    assert Inner("env", text="env -i rm x") in unfolded(words_of("env -S '-i rm x'"))


def test_a_program_is_named_without_its_folder() -> None:
    """`/bin/rm` is `rm`, and nothing is the name of no words."""
    assert (program_of((Word("/bin/rm"),)), program_of(())) == ("rm", "")


@for_each(
    "text",
    ["awk '{system($0)}'", "gawk '{print | $1}'", "mawk '{x = \"rm\"; x | getline}'", 'awk \'{system("r" "m")}\''],
)
def test_a_command_that_awk_computes_is_any_command(text: str) -> None:
    """Not one of the texts in its program."""
    assert any(word.is_open for inner in unfolded(words_of(text)) for word in inner.words)


@for_each("text", ["awk '{system(\"ls\")}'", "awk '{\"ls\" | getline}'", "awk 'a || b {print}'"])
def test_a_command_that_stands_in_awk_is_that_one(text: str) -> None:
    """And no other."""
    assert not any(word.is_open for inner in unfolded(words_of(text)) for word in inner.words)


@for_each("option", ["-c", "-ec", "--command"])
def test_a_shell_reads_the_text_of_its_option(option: str) -> None:
    """Its parameters may be commands where the text uses them."""
    (inner,) = shell_text(_words("bash", option, "ls", "a"))
    assert inner.text == "ls"
    texts = list(shell_text(_words("bash", option, "$0 x", "rm", "a")))
    assert [(each.is_guess, [word.text for word in each.words]) for each in texts[1:]] == [
        (True, ["rm", "a"]),
        (True, ["a"]),
    ]


def test_a_shell_without_a_text_runs_a_script() -> None:
    """With its words."""
    assert ("s.sh", "a") in [
        tuple(word.text for word in each.words) for each in shell_text(_words("bash", "-e", "s.sh", "a"))
    ]


def test_a_shell_that_only_checks_its_text_runs_none() -> None:
    """Not even as a guess."""
    assert list(shell_text(_words("bash", "-en", "f"))) == []
