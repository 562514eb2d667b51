"""A private PostgreSQL per test process, and two fresh cells per test from a migrated template.

`HORAE_TEST_DSN` may point to a server that exists already; its user must be allowed to create databases.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator

import pytest
import structlog

from horae.domain.tenants.tenants import Tenant
from horae.runtime import telemetry
from horae.runtime.settings import CellSettings
from horae.service.context import Context, PlatformContext
from horae.service.tenants import tenants
from horae.store.connections.held_connections import watch
from horae.store.store import Store
from tests.cluster import Cluster, private_cluster
from tests.connections import SecondConnections
from tests.groups import pytest_xdist_make_scheduler  # noqa: F401
from tests.keyring import keyring, sealed
from tests.probes import NO_PROBES
from tests.stalls import unblocked
from tests.unsteady import pytest_addoption, pytest_sessionfinish, pytest_terminal_summary  # noqa: F401
from tests.wide import pytest_collection_modifyitems  # noqa: F401

telemetry.configure(as_json=False)  # unset, tracebacks are drawn with every local of every frame: slow
os.environ |= {  # for every process that a test starts; the settings file of this machine is none of theirs
    "HORAE_ENVIRONMENT": "test",
    "HORAE_CONFIG": os.devnull,
    "HORAE_KEYRING": str(keyring()),
    **NO_PROBES,
}


@pytest.fixture(autouse=True)
def logs_of_its_own() -> Iterator[None]:
    """A command that sets up logs for its process does so for its own test only."""
    settings = structlog.get_config()
    yield
    structlog.configure(**settings)


@pytest.fixture(autouse=True)
def one_connection_a_task() -> Iterator[None]:
    """F9: whoever holds a connection and asks for another one is refused; who swallows that is found here."""
    with watch(refused := SecondConnections()):
        yield
    assert not refused.stacks, refused.stacks[0]


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with private_cluster() as cluster:
        asyncio.run(cluster.make_template())
        yield cluster


@pytest.fixture
async def cells(cluster: Cluster) -> AsyncIterator[list[CellSettings]]:
    names = await cluster.make_cells(2)
    yield [CellSettings(name=f"cell-{number}", dsn=cluster.dsn(name)) for number, name in enumerate(names)]
    await cluster.drop(names)


@pytest.fixture
async def store(cells: list[CellSettings]) -> AsyncIterator[Store]:
    async with Store.of(cells) as store:
        with unblocked():
            yield sealed(store)


@pytest.fixture
async def tenant(store: Store) -> Tenant:
    return await tenants.create(PlatformContext(store, "test"), "acme", width=4096)


@pytest.fixture
def ctx(store: Store, tenant: Tenant) -> Context:
    return Context.of(store, tenant, "test")
