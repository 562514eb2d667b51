"""The lines that `horae dev` prints: one short line per event, with the local time."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple, assert_never

from rich.text import Text

from horae.delivery.push import Delivery
from horae.domain.alerts.messages import AlertMessage, AlertStatus
from horae.domain.instances.instances import Instance
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import (
    AcceptedCall,
    DeclinedCall,
    FailedProbe,
    LostAttempt,
    Retryable,
    ReturnedAttempt,
    Success,
    Unrecoverable,
)
from horae.domain.jobs.jobs import Job
from horae.domain.tasks.tasks import OWN_KEY
from horae.service.instances.searches import InstanceRecord
from horae.service.tasks.tasks import ScheduleAnswer

NAME_WIDTH = 20
MILLISECOND = timedelta(milliseconds=1)
TARGET = "target"
"""The worker of a call that its target has accepted and finishes later."""


class EventStyle(NamedTuple):
    """How an event is printed."""

    colour: str
    sign: str
    words: str


ALERT: Final = EventStyle("red", "!", "")
ALERT_ENDED: Final = EventStyle("green", "·", "")


def attempt(at: datetime, late: timedelta, ran: Instance, job: Job, delivered: Delivery) -> Text:
    """The result of an attempt that was sent `late` after it was due."""
    name = job.name if ran.business_key in {None, OWN_KEY} else f"{job.name}/{ran.business_key}"
    return _line(at, name, _style_of(ran, job, delivered), f"(due +{_span(round(late / MILLISECOND))})")


def decision(at: datetime, type_name: str, key: str, answer: ScheduleAnswer) -> Text:
    """A decision about the time of a business key."""
    due = f", due at {answer.at.astimezone():%H:%M:%S}" if answer.at else ""
    return _line(at, f"{type_name}/{key}", EventStyle("blue", "→", answer.decision + due))


def alert(at: datetime, message: AlertMessage) -> Text:
    """A message about an alert, with its link to the console."""
    style = ALERT if message.status is AlertStatus.FIRING else ALERT_ENDED
    name = message.job or f"tenant {message.tenant}"
    words = f"{message.kind}: {message.reason}"
    return _line(at, name, style._replace(words=words), message.link or "")


def worker_result(past: InstanceRecord) -> Text:
    """The result of an attempt that a worker made."""
    name = f"{past.job}" if past.business_key in {None, OWN_KEY} else f"{past.job}/{past.business_key}"
    aside = "" if past.trigger_delay_ms is None else f"(due +{_span(past.trigger_delay_ms)})"
    return _line(past.changed_at, name, _worker_style(past), aside)


def _worker_style(past: InstanceRecord) -> EventStyle:
    took = f"in {_span(past.duration_ms)}" if past.duration_ms else "in under 1 ms"
    whose = "by its target" if past.worker_id == TARGET else f"by worker {past.worker_id}"
    match past.state:
        case State.SUCCESS:
            return EventStyle("green", "✓", f"finished {whose} {took}")
        case State.DEAD:
            return EventStyle("red", "✗", f"{past.error_msg or past.error_code}, {whose}: a dead letter now")
        case _:
            return EventStyle("cyan", "○", f"cancelled, {whose}")


def _style_of(ran: Instance, job: Job, delivered: Delivery) -> EventStyle:
    took = f"in {_span(delivered.duration_ms)}" if delivered.duration_ms else "in under 1 ms"
    match delivered.outcome:
        case Success():
            return EventStyle(
                "green", "✓", f"delivered {took}" + (f", attempt {ran.attempt}" if ran.attempt > 1 else "")
            )
        case Retryable(message=message, retry_after=after):
            policy, failures = job.definition.retry, ran.retry_count + 1
            if policy.is_exhausted(failures):
                return EventStyle("red", "✗", f"{message} {took}, failure {failures}: a dead letter now")
            wait = policy.delay(failures, 0.5, after).total_seconds()  # the jitter is drawn when it is settled
            return EventStyle(
                "yellow", "↻", f"{message} {took}, attempt {ran.attempt + 1} follows in about {wait:.1f} s"
            )
        case Unrecoverable(message=message):
            return EventStyle("red", "✗", f"{message} {took}: a dead letter now")
        case DeclinedCall():
            return EventStyle("cyan", "○", f"declined {took}: nothing to do")
        case AcceptedCall(seconds=seconds):
            return EventStyle("cyan", "…", f"accepted {took}, to be finished within {seconds:.0f} s")
        case LostAttempt() | FailedProbe() | ReturnedAttempt():
            return EventStyle("yellow", "↻", f"no result {took}: due again")
        case other:
            assert_never(other)


def _line(at: datetime, name: str, said: EventStyle, aside: str = "") -> Text:
    return Text.assemble(
        (f"{at.astimezone():%H:%M:%S} ", "dim"),
        (f"{said.sign} ", said.colour),
        (f"{name:<{NAME_WIDTH}} ", "bold"),
        (said.words, said.colour),
        (f" {aside}" if aside else "", "dim"),
    )


def _span(ms: int) -> str:
    return f"{ms} ms" if ms < 1000 else f"{ms / 1000:.1f} s"
