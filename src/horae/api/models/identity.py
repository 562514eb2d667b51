"""Models of API keys, roles and the audit log."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any

from pydantic import ConfigDict, Field, StrictStr

from horae.api.models.base import Moment, Name, RequestModel, ResponseModel
from horae.domain.identity.principals import MOST_KEY_LABELS, MOST_SCOPES, ApiKey, RoleBinding
from horae.security.roles import ACTIONS, Permission, Role, known_roles, roles_for
from horae.service.audit.audit import Entry
from horae.service.audit.verification import Head
from horae.service.identity.api_keys import CreatedKey

Roles = Annotated[list[Role], Field(max_length=6)]
Scope = Annotated[StrictStr, Field(min_length=1, max_length=60, examples=["jobs.*"])]


class NewApiKey(RequestModel):
    """A new API key."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "ci", "roles": ["operator"], "scopes": ["jobs.*"]}]}
    )

    name: Name
    roles: Annotated[Roles, Field(min_length=1)]
    scopes: Annotated[
        list[Scope], Field(max_length=MOST_SCOPES, description="Restricts the roles to these actions.")
    ] = []
    job_labels: Annotated[
        dict[StrictStr, StrictStr],
        Field(
            max_length=MOST_KEY_LABELS,
            description="Binds the key to the jobs that have all these labels. It can neither see nor change others.",
            examples=[{"horae.owner": "billing"}],
        ),
    ] = {}
    expires_at: Moment | None = None


class ApiKeyView(ResponseModel):
    """An API key without its secret text."""

    id: str
    name: str
    scopes: list[str]
    job_labels: dict[str, str] = Field({}, description="The labels of the jobs that the key is bound to.")
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    roles: list[Role] = Field([], description="The current roles of the key.")

    @classmethod
    def of(cls, key: ApiKey, roles: Iterable[str] = ()) -> "ApiKeyView":
        """Returns the view of a key."""
        return cls(**_facts(key), roles=sorted(known_roles(roles)))


class CreatedApiKey(ApiKeyView):
    """A new API key. `key` is its secret text; it is in this response only."""

    key: str

    @classmethod
    def of_created(cls, made: CreatedKey) -> "CreatedApiKey":
        """Returns the view of a new key, with its text."""
        return cls(**_facts(made.key), roles=sorted(known_roles(made.roles)), key=made.text)


class SetRoles(RequestModel):
    """The new roles of a principal. They replace the old roles; an empty list removes all permissions."""

    roles: Roles


class RoleBindingView(ResponseModel):
    """The roles of one principal."""

    principal: str = Field(examples=["key_01hv3zq5k8e9r7t2m4n6p8s0v1"])
    roles: list[Role]

    @classmethod
    def of(cls, binding: RoleBinding) -> "RoleBindingView":
        """Returns the view of a role binding."""
        return cls(principal=binding.principal, roles=sorted(known_roles(binding.roles)))


class ActionView(ResponseModel):
    """An action of the API, and the roles that may perform it."""

    action: str
    verb: Permission
    roles: list[Role]
    audited: bool
    platform: bool
    bound: bool = Field(description="A key that is bound to some jobs may do it, to these jobs only.")

    @classmethod
    def all(cls) -> "list[ActionView]":
        """Returns all actions."""
        return [cls(action=name, roles=roles_for(name), **line._asdict()) for name, line in ACTIONS.items()]


class AuditEntryView(ResponseModel):
    """An entry of the audit log: actor, action, resource and time."""

    at: datetime
    actor: str
    action: str
    resource: str
    detail: Any

    @classmethod
    def of(cls, entry: Entry) -> "AuditEntryView":
        """Returns the view of an audit entry."""
        return cls(at=entry.at, actor=entry.actor, action=entry.action, resource=entry.resource, detail=entry.detail)


class AuditChainView(ResponseModel):
    """The hash chain of the audit log of a cell. An empty block is added after an hour without entries."""

    cell: str
    block: int = Field(description="The number of blocks in the chain so far.", examples=[86400])
    hash: str | None = Field(description="The hash of the last block. Audit anchors contain the same hash.")
    chained_at: datetime | None = Field(description="The time when the last block was added.")
    rows: int | None = Field(description="The number of audit entries in the last block.")
    dropped: int = Field(description="The number of the last block that was deleted because of its age; 0 if none was.")

    @classmethod
    def of(cls, head: Head) -> "AuditChainView":
        """Returns the view of the head of a chain."""
        last = head.last
        return cls(
            cell=head.cell,
            block=head.link.number,
            hash=last and last.hash.hex(),
            chained_at=last and last.sealed_at,
            rows=last and last.entries,
            dropped=head.dropped.number,
        )


def _facts(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.principal,
        "name": key.name,
        "scopes": list(key.scopes),
        "job_labels": dict(key.job_labels),
        "created_by": key.created_by,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "last_used_at": key.last_used_at,
    }
