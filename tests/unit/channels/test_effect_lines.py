"""What a human is shown of what a call would do."""

from permitry.channels.effect_lines import EffectLine, effect_lines
from permitry.config.default import create_default_authorization_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext


def lines(command: str) -> tuple[EffectLine, ...]:
    """Return the lines of a command."""
    policy = create_default_authorization_policy()
    return effect_lines(policy.request(ToolCall("run_shell", {"command": command}), AuthContext()).actions)


def test_a_command_is_shown_as_a_tree() -> None:
    """Each action once, what a loop runs below it, and what is not certain said to be so."""
    shown = lines("cd sub && (rm -r x; echo y) && eval $z")
    assert EffectLine(0, "cd sub") in shown
    assert next(line for line in shown if line.text.startswith("(…): rm -r x")).depth == 1
    assert any(line.text.startswith("not certain: ") for line in shown)
    assert len(shown) == len(set(shown))


def test_what_a_program_changes_is_below_it() -> None:
    """And where it connects to; what it reads is in its command."""
    assert lines("sed -i s/a/b/ x.toml; curl https://a.example/b; cat c") == (
        EffectLine(0, "sed -i s/a/b/ x.toml (`sed -i` changes files)"),
        EffectLine(1, "write x.toml"),
        EffectLine(0, "curl https://a.example/b (`curl` opens network connections)"),
        EffectLine(1, "connect https://a.example/b"),
        EffectLine(0, "cat c"),
    )


def test_what_is_only_possible_says_so() -> None:
    """And only where it says something new."""
    shown = lines("eval 'ls a'; unknown $(( ${x[$(rm b)]} ))")
    possible = [line.text for line in shown if line.text.startswith("perhaps ")]
    assert possible
    assert not {text.removeprefix("perhaps ") for text in possible} & {line.text for line in shown}


def test_a_long_list_says_how_much_is_left_out() -> None:
    """No page grows without a bound."""
    shown = lines("; ".join(f"ls a{number}" for number in range(300)))
    assert len(shown) == 201
    assert shown[-1].text.startswith("and ")


def test_a_call_without_effects_has_no_lines() -> None:
    """What is not known of a tool is not guessed for a human."""
    policy = create_default_authorization_policy()
    assert effect_lines(policy.request(ToolCall("odd", {"x": 1}), AuthContext()).actions) == ()
