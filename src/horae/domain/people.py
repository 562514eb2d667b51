"""People and their sessions: who logged in, for which tenant, and for how long that is good."""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid
from horae.domain.ids import Prefix, public

PERSON: Final = "user:"
GROUP: Final = "group:"
LONGEST_PRINCIPAL: Final = 200


class Person(msgspec.Struct, frozen=True):
    """Somebody as the issuer named them; roles are bound to them or to their groups."""

    subject: str
    name: str
    groups: tuple[str, ...] = ()

    @property
    def principal(self) -> str:
        """How bindings and audit rows name them."""
        return PERSON + self.subject

    @property
    def principals(self) -> tuple[str, ...]:
        """All that roles may be bound to."""
        return (self.principal, *(GROUP + group for group in self.groups))


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A session as its row has it; what proves it is nowhere, only its digest.

    It is of a person, or of the API key that was exchanged for it, and ends with that.
    """

    id: UUID
    tenant_id: UUID
    digest: bytes
    principal: str
    name: str
    groups: tuple[str, ...]
    key_id: UUID | None
    created_at: datetime
    seen_at: datetime
    expires_at: datetime
    idle_s: int
    ended_at: datetime | None = None
    scopes: tuple[str, ...] = ()

    @property
    def public_id(self) -> str:
        """The form people see; it proves nothing."""
        return public(Prefix.SESSION, self.id)

    @property
    def principals(self) -> tuple[str, ...]:
        """All that roles may be bound to."""
        return (self.principal, *(GROUP + group for group in self.groups))

    def good(self, now: datetime) -> bool:
        """Whether it opens anything now."""
        return self.ended_at is None and now < self.expires_at and now < self.seen_at + timedelta(seconds=self.idle_s)


def check_principal(principal: str) -> None:
    """Refuse what names neither a person nor a group."""
    named = principal.removeprefix(PERSON) if principal.startswith(PERSON) else principal.removeprefix(GROUP)
    if named in {"", principal} or len(principal) > LONGEST_PRINCIPAL or not named.isprintable():
        raise Invalid(f"a principal is an API key, {PERSON}… or {GROUP}…, of at most {LONGEST_PRINCIPAL} characters")
