"""No change of an answer on its way makes another answer of it."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permitry.channels.http_post import Reply
from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.webhook import WebhookChannel, sign
from permitry.core.call import ToolCall
from permitry.errors import ChannelError

SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
REQUEST = ToolConfirmationRequest(ToolCall("write", {"path": "a"}), pending_id="p1")
QUESTION = {"id": "p1", "digest": REQUEST.call.digest}
RESPONSES = st.builds(ToolConfirmationResponse, st.booleans(), abort=st.booleans(), instructions=st.text(max_size=5))


def _asked(headers: dict[str, str], body: bytes) -> ToolConfirmationResponse | None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("permitry.channels.webhook.post", lambda *_, **__: Reply(200, "OK", headers, body))
        return WebhookChannel("https://a.example", SECRET).ask(REQUEST)


@given(RESPONSES, st.integers(min_value=0))
def test_an_answer_with_a_flipped_bit_is_none(response: ToolConfirmationResponse, number: int) -> None:
    """Wherever the bit is: in the body, or in one of the headers."""
    headers, body = sign(response, QUESTION, SECRET)
    assert _asked(headers, body) == response
    parts = [*(value.encode("latin-1") for value in headers.values()), body]
    place, bit = divmod(number % (8 * sum(map(len, parts))), 8)
    for i, part in enumerate(parts):
        if place < len(part):
            parts[i] = bytes([*part[:place], part[place] ^ (1 << bit), *part[place + 1 :]])
            break
        place -= len(part)
    changed = dict(zip(headers, (part.decode("latin-1") for part in parts), strict=False))
    with pytest.raises(ChannelError):
        _asked(changed, parts[-1])


@given(RESPONSES, st.sampled_from(["id", "digest"]), st.text(min_size=1, max_size=5))
def test_an_answer_to_another_question_is_none(response: ToolConfirmationResponse, key: str, other: str) -> None:
    """Signed as it should be."""
    if QUESTION[key] != other:
        with pytest.raises(ChannelError):
            _asked(*sign(response, {**QUESTION, key: other}, SECRET))
