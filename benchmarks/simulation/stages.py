"""Inside a measured node: the processor time of each step of a call. `HORAE_BENCH_STAGES` names the file of the sums.

`benchmarks.wrapped` imports this module before the node starts (`HORAE_BENCH_PATCH`).
"""

import os
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final

from benchmarks.wrapped import keep_telling
from horae.delivery.connection import Connection
from horae.engine.admission.admission import Admission
from horae.engine.flights import Flights

STAGES: Final = "HORAE_BENCH_STAGES"
STEPS: Final = (
    (Admission, "offer", "offer"),
    (Admission, "dispatch", "admit"),
    (Flights, "_call", "send"),
    (Connection, "data_received", "land"),
)
"""Functions that do nothing but their step, and none of which calls another one of them."""


def watch() -> None:
    """Count the processor time of each step from now on."""
    spent: Counter[str] = Counter()
    for owner, name, step in STEPS:
        setattr(owner, name, _timed(getattr(owner, name), step, spent))
    keep_telling(Path(os.environ[STAGES]), lambda: dict(spent))


def _timed(call: Any, step: str, spent: "Counter[str]") -> Any:
    def timed(*args: Any, **options: Any) -> Any:
        began = time.thread_time()
        try:
            return call(*args, **options)
        finally:
            spent[step] += time.thread_time() - began  # type: ignore[assignment]

    return timed


if STAGES in os.environ:
    watch()
