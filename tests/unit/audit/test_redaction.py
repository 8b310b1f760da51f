"""What the record does not keep."""

import json
import time
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.tables import for_each

from permitry.audit.record import JsonlRecorder
from permitry.audit.redaction import DOUBTFUL, REDACTED, redact_text, redacted
from permitry.core.call import ToolCall

CANARY = "Canary7Canary7Canary7Canary7"
FORMS = [
    f"ghp_{CANARY}", f"github_pat_{CANARY}", f"glpat-{CANARY}", f"xoxb-{CANARY}", f"sk-ant-api03-{CANARY}",
    f"sk_live_{CANARY}", f"AIza{CANARY}", f"ya29.{CANARY}", f"npm_{CANARY}", f"hf_{CANARY}", f"pypi-{CANARY}",
    f"hvs.{CANARY}", f"AGE-SECRET-KEY-1{CANARY.upper()}", f"eyJhbGciOiJI.{CANARY}.{CANARY}", f"eyJhbGciOiJI.{CANARY}",
    f"https://ann:{CANARY}@example.com/a", f"curl -H 'Authorization: Bearer {CANARY}' x", f"Bearer {CANARY}",
    f"Authorization: Basic {CANARY}", f"authorization={CANARY} x", f"Cookie: a=1; session={CANARY}", f"https://x.com/?a=1&key={CANARY}&b=2",
    f"https://x.com/?X-Amz-Signature={CANARY}", f"PGPASSWORD={CANARY} psql", f"export API_KEY='{CANARY} {CANARY}'",
    f'{{"password": "{CANARY} {CANARY}"}}',
    f'{{\\"password\\": \\"{CANARY} {CANARY}\\"}}', f"aws_secret_access_key = {CANARY}",
    f"mysql --password {CANARY} -e x", f"mysql -u root -p{CANARY} db", f"sshpass -p {CANARY} ssh x",
    f"docker login -u bob -p {CANARY}", f"curl -u ann:{CANARY} x", f"curl --user 'ann:{CANARY}' x", f"token: {CANARY}",
    f"-----BEGIN OPENSSH PRIVATE KEY-----\n{CANARY}\n{CANARY}\n-----END OPENSSH PRIVATE KEY-----",
    f"-----BEGIN PRIVATE KEY-----\n{CANARY}",
]  # fmt: skip


@for_each("text", FORMS)
def test_no_secret_stays(text: str) -> None:
    """Wherever in a text it is; and what is left says that there was one."""
    for whole in (text, f"cd a && {text}", f"{text} || true", f"first\n{text}\nlast"):
        left = redact_text(whole)
        assert CANARY.lower() not in left.lower()
        assert REDACTED in left or DOUBTFUL in left
        assert redact_text(left) == left


@for_each("text")
def test_what_hides_a_command_says_so(text: str) -> None:
    """Who reads the record, or answers a question without its secrets, must not take it for a secret alone."""
    left = redact_text(text)
    assert DOUBTFUL in left or "rm" in left
    assert redact_text(left) == left


@for_each(
    "text",
    ["password=a", "export TOKEN='a b'", "Cookie: a=1; session=b", "Cookie: a=1; b=2; c=",
     "-----BEGIN PRIVATE KEY-----\nab/+\nab==\n"],
)  # fmt: skip
def test_a_secret_alone_is_not_doubtful(text: str) -> None:
    """Or a reader would learn to look past it."""
    assert REDACTED in redact_text(text)


@for_each("text")
def test_other_texts_stay_as_they_are(text: str) -> None:
    """A record without its words explains nothing."""
    assert redact_text(text) == text


@for_each(
    "name", ["password", "apiKey", "API_KEY", "DB_PASSWORD", "authToken", "secrets", "Authorization", "accessKey"]
)
def test_what_a_name_says_is_secret_is_left_out_whole(name: str) -> None:
    """With all that is below it; numbers tell no secret."""
    assert redacted({name: "x", "a": {name: ["x", {"b": "y"}], "c": 5}}) == {
        name: REDACTED, "a": {name: [REDACTED, {"b": REDACTED}], "c": 5}
    }  # fmt: skip


@for_each("name", ["path", "max_tokens_left", "keyboard", "secretary", "tokenizer", "compass", "monkey"])
def test_other_names_say_nothing(name: str) -> None:
    """A part of another word is no name of a secret."""
    value = 5 if name == "max_tokens_left" else "a"
    assert redacted({name: value}) == {name: value}


def test_an_empty_secret_is_seen_to_be_empty() -> None:
    """It is none."""
    assert redacted({"password": "", "token": None, "secret": 5}) == {"password": "", "token": None, "secret": 5}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_what_is_left_has_the_same_shape(value: object) -> None:
    """And stays as it is when it is looked at again."""
    left = redacted(value)
    assert redacted(left) == left
    assert json.dumps(left)
    assert type(left) is type(value)


@for_each(("words", "hidden"))
def test_a_secret_behind_its_option_in_a_list_is_left_out(words: list[object], hidden: str) -> None:
    """As it is in a text; the number of items stays."""
    left = redacted({"argv": words})["argv"]
    assert hidden not in str(left)
    assert len(left) == len(words)
    assert redacted(left) == left


@for_each(
    "words",
    [
        ["--token", "--verbose", "x"], ["grep", "token", "file"], ["ls", "-la", "src"], ["secret.txt", "-p", "x"],
        ["curl", "-H", "Cookie: [redacted]", "https://x"], ["--token=[redacted]", "y"], ["git", "-m", "a key:"], [1],
    ],
)  # fmt: skip
def test_other_items_of_a_list_stay(words: list[object]) -> None:
    """They come behind no option for a secret, or one that has its value already."""
    assert redacted(words) == words


def test_an_item_that_may_run_commands_says_so() -> None:
    """A list may be joined to a shell text."""
    assert redacted(["--password", "; rm b.py"]) == ["--password", DOUBTFUL]


def test_the_time_is_in_the_length_of_the_text() -> None:
    """An agent chooses the text, and a person waits."""
    parts = ["x", "a:b -u ", "password", "://a:", "eyJaaaaaaaa.", "-----BEGIN PRIVATE KEY-----", "bearer ", "-a"]
    for part in [*parts, "cookie:", "?key=", "login ", "password='", "authorization:"]:
        took = []
        for size in (20_000, 200_000):
            text = part * (size // len(part))
            runs = []
            for _ in range(3):
                since = time.process_time()
                redact_text(text)
                runs.append(time.process_time() - since)
            took.append(min(runs))
        # Ten times the text; a square would be a hundred.
        assert took[1] < 50 * took[0], part


def test_no_secret_is_written_to_the_disk(tmp_path: Path) -> None:
    """In no detail: not what a human wrote, and not the traceback of a tool."""
    recorder = JsonlRecorder(str(tmp_path / "audit.jsonl"))
    for text in FORMS:
        recorder.record("decided", ToolCall("look"), arguments={"a": text, "b": [text]}, reason=text, errors=[text])
        recorder.record("answered", ToolCall("look"), instructions=text)
        recorder.record("finished", ToolCall("look"), error=text)
    recorder.record("decided", ToolCall("look"), arguments={"apiKey": CANARY})
    assert CANARY.lower() not in (tmp_path / "audit.jsonl").read_text(encoding="utf-8").lower()
