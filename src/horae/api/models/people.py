"""Models of the caller, logins and sessions."""

from datetime import datetime, timedelta
from typing import Annotated

from pydantic import ConfigDict, Field, StrictStr

from horae.api.models.base import Name, RequestModel, ResponseModel
from horae.domain.identity.people import PERSON, Session
from horae.domain.identity.principals import ApiKey
from horae.security.credentials import LONGEST_CREDENTIAL
from horae.security.roles import ACTIONS, Role
from horae.service.identity.callers import Caller


class ApiKeyLogin(RequestModel):
    """An API key to log in with."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"key": "horae_01hv3zq5k8e9r7t2m4n6p8s0v1_…_0a1b2c3d"}]})

    key: Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_CREDENTIAL)]


class SelectTenant(RequestModel):
    """The tenant to switch the session to."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"tenant": "acme"}]})

    tenant: Name


class LoginOptions(ResponseModel):
    """The available ways to log in."""

    oidc: bool = Field(description="Whether `GET /login` redirects to an OpenID Connect issuer.")
    key: bool = Field(True, description="`POST /login/key` exchanges an API key for a session.")


class CurrentSession(ResponseModel):
    """The session of the caller."""

    id: str
    created_at: datetime
    expires_at: datetime
    idle_seconds: int
    csrf: str = Field(
        description="The CSRF token. Send it in the `Horae-CSRF` header with every method except GET and HEAD."
    )


class Me(ResponseModel):
    """The caller, their roles and their permissions."""

    principal: str = Field(examples=["user:248289761001"])
    kind: str = Field(examples=["person"], description="`person` or `key`.")
    name: str
    tenant: str
    tenants: list[str] = Field(description="The tenants that the caller may switch to.")
    roles: list[Role]
    actions: list[str] = Field(description="The actions that the caller may perform.")
    session: CurrentSession | None = None

    @classmethod
    def of(cls, caller: Caller, tenants: list[str], csrf: str | None) -> "Me":
        """Returns the view of a caller."""
        key = caller.key
        person = key.principal.startswith(PERSON)
        return cls(
            principal=key.principal,
            kind="person" if person else "key",
            name=key.name,
            tenant=caller.tenant.name,
            tenants=tenants,
            roles=sorted(caller.roles),
            actions=[action for action in ACTIONS if caller.may(action)],
            session=None if isinstance(key, ApiKey) or csrf is None else _own(key, csrf),
        )


class SessionView(ResponseModel):
    """A session without its secret."""

    id: str
    principal: str
    name: str
    created_at: datetime
    seen_at: datetime = Field(description="The time of its last use, to the minute.")
    expires_at: datetime = Field(description="The latest time at which it ends.")

    @classmethod
    def of(cls, session: Session) -> "SessionView":
        """Returns the view of a session."""
        return cls(
            id=session.public_id,
            principal=session.principal,
            name=session.name,
            created_at=session.created_at,
            seen_at=session.seen_at,
            expires_at=min(session.expires_at, session.seen_at + timedelta(seconds=session.idle_s)),
        )


class EndedSessions(ResponseModel):
    """The sessions that were ended."""

    ended: int = Field(description="The number of ended sessions.", examples=[1])


def _own(session: Session, csrf: str) -> CurrentSession:
    return CurrentSession(
        id=session.public_id,
        created_at=session.created_at,
        expires_at=session.expires_at,
        idle_seconds=session.idle_s,
        csrf=csrf,
    )
