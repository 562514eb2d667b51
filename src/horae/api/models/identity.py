"""Keys, roles and audit rows as they are asked for and shown."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any

from pydantic import ConfigDict, Field, StrictStr

from horae.api.models.base import Moment, Name, Shown, Told
from horae.domain.identity import ApiKey, Binding
from horae.security.roles import ACTIONS, Role, Verb, known_roles, roles_for
from horae.service.audit import Entry
from horae.service.blocks import Head
from horae.service.keys import Made

Roles = Annotated[list[Role], Field(max_length=6)]
Scope = Annotated[StrictStr, Field(min_length=1, max_length=60, examples=["jobs.*"])]


class NewKey(Told):
    """A key to be made."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "ci", "roles": ["operator"], "scopes": ["jobs.*"]}]}
    )

    name: Name
    roles: Annotated[Roles, Field(min_length=1)]
    scopes: Annotated[list[Scope], Field(max_length=50, description="Narrows the roles to these actions.")] = []
    expires_at: Moment | None = None


class KeyView(Shown):
    """A key, without what proves it."""

    id: str
    name: str
    scopes: list[str]
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    roles: list[Role] = Field([], description="What its holder is now.")

    @classmethod
    def of(cls, key: ApiKey, roles: Iterable[str] = ()) -> "KeyView":
        """A key as it is shown."""
        return cls(**_facts(key), roles=sorted(known_roles(roles)))


class MadeKey(KeyView):
    """A new key. `key` is its text: shown now and never again."""

    key: str

    @classmethod
    def made(cls, made: Made) -> "MadeKey":
        """A new key as it is shown once."""
        return cls(**_facts(made.key), roles=sorted(known_roles(made.roles)), key=made.text)


class NewRoles(Told):
    """The roles of a principal, in the place of those before. None: it may do nothing."""

    roles: Roles


class BindingView(Shown):
    """The roles of one principal."""

    principal: str = Field(examples=["key_01hv3zq5k8e9r7t2m4n6p8s0v1"])
    roles: list[Role]

    @classmethod
    def of(cls, binding: Binding) -> "BindingView":
        """A binding as it is shown."""
        return cls(principal=binding.principal, roles=sorted(known_roles(binding.roles)))


class ActionView(Shown):
    """One line of the table of roles."""

    action: str
    verb: Verb
    roles: list[Role]
    audited: bool
    platform: bool

    @classmethod
    def all(cls) -> "list[ActionView]":
        """The whole table."""
        return [
            cls(action=name, verb=line.verb, roles=roles_for(name), audited=line.audited, platform=line.platform)
            for name, line in ACTIONS.items()
        ]


class AuditView(Shown):
    """Who did what, when, to what."""

    at: datetime
    actor: str
    action: str
    resource: str
    detail: Any

    @classmethod
    def of(cls, entry: Entry) -> "AuditView":
        """An audit row as it is shown."""
        return cls(at=entry.at, actor=entry.actor, action=entry.action, resource=entry.resource, detail=entry.detail)


class SealView(Shown):
    """The last sealed block of a cell's audit log; an empty one is sealed when nothing happened for an hour."""

    cell: str
    block: int = Field(description="How many blocks were ever sealed.", examples=[86400])
    hash: str | None = Field(description="Of the last block; anchors hold it too.")
    sealed_at: datetime | None
    rows: int | None = Field(description="How many rows the last block seals.")
    dropped: int = Field(description="The last block that was dropped for its age; 0: none was.")

    @classmethod
    def of(cls, head: Head) -> "SealView":
        """Where a chain stands, as it is shown."""
        last = head.last
        return cls(
            cell=head.cell,
            block=head.link.number,
            hash=last and last.hash.hex(),
            sealed_at=last and last.sealed_at,
            rows=last and last.entries,
            dropped=head.dropped.number,
        )


def _facts(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.principal,
        "name": key.name,
        "scopes": list(key.scopes),
        "created_by": key.created_by,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "last_used_at": key.last_used_at,
    }
