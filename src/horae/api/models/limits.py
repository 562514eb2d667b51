"""Limits: so many a second, so many at once."""

from typing import Annotated

from pydantic import Field

from horae.api.models.base import Number, Told

Positive = Annotated[Number, Field(gt=0, le=1e9)]


class Limit(Told):
    """At most `rate` a second with `burst` at once, and at most `concurrency` at the same time; null: no limit."""

    rate: Positive | None = None
    burst: Positive | None = None
    concurrency: Annotated[int, Field(strict=True, ge=1, le=1_000_000_000)] | None = None
