"""Secrets in files of their own, as containers and systemd give them: `NAME_FILE` names the file."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from horae.domain.errors import Invalid
from horae.runtime.settings.facts import Place, Secrecy, fact_of, is_text, parts_of

FILE_SUFFIX: Final = "_file"
OTHERS_READ: Final = 0o004
"""The bit of a file's mode that lets every user of the machine read it."""


def file_keys(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The keys of a table that name the file of a secret, with the secret's field.

    A key that is a setting itself is not among them: the key service reads its `token_file` at every call.
    """
    named = {f"{name}{FILE_SUFFIX}": field for name, field in model.model_fields.items() if fact_of(field, Secrecy)}
    return {key: field for key, field in named.items() if key not in model.model_fields}


def take_secret_files(
    values: dict[str, Any], model: type[BaseModel], called: Callable[[Place], str], place: Place = ()
) -> Iterator[tuple[Place, Path]]:
    """Replace each key that names a file by the secret in that file; yields the place of each secret and its file.

    `called` returns the name of a place for messages. A secret that is also given directly is refused.
    """
    for key, field in file_keys(model).items():
        if key not in values:
            continue
        name = key.removesuffix(FILE_SUFFIX)
        if name in values:
            raise Invalid(f"{called((*place, name))} and {called((*place, key))} are both given: keep one of them")
        file = Path(str(values.pop(key)))
        values[name] = _content(file, field, called((*place, key)))
        yield (*place, name), file
    for name, field in model.model_fields.items():
        for part, inside, found in parts_of(field.annotation, values.get(name), (*place, name)):
            if isinstance(inside, dict):
                yield from take_secret_files(inside, part, called, found)


def open_to_others(file: Path) -> bool:
    """Whether every user of the machine may read a file."""
    return bool(file.stat().st_mode & OTHERS_READ)


def _content(file: Path, field: FieldInfo, called: str) -> Any:
    try:
        text = file.read_text().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise Invalid(f"{called}: {file} cannot be read: {reason}") from error
    if not text:
        raise Invalid(f"{called}: {file} is empty")
    if is_text(field):
        return text
    try:
        return json.loads(text)
    except ValueError:
        raise Invalid(f"{called}: {file} is not JSON") from None  # the error would show a part of the file
