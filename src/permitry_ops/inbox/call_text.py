"""A call as people say it: the command, the file or the address it is about, in place of a name and JSON."""

import json
import shlex
from collections.abc import Mapping
from typing import Any

__all__ = ["call_text", "main_argument", "sentence", "short_session", "value_text"]

_BEGINNING, _WHOLE = 8, 16
_COMMANDS = ("command", "cmd", "script", "commands")
_PLACES = ("file_path", "path", "filePath", "filepath", "filename", "notebook_path", "url", "urls")


def main_argument(arguments: Mapping[str, Any]) -> str | None:
    """Return the name of the argument that says what a call is about; None where none is known to."""
    names = (*_COMMANDS, *_PLACES)
    return next((name for name in names if _text(arguments.get(name))), None)


def call_text(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return a call as a text: its command alone, or the tool and what it is about, or the tool and all it is given."""
    name = main_argument(arguments)
    if name is None:
        given = " ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in arguments.items())
        return f"{tool} {given}".strip()
    text = _text(arguments[name])
    return text if name in _COMMANDS else f"{tool} {text}"


def sentence(reason: str) -> str:
    """Return a reason as a sentence."""
    text = reason.strip()
    if text[:1].islower():
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def short_session(session: str) -> str:
    """Return the host of a session and the beginning of its id, by which people tell them apart."""
    host, colon, name = session.partition(":")
    return f"{host}{colon}{name[:_BEGINNING]}" if colon else session[:_WHOLE]


def _text(value: object) -> str:
    """Return a text, or a list of texts as the words of a command; empty for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return shlex.join(value)
    return ""


def value_text(value: object) -> str:
    """Return a text as it is, and anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
