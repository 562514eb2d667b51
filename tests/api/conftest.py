"""An application over two fresh cells, and keys of every role in two tenants."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import httpx2
import pytest
from fastapi import FastAPI

from horae.api import gate, openapi
from horae.api.app import AppParts
from horae.boot.api_server import app_of
from horae.boot.senders import sender_of
from horae.domain.events.channels import Broker
from horae.domain.tenants.tenants import SYSTEM, Tenant
from horae.runtime.meter import Rate
from horae.runtime.settings import CellSettings, Settings
from horae.security.roles import Role
from horae.service.context import Context, PlatformContext
from horae.service.identity import api_keys
from horae.service.identity.callers import Callers
from horae.service.targets.trials import Trials
from horae.service.tenants import tenants
from horae.service.workers.polls import Polls
from horae.store.store import Store
from tests.api.one_document import documented
from tests.keyring import sealed
from tests.pgbouncer import connected, pooled, pooling
from tests.store.walls import as_role

Key = Callable[..., Awaitable[str]]
SECRET = "kV3mQ9xT7pLw2ZrB8nYc5HdJ4sGfAeUo"


@pytest.fixture(autouse=True, scope="session")
def one_document() -> Iterator[None]:
    """Every application here has its own document, most of which was made for the first of them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(openapi, "get_openapi", documented)
        yield


@pytest.fixture
def settings() -> Settings:
    return Settings(environment="test", api_secret=SECRET)


@pytest.fixture
async def door_cells(cells: list[CellSettings]) -> AsyncIterator[list[CellSettings]]:
    """The cells as an API process reaches them; through a pooler where `HORAE_TEST_POOLED` asks for it."""
    if "HORAE_TEST_POOLED" not in os.environ:
        yield as_role(cells, "horae_api")
        return
    with pooling(*(cell.dsn for cell in cells)) as pooler:
        through = pooled(cells, pooler)
        await connected(through[0].dsn)
        yield through


@pytest.fixture
async def doors(door_cells: list[CellSettings], store: Store) -> AsyncIterator[Store]:
    """The store as an API process opens it: with the role that the second wall holds.

    It goes by the clocks of the test's own: what is asked for now is due for whoever claims right after it.
    """
    async with Store.of(door_cells) as doors:
        for cell, own in zip(doors.cells, store.cells, strict=True):
            cell.clock = own.clock
        doors.brokers = {"main": Broker("kafka", ("*",))}
        yield sealed(doors)


@pytest.fixture
def callers(doors: Store) -> Callers:
    return Callers(doors)


@pytest.fixture
def app(settings: Settings, doors: Store, callers: Callers) -> FastAPI:
    return app_of(settings, doors, callers)


@pytest.fixture
async def whole(
    settings: Settings, store: Store, callers: Callers, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[FastAPI]:
    """An application that serves every route, however often it is asked, and tells strangers 401 every time."""
    monkeypatch.setattr(gate, "FAILURE_RATE", Rate(1e9, 1e9))
    free = settings.model_copy(update={"api_rate": 1e9, "api_burst": 1e9})
    trials = Trials(await sender_of(settings, store))
    yield app_of(free, store, callers, AppParts(trials, Polls(store)))
    await trials.close()


@pytest.fixture
async def anyone(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    """A client without a credential."""
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://horae.test") as client:
        yield client


@pytest.fixture
async def other(store: Store) -> Tenant:
    return await tenants.create(PlatformContext(store, "test"), "globex", width=16)


@pytest.fixture
def key(store: Store, tenant: Tenant) -> Key:
    """Makes keys: `await key(Role.VIEWER)`, of the test's tenant unless another is named."""

    async def make(*roles: Role, of: Tenant | None = None, **facts: object) -> str:
        ctx = Context.of(store, of or tenant, "test")
        name = str(facts.pop("name", "-".join(sorted(roles)) or "nobody"))
        return (await api_keys.create(ctx, name, roles, **facts)).text

    return make


Client = Callable[..., Awaitable[httpx2.AsyncClient]]


@pytest.fixture
async def client(app: FastAPI, key: Key) -> AsyncIterator[Client]:
    """Makes clients: `await client(Role.EDITOR)`."""
    made: list[httpx2.AsyncClient] = []

    async def make(*roles: Role, of: Tenant | None = None, **facts: object) -> httpx2.AsyncClient:
        headers = {"Authorization": f"Bearer {await key(*roles, of=of, **facts)}"}
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        made.append(httpx2.AsyncClient(transport=transport, base_url="http://horae.test/api/v1", headers=headers))
        return made[-1]

    yield make
    for one in made:
        await one.aclose()


@pytest.fixture
async def admin(client: Client) -> httpx2.AsyncClient:
    return await client(Role.ADMIN)


@pytest.fixture
async def platform(store: Store, client: Client) -> httpx2.AsyncClient:
    """An admin of the platform."""
    return await client(Role.ADMIN, of=await tenants.create(PlatformContext(store, "test"), SYSTEM, width=1))
