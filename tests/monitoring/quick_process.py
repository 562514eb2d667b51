"""`horae` as it is, with upkeep at short intervals, so that a test need not wait for its minutes.

SIGUSR1 blocks the event loop for `BLOCK_S` seconds, as a call that does not give way would.
"""

import asyncio
import signal
import time

from horae.boot import duties, signals
from horae.boot.cli import main
from horae.boot.commands import api, node

BLOCK_S = 7.0
QUICK_S = 1.0
SHORTENED = ("SIGNALS", "GAUGES", "DAY_DROP", "GROWTH", "ARCHIVE")


def _stop_signal() -> asyncio.Event:
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, time.sleep, BLOCK_S)
    return signals.stop_signal()


if __name__ == "__main__":
    for duty in SHORTENED:
        assert hasattr(duties, f"{duty}_INTERVAL_S")
        setattr(duties, f"{duty}_INTERVAL_S", QUICK_S)
    for command in (api, node):
        assert command.stop_signal is signals.stop_signal
        command.stop_signal = _stop_signal
    main()
