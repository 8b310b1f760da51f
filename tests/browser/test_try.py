"""The page to try rules in a real browser: typing, keyboard, no scripts, accessibility. Run with `pytest -m large`."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.browser.chromium import PROGRAM, Page, browsing
from tests.browser.screenshots import CHANGED, RULES, type_in
from tests.browser.test_inbox import AXE, ENTER, violations, walk
from tests.unit.permitry_ops.inbox.inboxes import trying
from tests.unit.permitry_ops.inbox.people import ANN
from tests.unit.permitry_ops.inbox.probes import PROBES

from permitry_ops.inbox.trial import Start

pytestmark = [
    pytest.mark.large,
    pytest.mark.skipif(PROGRAM is None, reason="needs the program chromium"),
]
READY = "document.getElementById('try') && document.readyState === 'complete'"
WRONG = RULES.replace("effect =", "efect =", 1)


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    """Yield a browser that is logged in to the page, with the example of the documentation."""
    with trying(Start(RULES, "rules.toml")) as (app, origin), browsing(tmp_path / "browser") as browser:
        browser.open(f"{origin}/login#{app.access.link(ANN)}")
        browser.wait(READY)
        yield browser


def text_of(page: Page, part: str) -> str:
    """Return what is to be read in a part of the page."""
    return str(page.run(f"document.getElementById('{part}').innerText"))


def wait_for(page: Page, part: str, text: str) -> float:
    """Wait until a part of the page has a text, and return how many seconds that took."""
    return page.wait(f"document.getElementById('{part}').innerText.includes({json.dumps(text)})")


def test_rules_are_tried_as_they_are_typed(page: Page) -> None:
    """The verdict at once, then the change; what is typed stays where it is."""
    page.run(type_in("command", "git push origin main"))
    assert wait_for(page, "verdict", "Blocked by pushes (rules.toml:11)") < 5
    page.run(type_in("rules", CHANGED))
    assert wait_for(page, "change", "More is allowed: 2 ways.") < 10
    assert page.run("document.getElementById('rules').value") == CHANGED
    page.run(type_in("rules", RULES))
    wait_for(page, "change", "Change the rules")
    assert page.run("location.pathname") == "/"


def test_a_link_leads_to_the_line_of_a_problem(page: Page) -> None:
    """What is wrong is selected in it; nothing is decided until it is right again."""
    page.run(type_in("rules", WRONG))
    wait_for(page, "problems", "did you mean `effect`?")
    assert text_of(page, "verdict") == "Nothing is decided while the rules have problems."
    page.run("document.querySelector('#problems a').click()")
    chosen = "rules.value.slice(rules.selectionStart, rules.selectionEnd)"
    assert page.run(f"(() => {{ const rules = document.activeElement; return {chosen}; }})()") == "efect"
    page.run(type_in("rules", RULES))
    wait_for(page, "verdict", "Allowed by read-only")


def test_a_tool_is_tried_by_keyboard(page: Page) -> None:
    """From the rules to the verdict with Tab, arrows and Enter; the fields of a command are away then."""
    walk(page, "document.activeElement.id === 'as-command'")
    page.press("ArrowDown", 40)
    assert page.run("getComputedStyle(document.getElementById('command')).display !== 'none'")
    assert page.run("document.getElementById('command').offsetParent === null")
    walk(page, "document.activeElement.id === 'tool'")
    page.call("Input.insertText", text="write_file")
    walk(page, "document.activeElement.id === 'arguments'")
    page.call("Input.insertText", text='{"path": "a"}')
    walk(page, "document.activeElement.id === 'mode'")
    page.run("document.activeElement.select()")
    page.call("Input.insertText", text="plan")
    page.press(*ENTER)
    wait_for(page, "verdict", "Blocked by plan-mode")
    assert page.run("document.activeElement.id") == "mode"


def test_it_works_without_scripts(page: Page) -> None:
    """The button sends the form, and the page that comes has it all."""
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    page.call("Page.reload")
    page.wait(READY)
    page.run(f"window.isOld = true; document.getElementById('rules').value = {json.dumps(CHANGED)}")
    page.run("document.querySelector('#try button').click()")
    wait_for(page, "change", "More is allowed: 2 ways.")
    assert page.run("window.isOld") is None


def test_who_is_logged_out_is_told(page: Page) -> None:
    """What is typed stays."""
    page.run("fetch('/logout', {method: 'POST', body: new URLSearchParams({csrf: document.forms[0].csrf.value})})")
    page.run(type_in("rules", CHANGED))
    wait_for(page, "status", "Log in first.")
    assert page.run("document.getElementById('rules').value") == CHANGED


def test_no_probe_runs_in_a_browser(page: Page) -> None:
    """In rules, in a command, and in the errors: no dialog, no element of theirs, no request elsewhere."""
    foreign = "document.querySelectorAll('img,iframe,object,embed,video,audio,style,base,template,math,marquee').length"
    typed = "\n".join(PROBES)
    for rules in (typed, f"{RULES}# {' '.join(PROBES)}\n[[rule]]\nid = '''{PROBES[0]}'''\neffect = 'allow'\n"):
        page.run(type_in("command", typed))
        page.run(type_in("rules", rules))
        wait_for(page, "problems", "problem")
        assert page.run(foreign) == 0
        assert page.run("document.scripts.length") == 2
    names = [event["method"] for event in page.events]
    assert "Page.javascriptDialogOpening" not in names
    assert not [event for event in page.events if "Content Security Policy" in str(event)]


@pytest.mark.skipif(not AXE.is_file(), reason="needs the npm package axe-core")
@pytest.mark.parametrize("width", [360, 800, 1200])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing(page: Page, width: int, *, dark: bool) -> None:
    """With a change and with problems; and nothing is wider than the screen."""
    page.look(width=width, dark=dark)
    page.run(type_in("command", "cd web && git push origin main"))
    found = {}
    for rules, part, text in ((CHANGED, "change", "2 ways"), (WRONG, "problems", "did you mean")):
        page.run(type_in("rules", rules))
        wait_for(page, part, text)
        page.wait("!document.getElementById('try').hasAttribute('aria-busy')")
        found[part] = violations(page)
        assert page.run("document.documentElement.scrollWidth") <= width, part
    assert found == {"change": [], "problems": []}
