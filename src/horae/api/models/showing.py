"""Rows as they are shown. What a row holds is not judged again: one odd value would hide a whole list."""

from datetime import UTC, datetime
from typing import Any, TypeVar, get_args

import msgspec
from pydantic import BaseModel

Model = TypeVar("Model", bound=BaseModel)


def show_as(model: type[Model], value: msgspec.Struct) -> Model:
    """A struct as the model that has the same fields, with all defaults, unchecked."""
    config = value.__struct_config__
    facts: dict[str, Any] = {} if config.tag_field is None else {config.tag_field: config.tag}
    for name, field in model.model_fields.items():
        if name in value.__struct_fields__:
            facts[name] = _show(field.annotation, getattr(value, name))
    return model.model_construct(**facts)


def _show(kind: Any, value: Any) -> Any:
    match value:
        case msgspec.Struct():
            model = _model_in(kind)
            return msgspec.to_builtins(value) if model is None else show_as(model, value)
        case dict():
            return {key: _show(kind, one) for key, one in value.items()}
        case list() | tuple():
            return [_show(kind, one) for one in value]
        case datetime():
            return value.astimezone(UTC)
        case _:
            return value


def _model_in(kind: Any) -> type[BaseModel] | None:
    """The model that a field holds, by itself, in a list, as a value or as an option."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind
    return next((found for inner in get_args(kind) if (found := _model_in(inner)) is not None), None)
