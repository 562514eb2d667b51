"""The steps of a move: how a shard gets from one cell to another.

The step of a move is what is to be done next:

1. `COPY`: copy the rows page by page while the shard is active, until few rows differ.
2. `FREEZE`: close the shard in the source. From here on nothing can be written to it.
3. `WAIT`: wait for every transaction that began to write before the freeze.
4. `CATCH_UP`: copy the rows that changed since they were copied, and delete those that are gone.
5. `COMPARE`: compare the keys of all rows, and compare the rows that changed again, in both cells.
6. `ACTIVATE`: open the shard in the target, then record in the source that it has left.
7. `DELETE`: delete the rows in the source, after every process knows the new cell.

A move that is aborted before the target is active opens the shard in the source again, and then deletes what the target
has (`CLEAN`).
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID


class MoveStep(StrEnum):
    """What is to be done next in a move, or how it ended."""

    COPY = "COPY"
    FREEZE = "FREEZE"
    WAIT = "WAIT"
    CATCH_UP = "CATCH_UP"
    COMPARE = "COMPARE"
    ACTIVATE = "ACTIVATE"
    DELETE = "DELETE"
    DONE = "DONE"
    CLEAN = "CLEAN"
    ABORTED = "ABORTED"


ENDED: Final = frozenset({MoveStep.DONE, MoveStep.ABORTED})
FROZEN: Final = frozenset({MoveStep.WAIT, MoveStep.CATCH_UP, MoveStep.COMPARE})
"""Steps in which the shard is closed in the source and cannot be active in the target."""
CLOSED: Final = FROZEN | {MoveStep.ACTIVATE}
"""Steps in which the shard is closed in the source."""
ABORTABLE: Final = frozenset({MoveStep.COPY, MoveStep.FREEZE, MoveStep.ACTIVATE}) | FROZEN
"""Steps in which an abort may still succeed. At `ACTIVATE` the target decides: an active shard stays there."""
MAX_PAUSE: Final = timedelta(seconds=5)
"""A shard that is closed for longer is opened again in the source, and the move goes on later."""
WIDEST_PAUSE: Final = timedelta(seconds=60)
"""A coordinator that had to open a shard again closes it for twice as long the next time, but never for longer."""
ROWS_KEPT: Final = timedelta(seconds=10)
"""How long the source keeps the rows of a shard that has left: longer than any process needs to learn where it is."""


class Move(NamedTuple):
    """One move of a shard out of a cell."""

    id: UUID
    shard: int
    target: str
    step: MoveStep
    requested_by: str
    requested_at: datetime
    changed_at: datetime
    frozen_at: datetime | None = None
    left_at: datetime | None = None
    ended_at: datetime | None = None
    source_epoch: int | None = None
    target_epoch: int | None = None
    rows_copied: int = 0
    pause_ms: int | None = None
    coordinator: UUID | None = None
    abort_requested: bool = False
    error: str | None = None

    @property
    def must_abort(self) -> bool:
        """Whether somebody asked to abort the move, and it can still be aborted."""
        return self.abort_requested and self.step in ABORTABLE
