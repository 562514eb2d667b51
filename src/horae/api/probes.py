"""What needs no credential: is it alive, is it ready, what can be asked. And the metrics, which do need one."""

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
from horae.api.routing import may, router
from horae.service.context import Context

routes = APIRouter(tags=["probes"])
measured = router("probes", prefix="")
TEXT = "text/plain; version=0.0.4; charset=utf-8"
KEPT: Final = "public, max-age=300"


class CellReady(BaseModel):
    """How this process stands with one cell."""

    name: str
    reachable: bool
    clock_age_seconds: float | None
    clock_trusted: bool
    shards: int


class Ready(BaseModel):
    """Whether to send requests here: at least one cell answers. `degraded`: not all of them do."""

    ready: bool
    degraded: bool
    cells: list[CellReady]


@routes.get("/healthz")
async def healthz() -> dict[str, str]:
    """The process is alive and its loop turns."""
    return {"status": "ok"}


@routes.get("/readyz", responses={503: {"model": Ready, "description": "No cell can be reached."}})
async def readyz(request: Request) -> Any:
    """Whether to send requests here, and how it stands with each cell."""
    looked = await request.app.state.look()
    reachable = sum(one.reachable for one in looked)
    ready = Ready(
        ready=reachable > 0,
        degraded=reachable < len(looked),
        cells=[CellReady(**one._asdict()) for one in looked],
    )
    return JSONResponse(ready.model_dump(), 200 if ready.ready else 503)


@measured.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(ctx: Annotated[Context, may("metrics.read")], request: Request) -> Response:
    """What this process counts, in Prometheus' text format; for the platform's own keys."""
    return Response(request.app.state.metrics.text(), media_type=TEXT)


def add_pages(app: FastAPI) -> None:
    """The document, and the page made of it, each written when it is first asked for."""
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
