"""The caller's own tenant, and all tenants for keys of the tenant `system`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from horae_client.asked import tenants as asked
from horae_client.asked.identity import new_key
from horae_client.models import CreatedApiKey, Tenant, TenantStatus, TenantUsage
from horae_client.sync.verbs import Items, Verbs


class OwnTenant(Verbs):
    """The tenant of the caller."""

    def get(self) -> Tenant:
        """Get the tenant and what it may use.

        >>> tenant = client.tenant.get()
        >>> tenant.zone, tenant.width
        ('UTC', 16)
        """
        return self._ask(asked.own())

    def status(self) -> TenantStatus:
        """Get the status of the tenant.

        >>> tenant = client.tenant.status()
        >>> tenant.status
        'ACTIVE'
        """
        return self._ask(asked.own_status())

    def usage(self) -> TenantUsage:
        """Get how much of its limits the tenant uses now, nearest to a limit first.

        >>> usage = client.tenant.usage()
        >>> {"jobs", "secrets", "log_bytes", "retries"} <= {use.kind for use in usage.uses}
        True
        """
        return self._ask(asked.own_usage())

    def pause(self) -> TenantStatus:
        """Pause the tenant: all fires and claims stop within a few seconds. Running instances may finish.

        >>> tenant = client.tenant.pause()
        >>> tenant.status
        'PAUSED'
        """
        return self._ask(asked.own_verb("pause"))

    def resume(self) -> TenantStatus:
        """Resume the tenant from now on. Missed fires are recorded as skipped.

        >>> paused = client.tenant.pause()
        >>> tenant = client.tenant.resume()
        >>> tenant.status
        'ACTIVE'
        """
        return self._ask(asked.own_verb("resume"))


class Tenants(Verbs):
    """All tenants. Only keys of the tenant `system` may use these; `platform` is a client with such a key."""

    def create(self, name: str, *, width: int | None = None, zone: str | None = None) -> Tenant:
        """Create a tenant. `width` is the number of shards for its rows: use at least the number of nodes.

        >>> made = platform.tenants.create(new_name(), width=4, zone="Asia/Shanghai")
        >>> made.width, made.zone
        (4, 'Asia/Shanghai')
        """
        return self._ask(asked.create(name, width, zone))

    def list(self, *, limit: int | None = None) -> Items[Tenant]:
        """List all tenants by name.

        >>> made = platform.tenants.create(new_name(), width=1)
        >>> made.name in [one.name for one in platform.tenants.list()]
        True
        """
        return self._pages(asked.tenants(), limit)

    def get(self, tenant: str) -> Tenant:
        """Get a tenant, by its name or id.

        >>> made = platform.tenants.create(new_name(), width=1)
        >>> found = platform.tenants.get(made.name)
        >>> found.id == made.id
        True
        """
        return self._ask(asked.tenant(tenant))

    def status(self, tenant: str) -> TenantStatus:
        """Get the status of a tenant.

        >>> made = platform.tenants.create(new_name(), width=1)
        >>> found = platform.tenants.status(made.name)
        >>> found.status
        'ACTIVE'
        """
        return self._ask(asked.status(tenant))

    def usage(self, *, limit: int | None = None) -> Items[TenantUsage]:
        """List how much of their limits all tenants use now, by the name of the tenant.

        >>> made = platform.tenants.create(new_name(), width=1)
        >>> made.name in [one.name for one in platform.tenants.usage()]
        True
        """
        return self._pages(asked.usage(), limit)

    def pause(self, tenant: str) -> TenantStatus:
        """Pause a tenant: all its fires and claims stop within a few seconds.

        >>> made = platform.tenants.create(new_name(), width=1)
        >>> paused = platform.tenants.pause(made.name)
        >>> paused.status
        'PAUSED'
        """
        return self._ask(asked.verb(tenant, "pause"))

    def resume(self, tenant: str) -> TenantStatus:
        """Resume a tenant from now on.

        >>> made = platform.tenants.create(new_name(), width=1)
        >>> paused = platform.tenants.pause(made.name)
        >>> resumed = platform.tenants.resume(made.name)
        >>> resumed.status
        'ACTIVE'
        """
        return self._ask(asked.verb(tenant, "resume"))

    def remove(self, tenant: str, *, confirm: str) -> TenantStatus:
        """Remove a tenant for good; `confirm` is its name again. Its keys are refused, its data is deleted over time.

        >>> made = platform.tenants.create(new_name(), width=1)
        >>> gone = platform.tenants.remove(made.name, confirm=made.name)
        >>> gone.status
        'REMOVED'
        """
        return self._ask(asked.remove(tenant, confirm))

    def set_allowance(
        self, tenant: str, allowance: Mapping[str, Any], *, replaces: Mapping[str, Any] | None = None
    ) -> Tenant:
        """Set what a tenant may use, as a whole: fields that are left out have their defaults.

        `replaces` is the allowance that you have read. If another one is in force by now, `Conflict` is raised and
        nothing is changed.

        >>> made = platform.tenants.create(new_name(), width=1)
        >>> changed = platform.tenants.set_allowance(made.name, {"weight": 3})
        >>> changed.allowance["weight"]
        3
        """
        return self._ask(asked.set_allowance(tenant, allowance, replaces))

    def widen(self, tenant: str, width: int) -> Tenant:
        """Spread the new jobs and business keys of a tenant over more shards. Existing rows stay where they are.

        >>> made = platform.tenants.create(new_name(), width=1)
        >>> wider = platform.tenants.widen(made.name, 16)
        >>> wider.width
        16
        """
        return self._ask(asked.widen(tenant, width))

    def create_key(
        self,
        tenant: str,
        name: str,
        *,
        roles: Sequence[str],
        scopes: Sequence[str] = (),
        expires_at: datetime | None = None,
    ) -> CreatedApiKey:
        """Create an API key of another tenant, such as its first key.

        >>> made = platform.tenants.create(new_name(), width=1)
        >>> first = platform.tenants.create_key(made.name, "first", roles=["admin"])
        >>> first.roles
        ['admin']
        """
        return self._ask(asked.create_key(tenant, new_key(name, roles, scopes, expires_at)))
