"""API keys, roles, sessions and the caller."""

from datetime import datetime

import msgspec

from horae_client.models.base import Model


class ApiKey(Model, frozen=True, kw_only=True):
    """An API key without its secret text. `scopes` restrict its roles to some actions; empty: no restriction.

    A key with `job_labels` is bound to the jobs that have all of them.
    """

    id: str
    name: str
    scopes: list[str]
    created_by: str
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None
    roles: list[str] = msgspec.field(default_factory=list)
    job_labels: dict[str, str] = msgspec.field(default_factory=dict)


class CreatedApiKey(ApiKey, frozen=True, kw_only=True):
    """A new API key. `key` is its secret text; no other answer has it."""

    key: str


class Action(Model, frozen=True, kw_only=True):
    """An action of the API, and the roles that may perform it. `platform`: only keys of the tenant `system` may.

    `bound`: a key that is bound to some jobs may, to these jobs only.
    """

    action: str
    verb: str
    roles: list[str]
    audited: bool
    platform: bool
    bound: bool = False


class RoleBinding(Model, frozen=True, kw_only=True):
    """The roles of one principal: an API key, a person (`user:…`) or a group (`group:…`)."""

    principal: str
    roles: list[str]


class CurrentSession(Model, frozen=True, kw_only=True):
    """The session of the caller. `csrf` is the token that a page sends with every change."""

    id: str
    created_at: datetime
    expires_at: datetime
    idle_seconds: int
    csrf: str


class Caller(Model, frozen=True, kw_only=True):
    """The caller: `kind` is `person` or `key`. `actions` has all actions that the caller may perform.

    `tenants` has the tenants that the caller may switch to. `session` is None for an API key.
    """

    principal: str
    kind: str
    name: str
    tenant: str
    tenants: list[str]
    roles: list[str]
    actions: list[str]
    session: CurrentSession | None = None


class Session(Model, frozen=True, kw_only=True):
    """A session of the console without its secret. `seen_at` is the time of its last use, to the minute."""

    id: str
    principal: str
    name: str
    created_at: datetime
    seen_at: datetime
    expires_at: datetime


class EndedSessions(Model, frozen=True, kw_only=True):
    """How many sessions were ended."""

    ended: int


class LoginOptions(Model, frozen=True, kw_only=True):
    """The ways to log in: `oidc` by an OpenID Connect issuer, `key` with an API key."""

    oidc: bool
    key: bool = True
