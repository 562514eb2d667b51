"""Who owns jobs: the unit of isolation, fairness and quota."""

from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from horae.domain.egress import Egress
from horae.domain.errors import Invalid
from horae.domain.ids import shard_in
from horae.domain.limits import Limit
from horae.domain.placement import DEFAULT_WIDTH, SHARDS, WIDTHS, shard_of

LONGEST_NAME: Final = 60
HEAVIEST: Final = 1000
SYSTEM: Final = "system"
"""The tenant whose admins manage all others; it owns no jobs of anybody."""


class Standing(StrEnum):
    """How it stands with a tenant as a whole."""

    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    REMOVED = "REMOVED"


class Allowance(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a tenant may use: its weight beside others, a limit over all it does, and quotas that its jobs name.

    `retries` bounds how many instances its people send again by hand; `egress` is where its calls may go, if not where
    the deployment says. `requests` limits what it may ask of each API process.
    """

    weight: int = 1
    limit: Limit | None = None
    quotas: dict[str, Limit] = {}
    retries: Limit = Limit(rate=100, burst=10_000)
    egress: Egress | None = None
    requests: Limit | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.weight <= HEAVIEST:
            raise Invalid(f"a weight is 1 to {HEAVIEST}, not {self.weight}")


class Tenant(msgspec.Struct, frozen=True):
    """A tenant and how wide its rows are spread; the width is fixed for ever."""

    id: UUID
    name: str
    width: int = DEFAULT_WIDTH
    zone: str = "UTC"

    def shard(self, text: str, width: int | None = None) -> int:
        """The shard of a name or business key of this tenant."""
        return shard_of(shard_in(self.id), width or self.width, text)

    def shards(self, width: int | None = None) -> list[int]:
        """Every shard that its rows, or those of a type of that width, may lie in."""
        base = shard_in(self.id)
        return sorted((base + n) % SHARDS for n in range(width or self.width))


def check(name: str, width: int) -> None:
    """Refuse what could not be printed or placed."""
    if not name or len(name) > LONGEST_NAME or not name.isprintable() or "/" in name:
        raise Invalid(f"a tenant's name is 1 to {LONGEST_NAME} printable characters without a slash")
    check_width(width)


def check_width(width: int) -> None:
    """Refuse widths that would not divide the shards evenly."""
    if width not in WIDTHS:
        raise Invalid(f"a width is one of {', '.join(map(str, sorted(WIDTHS)))}, not {width}")
