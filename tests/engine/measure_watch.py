"""Nodes with the duties that judge and read measures, minute by minute."""

from contextlib import asynccontextmanager
from datetime import timedelta

from horae.domain.measures.measures import MeasureLines
from horae.upkeep.measures import MeasureJudge, MeasureReader
from horae.upkeep.signals import Signaller
from tests.nodes import node_in
from tests.steps import move_clock

MINUTE = 60.0
LINES = MeasureLines(dlq_growth_per_min=20)


@asynccontextmanager
async def a_node(store):
    """A node that holds every shard and works when it is asked to."""
    node = node_in(store, "n", timedelta(hours=8))
    try:
        await node.drain()
        yield node
    finally:
        await node.leave()


class Watch:
    """The duties of one node that judge and read measures; a round is one minute."""

    def __init__(self, store, node, lines=LINES, take_load=lambda: None):
        self.store = store
        self.signaller = Signaller(store, node.identity.incarnation, take_load)
        self.judge = MeasureJudge(store, lambda: True, lines)
        self.reader = MeasureReader(store, node.follow_measures)

    async def minute(self):
        """Write what was counted, let the minute end, judge it, and let the node know."""
        await self.signaller.once()
        await move_clock(self.store, seconds=MINUTE)
        await self.judge.once()
        await self.reader.once()

    @property
    def in_force(self):
        return self.store.cells[0].measures.in_force

    def actions(self, tenant_id):
        return self.in_force.actions(tenant_id)
