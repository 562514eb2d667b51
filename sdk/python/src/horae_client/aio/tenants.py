"""The caller's own tenant, and all tenants for keys of the tenant `system`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from horae_client.aio.verbs import AsyncItems, AsyncVerbs
from horae_client.asked import tenants as asked
from horae_client.asked.identity import new_key
from horae_client.models import CreatedApiKey, Tenant, TenantStatus, TenantUsage


class AsyncOwnTenant(AsyncVerbs):
    """The tenant of the caller."""

    async def get(self) -> Tenant:
        """Get the tenant and what it may use.

        >>> tenant = await client.tenant.get()
        >>> tenant.zone, tenant.width
        ('UTC', 16)
        """
        return await self._ask(asked.own())

    async def status(self) -> TenantStatus:
        """Get the status of the tenant.

        >>> tenant = await client.tenant.status()
        >>> tenant.status
        'ACTIVE'
        """
        return await self._ask(asked.own_status())

    async def usage(self) -> TenantUsage:
        """Get how much of its limits the tenant uses now, nearest to a limit first.

        >>> usage = await client.tenant.usage()
        >>> {"jobs", "secrets", "log_bytes", "retries"} <= {use.kind for use in usage.uses}
        True
        """
        return await self._ask(asked.own_usage())

    async def pause(self) -> TenantStatus:
        """Pause the tenant: all fires and claims stop within a few seconds. Running instances may finish.

        >>> tenant = await client.tenant.pause()
        >>> tenant.status
        'PAUSED'
        """
        return await self._ask(asked.own_verb("pause"))

    async def resume(self) -> TenantStatus:
        """Resume the tenant from now on. Missed fires are recorded as skipped.

        >>> paused = await client.tenant.pause()
        >>> tenant = await client.tenant.resume()
        >>> tenant.status
        'ACTIVE'
        """
        return await self._ask(asked.own_verb("resume"))


class AsyncTenants(AsyncVerbs):
    """All tenants. Only keys of the tenant `system` may use these; `platform` is a client with such a key."""

    async def create(self, name: str, *, width: int | None = None, zone: str | None = None) -> Tenant:
        """Create a tenant. `width` is the number of shards for its rows: use at least the number of nodes.

        >>> made = await platform.tenants.create(new_name(), width=4, zone="Asia/Shanghai")
        >>> made.width, made.zone
        (4, 'Asia/Shanghai')
        """
        return await self._ask(asked.create(name, width, zone))

    def list(self, *, limit: int | None = None) -> AsyncItems[Tenant]:
        """List all tenants by name.

        >>> made = await platform.tenants.create(new_name(), width=1)
        >>> made.name in [one.name async for one in platform.tenants.list()]
        True
        """
        return self._pages(asked.tenants(), limit)

    async def get(self, tenant: str) -> Tenant:
        """Get a tenant, by its name or id.

        >>> made = await platform.tenants.create(new_name(), width=1)
        >>> found = await platform.tenants.get(made.name)
        >>> found.id == made.id
        True
        """
        return await self._ask(asked.tenant(tenant))

    async def status(self, tenant: str) -> TenantStatus:
        """Get the status of a tenant.

        >>> made = await platform.tenants.create(new_name(), width=1)
        >>> found = await platform.tenants.status(made.name)
        >>> found.status
        'ACTIVE'
        """
        return await self._ask(asked.status(tenant))

    def usage(self, *, limit: int | None = None) -> AsyncItems[TenantUsage]:
        """List how much of their limits all tenants use now, by the name of the tenant.

        >>> made = await platform.tenants.create(new_name(), width=1)
        >>> made.name in [one.name async for one in platform.tenants.usage()]
        True
        """
        return self._pages(asked.usage(), limit)

    async def pause(self, tenant: str) -> TenantStatus:
        """Pause a tenant: all its fires and claims stop within a few seconds.

        >>> made = await platform.tenants.create(new_name(), width=1)
        >>> paused = await platform.tenants.pause(made.name)
        >>> paused.status
        'PAUSED'
        """
        return await self._ask(asked.verb(tenant, "pause"))

    async def resume(self, tenant: str) -> TenantStatus:
        """Resume a tenant from now on.

        >>> made = await platform.tenants.create(new_name(), width=1)
        >>> paused = await platform.tenants.pause(made.name)
        >>> resumed = await platform.tenants.resume(made.name)
        >>> resumed.status
        'ACTIVE'
        """
        return await self._ask(asked.verb(tenant, "resume"))

    async def remove(self, tenant: str, *, confirm: str) -> TenantStatus:
        """Remove a tenant for good; `confirm` is its name again. Its keys are refused, its data is deleted over time.

        >>> made = await platform.tenants.create(new_name(), width=1)
        >>> gone = await platform.tenants.remove(made.name, confirm=made.name)
        >>> gone.status
        'REMOVED'
        """
        return await self._ask(asked.remove(tenant, confirm))

    async def set_allowance(
        self, tenant: str, allowance: Mapping[str, Any], *, replaces: Mapping[str, Any] | None = None
    ) -> Tenant:
        """Set what a tenant may use, as a whole: fields that are left out have their defaults.

        `replaces` is the allowance that you have read. If another one is in force by now, `Conflict` is raised and
        nothing is changed.

        >>> made = await platform.tenants.create(new_name(), width=1)
        >>> changed = await platform.tenants.set_allowance(made.name, {"weight": 3})
        >>> changed.allowance["weight"]
        3
        """
        return await self._ask(asked.set_allowance(tenant, allowance, replaces))

    async def widen(self, tenant: str, width: int) -> Tenant:
        """Spread the new jobs and business keys of a tenant over more shards. Existing rows stay where they are.

        >>> made = await platform.tenants.create(new_name(), width=1)
        >>> wider = await platform.tenants.widen(made.name, 16)
        >>> wider.width
        16
        """
        return await self._ask(asked.widen(tenant, width))

    async def create_key(
        self,
        tenant: str,
        name: str,
        *,
        roles: Sequence[str],
        scopes: Sequence[str] = (),
        expires_at: datetime | None = None,
    ) -> CreatedApiKey:
        """Create an API key of another tenant, such as its first key.

        >>> made = await platform.tenants.create(new_name(), width=1)
        >>> first = await platform.tenants.create_key(made.name, "first", roles=["admin"])
        >>> first.roles
        ['admin']
        """
        return await self._ask(asked.create_key(tenant, new_key(name, roles, scopes, expires_at)))
