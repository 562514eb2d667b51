"""Where a value of a setting comes from, and how that place is called in messages."""

from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from horae.runtime.settings.facts import Place

PREFIX: Final = "HORAE_"


class OriginKind(StrEnum):
    """The kinds of places that a value can come from."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"
    SECRET_FILE = "secret file"  # noqa: S105


class SettingOrigin(NamedTuple):
    """Where a value comes from: the path of a file, or the name of a variable."""

    kind: OriginKind
    where: str = ""

    def __str__(self) -> str:
        return self.where or str(self.kind)


def variable_of(place: Place) -> str:
    """The variable of a place: `HORAE_OIDC__CLIENT_SECRET`. Behind an index, keys follow: `HORAE_CELLS[0].dsn`."""
    name = PREFIX + str(place[0]).upper()
    for number, one in enumerate(place[1:], 1):
        if isinstance(one, int):
            return name + path_of(place[number:])
        name += f"__{one.upper()}"
    return name


def key_of(file: Path, place: Place) -> str:
    """The key of a place in the settings file: `/etc/horae/horae.toml: cells[0].dsn`."""
    return f"{file}: {path_of(place)}"


def path_of(place: Place) -> str:
    """A place with dots and indexes: `cells[0].dsn`."""
    text = "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in place)
    return text.removeprefix(".")
