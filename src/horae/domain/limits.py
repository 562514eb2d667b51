"""Limits."""

import msgspec


class Limit(msgspec.Struct, frozen=True, omit_defaults=True):
    """A limit."""

    rate: float | None = None
    burst: float | None = None
    concurrency: int | None = None
