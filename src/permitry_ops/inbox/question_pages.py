"""The pages of questions: all that are open, and one in full with the form for its answer."""

import json
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote

import attrs

from permitry.audit.redaction import redact_text, redacted
from permitry.channels.request import EffectLine
from permitry.core.origin import Origin
from permitry.core.texts import one_line, shorten, visible
from permitry_ops.inbox.access import Login
from permitry_ops.inbox.call_text import call_text, main_argument, sentence, short_session, value_text
from permitry_ops.inbox.pages import Html, element, frame, link, token_field
from permitry_ops.inbox.stored import Shown

__all__ = ["arguments_text", "list_page", "open_count", "open_version", "question_page", "without_secrets"]

_LONGEST = 200
# What a diff shows more clearly.
_EDITS = frozenset({
    "content", "contents", "file_text", "old", "new", "old_string", "new_string", "old_str", "new_str", "oldString",
    "newString", "edits", "patch", "patchText", "diff",
})  # fmt: skip
_UNITS = ((2 * 86_400, 86_400, "days"), (2 * 3_600, 3_600, "h"), (2 * 60, 60, "min"), (0, 1, "s"))
_AGAIN = (
    ("", "is asked about again"), ("request", "with an approval: is permitted until the user writes again"),
    ("1h", "with an approval: is permitted for an hour"),
    ("8h", "with an approval: is permitted for eight hours"),
)  # fmt: skip
_KINDS = (("+++", "head"), ("---", "head"), ("@@", "hunk"), ("+", "added"), ("-", "removed"))


def open_count(count: int) -> str:
    """Return how many questions are open, in words."""
    return {0: "No question is open.", 1: "1 open question."}.get(count, f"{count} open questions.")


def open_version(questions: Iterable[Shown]) -> str:
    """Return a text that is another one for other questions."""
    return " ".join(shown.id for shown in questions)


def list_page(questions: Sequence[Shown], login: Login) -> str:
    """Return the page of all open questions, oldest first."""
    items = element("ol", *map(_item, questions), class_="questions") if questions else ""
    live = element("div", element("p", open_count(len(questions))), items, id="live")
    return frame("Open questions", live, login=login, here="/", live="/events", version=open_version(questions))


def question_page(
    shown: Shown, login: Login, *, problem: str = "", edited: str | None = None, guidance: str = "", result: str = ""
) -> str:
    """Return the page of one question; `edited` to `result` are what was written in an answer that was not taken."""
    said = [element("p", problem, role="alert", class_="problem")] if problem else []
    answer = _answer(shown, login, edited=edited, guidance=guidance, result=result)
    return frame(
        "May this run?", *said, *_call(shown), *_explain(shown), element("div", answer, id="live"), _facts(shown),
        login=login, live=f"/questions/{quote(shown.id, safe='')}/events", version=shown.outcome,
    )  # fmt: skip


def without_secrets(shown: Shown) -> Shown:
    """Return a question as a viewer may see it."""
    return attrs.evolve(
        shown, arguments=redacted(shown.arguments), preview=redact_text(shown.preview),
        reason=redact_text(shown.reason), path=redact_text(shown.path), errors=redacted(list(shown.errors)),
        effects=[attrs.evolve(line, text=redact_text(line.text)) for line in shown.effects],
        origins=list(map(_without_secrets, shown.origins)),
    )  # fmt: skip


def _without_secrets(origin: Origin) -> Origin:
    [value] = redacted({origin.argument: origin.value}).values()
    return attrs.evolve(
        origin, argument=redact_text(origin.argument), value=value, places=tuple(redacted(origin.places))
    )


def arguments_text(shown: Shown) -> str:
    """Return the arguments as JSON to edit: a text area would change what is invisible, so that it is escaped."""
    text = json.dumps(dict(shown.arguments), indent=2, ensure_ascii=False)
    return "".join(char if visible(char) == char else json.dumps(char)[1:-1] for char in text)


def _time(seconds: float) -> str:
    """Return a time in the largest unit of which there are two."""
    least = next(unit for unit in _UNITS if max(seconds, 0) >= unit[0])
    return f"{round(max(seconds, 0) / least[1])} {least[2]}"


def _item(shown: Shown) -> Html:
    call = element("code", shorten(call_text(shown.tool, shown.arguments), _LONGEST))
    agent = "" if shown.agent == "main" else shown.agent
    about = (
        shown.tool, shown.folder, short_session(shown.session), agent,
        f"asked {_time(shown.age)} ago", f"{_time(shown.left)} left",
    )  # fmt: skip
    return element(
        "li", element("h2", link(call, f"/questions/{quote(shown.id, safe='')}")),
        element("p", sentence(shown.reason)),
        element("p", " · ".join(one_line(each) for each in about if each), class_="about"),
    )  # fmt: skip


def _call(shown: Shown) -> Iterator[Html]:
    """Yield the call in full, and one sentence why it is asked about: an answer is about all of it."""
    main = main_argument(shown.arguments)
    yield element("pre", call_text(shown.tool, shown.arguments if main else {}), class_="call")
    yield element("p", sentence(shown.reason), class_="why")
    rest = [(name, value_text(value)) for name, value in shown.arguments.items() if name != main]
    folded = [pair for pair in rest if shown.preview and pair[0] in _EDITS]
    if shown_here := [pair for pair in rest if pair not in folded]:
        yield _arguments(shown_here)
    if shown.errors:
        yield _section("Errors", element("ul", *(element("li", error) for error in shown.errors)))
    if folded:
        yield element("details", element("summary", "The arguments in full"), _arguments(folded))


