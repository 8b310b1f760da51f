"""The tools that run one command to its end: `run_shell`, and in `codex` `shell`, `shell_command`, `local_shell`."""

from permitry_tools.shell.run_shell import register

__all__ = ["register"]
