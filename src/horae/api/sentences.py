"""Sentences for invalid requests. The messages of the validator are for developers of validators.

Each kind of error has a sentence here. An unknown kind only says that the value does not match the API document.
"""

import types
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

MOST_NAMED: Final = 20
LONGEST_QUOTE: Final = 60
SENTENCES: Final[Mapping[str, str]] = {
    "missing": "is missing",
    "string_type": "must be a string",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "may have at most {max_length} characters",
    "string_pattern_mismatch": "must match {pattern}",
    "string_unicode": "must be a string without half surrogate pairs",
    "int_type": "must be an integer",
    "int_parsing": "must be an integer",
    "int_parsing_size": "must be an integer of at most 64 bits",
    "int_from_float": "must be an integer",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "may be at most {le}",
    "multiple_of": "must be a multiple of {multiple_of}",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "set_type": "must be a list",
    "frozen_set_type": "must be a list",
    "too_short": "must have at least {min_length} items",
    "too_long": "may have at most {max_length} items",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "none_required": "must be null or omitted",
    "enum": "must be {expected}",
    "literal_error": "must be {expected}",
    "union_tag_not_found": "needs a field {discriminator}",
    "union_tag_invalid": "has an unknown {discriminator} '{tag}'; known: {expected_tags}",
    "datetime_type": "must be a time, such as 2026-11-15T09:00:00+08:00",
    "datetime_parsing": "must be a time, such as 2026-11-15T09:00:00+08:00",
    "datetime_from_date_parsing": "must be a time, such as 2026-11-15T09:00:00+08:00",
    "datetime_object_invalid": "must be a time that exists",
    "timezone_aware": "must be a time with a UTC offset, such as 2026-11-15T09:00:00+08:00",
    "date_type": "must be a day, such as 2026-11-15",
    "date_parsing": "must be a day, such as 2026-11-15",
    "date_from_datetime_parsing": "must be a day, such as 2026-11-15",
    "date_from_datetime_inexact": "must be a day, such as 2026-11-15",
    "time_delta_type": "must be a number of seconds",
    "time_delta_parsing": "must be a number of seconds",
    "uuid_type": "must be a UUID",
    "uuid_parsing": "must be a UUID",
    "json_invalid": "is not JSON",
}
UNKNOWN: Final = "does not match the API document"


def sentence_of(error: ErrorDetails, body: Any = None) -> str:
    """Returns the sentence of one error. `body` is the type of the request body, if the route has one."""
    kind, facts = error["type"], error.get("ctx", {})
    if kind == "extra_forbidden":
        return unknown("field", str(error["loc"][-1]), fields_at(body, error["loc"][1:-1]))
    if kind in {"value_error", "assertion_error"}:
        return str(facts.get("error", UNKNOWN))
    if kind not in SENTENCES:
        return UNKNOWN
    return SENTENCES[kind].format_map(_Facts(facts))


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Returns the sentence for an unknown field or parameter, with the known names."""
    names = sorted(known)
    said = f'unknown {what} "{_display(name)}"'
    if near := get_close_matches(name[:LONGEST_QUOTE], names, 1):
        return f'{said}: did you mean "{near[0]}"?'
    if not names:
        return said
    return f"{said}; known: {', '.join(names[:MOST_NAMED])}{', …' if len(names) > MOST_NAMED else ''}"


def fields_at(kind: Any, path: Sequence[int | str]) -> list[str]:
    """Returns the fields of the object at a path inside a model; none if the object is not known."""
    kinds = [kind]
    for part in path:
        kinds = [inner for one in kinds for found in _flat(one) for inner in _inside(found, part)]
    models = [found for one in kinds for found in _flat(one) if _is_model(found)]
    return sorted({field.alias or name for model in models for name, field in model.model_fields.items()})


class _Facts(dict[str, Any]):
    """The values of an error for its sentence. A missing value becomes an ellipsis."""

    def __getitem__(self, name: str) -> str:
        return _display(super().__getitem__(name)) if name in self else "…"


def _inside(kind: Any, part: int | str) -> list[Any]:
    """Returns the types at one part of a path: a field, an item, a value, or the model of a union with this tag."""
    if _is_model(kind):
        if part in kind.model_fields:
            return [kind.model_fields[part].annotation]
        return [kind] if part == kind.__name__ or part in _tags(kind) else []
    return list(get_args(kind)[-1:]) if get_origin(kind) in {list, tuple, dict} else []


def _tags(model: type[BaseModel]) -> list[object]:
    fields = [field.annotation for field in model.model_fields.values()]
    return [value for one in fields if get_origin(one) is Literal for value in get_args(one)]


def _flat(kind: Any) -> list[Any]:
    """Returns the types of a union, an optional or an annotated type."""
    if get_origin(kind) is Annotated:
        return _flat(get_args(kind)[0])
    if get_origin(kind) in {Union, types.UnionType}:
        return [inner for one in get_args(kind) for inner in _flat(one)]
    return [kind]


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _display(value: object) -> str:
    text = str(value)
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"
