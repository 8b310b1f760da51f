"""HTML made of elements: text is escaped wherever it goes in, and there is no way around that."""

import html

import attrs

from permitry.core.texts import visible

__all__ = ["Child", "Html", "element"]

_VOID = frozenset({"input", "link", "meta"})


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
