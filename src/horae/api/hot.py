"""Hot routes: the same gate, reader, problems and document as every route, and msgspec instead of models.

What is told and said are `msgspec.Struct`s. The framework is left to find the route and to write the document; it
solves no dependencies and validates nothing.
"""

from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

import msgspec
from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from horae.api.gate import Gate, left
from horae.api.idempotent import KEY_DESCRIPTION
from horae.api.problems import refused
from horae.api.reading import loads, read_as, read_json
from horae.api.routing import PREFIX, Allowed, GuardedRoute, action_of, check_parameters, parameters_of
from horae.domain.errors import Invalid
from horae.service.once import LONGEST_KEY

JSON: Final = "application/json"
REFS: Final = "#/components/schemas/{name}"
_encode = msgspec.json.Encoder().encode


class Body:
    """What a hot route is told. It stands where the framework would look for a dependency."""

    def __init__(self, kind: type[msgspec.Struct], plain: type[msgspec.Struct] | None = None) -> None:
        self.kind = kind
        self._plain = None if plain is None else msgspec.json.Decoder(plain).decode

    def __call__(self) -> None:
        """Never asked: the route reads the body itself."""

    async def of(self, request: Request) -> msgspec.Struct:
        """The body of a request: in its plainest form, where it has that, else as it was meant."""
        raw = await read_json(request)
        if self._plain is not None and (found := read_as(raw, self._plain)) is not msgspec.UNSET:
            return found  # type: ignore[no-any-return]
        return self.read(loads(raw) if raw else None)

    def read(self, value: Any) -> msgspec.Struct:
        """The body as it was meant, or a refusal that says where it is wrong."""
        try:
            return msgspec.convert(value, self.kind)
        except msgspec.ValidationError as error:
            message, _, place = str(error).partition(" - at ")
            raise Invalid(str(error), errors=[{"at": ["body", place.strip("`") or "$"], "message": message}]) from error


def told(kind: type[msgspec.Struct], plain: type[msgspec.Struct] | None = None) -> Any:
    """Declares the body of a hot route, on the parameter that takes it.

    `plain` is what most bodies are: the same with nothing but what every one of them says.
    """
    return Depends(Body(kind, plain))


Work = TypeVar("Work", bound=Callable[..., Any])


def waiting(work: Work) -> Work:
    """Marks work that waits for long: its request does not count as one under way meanwhile."""
    work.waits = True  # type: ignore[attr-defined]
    return work


class HotRoute(GuardedRoute):
    """First the gate, then the body, then the work; nothing else."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **facts: Any) -> None:
        super().__init__(path, endpoint, **facts | {"response_model": None})  # it would be taken from the annotation

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler."""
        action, work, known = action_of(self), self.endpoint, parameters_of(self)
        calls = {str(one.name): one.call for one in self.dependant.dependencies}
        context = next(name for name, call in calls.items() if isinstance(call, Allowed))
        body = next(((name, call) for name, call in calls.items() if isinstance(call, Body)), None)
        whole, waits = self.dependant.request_param_name, getattr(work, "waits", False)

        async def handle(request: Request) -> Response:
            gate: Gate = request.app.state.gate
            try:
                async with gate.admitted(request, action) as admitted:
                    check_parameters(request, known)
                    asked: dict[str, Any] = {context: admitted.ctx, **request.path_params}
                    if body is not None:
                        asked[body[0]] = await body[1].of(request)
                    if whole is not None:
                        asked[whole] = request
                    if not waits:
                        response = said(await work(**asked))
                if waits:
                    response = said(await work(**asked))
            except Exception as error:
                response = refused(request, error)
            response.headers.update(left(request))
            return response

        return handle


def router(tag: str) -> APIRouter:
    """A router of hot routes."""
    return APIRouter(route_class=HotRoute, redirect_slashes=False, prefix=PREFIX, tags=[tag])


def said(answer: msgspec.Struct | Response) -> Response:
    """An answer as it goes out."""
    if isinstance(answer, Response):
        return answer
    return Response(_encode(answer), media_type=JSON)


ONCE: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": r"^[\x20-\x7e]+$"},
    "description": KEY_DESCRIPTION,
}
"""A hot route that reads this header itself says so with `parameters=[ONCE]`."""


def documented(says: type[msgspec.Struct], asks: type[msgspec.Struct] | None = None, **body: Any) -> dict[str, Any]:
    """The parts of a route's document that the framework cannot derive. `body` may hold an example."""
    told = (says.__doc__ or "").strip().partition("\n")[0]
    made: dict[str, Any] = {"responses": {"200": {"description": told, "content": {JSON: _schema(says)}}}}
    if asks is not None:
        made["requestBody"] = {"required": True, "content": {JSON: _schema(asks) | body}}
    return made


def schemas() -> dict[str, Any]:
    """What the document says about the structs of all hot routes."""
    return msgspec.json.schema_components(_kinds, ref_template=REFS)[1]


def _schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    _kinds.append(kind)
    return {"schema": {"$ref": REFS.format(name=kind.__name__)}}


_kinds: list[type[msgspec.Struct]] = []
