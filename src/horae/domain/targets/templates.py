"""Placeholders in the parts of a call: compiled once per job version, filled at every fire.

`{{job}}`, `{{instance}}`, `{{fire_time}}`, `{{previous_fire_time}}`, `{{attempt}}`, `{{key}}`, `{{idempotency_key}}`,
`{{payload}}`, and paths into the payload such as `{{payload.items.0.id}}`. A string that is exactly one placeholder
becomes the value with its type; within other text it becomes text. A path that does not exist is null, and empty within
text. A time may be followed by a zone and a format, `{{fire_time | Asia/Shanghai | %Y-%m-%d}}`: then it is text.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from horae.domain.errors import Invalid
from horae.domain.targets.business_dates import writer

PLACEHOLDER: Final = re.compile(r"\{\{([^{}]*)\}\}")
PREVIOUS: Final = "previous_fire_time"
"""A placeholder that is computed from the trigger; only calls whose template names it pay for it."""
TIMES: Final = frozenset({"fire_time", PREVIOUS})
NAMES: Final = frozenset({"job", "instance", "attempt", "key", "idempotency_key", "payload"}) | TIMES
DEEPEST: Final = 32
"""Levels of nesting."""

Fill = Callable[[Any], Any]
"""A function from the call of an attempt to the value that is sent."""


def compile_value(value: Any, depth: int = 0) -> Fill | None:
    """Return the function that fills a JSON value; None without placeholders. Unknown placeholders are refused."""
    if depth > DEEPEST:
        raise Invalid(f"a template is at most {DEEPEST} levels deep")
    match value:
        case str():
            return _of_string(value)
        case dict():
            if any("{{" in name for name in value):
                raise Invalid("placeholders stand in values, not in names")
            return _of_dict(value, {name: compile_value(item, depth + 1) for name, item in value.items()})
        case list() | tuple():
            return _of_list(value, [compile_value(item, depth + 1) for item in value])
        case _:
            return None


def compile_text(text: str) -> Callable[[Any], str] | None:
    """Return the function that fills a text; None without placeholders."""
    fill = _of_string(text)
    return None if fill is None else lambda call: text_of(fill(call))


def text_of(value: Any) -> str:
    """Return a value within text: a text as it is, an empty text for null, JSON for everything else."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return msgspec.json.encode(value).decode().strip('"')  # only a time has quotes at its ends


def names_previous(*values: Any) -> bool:
    """Whether a placeholder in one of these values names the previous fire time."""
    return any(
        names_previous(*(value.values() if isinstance(value, dict) else value))
        if isinstance(value, dict | list | tuple)
        else isinstance(value, str) and any(_name(found) == PREVIOUS for found in PLACEHOLDER.findall(value))
        for value in values
    )


def _of_string(text: str) -> Fill | None:
    pieces = PLACEHOLDER.split(text)  # text, name, text, name, … text
    if any("{{" in piece for piece in pieces[::2]):
        raise Invalid(f"{text!r} has a {{{{ that begins no placeholder")
    if len(pieces) == 1:
        return None
    takes = [_getter(name) for name in pieces[1::2]]
    if len(takes) == 1 and not pieces[0] and not pieces[2]:
        return takes[0]
    first, rest = pieces[0], list(zip(takes, pieces[2::2], strict=True))
    return lambda call: first + "".join([text_of(take(call)) + after for take, after in rest])


def _getter(placeholder: str) -> Fill:
    """Return the function that takes one named value from a call."""
    value, *written = (part.strip() for part in placeholder.split("|"))
    name, *path = value.split(".")
    if name not in NAMES or (path and name != "payload"):
        known = ", ".join(sorted(NAMES))
        raise Invalid(f"there is no placeholder {{{{{placeholder}}}}}; known are {known} and paths into payload")
    if written and name not in TIMES:
        raise Invalid(f"{{{{{name}}}}} is not a time: it has neither zone nor format")
    if written:
        write = writer(name, written)
        return lambda call: write(getattr(call, name))
    if not path:
        return lambda call: getattr(call, name)
    return lambda call: _follow(call.payload, path)


def _name(placeholder: str) -> str:
    return placeholder.split("|", 1)[0].strip()


def _follow(value: Any, path: list[str]) -> Any:
    for step in path:
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def _of_dict(value: dict[str, Any], fills: dict[str, Fill | None]) -> Fill | None:
    changing = {name: fill for name, fill in fills.items() if fill is not None}
    if not changing:
        return None
    return lambda call: {**value, **{name: fill(call) for name, fill in changing.items()}}


def _of_list(value: list[Any] | tuple[Any, ...], fills: list[Fill | None]) -> Fill | None:
    if not any(fills):
        return None
    pairs = list(zip(value, fills, strict=True))
    return lambda call: [item if fill is None else fill(call) for item, fill in pairs]
