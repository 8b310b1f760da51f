"""Long texts, cut to their two ends."""

__all__ = ["clip", "join_ends"]


def clip(text: str, limit: int, note: str = "") -> str:
    """Return `text`, which is longer, in about `limit` characters, with a `note` on what is kept elsewhere."""
    head = limit * 2 // 3
    tail = limit - head
    start = text[:head]
    end = text[len(text) - tail :]
    return join_ends(start, end, len(text), note)


def join_ends(head: str, tail: str, length: int, note: str = "") -> str:
    """Return the two ends of a text of `length` characters, with a marker that counts what is between them."""
    gap = length - len(head) - len(tail)
    more = f"; {note}" if note else ""
    marker = f"...[{gap} characters left out{more}]..."
    return f"{head}\n{marker}\n{tail}"
