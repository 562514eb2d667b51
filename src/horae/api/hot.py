"""Hot routes: the same gate, JSON reader, problems and document as every route, with msgspec instead of pydantic.

Bodies and responses are `msgspec.Struct`s. The framework only finds the route and writes the document; it resolves no
dependencies and validates nothing.
"""

from collections.abc import Callable, Coroutine, Sequence
from itertools import takewhile
from typing import Any, Final, TypeVar

import msgspec
from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import Receive, Scope, Send

from horae.api import routing
from horae.api.gate import Gate, rate_headers
from horae.api.idempotent import KEY_DESCRIPTION
from horae.api.problems import problem_response
from horae.api.reading import loads, read_as, read_json
from horae.api.routing import (
    GuardedRoute,
    RoutePermission,
    action_of,
    check_parameters,
    parameters_of,
)
from horae.domain.errors import Invalid
from horae.domain.instances.idempotency_keys import LONGEST_IDEMPOTENCY_KEY

JSON: Final = "application/json"
REFS: Final = "#/components/schemas/{name}"
_encode = msgspec.json.Encoder().encode


class HotBody:
    """The body of a hot route, declared in the place of a dependency of the framework."""

    def __init__(self, kind: type[msgspec.Struct], plain: type[msgspec.Struct] | None = None) -> None:
        self.kind = kind
        self._plain = None if plain is None else msgspec.json.Decoder(plain).decode

    async def __call__(self) -> None:
        """Never called: the route reads the body itself."""

    async def of(self, request: Request) -> msgspec.Struct:
        """Returns the body of a request, as the plain struct if it fits, else as the full struct."""
        raw = await read_json(request)
        if self._plain is not None and (found := read_as(raw, self._plain)) is not msgspec.UNSET:
            return found  # type: ignore[no-any-return]
        return self.read(loads(raw) if raw else None)

    def read(self, value: Any) -> msgspec.Struct:
        """Returns the body as a struct, or refuses it with the place of the error."""
        try:
            return msgspec.convert(value, self.kind)
        except msgspec.ValidationError as error:
            message, _, place = str(error).partition(" - at ")
            raise Invalid(str(error), errors=[{"at": ["body", place.strip("`") or "$"], "message": message}]) from error


def json_body(kind: type[msgspec.Struct], plain: type[msgspec.Struct] | None = None) -> Any:
    """Declares the body of a hot route, on the parameter that takes it.

    `plain` is a struct with the required fields only. Most bodies fit it, and it decodes faster.
    """
    return Depends(HotBody(kind, plain))


Work = TypeVar("Work", bound=Callable[..., Any])


def long_poll(work: Work) -> Work:
    """Marks a route that waits for long: its request does not count as concurrent while it waits."""
    work.waits = True  # type: ignore[attr-defined]
    return work


class HotRoute(GuardedRoute):
    """A route that admits the caller, reads the body, and calls the endpoint."""

    handle_hot: Callable[[Request], Coroutine[Any, Any, Response]]

    def __init__(self, path: str, endpoint: Callable[..., Any], **facts: Any) -> None:
        super().__init__(
            path, endpoint, **facts | {"response_model": None}
        )  # else the framework takes it from the annotation

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Returns the handler."""
        action, work, known = action_of(self), self.endpoint, parameters_of(self)
        calls = {str(one.name): one.call for one in self.dependant.dependencies}
        context = next(name for name, call in calls.items() if isinstance(call, RoutePermission))
        body = next(((name, call) for name, call in calls.items() if isinstance(call, HotBody)), None)
        whole, waits = self.dependant.request_param_name, getattr(work, "waits", False)

        async def handle(request: Request) -> Response:
            gate: Gate = request.scope["app"].state.gate
            try:
                async with gate.admit(request, action) as admitted:
                    check_parameters(request, known)
                    asked: dict[str, Any] = {context: admitted.ctx, **request.path_params}
                    if body is not None:
                        asked[body[0]] = await body[1].of(request)
                    if whole is not None:
                        asked[whole] = request
                    if not waits:
                        response = response_of(await work(**asked))
                if waits:
                    response = response_of(await work(**asked))
            except Exception as error:
                response = problem_response(request, error)
            for name, value in rate_headers(request).items():
                response.raw_headers.append((name.lower().encode(), value.encode()))
            return response

        self.handle_hot = handle
        return handle


class HotRoutes:
    """Finds the hot route of a request and calls it, without the layers of the framework around its own routes.

    Its routes must be the first ones of the application, so that both find the same route.
    """

    def __init__(self, app: object, routes: Sequence[BaseRoute]) -> None:
        self._app = app
        self._by_method: dict[str, list[HotRoute]] = {}
        for route in takewhile(lambda one: isinstance(one, HotRoute), routes):
            assert isinstance(route, HotRoute)
            for method in route.methods or ():
                self._by_method.setdefault(method, []).append(route)

    def find(self, scope: Scope) -> bool:
        """Whether a request is for a hot route. If so, the scope has the route and its parameters."""
        for route in self._by_method.get(scope["method"], ()):
            if (found := route.path_regex.match(scope["path"])) is not None:
                kinds = route.param_convertors
                scope["path_params"] = {name: kinds[name].convert(text) for name, text in found.groupdict().items()}
                scope["route"], scope["endpoint"], scope["app"] = route, route.endpoint, self._app
                return True
        return False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request for which `find` found a route."""
        response = await scope["route"].handle_hot(Request(scope, receive, send))
        await response(scope, receive, send)


def router(tag: str) -> APIRouter:
    """Returns a router of hot routes."""
    return routing.router(tag, route_class=HotRoute)


def response_of(answer: msgspec.Struct | Response) -> Response:
    """Returns the response of an endpoint."""
    if isinstance(answer, Response):
        return answer
    return Response(_encode(answer), media_type=JSON)


ONCE: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_IDEMPOTENCY_KEY, "pattern": r"^[\x20-\x7e]+$"},
    "description": KEY_DESCRIPTION,
}
"""The Idempotency-Key header, for hot routes that read it themselves: `parameters=[ONCE]`."""


def document_of(says: type[msgspec.Struct], asks: type[msgspec.Struct] | None = None, **body: Any) -> dict[str, Any]:
    """Returns the parts of the document of a route that the framework cannot derive. `body` may have an example."""
    text = (says.__doc__ or "").strip().partition("\n")[0]
    made: dict[str, Any] = {"responses": {"200": {"description": text, "content": {JSON: _schema(says)}}}}
    if asks is not None:
        made["requestBody"] = {"required": True, "content": {JSON: _schema(asks) | body}}
    return made


def schemas() -> dict[str, Any]:
    """Returns the schemas of the structs of all hot routes."""
    return msgspec.json.schema_components(_kinds, ref_template=REFS)[1]


def _schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    _kinds.append(kind)
    return {"schema": {"$ref": REFS.format(name=kind.__name__)}}


_kinds: list[type[msgspec.Struct]] = []
