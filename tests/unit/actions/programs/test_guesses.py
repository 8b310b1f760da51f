"""What programs may run by the look of their words."""

from tests.tables import for_each

from permitry.actions.programs.guesses import guessed
from permitry.actions.reading.lenient import read_leniently

TEXTS = (
    "tmux new 'rm x'", "tmux send-keys 'rm x' Enter", "screen -X stuff 'rm x'", "gdb -ex 'shell rm x'",
    "gdb -ex '!rm x'",
    "fzf --preview='rm x'", "adb shell 'rm x'", "sg g 'rm x'", "vim -c ':!rm x' f", "vim +':!rm x' f",
    "nvim -c 'lua os.execute(\"rm x\")'", "unknown exec 'rm x'",
)  # fmt: skip


@for_each("text", TEXTS)
def test_a_text_within_a_word_is_guessed(text: str) -> None:
    """Whatever may be a command comes out as one."""
    words = read_leniently(text).commands[0].words
    assert "rm x" in {(inner.text or "").strip() for inner in guessed(words[0].text, words)}


@for_each("text", ["git commit -m 'rm x'", "ls 'rm x'", "sed s/a/b/ f", "vim README.md", "tmux ls"])
def test_most_words_are_no_commands(text: str) -> None:
    """Nothing is guessed for a program that runs none."""
    words = read_leniently(text).commands[0].words
    assert list(guessed(words[0].text, words)) == []
