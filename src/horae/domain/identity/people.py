"""People and their sessions: who logged in, for which tenant, and for how long."""

from datetime import datetime, timedelta
from typing import ClassVar, Final
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid
from horae.domain.ids import Prefix, public

PERSON: Final = "user:"
"""The prefix of a person's principal."""
GROUP: Final = "group:"
"""The prefix of a group's principal."""
LONGEST_PERSON_NAME: Final = 200
"""Characters that are kept of a person's name."""
LONGEST_PRINCIPAL: Final = 200
"""Characters."""


class Person(msgspec.Struct, frozen=True):
    """A person as the issuer names them; roles are bound to the person or to their groups."""

    subject: str
    name: str
    groups: tuple[str, ...] = ()

    @property
    def principal(self) -> str:
        """The name of the person in bindings and audit rows."""
        return PERSON + self.subject

    @property
    def principals(self) -> tuple[str, ...]:
        """Every principal that roles may be bound to."""
        return (self.principal, *(GROUP + group for group in self.groups))


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A session as stored; only the digest of its secret is stored.

    It belongs to a person, or to the API key that was exchanged for it, and ends with that key. `idle_s` is how many
    seconds it may be unused.
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
    job_labels: ClassVar[dict[str, str]] = {}  # a key that is bound to jobs has no sessions

    @property
    def public_id(self) -> str:
        """The public form of its id; it proves nothing."""
        return public(Prefix.SESSION, self.id)

    @property
    def principals(self) -> tuple[str, ...]:
        """Every principal that roles may be bound to."""
        return (self.principal, *(GROUP + group for group in self.groups))

    def is_valid(self, now: datetime) -> bool:
        """Whether the session is valid now."""
        return self.ended_at is None and now < self.expires_at and now < self.seen_at + timedelta(seconds=self.idle_s)


def check_principal(principal: str) -> None:
    """Refuse a principal that is neither a person nor a group."""
    named = principal.removeprefix(PERSON) if principal.startswith(PERSON) else principal.removeprefix(GROUP)
    if named in {"", principal} or len(principal) > LONGEST_PRINCIPAL or not named.isprintable():
        raise Invalid(f"a principal is an API key, {PERSON}… or {GROUP}…, of at most {LONGEST_PRINCIPAL} characters")
