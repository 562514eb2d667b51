"""Reads the pulse of one cell and prompts the duties that may have something to do.

Most duties look at tables that are nearly always empty. One statement answers for all of them, every second while
something goes on and every two seconds otherwise; a duty without a reason asks nothing. The argument:

1. A sign that is true prompts its duty at every pulse, so the duty works as if it looked by itself.
2. A sign that changed prompts its duty once more, so the duty sees the end of what it worked on.
3. Changes are counted from 30 s before the last pulse that was answered: a transaction that committed late is seen.
4. Where the pulse cannot be read nothing is known, and every duty is prompted.
5. Every duty also runs after the safety period, whatever the pulse says.
"""

from collections import defaultdict
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from horae.store import pulses
from horae.store.cells import Cell
from horae.store.pulses import Reading, Sign

SLACK: Final = timedelta(seconds=30)
"""A change may be committed so long after the time it bears."""
BY_CHANGE: Final = {Sign.HELD_TENANTS, Sign.ROWS_WRITTEN}
"""Signs without a yes or no: their duties are prompted when the value is another than before."""
ACTIVE: Final = frozenset(Sign).difference(BY_CHANGE)


class Pulse:
    """A duty of every second. While nothing goes on it passes every other turn over."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.relayed_from: Callable[[], int] = lambda: 0
        self._prompts: dict[Sign, list[Callable[[], None]]] = defaultdict(list)
        self._before: Reading = {}
        self._read_at: datetime | None = None
        self._passes = False

    def on(self, sign: Sign, prompt: Callable[[], None]) -> None:
        """Call this when a sign gives reason to."""
        self._prompts[sign].append(prompt)

    def prompt_all(self) -> None:
        """Nothing is known, or shards were gained: everyone looks for himself."""
        for prompts in self._prompts.values():
            for prompt in prompts:
                prompt()

    async def once(self) -> int:
        """Read the signs and prompt whom they concern; returns 0."""
        if self._passes:
            self._passes = False
            return 0
        try:
            reading = await self._read()
        except BaseException:
            self.prompt_all()
            raise
        for sign, value in reading.items():
            if self._concerns(sign, value):
                for prompt in self._prompts[sign]:
                    prompt()
        self._before = reading
        self._passes = not any(reading[sign] for sign in ACTIVE)
        return 0

    async def _read(self) -> Reading:
        async with self.cell.statement() as tx:
            reading = await pulses.read(tx, (self._read_at or tx.now) - SLACK, self.relayed_from())
            self._read_at = tx.now
        return reading

    def _concerns(self, sign: Sign, value: bool | int | str | None) -> bool:
        if sign in BY_CHANGE:
            return value is None or self._before.get(sign) != value
        return bool(value) or bool(self._before.get(sign))
