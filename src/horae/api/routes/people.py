"""Who asks, and sessions: one's own, and those of a tenant's people."""

from typing import Annotated
from uuid import UUID

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from horae.api.models.people import Choice, Ended, Me, SessionView
from horae.api.pages import Page, Paged
from horae.api.routing import Asking, may, router
from horae.domain.errors import NotFound
from horae.domain.ids import Prefix, private
from horae.domain.people import Session
from horae.security import cookies
from horae.service import sessions
from horae.service.callers import Caller
from horae.service.context import Context

routes = router("people")
SessionId = Annotated[str, Path(max_length=60, examples=["ses_01hv3zq5k8e9r7t2m4n6p8s0v1"])]


@routes.get("/me")
async def me(ctx: Annotated[Context, may("me.read")], asking: Asking, request: Request) -> Me:
    """Who I am, what I may do, and which tenants I may choose from."""
    return await shown(request, ctx, asking)


@routes.put("/session/tenant", response_model=Me)
async def choose(
    ctx: Annotated[Context, may("session.choose")], asking: Asking, asked: Choice, request: Request
) -> Response:
    """Work in another of my tenants: a new session takes the place of this one. A key has only its own tenant."""
    if asked.tenant == asking.tenant.name:
        return JSONResponse((await shown(request, ctx, asking)).model_dump(mode="json"))
    if not isinstance(asking.key, Session):
        raise NotFound(f"there is no tenant {asked.tenant!r} of yours")
    opened = await sessions.move(ctx.store, asking.key, asked.tenant, request.app.state.terms)
    visitors = request.app.state.gate.visitors
    caller = await visitors.find(opened.credential)
    answer = JSONResponse((await shown(request, visitors.context(caller), caller)).model_dump(mode="json"))
    answer.headers.append("Set-Cookie", cookie_of(request, opened))
    return answer


@routes.delete("/session", response_model=Ended)
async def end(
    ctx: Annotated[Context, may("session.end")],
    asking: Asking,
    everywhere: Annotated[bool, Query(description="All sessions of mine, in every tenant.")] = False,
) -> Response:
    """Log out; every process refuses the session within five seconds."""
    ended = 0
    if everywhere:
        ended = await sessions.end_everywhere(ctx.store, asking.key.principal)
    elif isinstance(asking.key, Session):
        ended = await sessions.end(ctx.store, asking.key)
    answer = JSONResponse({"ended": ended})
    answer.headers.append("Set-Cookie", cookies.cookie(cookies.SESSION, "", 0))
    return answer


@routes.get("/sessions")
async def listing(ctx: Annotated[Context, may("sessions.list")], paging: Paged) -> Page[SessionView]:
    """The tenant's sessions that may still be good, oldest first."""
    after = UUID(paging.after) if paging.after else None
    return paging.page(await sessions.page(ctx, after, paging.take), SessionView.of, lambda one: one.id)


@routes.delete("/sessions/{session}")
async def revoke(ctx: Annotated[Context, may("sessions.revoke")], session: SessionId) -> Ended:
    """End someone's session; every process refuses it within five seconds."""
    await sessions.revoke(ctx, private(Prefix.SESSION, session), session)
    return Ended(ended=1)


async def shown(request: Request, ctx: Context, caller: Caller) -> Me:
    """A caller as they are shown to themselves."""
    key = caller.key
    if not isinstance(key, Session):
        return Me.of(caller, [caller.tenant.name], None)
    tenants = [caller.tenant.name]
    if key.key_id is None:
        tenants = [tenant.name for tenant in await sessions.choices(ctx.store, key.principals, ctx.cells_down)]
    return Me.of(caller, tenants, request.app.state.gate.csrf.token(key.id))


def cookie_of(request: Request, opened: sessions.Opened) -> str:
    """The cookie that carries a new session."""
    life = request.app.state.terms.life.total_seconds()
    return cookies.cookie(cookies.SESSION, cookies.text_of(opened.credential), life)
