from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.events.brokers import JARS, RABBIT, ROCKET_JARS, Kafka, Nats, Rabbit, Rocket, running

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """The first to ask waits until its broker has started."""
    for item in items:
        if item.path.is_relative_to(HERE) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(300))


@pytest.fixture(scope="package")
def brokers():
    """All of them, started at once: who needs one waits for its own."""
    if not list(JARS.glob("ready-*")):
        pytest.skip("tools/kafka fetch has not been run")
    with ExitStack() as opened, ThreadPoolExecutor() as threads:
        kinds = [Kafka, Nats]
        kinds += [Rabbit] if RABBIT.exists() else []
        kinds += [Rocket] if list(ROCKET_JARS.glob("ready-*")) else []
        started = list(threads.map(lambda kind: opened.enter_context(running(kind)), kinds))
        yield {broker.kind: broker for broker in started}


def the(brokers, kind):
    if kind not in brokers:
        pytest.skip(f"{kind} is not installed")
    brokers[kind].await_ready()
    return brokers[kind]


@pytest.fixture
def kafka(brokers):
    return the(brokers, "kafka")


@pytest.fixture
def rabbit(brokers):
    return the(brokers, "rabbitmq")


@pytest.fixture
def rocket(brokers):
    return the(brokers, "rocketmq")


@pytest.fixture(params=["kafka", "nats", "rabbitmq", "rocketmq"])
def broker(brokers, request):
    return the(brokers, request.param)
