"""The OpenAPI 3.1 document: the document of FastAPI, with the error codes, roles and credentials of Horae."""

from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from horae import __version__
from horae.api import hot
from horae.api.problems import MEDIA_TYPE, Problem
from horae.api.routing import CELLS_DOWN, GuardedRoute, action_of
from horae.domain.errors import HoraeError
from horae.security.cookies import SESSION
from horae.security.roles import ACTIONS, LOGIN, roles_for

DESCRIPTION: Final = (
    "Horae decides when a call is made; your business decides whether it takes effect. "
    "Every error is `application/problem+json` with a stable `code` for programs."
)
ALWAYS: Final = (400, 401, 403, 404, 405, 409, 422, 429, 503)
WITH_BODY: Final = (413, 415)
LEFT_OUT: Final = {
    "description": "Cells that could not be reached, separated by commas. Their rows are missing from this response.",
    "schema": {"type": "string"},
}
AT_LOGIN: Final = (400, 401, 403, 405, 422, 429, 503)


def document(app: FastAPI) -> dict[str, Any]:
    """Returns the document, which is made once."""
    if app.openapi_schema is None:
        made = get_openapi(title="Horae", version=__version__, description=DESCRIPTION, routes=app.routes)
        schemas = made.setdefault("components", {}).setdefault("schemas", {})
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        schemas |= hot.schemas()
        schemas["Problem"] = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        made["components"]["securitySchemes"] = {
            "key": {"type": "http", "scheme": "bearer", "bearerFormat": "horae_…"},
            "session": {"type": "apiKey", "in": "cookie", "name": SESSION},
        }
        for route in guarded_routes(app):
            for method in route.methods or ():
                operation = made["paths"][route.path_format][method.lower()]
                _finish(operation, action_of(route))
                if method == "GET":
                    operation["responses"]["200"]["headers"] = {CELLS_DOWN: LEFT_OUT}
        for path, methods in made["paths"].items():
            for operation in methods.values():
                operation["summary"] = _summary(operation["operationId"])
                if path in LOGIN:
                    _refusals(operation, AT_LOGIN)
        app.openapi_schema = made
    return app.openapi_schema


def guarded_routes(app: FastAPI) -> list[APIRoute]:
    """Returns the routes that need a credential."""
    return [route for route in app.routes if isinstance(route, GuardedRoute)]


def codes() -> dict[int, list[str]]:
    """Returns all error codes by status."""
    found: dict[int, list[str]] = {}
    tree: list[type[HoraeError]] = [HoraeError]
    for error in tree:
        tree += error.__subclasses__()
        found.setdefault(error.status, []).append(error.code)
    return found


def _summary(operation_id: str) -> str:
    """Returns the words of an operation id as a title, such as "List API keys"."""
    return operation_id.replace("_", " ").capitalize().replace(" api ", " API ")


def _refusals(operation: dict[str, Any], statuses: tuple[int, ...]) -> None:
    said = codes()
    for status in (*statuses, *(WITH_BODY if "requestBody" in operation else ())):
        operation["responses"][str(status)] = {
            "description": ", ".join(f"`{code}`" for code in said[status]),
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }


def _finish(operation: dict[str, Any], action: str) -> None:
    _refusals(operation, ALWAYS)
    operation["security"] = [{"key": []}, {"session": []}]
    operation["x-horae-action"] = action
    operation["x-horae-roles"] = [str(role) for role in roles_for(action)]
    operation["x-horae-audited"] = ACTIONS[action].audited
