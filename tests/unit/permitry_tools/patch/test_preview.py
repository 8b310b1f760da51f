"""What a human is shown of a patch."""

from collections.abc import Callable
from pathlib import Path

import pytest

from permitry.core.call import ToolCall
from permitry.dispatch.registry import ToolRegistry


@pytest.fixture
def shown(registry: ToolRegistry) -> Callable[..., str | None]:
    """Return a function that previews a patch with these lines."""
    return lambda *lines: registry.preview(
        ToolCall("apply_patch", {"input": "\n".join(("*** Begin Patch", *lines, "*** End Patch"))})
    )


def test_all_files_are_shown(root: Path, shown: Callable[..., str | None]) -> None:
    """In the order of the patch, with the names before and after; and nothing is done."""
    (root / "a").write_text("1\n2\n", encoding="utf-8")
    (root / "b").write_text("3", encoding="utf-8")
    text = shown("*** Update File: a", "*** Move to: d/a", "-2", "+two", "*** Add File: n", "+x", "*** Delete File: b")
    assert text == (
        "--- a/a\n+++ b/d/a\n@@ -1,2 +1,2 @@\n 1\n-2\n+two\n"
        "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n"
        "--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-3\n\\ No newline at end of file\n"
    )
    assert sorted(path.name for path in root.iterdir()) == ["a", "b"]


def test_what_is_overwritten_is_shown(root: Path, shown: Callable[..., str | None]) -> None:
    """An addition may replace a file, under the name it really has, and so may a move."""
    (root / "a").write_text("old\n", encoding="utf-8")
    (root / "link").symlink_to("a")
    (root / "b").write_text("b\n", encoding="utf-8")
    (root / "c").write_text("c\n", encoding="utf-8")
    assert shown("*** Add File: link", "+new") == "--- a/a\n+++ b/link\n@@ -1 +1 @@\n-old\n+new\n"
    text = shown("*** Update File: b", "*** Move to: c", "-b", "+B")
    assert text == "--- a/b\n+++ b/c\n(`c` is there already and is replaced)\n@@ -1 +1 @@\n-b\n+B\n"


def test_what_is_no_text_is_reported(root: Path, shown: Callable[..., str | None]) -> None:
    """Bytes and links cannot be compared."""
    (root / "bytes").write_bytes(b"\xff")
    (root / "link").symlink_to("bytes")
    lines = shown("*** Delete File: link", "*** Add File: other", "+x") or ""
    assert lines.startswith("--- a/link\n+++ /dev/null\n(a link is removed, not what it leads to)\n--- /dev/null\n")
    for line in ("*** Delete File: bytes", "*** Add File: bytes"):
        assert (shown(line) or "").endswith("\n(the old content is not text, or too large to show)\n")


def test_a_long_patch_is_reported_in_short(shown: Callable[..., str | None]) -> None:
    """Comparing takes long where there is much; the first files are still shown in full."""
    text = shown("*** Add File: a", "+x", "*** Add File: b", *["+y"] * 5_000, "*** Add File: c", "+z") or ""
    assert "+x\n" in text
    assert text.endswith(
        "+++ b/b\n(0 lines become 5000; too many to compare)\n"
        "--- /dev/null\n+++ b/c\n(0 lines become 1; too many to compare)\n"
    )


def test_a_patch_that_would_fail_shows_why(shown: Callable[..., str | None]) -> None:
    """The human sees it before the model does."""
    assert shown() == "(no preview: apply_patch verification failed: No files were modified.)"
