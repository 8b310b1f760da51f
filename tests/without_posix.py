"""Python as on Windows, for permitry alone: `python without_posix.py WORDS` runs a command, or with `-c` a program.

What is imported by a module of permitry lacks what Windows has not; other packages get it all, as they have code of
their own for Windows. Paths still have one separator here: where they have drives is set by hand.
"""

import builtins
import os
import sys
from types import ModuleType
from typing import Any

MODULES = frozenset({"fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"})
NAMES = {
    "os": (
        "CLD_EXITED O_ASYNC O_CLOEXEC O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK O_PATH O_SYNC WIFEXITED"
        " WNOHANG chown chroot environb fchdir fchmod fchown fork forkpty getegid geteuid getgid getgroups"
        " getpgid getpgrp getpriority getsid getuid getxattr initgroups killpg lchown listxattr memfd_create"
        " mkfifo nice openpty pidfd_open pipe2 posix_spawn posix_spawnp pread preadv pwrite register_at_fork"
        " removexattr sched_getaffinity sendfile setgid setpgid setsid setuid setxattr statvfs sync uname wait"
        " wait3 wait4 waitid"
    ),
    "select": "epoll poll",
    "signal": (
        "ITIMER_REAL SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTTIN SIGTTOU SIGUSR1 SIGUSR2"
        " SIG_BLOCK SIG_UNBLOCK alarm getitimer pause pthread_kill pthread_sigmask setitimer siginterrupt sigpending"
        " sigtimedwait sigwait"
    ),
    "socket": "AF_UNIX CMSG_LEN SCM_RIGHTS SO_PEERCRED socketpair",
    "time": "CLOCK_BOOTTIME CLOCK_MONOTONIC CLOCK_REALTIME clock_gettime tzset",
}
TAKE_FOLDERS = (
    "open",
    "stat",
    "unlink",
    "mkdir",
    "rmdir",
    "replace",
    "rename",
    "readlink",
    "symlink",
    "chmod",
    "utime",
)
"""The functions of `os` that take an open folder elsewhere."""


class Part(ModuleType):
    """A module, without some of its names."""

    def __init__(self, module: ModuleType, missing: frozenset[str]) -> None:
        super().__init__(module.__name__)
        self.__dict__.update({name: value for name, value in vars(module).items() if name not in missing})


def _without_folders(function: Any) -> Any:  # noqa: ANN401 -- any function of `os`
    def call(*words: Any, **options: Any) -> Any:  # noqa: ANN401 -- whatever it takes
        if any(options.get(name) is not None for name in ("dir_fd", "src_dir_fd", "dst_dir_fd")):
            raise NotImplementedError("dir_fd unavailable on this platform")
        return function(*words, **options)

    return call


def hide() -> None:
    """Let modules of permitry that are imported from now on find no more than there is on Windows."""
    parts = {name: Part(__import__(name), frozenset(missing.split())) for name, missing in NAMES.items()}
    for name in TAKE_FOLDERS:
        setattr(parts["os"], name, _without_folders(getattr(os, name)))
    real = builtins.__import__

    def import_(name: str, names: Any = None, *rest: Any) -> Any:  # noqa: ANN401 -- of the last, as the real one
        if not str((names or {}).get("__name__", "")).startswith("permitry"):
            return real(name, names, *rest)
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return parts.get(name) or real(name, names, *rest)

    setattr(builtins, "__import__", import_)  # noqa: B010 -- it takes fewer words than the real one


if __name__ == "__main__":
    hide()
    if sys.argv[1] == "-c":
        exec(compile(sys.argv[2], "<program>", "exec"), {"__name__": "permitry_program"})  # noqa: S102 -- of a test
    else:
        import permitry.actions.folders

        permitry.actions.folders._HAS_DRIVES = True  # noqa: SLF001 -- as there
        from permitry.cli.main import main

        sys.exit(main(sys.argv[1:]))
