"""What a run leaves behind for its checker: where to read, and what was done to the cluster meanwhile.

The checker reads PostgreSQL, the target's ledger (SQLite), the API log and the nodes' own logs (both JSON lines), and
nothing else. What it needs of them:

* ledger: `delivery(seq, idem_key, instance, job, business_key, fire_time, attempt, arrived_at, path, answer)`, one row
  per call, and `effect(idem_key, instance, attempt, fire_time, at)`. Where a call's answer carries `{"seq": n}` of its
  own delivery, the checker can tell from a history row which of several calls was believed. `answered_at` is optional.
* API log: `op, job, key, at, intent, spec, limit, began, ended, ok, answer, error`; see `checker/calls.py`.

Times in ledger and log are the host's; a strike's too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Strike:
    """A fault that was struck: from when to when, and what is worth knowing about it."""

    name: str
    began: float
    healed: float
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Evidence:
    """Everything a checker may look at. Every fire between `began` and `ended` must be accounted for."""

    dsns: Sequence[str]
    ledger: Path
    log: Path
    began: datetime
    ended: datetime
    ttl: float
    strikes: Sequence[Strike] = ()
    node_logs: Sequence[Path] = ()
    nodes: int | None = None
    """How many nodes serve at the end, where that is known."""
