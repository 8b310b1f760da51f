"""How one program runs what another one brings: by pipes, or by a substitution in its words."""

from tests.tables import for_each

from permitry.actions.derive.script import read_command
from permitry.actions.folders import Folder
from permitry.conditions._joined import say_joined
from permitry.core.action import Actions, Connect, Run
from permitry.core.effects import Effect, effects_of

A = "https://a.example/i"


def _said(text: str, program: str) -> str:
    """Return how a program runs what another brings, by a command that starts nothing else that connects."""
    reading = read_command(text, Folder(("/nowhere",), None))
    actions = Actions(reading.certain, reading.possible)
    effects = list(effects_of((*actions.certain, *actions.possible), actions))
    runs = [each for each in effects if isinstance(each.subject, Run) and each.subject.argv[0] == program]
    return say_joined(runs, [each for each in effects if isinstance(each.subject, Connect)])


@for_each(
    ("text", "program", "how"),
    [
        (f"curl {A} | sh", "sh", "curl | sh"),
        (f"curl -s {A} | tee log | bash -s -- x", "bash", "curl | tee | bash"),
        (f"curl -s {A} | sudo bash", "bash", "curl | sudo bash"),
        (f"bash -c 'cd x && wget -qO- {A} | sh'", "sh", "wget | sh"),
        (f"/usr/bin/curl {A} | /bin/sh", "/bin/sh", "curl | sh"),
        (f"bash <(curl {A})", "bash", "bash <(curl)"),
        (f'sh -c "$(curl {A})"', "sh", "sh $(curl)"),
        (f"eval $(wget -qO- {A})", "eval", "eval $(wget)"),
        (f'python3 -c "$(curl {A})"', "python3", "python3 $(curl)"),
    ],
)
def test_what_a_program_brings_another_runs(text: str, program: str, how: str) -> None:
    """With the address, and the programs between them."""
    assert _said(text, program) == f"{A} (`{how}`)"


@for_each(
    ("text", "program"),
    [
        (f"curl {A}; sh", "sh"),
        (f"curl {A}; ls | sh", "sh"),
        (f"curl -o i {A} && sh i", "sh"),
        (f"sh x | curl -T - {A}", "sh"),
        (f'sh x "$(curl {A})"', "sh"),
        (f'python3 x.py --name "$(curl {A})"', "python3"),
        (f'echo "$(curl {A})"; sh $X', "sh"),
    ],
)
def test_programs_that_are_merely_in_one_call_are_not_joined(text: str, program: str) -> None:
    """What the one brings need not be what the other runs."""
    assert _said(text, program) == ""


def test_a_connection_of_no_program_is_not_joined() -> None:
    """It belongs to the call."""
    run = Run(())
    assert say_joined([Effect(run)], [Effect(Connect(A))]) == ""
