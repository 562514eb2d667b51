"""Where the values of named secrets come from, and what it means when one is missing."""

from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID

from horae.domain.outcomes import ErrorCode, Unrecoverable

Secrets = Callable[[UUID, str], str | None]
"""The value of a tenant's secret by its name; None where it has none. Asked at every attempt, so it must be quick."""


class Unsendable(Exception):
    """There is no request to send, and `outcome` says why."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.outcome: Final = Unrecoverable(code, message)


def named(values: Mapping[UUID, Mapping[str, str]]) -> Secrets:
    """Secrets from memory, by tenant and name."""
    return lambda tenant_id, name: values.get(tenant_id, {}).get(name)


def take(secrets: Secrets, tenant_id: UUID, name: str) -> str:
    """The value of a secret that is needed now."""
    value = secrets(tenant_id, name)
    if value is None:
        raise Unsendable(ErrorCode.NO_SECRET, f"the tenant has no secret {name!r}")
    return value
