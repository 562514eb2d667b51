"""Identity of callers: API keys, and the roles that are bound to a principal."""

from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid
from horae.domain.ids import Prefix, public
from horae.domain.names import LONGEST_NAME

MOST_SCOPES: Final = 50
MOST_KEY_LABELS: Final = 5
"""Labels of the jobs that a key is bound to."""


class ApiKey(msgspec.Struct, frozen=True, kw_only=True):
    """An API key as stored; only the digest of its secret is stored.

    A key with `job_labels` is bound to the jobs that have all of them: it can neither see nor change any others.
    """

    id: UUID
    tenant_id: UUID
    name: str
    digest: bytes
    scopes: tuple[str, ...]
    created_by: str
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None
    job_labels: dict[str, str] = {}

    @property
    def principal(self) -> str:
        """The name of the key in bindings and audit rows."""
        return public(Prefix.KEY, self.id)

    def is_valid(self, now: datetime) -> bool:
        """Whether the key is valid now."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class RoleBinding(msgspec.Struct, frozen=True):
    """The roles of one principal. An empty set equals no binding."""

    principal: str
    roles: tuple[str, ...]


def check_key(name: str, scopes: tuple[str, ...], expires_at: datetime | None, now: datetime) -> None:
    """Refuse a key with an unusable name, too many scopes, or an expiry in the past."""
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise Invalid(f"a key's name is 1 to {LONGEST_NAME} printable characters")
    if len(scopes) > MOST_SCOPES:
        raise Invalid(f"a key has at most {MOST_SCOPES} scopes")
    if expires_at is not None and expires_at <= now:
        raise Invalid("a key expires in the future")
