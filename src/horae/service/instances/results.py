"""Results of instances: what their attempts returned, decrypted for a caller who may read payloads."""

from typing import Any, NamedTuple
from uuid import UUID

from horae.domain.encryption.encrypted_values import result_of
from horae.domain.errors import NoLongerKept, NotFound
from horae.domain.ids import Prefix, creation_time, public, shard_in
from horae.service.context import Context
from horae.service.instances import tiers
from horae.store.databases import days
from horae.store.instances import results
from horae.store.tx import GONE


class InstanceResult(NamedTuple):
    """What an instance returned."""

    instance_id: UUID
    value: Any


async def find(ctx: Context, id_: UUID) -> InstanceResult:
    """Returns the result of an instance. Raises NotFound where it has none, NoLongerKept where its day is dropped."""
    await tiers.check_bound(ctx, id_)
    shard = shard_in(id_)
    found = await _ended_before_move(ctx, id_)
    dropped_until = None
    if found is None:
        async with ctx.store.statement(shard) as tx:
            found = (await results.of_instances(tx, ctx.tenant.id, shard, [id_])).get(id_)
            dropped_until = None if found is not None else await days.dropped_until(tx, [days.RESULTS])
    if found is not None:
        return InstanceResult(id_, await ctx.store.cipher.decrypt(ctx.tenant.id, result_of(id_), found))
    name = public(Prefix.INSTANCE, id_)
    if dropped_until is not None and creation_time(id_) < dropped_until:
        raise NoLongerKept(f"{name} has no result, or it was returned before {dropped_until:%Y-%m-%d}")
    raise NotFound(f"{name} has no result")


async def _ended_before_move(ctx: Context, id_: UUID) -> Any:
    """Returns the result of an instance that ended in another cell, before its shard moved; None if there is none."""
    for cell in ctx.store.former_cells(shard_in(id_)):
        try:
            async with cell.statement() as tx:
                found = (await results.of_instances(tx, ctx.tenant.id, shard_in(id_), [id_])).get(id_)
        except GONE:
            ctx.cells_down.add(cell.name)
            continue
        if found is not None:
            return found
    return None
