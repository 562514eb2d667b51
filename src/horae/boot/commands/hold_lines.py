"""Formats a hold as one line for people."""

from typing import Final

from horae.boot.times import moment
from horae_client.models import Hold

CAUSES: Final = {
    "measure": "withheld by the measure {name}",
    "breaker": "circuit breaker of {name} open",
    "no_answer": "{name} does not answer",
    "retry_budget": "retry budget of {name} spent",
    "target_cap": "no place free at {name}",
    "no_slot": "no slot free for the long calls of {name}",
    "concurrency": "concurrency limit {name} reached",
    "rate": "rate limit {name} reached",
}


def hold_line(hold: Hold) -> str:
    """Why calls are held back, since when, how many wait, and when the next one is tried."""
    cause = CAUSES.get(hold.reason, f"{hold.reason} of {{name}}").format(name=hold.name)
    tried = "" if hold.next_try_at is None else f", next try {moment(hold.next_try_at)} UTC"
    return f"{cause} since {moment(hold.since)} UTC, {hold.waiting} waiting{tried}"
