"""Liveness, readiness and the API document, without a credential; and metrics, with a credential."""

import json
from functools import cache
from typing import Annotated, Any, Final

from fastapi import APIRouter, FastAPI
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from horae.api import reference
from horae.api.assets import Asset, serve
from horae.api.openapi import document
from horae.api.routing import may, operation_id, router
from horae.service.context import Context

routes = APIRouter(tags=["probes"], generate_unique_id_function=operation_id)
measured = router("probes", prefix="")
TEXT = "text/plain; version=0.0.4; charset=utf-8"
KEPT: Final = "public, max-age=300"


class CellReadinessView(BaseModel):
    """The readiness of one cell for this process."""

    name: str
    reachable: bool
    clock_age_seconds: float | None
    clock_trusted: bool
    shards: int


class ReadinessView(BaseModel):
    """The readiness of this process. `ready`: at least one cell answers. `degraded`: not all cells answer."""

    ready: bool
    degraded: bool
    cells: list[CellReadinessView]


@routes.get("/healthz")
async def get_liveness() -> dict[str, str]:
    """Liveness: the process and its event loop run."""
    return {"status": "ok"}


@routes.get("/readyz", responses={503: {"model": ReadinessView, "description": "No cell can be reached."}})
async def get_readiness(request: Request) -> Any:
    """Readiness: whether this process can serve requests, and the state of each cell."""
    looked = await request.app.state.look()
    reachable = sum(one.reachable for one in looked)
    ready = ReadinessView(
        ready=reachable > 0,
        degraded=reachable < len(looked),
        cells=[CellReadinessView(**one._asdict()) for one in looked],
    )
    return JSONResponse(ready.model_dump(), 200 if ready.ready else 503)


@measured.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def get_metrics(ctx: Annotated[Context, may("metrics.read")], request: Request) -> Response:
    """Get the metrics of this process in the text format of Prometheus. It needs a key of the tenant `system`."""
    return Response(request.app.state.metrics.text(), media_type=TEXT)


def add_pages(app: FastAPI) -> None:
    """Add the OpenAPI document and its page. Each is written at the first request."""
    style = Asset.of_text("text/css", reference.STYLE, KEPT)

    @cache
    def openapi_asset() -> Asset:
        return Asset.of_text("application/json", json.dumps(document(app), ensure_ascii=False), KEPT)

    @cache
    def docs_asset() -> Asset:
        return Asset.of_text("text/html", reference.page(document(app)), KEPT)

    @app.get("/openapi.json", include_in_schema=False)
    async def openapi(request: Request) -> Response:
        return serve(openapi_asset(), request.headers)

    @app.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> Response:
        return serve(docs_asset(), request.headers, reference.HEADERS)

    @app.get("/docs/style.css", include_in_schema=False)
    async def style_sheet(request: Request) -> Response:
        return serve(style, request.headers)
