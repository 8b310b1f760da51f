"""Reading the names in archives and patches: bounded, and only where other programs read the same."""

import os
import zipfile
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.actions import archives
from permitry.actions.archives import names_in, names_in_patch

DIFF = "--- a/x/y.c\n+++ b/x/y.c\n@@ -1 +1 @@\n-a\n+b\n"


@for_each(
    ("strip", "names"),
    [
        (None, ("x/y.c", "y.c")),
        (0, ("x/y.c", "a/x/y.c", "b/x/y.c")),
        (1, ("x/y.c",)),
        (2, ("y.c",)),
        (3, ()),
    ],
)
def test_the_names_of_a_patch_are_cut(strip: int | None, names: tuple[str, ...]) -> None:
    """Without `-p`, `patch` takes the one that is there."""
    assert names_in_patch(DIFF, strip) == names


def test_a_doubtful_patch_has_no_names(tmp_path: Path) -> None:
    """Another program may find more in it; so it is with one that is no text."""
    assert names_in_patch(DIFF + " --- a/z\n", 1) is None
    (tmp_path / "p").write_bytes(b"\xff" + DIFF.encode())
    assert names_in(str(tmp_path / "p"), "patch", 1) is None


def test_only_ordinary_files_are_opened(tmp_path: Path) -> None:
    """To open a pipe would wait for ever, and what is missing has no names."""
    os.mkfifo(tmp_path / "pipe")
    assert [names_in(str(tmp_path / name), "tar", None) for name in ("pipe", "", "missing")] == [None, None, None]


def test_a_zip_has_a_limit_on_its_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be read as a whole; and a link in it that holds a file leads elsewhere."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a/b", "")
        archive.writestr("c\\d", "")
    path = str(tmp_path / "a.zip")
    assert names_in(path, "zip", None) == ("a/b", "c/d")
    link = zipfile.ZipInfo("a")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr(link, "/etc")
        archive.writestr("a/b", "")
    assert names_in(str(tmp_path / "b.zip"), "zip", None) is None
    monkeypatch.setattr(archives, "_LARGEST_DIRECTORY", 10)
    assert names_in(path, "zip", None) is None
