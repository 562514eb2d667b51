"""The objects of a node are given to each other when they are made: none is completed afterwards."""

from horae.boot.secrets import secrets_of
from horae.boot.serving import run_node
from horae.runtime.settings import Settings
from horae.store.store import Store


async def test_the_parts_of_a_node_know_each_other(cells):
    settings = Settings(cells=cells, environment="test", grace=1, encryption="off")
    async with Store.of(cells) as store, run_node(settings, store, await secrets_of(settings, store)) as node:
        assert node.sender.egress_of == node.allowances.egress, "a tenant's own rules hold for its calls"
        assert node.sender.lines is not None, "topics are targets"
        for name, post in node.runners.items():
            assert post.agenda.on_room == node._looks[name].waker.wake
            assert node.pulses[name].relayed_from() >= 0
