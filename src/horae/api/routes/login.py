"""Routes of the login. They need no credential, so they are limited per address."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from horae.api.gate import Gate
from horae.api.models.people import ApiKeyLogin, LoginOptions, Me
from horae.api.problems import problem_response
from horae.api.reading import strict
from horae.api.routes.people import cookie_of, session_response
from horae.api.routing import operation_id
from horae.domain.errors import NotFound, Unauthenticated
from horae.security import cookies, credentials
from horae.service.identity import sessions
from horae.service.identity.people import LOGIN_TIMEOUT_S, People

HOME: Final = "/"
MAX_LOGIN_BYTES: Final = 4096
"""A key in JSON is shorter. The body is limited before it is read, because the caller is unknown."""
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class PublicRoute(APIRoute):
    """A route without a credential: addresses with many failures have to wait, and every refusal is a problem."""

    def get_route_handler(self) -> Handler:
        """Returns the handler with the rate limit around it."""
        inner = super().get_route_handler()

        async def handle(request: Request) -> Response:
            gate: Gate = request.app.state.gate
            try:
                async with gate.limit_logins(request):
                    return await inner(await strict(request, MAX_LOGIN_BYTES) if self.body_field else request)
            except Exception as error:
                return problem_response(request, error)

        return handle


routes = APIRouter(
    route_class=PublicRoute, redirect_slashes=False, tags=["people"], generate_unique_id_function=operation_id
)


@routes.get("/login/options")
async def get_login_options(request: Request) -> LoginOptions:
    """Get the available ways to log in."""
    return LoginOptions(oidc=request.app.state.people is not None, key=True)


@routes.post("/login/key", response_model=Me)
async def log_in_with_key(asked: ApiKeyLogin, request: Request) -> Response:
    """Log in with an API key. The response sets a session cookie, so that no page has to keep the key."""
    cookies.check_origin(request.headers)
    gate: Gate = request.app.state.gate
    caller = await gate.callers.find(credentials.read(asked.key))
    opened = await sessions.open_with_key(gate.callers.context(caller), caller, _terms(request))
    return await session_response(request, opened)


@routes.get("/login", include_in_schema=False)
async def begin_login(request: Request, tenant: Annotated[str | None, Query(max_length=120)] = None) -> Response:
    """Redirect to the OpenID Connect issuer."""
    where, kept = await _people(request).begin(tenant)
    answer = RedirectResponse(where, 302)
    answer.headers.append("Set-Cookie", cookies.cookie(cookies.LOGIN, kept, LOGIN_TIMEOUT_S))
    return answer


@routes.get("/login/callback", include_in_schema=False)
async def finish_login(
    request: Request,
    state: Annotated[str, Query(max_length=200)] = "",
    code: Annotated[str, Query(max_length=4000)] = "",
    error: Annotated[str | None, Query(max_length=200)] = None,
    iss: Annotated[str | None, Query(max_length=1000)] = None,
) -> Response:
    """Finish the login with the code of the issuer. The login cookie is deleted."""
    if error is not None or not code:
        raise Unauthenticated("the issuer refused the login")
    kept = request.cookies.get(cookies.LOGIN, "")
    opened = await _people(request).finish(kept, state, code, iss)
    answer = RedirectResponse(HOME, 303)
    answer.headers.append("Set-Cookie", cookie_of(request, opened))
    answer.headers.append("Set-Cookie", cookies.cookie(cookies.LOGIN, "", 0))
    return answer


def _people(request: Request) -> People:
    people: People | None = request.app.state.people
    if people is None:
        raise NotFound("no OpenID Connect issuer is configured; log in with an API key")
    return people


def _terms(request: Request) -> sessions.Terms:
    terms: sessions.Terms = request.app.state.terms
    return terms
