"""Checks that a worker holds the attempts it reports.

The token of the row never leaves the database; a worker presents a keyed digest of it. An old token, a forged one and
one of another tenant are all refused in the same way, and counted.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from horae.domain.errors import ShardClosed, Unavailable
from horae.domain.ids import shard_in
from horae.domain.instances.logs import LogBatch
from horae.domain.workers.completion_tokens import is_completion_token
from horae.domain.workers.workers import Finish, Heartbeat
from horae.runtime.telemetry import count
from horae.service.context import Context
from horae.store.connections.each_cell import UNSERVED
from horae.store.protocol import CellProtocol
from horae.store.tx import TRY_AGAIN, Tx
from horae.store.workers import workers
from horae.store.workers.workers import RunningAttempt

Spoken = TypeVar("Spoken", Heartbeat, Finish, LogBatch)
NOT_NOW: Final[tuple[type[Exception], ...]] = (Unavailable, *UNSERVED, *TRY_AGAIN)
"""Errors of a cell that cannot take reports now. Those of other cells are taken all the same."""


class Proof(NamedTuple, Generic[Spoken]):
    """The reports whose token is valid, with their rows, and the refused ones."""

    proven: dict[Spoken, RunningAttempt]
    refused: list[Spoken]


async def prove(ctx: Context, tx: Tx, spoken: Sequence[Spoken]) -> Proof[Spoken]:
    """Compare each token with that of its row. A report in a moving shard is neither proven nor refused."""
    found = await workers.find_attempts(tx, ctx.tenant.id, {one.instance_id for one in spoken})
    proof: Proof[Spoken] = Proof({}, [])
    for one in spoken:
        running, is_open = found[one.instance_id]
        if not is_open:
            continue
        if running is not None and _matches(one, running):
            proof.proven[one] = running
        else:
            proof.refused.append(one)
    count_refused(ctx, len(proof.refused))
    return proof


def count_refused(ctx: Context, many: int) -> None:
    """Count reports that came too late or with a wrong token."""
    count("worker.refused", many, tenant=ctx.tenant.name)


def by_cell(ctx: Context, spoken: Iterable[Spoken]) -> dict[CellProtocol, list[Spoken]]:
    """Group reports by the cell that holds their instance; a report whose shard no cell holds is left out."""
    found: dict[CellProtocol, list[Spoken]] = {}
    for one in spoken:
        try:
            cell = ctx.store.cell(shard_in(one.instance_id))
        except ShardClosed:
            continue
        found.setdefault(cell, []).append(one)
    return found


def _matches(one: Heartbeat | Finish | LogBatch, running: RunningAttempt) -> bool:
    ran = running.ran
    assert ran.token is not None, "what runs has a token"
    return one.attempt == ran.attempt and is_completion_token(one.token, ran.id, ran.attempt, ran.token)
