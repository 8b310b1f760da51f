"""HTML made of elements, the frame of all pages, and the pages for logging in and for errors.

Text is escaped wherever it goes in, and there is no way around that.
"""

import html
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import attrs

from permitry.core.texts import visible
from permitry_ops.inbox.access import Login

__all__ = [
    "LINKS", "Child", "Html", "Links", "card_table", "element", "frame", "link", "login_page", "message_page",
    "token_field",
]  # fmt: skip

_VOID = frozenset({"input", "link", "meta"})

Links: TypeAlias = Sequence[tuple[str, str]]
"""Names of pages, and where they are; the first is the one after a login."""
LINKS: Links = (("Questions", "/"), ("Audit", "/audit"), ("Statistics", "/stats"))
"""The pages of an inbox."""
_DOCTYPE = "<!doctype html>"


@attrs.frozen
class Html:
    """HTML that needs no escaping any more; only `element` makes it."""

    text: str

    def __str__(self) -> str:
        return self.text


Child = Html | str


def element(name: str, /, *children: Child, **attributes: str | bool | None) -> Html:
    """Return an element; what is invisible in a text is spelled out, as no browser shows it.

    In names, `_` is a hyphen, and one at the end left out. True is an attribute without a value.
    """
    given = "".join(_attribute(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{given}>")
    return Html(f"<{name}{given}>{''.join(map(_child, children))}</{name}>")


def _child(child: Child) -> str:
    return child.text if isinstance(child, Html) else html.escape(visible(child))


def _attribute(name: str, value: str | bool | None) -> str:  # noqa: FBT001 -- as HTML has attributes
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{html.escape(visible(value))}"'


def frame(
    title: str,
    *body: Child,
    login: Login | None = None,
    links: Links = LINKS,
    here: str = "",
    live: str | None = None,
    version: str = "",
) -> str:
    """Return a page with links to others; `live` is the address of events that show it again, `version` its state."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{title} - permitry"),
        element("link", rel="stylesheet", href="/static/inbox.css"),
        element("link", rel="icon", href="/static/inbox.svg"),
        element("script", src="/static/inbox.js", defer=True),
    )
    skip = element("a", "Skip to the content", href="#main", class_="skip")
    status = element("p", _notice(login), id="status", role="status")
    main = element(
        "main", element("h1", title), status, *body, id="main", tabindex="-1", data_live=live, data_version=version
    )
    return f"{_DOCTYPE}{element('html', head, element('body', skip, _header(login, links, here), main), lang='en')}"


def login_page(problem: str = "") -> str:
    """Return the page that takes a token; its script takes the one in the link."""
    field = element("input", id="token", name="token", type="password", required=True, autocomplete="off")
    form = element(
        "form",
        element("p", element("label", "Token", for_="token"), field),
        element("button", "Log in"),
        method="post", action="/login", id="login",
    )  # fmt: skip
    said = [element("p", problem, role="alert", class_="problem")] if problem else []
    hint = "Open the link that `permitry inbox` printed, or enter a token."
    return frame("Log in", element("p", hint), *said, form)


def message_page(title: str, text: str, *, login: Login | None = None, links: Links = LINKS) -> str:
    """Return a page that says something, with the way back."""
    back = element("p", link(f"Back to the {links[0][0].lower()}", "/") if login else link("Log in", "/login"))
    return frame(title, element("p", text, role="alert", class_="problem"), back, login=login, links=links)


def card_table(columns: Sequence[str], rows: Iterable[Sequence[Child]]) -> Html:
    """Return a table, of which each row is a card on a phone."""
    head = element("tr", *(element("th", name, scope="col") for name in columns))
    body = element("tbody", *(_card(columns, row) for row in rows))
    return element("table", element("thead", head), body, class_="calls")


def _card(columns: Sequence[str], row: Sequence[Child]) -> Html:
    named = zip(columns, row, strict=True)
    return element("tr", *(element("td", element("div", cell), data_name=name) for name, cell in named))


def link(text: Child, to: str) -> Html:
    """Return a link within the inbox; `to` is quoted already."""
    return element("a", text, href=to)


def token_field(login: Login) -> Html:
    """Return what shows that a form is of this session."""
    return element("input", type="hidden", name="csrf", value=login.csrf)


def _notice(login: Login | None) -> str:
    if login is None:
        return ""
    said, login.notice = login.notice, ""
    return said


def _header(login: Login | None, links: Links, here: str) -> Html:
    name = element("p", "permitry inbox", class_="name")
    if login is None:
        return element("header", name)
    items = (
        element("li", element("a", text, href=to, aria_current="page" if to == here else None)) for text, to in links
    )
    leave = element(
        "form", token_field(login), element("button", "Log out", class_="plain"), method="post", action="/logout"
    )
    who = element("p", f"{login.user.name} ({login.user.role})", class_="who")
    return element("header", name, element("nav", element("ul", *items), aria_label="Pages"), who, leave)
