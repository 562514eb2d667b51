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
