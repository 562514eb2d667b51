"""The service: people propose, reserve and approve; Horae calls two hooks. `uvicorn exhibitions.web:app`

EXHIBITIONS_DSN, EXHIBITIONS_URL (where Horae finds us) and EXHIBITIONS_SECRET (whsec_…) say what is ours, HORAE_URL
and HORAE_KEY where Horae is.
"""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

from horae_client import Client, Declined, outbox, receive
from horae_client.receive import Call, Receiver

from . import business, schedule

DSN = os.environ["EXHIBITIONS_DSN"]
SCHEMA = Path(__file__).with_name("schema.sql")


def connect() -> psycopg.Connection:
    """A connection; `with connect() as connection:` is a transaction."""
    return psycopg.connect(DSN)


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    """Tables, types, and the relay that forwards what was committed."""
    with connect() as connection:
        for statements in (SCHEMA.read_text(), outbox.ddl("postgresql"), receive.ddl("postgresql")):
            connection.execute(statements)
    with Client() as client:
        schedule.declare(client, os.environ["EXHIBITIONS_URL"], os.environ["EXHIBITIONS_SECRET"])
    with outbox.Relay(connect):
        yield


app = FastAPI(title="Exhibitions", lifespan=lifespan)
receiver = Receiver(os.environ["EXHIBITIONS_SECRET"])


class NewExhibition(BaseModel):
    """What is proposed."""

    title: str
    registration_start: datetime


@app.post("/exhibitions", status_code=201)
def propose(asked: NewExhibition) -> dict[str, Any]:
    """A new exhibition."""
    with connect() as connection:
        return {"id": business.propose(connection, asked.title, asked.registration_start)}


@app.post("/exhibitions/{exhibition}/reservations/{visitor}", status_code=204)
def reserve(exhibition: int, visitor: str) -> None:
    """A visitor is interested."""
    with connect() as connection:
        business.reserve(connection, exhibition, visitor)


@app.post("/exhibitions/{exhibition}/approve")
def approve(exhibition: int) -> dict[str, Any]:
    """Somebody approves it."""
    with connect() as connection:
        hour = business.approve(connection, exhibition)
    if hour is None:
        raise HTTPException(409, "it is not waiting for approval")
    outbox.wake()  # after the commit, and as often as one likes: many wakes are one look of the relay
    return {"id": exhibition, "registration_start": hour}


def hook(step: Callable[[psycopg.Connection, int], object]) -> Any:
    """A route that Horae calls: the step takes effect once per idempotency key, in one transaction with it."""

    def in_transaction(connection: psycopg.Connection, call: Call) -> Any:
        return {"done": done} if (done := step(connection, int(call.key or 0))) else Declined("there is nothing to do")

    once = receive.effective_once(connect, in_transaction)

    def handle(call: Call) -> Any:
        said = once(call)
        outbox.wake()
        return said

    return receiver.starlette(handle)


app.add_route(schedule.PATHS[business.START_ENROLLING], hook(business.start_enrolling), methods=["POST"])
app.add_route(schedule.PATHS[business.NOTIFY_RESERVATIONS], hook(business.notify_reservations), methods=["POST"])
