"""The product's leases without their thread: its keepers are tasks of the one virtual loop."""

import asyncio

from horae.engine.leases import Leases


class VirtualLeases(Leases):
    """A node that crashes or pauses takes its keeper with it."""

    async def start(self) -> None:
        self._loop = self._main = asyncio.get_running_loop()
        self._begin()
        await self._run_in_thread(self._wait_for_first_rounds(), self.identity.ttl.total_seconds())

    async def stop(self) -> None:
        await self._run_in_thread(self._end_keepers(), 0.9)
        await self._cancel_rounds()
        for keeper in self._keepers.values():
            keeper.drop_connection()
