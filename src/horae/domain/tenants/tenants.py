"""Tenants: the owners of jobs, and the unit of isolation, fairness and quota."""

from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid
from horae.domain.ids import shard_in
from horae.domain.instances.logs import DEFAULT_LOG_BYTES_A_DAY
from horae.domain.limits.counts import CountBounds
from horae.domain.limits.limits import QUOTA_PLACEMENT, Limit
from horae.domain.measures.measures import MeasureLines
from horae.domain.placement import DEFAULT_WIDTH, WIDTHS, Layout, Placement
from horae.domain.targets.egress import Egress

LONGEST_NAME: Final = 60
"""Characters."""
HEAVIEST: Final = 1000
"""The highest weight."""
SYSTEM: Final = "system"
"""The tenant whose admins manage all others; it owns no jobs."""


class TenantStatus(StrEnum):
    """The status of a tenant as a whole."""

    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    REMOVED = "REMOVED"


class Allowance(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a tenant may use: its weight beside others, a limit over all its calls, and quotas that its jobs name.

    `retries` limits how many instances its people send again by hand. `egress` replaces the egress rules of the
    deployment. `requests` limits its requests to each API process, `counts` how many jobs, subscriptions and the like
    it may have. `measures` are the lines beyond which protective measures concern this tenant. `log_bytes` is how much
    its attempts may log in a day.
    """

    weight: int = 1
    limit: Limit | None = None
    quotas: dict[str, Limit] = {}
    retries: Limit = Limit(rate=100, burst=10_000)
    egress: Egress | None = None
    requests: Limit | None = None
    counts: CountBounds = CountBounds()
    measures: MeasureLines | None = None
    log_bytes: int = DEFAULT_LOG_BYTES_A_DAY

    def __post_init__(self) -> None:
        if self.log_bytes < 0:
            raise Invalid(f"a tenant may log 0 bytes a day or more, not {self.log_bytes}")
        if not 1 <= self.weight <= HEAVIEST:
            raise Invalid(f"a weight is 1 to {HEAVIEST}, not {self.weight}")


NO_ALLOWANCE: Final = Allowance()
"""The allowance of a tenant that was given none."""


class Tenant(msgspec.Struct, frozen=True):
    """A tenant, over how many shards its rows lie, and which.

    `former` are the placements before it was widened, oldest first. Rows that were created there stay there.
    """

    id: UUID
    name: str
    width: int = DEFAULT_WIDTH
    zone: str = "UTC"
    layout: Layout = Layout.SPREAD
    former: tuple[Placement, ...] = ()

    @property
    def placement(self) -> Placement:
        """Where new names and business keys are placed."""
        return Placement(self.layout, self.width)

    @property
    def placements(self) -> tuple[Placement, ...]:
        """Where its names and business keys may lie, the newest placement first."""
        return self.placement, *reversed(self.former)

    def fixed_placement(self, width: int | None = None) -> Placement:
        """Return the placement of rolling sets, calendars and keys of a type with its own width.

        It is the tenant's first placement, which widening does not change.
        """
        first = self.former[0] if self.former else self.placement
        return first.with_width(width)

    def shard(self, text: str) -> int:
        """Return the shard where a new name or business key is placed."""
        return self.placement.shard(shard_in(self.id), text)

    def shards(self, width: int | None = None) -> list[int]:
        """Return every shard that its rows, or the rows of a type with that width, may lie in."""
        found = self.placements if width is None else (self.fixed_placement(width),)
        return sorted({shard for one in found for shard in one.shards(shard_in(self.id))})

    def with_wider_placement(self, width: int) -> "Tenant":
        """Return the tenant with new names and keys spread over more shards."""
        check_width(width)
        after = Placement(Layout.SPREAD, width)
        if width < self.width or after == self.placement:
            raise Invalid(f"tenant {self.name!r} is {self.width} wide already, {self.layout}: it can only become wider")
        return msgspec.structs.replace(self, width=width, layout=Layout.SPREAD, former=(*self.former, self.placement))

    def shards_of_rows(self, widest: int) -> list[int]:
        """Return every shard of its jobs, instances and keys; `widest` is the greatest width of a type, or 0.

        The shards of a narrower placement are among those of a wider one with the same layout.
        """
        return sorted({*self.shards(), *self.shards(max(widest, self.fixed_placement().width))})

    def all_shards(self, widest: int) -> list[int]:
        """Return the same shards, and those of its limits."""
        return sorted({*QUOTA_PLACEMENT.shards(shard_in(self.id)), *self.shards_of_rows(widest)})


def check(name: str, width: int) -> None:
    """Refuse a name that cannot be printed, and a width that cannot be placed."""
    if not name or len(name) > LONGEST_NAME or not name.isprintable() or "/" in name:
        raise Invalid(f"a tenant's name is 1 to {LONGEST_NAME} printable characters without a slash")
    if name in {".", ".."}:  # browsers and proxies remove them from a path
        raise Invalid(f"a tenant cannot be called {name!r}")
    check_width(width)


def check_width(width: int) -> None:
    """Refuse widths that do not divide the shards evenly."""
    if width not in WIDTHS:
        raise Invalid(f"a width is one of {', '.join(map(str, sorted(WIDTHS)))}, not {width}")
