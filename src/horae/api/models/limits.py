"""Limits: a rate per second, and a number of concurrent calls."""

from typing import Annotated

from pydantic import Field

from horae.api.models.base import Number, RequestModel

Positive = Annotated[Number, Field(gt=0, le=1e9)]


class LimitSpec(RequestModel):
    """At most `rate` per second with bursts of `burst`, and at most `concurrency` at the same time. Null: no limit."""

    rate: Positive | None = None
    burst: Positive | None = None
    concurrency: Annotated[int, Field(strict=True, ge=1, le=1_000_000_000)] | None = None
