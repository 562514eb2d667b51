"""What a cell needs so that our promises hold, and what to change where it does not.

`horae doctor` runs these checks; the page "PostgreSQL settings" explains them. A *fault* breaks a promise, a *hint*
costs speed or causes trouble later.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Final, NamedTuple


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
    unarchived: UnarchivedDays = UnarchivedDays(0, 0)


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
ROLE: Final = "role"
OLDEST_VERSION: Final = 150_000
"""The oldest server version, as in `server_version_num`."""
MAX_SNAPSHOT_AGE: Final = timedelta(seconds=60)
"""The age of a snapshot from which on it delays vacuum too much."""
FROZEN_AGE: Final = 500_000_000
"""Transactions since the last freeze."""
MULTIXACT_AGE: Final = 100_000_000
"""Multixacts since the last freeze. Our statements share no row locks, so a cell has nearly none."""
DAYS_AHEAD: Final = 3
"""Days for which partitions must exist in advance."""


def examine(facts: CellFacts, *, production: bool = False) -> list[Diagnosis]:
    """Return the results of all checks, faults first."""
    found = [_setting(name, rule, facts.settings.get(name)) for name, rule in SETTINGS.items()]
    found += [
        _judge(
            facts.version >= OLDEST_VERSION,
            Severity.FAULT,
            "server_version",
            facts.version,
            "use PostgreSQL 15 or newer",
        ),
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
        _judge(
            not facts.unarchived.days,
            Severity.FAULT,
            "days not archived",
            f"{facts.unarchived.days}, {facts.unarchived.bytes / 1e9:.1f} GB" if facts.unarchived.days else 0,
            "see `days.held_back` in the log: no day is dropped before it is archived, so the disk grows",
        ),
    ]  # fmt: skip
    return worst_first(found)


def examine_role(*, superuser: bool, production: bool, name: str = ROLE) -> Diagnosis:
    """Check the role of a connection. No restriction in a statement holds for a superuser."""
    return _judge(
        not superuser,
        Severity.FAULT if production else Severity.HINT,
        name,
        "superuser" if superuser else "ordinary",
        "connect as a role that is no superuser and cannot become one",
    )


def worst_first(findings: Iterable[Diagnosis]) -> list[Diagnosis]:
    """Sort the findings, faults first."""
    return sorted(findings, key=lambda finding: list(Severity).index(finding.level), reverse=True)


def unfit(facts: CellFacts, *, production: bool) -> list[Diagnosis]:
    """Return the faults that keep a node from starting.

    These are an unsupported version and missing migrations; in production also a superuser, and commits that can be
    lost.
    """
    names = {"server_version", "migrations missing", *((*DURABLE, ROLE) if production else ())}
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
