"""What a setting says about itself beside its type: its unit, whether it is a secret, and which processes read it.

The docstring below a setting says what it means. Its second paragraph begins with "Change it" and says when.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final, NamedTuple, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

Fact = TypeVar("Fact")
Place = tuple[str | int, ...]
"""Where a value is: the name of a setting, then keys and indexes, such as `("cells", 0, "dsn")`."""


class Unit(NamedTuple):
    """The unit of a number."""

    name: str


class Secrecy(StrEnum):
    """How a secret is shown.

    - `HIDDEN`: not at all.
    - `DSN`: without its password.
    - `URL`: its scheme and host only.
    - `INSIDE`: it is a table or list with secrets in it, each of which is shown in its own way.
    """

    HIDDEN = "hidden"
    DSN = "dsn"
    URL = "url"
    INSIDE = "inside"


class ReadBy(NamedTuple):
    """The processes that read a setting, where they are others than those of its group."""

    processes: tuple[str, ...]


NODE: Final = "node"
API: Final = "API"
MIGRATE: Final = "migrate"
COMMANDS: Final = "commands"
"""Commands that open PostgreSQL themselves."""
EVERY_PROCESS: Final = (NODE, API, MIGRATE, COMMANDS)

Seconds = Annotated[float, Unit("s")]
Days = Annotated[int, Unit("days")]
Port = Annotated[int, Field(ge=0, le=65535)]
SecretText = Annotated[str, Field(repr=False), Secrecy.HIDDEN]
DsnText = Annotated[str, Secrecy.DSN]
SecretUrl = Annotated[str, Secrecy.URL]
"""An address that is a secret itself, or has a password in it."""


class SettingsPart(BaseModel):
    """A table of the settings file: a cell, the issuer, a broker. A key that it does not have is refused."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class SettingsGroup(BaseModel):
    """The settings of one subject. The class is a base of `Settings` and is never made by itself."""

    model_config = ConfigDict(defer_build=True)
    READ_BY: ClassVar[tuple[str, ...]] = EVERY_PROCESS


def fact_of(field: FieldInfo, kind: type[Fact]) -> Fact | None:
    """What a field says about itself, whether beside its type or beside a part of its type."""
    return next((one for one in _all_facts(field) if isinstance(one, kind)), None)


def is_text(field: FieldInfo) -> bool:
    """Whether a field holds one text, and not a table or a list."""
    return any(one is str for one in _plain_types(field.annotation))


def parts_of(annotation: Any, value: Any, place: Place) -> Iterator[tuple[type[SettingsPart], Any, Place]]:
    """The tables in a value, each with its class and place. What does not fit its class is left out."""
    if isinstance(annotation, type) and issubclass(annotation, SettingsPart):
        yield annotation, value, place
        return
    kind, inside = get_origin(annotation), get_args(annotation)
    if kind is list:
        for number, one in enumerate(value if isinstance(value, list) else ()):
            yield from parts_of(inside[0], one, (*place, number))
    elif kind is dict:
        for name, one in (value if isinstance(value, dict) else {}).items():
            yield from parts_of(inside[1], one, (*place, name))
    else:
        for one in inside:
            yield from parts_of(one, value, place)


def _all_facts(field: FieldInfo) -> Iterator[Any]:
    yield from field.metadata
    yield from _facts_in(field.annotation)


def _facts_in(annotation: Any) -> Iterator[Any]:
    yield from getattr(annotation, "__metadata__", ())
    if get_origin(annotation) not in (list, dict):
        for one in get_args(annotation):
            yield from _facts_in(one)


def _plain_types(annotation: Any) -> Iterator[Any]:
    if isinstance(annotation, type):
        yield annotation
    elif get_origin(annotation) not in (list, dict):
        for one in get_args(annotation):
            yield from _plain_types(one)
