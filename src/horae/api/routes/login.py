"""The doors before the gate: where people log in. Everyone may knock, but not often."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from horae.api.gate import Gate
from horae.api.models.people import KeyLogin, Me, Ways
from horae.api.problems import refused
from horae.api.reading import strict
from horae.api.routes.people import cookie_of, shown
from horae.domain.errors import NotFound, Unauthenticated
from horae.security import cookies, credentials
from horae.service import sessions
from horae.service.people import LOGIN_SECONDS, People

HOME: Final = "/"
MAX_LOGIN_BYTES: Final = 4096
"""A key in JSON is shorter; what a stranger sends is bounded before it is read."""
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class OpenRoute(APIRoute):
    """A route for everyone: an address that failed often has to wait, and every refusal is a problem."""

    def get_route_handler(self) -> Handler:
        """The handler with the throttle around it."""
        inner = super().get_route_handler()

        async def handle(request: Request) -> Response:
            gate: Gate = request.app.state.gate
            try:
                async with gate.knocking(request):
                    return await inner(await strict(request, MAX_LOGIN_BYTES) if self.body_field else request)
            except Exception as error:
                return refused(request, error)

        return handle


routes = APIRouter(route_class=OpenRoute, redirect_slashes=False, tags=["people"])


@routes.get("/login/ways")
async def ways(request: Request) -> Ways:
    """How one may log in here."""
    return Ways(oidc=request.app.state.people is not None, key=True)


@routes.post("/login/key", response_model=Me)
async def with_key(asked: KeyLogin, request: Request) -> Response:
    """Exchange an API key for a session in a cookie, so that no page has to keep the key."""
    cookies.check_origin(request.headers)
    gate: Gate = request.app.state.gate
    caller = await gate.callers.find(credentials.read(asked.key))
    return await _welcomed(request, sessions.open_with_key(gate.callers.context(caller).store, caller, _terms(request)))


@routes.get("/login", include_in_schema=False)
async def begin(request: Request, tenant: Annotated[str | None, Query(max_length=120)] = None) -> Response:
    """Off to the issuer."""
    where, kept = await _people(request).begin(tenant)
    answer = RedirectResponse(where, 302)
    answer.headers.append("Set-Cookie", cookies.cookie(cookies.LOGIN, kept, LOGIN_SECONDS))
    return answer


@routes.get("/login/callback", include_in_schema=False)
async def finish(
    request: Request,
    state: Annotated[str, Query(max_length=200)] = "",
    code: Annotated[str, Query(max_length=4000)] = "",
    error: Annotated[str | None, Query(max_length=200)] = None,
    iss: Annotated[str | None, Query(max_length=1000)] = None,
) -> Response:
    """Back from the issuer, with a code. The login's cookie is used up, whatever comes of it."""
    if error is not None or not code:
        raise Unauthenticated("the issuer did not let you in")
    kept = request.cookies.get(cookies.LOGIN, "")
    opened = await _people(request).finish(kept, state, code, iss)
    answer = RedirectResponse(HOME, 303)
    answer.headers.append("Set-Cookie", cookie_of(request, opened))
    answer.headers.append("Set-Cookie", cookies.cookie(cookies.LOGIN, "", 0))
    return answer


async def _welcomed(request: Request, opening: Awaitable[sessions.Opened]) -> Response:
    opened = await opening
    visitors = request.app.state.gate.visitors
    caller = await visitors.find(opened.credential)
    answer = JSONResponse((await shown(request, visitors.context(caller), caller)).model_dump(mode="json"))
    answer.headers.append("Set-Cookie", cookie_of(request, opened))
    return answer


def _people(request: Request) -> People:
    people: People | None = request.app.state.people
    if people is None:
        raise NotFound("no issuer is configured here; log in with an API key")
    return people


def _terms(request: Request) -> sessions.Terms:
    terms: sessions.Terms = request.app.state.terms
    return terms
