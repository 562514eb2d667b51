"""The lower bound of the due scan is kept beyond the process, and nobody looks behind it any more.

What was written behind it late, or was in the memory of a node that is gone, is never seen again.
"""

import json
import os
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

from horae.engine.feeder import FIRSTS, Feeder, Shelf
from horae.store.looks import BEGINNING, Look


def folder() -> Path:
    control = os.environ.get("HORAE_CONTROL")
    return Path(control).parent if control else Path(tempfile.gettempdir())


def plant(put: Any) -> None:
    read_ahead = Shelf.ahead

    async def ahead(shelf: Shelf, look: Look) -> None:
        await read_ahead(shelf, look)
        _kept(shelf).write_text(json.dumps(min(mark.at for mark in shelf.marks.values()).isoformat()))

    def reset(shelf: Shelf) -> None:
        kept = _kept(shelf)
        bound = datetime.fromisoformat(json.loads(kept.read_text())) if kept.exists() else BEGINNING
        shelf.marks = {class_: mark.before(bound) for class_, mark in shelf.marks.items()}

    async def behind(feeder: Feeder, now: datetime) -> None:
        feeder._looked_at = feeder._swept_at = now

    put(Shelf, "ahead", ahead)
    put(Shelf, "reset", reset)
    put(Feeder, "_behind", behind)


def _kept(shelf: Shelf) -> Path:
    """One file per cell and kind of rows."""
    kind = "cursors" if len(shelf.marks) == len(FIRSTS) else "instances"
    return folder() / f"bound-{shelf.cell.name}-{kind}.json"
