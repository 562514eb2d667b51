"""What is wrong with a request, in our own words: the validator's are for the people who write validators.

Each kind of error has a sentence here. One that has none says only that the value is not as the document has it.
"""

import types
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

MOST_NAMED: Final = 20
LONGEST_SHOWN: Final = 60
SENTENCES: Final[Mapping[str, str]] = {
    "missing": "is missing",
    "string_type": "must be a text",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "may have at most {max_length} characters",
    "string_pattern_mismatch": "must match {pattern}",
    "string_unicode": "must be a text without half surrogate pairs",
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
    "none_required": "must be null or be left out",
    "enum": "must be {expected}",
    "literal_error": "must be {expected}",
    "union_tag_not_found": "needs a field {discriminator} that says which kind it is",
    "union_tag_invalid": "has an unknown {discriminator} '{tag}'; known: {expected_tags}",
    "datetime_type": "must be a time, such as 2026-11-15T09:00:00+08:00",
    "datetime_parsing": "must be a time, such as 2026-11-15T09:00:00+08:00",
    "datetime_from_date_parsing": "must be a time, such as 2026-11-15T09:00:00+08:00",
    "datetime_object_invalid": "must be a time that exists",
    "timezone_aware": "must be a time with its offset, such as 2026-11-15T09:00:00+08:00",
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
UNKNOWN: Final = "is not as the API's document has it"


def sentence_of(error: ErrorDetails, body: Any = None) -> str:
    """What is wrong at one place. `body` is the kind of the request's body, where it has one."""
    kind, facts = error["type"], error.get("ctx", {})
    if kind == "extra_forbidden":
        return unknown("field", str(error["loc"][-1]), fields_at(body, error["loc"][1:-1]))
    if kind in {"value_error", "assertion_error"}:
        return str(facts.get("error", UNKNOWN))
    if kind not in SENTENCES:
        return UNKNOWN
    return SENTENCES[kind].format_map(_Facts(facts))


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """That a field or parameter of that name is not known, and which are."""
    names = sorted(known)
    said = f'unknown {what} "{_shown(name)}"'
    if near := get_close_matches(name[:LONGEST_SHOWN], names, 1):
        return f'{said}: did you mean "{near[0]}"?'
    if not names:
        return said
    return f"{said}; known: {', '.join(names[:MOST_NAMED])}{', …' if len(names) > MOST_NAMED else ''}"


def fields_at(kind: Any, path: Sequence[int | str]) -> list[str]:
    """The fields of the object at a path inside a model; none where that is not known."""
    kinds = [kind]
    for part in path:
        kinds = [inner for one in kinds for found in _flat(one) for inner in _inside(found, part)]
    models = [found for one in kinds for found in _flat(one) if _is_model(found)]
    return sorted({field.alias or name for model in models for name, field in model.model_fields.items()})


class _Facts(dict[str, Any]):
    """What an error tells beside its kind, as it is shown; what it does not tell is left open."""

    def __getitem__(self, name: str) -> str:
        return _shown(super().__getitem__(name)) if name in self else "…"


def _inside(kind: Any, part: int | str) -> list[Any]:
    """What lies at one part of a path: a field, an item, a value, or the kind of a union that has this tag."""
    if _is_model(kind):
        if part in kind.model_fields:
            return [kind.model_fields[part].annotation]
        return [kind] if part == kind.__name__ or part in _tags(kind) else []
    return list(get_args(kind)[-1:]) if get_origin(kind) in {list, tuple, dict} else []


def _tags(model: type[BaseModel]) -> list[object]:
    fields = [field.annotation for field in model.model_fields.values()]
    return [value for one in fields if get_origin(one) is Literal for value in get_args(one)]


def _flat(kind: Any) -> list[Any]:
    """The kinds that a union, an optional or an annotated kind stands for."""
    if get_origin(kind) is Annotated:
        return _flat(get_args(kind)[0])
    if get_origin(kind) in {Union, types.UnionType}:
        return [inner for one in get_args(kind) for inner in _flat(one)]
    return [kind]


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _shown(value: object) -> str:
    text = str(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
