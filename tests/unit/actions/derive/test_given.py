"""What a command is given besides its words."""

from permitry.actions.derive.given import given_of, touches_of_patch
from permitry.actions.folders import Folder
from permitry.actions.reading.strict import read_strictly
from permitry.core.action import Place


def test_the_input_of_a_command_is_its_file() -> None:
    """Of several, or of another descriptor, it is not said which one is read."""
    found = [
        given_of(read_strictly(text)[0], None, (), is_last=True).input
        for text in ("patch < a", "patch 0< a", "patch 3< a", "patch < a < b", "patch > a", "patch <<< a")
    ]
    assert [word and word.text for word in found] == ["a", "a", None, None, None, None]


def test_a_here_document_is_all_of_the_input() -> None:
    """But not with an expansion in it, or next to a file."""
    texts = ("patch << E\nx\nE\n", "patch << E\n$x\nE\n", "patch << E < a\nx\nE\n")
    found = [given_of(read_strictly(text)[0], "x", (), is_last=True).is_one_text for text in texts]
    assert found == [True, False, False]


def test_any_file_may_be_written_unless_nothing_else_runs() -> None:
    """In a pipeline, the other commands may write to what this one reads."""
    command, place = read_strictly("tar xf a")[0], Place("a", ("/a",), ("/a",))
    assert [given_of(command, None, (), is_last=last).is_written(place) for last in (False, True)] == [True, False]


def test_a_patch_of_too_many_files_touches_nothing_for_certain() -> None:
    """As many as are allowed are reported."""
    files = [f"*** Delete File: {i}\n" for i in range(4_097)]
    assert touches_of_patch(f"*** Begin Patch\n{''.join(files)}*** End Patch", Folder(("/nowhere",), "/nowhere")) == (
        (), "the patch touches more than 4096 files"
    )  # fmt: skip
    touches, doubt = touches_of_patch(
        f"*** Begin Patch\n{''.join(files[1:])}*** End Patch", Folder(("/nowhere",), "/nowhere")
    )
    assert (len(touches), doubt) == (4_096, None)
