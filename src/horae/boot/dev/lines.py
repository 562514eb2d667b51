"""What is told while it runs: one short line per event, with the local time."""

from datetime import datetime, timedelta
from typing import NamedTuple, assert_never

from rich.text import Text

from horae.delivery.push import Delivered
from horae.domain.instances import Instance
from horae.domain.jobs import Job
from horae.domain.outcomes import Accepted, Declined, Lost, Probed, Retryable, Returned, Success, Unrecoverable
from horae.domain.tasks import OWN_KEY
from horae.service.tasks import Answer

NAME_WIDTH = 20
MILLISECOND = timedelta(milliseconds=1)


class Said(NamedTuple):
    """How an event is shown."""

    colour: str
    sign: str
    words: str


def attempt(at: datetime, late: timedelta, ran: Instance, job: Job, delivered: Delivered) -> Text:
    """What came of an attempt that was sent `late` after it was due."""
    name = job.name if ran.business_key in {None, OWN_KEY} else f"{job.name}/{ran.business_key}"
    return _line(at, name, _said(ran, job, delivered), f"(due +{_span(round(late / MILLISECOND))})")


def decision(at: datetime, type_name: str, key: str, answer: Answer) -> Text:
    """What was decided about the time of a key."""
    due = f", due at {answer.at.astimezone():%H:%M:%S}" if answer.at else ""
    return _line(at, f"{type_name}/{key}", Said("blue", "→", answer.decision + due))


def _said(ran: Instance, job: Job, delivered: Delivered) -> Said:
    took = f"in {_span(delivered.duration_ms)}" if delivered.duration_ms else "in under 1 ms"
    match delivered.outcome:
        case Success():
            return Said("green", "✓", f"delivered {took}" + (f", attempt {ran.attempt}" if ran.attempt > 1 else ""))
        case Retryable(message=message, retry_after=after):
            policy, failures = job.definition.retry, ran.retry_count + 1
            if policy.exhausted(failures):
                return Said("red", "✗", f"{message} {took}, failure {failures}: a dead letter now")
            wait = policy.delay(failures, 0.5, after).total_seconds()  # the dice are thrown when it is settled
            return Said("yellow", "↻", f"{message} {took}, attempt {ran.attempt + 1} follows in about {wait:.1f} s")
        case Unrecoverable(message=message):
            return Said("red", "✗", f"{message} {took}: a dead letter now")
        case Declined():
            return Said("cyan", "○", f"declined {took}: nothing to do")
        case Accepted(seconds=seconds):
            return Said("cyan", "…", f"accepted {took}, to be finished within {seconds:.0f} s")
        case Lost() | Probed() | Returned():
            return Said("yellow", "↻", f"no result {took}: due again")
        case other:
            assert_never(other)


def _line(at: datetime, name: str, said: Said, aside: str = "") -> Text:
    return Text.assemble(
        (f"{at.astimezone():%H:%M:%S} ", "dim"),
        (f"{said.sign} ", said.colour),
        (f"{name:<{NAME_WIDTH}} ", "bold"),
        (said.words, said.colour),
        (f" {aside}" if aside else "", "dim"),
    )


def _span(ms: int) -> str:
    return f"{ms} ms" if ms < 1000 else f"{ms / 1000:.1f} s"
