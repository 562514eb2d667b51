"""Tenants: what they may use, and whether they are active."""

from typing import Any

from horae_client.models.base import Model


class Tenant(Model, frozen=True, kw_only=True):
    """A tenant: the number of shards for its rows, its time zone, and what it may use."""

    id: str
    name: str
    width: int
    layout: str
    zone: str
    allowance: dict[str, Any]


class TenantStatus(Model, frozen=True, kw_only=True):
    """The status of a tenant: `ACTIVE`, `PAUSED` or `REMOVED`."""

    name: str
    status: str


class LimitUse(Model, frozen=True, kw_only=True):
    """How much of one limit is used. `name` is the limit key of `permits`; `near`: 80 % or more is used."""

    kind: str
    used: int
    most: int
    near: bool
    name: str | None = None


class TenantUsage(Model, frozen=True, kw_only=True):
    """How much of its limits a tenant uses, nearest to a limit first. What `cells_down` have is not counted."""

    id: str
    name: str
    uses: list[LimitUse]
    cells_down: tuple[str, ...] = ()
