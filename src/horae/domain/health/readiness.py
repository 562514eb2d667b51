"""Whether a process makes progress, and in which cells."""

from collections.abc import Sequence
from typing import Final, NamedTuple

MAX_LOOP_SILENCE_S: Final = 5.0
"""Seconds without a turn of the event loop after which a process is not ready."""
MAX_LOOP_DEATH_S: Final = 60.0
"""Seconds without a turn of the event loop after which only a restart helps."""


class CellState(NamedTuple):
    """Why a process makes no progress in a cell; None where it does.

    `restart_helps`: the cell answers, so the reason is in the process.
    """

    cell: str
    trouble: str | None
    restart_helps: bool = False


class ReadyState(NamedTuple):
    """Whether a process is ready; `degraded`: not in all cells. `reasons` says why not."""

    ready: bool
    degraded: bool
    reasons: list[str]


def is_alive(loop_silence_s: float) -> bool:
    """Whether the process is alive. A database that is down is no reason to restart anything."""
    return loop_silence_s <= MAX_LOOP_DEATH_S


def needs_restart(cells: Sequence[CellState]) -> bool:
    """Whether a process makes no progress in any cell, and in at least one of them for a reason of its own."""
    return all(cell.trouble is not None for cell in cells) and any(cell.restart_helps for cell in cells)


def ready_state(cells: Sequence[CellState], loop_silence_s: float) -> ReadyState:
    """A process is ready while its loop turns and it makes progress in at least one cell."""
    lost = [cell for cell in cells if cell.trouble is not None]
    reasons = [f"{cell.cell}: {cell.trouble}" for cell in lost]
    blocked = loop_silence_s > MAX_LOOP_SILENCE_S
    if blocked:
        reasons.insert(0, f"the event loop has not turned for {loop_silence_s:.0f} s")
    return ReadyState(not blocked and len(lost) < len(cells), bool(lost) or blocked, reasons)
