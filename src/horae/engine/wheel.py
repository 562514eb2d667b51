"""A hierarchical timing wheel: `put` and `take` cost the same per item, however many items wait.

It has two rings. The fine ring has slots of 4 ms for the present round of 1.024 s. The coarse ring has one slot per
round, for the next two minutes. When the fine ring has gone round, the next coarse slot is spread over it. Items that
lie further ahead are put into the last coarse slot, and placed again when that slot is spread.
"""

from typing import Final, Generic, TypeVar

Item = TypeVar("Item")
TICK_MS: Final = 4
FINE: Final = 256
COARSE: Final = 128
ROUND_MS: Final = TICK_MS * FINE


class Wheel(Generic[Item]):
    """Items by their time in milliseconds. No item comes out early; a past one comes out at the next `take`."""

    def __init__(self, now_ms: int) -> None:
        self._tick = now_ms // TICK_MS
        self._fine: list[list[tuple[int, Item]]] = [[] for _ in range(FINE)]
        self._coarse: list[list[tuple[int, Item]]] = [[] for _ in range(COARSE)]
        self._fine_used = self._coarse_used = 0  # one bit per slot that holds something
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def put(self, at_ms: int, item: Item) -> None:
        """Add an item."""
        self._size += 1
        self._place(at_ms, item)

    def take(self, now_ms: int) -> list[Item]:
        """Remove and return the items whose time has come, in the order of their slots."""
        out: list[Item] = []
        last = max(now_ms // TICK_MS, self._tick)  # the clock may have gone back a little
        if last - self._tick > FINE * COARSE:
            self._jump(last)
        while self._tick <= last:
            if not self._fine_used:  # this round is empty: go to its end at once
                self._tick = min(last, self._tick | FINE - 1)
            slot = self._tick % FINE
            if self._fine_used >> slot & 1:
                late = self._empty(slot, now_ms, out)
                if late:
                    break  # the slot of the present moment keeps items that are a few milliseconds ahead
            if self._tick == last:
                break
            self._tick += 1
            if self._tick % FINE == 0:
                self._cascade()
        self._size -= len(out)
        return out

    def next_ms(self) -> int | None:
        """When to call `take` again, not later than the time of the next item; None if there is no item."""
        slot = self._tick % FINE
        ahead = self._fine_used >> slot
        if ahead:
            steps = (ahead & -ahead).bit_length() - 1
            return (self._tick + steps) * TICK_MS if steps else min(at_ms for at_ms, _ in self._fine[slot])
        if not self._size:
            return None
        return (self._tick // FINE + 1) * ROUND_MS

    def soon(self) -> list[Item]:
        """The items of the next round (about a second), so that the caller can prepare for them."""
        return [item for _, item in self._coarse[(self._tick // FINE + 1) % COARSE]]

    def _place(self, at_ms: int, item: Item) -> None:
        tick = max(at_ms // TICK_MS, self._tick)
        rounds = tick // FINE - self._tick // FINE
        if rounds == 0:
            slot = tick % FINE
            self._fine[slot].append((at_ms, item))
            self._fine_used |= 1 << slot
        else:
            slot = (self._tick // FINE + min(rounds, COARSE - 1)) % COARSE
            self._coarse[slot].append((at_ms, item))
            self._coarse_used |= 1 << slot

    def _jump(self, tick: int) -> None:
        """Go to a tick far ahead (the clock was moved, or the machine slept) by placing every item once."""
        waiting = [entry for ring in (self._fine, self._coarse) for slot in ring for entry in slot]
        self._fine, self._coarse = [[] for _ in range(FINE)], [[] for _ in range(COARSE)]
        self._fine_used = self._coarse_used = 0
        self._tick = tick
        for at_ms, item in sorted(waiting, key=lambda entry: entry[0]):
            self._place(at_ms, item)

    def _cascade(self) -> None:
        slot = self._tick // FINE % COARSE
        if self._coarse_used >> slot & 1:
            waiting, self._coarse[slot] = self._coarse[slot], []
            self._coarse_used &= ~(1 << slot)
            end_ms, fine = self._tick * TICK_MS + ROUND_MS, self._fine
            for entry in waiting:
                if entry[0] < end_ms:
                    fine[entry[0] // TICK_MS % FINE].append(entry)
                else:
                    self._place(*entry)
            self._fine_used = sum(1 << used for used, entries in enumerate(fine) if entries)

    def _empty(self, slot: int, now_ms: int, out: list[Item]) -> bool:
        waiting = self._fine[slot]
        ahead = [entry for entry in waiting if entry[0] > now_ms]
        out += [item for at_ms, item in waiting if at_ms <= now_ms] if ahead else [item for _, item in waiting]
        self._fine[slot] = ahead
        if not ahead:
            self._fine_used &= ~(1 << slot)
        return bool(ahead)
