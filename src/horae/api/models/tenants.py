"""Models of tenants."""

from typing import Annotated, Final, Literal

import msgspec
from pydantic import ConfigDict, Field

from horae.api.models.base import NAME_PATTERN, Flag, Name, RequestModel, ResponseModel
from horae.api.models.limits import LimitSpec
from horae.api.models.schedules import Zone
from horae.api.models.showing import show_as
from horae.domain.ids import Prefix, public
from horae.domain.instances.logs import DEFAULT_LOG_BYTES_A_DAY
from horae.domain.limits import counts
from horae.domain.limits.usage import LimitUse, UsageKind
from horae.domain.measures.measures import DEFAULT_LINES
from horae.domain.placement import DEFAULT_WIDTH, Layout
from horae.domain.targets.egress import MOST_ENTRIES
from horae.domain.tenants import tenants
from horae.domain.tenants.tenants import HEAVIEST, LONGEST_NAME, Tenant
from horae.service.limits.usage import TenantUsage

TenantName = Annotated[str, Field(strict=True, min_length=1, max_length=LONGEST_NAME, pattern=NAME_PATTERN)]

Entry = Annotated[str, Field(strict=True, min_length=1, max_length=50)]


class EgressSpec(RequestModel):
    """The networks, ports and schemes that calls may use besides TLS to the public Internet."""

    networks: Annotated[list[Entry], Field(max_length=MOST_ENTRIES)] = []
    ports: Annotated[list[Entry], Field(max_length=MOST_ENTRIES)] = ["443", "8443"]
    plain: Flag = False


MAX_LOG_BYTES: Final = 1024**4
"""Bytes that a tenant may be allowed to log in a day."""
Count = Annotated[int, Field(strict=True, ge=0, le=counts.MOST)]


class CountBoundsSpec(RequestModel):
    """The maximum number of each resource of a tenant, and the minimum seconds between two fires of a job."""

    jobs: Count = counts.CountBounds().jobs
    subscriptions: Count = counts.CountBounds().subscriptions
    intakes: Count = counts.CountBounds().intakes
    sources: Count = counts.CountBounds().sources
    secrets: Count = counts.CountBounds().secrets
    calendars: Count = counts.CountBounds().calendars
    calendar_days: Count = counts.CountBounds().calendar_days
    keys: Count = counts.CountBounds().keys
    bindings: Count = counts.CountBounds().bindings
    alert_channels: Count = counts.CountBounds().alert_channels
    alert_rules: Count = counts.CountBounds().alert_rules
    silences: Count = counts.CountBounds().silences
    shortest_period: Annotated[float, Field(ge=1, le=counts.LONGEST_PERIOD_S)] = counts.CountBounds().shortest_period


class MeasureLinesSpec(RequestModel):
    """The lines beyond which protective measures concern this tenant, in place of those of the platform."""

    trigger_delay_p95_ms: Annotated[float, Field(gt=0)] = DEFAULT_LINES.trigger_delay_p95_ms
    run_success_rate_10m: Annotated[float, Field(gt=0, lt=1)] = DEFAULT_LINES.run_success_rate_10m
    retry_backlog: Annotated[float, Field(gt=0)] = DEFAULT_LINES.retry_backlog
    dlq_growth_per_min: Annotated[float, Field(gt=0)] = DEFAULT_LINES.dlq_growth_per_min


