"""Reads settings from where they are given. A later layer wins.

1. the defaults;
2. the settings file: `HORAE_CONFIG`, or /etc/horae/horae.toml where it exists;
3. the environment.

In both layers a secret may be in a file of its own, which `NAME_FILE` or the key `name_file` names. A layer that gives
a value twice is refused. Tables are merged key by key, lists are replaced as a whole.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource
from pydantic_settings.exceptions import SettingsError

from horae.domain.errors import Invalid
from horae.runtime.settings.facts import Place
from horae.runtime.settings.places import PREFIX, OriginKind, SettingOrigin, key_of, variable_of
from horae.runtime.settings.secret_files import file_keys, take_secret_files
from horae.runtime.settings.settings_file import read_toml, settings_file, unknown_keys

ALTERNATIVES: Final = (("dsn", "cells"), ("upkeep_dsn", "cells"), ("api_dsn", "api_cells"))
"""Settings that say the same in two ways: a layer gives one of the two, and it replaces the other of an earlier one."""
FIELD_IN_ERROR: Final = re.compile(r'field "(\w+)"')


class Layer(NamedTuple):
    """Values by the name of their setting, and where each setting comes from."""

    values: dict[str, Any]
    origins: dict[str, tuple[SettingOrigin, ...]]


class LayeredSource(PydanticBaseSettingsSource):
    """Gives pydantic the values of all layers."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Required by the base class, and not used: all values are read at once."""
        raise NotImplementedError

    def __call__(self) -> dict[str, Any]:
        """The values of the settings file and the environment."""
        return read_layers(self.settings_cls).values


def read_layers(model: type[BaseSettings]) -> Layer:
    """The values of the settings file and the environment."""
    environment = _environment_layer(model)
    if (file := settings_file()) is None:
        return environment
    return _over(environment, _file_layer(file, model))


def _file_layer(file: Path, model: type[BaseSettings]) -> Layer:
    values = read_toml(file, model)
    origins: dict[str, tuple[SettingOrigin, ...]] = {
        name: (SettingOrigin(OriginKind.FILE, str(file)),) for name in values
    }
    return _with_secret_files(values, origins, model, lambda place: key_of(file, place))


def _environment_layer(model: type[BaseSettings]) -> Layer:
    source = EnvSettingsSource(model)
    try:
        values: dict[str, Any] = source()
    except SettingsError as error:
        found = FIELD_IN_ERROR.search(str(error))
        raise Invalid(f"{PREFIX}{found[1].upper() if found else ''} is not JSON") from None  # without the value
    variables = {name.lower(): name for name in os.environ if os.environ[name]}
    origins: dict[str, tuple[SettingOrigin, ...]] = {}
    for name in list(values):
        own = f"{PREFIX}{name}".lower()
        found_in = sorted(one for key, one in variables.items() if key == own or key.startswith(f"{own}__"))
        origins[name] = tuple(SettingOrigin(OriginKind.ENVIRONMENT, one) for one in found_in)
    for key in file_keys(model):
        if (variable := variables.get(f"{PREFIX}{key}".lower())) is not None:
            values[key] = os.environ[variable]
    for place, near in unknown_keys(values, model):
        raise Invalid(f"{variable_of(place)}: there is no such setting{near}")
    return _with_secret_files(values, origins, model, variable_of)


def _with_secret_files(
    values: dict[str, Any],
    origins: dict[str, tuple[SettingOrigin, ...]],
    model: type[BaseSettings],
    called: Callable[[Place], str],
) -> Layer:
    """The layer with the secrets of files in place. Refuses two settings that say the same in two ways."""
    for place, file in take_secret_files(values, model, called):
        name = str(place[0])
        origins[name] = (*origins.get(name, ()), SettingOrigin(OriginKind.SECRET_FILE, str(file)))
    for one, other in ALTERNATIVES:
        if one in values and other in values:
            raise Invalid(f"{called((one,))} and {called((other,))} are both given: keep one of them")
    return Layer(values, {name: origins[name] for name in values})


def _over(upper: Layer, lower: Layer) -> Layer:
    """The values of two layers; those of the upper one win."""
    replaced = {other for pair in ALTERNATIVES for one, other in (pair, pair[::-1]) if one in upper.values}
    values = {name: value for name, value in lower.values.items() if name not in replaced}
    origins = {name: lower.origins[name] for name in values}
    for name, value in upper.values.items():
        below = values.get(name)
        if isinstance(value, dict) and isinstance(below, dict):
            values[name], origins[name] = _merged(value, below), (*upper.origins[name], *origins[name])
        else:
            values[name], origins[name] = value, upper.origins[name]
    return Layer(values, origins)


def _merged(upper: dict[str, Any], lower: dict[str, Any]) -> dict[str, Any]:
    both = {**lower, **upper}
    for name in upper.keys() & lower.keys():
        if isinstance(upper[name], dict) and isinstance(lower[name], dict):
            both[name] = _merged(upper[name], lower[name])
    return both
