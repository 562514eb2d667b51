"""Vacuums the hot tables of every cell, so that it also holds where the server's autovacuum is not ours to tune."""

from horae.store import vacuum
from horae.store.cells import Store


class Vacuumer:
    """The live table at every round, the cursors at every twentieth: they are larger and die more slowly."""

    CURSORS_EVERY = 20

    def __init__(self, store: Store) -> None:
        self.store = store
        self.rounds = 0

    async def once(self) -> int:
        """Every cell once; nothing waits for more at once, so it says zero."""
        for cell in self.store.cells:
            async with cell.direct() as connection:
                await vacuum.live(connection)
                if self.rounds % self.CURSORS_EVERY == 0:
                    await vacuum.cursors(connection)
        self.rounds += 1
        return 0
