"""An outside service hears heartbeats while Horae as a whole makes progress, and silence otherwise."""

from signal import SIGCONT, SIGSTOP

import pytest

from horae.delivery.signing import keys_of, sign
from tests.cell_down import first_behind, mended_proxy
from tests.receiver import receiving
from tests.steps import query, until
from tests.system.children import Child

pytestmark = pytest.mark.timeout(240)
LONG = 60.0
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NO_NODE = "select not exists (select from node where expires_at > clock_timestamp()) as nobody"


@pytest.fixture
def receiver():
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def nodes(started, receiver):
    """Starts nodes that beat every second."""

    def start(cells, many=1, **settings):
        told = {
            "HORAE_LEASE_TTL": "2",
            "HORAE_NODE_MONITORING_PORT": "0",
            "HORAE_HEARTBEAT_URL": f"{receiver.url}/beat",
            "HORAE_HEARTBEAT_INTERVAL": "1",
        }
        return [started(Child, cells, "node", number=str(n), **(told | settings)) for n in range(many)]

    return start


async def beats(receiver, more=2):
    """Wait for some more heartbeats."""
    seen = len(receiver.calls)
    await until(lambda: len(receiver.calls) >= seen + more, LONG)


async def test_it_beats_signed_while_all_is_well(cells, nodes, receiver):
    nodes(cells, HORAE_HEARTBEAT_SECRET=SECRET)
    await beats(receiver)
    assert (receiver.calls[0]["type"], receiver.calls[0]["cells"]) == ("horae.heartbeat", 2)
    headers = receiver.headers[0]
    assert headers["webhook-signature"].startswith("v1,")
    assert len(sign(keys_of(SECRET), headers["webhook-id"], int(headers["webhook-timestamp"]), b"")) == len(
        headers["webhook-signature"]
    )


async def test_two_nodes_beat_as_one_and_silence_means_that_both_are_frozen(cells, store, nodes, receiver):
    first, second = nodes(cells, 2)
    await beats(receiver)
    first.signal(SIGSTOP)
    try:
        await until(lambda: _has_one_node(store), LONG)
        await beats(receiver)  # the other one goes on
        second.signal(SIGSTOP)
        await until(lambda: _has_no_node(store), LONG)
        heard = len(receiver.calls)
    finally:
        second.signal(SIGCONT)
        assert len(receiver.calls) == heard
        first.signal(SIGCONT)
    await beats(receiver)
    ids = [one["webhook-id"] for one in receiver.headers]
    assert len(set(ids)) == len(ids)


async def test_no_beat_while_a_cell_is_gone_and_again_after(cells, nodes, receiver):
    """One of two cells that is gone is enough: what is due there does not fire."""
    with mended_proxy(cells) as proxy:
        [node] = nodes(first_behind(cells, proxy))
        await beats(receiver)
        start = len(node.log.read_text())  # a node that starts may say that nobody holds the shards yet

        def said() -> str:
            return node.log.read_text()[start:]

        proxy.cut()
        await until(lambda: "heartbeat.withheld" in said(), LONG)
        proxy.mend()
        await beats(receiver)
        await until(lambda: "heartbeat.resumed" in said(), LONG)
        assert said().count("heartbeat.withheld") == 1, "once per change"


async def test_a_service_that_refuses_is_logged_once_and_tried_again(cells, nodes, receiver):
    receiver.answers["/beat"] = [503, 503, 503]
    [node] = nodes(cells)
    await until(lambda: len(receiver.calls) >= 5, LONG)
    await until(lambda: "heartbeat.resumed" in node.log.read_text(), LONG)
    assert node.log.read_text().count("heartbeat.withheld") == 1


async def _has_one_node(store):
    rows = await query(store, "select count(*) as many from node where expires_at > clock_timestamp()")
    return all(row["many"] == 1 for row in rows)


async def _has_no_node(store):
    return all(row["nobody"] for row in await query(store, NO_NODE))