def _arguments(pairs: Iterable[tuple[str, str]]) -> Html:
    return _pairs((one_line(name), element("pre", text)) for name, text in pairs)


def _explain(shown: Shown) -> Iterator[Html]:
    if shown.effects:
        yield _section("What it would do", _tree(shown.effects))
    if shown.preview:
        yield _section(
            "What it would change", element("pre", *map(_diff_line, shown.preview.split("\n")), class_="diff")
        )
    if shown.origins:
        yield _section("Where values were seen", element("ul", *(element("li", str(each)) for each in shown.origins)))


def _facts(shown: Shown) -> Html:
    rule = f"{shown.rule} ({shown.source})" if shown.source else shown.rule
    facts = {
        "Tool": shown.tool, "Rule": rule or "no rule", "Folder": shown.folder, "File": shown.path, "Agent": shown.agent,
        "Session": shown.session, "Asked": f"{_time(shown.age)} ago",
        "Time": "" if shown.outcome else f"{_time(shown.left)} left", "May answer": ", ".join(shown.approvers),
        "Digest": shown.digest,
    }  # fmt: skip
    return _section(
        "About this question", _pairs((name, element("span", value)) for name, value in facts.items() if value)
    )


def _section(title: str, body: Html) -> Html:
    return element("section", element("h2", title), body)


def _pairs(pairs: Iterable[tuple[str, Html]]) -> Html:
    found = [element("div", element("dt", name), element("dd", value)) for name, value in pairs]
    return element("dl", *found) if found else element("p", "none")


def _tree(nodes: Sequence[EffectLine]) -> Html:
    items: list[Html] = []
    at = 0
    while at < len(nodes):
        end = at + 1
        while end < len(nodes) and nodes[end].depth > nodes[at].depth:
            end += 1
        inner = [_tree(nodes[at + 1 : end])] if end > at + 1 else []
        items.append(element("li", element("code", nodes[at].text), *inner))
        at = end
    return element("ul", *items, class_="tree")


def _diff_line(line: str) -> Html:
    kind = next((name for start, name in _KINDS if line.startswith(start)), None)
    return element("span", f"{line}\n", class_=kind)


def _answer(shown: Shown, login: Login, *, edited: str | None, guidance: str, result: str) -> Html:
    if shown.outcome:
        said = element("p", f"This question is closed: {shown.outcome}.", class_="outcome")
        return element("section", element("h2", "Answer"), said, data_closed=True)
    if not login.user.may_answer:
        return _section("Answer", element("p", "You may look at questions, and not answer them."))
    if shown.approvers and login.user.name not in shown.approvers:
        return _section("Answer", element("p", f"Only {', '.join(shown.approvers)} may answer this question."))
    fields = [token_field(login), element("input", type="hidden", name="digest", value=shown.digest)]
    form = element(
        "form", *fields, *_choices(shown, guidance), *_edit(shown, edited), _respond(result),
        method="post", action=f"/questions/{quote(shown.id, safe='')}/answer", id="answer",
    )  # fmt: skip
    return _section("Your answer", form)


def _choices(shown: Shown, guidance: str) -> Iterator[Html]:
    # The first button is the one of the Enter key: it rejects.
    yield element("label", "Words to the model, with a rejection", for_="guidance")
    yield element("textarea", f"\n{guidance}", id="guidance", name="guidance", rows="2")
    if shown.remember:
        box = element("input", type="checkbox", id="remember", name="remember", value="1")
        yield element(
            "p", box, element("label", f"With an approval: {shown.remember}", for_="remember"), class_="check"
        )
    if shown.may_grant:
        offered = (each for each in _AGAIN if each[0] != "request" or shown.has_turn)
        choices = (element("option", text, value=value) for value, text in offered)
        yield element("label", "The same call, in the same session", for_="again")
        yield element("select", *choices, id="again", name="again")
    yield element(
        "p", _button("Reject", "reject"), _button("Approve once", "approve", "approve"),
        _button("Reject, and end the session", "abort", "plain"), class_="buttons",
    )  # fmt: skip


def _edit(shown: Shown, edited: str | None) -> Iterator[Html]:
    text = arguments_text(shown) if edited is None else edited
    area = element(
        "textarea", f"\n{text}", id="arguments", name="arguments", rows="8", spellcheck="false", autocomplete="off"
    )
    hint = element("p", "The call is decided again with them: what a rule blocks stays blocked.", id="edit-hint")
    yield element(
        "details", element("summary", "Edit the arguments"), element("label", "Arguments, as JSON", for_="arguments"),
        area, hint, _button("Approve with these arguments", "edit", "approve"), open=edited is not None,
    )  # fmt: skip


def _respond(result: str) -> Html:
    area = element("textarea", f"\n{result}", id="result", name="result", rows="4", aria_describedby="result-hint")
    hint = element("p", "The tool does not run. The model gets this text as what the call returned.", id="result-hint")
    return element(
        "details", element("summary", "Respond in place of the tool"), element("label", "Result", for_="result"),
        area, hint, _button("Respond with this text", "respond"), open=result != "",
    )  # fmt: skip


def _button(text: str, action: str, look: str | None = None) -> Html:
    return element("button", text, name="action", value=action, class_=look)
