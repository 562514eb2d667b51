"""Requests about tenants. A creation or removal is not retried after a lost answer, because a second one is refused."""

from collections.abc import Mapping
from typing import Any

from horae_client.models import CreatedApiKey, Page, Tenant, TenantStatus, TenantUsage
from horae_client.wire import Request, path, said


def own() -> Request[Tenant]:
    """Get the tenant of the caller."""
    return Request("GET", path("tenant"), Tenant)


def own_status() -> Request[TenantStatus]:
    """Get the status of the caller's tenant."""
    return Request("GET", path("tenant", "status"), TenantStatus)


def own_usage() -> Request[TenantUsage]:
    """Get how much of its limits the caller's tenant uses."""
    return Request("GET", path("tenant", "usage"), TenantUsage)


def usage() -> Request[Page[TenantUsage]]:
    """Get a page of what tenants use."""
    return Request("GET", path("tenant-usage"), Page[TenantUsage])


def own_verb(verb: str) -> Request[TenantStatus]:
    """Pause or resume the caller's tenant."""
    return Request("POST", path("tenant", verb), TenantStatus)


def create(name: str, width: int | None, zone: str | None) -> Request[Tenant]:
    """Create a tenant."""
    return Request("POST", path("tenants"), Tenant, body=said(name=name, width=width, zone=zone), again=False)


def tenants() -> Request[Page[Tenant]]:
    """Get a page of tenants."""
    return Request("GET", path("tenants"), Page[Tenant])


def tenant(name: str) -> Request[Tenant]:
    """Get a tenant."""
    return Request("GET", path("tenants", name), Tenant)


def status(name: str) -> Request[TenantStatus]:
    """Get the status of a tenant."""
    return Request("GET", path("tenants", name, "status"), TenantStatus)


def verb(name: str, word: str) -> Request[TenantStatus]:
    """Pause or resume a tenant."""
    return Request("POST", path("tenants", name, word), TenantStatus)


def remove(name: str, confirm: str) -> Request[TenantStatus]:
    """Remove a tenant."""
    return Request("DELETE", path("tenants", name), TenantStatus, query={"confirm": confirm}, again=False)


def set_allowance(
    name: str, allowance: Mapping[str, Any], replaces: Mapping[str, Any] | None = None
) -> Request[Tenant]:
    """Set what a tenant may use."""
    body = dict(allowance) | ({} if replaces is None else {"replaces": dict(replaces)})
    return Request("PUT", path("tenants", name, "allowance"), Tenant, body=body)


def widen(name: str, width: int) -> Request[Tenant]:
    """Spread a tenant over more shards."""
    return Request("POST", path("tenants", name, "widen"), Tenant, body={"width": width})


def create_key(name: str, body: Mapping[str, Any]) -> Request[CreatedApiKey]:
    """Create a key of a tenant."""
    return Request("POST", path("tenants", name, "keys"), CreatedApiKey, body=dict(body), again=False)
