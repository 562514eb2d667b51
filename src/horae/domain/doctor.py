"""What a cell must be like for our promises to hold, and what to change where it is not.

`horae doctor` asks; the page "PostgreSQL settings" explains. A *fault* breaks a promise, a *hint* costs speed or sleep.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Final, NamedTuple


class Level(StrEnum):
    """How bad it is."""

    OK = "ok"
    HINT = "hint"
    FAULT = "fault"


class Facts(NamedTuple):
    """What was read from one cell."""

    version: int
    settings: Mapping[str, str]
    superuser: bool
    oldest_snapshot: timedelta
    frozen_age: int
    multixact_age: int
    days_ahead: int
    pending_migrations: int


class Finding(NamedTuple):
    """One thing that was looked at."""

    level: Level
    name: str
    found: str
    advice: str = ""


class Rule(NamedTuple):
    """A setting we rely on."""

    holds: Callable[[str], bool]
    otherwise: Level
    advice: str


SETTINGS: Final[Mapping[str, Rule]] = {
    "fsync": Rule(lambda v: v == "on", Level.FAULT, "set fsync = on: without it a power cut loses acknowledged fires"),
    "full_page_writes": Rule(
        lambda v: v == "on", Level.FAULT, "set full_page_writes = on, unless the storage never tears a page"
    ),
    "synchronous_commit": Rule(
        lambda v: v in {"on", "remote_apply"},
        Level.FAULT,
        "set synchronous_commit = on: a commit is our acknowledgement",
    ),
    "autovacuum": Rule(
        lambda v: v == "on",
        Level.FAULT,
        "set autovacuum = on: upkeep vacuums only the hot tables, not history and ledger",
    ),
    "autovacuum_naptime": Rule(
        lambda v: int(v) <= 60, Level.HINT, "set autovacuum_naptime to 60 s or less: statistics age quickly here"
    ),
    "default_statistics_target": Rule(
        lambda v: int(v) >= 100, Level.HINT, "set default_statistics_target = 100 or more for history searches"
    ),
    "work_mem": Rule(lambda v: int(v) >= 4096, Level.HINT, "set work_mem = 4MB or more: lists sort in memory"),
    "shared_buffers": Rule(
        lambda v: int(v) >= 16384, Level.HINT, "set shared_buffers = 128MB or more, a quarter of the memory on a server"
    ),
    "max_wal_size": Rule(
        lambda v: int(v) >= 1024,
        Level.HINT,
        "set max_wal_size = 1GB or more (16GB at peak): checkpoints write whole pages",
    ),
    "wal_compression": Rule(
        lambda v: v not in {"off", ""},
        Level.HINT,
        "set wal_compression = lz4: whole pages after a checkpoint are logged compressed",
    ),
    "idle_in_transaction_session_timeout": Rule(
        lambda v: 0 < int(v) <= 60_000,
        Level.HINT,
        "set idle_in_transaction_session_timeout = 10s: our sessions set it themselves, a forgotten psql does not",
    ),
    "hot_standby_feedback": Rule(
        lambda v: v == "off",
        Level.HINT,
        "set hot_standby_feedback = off on standbys: their readers would hold back vacuum",
    ),
    "max_slot_wal_keep_size": Rule(
        lambda v: int(v) > 0, Level.HINT, "set max_slot_wal_keep_size (e.g. 64GB): a forgotten slot fills the disk"
    ),
}

UNITS: Final = {
    "autovacuum_naptime": "s",
    "work_mem": "kB",
    "shared_buffers": "8kB",
    "max_wal_size": "MB",
    "idle_in_transaction_session_timeout": "ms",
    "max_slot_wal_keep_size": "MB",
}
"""What PostgreSQL counts a setting in. A block has 8 kB, as everywhere where nobody built it otherwise."""
SIZES: Final = {"kB": 1, "8kB": 8, "MB": 1024}
"""Units of memory and disk, in kilobytes."""
DURABLE: Final = ("fsync", "full_page_writes", "synchronous_commit")
"""What makes a commit an acknowledgement. Where they are off, no node begins in production."""
ROLE: Final = "role"
OLDEST_VERSION: Final = 150_000
OLDEST_SNAPSHOT: Final = timedelta(seconds=60)
FROZEN_AGE: Final = 500_000_000
MULTIXACT_AGE: Final = 100_000_000
"""Nothing of ours shares a row lock, so a cell of ours has next to none."""
DAYS_AHEAD: Final = 3


def examine(facts: Facts, *, production: bool = False) -> list[Finding]:
    """Everything that was looked at, faults first."""
    found = [_setting(name, rule, facts.settings.get(name)) for name, rule in SETTINGS.items()]
    found += [
        _judge(
            facts.version >= OLDEST_VERSION,
            Level.FAULT,
            "server_version",
            facts.version,
            "use PostgreSQL 15 or newer",
        ),
        _judge(
            not facts.pending_migrations,
            Level.FAULT,
            "migrations missing",
            facts.pending_migrations,
            "run `horae migrate`",
        ),
        _judge(
            facts.days_ahead >= DAYS_AHEAD,
            Level.FAULT,
            "partitions, days ahead",
            facts.days_ahead,
            "start a node, or run `horae node --once`: it makes them",
        ),
        examine_role(superuser=facts.superuser, production=production),
        _judge(
            facts.oldest_snapshot <= OLDEST_SNAPSHOT,
            Level.HINT,
            "oldest snapshot",
            f"{facts.oldest_snapshot.total_seconds():.0f} s",
            "end the transaction in pg_stat_activity with the oldest backend_xmin: nothing is vacuumed behind it",
        ),
        _judge(
            facts.frozen_age <= FROZEN_AGE,
            Level.FAULT,
            "age(datfrozenxid)",
            facts.frozen_age,
            "let autovacuum freeze: at two billion the server stops",
        ),
        _judge(
            facts.multixact_age <= MULTIXACT_AGE,
            Level.FAULT,
            "mxid_age(datminmxid)",
            facts.multixact_age,
            "find who takes FOR SHARE locks here (we do not), and let autovacuum freeze",
        ),
    ]  # fmt: skip
    return worst_first(found)


def examine_role(*, superuser: bool, production: bool, name: str = ROLE) -> Finding:
    """Judge the role of a connection. Nothing that a statement says holds a superuser back."""
    return _judge(
        not superuser,
        Level.FAULT if production else Level.HINT,
        name,
        "superuser" if superuser else "ordinary",
        "connect as a role that is no superuser and cannot become one",
    )


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """The findings with the faults in front."""
    return sorted(findings, key=lambda finding: list(Level).index(finding.level), reverse=True)


def unfit(facts: Facts, *, production: bool) -> list[Finding]:
    """What keeps a node from beginning: unknown rows; in production also a superuser, or commits that may be lost."""
    names = {"server_version", "migrations missing", *((*DURABLE, ROLE) if production else ())}
    found = examine(facts, production=production)
    return [finding for finding in found if finding.level is Level.FAULT and finding.name in names]


def _setting(name: str, rule: Rule, value: str | None) -> Finding:
    if value is None:
        return Finding(Level.HINT, name, "unknown", "this server does not say")
    return _judge(rule.holds(value), rule.otherwise, name, _with_unit(name, value), rule.advice)


def _with_unit(name: str, value: str) -> str:
    """A setting as a person would write it: 4096 of `work_mem` is 4 MB."""
    unit = UNITS.get(name)
    if unit is None or not value.isdecimal():
        return value
    if unit not in SIZES:
        return f"{value} {unit}"
    size, larger = int(value) * SIZES[unit], iter(("MB", "GB", "TB"))
    shown = "kB"
    while size >= 1024 and size % 1024 == 0 and (next_unit := next(larger, None)) is not None:
        size, shown = size // 1024, next_unit
    return f"{size} {shown}"


def _judge(fine: bool, otherwise: Level, name: str, found: object, advice: str) -> Finding:
    return Finding(Level.OK if fine else otherwise, name, str(found), "" if fine else advice)
