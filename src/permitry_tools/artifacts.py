"""The tools `list_artifacts` and `read_artifact`, and the folder that keeps what was too long to show."""

import contextlib
import errno
import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, ClassVar

import attrs
from pydantic import Field

from permitry.port import (
    CREATE,
    DIRECTORY,
    ToolError,
    ToolInvocation,
    ToolRegistry,
    open_regular,
    replace_file,
    with_check,
)
from permitry_tools._reading import Asked, body_of, lines_of
from permitry_tools._spec import READS, ROLES, Arguments, fit, spec
from permitry_tools.workspace import Workspace

__all__ = ["FOLDER", "ArtifactStore", "KeptText", "register"]

FOLDER = ".openplanter_artifacts"
"""The folder below the workspace in which artifacts are looked for, unless a store is given."""

_OWN = ".permitry"
_IGNORE = ".gitignore"
_IGNORED = b"# Kept by permitry: answers of tools, with whatever secrets are in them.\n*.jsonl\n/.gitignore\n"
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
# As `secrets.token_hex(16)` names them: what a user or a repository put there has another name, and stays.
_OWN_FILE = re.compile(r"[0-9a-f]{32}\.jsonl")
_MOST_LISTED = 200
_MOST_HEAD = 64 * 1024
_MOST_BYTES = 64 * 1024 * 1024
_MOST_SHOWN = 15_000
_LONGEST_SHOWN = 120
_LONGEST_PIECE = 4_000
_CHUNK = 64 * 1024
# Made once: output may come as fast as a pipe gives it.
_encoded = json.JSONEncoder(ensure_ascii=False).encode


class ListArtifacts(Arguments):
    """The arguments of `list_artifacts`: none."""


class ReadArtifact(Asked):
    """The arguments of `read_artifact`."""

    asked: ClassVar[Mapping[str, str]] = {"artifact_id": "read_artifact requires artifact_id"}
    artifact_id: str = Field(description="The id, as `list_artifacts` or a shortened answer names it.")
    offset: int = Field(0, ge=0, description="The first line to show; lines count from 0.")
    limit: int = Field(100, ge=1, le=10_000, description="How many lines to show at most.")


