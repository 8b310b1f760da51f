"""What a host can carry out of a decision: each adapter says it in a constant."""

from typing import Literal

import attrs

__all__ = ["Capabilities"]


@attrs.frozen
class Capabilities:
    """What becomes of a question, and what reaches the tool and the model.

    `asks`: the host waits (`inline`), stops and goes on later (`suspend`), or shows the model how the call can be
    approved (`refuse`). `edits`: a human may change the arguments. `refuses_in_words`: the model is shown the text of
    a refusal. `outlives`: a question may be answered in another process. `in_parallel`: calls of one message run at
    the same time. `sees_text`: the adapter gets the arguments as the model wrote them, not what the host read in them.
    `repeats_ids`: two calls of one message may have one id; other hosts refuse such a message, or show one result.
    """

    asks: Literal["inline", "suspend", "refuse"]
    edits: bool = True
    refuses_in_words: bool = True
    outlives: bool = False
    in_parallel: bool = False
    sees_text: bool = True
    repeats_ids: bool = True
