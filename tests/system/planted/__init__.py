"""Bugs that other schedulers had, to be put into ours: what the tests are worth shows in what they catch.

`plant(name)` puts one into this process, for good; a test passes `put=monkeypatch.setattr` to have it taken out again.
A plant whose place in the code is gone fails loudly: a bug that is not there proves nothing.
"""

from collections.abc import Callable
from typing import Any

from tests.system.planted import (
    claim_in_limit,
    hostname_identity,
    local_clock,
    next_from_now,
    persisted_bound,
    run_time_deadline,
    token_dropped,
    unguarded_rescue,
)

Put = Callable[[Any, str, Any], None]
PLANTS: dict[str, Callable[[Put], None]] = {
    "token-dropped": token_dropped.plant,
    "local-clock": local_clock.plant,
    "next-from-now": next_from_now.plant,
    "unguarded-rescue": unguarded_rescue.plant,
    "claim-in-limit": claim_in_limit.plant,
    "hostname-identity": hostname_identity.plant,
    "persisted-bound": persisted_bound.plant,
    "run-time-deadline": run_time_deadline.plant,
}


def plant(name: str, put: Put = setattr) -> None:
    """Put one bug into this process."""
    PLANTS[name](put)