class AllowanceSpec(RequestModel):
    """The resources that a tenant may use.

    `weight` is its share of the dispatch, `limit` the limit of all its calls, `quotas` the named limits of its jobs.
    `retries` limits manual retries and replays. `requests` limits requests per API process. `egress` replaces the
    egress rules of the deployment. `counts` limits the number of jobs, subscriptions, intakes, sources, secrets,
    calendars and calendar days; a request beyond it is refused with `SCH_409_COUNT_REACHED`. `measures` are its own
    lines of protective measures. `log_bytes` is how much its attempts may log in a day.
    """

    weight: Annotated[int, Field(strict=True, ge=1, le=HEAVIEST)] = 1
    limit: LimitSpec | None = None
    quotas: Annotated[dict[Name, LimitSpec], Field(max_length=100)] = {}
    retries: LimitSpec = LimitSpec(rate=100, burst=10_000)
    requests: LimitSpec | None = None
    egress: EgressSpec | None = None
    counts: CountBoundsSpec = CountBoundsSpec()
    measures: MeasureLinesSpec | None = None
    log_bytes: Annotated[int, Field(strict=True, ge=0, le=MAX_LOG_BYTES)] = DEFAULT_LOG_BYTES_A_DAY

    def to_domain(self) -> tenants.Allowance:
        """Returns the allowance of the domain."""
        return msgspec.convert(self.model_dump(mode="json", exclude_none=True), tenants.Allowance)

    @classmethod
    def of(cls, allowance: tenants.Allowance) -> "AllowanceSpec":
        """Returns the view of an allowance."""
        return show_as(cls, allowance)


class SetAllowance(AllowanceSpec):
    """The new allowance of a tenant, and the one that the caller has read."""

    replaces: Annotated[
        AllowanceSpec | None,
        Field(description="The allowance that you have read. If another one is in force by now, nothing is changed."),
    ] = None


class NewTenant(RequestModel):
    """A new tenant."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "acme", "zone": "Asia/Shanghai"}]})

    name: TenantName
    width: Literal[1, 4, 16, 64, 256, 4096] = Field(
        DEFAULT_WIDTH,
        description="The number of shards for its rows. Use at least the number of nodes.",
    )
    zone: Zone = "UTC"


class WidenTenant(RequestModel):
    """The number of shards for the new jobs and business keys of a tenant."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"width": 256}]})

    width: Literal[4, 16, 64, 256, 4096] = Field(description="The new width, at least the current width.")


class TenantStatusView(ResponseModel):
    """The status of a tenant."""

    name: str
    status: tenants.TenantStatus


class TenantView(ResponseModel):
    """A tenant and its allowance."""

    id: str
    name: str
    width: int = Field(description="The number of shards for its rows.")
    layout: Layout = Field(description="How its shards are chosen: `SPREAD` over all nodes, or `NEIGHBOURS` in a row.")
    zone: str
    allowance: AllowanceSpec

    @classmethod
    def of(cls, tenant: Tenant, allowance: tenants.Allowance) -> "TenantView":
        """Returns the view of a tenant."""
        return cls(
            id=public(Prefix.TENANT, tenant.id),
            name=tenant.name,
            width=tenant.width,
            layout=tenant.layout,
            zone=tenant.zone,
            allowance=AllowanceSpec.of(allowance),
        )


class LimitUseView(ResponseModel):
    """How much of one limit of a tenant is used."""

    kind: UsageKind = Field(
        description="What is counted: jobs and the like, bytes logged today (`log_bytes`), manual retries that are "
        "spent (`retries`), or calls at the same time (`permits`)."
    )
    name: str | None = Field(None, description="Of `permits`: the limit, `tenant` or `quota/…`.")
    used: int
    most: int = Field(description="What the tenant may use.")
    near: bool = Field(description="Whether 80 % or more of it is used.")

    @classmethod
    def of(cls, one: LimitUse) -> "LimitUseView":
        """Returns the view of a use."""
        return cls(kind=one.kind, name=one.name, used=one.used, most=one.most, near=one.is_near)


class TenantUsageView(ResponseModel):
    """How much of its limits a tenant uses now, nearest to a limit first. Rates have no figure: see holds."""

    id: str
    name: str
    uses: list[LimitUseView]
    cells_down: list[str] = Field([], description="Cells that could not be reached. What they have is not counted.")

    @classmethod
    def of(cls, one: TenantUsage, cells_down: list[str] | None = None) -> "TenantUsageView":
        """Returns the view of the uses of a tenant."""
        uses = [LimitUseView.of(use) for use in one.uses]
        tenant = one.tenant
        return cls(id=public(Prefix.TENANT, tenant.id), name=tenant.name, uses=uses, cells_down=cells_down or [])
