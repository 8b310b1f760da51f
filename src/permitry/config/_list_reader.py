"""References to named lists in conditions, and the conditions that they stand for."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from permitry.conditions.args import LINKS, find_trusted
from permitry.conditions.command import ArgvPattern, list_names_in
from permitry.conditions.host import HostPattern
from permitry.conditions.listed import ListedValues, list_name, unknown_list
from permitry.conditions.path import PathPattern
from permitry.config.lists import ListUses
from permitry.errors import RuleError

__all__ = ["ListReader"]

_IS_POSITIVE = {"in": True, "not_in": False}
_ARE_SOURCES = {"from": True, "not_from": False}
_ARE_HOSTS = {"host": True, "not_host": False}
_TOOL = re.compile(r"[\w.-]+|mcp:[^\s#@]+")
Pattern = TypeVar("Pattern", bound=PathPattern | HostPattern)


@attrs.define
class ListReader:
    """The lists that one `when` or `unless` may name; `names` collects those that it names."""

    uses: ListUses
    names: set[str]
    is_unless: bool

    def patterns(self, word: str, read: Callable[[str], Pattern], literal: str | None) -> list[Pattern]:
        """Return the pattern of a word, or one for each value of a list. Raises: `RuleError`."""
        name = list_name(word)
        if name is None:
            return [read(word)]
        return [attrs.evolve(_read_value(name, value, read), listed=name) for value in self._texts(name, literal)]

    def command(self, text: str) -> list[ArgvPattern]:
        """Return the pattern of a command; none if a list in it is empty. Raises: as `patterns`."""
        lists = tuple((name, self._texts(name, f"'@{name}'")) for name in dict.fromkeys(list_names_in(text)))
        return [ArgvPattern(text, lists)] if all(values for _, values in lists) else []

    def argument(self, test: Any) -> Any:  # noqa: ANN401 -- as a rule file has it
        """Return the test with the values of its lists. Raises: `RuleError` for an unknown one."""
        if not isinstance(test, Mapping):
            return test
        return {key: self._get(key, value) for key, value in test.items()}

    def _get(self, key: str, value: object) -> object:
        if key in _IS_POSITIVE:
            return self._operand(value, is_positive=_IS_POSITIVE[key])
        if key in _ARE_SOURCES and isinstance(value, list | tuple):
            return [each for word in value for each in self._sources(word, is_positive=_ARE_SOURCES[key])]
        if key == LINKS:
            return list(map(self._of_links, value)) if isinstance(value, list | tuple) else self._of_links(value)
        return self.argument(value)

    def _of_links(self, table: object) -> object:
        if not isinstance(table, Mapping):
            return table
        return {name: self._of_a_link(name, operand) for name, operand in table.items()}

    def _of_a_link(self, key: str, value: object) -> object:
        if key not in _ARE_HOSTS or not isinstance(value, str | list | tuple):
            return self._get(key, value)
        words = [value] if isinstance(value, str) else value
        return [self._host(word, is_positive=_ARE_HOSTS[key]) for word in words]

    def _host(self, word: object, *, is_positive: bool) -> object:
        name = list_name(word)
        return word if name is None else ListedValues.of(name, self._texts(name, None, is_positive=is_positive))

    def _sources(self, word: object, *, is_positive: bool) -> Sequence[object]:
        if not isinstance(word, str) or word == "user" or "#" in word or word.startswith("named:"):
            return [word]
        if word.startswith("list:"):
            name = word.removeprefix("list:")
            return [ListedValues.of(name, self._values(name, None, is_positive=is_positive))]
        if word in self.uses.trusted:
            return find_trusted(word, self.uses.trusted[word])
        if _TOOL.fullmatch(word):
            raise RuleError(
                f"`{word}` has no trusted fields; name a field, as in `{word}#id`, or declare "
                f"`trusted_fields` in `[tool.{word}]`"
            )
        return [word]

    def _operand(self, value: object, *, is_positive: bool) -> object:
        name = list_name(value)
        if name is None:
            return value
        return ListedValues.of(name, self._values(name, f'["{value}"]', is_positive=is_positive))

    def _texts(self, name: str, literal: str | None, *, is_positive: bool = True) -> tuple[str, ...]:
        values = self._values(name, literal, is_positive=is_positive)
        if not all(isinstance(value, str) for value in values):
            raise RuleError(f"the list `@{name}` has numbers; they are compared only by `in` and `not_in`")
        return tuple(map(str, values))

    def _values(self, name: str, literal: str | None, *, is_positive: bool = True) -> tuple[str | float, ...]:
        try:
            values = self.uses.values(name, is_positive=is_positive is not self.is_unless)
        except KeyError:
            raise unknown_list(name, self.uses.lists, literal) from None
        self.names.add(name)
        return tuple(dict.fromkeys(values))


def _read_value(name: str, value: str, read: Callable[[str], Pattern]) -> Pattern:
    try:
        return read(value)
    except RuleError as error:
        raise RuleError(f"the list `@{name}`: {error}") from error
