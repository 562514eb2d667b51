"""Named secrets at the moment of sending: their values, and the hosts that they may be sent to."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol
from uuid import UUID

from horae.domain.encryption.secrets import is_bound_to
from horae.domain.instances.outcomes import ErrorCode, Unrecoverable


class Secrets(Protocol):
    """The secrets of tenants. It is called at every attempt, so it must be fast."""

    def __call__(self, tenant_id: UUID, name: str) -> str | None:
        """Return the value of a tenant's secret; None where the tenant has no such secret."""
        ...

    def hosts(self, tenant_id: UUID, name: str) -> Sequence[str]:
        """Return the hosts that the secret may be sent to; an empty sequence allows every host."""
        ...


class Unsendable(Exception):
    """No request can be sent; `outcome` says why."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.outcome: Final = Unrecoverable(code, message)


class NamedSecrets:
    """Secrets in memory, by tenant and name; `bound` holds the hosts of secrets that are bound to hosts."""

    def __init__(
        self,
        values: Mapping[UUID, Mapping[str, str]],
        bound: Mapping[UUID, Mapping[str, Sequence[str]]] | None = None,
    ) -> None:
        self._values = values
        self._bound = bound or {}

    def __call__(self, tenant_id: UUID, name: str) -> str | None:
        """Return the value of a secret."""
        return self._values.get(tenant_id, {}).get(name)

    def hosts(self, tenant_id: UUID, name: str) -> Sequence[str]:
        """Return the hosts of a secret."""
        return self._bound.get(tenant_id, {}).get(name, ())


def secrets_in_memory(values: Mapping[UUID, Mapping[str, str]]) -> NamedSecrets:
    """Return secrets in memory that are bound to no host."""
    return NamedSecrets(values)


def secret_for_hosts(secrets: Secrets, tenant_id: UUID, name: str, *hosts: str) -> str:
    """Return the value of a secret that is about to be sent to these hosts; raises `Unsendable`."""
    value = secrets(tenant_id, name)
    if value is None:
        raise Unsendable(ErrorCode.NO_SECRET, f"the tenant has no secret {name!r}")
    for host in hosts:
        check_host(secrets, tenant_id, name, host)
    return value


def check_host(secrets: Secrets, tenant_id: UUID, name: str, host: str) -> None:
    """Refuse a host that the secret is not bound to."""
    if not is_bound_to(secrets.hosts(tenant_id, name), host):
        raise Unsendable(ErrorCode.REFUSED, f"the secret {name!r} may not be sent to {host}")
