"""Works out the failure causes of dead letters, and does the steps of paced replays."""

from collections.abc import Callable
from typing import Final

from horae.domain.ids import Prefix, public
from horae.domain.instances.paced_replays import PacedReplay
from horae.domain.measures.in_force import MeasuresInForce
from horae.domain.measures.measures import MeasureAction
from horae.runtime.telemetry import log
from horae.service.instances.paced_steps import do_step, record_failure
from horae.store.connections.each_cell import UNSERVED_OR_MOVING, Visits
from horae.store.instances import failure_causes, paced_replays
from horae.store.protocol import CellProtocol, StoreProtocol

DEAD_LETTERS_A_ROUND: Final = 500
"""Dead letters of a cell whose causes one round works out: some ten milliseconds."""
REPLAYS_A_ROUND: Final = 20
"""Paced replays of a cell that one round claims."""
WITHHOLDING: Final = (MeasureAction.CLOSE_BACKFILLS, MeasureAction.CORE_ONLY)
"""Actions of measures during which no replay is sent."""


class CauseSorter:
    """A duty: gives each open dead letter its failure cause, within seconds after its death."""

    def __init__(self, store: StoreProtocol) -> None:
        self.store = store
        self._visits = Visits("causesorter")

    async def once(self) -> int:
        """Visit each cell once. Returns how many dead letters were sorted: then there may be more."""
        return await self._visits.each(self.store.cells, self._sort)

    async def _sort(self, cell: CellProtocol) -> int:
        async with cell.statement() as tx:
            found = await failure_causes.unsorted(tx, DEAD_LETTERS_A_ROUND)
            if found:
                await failure_causes.sort(tx, found)
        return len(found)


class PacedReplayer:
    """A duty of every node. Who claims a replay does its next step; the claim lasts for one round of the pace.

    `in_force` returns the measures of a cell that are in force now.
    """

    def __init__(self, store: StoreProtocol, in_force: Callable[[CellProtocol], MeasuresInForce]) -> None:
        self.store, self._in_force = store, in_force
        self._visits = Visits("pacedreplayer", UNSERVED_OR_MOVING)

    async def once(self) -> int:
        """Do a step of every paced replay that is due. Returns how many are not just waiting."""
        return await self._visits.each(self.store.cells, self._replay)

    async def _replay(self, home: CellProtocol) -> int:
        claimed = await home.run(lambda tx: paced_replays.claim(tx, REPLAYS_A_ROUND))
        return sum([await self._try_step(home, one) for one in claimed])

    async def _try_step(self, home: CellProtocol, claimed: PacedReplay) -> int:
        """Do a step; one that fails must not stop those of other replays, which were claimed with it."""
        name = public(Prefix.PACED_REPLAY, claimed.id)
        try:
            return await self._step(home, claimed)
        except UNSERVED_OR_MOVING as error:
            if home.reach.is_down:
                raise  # no step can be noted
            log.warning("paced_replay.postponed", replay=name, reason=str(error) or type(error).__name__)
            return 0
        except Exception as error:
            log.exception("paced_replay.failed", replay=name)
            await record_failure(home, claimed, error)
            return 0

    async def _step(self, home: CellProtocol, claimed: PacedReplay) -> int:
        measure = self._in_force(home).cause_of(claimed.tenant_id, *WITHHOLDING)
        done = await do_step(self.store, home, claimed, None if measure is None else measure.name.value)
        if done.ended_at is not None:
            counts = done.progress._asdict()
            log.info("paced_replay.ended", replay=done.id, status=done.status, reason=done.ended_because, **counts)
        return int(done.waits_for is None)
