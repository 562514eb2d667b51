"""Base classes of all models, and the value types of their fields."""

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

from horae.domain.names import LONGEST_NAME
from horae.domain.schedules.policies import MAX_COUNT, MAX_LATENESS_AND_PACE_S
from horae.domain.tasks.tasks import MAX_PAYLOAD_BYTES
from horae.domain.times import is_known

MAX_UNKNOWN_FIELDS: Final = 20
"""Unknown fields of one object that get an error each; with more the object is refused as a whole."""
TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d")  # the framework would also accept a number of seconds
NAME_PATTERN: Final = r"^[^/\x00-\x1f\x7f]+$"
DAY: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


class RequestModel(BaseModel):
    """Base of request models: unknown fields are refused, and values are not converted from other types."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _check_field_count(cls, value: Any) -> Any:
        """Refuse an object with too many fields before an error is created for each field."""
        if isinstance(value, dict) and len(value) > len(cls.model_fields) + MAX_UNKNOWN_FIELDS:
            raise ValueError(f"has {len(value)} fields; only {len(cls.model_fields)} are known")
        return value


class ResponseModel(BaseModel):
    """Base of response models."""

    model_config = ConfigDict(from_attributes=True)


def _is_text(value: Any) -> Any:
    if isinstance(value, datetime) or (isinstance(value, str) and TIME.match(value)):
        return value
    raise ValueError("must be a time such as 2030-01-31T08:00:00Z")


def _is_day(value: Any) -> Any:
    if isinstance(value, str) and DAY.fullmatch(value):
        return value
    raise ValueError("must be a date such as 2030-01-31")


def _is_known(value: datetime) -> datetime:
    if value.tzinfo is None:
        raise ValueError("must have a UTC offset such as Z or +08:00")
    if not is_known(value):
        raise ValueError("must be between the years 1970 and 9000 in UTC")
    return _in_utc(value)


def _in_utc(value: datetime) -> datetime:
    return value.astimezone(UTC)


def _is_number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number")
    return value


def _fits(value: Any) -> Any:
    if len(msgspec.json.encode(value)) > MAX_PAYLOAD_BYTES:
        raise ValueError(f"a payload has at most {MAX_PAYLOAD_BYTES} bytes")
    return value


Moment = Annotated[datetime, BeforeValidator(_is_text), AfterValidator(_is_known)]
UtcTime = Annotated[datetime, AfterValidator(_in_utc)]
"""The time of a stored row: it is converted to UTC and not validated."""
Day = Annotated[date, BeforeValidator(_is_day)]
Number = Annotated[float, BeforeValidator(_is_number)]
Seconds = Annotated[Number, Field(ge=0, le=MAX_LATENESS_AND_PACE_S)]
Count = Annotated[StrictInt, Field(ge=1, le=MAX_COUNT)]
Text = Annotated[StrictStr, Field(max_length=4000)]
Name = Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_NAME, pattern=NAME_PATTERN)]
Flag = StrictBool
AuditReason = Annotated[
    StrictStr,
    Field(min_length=1, max_length=500, pattern=r"^[^\x00-\x1f\x7f]+$", description="Why, for the audit log."),
]
Payload = Annotated[JsonValue, AfterValidator(_fits)]
