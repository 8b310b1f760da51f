"""A slow disk, for processes that are started with it: each `fsync` and `fdatasync` takes some milliseconds longer."""

import contextlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

__all__ = ["MILLISECONDS", "slow_disk"]

MILLISECONDS = 20
_SOURCE = f"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
static int slowly(const char *name, int file) {{
    struct timespec time = {{0, {MILLISECONDS} * 1000000L}};
    while (nanosleep(&time, &time)) {{}}
    return ((int (*)(int)) dlsym(RTLD_NEXT, name))(file);
}}
int fsync(int file) {{ return slowly("fsync", file); }}
int fdatasync(int file) {{ return slowly("fdatasync", file); }}
"""


@contextlib.contextmanager
def slow_disk() -> Iterator[str | None]:
    """Yield what `LD_PRELOAD` is to be for it; None where there is no compiler."""
    if shutil.which("gcc") is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="slow") as folder:
        # A PostgreSQL runs as a user of its own.
        Path(folder).chmod(0o755)
        library = Path(folder) / "slow.so"
        command = ["gcc", "-shared", "-fPIC", "-O2", "-o", str(library), "-x", "c", "-", "-ldl"]
        subprocess.run(command, input=_SOURCE, text=True, check=True)
        library.chmod(0o755)
        yield str(library)
