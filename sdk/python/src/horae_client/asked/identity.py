"""Requests about API keys, roles, sessions and the caller."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from horae_client.models import (
    Action,
    ApiKey,
    Caller,
    CreatedApiKey,
    EndedSessions,
    LoginOptions,
    Page,
    RoleBinding,
    Session,
)
from horae_client.wire import Request, aware, path, said


def new_key(
    name: str,
    roles: Sequence[str],
    scopes: Sequence[str],
    expires_at: datetime | None,
    job_labels: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The body of a new key."""
    bound = dict(job_labels) if job_labels else None
    return said(
        name=name, roles=list(roles), scopes=list(scopes) or None, job_labels=bound, expires_at=aware(expires_at)
    )


def create_key(body: dict[str, Any]) -> Request[CreatedApiKey]:
    """Create a key. It is not retried after a lost answer, because the answer has the only copy of the text."""
    return Request("POST", path("keys"), CreatedApiKey, body=body, again=False)


def keys() -> Request[Page[ApiKey]]:
    """Get a page of API keys."""
    return Request("GET", path("keys"), Page[ApiKey])


def revoke_key(key_id: str) -> Request[ApiKey]:
    """Revoke a key."""
    return Request("DELETE", path("keys", key_id), ApiKey)


def actions() -> Request[list[Action]]:
    """Get all actions."""
    return Request("GET", path("roles"), list[Action])


def bindings() -> Request[Page[RoleBinding]]:
    """Get a page of role bindings."""
    return Request("GET", path("role-bindings"), Page[RoleBinding])


def bind(principal: str, roles: Sequence[str], key: str) -> Request[RoleBinding]:
    """Set the roles of a principal."""
    return Request("PUT", path("role-bindings", principal), RoleBinding, body={"roles": list(roles)}, key=key)


def caller() -> Request[Caller]:
    """Get the caller."""
    return Request("GET", path("me"), Caller)


def login_options() -> Request[LoginOptions]:
    """Get the ways to log in."""
    return Request("GET", "/login/options", LoginOptions)


def log_in(key: str) -> Request[Caller]:
    """Exchange a key for a session. It is not retried after a lost answer, because each request makes a session."""
    return Request("POST", "/login/key", Caller, body={"key": key}, again=False)


def select_tenant(tenant: str) -> Request[Caller]:
    """Switch to another tenant."""
    return Request("PUT", path("session", "tenant"), Caller, body={"tenant": tenant}, again=False)


def log_out(everywhere: bool) -> Request[EndedSessions]:
    """End the session, or all sessions of the caller."""
    return Request("DELETE", path("session"), EndedSessions, query={"everywhere": everywhere})


def sessions() -> Request[Page[Session]]:
    """Get a page of sessions."""
    return Request("GET", path("sessions"), Page[Session])


def revoke_session(id_: str) -> Request[EndedSessions]:
    """Revoke a session."""
    return Request("DELETE", path("sessions", id_), EndedSessions)
