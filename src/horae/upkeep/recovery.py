"""Works on the open incident: the recovery that somebody has started, until it ends."""

from typing import Final
from uuid import UUID

from horae.domain.incidents.incidents import Incident
from horae.store.connections.each_cell import Visits
from horae.store.incidents import incidents
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.upkeep.recovery_steps import RecoveryCoordinator

INCIDENTS_A_ROUND: Final = 1
"""Incidents of a cell that one round works on: there is one at a time."""


class RecoveryExecutor:
    """A duty of every node. The lease in the record lets one node work on an incident.

    If that node is killed, another one goes on with the step that the record names.
    """

    def __init__(self, store: StoreProtocol, incarnation: UUID) -> None:
        self.store = store
        self._incarnation = incarnation
        self._coordinators: dict[UUID, RecoveryCoordinator] = {}
        self._visits = Visits("recoveryexecutor")

    async def once(self) -> int:
        """Work on every open incident. Returns how many steps were done."""
        return await self._visits.each(self.store.cells, self._recover)

    async def _recover(self, home: CellProtocol) -> int:
        async with home.statement() as tx:
            found = await incidents.unfinished(tx)
        left = {one.id for one in found}
        self._coordinators = {
            id_: one for id_, one in self._coordinators.items() if id_ in left or one.home is not home
        }
        return sum([await self._coordinator_of(home, one).run(one) for one in found[:INCIDENTS_A_ROUND]])

    def _coordinator_of(self, home: CellProtocol, incident: Incident) -> RecoveryCoordinator:
        if incident.id not in self._coordinators:
            self._coordinators[incident.id] = RecoveryCoordinator(self.store, home, self._incarnation)
        return self._coordinators[incident.id]
