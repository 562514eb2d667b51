"""Models made from stored rows. The values are not validated again: one odd value would hide a whole list."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final, TypeVar, get_args

import msgspec
from pydantic import BaseModel, PlainSerializer

Model = TypeVar("Model", bound=BaseModel)
SPARSE: Final = PlainSerializer(lambda model: model.model_dump(mode="json", exclude_unset=True))
"""Writes only the fields that were set, as `show_one_of` sets them. It leaves the schema of the document as it is."""


def show_as(model: type[Model], value: msgspec.Struct) -> Model:
    """Returns a struct as the model with the same fields, with all defaults, not validated."""
    config = value.__struct_config__
    facts: dict[str, Any] = {} if config.tag_field is None else {config.tag_field: config.tag}
    for name, field in model.model_fields.items():
        if name in value.__struct_fields__:
            facts[name] = _show(field.annotation, getattr(value, name))
    return model.model_construct(**facts)


def show_one_of(models: Any, value: msgspec.Struct) -> Any:
    """Returns a tagged struct as the model of a union that has the same tag, not validated.

    Only the fields that the struct itself writes are set: defaults that it omits stay unset.
    """
    config = value.__struct_config__
    tag_field = str(config.tag_field)
    model = next(one for one in _models_in(models) if get_args(one.model_fields[tag_field].annotation) == (config.tag,))
    written = msgspec.to_builtins(value)
    facts: dict[str, Any] = {tag_field: config.tag}
    for name, field in model.model_fields.items():
        if name in written and name in value.__struct_fields__:
            one = getattr(value, name)
            facts[name] = _show_part(field.annotation, one) if isinstance(one, msgspec.Struct) else one
    return model.model_construct(**facts)


def _show_part(models: Any, value: msgspec.Struct) -> Any:
    """Returns a struct within a tagged one. One without a tag is the only part of its field that has none."""
    if value.__struct_config__.tag_field is not None:
        return show_one_of(models, value)
    model = next(one for one in _models_in(models) if set(value.__struct_fields__) <= one.model_fields.keys())
    return model.model_construct(**msgspec.to_builtins(value))


def _show(kind: Any, value: Any) -> Any:
    match value:
        case msgspec.Struct():
            model = next(_models_in(kind), None)
            return msgspec.to_builtins(value) if model is None else show_as(model, value)
        case dict():
            return {key: _show(kind, one) for key, one in value.items()}
        case list() | tuple():
            return [_show(kind, one) for one in value]
        case datetime():
            return value.astimezone(UTC)
        case _:
            return value


def _models_in(kind: Any) -> Iterator[type[BaseModel]]:
    """Yields the models that a field holds: by itself, in a list, as a value, as an option, or in a union."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
        return
    for inner in get_args(kind):
        yield from _models_in(inner)
