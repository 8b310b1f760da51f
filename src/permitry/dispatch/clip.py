"""Long texts, cut to their two ends."""

__all__ = ["clip", "join_ends"]


def clip(text: str, limit: int, note: str = "") -> str:
    """Return `text` in about `limit` characters: its ends, a marker between, and `note` on what is kept elsewhere."""
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    start, end = text[:head], text[len(text) - limit + head :]
    return join_ends(start, end, len(text), note)


def join_ends(head: str, tail: str, length: int, note: str = "") -> str:
    """Return the two ends of a text of `length` characters, with a marker that counts what is between them."""
    more = f"; {note}" if note else ""
    left_out = length - len(head) - len(tail)
    return f"{head}\n...[{left_out} characters left out{more}]...\n{tail}"