@attrs.frozen
class ArtifactStore:
    """Texts by id, each in a file `ID.jsonl` of `folder`: a line that describes it, then one line for each of the text.

    The first line is a JSON object with the `objective`, and the `agent` for whose call it was kept.

    At most `most` that it made itself are kept, with at most `size` bytes: for a new one the oldest are removed.

    A `.gitignore` keeps them out of commits; one that is in a folder of the user already stays as it is.

    Nothing outside the folder is read or written: an id is not a path, and links are not followed. Nor is a link in
    place of the folder itself, or of any folder from `.permitry` on: a repository can bring one along.
    """

    folder: Path = attrs.field(converter=Path)
    most: int = attrs.field(default=1_000, kw_only=True, validator=attrs.validators.ge(1))
    size: int = attrs.field(default=1024 * 1024 * 1024, kw_only=True, validator=attrs.validators.ge(0))

    def list(self, agent: str | None = None) -> str:
        """Return the ids and what each holds, sorted by id, as a text for the model.

        With `agent` only those it may see: its own, and those of which no agent is said.
        """
        names = [name for name in self._names() if agent is None or self._is_for(agent, name)]
        listed = list(_as_many_as_fit(f"- {name}: {self._objective(name)}" for name in names[:_MOST_LISTED]))
        rest = len(names) - len(listed)
        omitted = [f"...[omitted {rest} artifacts]..."] if rest > 0 else []
        return "\n".join([f"Artifacts ({len(names)}):", *listed, *omitted]) if names else "No artifacts found."

    def read(self, artifact_id: str, offset: int = 0, limit: int = 100, *, agent: str | None = None) -> str:
        """Return up to `limit` lines from line `offset` on, counted from 0, as a text for the model.

        Fewer are returned where they would be more than 15,000 characters. For `agent` there are only its own
        artifacts, and those of which no agent is said.

        Raises: `ToolError` when there is no such artifact, or no such line.
        """
        if agent is not None and not self._is_for(agent, artifact_id):
            raise _error_of_missing(artifact_id)
        with self._open(artifact_id) as stream:
            data = stream.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise ToolError(f"Artifact {artifact_id} is larger than {_MOST_BYTES} bytes.")
        lines = [body_of(line) for line in lines_of(data.decode(errors="replace"))]
        if offset >= len(lines) and offset > 0:
            raise ToolError(f"Artifact {artifact_id} has {len(lines)} lines, counted from 0; {offset} is past its end.")
        shown = list(_as_many_as_fit(lines[offset : offset + limit]))
        head = f"Artifact {artifact_id} (lines {offset}-{offset + len(shown)} of {len(lines)}):"
        return "\n".join([head, *shown])

    def open(self, tool: str, agent: str) -> "KeptText":
        """Begin a new artifact for what `tool` answers `agent`. Its id cannot be guessed.

        A line of the text is a JSON string; a long one is several objects with its number, counted from 1, and a part.

        Raises: `OSError` when the file cannot be made.
        """
        artifact_id = secrets.token_hex(16)
        head = {"artifact_id": artifact_id, "objective": f"the whole answer of {tool}", "agent": agent}
        with self._folder(create=True) as folder:
            self._ignore(folder)
            self._make_room(folder)
            file = os.open(f"{artifact_id}.jsonl", CREATE, 0o600, dir_fd=folder)
            stream = os.fdopen(file, "wb", buffering=0)
            try:
                return KeptText(artifact_id, stream, head)
            except OSError:
                # Nothing says what an empty file is about.
                stream.close()
                os.unlink(f"{artifact_id}.jsonl", dir_fd=folder)
                raise

    def keep(self, tool: str, text: str, agent: str) -> str:
        """Write what `tool` has answered `agent` into a new artifact and return its id.

        Raises: `OSError` when the file cannot be written.
        """
        with contextlib.closing(self.open(tool, agent)) as kept:
            kept.write(text)
        return kept.artifact_id

    def _ignore(self, folder: int) -> None:
        """Keep git from taking what is in the folder; in our own folder, whatever a repository put there."""
        try:
            with open_regular(_IGNORE, folder=folder) as (stream, _):
                is_ours = _OWN not in self.folder.parts or stream.read(len(_IGNORED) + 1) == _IGNORED
        except FileNotFoundError:
            is_ours = False
        except OSError:
            # A link, or what else git does not read.
            is_ours = _OWN not in self.folder.parts
        if not is_ours:
            replace_file(_IGNORE, _IGNORED, folder=folder)

    def _make_room(self, folder: int) -> None:
        """Remove the oldest artifacts that a store made, until there is room for one more."""
        found = []
        with os.scandir(folder) as entries:
            for entry in entries:
                if _OWN_FILE.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    # Another process may remove it meanwhile.
                    with contextlib.suppress(FileNotFoundError):
                        status = entry.stat(follow_symlinks=False)
                        found.append((status.st_mtime_ns, entry.name, status.st_size))
        taken = 0
        for count, (_, name, size) in enumerate(sorted(found, reverse=True), 1):
            taken += size
            if count >= self.most or taken > self.size:
                with contextlib.suppress(OSError):
                    os.unlink(name, dir_fd=folder)

    def _names(self) -> tuple[str, ...]:
        with contextlib.suppress(OSError), self._folder() as folder, os.scandir(folder) as entries:
            stems = (entry.name.removesuffix(".jsonl") for entry in entries if entry.name.endswith(".jsonl"))
            return tuple(sorted(stem for stem in stems if _ID.fullmatch(stem)))
        return ()

    def _objective(self, artifact_id: str) -> str:
        try:
            # On one line, whatever the file says: another one would be taken for another artifact.
            return " ".join(str(self._head(artifact_id)["objective"]).split())[:_LONGEST_SHOWN]
        except KeyError:
            return "(unreadable)"

    def _is_for(self, agent: str, artifact_id: str) -> bool:
        return bool(self._head(artifact_id).get("agent", agent) == agent)

    def _head(self, artifact_id: str) -> dict[str, Any]:
        """Return what the first line says; one that cannot be read says nothing."""
        try:
            with self._open(artifact_id) as stream:
                head = json.loads(stream.readline(_MOST_HEAD))
        except (ToolError, ValueError, RecursionError):
            return {}
        return head if isinstance(head, dict) else {}

    @contextlib.contextmanager
    def _folder(self, *, create: bool = False) -> Iterator[int]:
        parts = self.folder.parts
        start = parts.index(_OWN) if _OWN in parts else max(len(parts) - 1, 0)
        head = Path(*parts[:start])
        if create:
            head.mkdir(parents=True, exist_ok=True)
        at = os.open(head, DIRECTORY & ~os.O_NOFOLLOW)
        try:
            for name in parts[start:]:
                if create:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(name, 0o700, dir_fd=at)
                outer, at = at, os.open(name, DIRECTORY, dir_fd=at)
                os.close(outer)
            yield at
        finally:
            os.close(at)

    @contextlib.contextmanager
    def _open(self, artifact_id: str) -> Iterator[IO[bytes]]:
        missing = _error_of_missing(artifact_id)
        if not _ID.fullmatch(artifact_id):
            raise missing
        with contextlib.ExitStack() as stack:
            try:
                with self._folder() as folder:
                    stream, _ = stack.enter_context(open_regular(f"{artifact_id}.jsonl", folder=folder))
            except OSError as error:
                raise missing from error
            yield stream


