"""Every error as problem+json (RFC 9457), with the error codes of Horae and no internal details."""

import math
from typing import Any, Final

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from horae.api.sentences import sentence_of
from horae.domain.errors import (
    BadRequest,
    HoraeError,
    Invalid,
    KeyRequired,
    MethodNotAllowed,
    NotFound,
    RateLimited,
    RetryLimited,
    ShardClosed,
    Unauthenticated,
    Unavailable,
)
from horae.domain.instances.idempotency_keys import LONGEST_IDEMPOTENCY_KEY
from horae.runtime.telemetry import log
from horae.service.refusals import refusal_of

MEDIA_TYPE: Final = "application/problem+json"
DEFAULT_RETRY_AFTER_S: Final = 1
LONGEST_PATH: Final = 200
MAX_ERRORS: Final = 20
"""The number of errors that one problem lists; a body may have tens of thousands."""
TEXTS: Final = {405: "this path does not support this method; the Allow header has the supported methods"}
KEY_HEADER: Final = "idempotency-key"
OF_STATUS: Final[dict[int, type[HoraeError]]] = {400: BadRequest, 404: NotFound, 405: MethodNotAllowed}


class Problem(BaseModel):
    """An error. `code` is for programs and never changes; `detail` is for people and may change."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:horae:SCH_404_NOT_FOUND",
                    "title": "NotFound",
                    "status": 404,
                    "detail": "tenant 'acme' has no job 'coupon_job'",
                    "code": "SCH_404_NOT_FOUND",
                }
            ]
        },
    )

    type: str
    title: str
    status: int
    detail: str
    code: str
    errors: list[dict[str, Any]] | None = None


def problem_of(error: Exception, body: Any = None) -> Response:
    """Returns the response to an exception. An unexpected exception is logged, and its text is not sent.

    `body` is the type of the request body, if the route has one.
    """
    refusal = _refusal(error, body)
    if refusal is None:
        log.exception("api.failed", exc_info=error)
        refusal = HoraeError("internal error; details are in the log of the API")
    return JSONResponse(body_of(refusal), refusal.status, headers=_headers(refusal, error), media_type=MEDIA_TYPE)


def body_of(refusal: HoraeError) -> dict[str, Any]:
    """Returns the problem of a refusal, for a response or for one item of a batch."""
    return {
        "type": f"urn:horae:{refusal.code}",
        "title": type(refusal).__name__,
        "status": refusal.status,
        "detail": str(refusal),
        "code": refusal.code,
        **refusal.facts,
    }


def problem_response(request: Request, error: Exception) -> Response:
    """Returns the response to an exception of a route. A closed shard starts a search for its new cell."""
    if isinstance(error, ShardClosed):
        request.app.state.closed()
    field = getattr(request.scope.get("route"), "body_field", None)
    return problem_of(error, None if field is None else field.field_info.annotation)


async def handle(request: Request, error: Exception) -> Response:
    """Handle an exception that no route caught."""
    if isinstance(error, HTTPException) and error.status_code == NotFound.status:
        asked = request.url.path[:LONGEST_PATH]
        error = NotFound(f"there is no path {asked}; GET /openapi.json lists all paths")
    answer = problem_response(request, error)
    if answer.status_code == MethodNotAllowed.status and (path := getattr(request.scope.get("route"), "path", None)):
        # each method of a path is its own route, and the framework lists the methods of the first route only
        routes = [route for route in request.app.routes if getattr(route, "path", None) == path]
        answer.headers["Allow"] = ", ".join(sorted({method for route in routes for method in route.methods or ()}))
    return answer


def _refusal(error: Exception, body: Any) -> HoraeError | None:
    match error:
        case RequestValidationError():
            return _invalid(error, body)
        case HTTPException():
            return OF_STATUS.get(error.status_code, BadRequest)(TEXTS.get(error.status_code, str(error.detail)))
        case _:
            return refusal_of(error)


def _invalid(error: RequestValidationError, body: Any) -> HoraeError:
    errors = error.errors()
    found = [{"at": list(one["loc"]), "message": sentence_of(one, body)} for one in errors[:MAX_ERRORS]]
    for one in errors:
        if one["loc"][0] == "header" and str(one["loc"][-1]).lower() == KEY_HEADER:
            return KeyRequired(
                f"send an Idempotency-Key header of 1 to {LONGEST_IDEMPOTENCY_KEY} printable characters", errors=found
            )
    first, more = found[0], len(errors) - len(found)
    said = f"{'.'.join(str(part) for part in first['at'])}: {first['message']}"
    return Invalid(f"{said} ({more} more errors are not listed)" if more else said, errors=found)


def _headers(refusal: HoraeError, error: Exception) -> dict[str, str]:
    headers: dict[str, str] = dict(getattr(error, "headers", None) or {})
    match refusal:
        case RateLimited():
            headers["Retry-After"] = str(max(1, math.ceil(refusal.retry_after)))
        case RetryLimited():
            headers["Retry-After"] = str(refusal.facts.get("retry_after", DEFAULT_RETRY_AFTER_S))
        case Unavailable():
            headers["Retry-After"] = str(DEFAULT_RETRY_AFTER_S)
        case Unauthenticated():
            headers["WWW-Authenticate"] = 'Bearer realm="horae"'
        case _:
            pass
    return headers
