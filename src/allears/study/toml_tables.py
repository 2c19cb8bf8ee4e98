"""TOML tables as frozen dataclasses. What is wrong is one sentence with the file and the key."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from allears.errors import AllearsError

T = TypeVar("T")
_NAMES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
    list: "a list",
}


class TomlPlace:
    """Where in which file: `study.toml: raters.per_unit`."""

    def __init__(self, file: Path | str, key: str = "") -> None:
        self.file, self.key = file, key

    def at(self, name: str | int) -> TomlPlace:
        if isinstance(name, int):
            return TomlPlace(self.file, f"{self.key}[{name + 1}]")
        return TomlPlace(self.file, f"{self.key}.{name}" if self.key else name)

    def wrong(self, what: str) -> AllearsError:
        return AllearsError(f"{self.file}: {self.key} {what}" if self.key else f"{self.file}: {what}")


def only(table: Mapping[str, Any], known: set[str], place: TomlPlace) -> None:
    """A key that nobody knows is an error, with the nearest that somebody does."""
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, sorted(known), 1)
            advice = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(known))}"
            raise AllearsError(f"{place.file}: unknown key {place.at(key).key}; {advice}")


def parsed(kind: type[T], table: Any, place: TomlPlace) -> T:
    """A table as a dataclass; tuples of dataclasses are arrays of tables."""
    if not isinstance(table, dict):
        raise place.wrong(f"must be a table, got {table!r}")
    declared = {item.name: item for item in fields(kind)}  # type: ignore[arg-type]
    only(table, set(declared), place)
    hints = get_type_hints(kind)
    for name, item in declared.items():
        if name not in table and item.default is MISSING and item.default_factory is MISSING:
            raise place.wrong(f"needs a line `{name} = ...`")
    return kind(**{key: _value(value, hints[key], place.at(key)) for key, value in table.items()})


def _value(value: Any, kind: Any, place: TomlPlace) -> Any:
    if get_origin(kind) is UnionType or type(None) in get_args(kind):
        kind = next(option for option in get_args(kind) if option is not type(None))
    origin = get_origin(kind)
    if origin is tuple:
        if not isinstance(value, list):
            raise place.wrong(f"must be a list, got {value!r}")
        return tuple(_value(item, get_args(kind)[0], place.at(number)) for number, item in enumerate(value))
    if origin is dict:
        if not isinstance(value, dict):
            raise place.wrong(f"must be a table, got {value!r}")
        return {key: _value(item, get_args(kind)[1], place.at(key)) for key, item in value.items()}
    if kind is Any:
        return value
    if hasattr(kind, "__dataclass_fields__"):
        return parsed(kind, value, place)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise place.wrong(f"must be {_NAMES.get(kind, kind.__name__)}, got {value!r}")
    return value.strip() if kind is str else value
