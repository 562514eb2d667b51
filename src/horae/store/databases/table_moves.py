"""What happens to the rows of each table when a shard moves to another cell.

`docs/moving-shards.md` shows this table (`tools/tables.py moves` writes it). A test compares it with the register of
tables, so a new table cannot be forgotten.
"""

from enum import StrEnum
from typing import Final, NamedTuple


class MoveRule(StrEnum):
    """What a move does with the rows of a table."""

    MOVED = "moved"
    """Copied to the target and compared there. The source deletes its rows last."""
    COPIED = "copied"
    """Copied to the target and compared there. The source keeps its rows: every cell has copies of them."""
    RAISED = "raised"
    """The target's number is raised to the source's, before the shard is active."""
    STAYS = "stays"
    """The rows stay in the cell that wrote them, and are read there."""
    NONE = "not touched"
    """The rows belong to the cell, not to a shard."""


class TableMove(NamedTuple):
    """The rule of one table, and what a reader has to know about it. `shard_column` names the shard of a row."""

    rule: MoveRule
    note: str
    shard_column: str = "shard_id"


COUNTED_ANEW: Final = TableMove(MoveRule.NONE, "each cell has its own figures")
ALERTS: Final = TableMove(MoveRule.NONE, "an open alert of the source is resolved there; the target opens its own")
TABLE_MOVES: Final = {
    "alert": ALERTS,
    "alert_message": ALERTS,
    "alert_position": TableMove(MoveRule.NONE, "how far the rules have read the history of this cell"),
    "api_key": TableMove(MoveRule.COPIED, "the target becomes the home of the row"),
    "archived_day": TableMove(MoveRule.NONE, "a day is archived by the cell that wrote it"),
    "audit_block": TableMove(MoveRule.NONE, "each cell has its own hash chain"),
    "audit_checkpoint": TableMove(MoveRule.NONE, "each cell has its own hash chain"),
    "audit_log": TableMove(MoveRule.STAYS, "part of the source's hash chain; lists read all cells"),
    "backfill": TableMove(MoveRule.MOVED, "with its cursor: no fire of it is made twice"),
    "calendar": TableMove(MoveRule.MOVED, ""),
    "cell": TableMove(MoveRule.NONE, "the name of the cell"),
    "cell_generation": TableMove(MoveRule.NONE, "which life of the cell this database is"),
    "cell_witness": TableMove(MoveRule.NONE, "what this cell has heard of the others"),
    "certificate": TableMove(MoveRule.MOVED, "with its evidence"),
    "channel": TableMove(MoveRule.COPIED, "the target becomes the home of the row"),
    "clock_offset": TableMove(MoveRule.NONE, "each cell has its own clock"),
    "coverage": TableMove(MoveRule.MOVED, ""),
    "data_key": TableMove(MoveRule.COPIED, "still wrapped; the keyring is the same for all cells"),
    "dead_letter": TableMove(MoveRule.MOVED, "open and closed ones"),
    "dropped_day": TableMove(MoveRule.NONE, "which days this cell has dropped"),
    "feed_mark": TableMove(MoveRule.NONE, "transactions of this cell"),
    "feed_position": TableMove(MoveRule.NONE, "a subscription has a position in every cell; both go on"),
    "fire_audit_position": TableMove(MoveRule.NONE, "how far the fires of this cell's jobs are audited"),
    "fire_finding": TableMove(MoveRule.MOVED, "open and ended ones"),
    "graph_child": TableMove(MoveRule.MOVED, "with its run"),
    "graph_run": TableMove(MoveRule.MOVED, "open and ended ones; open ones go on"),
    "graph_step": TableMove(MoveRule.MOVED, "with its run"),
    "growth": COUNTED_ANEW,
    "hold": TableMove(MoveRule.NONE, "written again by the nodes within seconds"),
    "idempotency": TableMove(MoveRule.MOVED, "a repeated request gets its first answer in the target, too"),
    "incident": TableMove(MoveRule.NONE, "recovery works on it where it was started"),
    "incident_entry": TableMove(MoveRule.NONE, "what recovery did in this cell"),
    "instance_history": TableMove(MoveRule.STAYS, "read in every cell that held the shard, until the day is dropped"),
    "instance_live": TableMove(MoveRule.MOVED, "waiting and running ones, with attempt, token and deadline"),
    "instance_result": TableMove(MoveRule.STAYS, "read in every cell that held the shard, until the day is dropped"),
    "intake_position": TableMove(MoveRule.NONE, "figures for people; the broker has the position"),
    "job": TableMove(MoveRule.MOVED, ""),
    "job_cursor": TableMove(MoveRule.MOVED, "the next fire: it is made by the target"),
    "job_version": TableMove(MoveRule.MOVED, ""),
    "log_batch": TableMove(MoveRule.STAYS, "read in every cell that held the shard, until the day is dropped"),
    "log_usage": COUNTED_ANEW,
    "measure": TableMove(MoveRule.NONE, "every cell has all measures"),
    "node": TableMove(MoveRule.NONE, "nodes are members of every cell"),
    "outbox": TableMove(MoveRule.STAYS, "the source's feed and relay go on with what was written there"),
    "paced_replay": TableMove(MoveRule.MOVED, "the dead letters know which of them it has sent"),
    "parked": TableMove(MoveRule.MOVED, ""),
    "queue_worker": TableMove(MoveRule.NONE, "a poll writes a row in every cell"),
    "quota_bucket": TableMove(MoveRule.MOVED, "no token is granted twice"),
    "quota_hold": TableMove(MoveRule.MOVED, "nodes keep what they hold"),
    "reference": TableMove(MoveRule.COPIED, "every cell has all of them; the target gets the newest", "home_shard"),
    "relay": TableMove(MoveRule.STAYS, "transactions of this cell; the source's relay goes on to the end"),
    "restore_doubt": TableMove(MoveRule.NONE, "what a restore of this cell shut"),
    "role_binding": TableMove(MoveRule.COPIED, "the target becomes the home of the row"),
    "schema_migration": TableMove(MoveRule.NONE, "both cells must be at the same release"),
    "secret": TableMove(MoveRule.COPIED, "still encrypted"),
    "service_level": COUNTED_ANEW,
    "session": TableMove(MoveRule.MOVED, "nobody is logged out"),
    "shard": TableMove(MoveRule.NONE, "the shard map: closed in the source, then active in the target"),
    "shard_move": TableMove(MoveRule.STAYS, "the source keeps the record: it says until when the shard was there"),
    "signal": COUNTED_ANEW,
    "source": TableMove(MoveRule.MOVED, ""),
    "source_repair": TableMove(MoveRule.MOVED, ""),
    "source_round": TableMove(MoveRule.MOVED, "a running round goes on"),
    "subject": TableMove(MoveRule.MOVED, ""),
    "subject_version": TableMove(MoveRule.MOVED, "a late message changes nothing in the target, too"),
    "task_key": TableMove(MoveRule.MOVED, "the whole ledger: a key that succeeded stays ended"),
    "tenant": TableMove(MoveRule.MOVED, "if the shard is its home"),
    "widening": TableMove(MoveRule.RAISED, "so that no name is created in a former placement"),
    "worker_drain": TableMove(MoveRule.NONE, "every cell has the row of a drained worker"),
}
DELETED_AFTER_MOVE: Final = tuple(name for name, move in TABLE_MOVES.items() if move.rule == MoveRule.MOVED)
"""The tables whose rows the source deletes."""
COPIED_IN_MOVE: Final = tuple(
    name for name, move in TABLE_MOVES.items() if move.rule in (MoveRule.MOVED, MoveRule.COPIED)
)
"""The tables whose rows the target gets."""
