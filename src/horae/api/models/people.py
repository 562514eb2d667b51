"""Who asks, and sessions, as they are asked for and shown."""

from datetime import datetime, timedelta
from typing import Annotated

from pydantic import ConfigDict, Field, StrictStr

from horae.api.models.base import Name, Shown, Told
from horae.domain.identity import ApiKey
from horae.domain.people import PERSON, Session
from horae.security.roles import ACTIONS, Role
from horae.service.callers import Caller


class KeyLogin(Told):
    """An API key, to be exchanged for a session."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"key": "horae_01hv3zq5k8e9r7t2m4n6p8s0v1_…_0a1b2c3d"}]})

    key: Annotated[StrictStr, Field(min_length=1, max_length=200)]


class Choice(Told):
    """A tenant to work in from now on."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"tenant": "acme"}]})

    tenant: Name


class Ways(Shown):
    """How one may log in here."""

    oidc: bool = Field(description="Whether `GET /login` leads to an issuer.")
    key: bool = Field(True, description="`POST /login/key` exchanges an API key for a session.")


class OwnSession(Shown):
    """The session that asks."""

    id: str
    created_at: datetime
    expires_at: datetime
    idle_seconds: int
    csrf: str = Field(description="Send it as `Horae-CSRF` with everything but GET and HEAD.")


class Me(Shown):
    """Who asks, and what they may do."""

    principal: str = Field(examples=["user:248289761001"])
    kind: str = Field(examples=["person"], description="`person` or `key`.")
    name: str
    tenant: str
    tenants: list[str] = Field(description="All tenants one may choose from.")
    roles: list[Role]
    actions: list[str] = Field(description="The actions of the table of roles that are allowed now.")
    session: OwnSession | None = None

    @classmethod
    def of(cls, caller: Caller, tenants: list[str], csrf: str | None) -> "Me":
        """A caller as they are shown to themselves."""
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


class SessionView(Shown):
    """Someone's session, without what proves it."""

    id: str
    principal: str
    name: str
    created_at: datetime
    seen_at: datetime = Field(description="When it was last used, to the minute.")
    expires_at: datetime = Field(description="When it ends at the latest.")

    @classmethod
    def of(cls, session: Session) -> "SessionView":
        """A session as it is shown."""
        return cls(
            id=session.public_id,
            principal=session.principal,
            name=session.name,
            created_at=session.created_at,
            seen_at=session.seen_at,
            expires_at=min(session.expires_at, session.seen_at + timedelta(seconds=session.idle_s)),
        )


class Ended(Shown):
    """What has been ended."""

    ended: int = Field(description="How many sessions.", examples=[1])


def _own(session: Session, csrf: str) -> OwnSession:
    return OwnSession(
        id=session.public_id,
        created_at=session.created_at,
        expires_at=session.expires_at,
        idle_seconds=session.idle_s,
        csrf=csrf,
    )
