"""How much a tenant's people may send again: retries and replays take from one bucket, whichever door they come by."""

from typing import Final

from horae.domain.errors import RetryLimited
from horae.domain.limits import Key, Limit
from horae.domain.tenants import Allowance
from horae.service.context import Context
from horae.store import quotas, tenants
from horae.store.tx import Tx

NAME: Final = "retries"
DEFAULT: Final = Allowance()


async def most_at_once(ctx: Context) -> int:
    """How many may be sent again at once when nothing was for a while."""
    async with ctx.store.statement(Key(ctx.tenant.id, NAME).shard) as tx:
        return int((await _limit(ctx, tx)).depth)


async def spend(ctx: Context, many: int = 1) -> None:
    """Take so many out of the tenant's bucket before anything is sent again; refused when there are not so many."""
    key = Key(ctx.tenant.id, NAME)

    async def work(tx: Tx) -> tuple[bool, float]:
        limit = await _limit(ctx, tx)
        return await quotas.spend(tx, key, many, limit), many / (limit.rate or 1.0)

    spent, seconds = await ctx.store.run_after_read(key.shard, work)
    if not spent:
        raise RetryLimited(
            f"tenant {ctx.tenant.name!r} has sent again as much as it may for now; nothing was sent",
            retry_after=max(1, round(seconds)),
        )


async def _limit(ctx: Context, tx: Tx) -> Limit:
    known = await tenants.allowances(tx, [ctx.tenant.id])
    return known.get(ctx.tenant.id, DEFAULT).retries
