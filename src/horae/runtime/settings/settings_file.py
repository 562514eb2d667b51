"""The settings file: one TOML file with the names of the settings in lower case."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from horae.domain.errors import Invalid
from horae.runtime.settings.facts import Place, Secrecy, fact_of, parts_of
from horae.runtime.settings.places import path_of
from horae.runtime.settings.redaction import has_password
from horae.runtime.settings.secret_files import file_keys, open_to_others

CONFIG_VARIABLE: Final = "HORAE_CONFIG"
DEFAULT_FILE: Final = Path("/etc/horae/horae.toml")


def settings_file() -> Path | None:
    """The settings file of this process: `HORAE_CONFIG`, or the default one where it exists."""
    if named := os.environ.get(CONFIG_VARIABLE):
        return Path(named)
    return DEFAULT_FILE if DEFAULT_FILE.exists() else None


def read_toml(file: Path, model: type[BaseModel]) -> dict[str, Any]:
    """The values of a settings file. Refuses unknown keys, and secrets that every user of the machine may read."""
    import tomllib  # noqa: PLC0415 - most processes have no settings file, and start sooner without it

    try:
        values = tomllib.loads(file.read_text())
    except OSError as error:
        raise Invalid(f"{file} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Invalid(f"{file} is not TOML: {error}") from None
    for place, near in unknown_keys(values, model):
        raise Invalid(f"{file}: {path_of(place)}: there is no such setting{near}")
    if (secret := next(_secrets_in(values, model), None)) is not None and open_to_others(file):
        raise Invalid(
            f"{file}: every user of this machine can read {path_of(secret)}: `chmod 640 {file}`, "
            f"or name a file with the secret in {path_of(secret)}_file"
        )
    return values


def unknown_keys(values: dict[str, Any], model: type[BaseModel], place: Place = ()) -> Iterator[tuple[Place, str]]:
    """The keys that a table does not have, each with a hint at a near name."""
    known = [*model.model_fields, *file_keys(model)]
    for key in values:
        if key not in known:
            yield (*place, key), near_name(key, known)
    for part, inside, found in _tables(values, model, place):
        yield from unknown_keys(inside, part, found)


def near_name(name: str, known: list[str]) -> str:
    """A hint at the known name that is nearest, or nothing."""
    from difflib import get_close_matches  # noqa: PLC0415 - only mistakes need it

    near = get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _tables(
    values: dict[str, Any], model: type[BaseModel], place: Place
) -> Iterator[tuple[type[BaseModel], dict[str, Any], Place]]:
    for name, field in model.model_fields.items():
        for part, inside, found in parts_of(field.annotation, values.get(name), (*place, name)):
            if isinstance(inside, dict):
                yield part, inside, found


def _secrets_in(values: dict[str, Any], model: type[BaseModel], place: Place = ()) -> Iterator[Place]:
    """The places of secrets that stand in the file itself. A DSN is one if it has a password."""
    for name, field in model.model_fields.items():
        value = values.get(name)
        match fact_of(field, Secrecy):
            case Secrecy.HIDDEN if value:
                yield (*place, name)
            case Secrecy.DSN | Secrecy.URL if isinstance(value, str) and has_password(value):
                yield (*place, name)
    for part, inside, found in _tables(values, model, place):
        yield from _secrets_in(inside, part, found)
