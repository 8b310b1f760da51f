"""What all hosts have in common."""

import pytest
from tests.host_tables import RULES, protect

from permitry.errors import CallError
from permitry_hosts.hooks.host import Settings, arguments_in, optional, text_in


def test_the_shipped_rule_protects_the_files_of_all_hosts() -> None:
    """The command writes those of a new one, and its rows in the pages."""
    text = RULES.read_text(encoding="utf-8")
    assert protect(text) == text, "python -m tests.host_tables"


def test_both_files_of_settings_are_protected_where_a_host_says_no_more() -> None:
    """Wherever the project and the home folder are."""
    assert Settings(".quill/a", ".quill/b").protected == ("/**/.quill/b", "/**/.quill/a")
    assert Settings(".quill/a", ".quill/a").protected == ("/**/.quill/a",)


def test_parts_of_a_payload_are_of_their_type() -> None:
    """What is absent, empty or of another type is not read as something."""
    assert text_in({"a": "x"}, "a") == "x"
    assert optional({"a": ""}, "a") is None
    assert arguments_in({"a": {}}, "a") == {}
    values: tuple[object, ...] = (None, "", 7, [])
    for value in values:
        with pytest.raises(CallError):
            text_in({"a": value}, "a")
    with pytest.raises(CallError):
        optional({"a": 7}, "a")
    with pytest.raises(CallError):
        arguments_in({"a": "{}"}, "a")
