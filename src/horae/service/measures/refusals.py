"""Refuses what a measure does not allow now. The refusal names the measure."""

from horae.domain.errors import RetryLimited
from horae.domain.measures.in_force import NO_MEASURES
from horae.domain.measures.measures import MeasureAction
from horae.service.context import Context


def refuse_by_measure(ctx: Context, shard: int, action: MeasureAction, meaning: str) -> None:
    """Raise `RetryLimited` while a measure with this action concerns the tenant, as far as this process knows."""
    measures = ctx.store.cell(shard).measures.in_force
    if measures is NO_MEASURES:
        return
    cause = measures.cause_of(ctx.tenant.id, action)
    if cause is not None:
        since = cause.since or cause.judged_until
        raise RetryLimited(
            f"the measure {cause.name} is in force since {since:%H:%M:%S} UTC: {meaning}",
            measure=cause.name.value,
            since=since.isoformat(),
        )
