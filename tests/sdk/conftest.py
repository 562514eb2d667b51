"""One server for all tests of the SDK, and a tenant of its own for each."""

from collections.abc import Iterator

import pytest

from horae_client import Client
from tests.cluster import Cluster
from tests.sdk.databases import Database, Make, mariadb, postgresql
from tests.sdk.served import Home, Served, served_on


@pytest.fixture(scope="package")
def served(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served_on(cluster, tmp_path_factory.mktemp("sdk")) as served:
        yield served


@pytest.fixture
def home(served: Served) -> Home:
    return served.home()


@pytest.fixture
def client(home: Home) -> Iterator[Client]:
    with Client(home.url, home.key) as client:
        yield client


@pytest.fixture(scope="package")
def databases(cluster: Cluster) -> Iterator[dict[str, Make]]:
    with mariadb() as made:
        yield {"postgresql": postgresql(cluster), "mysql": made}


@pytest.fixture(params=["postgresql", "mysql"])
def database(request: pytest.FixtureRequest, databases: dict[str, Make]) -> Database:
    return databases[request.param]()
