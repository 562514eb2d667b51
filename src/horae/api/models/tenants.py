"""Tenants as they are asked for and shown."""

from typing import Annotated, Literal

import msgspec
from pydantic import ConfigDict, Field

from horae.api.models.base import Flag, Name, Shown, Told
from horae.api.models.limits import Limit
from horae.api.models.schedules import Zone
from horae.api.models.showing import show_as
from horae.domain import counts, tenants
from horae.domain.ids import Prefix, public
from horae.domain.placement import DEFAULT_WIDTH, Layout
from horae.domain.tenants import Tenant

TenantName = Annotated[str, Field(strict=True, min_length=1, max_length=60, pattern=r"^[^/\x00-\x1f\x7f]+$")]

Entry = Annotated[str, Field(strict=True, min_length=1, max_length=50)]


class Egress(Told):
    """Where calls may go beside the public Internet over TLS."""

    networks: Annotated[list[Entry], Field(max_length=200)] = []
    ports: Annotated[list[Entry], Field(max_length=200)] = ["443", "8443"]
    plain: Flag = False


Count = Annotated[int, Field(strict=True, ge=0, le=counts.MOST)]


class CountBounds(Told):
    """How many of each thing a tenant may have, and how many seconds lie between two fires of a job at least."""

    jobs: Count = counts.CountBounds().jobs
    subscriptions: Count = counts.CountBounds().subscriptions
    intakes: Count = counts.CountBounds().intakes
    sources: Count = counts.CountBounds().sources
    secrets: Count = counts.CountBounds().secrets
    calendars: Count = counts.CountBounds().calendars
    calendar_days: Count = counts.CountBounds().calendar_days
    keys: Count = counts.CountBounds().keys
    bindings: Count = counts.CountBounds().bindings
    shortest_period: Annotated[float, Field(ge=1, le=counts.LONGEST_PERIOD_S)] = counts.CountBounds().shortest_period


class Allowance(Told):
    """What a tenant may use: its part of a turn, a limit over all its calls, and quotas that its jobs name.

    `retries` bounds what its people send again by hand, `requests` what it may ask of each API process, `egress` is
    where its calls may go, if not where the deployment says. `counts` bounds how many jobs, subscriptions, intakes,
    sources, secrets and calendars it may have, and the single days of its calendars together; one more is refused with
    `SCH_409_COUNT_REACHED`.
    """

    weight: Annotated[int, Field(strict=True, ge=1, le=1000)] = 1
    limit: Limit | None = None
    quotas: Annotated[dict[Name, Limit], Field(max_length=100)] = {}
    retries: Limit = Limit(rate=100, burst=10_000)
    requests: Limit | None = None
    egress: Egress | None = None
    counts: CountBounds = CountBounds()

    def to_domain(self) -> tenants.Allowance:
        """The same in the words of the domain."""
        return msgspec.convert(self.model_dump(mode="json", exclude_none=True), tenants.Allowance)

    @classmethod
    def of(cls, allowance: tenants.Allowance) -> "Allowance":
        """An allowance as it is shown."""
        return show_as(cls, allowance)


class NewTenant(Told):
    """A tenant to be made."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "acme", "zone": "Asia/Shanghai"}]})

    name: TenantName
    width: Literal[1, 4, 16, 64, 256, 4096] = Field(
        DEFAULT_WIDTH,
        description="Over how many shards its rows are spread: at least as many as there are nodes.",
    )
    zone: Zone = "UTC"


class WidenTenant(Told):
    """Over how many shards the new jobs and keys of a tenant are to be spread."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"width": 256}]})

    width: Literal[4, 16, 64, 256, 4096] = Field(description="Not less than its width now.")


class StandingView(Shown):
    """How it stands with a tenant as a whole."""

    name: str
    status: tenants.Standing


class TenantView(Shown):
    """A tenant."""

    id: str
    name: str
    width: int = Field(description="Over how many shards its rows lie.")
    layout: Layout = Field(description="Which shards those are: `SPREAD` over all nodes, or `NEIGHBOURS`.")
    zone: str
    allowance: Allowance

    @classmethod
    def of(cls, tenant: Tenant, allowance: tenants.Allowance) -> "TenantView":
        """A tenant as it is shown."""
        return cls(
            id=public(Prefix.TENANT, tenant.id),
            name=tenant.name,
            width=tenant.width,
            layout=tenant.layout,
            zone=tenant.zone,
            allowance=Allowance.of(allowance),
        )
