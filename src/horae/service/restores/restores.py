"""Opens a restored cell so that nothing of its past takes effect again, and decides about doubts.

Opening is one transaction in the restored cell, after every other cell has heard of the new generation: from then on
the database that was replaced is of the past, wherever it comes back. A command that is interrupted between them is
repeated; it then takes the next generation.
"""

from collections.abc import Collection, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from horae.domain.errors import Conflict, NotFound
from horae.domain.restores.doubts import Doubt, DoubtKind
from horae.domain.restores.shards import first_change
from horae.domain.tenants.tenants import TenantStatus
from horae.runtime.randomness import new_id
from horae.service.audit.audit import record_rescue
from horae.service.context import CallerContext
from horae.service.restores.plans import RestorePlan, examine_shards, find_cells
from horae.service.tenants import tenants
from horae.store.cells import Cell, use_json
from horae.store.protocol import CellProtocol
from horae.store.restores import contents, doubts, generations
from horae.store.restores.doubts import DoubtRow
from horae.store.tenants import tenants as tenant_rows
from horae.store.tx import Tx

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

OPENED: Final = "cell.opened"
CONFIRMED: Final = "cell.confirmed"
DECIDED: Final = "cell.doubt_decided"
OPENING_TIMEOUT_S: Final = 600.0
"""How long one statement of an opening may take: it changes every reference row of a cell."""


class OpenedCell(NamedTuple):
    """What opening a cell did."""

    cell: str
    generation: int
    sessions_ended: int
    sources_asked: int
    moves_aborted: int
    shards_left: int
    rows_adopted: int
    doubts: int


async def open_cell(
    ctx: CallerContext, found: RestorePlan, reason: str, trusted: Collection[DoubtKind] = ()
) -> OpenedCell:
    """Open a restored cell as its plan says. Kinds in `trusted` are not shut: a person vouches for them.

    1. Every other cell hears of the new generation. A process that still works with the old database closes it. Moves
       into the restored cell are aborted: the rows that they have copied may be lost.
    2. In the restored cell, in one transaction: epochs jump and nodes are forgotten, so that leases and results of the
       lost history find nothing.
    3. Shards that another cell holds by now are left to it, also if they are on their way out of it; moves that the
       backup shows half done are aborted. The opening is refused if another cell has got or lost one since the plan.
    4. Sessions end. Newer copies of other cells are taken over. What is in doubt is shut and written down.
    5. Reference rows get versions above those of all copies, and every source begins a round.
    6. The generation and the server are recorded: from this commit on processes are admitted.

    Fires that came due meanwhile are made by the nodes, by the misfire policy of each job.
    """
    if found.shards.lost:
        raise Conflict(
            f"{len(found.shards.lost)} shards moved to {found.cell} after the target of the restore, and no cell holds "
            f"them: restore to a later time (the first is {found.shards.lost[0]})"
        )
    cell, others = find_cells(ctx, found.cell)
    platform = await tenants.find_platform(ctx)
    moves_into = sum([await _announce(other, found) for other in others])
    await _check_shards(cell, others, found)
    shut = [doubt for doubt in found.doubts if doubt.kind not in trusted]
    async with _long_transaction(cell) as tx:
        await contents.raise_epochs(tx)
        await contents.forget_nodes(tx)
        await _leave_shards(tx, found.shards.left, ctx.actor)
        opened = OpenedCell(
            found.cell,
            found.next_generation,
            await contents.end_sessions(tx),
            await contents.request_rounds(tx),
            await contents.abort_moves(tx) + moves_into,
            len(found.shards.left),
            sum([await contents.adopt(tx, table, rows) for table, rows in found.newer.items()]),
            len(shut),
        )
        await _shut(tx, shut)
        await doubts.record(tx, found.next_generation, shut)
        await contents.raise_references(tx)
        if not await generations.open(tx, found.next_generation):
            raise Conflict(f"somebody else has opened {found.cell}: look at it again")
        detail = {**opened._asdict(), "reason": reason, "trusted": sorted(trusted), "timeline": found.server.timeline}
        await record_rescue(ctx, tx, platform, OPENED, f"cell/{found.cell}", detail)
    return opened


async def confirm(ctx: CallerContext, found: RestorePlan, reason: str) -> None:
    """Record that the server of a cell changed without any loss: a failover that nobody watched, or an upgrade."""
    cell, _ = find_cells(ctx, found.cell)
    platform = await tenants.find_platform(ctx)
    async with _long_transaction(cell) as tx:
        if not await generations.confirm(tx, found.record.generation):
            raise Conflict(f"{found.cell} was opened meanwhile, or is closed for ever")
        await record_rescue(
            ctx, tx, platform, CONFIRMED, f"cell/{found.cell}", {"reason": reason, "timeline": found.server.timeline}
        )


