"""`python -m permitry` is `permitry`."""

from permitry.cli.main import run_from_shell

if __name__ == "__main__":
    run_from_shell()
