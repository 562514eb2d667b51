"""A business of its own: a database with articles, and an API that lists them."""

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import asyncpg
import msgspec

from horae.delivery.client import Client
from horae.delivery.push import Sender
from horae.delivery.secrets import secrets_in_memory
from horae.domain.targets.egress import Egress
from horae.store.store import Store
from horae.upkeep.reconciler import Reconciler
from tests.cluster import Cluster
from tests.egress import ANYWHERE

STATEMENT = """select id as key, publish_at as at, version, payload from article
               where pending and id > $1 order by id limit $2"""
TABLE = """create table article (id text collate "C" primary key, publish_at timestamptz not null,
                                 version bigint, payload jsonb, pending boolean not null default true)"""


class Shop:
    """Its database, and how it is reached."""

    def __init__(self, dsn: str, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        self.dsn = f"{dsn}?sslmode=disable"
        self.connection = connection

    async def run(self, text: str, *args: object) -> None:
        await self.connection.execute(text, *args)


@asynccontextmanager
async def shopping(cluster: Cluster) -> AsyncIterator[Shop]:
    """A table beside the cells, in a database that is there anyway."""
    connection = await asyncpg.connect(cluster.dsn("postgres"))
    await connection.execute("drop table if exists article")
    await connection.execute(TABLE)
    try:
        yield Shop(cluster.dsn("postgres"), connection)
    finally:
        await connection.execute("drop table article")
        await connection.close()


@asynccontextmanager
async def reconciling(
    store: Store, secrets: dict[Any, dict[str, str]], egress: Egress = ANYWHERE, held: Any = None
) -> AsyncIterator[Reconciler]:
    client = Client(egress)
    reconciler = Reconciler(store, held or store.shards_of, Sender(client, secrets_in_memory(secrets)), egress)
    try:
        yield reconciler
    finally:
        await reconciler.close()
        await client.close()


class Lister:
    """What an API lists, and how it was asked. `pages` makes the answer of each request."""

    def __init__(self) -> None:
        self.items: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[bytes] = []
        self.status = 200
        self.shuffled = False
        self.url = ""

    def page(self, body: dict[str, Any]) -> dict[str, Any]:
        first = int(body["cursor"] or 0)
        last = first + body["limit"]
        items = self.items[first:last]
        return {
            "items": items[::-1] if self.shuffled else items,
            "next": str(last) if last < len(self.items) else None,
        }


@contextmanager
def listing() -> Iterator[Lister]:
    lister = Lister()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            lister.bodies.append(body)
            lister.asked.append(msgspec.json.decode(body))
            lister.headers.append({name.lower(): value for name, value in self.headers.items()})
            answer = msgspec.json.encode(lister.page(lister.asked[-1]))
            self.send_response(lister.status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    lister.url = f"http://127.0.0.1:{server.server_port}/pending"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield lister
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
