"""Parameters of steps: references in a payload that are replaced by values when the step is released.

`{"$run": "fire_time"}`, `{"$run": "previous_fire_time"}` and `{"$run": "payload"}` take a fact of the run, `{"$result":
"extract"}` the result of a step that lies before, and `{"$item": true}` the element of one child of a mapped step. Each
may have a `path` into the value, and a `default` for a value that is not there. `{"$value": …}` is taken as it is.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

from msgspec import UNSET

from horae.domain.errors import Invalid

LITERAL: Final = "$value"
MAX_PARAMETERS: Final = 100
"""References in the payload of one step."""
LONGEST_PATH: Final = 200
PIECE: Final = re.compile(r"([^.\[\]]+)|\[(\d{1,6})\]")
PATH: Final = re.compile(r"(?:[^.\[\]]+|\[\d{1,6}\])(?:\.[^.\[\]]+|\[\d{1,6}\])*")


class ParameterKind(StrEnum):
    """Where the value of a parameter comes from."""

    RUN = "$run"
    RESULT = "$result"
    ITEM = "$item"


ITEM_PAYLOAD: Final = {ParameterKind.ITEM: True}
"""What a mapped step without a payload is sent: its element."""


class RunFact(StrEnum):
    """What a parameter can take from its run."""

    FIRE_TIME = "fire_time"
    PREVIOUS_FIRE_TIME = "previous_fire_time"
    PAYLOAD = "payload"


class Parameter(NamedTuple):
    """One reference. `name`: a fact of the run, or a step. `default` is UNSET where none is given."""

    kind: ParameterKind
    name: str
    path: str = ""
    default: Any = UNSET

    def __str__(self) -> str:
        source = {ParameterKind.RUN: "the run's", ParameterKind.RESULT: "the result of step"}.get(self.kind, "")
        what = "the element" if self.kind == ParameterKind.ITEM else f"{source} {self.name!r}"
        return f"{what} at {self.path}" if self.path else what


class UnresolvedParameter(Exception):
    """The value of a parameter is not there."""


Lookup = Callable[[Parameter], Any]
"""Returns the value that a parameter points into; UNSET where there is none."""


def parameter_of(value: Any) -> Parameter | None:
    """Return the reference that a value is; None for any other value. Refuses one that is malformed."""
    if type(value) is not dict:
        return None
    kinds = [kind for kind in ParameterKind if kind in value]
    if not kinds:
        return None
    kind = kinds[0]
    name, path = value[kind], value.get("path", "")
    if unknown := sorted(value.keys() - {kind, "path", "default"}):
        raise Invalid(f"a parameter with {kind!r} has no {unknown[0]!r}; it may have 'path' and 'default'")
    if kind == ParameterKind.RUN and name not in list(RunFact):
        raise Invalid(f"'$run' is one of {', '.join(RunFact)}, not {name!r}")
    if kind == ParameterKind.ITEM and name is not True:
        raise Invalid("'$item' is true: the element of the list")
    if kind == ParameterKind.RESULT and not isinstance(name, str):
        raise Invalid("'$result' is the name of a step")
    if not isinstance(path, str) or len(path) > LONGEST_PATH or (path and not PATH.fullmatch(path)):
        raise Invalid(f"a path is like 'a.b[0]', of at most {LONGEST_PATH} characters, not {path!r}")
    return Parameter(kind, str(name), path, value.get("default", UNSET))


def parameters_of(payload: Any) -> list[Parameter]:
    """Return all references in a payload; refuses malformed ones, and too many."""
    found = list(_walk(payload))
    if len(found) > MAX_PARAMETERS:
        raise Invalid(f"a payload has at most {MAX_PARAMETERS} parameters, not {len(found)}")
    return found


def has_literals(payload: Any) -> bool:
    """Whether a payload has a part that is taken as it is."""
    if type(payload) is dict:
        return payload.keys() == {LITERAL} or any(map(has_literals, payload.values()))
    return type(payload) is list and any(map(has_literals, payload))


def resolve(payload: Any, look_up: Lookup) -> Any:
    """Return a payload with values for its references. Raises `UnresolvedParameter` for the first without one."""
    if (parameter := parameter_of(payload)) is not None:
        return value_of(parameter, look_up)
    if type(payload) is dict:
        if payload.keys() == {LITERAL}:
            return payload[LITERAL]
        return {name: resolve(value, look_up) for name, value in payload.items()}
    if type(payload) is list:
        return [resolve(value, look_up) for value in payload]
    return payload


def value_of(parameter: Parameter, look_up: Lookup) -> Any:
    """Return the value of one reference, or its default. A null that is there is a value."""
    found = follow(look_up(parameter), parameter.path)
    if found is not UNSET:
        return found
    if parameter.default is UNSET:
        raise UnresolvedParameter(f"{parameter} has no value")
    return parameter.default


def follow(value: Any, path: str) -> Any:
    """Return what stands at a path in a value; UNSET where nothing does."""
    for name, index in PIECE.findall(path):
        if index:
            if not isinstance(value, Sequence) or isinstance(value, str) or int(index) >= len(value):
                return UNSET
            value = value[int(index)]
        elif not isinstance(value, Mapping) or name not in value:
            return UNSET
        else:
            value = value[name]
    return value


def _walk(payload: Any) -> Iterator[Parameter]:
    if (parameter := parameter_of(payload)) is not None:
        yield parameter
    elif type(payload) is dict and payload.keys() != {LITERAL}:
        for value in payload.values():
            yield from _walk(value)
    elif type(payload) is list:
        for value in payload:
            yield from _walk(value)
