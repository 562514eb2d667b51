"""The strictness all models share, and the kinds of values they are made of."""

import re
from datetime import UTC, date, datetime
from typing import Annotated, Any, Final

import msgspec
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StrictBool,
    StrictInt,
    StrictStr,
    model_validator,
)

from horae.domain.schedule.policies import MAX_COUNT, MAX_SECONDS
from horae.domain.times import is_known

LARGEST_PAYLOAD: Final = 64 * 1024
MAX_UNKNOWN_FIELDS: Final = 20
"""Unknown fields of one object that are named one by one; with more the object is refused as a whole."""
TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d")  # the framework would take a count of seconds, too
DAY: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


class Told(BaseModel):
    """What a caller tells us: nothing beside its fields, and no value that must be bent to fit."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _check_field_count(cls, value: Any) -> Any:
        """Refuse tens of thousands of fields before an error is made for each of them."""
        if isinstance(value, dict) and len(value) > len(cls.model_fields) + MAX_UNKNOWN_FIELDS:
            raise ValueError(f"has {len(value)} fields, where {len(cls.model_fields)} are known")
        return value


class Shown(BaseModel):
    """What we show."""

    model_config = ConfigDict(from_attributes=True)


def _is_text(value: Any) -> Any:
    if isinstance(value, datetime) or (isinstance(value, str) and TIME.match(value)):
        return value
    raise ValueError("a time is a text such as 2030-01-31T08:00:00Z")


def _is_day(value: Any) -> Any:
    if isinstance(value, str) and DAY.fullmatch(value):
        return value
    raise ValueError("a day is a text such as 2030-01-31")


def _is_known(value: datetime) -> datetime:
    if value.tzinfo is None:
        raise ValueError("a time has an offset, such as Z or +08:00")
    if not is_known(value):
        raise ValueError("a time lies between 1970 and 9000, as UTC has it")
    return _in_utc(value)


def _in_utc(value: datetime) -> datetime:
    return value.astimezone(UTC)


def _is_number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a number is not a text")
    return value


def _fits(value: Any) -> Any:
    if len(msgspec.json.encode(value)) > LARGEST_PAYLOAD:
        raise ValueError(f"a payload has at most {LARGEST_PAYLOAD} bytes")
    return value


Moment = Annotated[datetime, BeforeValidator(_is_text), AfterValidator(_is_known)]
ShownTime = Annotated[datetime, AfterValidator(_in_utc)]
"""A time of a row, which is judged no more."""
Day = Annotated[date, BeforeValidator(_is_day)]
Number = Annotated[float, BeforeValidator(_is_number)]
Seconds = Annotated[Number, Field(ge=0, le=MAX_SECONDS)]
Count = Annotated[StrictInt, Field(ge=1, le=MAX_COUNT)]
Text = Annotated[StrictStr, Field(max_length=4000)]
Name = Annotated[StrictStr, Field(min_length=1, max_length=120, pattern=r"^[^/\x00-\x1f\x7f]+$")]
Flag = StrictBool
Payload = Annotated[JsonValue, AfterValidator(_fits)]
