"""`permitry completion`: a shell completes commands, options and files."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Outcome = tuple[int, str, str]
Cli = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (("permitry", "expl"), "explain"),
        (("permitry", "check", "--ru"), "--rules"),
        (("permitry", "completion", "z"), "zsh"),
        (("permitry", "check", "--rules", "./ru"), "./rules.toml"),
    ],
)
def test_bash_completes(cli: Cli, tmp_path: Path, words: tuple[str, ...], completed: str) -> None:
    """The script does in bash what Tab asks for."""
    (tmp_path / "rules.toml").touch()
    script = tmp_path / "completion.bash"
    script.write_text(cli("completion", "bash")[1], encoding="utf-8")
    ask = f'source {script}; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _shtab_permitry; echo "${{COMPREPLY[*]}}"'
    done = subprocess.run(
        ["/bin/bash", "-c", ask, "bash", *words], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert completed in done.stdout.split()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_is_known_to_every_shell(cli: Cli, shell: str) -> None:
    """The script has the commands and their options."""
    code, out, err = cli("completion", shell)
    assert (code, err) == (0, "")
    for word in ("explain", "completion", "unattended"):
        assert word in out


def test_without_the_library_the_error_names_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is optional."""
    monkeypatch.setitem(sys.modules, "shtab", None)
    code, _, err = cli("completion", "bash")
    assert code == 4
    assert err.endswith(" -m pip install 'permitry[completion]'\n")


def test_another_shell_is_refused(cli: Cli) -> None:
    """The known ones are listed."""
    code, _, err = cli("completion", "cmd")
    assert code == 4
    assert "there are: bash, zsh, fish" in err
