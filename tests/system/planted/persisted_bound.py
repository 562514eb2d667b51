"""The lower bound of the due scan is kept beyond the process, and nobody looks behind it any more.

What was written behind it late, or was in the memory of a node that is gone, is never seen again.
"""

import json
import os
import tempfile
from collections.abc import Container
from datetime import datetime
from pathlib import Path
from typing import Any

from horae.domain.instances.instances import Priority
from horae.engine.class_scanner import ALL_PRIORITIES, ClassScanner, Pages
from horae.engine.feeder import FIRSTS, Feeder
from horae.store.nodes.scans import BEGINNING, ScanRange


def folder() -> Path:
    control = os.environ.get("HORAE_CONTROL")
    return Path(control).parent if control else Path(tempfile.gettempdir())


def plant(put: Any) -> None:
    read_ahead = ClassScanner.read_ahead

    async def ahead(scanner: ClassScanner, look: ScanRange, priorities: Container[Priority] = ALL_PRIORITIES) -> Pages:
        async for _ in read_ahead(scanner, look, priorities):
            yield
        _kept(scanner).write_text(json.dumps(min(mark.at for mark in scanner.marks.values()).isoformat()))

    def reset(scanner: ClassScanner) -> None:
        kept = _kept(scanner)
        bound = datetime.fromisoformat(json.loads(kept.read_text())) if kept.exists() else BEGINNING
        scanner.marks = {class_: mark.before(bound) for class_, mark in scanner.marks.items()}

    async def behind(feeder: Feeder, now: datetime, _overdue: datetime | None = None) -> Pages:
        feeder._looked_at = feeder._swept_at = now
        for _ in ():
            yield

    put(ClassScanner, "read_ahead", ahead)
    put(ClassScanner, "reset", reset)
    put(Feeder, "_behind", behind)


def _kept(scanner: ClassScanner) -> Path:
    """One file per cell and kind of rows."""
    kind = "cursors" if len(scanner.marks) == len(FIRSTS) else "instances"
    return folder() / f"bound-{scanner.cell.name}-{kind}.json"
