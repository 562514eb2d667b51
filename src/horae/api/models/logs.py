"""Models of log lines."""

from datetime import datetime
from typing import Any

from pydantic import Field

from horae.api.models.base import ResponseModel
from horae.domain.instances.logs import NumberedLine


class LogLineView(ResponseModel):
    """A line that an attempt logged, or a mark: `dropped` says how many lines before it are missing."""

    attempt: int
    number: int = Field(description="The place of the line in its attempt, counted from 0.")
    at: datetime | None = Field(None, description="The time of the line by the clock of its worker; null for a mark.")
    level: str | None = None
    text: str | None = None
    dropped: int = 0

    @classmethod
    def of(cls, one: NumberedLine) -> "LogLineView":
        """Returns the view of a line or a mark."""
        return cls(**line_fields(one))


def line_fields(one: NumberedLine) -> dict[str, Any]:
    """Returns the fields of `LogLineView`."""
    line = one.line
    return {
        "attempt": one.attempt,
        "number": one.number,
        "at": None if line is None else line.at,
        "level": None if line is None else line.level,
        "text": None if line is None else line.text,
        "dropped": one.dropped,
    }
