"""The databases of a deployment, and which kind of deployment it is."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import ByteSize, Field, model_validator

from horae.domain.limits.shares import BACKFILL_CAP_SHARE, BACKFILL_SHARE, LaneShare
from horae.runtime.settings.facts import (
    API,
    COMMANDS,
    MIGRATE,
    NODE,
    DsnText,
    ReadBy,
    Seconds,
    Secrecy,
    SettingsGroup,
    SettingsPart,
    Unit,
)


class CellSettings(SettingsPart):
    """One PostgreSQL cluster that holds some shards."""

    name: str
    """The name of the cell, as `horae migrate` wrote it into the database first."""
    dsn: DsnText = Field(repr=False)
    """The address of the database, with the role of the process that reads it."""
    direct_dsn: DsnText | None = Field(default=None, repr=False)
    """The address for what needs a session of its own (LISTEN); required if `pooled`, otherwise `dsn`."""
    upkeep_dsn: DsnText | None = Field(default=None, repr=False)
    """The address for upkeep that only the owner of the tables may do (VACUUM); `direct_dsn` where omitted."""
    pooled: bool = False
    """Whether `dsn` leads to a pooler in transaction mode (PgBouncer)."""
    disk_bytes: ByteSize | None = None
    """The space for its database, in bytes or as `500GiB`; `HORAE_DISK_BYTES` where omitted."""

    @model_validator(mode="after")
    def _sessions_pass_the_pooler(self) -> Self:
        if self.pooled and self.direct_dsn is None:
            raise ValueError("a pooled cell needs a direct_dsn: a pooler in transaction mode loses what LISTEN hears")
        return self


class DatabaseSettings(SettingsGroup):
    """Which deployment this is, and where its databases are."""

    environment: Literal["production", "staging", "dev", "test"]
    """Which kind of deployment this is. It has no default: every process but `horae dev` refuses to start without it.
    In `production`, calls go to public addresses over https only (`HORAE_EGRESS` allows more), a DSN to another host
    needs a verified certificate, and a node refuses a database that may lose commits and roles that may do too much.
    In the others the own machine and private networks may be called, over http too, and none of these is refused.
    Only `staging` allows every [drill](drills.md).

    Change it never: `horae migrate` writes it into each new database, and a database keeps it.
    """
    deployment: Annotated[str, ReadBy((COMMANDS,))] = ""
    """The name of this deployment, such as `orders-eu`. A [drill](drills.md) in production wants it typed.

    Change it when the deployment gets another name, or before its first drill in production.
    """
    dsn: DsnText | None = Field(default=None, repr=False)
    """The address of the only database, such as `postgresql://horae_engine@db.example.com/horae?sslmode=verify-full`.

    Change it to `HORAE_CELLS` when one PostgreSQL is no longer enough. Only one of the two may be given.
    """
    upkeep_dsn: Annotated[DsnText | None, ReadBy((NODE, MIGRATE, COMMANDS))] = Field(default=None, repr=False)
    """The address of the database of `HORAE_DSN` with the role `horae_migrate`, for upkeep that only the owner of the
    tables may do.

    Change it when the node has a [role of its own](database-roles.md). With `HORAE_CELLS` each cell has its own.
    """
    cells: Annotated[list[CellSettings], Secrecy.INSIDE] = Field(default_factory=list, repr=False)
    """The databases, where there are several, or where one needs more than an address.

    Change it when a cell is added: all processes get the new list, one after another.
    """
    database_tls: Literal["verify-full", "optional"] = "verify-full"
    """Whether production requires a verified certificate of each PostgreSQL on another host.

    Change it to `optional` only where the network itself protects connections (WireGuard, a mesh with mutual TLS).
    """
    tenant: Annotated[str, ReadBy((MIGRATE, COMMANDS))] = "default"
    """The name of the tenant that `horae migrate` creates and that commands work for.

    Change it when the first tenant is to have another name, or for one command that opens PostgreSQL
    (`HORAE_TENANT=acme horae why coupon_job`). Commands over HTTP work for the tenant of their key.
    """
    disk_bytes: Annotated[ByteSize | None, ReadBy((NODE, COMMANDS))] = None
    """The space of each cell for its database, in bytes or as `500GiB`. PostgreSQL cannot tell it.

    Change it to have alerts and `horae doctor` say when the [disk will be full](retention.md).
    """
    snapshot_limit: Annotated[Seconds | None, ReadBy((NODE,))] = None
    """How long a foreign session may hold a snapshot before a node ends it. Not set: never.

    Change it where reports or forgotten sessions keep VACUUM from its work
    ([PostgreSQL settings](postgresql.md)).
    """

    def all_cells(self) -> list[CellSettings]:
        """The cells of `HORAE_CELLS`, or the single cell of `HORAE_DSN` and `HORAE_UPKEEP_DSN`."""
        if self.cells:
            return self.cells
        return [CellSettings(name="cell-0", dsn=self.dsn, upkeep_dsn=self.upkeep_dsn)] if self.dsn else []

    def disks(self) -> dict[str, int]:
        """The space of each cell, where it is known."""
        known = {cell.name: cell.disk_bytes or self.disk_bytes for cell in self.all_cells()}
        return {name: int(size) for name, size in known.items() if size is not None}


class NodeSettings(SettingsGroup):
    """How a node works. [How a node works](node.md) has the words."""

    READ_BY: ClassVar[tuple[str, ...]] = (NODE,)

    lease_ttl: Seconds = Field(default=8.0, gt=0)
    """The term of a node's lease of its shards.

    Change it on every node at once: shorter takes over sooner from a dead node, longer forgives a slow database.
    """
    leases: bool = True
    """Whether nodes share the shards by leases. Without, every node does all the work.

    Change it never in production, which refuses it; tests of one node do without.
    """
    safety_look: Seconds = Field(default=300.0, ge=1, le=300)
    """How long a node that has nothing to do may sleep before it looks at the tables.

    Change it where a lost wake-up must be made good sooner; each look costs one statement for each cell.
    """
    slots: Annotated[int, ReadBy((NODE, API))] = Field(default=2000, ge=1)
    """How many calls a node may have in flight at once. API processes count with it in a backfill's dry run.

    Change it when `horae_slots{state="free"}` stays at 0 because targets answer slowly and the machine has room.
    """
    long_slots: int = Field(default=1000, ge=1)
    """How many long calls (`read_timeout` above 30 s) a node may have in flight at once, beside its slots.

    Change it when calls wait with the reason `no_slot`; each costs a connection, and a file handle of the process.
    """
    backfill_share: Annotated[float, Unit("part of 1")] = Field(default=BACKFILL_SHARE, ge=0.01, le=0.2)
    """The part of a node's slots that is reserved for [backfills](backfills.md), however much else is due.

    Change it where backfills are too slow beside live work, or where a small node needs the slots for other calls.
    """
    backfill_cap: Annotated[float, Unit("part of 1"), ReadBy((NODE, API))] = Field(
        default=BACKFILL_CAP_SHARE, ge=0.01, le=1
    )
    """The part of a node's slots that all backfills together may occupy; at least `HORAE_BACKFILL_SHARE`.

    Change it where slow calls of backfills may hold more slots than that, or have to hold fewer.
    """
    grace: Annotated[Seconds, ReadBy((NODE, API))] = 20.0
    """How long a process that has to stop lets calls and requests finish. A node waits for long calls until they end.

    Change it together with the stop timeout of systemd or Kubernetes, which must be longer.
    """
    loop_stall: Annotated[Seconds, ReadBy((NODE, API))] = Field(default=0.25, ge=0.01)
    """How long the event loop may stand still before the log says `loop.stalled`.

    Change it where a slow machine fills the log with stalls that nobody will mend.
    """

    def lane_share(self) -> LaneShare:
        """The share and the cap of backfills."""
        return LaneShare(self.backfill_share, self.backfill_cap)

    @model_validator(mode="after")
    def _cap_is_not_below_share(self) -> Self:
        if self.backfill_cap < self.backfill_share:
            raise ValueError("HORAE_BACKFILL_CAP is below HORAE_BACKFILL_SHARE: backfills may not use what is reserved")
        return self
