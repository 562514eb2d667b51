"""Routes of the caller and of sessions."""

from typing import Annotated
from uuid import UUID

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from horae.api.models.people import EndedSessions, Me, SelectTenant, SessionView
from horae.api.pages import Page, Paged
from horae.api.routing import Asking, may, router
from horae.domain.errors import NotFound
from horae.domain.identity.people import Session
from horae.domain.ids import LONGEST_ID, Prefix, private
from horae.security import cookies
from horae.service.context import Context
from horae.service.identity import sessions
from horae.service.identity.callers import Caller

routes = router("people")
SessionId = Annotated[str, Path(max_length=LONGEST_ID, examples=["ses_01hv3zq5k8e9r7t2m4n6p8s0v1"])]


@routes.get("/me")
async def get_caller(ctx: Annotated[Context, may("me.read")], asking: Asking, request: Request) -> Me:
    """Get the caller, their permissions and their tenants."""
    return await caller_view(request, ctx, asking)


@routes.put("/session/tenant", response_model=Me)
async def select_tenant(
    ctx: Annotated[Context, may("session.choose")], asking: Asking, asked: SelectTenant, request: Request
) -> Response:
    """Switch the session to another tenant of the caller: a new session replaces it. An API key has one tenant."""
    if asked.tenant == asking.tenant.name:
        return JSONResponse((await caller_view(request, ctx, asking)).model_dump(mode="json"))
    if not isinstance(asking.key, Session):
        raise NotFound(f"there is no tenant {asked.tenant!r} of yours")
    opened = await sessions.move(ctx, asking.key, asked.tenant, request.app.state.terms)
    return await session_response(request, opened)


@routes.delete("/session", response_model=EndedSessions)
async def log_out(
    ctx: Annotated[Context, may("session.end")],
    asking: Asking,
    everywhere: Annotated[bool, Query(description="End all sessions of the caller, in every tenant.")] = False,
) -> Response:
    """Log out. Every process refuses the session within five seconds."""
    ended = 0
    if everywhere:
        ended = await sessions.end_everywhere(ctx, asking.key.principal)
    elif isinstance(asking.key, Session):
        ended = await sessions.end(ctx, asking.key)
    answer = JSONResponse({"ended": ended})
    answer.headers.append("Set-Cookie", cookies.cookie(cookies.SESSION, "", 0))
    return answer


@routes.get("/sessions")
async def list_sessions(ctx: Annotated[Context, may("sessions.list")], paging: Paged) -> Page[SessionView]:
    """List the sessions of the tenant that may still be valid, oldest first."""
    after = UUID(paging.after) if paging.after else None
    return paging.page(await sessions.page(ctx, after, paging.take), SessionView.of, lambda one: one.id)


@routes.delete("/sessions/{session}")
async def revoke_session(ctx: Annotated[Context, may("sessions.revoke")], session: SessionId) -> EndedSessions:
    """Revoke a session. Every process refuses it within five seconds."""
    await sessions.revoke(ctx, private(Prefix.SESSION, session), session)
    return EndedSessions(ended=1)


async def caller_view(request: Request, ctx: Context, caller: Caller) -> Me:
    """Returns the view of a caller."""
    key = caller.key
    if not isinstance(key, Session):
        return Me.of(caller, [caller.tenant.name], None)
    tenants = [caller.tenant.name]
    if key.key_id is None:
        tenants = [tenant.name for tenant in await sessions.tenants_of(ctx, key.principals)]
    return Me.of(caller, tenants, request.app.state.gate.csrf.token(key.id))


async def session_response(request: Request, opened: sessions.OpenedSession) -> Response:
    """Returns the caller of a new session, and sets its cookie."""
    visitors = request.app.state.gate.visitors
    caller = await visitors.find(opened.credential)
    answer = JSONResponse((await caller_view(request, visitors.context(caller), caller)).model_dump(mode="json"))
    answer.headers.append("Set-Cookie", cookie_of(request, opened))
    return answer


def cookie_of(request: Request, opened: sessions.OpenedSession) -> str:
    """Returns the cookie of a new session."""
    life = request.app.state.terms.life.total_seconds()
    return cookies.cookie(cookies.SESSION, cookies.text_of(opened.credential), life)
