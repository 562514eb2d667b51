"""Reads the settings of a process; one line says what is wrong with them, without any value."""

from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from horae.domain.errors import Invalid
from horae.runtime.settings.layers import read_layers
from horae.runtime.settings.places import OriginKind, SettingOrigin, path_of, variable_of
from horae.runtime.settings.settings import Settings

NO_ENVIRONMENT: Final = (
    "HORAE_ENVIRONMENT is not set. Set it to `production`: calls go to public addresses over https only, unless "
    "HORAE_EGRESS allows more, and unsafe databases are refused; or to `dev` (tests: `test`): calls may also go to "
    "this machine and to private networks, over http too, and databases are not checked"
)


def read_settings(**given: Any) -> Settings:
    """The settings of this process; `given` values come first. Raises `Invalid` with what is wrong in one line."""
    try:
        return Settings(**given)
    except ValidationError as error:
        origins = read_layers(Settings).origins
        raise Invalid("; ".join(_explained(one, origins) for one in error.errors())) from None  # it holds the values


def _explained(error: ErrorDetails, origins: dict[str, tuple[SettingOrigin, ...]]) -> str:
    place, message = error["loc"], error["msg"].removeprefix("Value error, ")
    if place == ("environment",) and error["type"] == "missing":
        return NO_ENVIRONMENT
    if not place:
        return message
    match origins.get(str(place[0]), ()):
        case (SettingOrigin(OriginKind.FILE, where), *_):
            return f"{where}: {path_of(place)}: {message}"
        case (SettingOrigin(OriginKind.SECRET_FILE, where), *_):
            return f"{variable_of(place)} (in {where}): {message}"
    return f"{variable_of(place)}: {message}"
