"""Plain values for tests of rules."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from horae.domain.instances.instances import Instance
from horae.domain.instances.lifecycle import State
from horae.domain.tasks.tasks import KeyState, Ledger

NOW = datetime(2026, 11, 15, 9, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
TOKEN = UUID(int=7)


def an_instance(state: State = State.INIT, **facts: Any) -> Instance:
    running = state is State.RUNNING
    base: dict[str, Any] = {
        "shard": 1,
        "id": UUID(int=1),
        "tenant_id": UUID(int=2),
        "job_id": UUID(int=3),
        "job_version": 1,
        "idem_key": "k",
        "fire_time": NOW,
        "due_at": NOW,
        "state": state,
        "business_key": "42",
        "generation": 1,
        "attempt": 1 if running else 0,
        "token": TOKEN if running else None,
    }
    return Instance(**(base | facts))


def known(
    state: State | None, *, generation: int = 1, intent_version: int | None = None, revision: int = 1, **facts: Any
) -> KeyState:
    """A key in a state: None means never used, a final state lives in the ledger only."""
    if state is None:
        return KeyState()
    live = an_instance(state, generation=generation, intent_version=intent_version, **facts)
    final = state in {State.SUCCESS, State.DEAD, State.CANCELLED, State.SKIPPED}
    ledger = Ledger(generation, state if final else None, intent_version, revision, live.id)
    return KeyState(None if final else live, ledger)