class KeptText:
    """An artifact that is being written: on disk as it comes, and never more than `read_artifact` can read.

    What cannot be written is left out, and `note` says so: a full disk ends no command.

    Raises: `OSError` when not even its first line can be written.
    """

    def __init__(self, artifact_id: str, stream: IO[bytes], head: Mapping[str, object]) -> None:
        self.artifact_id = artifact_id
        self._stream = stream
        self._line = 1
        self._rest = ""
        self._is_in_parts = False
        self._length = self._bytes = 0
        self._problem: str | None = None
        self._write([head])

    @property
    def note(self) -> str:
        """What of the text is kept, for the model."""
        if self._problem is None:
            return f"the whole is the artifact {self.artifact_id}"
        if not self._length:
            return f"the whole could not be kept: {self._problem}"
        return f"about the first {self._length} characters are the artifact {self.artifact_id}: {self._problem}"

    def write(self, text: str) -> None:
        """Keep more of the text; a line is on disk when it is complete, or longer than 4,000 characters."""
        for start in range(0, len(text), _CHUNK):
            *lines, self._rest = (self._rest + text[start : start + _CHUNK]).split("\n")
            rows: list[object] = []
            for line in lines:
                rows += self._rows(line)
                self._line += 1
                self._is_in_parts = False
            length = sum(map(len, lines)) + len(lines)
            whole = max(0, len(self._rest) - 1) // _LONGEST_PIECE * _LONGEST_PIECE
            if whole:
                self._is_in_parts = True
                rows += self._rows(self._rest[:whole])
                self._rest = self._rest[whole:]
            self._put(rows, length + whole)

    def close(self) -> None:
        """Keep the last line, and close the file; safe to call again."""
        if not self._stream.closed:
            self._put(self._rows(self._rest), len(self._rest))
            self._stream.close()

    def _rows(self, line: str) -> list[object]:
        """Return what is written of a line, or of a part of one."""
        if len(line) <= _LONGEST_PIECE and not self._is_in_parts:
            return [line]
        starts = range(0, len(line), _LONGEST_PIECE)
        return [{"line": self._line, "part": line[start : start + _LONGEST_PIECE]} for start in starts]

    def _put(self, rows: list[object], length: int) -> None:
        if not rows or self._problem is not None:
            return
        try:
            self._write(rows)
        except OSError as error:
            self._problem = str(error.strerror)
        else:
            self._length += length

    def _write(self, rows: list[object]) -> None:
        data = "".join(f"{_encoded(row)}\n" for row in rows).encode(errors="backslashreplace")
        if self._bytes + len(data) > _MOST_BYTES:
            raise OSError(errno.EFBIG, f"no more than {_MOST_BYTES} bytes are kept")
        self._bytes += len(data)
        while data:
            data = data[self._stream.write(data) :]


def register(registry: ToolRegistry, workspace: Workspace, store: ArtifactStore | None = None) -> None:
    """Add the two tools to `registry`; without `store` they read what lies in the workspace.

    They show each agent what was kept for it, not what was kept for another.
    """
    kept = store or ArtifactStore(workspace.root / FOLDER)

    def list_artifacts(arguments: dict[str, Any], invocation: ToolInvocation) -> tuple[bool, str]:
        fit(ListArtifacts, arguments)
        return True, kept.list(invocation.context.agent)

    def read_artifact(arguments: dict[str, Any], invocation: ToolInvocation) -> tuple[bool, str]:
        asked = fit(ReadArtifact, arguments)
        return True, kept.read(asked.artifact_id, asked.offset, asked.limit, agent=invocation.context.agent)

    registry.register_with_context(
        spec("list_artifacts", "List the answers that were kept.", ListArtifacts, READS), list_artifacts
    )
    registry.register_with_context(
        spec("read_artifact", "Read an answer that was kept.", ReadArtifact, READS, roles={"artifact_id": ROLES.TEXT}),
        with_check(read_artifact, lambda arguments: fit(ReadArtifact, arguments)),
    )


def _error_of_missing(artifact_id: str) -> ToolError:
    return ToolError(f"Artifact '{artifact_id[:_LONGEST_SHOWN]}' not found.")


def _as_many_as_fit(lines: Iterable[str]) -> Iterator[str]:
    left = _MOST_SHOWN
    for count, line in enumerate(lines):
        left -= len(line) + 1
        if left < 0 and count > 0:
            return
        yield line
