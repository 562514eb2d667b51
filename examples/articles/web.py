"""The service: authors submit and change times; Horae audits, publishes and compares. `uvicorn articles.web:app`

ARTICLES_DSN, ARTICLES_URL (where Horae finds us), ARTICLES_SECRET (whsec_…) and AUDITOR_URL say what is ours, HORAE_URL
and HORAE_KEY where Horae is.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from fastapi import FastAPI, HTTPException
from pydantic import AwareDatetime, BaseModel

from horae_client import Client, Declined, Retry
from horae_client.models import Decision
from horae_client.receive import Call, Receiver

from . import business, schedule
from .business import Status, Wanted
from .database import Database

SCHEMA = Path(__file__).with_name("schema.sql")
AUDITOR_PATIENCE = 3.0  # less than Horae's own for us, so that we are the one who says what went wrong

database = Database(os.environ["ARTICLES_DSN"])
horae = Client()
auditor = httpx2.Client(base_url=os.environ["AUDITOR_URL"], timeout=AUDITOR_PATIENCE)
receiver = Receiver(os.environ["ARTICLES_SECRET"])


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    """Tables, types and sources."""
    with database.transaction() as connection:
        connection.execute(SCHEMA.read_text())
    schedule.declare(horae, os.environ["ARTICLES_URL"], os.environ["ARTICLES_SECRET"])
    yield


app = FastAPI(title="Articles", lifespan=lifespan)


class NewArticle(BaseModel):
    """What an author submits."""

    title: str
    body: str
    publish_time: AwareDatetime


class NewTime(BaseModel):
    """What an author wants instead."""

    publish_time: AwareDatetime


@app.post("/articles", status_code=201)
def submit(asked: NewArticle) -> dict[str, Any]:
    """A new article."""
    with database.transaction() as connection:
        wanted = business.submit(connection, asked.title, asked.body, asked.publish_time)
    return acknowledged(wanted, schedule.announce(horae, wanted))


@app.put("/articles/{article}/publish-time")
def change_time(article: str, asked: NewTime) -> dict[str, Any]:
    """Another time, at any moment. 409: it is published already, or will never be.

    `replaced`: the audit or the publication is under way this very moment. It is not called back; if the publication
    does not come to pass, the new time holds.
    """
    with database.transaction() as connection:
        wanted = business.change_time(connection, article, asked.publish_time)
    if wanted is None:
        raise HTTPException(409, "there is nothing left to change")
    return acknowledged(wanted, schedule.announce(horae, wanted))


def acknowledged(wanted: Wanted, decision: Decision) -> dict[str, Any]:
    """What the author is told. `stale` means that a source told Horae this very wish before us."""
    if decision.decision == "ignored" and decision.reason == "succeeded":
        raise HTTPException(409, "it was published meanwhile")
    return {
        "id": wanted.id,
        "version": wanted.version,
        "publish_time": wanted.publish_time,
        "decision": decision.decision,
    }


def ask_auditor(title: str, body: str) -> bool:
    """The third party's word, or a `Retry` where it has none."""
    try:
        answer = auditor.post("/audits", json={"title": title, "body": body}).raise_for_status()
    except httpx2.HTTPError as error:
        raise Retry(f"the auditor: {error or type(error).__name__}") from error
    return bool(answer.json()["passed"])


def audit(call: Call) -> Any:
    """Horae: audit this article. Called twice, after a timeout or a kill, it asks nobody a second time.

    Only an audit that succeeds starts a publication; one that was declined does not.
    """
    stands = business.audit(database, call.key or "", ask_auditor)
    if stands in {Status.AUDIT_SUCCESS, Status.PUBLISHED}:
        return {"verdict": Status.AUDIT_SUCCESS}
    return Declined("it will not be published")


def publish(call: Call) -> Any:
    """Horae: publish this article."""
    with database.transaction() as connection:
        stands = business.publish(connection, call.key or "")
    match stands:
        case Status.PUBLISHED:
            return {"status": stands}
        case Status.PENDING_AUDIT | Status.AUDIT_SUCCESS:  # put by somebody else's hand, before the audit succeeded
            raise Retry("it was not audited yet")
        case _:
            return Declined("it will not be published")


def pending(call: Call) -> dict[str, Any]:
    """Horae: which articles should have a task of this type? A page, in the order of ids."""
    asked = call.body
    with database.transaction() as connection:
        page = business.pending(connection, schedule.PENDING[asked["type"]], asked["cursor"] or "", asked["limit"])
    items = [{"key": one.id, "at": one.publish_time, "version": one.version} for one in page]
    return {"items": items, "next": page[-1].id if len(page) == asked["limit"] else None}


app.add_route("/hooks/audit", receiver.starlette(audit), methods=["POST"])
app.add_route("/hooks/publish", receiver.starlette(publish), methods=["POST"])
app.add_route("/hooks/pending", receiver.starlette(pending), methods=["POST"])
