"""The register of all tables: how long their rows are kept, where they belong, what of them is encrypted.

`docs/tables.md` is written from it (`tools/tables.py`). A test compares it with the tables of a migrated database, so a
new table cannot be forgotten.
"""

from enum import StrEnum
from typing import Final, NamedTuple


class Place(StrEnum):
    """Where the rows of a table belong."""

    SHARD = "shard"
    """Each row belongs to a shard, and moves with it."""
    COPIES = "shard, copies everywhere"
    """Each row belongs to a shard; other cells have copies."""
    CELL = "cell"
    """The rows belong to their cell and stay there."""


class TableFacts(NamedTuple):
    """What one has to know about a table before one changes or drops something in it.

    - `kept`: how long a row stays.
    - `goes`: what becomes of the rows of a removed tenant.
    - `encrypted`: the columns with encrypted values.
    - `archived`: whether its rows are written to the archive before they are dropped.
    - `restored`: whether a cell that is restored from a backup needs the rows of the backup.
    """

    name: str
    kept: str
    place: Place
    goes: str
    encrypted: str = ""
    archived: bool = False
    restored: bool = True


PURGED: Final = "purged"
WITH_DAY: Final = "with their day"
NOBODYS: Final = "belong to no tenant"
FOR_EVER: Final = "for ever"
REMOVED_A_DAY: Final = "until removed, and a day without its value"
TABLES: Final = (
    TableFacts("alert", "30 days after it was resolved", Place.CELL, PURGED),
    TableFacts("alert_message", "as long as its alert; a test for 30 days", Place.CELL, PURGED),
    TableFacts("alert_position", "one row", Place.CELL, NOBODYS),
    TableFacts("api_key", "until revoked, and a day", Place.COPIES, PURGED),
    TableFacts("archived_day", "as long as its day is archived", Place.CELL, NOBODYS),
    TableFacts("audit_block", "`HORAE_AUDIT_DAYS`", Place.CELL, NOBODYS),
    TableFacts("audit_checkpoint", "one row", Place.CELL, NOBODYS),
    TableFacts("audit_log", "`HORAE_AUDIT_DAYS`", Place.SHARD, "stay for their term"),
    TableFacts("backfill", "90 days after its end", Place.SHARD, PURGED),
    TableFacts("calendar", "as long as its tenant", Place.SHARD, PURGED),
    TableFacts("cell", "one row", Place.CELL, NOBODYS),
    TableFacts("cell_generation", "one row", Place.CELL, NOBODYS),
    TableFacts("cell_witness", "a row for each other cell", Place.CELL, NOBODYS),
    TableFacts("certificate", "as long as its tenant", Place.SHARD, PURGED),
    TableFacts("channel", REMOVED_A_DAY, Place.COPIES, PURGED),
    TableFacts("clock_offset", "one row", Place.CELL, NOBODYS),
    TableFacts("coverage", "as long as its rolling set", Place.SHARD, PURGED),
    TableFacts("data_key", "as long as its tenant", Place.COPIES, PURGED, "`wrapped`, by the keyring"),
    TableFacts("dead_letter", "`HORAE_DEAD_LETTER_DAYS`", Place.SHARD, PURGED, "`payload`"),
    TableFacts("dropped_day", "four rows", Place.CELL, NOBODYS),
    TableFacts("feed_mark", "as long as days can be kept", Place.CELL, NOBODYS),
    TableFacts("feed_position", "as long as its subscription", Place.CELL, PURGED),
    TableFacts("fire_audit_position", "one row", Place.CELL, NOBODYS),
    TableFacts("fire_finding", "30 days after it ended", Place.SHARD, PURGED),
    TableFacts("graph_child", "as long as its run", Place.SHARD, PURGED),
    TableFacts("graph_run", "the last 100 of a graph, as long as its job", Place.SHARD, PURGED),
    TableFacts("graph_step", "as long as its run", Place.SHARD, PURGED),
    TableFacts("growth", "one row", Place.CELL, NOBODYS, restored=False),
    TableFacts("hold", "while something is held back", Place.CELL, PURGED, restored=False),
    TableFacts("idempotency", "24 hours", Place.SHARD, PURGED),
    TableFacts("incident", FOR_EVER, Place.CELL, NOBODYS),
    TableFacts("incident_entry", FOR_EVER, Place.CELL, NOBODYS),
    TableFacts("instance_history", "`HORAE_HISTORY_DAYS`, whole days", Place.SHARD, PURGED, "`payload`", archived=True),
    TableFacts("instance_live", "until it ends", Place.SHARD, PURGED, "`payload`, the text of `progress`"),
    TableFacts("instance_result", "`HORAE_HISTORY_DAYS`, whole days", Place.SHARD, PURGED, "`body`"),
    TableFacts("intake_position", "as long as its intake", Place.CELL, PURGED),
    TableFacts("job", "`HORAE_ENDED_JOB_DAYS` after its end", Place.SHARD, PURGED, "parts of `definition`"),
    TableFacts("job_cursor", "as long as the job fires", Place.SHARD, PURGED),
    TableFacts(
        "job_version",
        "`HORAE_ENDED_JOB_DAYS` after it was replaced; the last 10 as long as their job",
        Place.SHARD,
        PURGED,
        "parts of `definition`",
    ),
    TableFacts("log_batch", "`HORAE_LOG_DAYS`, whole days", Place.SHARD, WITH_DAY, "`body`", restored=False),
    TableFacts("log_usage", "one row for each tenant that logs", Place.CELL, PURGED, restored=False),
    TableFacts(
        "measure",
        "while it is in force, or a person has overridden it",
        Place.CELL,
        "stay for their term",
        restored=False,
    ),
    TableFacts("node", "a day after it was last seen", Place.CELL, NOBODYS, restored=False),
    TableFacts("outbox", "`HORAE_HISTORY_DAYS`, whole days", Place.SHARD, WITH_DAY),
    TableFacts("paced_replay", "90 days after its end", Place.SHARD, PURGED),
    TableFacts("parked", "until sent again or dropped", Place.SHARD, PURGED, "`body`"),
    TableFacts("queue_worker", "an hour after the last poll", Place.CELL, PURGED, restored=False),
    TableFacts("quota_bucket", "90 days after its limit was last used", Place.SHARD, PURGED),
    TableFacts("quota_hold", "until its node gives it back", Place.SHARD, PURGED),
    TableFacts("reference", "as long as what it is a copy of", Place.CELL, PURGED, "parts of `body`"),
    TableFacts("relay", "a row for each shard", Place.CELL, NOBODYS),
    TableFacts("restore_doubt", FOR_EVER, Place.CELL, "stay: they say what was decided", "`content` of secrets"),
    TableFacts("role_binding", "until removed, and a day without its roles", Place.COPIES, PURGED),
    TableFacts("schema_migration", FOR_EVER, Place.CELL, NOBODYS),
    TableFacts("secret", REMOVED_A_DAY, Place.COPIES, PURGED, "`sealed`"),
    TableFacts("service_level", "7 hours, 3 days and 32 days", Place.CELL, "stay for their term", restored=False),
    TableFacts("session", "until it ends, and a day", Place.SHARD, PURGED),
    TableFacts("shard", "4,096 rows", Place.CELL, NOBODYS),
    TableFacts("shard_move", FOR_EVER + ": it says where older history is", Place.CELL, NOBODYS),
    TableFacts("signal", "a day", Place.CELL, "stay for their term", restored=False),
    TableFacts("source", "until removed", Place.SHARD, PURGED),
    TableFacts("source_repair", "30 days", Place.SHARD, PURGED),
    TableFacts("source_round", "the last 100 of a source", Place.SHARD, PURGED),
    TableFacts("subject", "until removed from its rolling set, or with it", Place.SHARD, PURGED),
    TableFacts("subject_version", "as long as its set; 30 days once a message removed it", Place.SHARD, PURGED),
    TableFacts("task_key", "as long as its type, or the `key_retention_days` of it", Place.SHARD, PURGED),
    TableFacts("tenant", FOR_EVER + ": a purged tenant's row says so", Place.SHARD, "stay, marked as purged"),
    TableFacts("widening", "one row for each tenant that was widened", Place.CELL, PURGED),
    TableFacts("worker_drain", "an hour after the last poll of its worker", Place.CELL, PURGED, restored=False),
)
SECURED_TABLES: Final = tuple(table.name for table in TABLES if table.goes != NOBODYS)
"""The tables with rows of tenants. All of them are behind row-level security."""
