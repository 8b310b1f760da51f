"""The earlier place of the client of the resident, which hooks name that were installed before; it goes with them.

Whatever is wrong with the present file, `permitry_hosts/hooks/client.py`, it ends with 2, which blocks the call.
"""

import posix

_PATH = __file__.removesuffix("permitry/hooks/client.py") + "permitry_hosts/hooks/client.py"
if __name__ == "__main__":
    try:
        with open(_PATH, encoding="utf-8") as _file:  # noqa: PTH123 -- nothing is imported here: see the other file
            exec(compile(_file.read(), _PATH, "exec"))  # noqa: S102 -- our own file, which ends the process
    except BaseException as error:  # noqa: BLE001 -- an exit code of Python's own lets the call run
        text = f"permitry did not answer, so this call did not run: {error}\n"
        posix.write(2, text.encode("utf-8", "backslashreplace"))
    finally:
        posix._exit(2)  # noqa: SLF001 -- its name
