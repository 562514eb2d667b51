"""Routes that name their action. A route without an action cannot be created.

Dependencies are coroutine functions, even those that await nothing: the framework calls others in a thread, which costs
more than all the rest of a small request.
"""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any, ClassVar, Final

from fastapi import APIRouter, Depends
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from horae.api.gate import Gate, rate_headers
from horae.api.problems import problem_response
from horae.api.reading import MAX_BODY_BYTES, strict
from horae.api.sentences import unknown
from horae.domain.errors import Invalid
from horae.security.roles import ACTIONS
from horae.service.context import Context
from horae.service.identity.callers import Caller

PREFIX: Final = "/api/v1"
CELLS_DOWN: Final = "Horae-Cells-Down"
"""The header with the cells that are missing from a response."""


class RoutePermission:
    """Declares the action of a route, and provides the context of an admitted caller."""

    def __init__(self, action: str) -> None:
        if action not in ACTIONS:
            raise LookupError(f"{action!r} is not an action of security/roles.py")
        self.action = action

    async def __call__(self, request: Request) -> Context:
        """Returns the context of the gate."""
        ctx: Context = request.state.admitted.ctx
        return ctx


def operation_id(route: APIRoute) -> str:
    """Returns the operation id of a route: the name of its function, which is unique."""
    return route.name


def may(action: str) -> Any:
    """Declares the action of a route, on its first parameter, the context of the caller."""
    return Depends(RoutePermission(action))


async def _asking(request: Request) -> Caller:
    caller: Caller = request.state.admitted.caller
    return caller


Asking = Annotated[Caller, Depends(_asking)]
"""The caller, for routes that need more than the context."""


def action_of(route: APIRoute) -> str:
    """Returns the one action of a route."""
    found = [one.call.action for one in route.dependant.dependencies if isinstance(one.call, RoutePermission)]
    if len(found) != 1:
        raise LookupError(f"{route.path} must name one action, not {len(found)}")
    return found[0]


def parameters_of(route: APIRoute) -> frozenset[str]:
    """Returns the query parameters of a route."""
    dependants = [route.dependant]
    for one in dependants:
        dependants += one.dependencies
    return frozenset(field.alias for one in dependants for field in one.query_params)


def check_parameters(request: Request, known: frozenset[str]) -> None:
    """Refuse an unknown query parameter: a misspelled filter would not filter."""
    if not request.scope["query_string"]:
        return
    for name in request.query_params:
        if name not in known:
            said = unknown("query parameter", name, known)
            raise Invalid(said, errors=[{"at": ["query", name], "message": said}])


class GuardedRoute(APIRoute):
    """A route that admits the caller, reads the body, and calls the endpoint. Every refusal is a problem."""

    max_body_bytes: ClassVar[int] = MAX_BODY_BYTES

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Returns the handler with the gate before it."""
        inner = super().get_route_handler()
        action, known = action_of(self), parameters_of(self)

        async def handle(request: Request) -> Response:
            gate: Gate = request.app.state.gate
            try:
                async with gate.admit(request, action) as admitted:
                    request.state.admitted = admitted
                    check_parameters(request, known)
                    response = await inner(await strict(request, self.max_body_bytes) if self.body_field else request)
                if admitted.ctx.cells_down:
                    response.headers[CELLS_DOWN] = ", ".join(sorted(admitted.ctx.cells_down))
            except Exception as error:
                response = problem_response(request, error)
            response.headers.update(rate_headers(request))
            return response

        return handle


def router(tag: str, prefix: str = PREFIX, route_class: type[GuardedRoute] = GuardedRoute) -> APIRouter:
    """Returns a router of guarded routes."""
    return APIRouter(
        route_class=route_class,
        redirect_slashes=False,
        prefix=prefix,
        tags=[tag],
        generate_unique_id_function=operation_id,
    )
