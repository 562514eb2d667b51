"""Every refusal as problem+json (RFC 9457): one shape, our codes, nothing of the inside."""

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
    NotAllowed,
    NotFound,
    RateLimited,
    RetryLimited,
    ShardClosed,
    Unauthenticated,
    Unavailable,
)
from horae.runtime.telemetry import log
from horae.service.refusals import refusal_of

MEDIA_TYPE: Final = "application/problem+json"
SOON: Final = 1
LONGEST_PATH: Final = 200
MAX_ERRORS: Final = 20
"""Errors that one refusal names; a body may have tens of thousands."""
SAID: Final = {405: "this path is not served with this method; the Allow header names those that are"}
KEY_HEADER: Final = "idempotency-key"
OF_STATUS: Final[dict[int, type[HoraeError]]] = {400: BadRequest, 404: NotFound, 405: NotAllowed}


class Problem(BaseModel):
    """A refusal. `code` is for programs and never changes; `detail` is for people and may."""

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
    """The answer to whatever was raised. What nobody expected is logged and told as nothing but that.

    `body` is the kind of the request's body, where it has one.
    """
    refusal = _refusal(error, body)
    if refusal is None:
        log.exception("api.failed", exc_info=error)
        refusal = HoraeError("something went wrong on our side; it is in our log")
    return JSONResponse(body_of(refusal), refusal.status, headers=_headers(refusal, error), media_type=MEDIA_TYPE)


def body_of(refusal: HoraeError) -> dict[str, Any]:
    """A refusal as a problem says it; in a batch, of one item."""
    return {
        "type": f"urn:horae:{refusal.code}",
        "title": type(refusal).__name__,
        "status": refusal.status,
        "detail": str(refusal),
        "code": refusal.code,
        **refusal.facts,
    }


def refused(request: Request, error: Exception) -> Response:
    """The same; a shard that was not open where we looked for it may be open elsewhere, which is to be found out."""
    if isinstance(error, ShardClosed):
        request.app.state.closed()
    field = getattr(request.scope.get("route"), "body_field", None)
    return problem_of(error, None if field is None else field.field_info.annotation)


async def handle(request: Request, error: Exception) -> Response:
    """The one handler, for what no route caught."""
    if isinstance(error, HTTPException) and error.status_code == NotFound.status:
        asked = request.url.path[:LONGEST_PATH]
        error = NotFound(f"nothing is served at {asked}; GET /openapi.json lists every path")
    answer = refused(request, error)
    if answer.status_code == NotAllowed.status and (path := getattr(request.scope.get("route"), "path", None)):
        # each method of a path is a route of its own, and the framework names those of the first one only
        routes = [route for route in request.app.routes if getattr(route, "path", None) == path]
        answer.headers["Allow"] = ", ".join(sorted({method for route in routes for method in route.methods or ()}))
    return answer


def _refusal(error: Exception, body: Any) -> HoraeError | None:
    match error:
        case RequestValidationError():
            return _invalid(error, body)
        case HTTPException():
            return OF_STATUS.get(error.status_code, BadRequest)(SAID.get(error.status_code, str(error.detail)))
        case _:
            return refusal_of(error)


def _invalid(error: RequestValidationError, body: Any) -> HoraeError:
    errors = error.errors()
    found = [{"at": list(one["loc"]), "message": sentence_of(one, body)} for one in errors[:MAX_ERRORS]]
    for one in errors:
        if one["loc"][0] == "header" and str(one["loc"][-1]).lower() == KEY_HEADER:
            return KeyRequired("this needs an Idempotency-Key header of 1 to 200 printable characters", errors=found)
    first, more = found[0], len(errors) - len(found)
    said = f"{'.'.join(str(part) for part in first['at'])}: {first['message']}"
    return Invalid(f"{said} (and {more} more errors than are listed)" if more else said, errors=found)


def _headers(refusal: HoraeError, error: Exception) -> dict[str, str]:
    headers: dict[str, str] = dict(getattr(error, "headers", None) or {})
    match refusal:
        case RateLimited():
            headers["Retry-After"] = str(max(1, math.ceil(refusal.retry_after)))
        case RetryLimited():
            headers["Retry-After"] = str(refusal.facts.get("retry_after", SOON))
        case Unavailable():
            headers["Retry-After"] = str(SOON)
        case Unauthenticated():
            headers["WWW-Authenticate"] = 'Bearer realm="horae"'
        case _:
            pass
    return headers
