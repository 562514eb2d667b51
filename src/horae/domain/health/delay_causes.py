"""Names the likely causes when fires start late, with the figures that say so.

What is known of each cell is compared, nothing is guessed: a cause is named only if its figures stand out. Several may
be named at once. Causes that explain others come first.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.health.signals import BOUNDS_MS, BUCKETS, NOBODY, Signal, percentile_ms

P95: Final = 0.95
MIN_LATE: Final = 20
"""Late fires of a minute from which on causes are looked for."""
MAX_CLOCK_OFFSET_MS: Final = 500
MAX_STALLED_MS: Final = 3000
"""Milliseconds of a minute that the loop of a node may stand still."""
CELL_SHARE: Final = 0.8
"""The part of all late fires from which on a single cell is the cause."""
SLOT_SHARE: Final = 0.5
"""The part of a node's busy slots from which on a single target is the cause."""
TENANT_SHARE: Final = 0.5
"""The part of all late fires from which on a single tenant is the cause."""
MIN_SURGE_FACTOR: Final = 2.0
"""How many times its usual fires a tenant has in a minute in which it is a herd."""
MIN_RETRIES: Final = 100
MIN_COLD_READS: Final = 100
COLD_SHARE: Final = 0.5
"""Definitions that had to be read, per fire."""
MAX_HOT_SHARDS: Final = 5
HOT_FACTOR: Final = 4.0
"""How many times the average a hot shard has waiting."""


class DelayCauseKind(StrEnum):
    """Why fires start late, those first that explain others."""

    CLOCK = "CLOCK"
    """The clock of a cell has jumped."""
    STALLS = "STALLS"
    """The loop of a node stood still: garbage collection, or a computation that is too long."""
    CELL = "CELL"
    """One cell is slow, and the others are not."""
    SLOW_TARGET = "SLOW_TARGET"
    """Slow calls of one target keep most of the slots of a node."""
    RETRIES = "RETRIES"
    """More retries wait than fires come."""
    COLD_DEFINITIONS = "COLD_DEFINITIONS"
    """Definitions have to be read before their jobs can fire."""
    TENANT_HERD = "TENANT_HERD"
    """One tenant has far more fires than usual."""
    HOT_SHARDS = "HOT_SHARDS"
    """A few shards have most of what waits."""


TEXTS: Final = {
    DelayCauseKind.CLOCK: "the clock of the cell {} has jumped",
    DelayCauseKind.STALLS: "the loop of the node {} stood still",
    DelayCauseKind.CELL: "the cell {} is slow, and the others are not",
    DelayCauseKind.SLOW_TARGET: "slow calls of the target {} keep most slots of a node",
    DelayCauseKind.RETRIES: "more retries wait than fires come",
    DelayCauseKind.COLD_DEFINITIONS: "definitions of jobs in the cell {} have to be read before they fire",
    DelayCauseKind.TENANT_HERD: "the tenant {} has far more fires than usual",
    DelayCauseKind.HOT_SHARDS: "a few shards of the cell {} have most of what waits",
}


class DelayCause(msgspec.Struct, frozen=True, kw_only=True):
    """A likely cause: what it is, which cell, tenant, node or target it concerns, and the figures behind it.

    A tenant is named; its id stands there where no cell knows its name.
    """

    kind: DelayCauseKind
    subject: str | None
    figures: Mapping[str, float]
    shards: tuple[int, ...] = ()


