"""Where the values of named secrets come from, which hosts they may be sent to, and what a missing one means."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol
from uuid import UUID

from horae.domain.outcomes import ErrorCode, Unrecoverable
from horae.domain.secrets import is_bound_to


class Secrets(Protocol):
    """The secrets of tenants. Asked at every attempt, so it must be quick."""

    def __call__(self, tenant_id: UUID, name: str) -> str | None:
        """The value of a tenant's secret by its name; None where it has none."""
        ...

    def hosts(self, tenant_id: UUID, name: str) -> Sequence[str]:
        """The hosts that it may be sent to; none: to any."""
        ...


class Unsendable(Exception):
    """There is no request to send, and `outcome` says why."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.outcome: Final = Unrecoverable(code, message)


class NamedSecrets:
    """Secrets from memory, by tenant and name; `bound` names the hosts of those that are bound to some."""

    def __init__(
        self,
        values: Mapping[UUID, Mapping[str, str]],
        bound: Mapping[UUID, Mapping[str, Sequence[str]]] | None = None,
    ) -> None:
        self._values = values
        self._bound = bound or {}

    def __call__(self, tenant_id: UUID, name: str) -> str | None:
        """The value of a secret."""
        return self._values.get(tenant_id, {}).get(name)

    def hosts(self, tenant_id: UUID, name: str) -> Sequence[str]:
        """The hosts of a secret."""
        return self._bound.get(tenant_id, {}).get(name, ())


def named(values: Mapping[UUID, Mapping[str, str]]) -> NamedSecrets:
    """Secrets from memory that are bound to no host."""
    return NamedSecrets(values)


def take(secrets: Secrets, tenant_id: UUID, name: str, *hosts: str) -> str:
    """The value of a secret that is needed now, to be sent to these hosts."""
    value = secrets(tenant_id, name)
    if value is None:
        raise Unsendable(ErrorCode.NO_SECRET, f"the tenant has no secret {name!r}")
    for host in hosts:
        check_host(secrets, tenant_id, name, host)
    return value


def check_host(secrets: Secrets, tenant_id: UUID, name: str, host: str) -> None:
    """Refuse to send a secret to a host that it is not bound to."""
    if not is_bound_to(secrets.hosts(tenant_id, name), host):
        raise Unsendable(ErrorCode.REFUSED, f"the secret {name!r} may not be sent to {host}")
