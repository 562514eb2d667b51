"""What a cell needs so that our promises hold, and what to change where it does not.

`horae doctor` runs these checks; the page "PostgreSQL settings" explains them. A *fault* breaks a promise, a *hint*
costs speed or causes trouble later.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from horae.domain.health.growth import Growth, gigabytes


class Severity(StrEnum):
    """How serious a diagnosis is."""

    OK = "ok"
    HINT = "hint"
    FAULT = "fault"


class UnarchivedDays(NamedTuple):
    """Days that wait for the archive, and the bytes that they take on the disk meanwhile."""

    days: int
    bytes: int


class CellFacts(NamedTuple):
    """The facts that were read from one cell."""

    version: int
    settings: Mapping[str, str]
    superuser: bool
    oldest_snapshot: timedelta
    frozen_age: int
    multixact_age: int
    days_ahead: int
    pending_migrations: int
    growth: Growth | None = None
    hidden_tables: int = 0
    """Tables with rows that row-level security hides from the role."""
    sees_sessions: bool = True
    """Whether the role sees what the sessions of other roles do (`pg_read_all_stats`)."""
    ends_sessions: bool = True
    """Whether the role may end the sessions of other roles (`pg_signal_backend`)."""
    bypassing_roles: tuple[str, ...] = ()
    """The roles of ours that have BYPASSRLS."""
    unarchived: UnarchivedDays = UnarchivedDays(0, 0)
    hosts: int = 1
    """How many hosts the DSN names. Of several, one may replace another."""
    wal_archive_lag: timedelta | None = None
    """The time since a WAL file was last archived; None where the server archives none."""


class Diagnosis(NamedTuple):
    """The result of one check."""

    level: Severity
    name: str
    found: str
    advice: str = ""


class SettingRule(NamedTuple):
    """A PostgreSQL setting that we rely on."""

    holds: Callable[[str], bool]
    otherwise: Severity
    advice: str


SETTINGS: Final[Mapping[str, SettingRule]] = {
    "fsync": SettingRule(
        lambda v: v == "on", Severity.FAULT, "set fsync = on: without it a power cut loses acknowledged fires"
    ),
    "full_page_writes": SettingRule(
        lambda v: v == "on", Severity.FAULT, "set full_page_writes = on, unless the storage never tears a page"
    ),
    "synchronous_commit": SettingRule(
        lambda v: v in {"on", "remote_apply"},
        Severity.FAULT,
        "set synchronous_commit = on: a commit is our acknowledgement",
    ),
    "autovacuum": SettingRule(
        lambda v: v == "on",
        Severity.FAULT,
        "set autovacuum = on: upkeep vacuums only the hot tables, not history and ledger",
    ),
    "autovacuum_naptime": SettingRule(
        lambda v: int(v) <= 60, Severity.HINT, "set autovacuum_naptime to 60 s or less: statistics age quickly here"
    ),
    "default_statistics_target": SettingRule(
        lambda v: int(v) >= 100, Severity.HINT, "set default_statistics_target = 100 or more for history searches"
    ),
    "work_mem": SettingRule(
        lambda v: int(v) >= 4096, Severity.HINT, "set work_mem = 4MB or more: lists sort in memory"
    ),
    "shared_buffers": SettingRule(
        lambda v: int(v) >= 16384,
        Severity.HINT,
        "set shared_buffers = 128MB or more, a quarter of the memory on a server",
    ),
    "max_wal_size": SettingRule(
        lambda v: int(v) >= 1024,
        Severity.HINT,
        "set max_wal_size = 1GB or more (16GB at peak): checkpoints write whole pages",
    ),
    "wal_compression": SettingRule(
        lambda v: v not in {"off", ""},
        Severity.HINT,
        "set wal_compression = lz4: whole pages after a checkpoint are logged compressed",
    ),
    "idle_in_transaction_session_timeout": SettingRule(
        lambda v: 0 < int(v) <= 60_000,
        Severity.HINT,
        "set idle_in_transaction_session_timeout = 10s: our sessions set it themselves, a forgotten psql does not",
    ),
    "hot_standby_feedback": SettingRule(
        lambda v: v == "off",
        Severity.HINT,
        "set hot_standby_feedback = off on standbys: their readers would hold back vacuum",
    ),
    "max_slot_wal_keep_size": SettingRule(
        lambda v: int(v) > 0, Severity.HINT, "set max_slot_wal_keep_size (e.g. 64GB): a forgotten slot fills the disk"
    ),
}
"""The rules, by setting."""

UNITS: Final = {
    "autovacuum_naptime": "s",
    "work_mem": "kB",
    "shared_buffers": "8kB",
    "max_wal_size": "MB",
    "idle_in_transaction_session_timeout": "ms",
    "max_slot_wal_keep_size": "MB",
}
"""The unit in which PostgreSQL counts a setting. A block has 8 kB, which is the default of every build."""
SIZES: Final = {"kB": 1, "8kB": 8, "MB": 1024}
"""Units of memory and disk, in kilobytes."""
DURABLE: Final = ("fsync", "full_page_writes", "synchronous_commit")
"""Settings that make a commit durable. A node does not start in production where one of them is off."""
STANDBYS: Final = "synchronous_standby_names"
"""The setting that makes a commit survive a failover."""
WAL_ARCHIVE: Final = "WAL archive"
ROLE: Final = "role"
OLDEST_MAJOR: Final = 15
"""The oldest supported major version of PostgreSQL."""
NEWEST_MAJOR: Final = 18
"""The newest major version that the tests run on."""
ROWS: Final = "rows of tenants"
MAX_SNAPSHOT_AGE: Final = timedelta(seconds=60)
"""The age of a snapshot from which on it delays vacuum too much."""
FROZEN_AGE: Final = 500_000_000
"""Transactions since the last freeze."""
MULTIXACT_AGE: Final = 100_000_000
"""Multixacts since the last freeze. Our statements share no row locks, so a cell has nearly none."""
DAYS_AHEAD: Final = 3
"""Days for which partitions must exist in advance."""
MAX_WAL_ARCHIVE_LAG: Final = timedelta(seconds=60)
"""The age of the last archived WAL file from which on a restore loses more than is promised."""
FULL_SOON_DAYS: Final = 7
"""Days before a full disk from which on it is a fault."""
FULL_LATER_DAYS: Final = 30
"""Days before a full disk from which on it is a hint."""


def examine(facts: CellFacts, *, production: bool = False) -> list[Diagnosis]:
    """Return the results of all checks, faults first."""
    found = [_setting(name, rule, facts.settings.get(name)) for name, rule in SETTINGS.items()]
    found += [
        examine_standbys(facts.settings.get(STANDBYS), hosts=facts.hosts, production=production),
        examine_version(facts.version),
        _judge(
            not facts.pending_migrations,
            Severity.FAULT,
            "migrations missing",
            facts.pending_migrations,
            "run `horae migrate`",
        ),
        _judge(
            facts.days_ahead >= DAYS_AHEAD,
            Severity.FAULT,
            "partitions, days ahead",
            facts.days_ahead,
            "start a node, or run `horae node --once`: it makes them",
        ),
        examine_role(superuser=facts.superuser, production=production),
        examine_rows(facts.hidden_tables),
        *_examine_rights(facts),
        _judge(
            facts.oldest_snapshot <= MAX_SNAPSHOT_AGE,
            Severity.HINT,
            "oldest snapshot",
            f"{facts.oldest_snapshot.total_seconds():.0f} s",
            "end the transaction in pg_stat_activity with the oldest backend_xmin: nothing is vacuumed behind it",
        ),
        _judge(
            facts.frozen_age <= FROZEN_AGE,
            Severity.FAULT,
            "age(datfrozenxid)",
            facts.frozen_age,
            "let autovacuum freeze: at two billion the server stops",
        ),
        _judge(
            facts.multixact_age <= MULTIXACT_AGE,
            Severity.FAULT,
            "mxid_age(datminmxid)",
            facts.multixact_age,
            "find who takes FOR SHARE locks here (we do not), and let autovacuum freeze",
        ),
        _examine_wal_archive(facts.wal_archive_lag),
        *examine_growth(facts.growth),
        _judge(
            not facts.unarchived.days,
            Severity.FAULT,
            "days not archived",
            f"{facts.unarchived.days}, {facts.unarchived.bytes / 1e9:.1f} GB" if facts.unarchived.days else 0,
            "see `days.held_back` in the log: no day is dropped before it is archived, so the disk grows",
        ),
    ]  # fmt: skip
    return worst_first(found)


def _examine_wal_archive(lag: timedelta | None) -> Diagnosis:
    """Check how much a restore from the archive would lose. A managed service may copy WAL without this setting."""
    if lag is None:
        advice = "set archive_mode = on, as docs/backup.md says: without WAL a restore loses all since the last backup"
        return Diagnosis(Severity.HINT, WAL_ARCHIVE, "none", advice)
    return _judge(
        lag <= MAX_WAL_ARCHIVE_LAG,
        Severity.FAULT,
        WAL_ARCHIVE,
        f"{lag.total_seconds():.0f} s behind",
        "look at pg_stat_archiver and the log of PostgreSQL: a restore would lose all since then, and the disk fills",
    )


def examine_standbys(names: str | None, *, hosts: int, production: bool) -> Diagnosis:
    """Check whether a commit waits for a standby.

    With one host in the DSN an empty setting is a hint: a managed service may copy the disk below PostgreSQL. With
    several hosts a standby may be promoted that lacks acknowledged commits: a fault in production.
    """
    if names:
        return Diagnosis(Severity.OK, STANDBYS, names)
    if hosts == 1:
        advice = "set it where a standby may be promoted; a managed service that copies the disk itself needs none"
        return Diagnosis(Severity.HINT, STANDBYS, "empty", advice)
    level = Severity.FAULT if production else Severity.HINT
    advice = f"the DSN names {hosts} hosts: without a synchronous standby a failover loses acknowledged commits"
    return Diagnosis(level, STANDBYS, "empty", advice)


def examine_version(number: int) -> Diagnosis:
    """Check the version of the server, given as in `server_version_num`."""
    major = number // 10_000
    if major < OLDEST_MAJOR:
        advice = f"use PostgreSQL {OLDEST_MAJOR} to {NEWEST_MAJOR}"
    else:
        advice = f"Horae is tested on PostgreSQL {OLDEST_MAJOR} to {NEWEST_MAJOR}; try this one before you rely on it"
    otherwise = Severity.FAULT if major < OLDEST_MAJOR else Severity.HINT
    return _judge(OLDEST_MAJOR <= major <= NEWEST_MAJOR, otherwise, "server_version", number, advice)


def examine_growth(growth: Growth | None) -> list[Diagnosis]:
    """Check how the cell grows, by the last measurement of a node."""
    if growth is None:
        return [Diagnosis(Severity.HINT, "growth", "unknown", "start a node: it measures the cell every ten minutes")]
    rate, held = growth.bytes_per_day, growth.held
    a_day = "no full day yet" if rate is None else f"{gigabytes(rate)} a day"
    bloated = [table for table in growth.tables if table.bloated]
    waiting = [*held.subscriptions, *([f"{held.unrelayed} compensations"] if held.unrelayed else [])] if held else []
    return [
        Diagnosis(Severity.OK, "growth", f"{a_day}; {gigabytes(growth.database_bytes)} now"),
        _examine_disk(growth),
        Diagnosis(Severity.OK, "oldest day", str(growth.oldest_day or "none")),
        _judge(
            held is None,
            Severity.HINT,
            "days held back",
            "none" if held is None else f"{held.days} since {held.oldest}: {', '.join(waiting)}",
            "mend the sinks of these subscriptions, or remove them: the days after them stay as well",
        ),
        _judge(
            not bloated,
            Severity.HINT,
            "dead rows",
            ", ".join(f"{one.name} {one.dead_rows:,} beside {one.live_rows:,} live" for one in bloated) or "few",
            "end what holds an old snapshot, and let vacuum run: dead rows slow down every scan",
        ),
    ]  # fmt: skip


def _examine_disk(growth: Growth) -> Diagnosis:
    if growth.disk_bytes is None:
        advice = "set HORAE_DISK_BYTES, or disk_bytes of the cell: PostgreSQL cannot tell how much space is left"
        return Diagnosis(Severity.HINT, "disk", "unknown", advice)
    full, size = growth.days_until_full, gigabytes(growth.disk_bytes)
    if full is None:
        return Diagnosis(Severity.OK, "disk", f"{size}, enough for a year at this rate")
    level = Severity.FAULT if full <= FULL_SOON_DAYS else Severity.HINT if full <= FULL_LATER_DAYS else Severity.OK
    advice = "add space, keep fewer days (HORAE_HISTORY_DAYS), or add a cell"
    return Diagnosis(level, "disk", f"{size}, full in {full} days", "" if level is Severity.OK else advice)


def examine_role(*, superuser: bool, production: bool, name: str = ROLE) -> Diagnosis:
    """Check the role of a connection. No restriction in a statement holds for a superuser."""
    return _judge(
        not superuser,
        Severity.FAULT if production else Severity.HINT,
        name,
        "superuser" if superuser else "ordinary",
        "connect as a role that is no superuser and cannot become one",
    )


def examine_rows(hidden_tables: int, *, name: str = ROWS) -> Diagnosis:
    """Check what a role of a node sees. Where rows are hidden from a node, nothing fires, and nothing says so."""
    return _judge(
        not hidden_tables,
        Severity.FAULT,
        name,
        f"hidden in {hidden_tables} tables" if hidden_tables else "visible",
        "connect as horae_engine, upkeep as horae_migrate: row-level security hides these rows from other roles",
    )


def _examine_rights(facts: CellFacts) -> list[Diagnosis]:
    """Check the rights that the roles need not have, or have no need for."""
    alter = "; ".join(f"alter role {role} nobypassrls" for role in facts.bypassing_roles)
    return [
        _judge(
            facts.sees_sessions,
            Severity.HINT,
            "sessions of other roles",
            "visible" if facts.sees_sessions else "hidden",
            "`grant pg_read_all_stats to horae_engine`: without it, a snapshot that another role holds is not seen",
        ),
        _judge(
            facts.ends_sessions,
            Severity.HINT,
            "ending sessions of other roles",
            "allowed" if facts.ends_sessions else "not allowed",
            "`grant pg_signal_backend to horae_engine`: HORAE_SNAPSHOT_LIMIT needs it",
        ),
        _judge(
            not facts.bypassing_roles,
            Severity.HINT,
            "roles with BYPASSRLS",
            ", ".join(facts.bypassing_roles) or "none",
            f"`{alter}` when every cell of this server is migrated; on PostgreSQL 15 only a superuser may",
        ),
    ]


def worst_first(findings: Iterable[Diagnosis]) -> list[Diagnosis]:
    """Sort the findings, faults first."""
    return sorted(findings, key=lambda finding: list(Severity).index(finding.level), reverse=True)


def unfit(facts: CellFacts, *, production: bool) -> list[Diagnosis]:
    """Return the faults that keep a node from starting.

    These are an unsupported version, missing migrations, and rows that are hidden from it; in production also a
    superuser, and commits that can be lost.
    """
    names = {"server_version", "migrations missing", ROWS, *((*DURABLE, STANDBYS, ROLE) if production else ())}
    found = examine(facts, production=production)
    return [finding for finding in found if finding.level is Severity.FAULT and finding.name in names]


def _setting(name: str, rule: SettingRule, value: str | None) -> Diagnosis:
    if value is None:
        return Diagnosis(Severity.HINT, name, "unknown", "this server does not say")
    return _judge(rule.holds(value), rule.otherwise, name, _with_unit(name, value), rule.advice)


def _with_unit(name: str, value: str) -> str:
    """Return a setting as a person writes it: 4096 of `work_mem` is 4 MB."""
    unit = UNITS.get(name)
    if unit is None or not value.isdecimal():
        return value
    if unit not in SIZES:
        return f"{value} {unit}"
    size, larger = int(value) * SIZES[unit], iter(("MB", "GB", "TB"))
    unit = "kB"
    while size >= 1024 and size % 1024 == 0 and (next_unit := next(larger, None)) is not None:
        size, unit = size // 1024, next_unit
    return f"{size} {unit}"


def _judge(fine: bool, otherwise: Severity, name: str, found: object, advice: str) -> Diagnosis:
    return Diagnosis(Severity.OK if fine else otherwise, name, str(found), "" if fine else advice)
