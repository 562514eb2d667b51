"""Which of the attempts that workers speak of are theirs to speak of.

The row's own token never leaves the database; what a worker shows is its keyed digest. An old, a forged and another
tenant's token are all answered the same way, and counted.
"""

from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from horae.domain.errors import ShardClosed
from horae.domain.ids import shard_in
from horae.domain.tokens import proves
from horae.domain.workers import Finish, Held
from horae.runtime.telemetry import count
from horae.service.context import Context
from horae.store import workers
from horae.store.cells import Cell
from horae.store.tx import Tx
from horae.store.workers import Running

Spoken = TypeVar("Spoken", Held, Finish)


class Proof(NamedTuple, Generic[Spoken]):
    """Those whose token is right, with their rows, and those that were refused."""

    proven: dict[Spoken, Running]
    refused: list[Spoken]


async def prove(ctx: Context, tx: Tx, spoken: Sequence[Spoken]) -> Proof[Spoken]:
    """Compare each token with its row's. What is neither proven nor refused lies in a shard that is moving."""
    found = await workers.held(tx, ctx.tenant.id, {one.instance_id for one in spoken})
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
    """What came too late, or with a token that is not its own."""
    count("worker.refused", many, tenant=ctx.tenant.name)


def by_cell(ctx: Context, spoken: Iterable[Spoken]) -> dict[Cell, list[Spoken]]:
    """What was spoken of, by the cell that holds it; what no cell holds is left out."""
    found: dict[Cell, list[Spoken]] = {}
    for one in spoken:
        try:
            cell = ctx.store.cell(shard_in(one.instance_id))
        except ShardClosed:
            continue
        found.setdefault(cell, []).append(one)
    return found


def _matches(one: Held | Finish, running: Running) -> bool:
    ran = running.ran
    assert ran.token is not None, "what runs has a token"
    return one.attempt == ran.attempt and proves(one.token, ran.id, ran.attempt, ran.token)
