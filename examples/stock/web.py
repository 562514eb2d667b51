"""The shop: products come and go; Horae has each refreshed in its turn. `uvicorn stock.web:app`

STOCK_DSN, STOCK_URL (where Horae finds us), STOCK_SECRET (whsec_…) and INVENTORY_URL say what is ours, HORAE_URL and
HORAE_KEY where Horae is. STOCK_WINDOW, STOCK_EVERY and STOCK_RATE are the rhythm.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import httpx2
import psycopg
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from horae_client import AsyncClient, Declined, Retry, outbox
from horae_client.receive import Call, Receiver

from . import business, schedule
from .schedule import Rhythm

HERE = Path(__file__).parent
DSN = os.environ["STOCK_DSN"]
RHYTHM = Rhythm(
    *(float(os.environ.get(f"STOCK_{name.upper()}", default)) for name, default in Rhythm()._asdict().items())
)
receiver = Receiver(os.environ["STOCK_SECRET"])


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    """Tables, the job with all products as its subjects, and the relay that forwards who comes and goes."""
    async with (
        asyncpg.create_pool(DSN, min_size=1, max_size=8) as app.state.pool,
        httpx2.AsyncClient(base_url=os.environ["INVENTORY_URL"], timeout=3) as app.state.inventory,
        AsyncClient() as horae,
    ):
        async with app.state.pool.acquire() as connection:
            for statements in (
                (HERE / "schema.sql").read_text(),
                outbox.ddl("postgresql"),
                (HERE / "events.sql").read_text(),
            ):
                await connection.execute(statements)
            await schedule.declare(horae, os.environ["STOCK_URL"], os.environ["STOCK_SECRET"], RHYTHM)
            await horae.subjects.add(
                schedule.JOB, await business.codes(connection)
            )  # those it has already stay as they are
        with outbox.Relay(lambda: psycopg.connect(DSN), pause=0.5):
            yield


async def product(request: Request) -> Response:
    """`PUT /products/{code}`: it is sold from now on. `DELETE`: it is sold no more."""
    pool, code = request.app.state.pool, request.path_params["code"]
    if request.method == "PUT":
        await business.add(pool, code, request.query_params.get("title", code))
    else:
        await business.remove(pool, code)
    outbox.wake()
    return Response(status_code=204)


async def refresh(call: Call) -> Any:
    """Horae: refresh this product."""
    code = call.key or ""
    try:
        answer = (await app.state.inventory.get(f"/stock/{code}")).raise_for_status()
    except httpx2.HTTPError as error:
        raise Retry(f"the inventory system: {error or type(error).__name__}") from error
    written = await business.refreshed(app.state.pool, code, answer.json()["quantity"], call.idempotency_key)
    return None if written else Declined("it was written before, or is sold no more")


app = Starlette(
    lifespan=lifespan,
    routes=[
        Route("/products/{code}", product, methods=["PUT", "DELETE"]),
        Route(schedule.PATH, receiver.starlette(refresh), methods=["POST"]),
    ],
)
