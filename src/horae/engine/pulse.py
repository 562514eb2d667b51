"""Reads the pulse of one cell, and prompts the duties that may have work.

Most duties look at tables that are nearly always empty. One statement reads a sign for each of them: every second while
a sign is set, otherwise every two seconds. A duty without a prompt sends no statement. The argument:

1. A sign that is set prompts its duty at every pulse, so the duty works as if it looked by itself.
2. A sign that is no longer set prompts its duty once more, so the duty sees the end of its work.
3. Changes count from 30 s before the last pulse that was answered, so a transaction that committed late is seen.
4. If the pulse cannot be read, every duty is prompted.
5. Every duty also runs once in a safety period, whatever the pulse says.
"""

from collections import defaultdict
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from horae.store.cells import Cell
from horae.store.nodes import pulses
from horae.store.nodes.pulses import Reading, Sign

LATE_COMMIT_SLACK: Final = timedelta(seconds=30)
"""How long after its own timestamp a change may be committed."""
BY_CHANGE: Final = {Sign.HELD_TENANTS, Sign.ROWS_WRITTEN}
"""Signs that are not yes or no: their duties are prompted when the value changes."""
ACTIVE: Final = frozenset(Sign).difference(BY_CHANGE)


class Pulse:
    """A duty of every second. While no sign is set it skips every other round.

    `relayed_from` returns the transaction from which on requests for tasks are still to be relayed.
    """

    def __init__(self, cell: Cell, relayed_from: Callable[[], int] = lambda: 0) -> None:
        self.cell = cell
        self.relayed_from = relayed_from
        self._prompts: dict[Sign, list[Callable[[], None]]] = defaultdict(list)
        self._before: Reading = {}
        self._read_at: datetime | None = None
        self._passes = False

    def on(self, sign: Sign, prompt: Callable[[], None]) -> None:
        """Register a callback for a sign."""
        self._prompts[sign].append(prompt)

    def prompt(self, sign: Sign) -> None:
        """Prompt the duties of one sign: this process has just made work for them."""
        for prompt in self._prompts[sign]:
            prompt()

    def prompt_all(self) -> None:
        """Prompt every duty: the pulse could not be read, or shards were gained."""
        for prompts in self._prompts.values():
            for prompt in prompts:
                prompt()

    async def once(self) -> int:
        """Read the signs and prompt their duties; returns 0."""
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
            reading = await pulses.read(tx, (self._read_at or tx.now) - LATE_COMMIT_SLACK, self.relayed_from())
            self._read_at = tx.now
        return reading

    def _concerns(self, sign: Sign, value: bool | int | str | None) -> bool:
        if sign in BY_CHANGE:
            return value is None or self._before.get(sign) != value
        return bool(value) or bool(self._before.get(sign))
