"""The engine reads this machine's clock instead of the database's."""

import time
from datetime import UTC, datetime
from typing import Any

from horae.runtime.clock import Clock

wall = time.time


def plant(put: Any) -> None:
    put(Clock, "now", lambda _clock: datetime.fromtimestamp(wall(), UTC))
    put(Clock, "seconds", lambda _clock: wall())
