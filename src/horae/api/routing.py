"""Routes that name their action. One without cannot be made."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from horae.api.gate import Gate, left
from horae.api.problems import refused
from horae.api.reading import strict
from horae.api.sentences import unknown
from horae.domain.errors import Invalid
from horae.security.roles import ACTIONS
from horae.service.callers import Caller
from horae.service.context import Context

PREFIX: Final = "/api/v1"
CELLS_DOWN: Final = "Horae-Cells-Down"
"""Names the cells that an answer had to do without, whatever shape it has."""


class Allowed:
    """Declares what a route does, and hands it the context of a caller who may."""

    def __init__(self, action: str) -> None:
        if action not in ACTIONS:
            raise LookupError(f"{action!r} is not in the table of security/roles.py")
        self.action = action

    def __call__(self, request: Request) -> Context:
        """The context that the gate made."""
        ctx: Context = request.state.admitted.ctx
        return ctx


def may(action: str) -> Any:
    """Declares a route's action, on its first parameter, which is the caller's context."""
    return Depends(Allowed(action))


def _asking(request: Request) -> Caller:
    caller: Caller = request.state.admitted.caller
    return caller


Asking = Annotated[Caller, Depends(_asking)]
"""For routes that need to know who asks beyond the context."""


def action_of(route: APIRoute) -> str:
    """The one action a route declares."""
    found = [one.call.action for one in route.dependant.dependencies if isinstance(one.call, Allowed)]
    if len(found) != 1:
        raise LookupError(f"{route.path} must name one action, not {len(found)}")
    return found[0]


def parameters_of(route: APIRoute) -> frozenset[str]:
    """The query parameters that a route knows."""
    dependants = [route.dependant]
    for one in dependants:
        dependants += one.dependencies
    return frozenset(field.alias for one in dependants for field in one.query_params)


def check_parameters(request: Request, known: frozenset[str]) -> None:
    """Refuse a query parameter that the route does not know: a filter with a slip in its name is no filter."""
    if not request.scope["query_string"]:
        return
    for name in request.query_params:
        if name not in known:
            said = unknown("query parameter", name, known)
            raise Invalid(said, errors=[{"at": ["query", name], "message": said}])


class GuardedRoute(APIRoute):
    """First the gate, then the body, then the work; every refusal is a problem."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler with the gate before it."""
        inner = super().get_route_handler()
        action, known = action_of(self), parameters_of(self)

        async def handle(request: Request) -> Response:
            gate: Gate = request.app.state.gate
            try:
                async with gate.admitted(request, action) as admitted:
                    request.state.admitted = admitted
                    check_parameters(request, known)
                    response = await inner(await strict(request) if self.body_field else request)
                if admitted.ctx.cells_down:
                    response.headers[CELLS_DOWN] = ", ".join(sorted(admitted.ctx.cells_down))
            except Exception as error:
                response = refused(request, error)
            response.headers.update(left(request))
            return response

        return handle


def router(tag: str, prefix: str = PREFIX) -> APIRouter:
    """A router of guarded routes."""
    return APIRouter(route_class=GuardedRoute, redirect_slashes=False, prefix=prefix, tags=[tag])
