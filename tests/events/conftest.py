from pathlib import Path

import pytest

from tests.events.brokers import JARS, Kafka, running

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """All in one process, so that each broker is started once."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.xdist_group("brokers"))


@pytest.fixture(scope="session")
def brokers():
    """All of them, started at once: who needs one waits for its own."""
    if not list(JARS.glob("ready-*")):
        pytest.skip("tools/kafka fetch has not been run")
    with running(Kafka) as kafka:
        yield {"kafka": kafka}


@pytest.fixture
def kafka(brokers):
    broker = brokers["kafka"]
    broker.await_ready()
    return broker
