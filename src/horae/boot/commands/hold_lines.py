"""Formats a hold as one line for people."""

from typing import Final

from horae.api.models.holds import HoldView

CAUSES: Final = {
    "breaker": "circuit breaker of {name} open",
    "retry_budget": "retry budget of {name} spent",
    "target_cap": "no place free at {name}",
    "concurrency": "concurrency limit {name} reached",
    "rate": "rate limit {name} reached",
}


def hold_line(hold: HoldView) -> str:
    """Why calls are held back, since when, how many wait, and when the next one is tried."""
    cause = CAUSES[hold.reason].format(name=hold.name)
    tried = "" if hold.next_try_at is None else f", next try {hold.next_try_at:%Y-%m-%d %H:%M:%S} UTC"
    return f"{cause} since {hold.since:%Y-%m-%d %H:%M:%S} UTC, {hold.waiting} waiting{tried}"
