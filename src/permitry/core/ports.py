"""The ports that addresses leave unsaid."""

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["DEFAULT_PORTS"]

DEFAULT_PORTS: Mapping[str, int] = MappingProxyType(
    {"ftp": 21, "git": 9418, "http": 80, "https": 443, "ssh": 22, "ws": 80, "wss": 443}
)
"""The port of a scheme where an address of that scheme names none."""