async def list_doubts(ctx: CallerContext, name: str, *, with_decided: bool = False) -> list[DoubtRow]:
    """The doubts of a cell."""
    cell, _ = find_cells(ctx, name)
    async with cell.statement() as tx:
        return await doubts.listing(tx, with_decided=with_decided)


async def decide(
    ctx: CallerContext, name: str, numbers: Collection[int], reason: str, *, allow: bool
) -> list[DoubtRow]:
    """Put back what is in doubt, or leave it shut for good. Returns the doubts that were decided."""
    waiting = [one for one in await list_doubts(ctx, name) if one.number in numbers]
    if missing := set(numbers) - {one.number for one in waiting}:
        raise NotFound(f"there is no undecided doubt {min(missing)} in {name}")
    cell, _ = find_cells(ctx, name)
    platform = await tenants.find_platform(ctx)
    async with _long_transaction(cell) as tx:
        for one in waiting:
            if not await doubts.decide(tx, one, "ALLOWED" if allow else "REFUSED", ctx.actor):
                raise Conflict(f"somebody else has decided about {one.kind} {one.name}")
            if allow:
                await _put_back(tx, one)
            elif one.kind == DoubtKind.TENANT:
                await _hold(tx, one, TenantStatus.REMOVED)
            detail = {"kind": one.kind, "name": one.name, "allowed": allow, "reason": reason}
            await record_rescue(ctx, tx, platform, DECIDED, f"cell/{name}", detail)
    return waiting


async def _announce(other: CellProtocol, found: RestorePlan) -> int:
    """Tell another cell about the new generation, and abort its moves into the restored cell; returns how many."""
    async with other.statement() as tx:
        await generations.witness(tx, found.cell, found.next_generation)
        return await contents.abort_moves_into(tx, found.cell)


async def _check_shards(cell: CellProtocol, others: Sequence[CellProtocol], found: RestorePlan) -> None:
    """Ask all cells again: the plan may have missed a shard that was between two of them when it asked."""
    _, now = await examine_shards(cell, others)
    changed = first_change(found.shards, now)
    if changed is not None:
        raise Conflict(f"shard {changed} has moved between other cells since {found.cell} was examined: try again")


async def _leave_shards(tx: Tx, left: dict[int, str], actor: str) -> None:
    if left:
        await contents.leave_shards(tx, list(left))
        await contents.record_departures(tx, [new_id(shard, tx.now) for shard in left], left, actor)


async def _shut(tx: Tx, shut: Sequence[Doubt]) -> None:
    keys = [one.identity for one in shut if one.kind == DoubtKind.API_KEY]
    bindings = [one for one in shut if one.kind == DoubtKind.ROLE_BINDING]
    secrets = [one for one in shut if one.kind == DoubtKind.SECRET]
    await doubts.shut_api_keys(tx, keys)
    await doubts.shut_role_bindings(tx, [one.tenant_id for one in bindings], [one.identity for one in bindings])
    await doubts.shut_secrets(tx, [one.tenant_id for one in secrets], [one.identity for one in secrets])
    for one in shut:
        if one.kind == DoubtKind.TENANT and await tenant_rows.hold(
            tx, one.tenant_id, TenantStatus.PAUSED, [TenantStatus.ACTIVE]
        ):
            await tenant_rows.publish(tx, one.tenant_id)


async def _put_back(tx: Tx, one: DoubtRow) -> None:
    match one.kind:
        case DoubtKind.API_KEY:
            await doubts.put_back_api_key(tx, one.content)
        case DoubtKind.ROLE_BINDING:
            await doubts.put_back_role_binding(tx, one.content)
        case DoubtKind.SECRET:
            await doubts.put_back_secret(tx, one.content)
        case DoubtKind.TENANT:
            await _hold(tx, one, TenantStatus.ACTIVE)


async def _hold(tx: Tx, one: DoubtRow, status: TenantStatus) -> None:
    if await tenant_rows.hold(tx, one.tenant_id, status, [TenantStatus.PAUSED]):
        await tenant_rows.publish(tx, one.tenant_id)


@asynccontextmanager
async def _long_transaction(cell: CellProtocol) -> "AsyncIterator[Tx]":
    """A transaction outside the pool, whose statements may take long."""
    assert isinstance(cell, Cell)
    async with cell.direct() as connection:
        await use_json(connection)
        async with connection.transaction():
            yield Tx(connection, cell.clock.now(), OPENING_TIMEOUT_S)
