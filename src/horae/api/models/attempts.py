"""Models of attempts."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from pydantic import Field

from horae.api.models.base import ResponseModel


class AttemptView(ResponseModel):
    """One attempt of an instance. Fields that are not known are null: older attempts have fewer."""

    attempt: int
    started_at: datetime | None = Field(None, description="When it was sent, or claimed by a worker.")
    ended_at: datetime | None = Field(None, description="When it was answered or given up.")
    duration_ms: int | None = None
    node: str | None = Field(None, description="The node that made it.")
    worker_id: str | None = Field(None, description="The worker that claimed it.")
    request: str | None = Field(
        None,
        description="The method, host and path of the call, without its query; null if nothing was sent.",
        examples=["POST orders.example.com/close"],
    )
    status: int | None = Field(None, description="The status of the HTTP response.")
    code: str | None = Field(None, description="Why it failed.")
    answer: str | None = Field(
        None, description="The first 2 KB of the answer; null for callers without `payloads.read`."
    )

    @classmethod
    def of(cls, note: Mapping[str, Any], *, answers: bool) -> "AttemptView":
        """Returns the view of a record; without its answer unless `answers` is set."""
        made = cls.model_validate({name: note.get(name) for name in cls.model_fields if name != "answer"})
        if made.started_at is not None and made.duration_ms is not None:
            made.ended_at = made.started_at + timedelta(milliseconds=made.duration_ms)
        made.answer = note.get("answer") if answers else None
        return made
