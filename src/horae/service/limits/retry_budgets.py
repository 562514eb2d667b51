"""The retry budget of a tenant: every manual retry and replay, by any route, takes from one token bucket."""

from typing import Final

from horae.domain.errors import RetryLimited
from horae.domain.limits.limits import Key, Limit
from horae.domain.tenants.tenants import Allowance
from horae.service.context import Context
from horae.store.limits import quotas
from horae.store.tenants import tenants
from horae.store.tx import Tx

NAME: Final = "retries"
DEFAULT: Final = Allowance()


async def most_at_once(ctx: Context) -> int:
    """Returns how many instances may be sent again at once when the bucket is full."""
    async with ctx.store.statement(Key(ctx.tenant.id, NAME).shard) as tx:
        return int((await _limit(ctx, tx)).depth)


async def spend(ctx: Context, many: int = 1) -> None:
    """Take `many` tokens from the tenant's bucket before anything is sent again. Refused when it holds fewer."""
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
