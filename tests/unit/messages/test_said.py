"""The text of a message that the user wrote."""

from tests.tables import for_each

from permitry.messages.said import is_users_own, user_text


@for_each(
    ("message", "text"),
    [
        ({"role": "user", "content": "Pay Ann."}, "Pay Ann."),
        ({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"}]}, "a"),
        ({"role": "user", "parts": [{"text": "a"}]}, "a"),
        ({"role": "user", "content": [{"type": "image", "source": {}}, {"type": "text", "text": "a"}]}, "a"),
        ({"role": "user", "content": [{"type": "image"}]}, None),
        ({"role": "assistant", "content": "a"}, None),
        ({"role": "tool", "content": "a"}, None),
        ({"role": "system", "content": "a"}, None),
        ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "a"}]}, None),
        (
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1"}, {"type": "text", "text": "a"}]},
            None,
        ),
        ({"role": "user", "parts": [{"functionResponse": {}}, {"text": "a"}]}, None),
        ({"role": "user", "content": [{"type": "text"}]}, None),
        ({"role": "user", "content": ["a"]}, None),
        ({"role": "user", "content": [{"toolResult": {}}, {"text": "a"}]}, None),
        ({"role": "user", "content": [{"type": "tool-result"}, {"type": "text", "text": "a"}]}, None),
        ({"role": "user", "content": [{"type": "document", "text": "b"}, {"type": "text", "text": "a"}]}, "a"),
        ({"role": "user", "content": "a", "toolUseResult": {}}, None),
        ({"role": "user"}, None),
        (["a"], None),
    ],
)
def test_what_a_user_wrote(message: object, text: str | None) -> None:
    """In the forms of the providers; a result of a tool is never the user's."""
    assert user_text(message) == text


@for_each(
    ("more", "is_own"),
    [
        ({}, True),
        ({"turnOrigin": "sdk"}, True),
        ({"turnOrigin": "task"}, False),
        ({"turnOrigin": None}, False),
        ({"origin": {"kind": "human"}}, True),
        ({"origin": {"kind": "agent"}}, False),
        ({"origin": "human"}, False),
        ({"isMeta": True}, False),
        ({"isSidechain": True}, False),
        ({"wakeupSource": "timer"}, False),
    ],
)
def test_a_transcript_must_show_that_a_message_is_the_users(more: dict[str, object], *, is_own: bool) -> None:
    """What it does not say counts as another's."""
    assert is_users_own({"turnOrigin": "human", **more}) is is_own