class NodeStrain(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one node noticed in a minute, in one cell.

    - `stalled_ms`: how long its loop stood still; `collected_ms`: the part of garbage collections in that.
    - `definitions_read`: definitions that it had to read; `clock_offset_ms`: how far the cell's clock has jumped.
    - `target`: the host whose slow calls keep most of its busy slots, and `target_share` which part.
    - `statement_ms`: how long a small write to the cell took.
    """

    node: str = ""
    stalled_ms: int = 0
    collected_ms: int = 0
    definitions_read: int = 0
    clock_offset_ms: int = 0
    target: str | None = None
    target_share: float = 0.0
    statement_ms: float = 0.0


class TenantDelays(NamedTuple):
    """The fires of one tenant in one minute as a histogram of delays, its runs of ten minutes, and its retries."""

    delays: Sequence[int] = (0,) * BUCKETS
    runs_10m: int = 0
    retry_backlog: int = 0


class CellReading(NamedTuple):
    """What is known of one cell for one minute. `waiting` has due instances by shard, `names` those of tenants."""

    tenants: Mapping[UUID, TenantDelays]
    strains: Sequence[NodeStrain] = ()
    waiting: Mapping[int, int] = {}
    names: Mapping[UUID, str] = {}


def newest_late_minute(counted: Iterable[tuple[datetime, Signal]], limit_ms: float) -> datetime | None:
    """Return the newest minute with so many late fires that causes are looked for; None if there is none."""
    late: Counter[datetime] = Counter()
    for minute, signal in counted:
        late[minute] += _late(signal.delays, limit_ms)
    return max((minute for minute, many in late.items() if many >= MIN_LATE), default=None)


def text_of(cause: DelayCause) -> str:
    """Return a cause in a few words, for the reason of an alert."""
    return TEXTS[cause.kind].format(cause.subject)


def find_delay_causes(cells: Mapping[str, CellReading], limit_ms: float) -> list[DelayCause]:
    """Return the likely causes of fires that are later than the limit; none if few are."""
    late = {name: sum(_late(one.delays, limit_ms) for one in cell.tenants.values()) for name, cell in cells.items()}
    if sum(late.values()) < MIN_LATE:
        return []
    found = [
        *_strain_causes(cells),
        *_cell_causes(cells, late, limit_ms),
        *_retry_causes(cells),
        *_cold_causes(cells),
        *_tenant_causes(cells, limit_ms),
        *_shard_causes(cells),
    ]
    kinds = list(DelayCauseKind)
    return sorted(found, key=lambda cause: kinds.index(cause.kind))


def _strain_causes(cells: Mapping[str, CellReading]) -> Iterable[DelayCause]:
    stalled: dict[str, NodeStrain] = {}
    for name, cell in cells.items():
        offset = max((abs(one.clock_offset_ms) for one in cell.strains), default=0)
        if offset > MAX_CLOCK_OFFSET_MS:
            yield DelayCause(kind=DelayCauseKind.CLOCK, subject=name, figures={"offset_ms": offset})
        for one in cell.strains:
            if one.stalled_ms > MAX_STALLED_MS:
                stalled[one.node] = one  # a node writes the same to each cell
    for node, one in stalled.items():
        figures = {"stalled_ms": one.stalled_ms, "collected_ms": one.collected_ms}
        yield DelayCause(kind=DelayCauseKind.STALLS, subject=node, figures=figures)
    shares: dict[str, float] = {}
    for one in (one for cell in cells.values() for one in cell.strains if one.target is not None):
        shares[str(one.target)] = max(one.target_share, shares.get(str(one.target), 0.0))
    for target, share in shares.items():
        if share >= SLOT_SHARE:
            yield DelayCause(kind=DelayCauseKind.SLOW_TARGET, subject=target, figures={"slots_share": share})


def _cell_causes(cells: Mapping[str, CellReading], late: Mapping[str, int], limit_ms: float) -> Iterable[DelayCause]:
    if len(cells) < 2:
        return
    worst = max(late, key=lambda name: (late[name], name))
    others = _p95(tenant.delays for name, cell in cells.items() if name != worst for tenant in cell.tenants.values())
    if late[worst] >= CELL_SHARE * sum(late.values()) and others <= limit_ms:
        figures = {
            "p95_ms": _p95(tenant.delays for tenant in cells[worst].tenants.values()),
            "p95_of_others_ms": others,
            "statement_ms": max((one.statement_ms for one in cells[worst].strains), default=0.0),
        }
        yield DelayCause(kind=DelayCauseKind.CELL, subject=worst, figures=figures)


def _retry_causes(cells: Mapping[str, CellReading]) -> Iterable[DelayCause]:
    fires = _total(cells, lambda one: sum(one.delays))
    waiting = _total(cells, lambda one: one.retry_backlog)
    if waiting >= max(MIN_RETRIES, fires):
        yield DelayCause(kind=DelayCauseKind.RETRIES, subject=None, figures={"waiting": waiting, "fires": fires})


def _cold_causes(cells: Mapping[str, CellReading]) -> Iterable[DelayCause]:
    for name, cell in cells.items():
        read = sum(one.definitions_read for one in cell.strains)
        fires = sum(sum(one.delays) for one in cell.tenants.values())
        if read >= max(MIN_COLD_READS, COLD_SHARE * fires):
            figures = {"definitions_read": read, "fires": fires}
            yield DelayCause(kind=DelayCauseKind.COLD_DEFINITIONS, subject=name, figures=figures)


def _tenant_causes(cells: Mapping[str, CellReading], limit_ms: float) -> Iterable[DelayCause]:
    tenants = {tenant for cell in cells.values() for tenant in cell.tenants if tenant != NOBODY}
    total = _total(cells, lambda one: _late(one.delays, limit_ms))
    names = {tenant: name for cell in cells.values() for tenant, name in cell.names.items()}
    for tenant in sorted(tenants):
        own = [cell.tenants[tenant] for cell in cells.values() if tenant in cell.tenants]
        late, fires = sum(_late(one.delays, limit_ms) for one in own), sum(sum(one.delays) for one in own)
        surge = fires / max(1.0, sum(one.runs_10m for one in own) / 10)
        if late >= TENANT_SHARE * total and surge >= MIN_SURGE_FACTOR:
            figures = {"late_share": late / total, "fires": fires, "times_usual": round(surge, 1)}
            yield DelayCause(kind=DelayCauseKind.TENANT_HERD, subject=names.get(tenant, str(tenant)), figures=figures)


def _shard_causes(cells: Mapping[str, CellReading]) -> Iterable[DelayCause]:
    for name, cell in cells.items():
        total = sum(cell.waiting.values())
        if total < MIN_LATE:
            continue
        average = total / len(cell.waiting)
        hot = sorted(cell.waiting, key=lambda shard: (-cell.waiting[shard], shard))[:MAX_HOT_SHARDS]
        hot = [shard for shard in hot if cell.waiting[shard] >= max(MIN_LATE, HOT_FACTOR * average)]
        if len(cell.waiting) == 1:
            hot = list(cell.waiting)
        if hot:
            figures = {"waiting": sum(cell.waiting[shard] for shard in hot), "of": total}
            yield DelayCause(kind=DelayCauseKind.HOT_SHARDS, subject=name, figures=figures, shards=tuple(hot))


def _late(delays: Sequence[int], limit_ms: float) -> int:
    return sum(many for many, high in zip(delays, (*BOUNDS_MS, float("inf")), strict=True) if high > limit_ms)


def _p95(delays: Iterable[Sequence[int]]) -> int:
    added = [sum(column) for column in zip(*delays, strict=True)]
    return percentile_ms(added or (0,) * BUCKETS, P95)


def _total(cells: Mapping[str, CellReading], count: Callable[[TenantDelays], int]) -> int:
    return sum(count(one) for cell in cells.values() for one in cell.tenants.values())
