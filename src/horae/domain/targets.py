"""Where an attempt goes: an HTTP endpoint that we push to, or a queue that workers pull from."""

from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

import msgspec

from horae.domain.errors import Invalid

LONGEST_CLAIM: Final = 3600.0
LONGEST_NAME: Final = 120
SLOT_MARGIN: Final = timedelta(seconds=5)
METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})


class HttpTarget(msgspec.Struct, frozen=True, tag_field="kind", tag="http", omit_defaults=True):
    """A URL we call. Timeouts are in seconds; five for the answer, as the seed has it."""

    url: str
    method: str = "POST"
    headers: dict[str, str] = {}
    connect_timeout: float = 3.0
    read_timeout: float = 5.0
    max_concurrency: int | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise Invalid(f"a target needs an http or https URL with a host, not {self.url!r}")
        if self.method not in METHODS:
            raise Invalid(f"a target's method is one of {', '.join(sorted(METHODS))}, not {self.method!r}")
        if not (0 < self.connect_timeout <= 30 and 0 < self.read_timeout <= 30):
            raise Invalid("connect_timeout and read_timeout lie above 0 and at most at 30 seconds")


class QueueTarget(msgspec.Struct, frozen=True, tag_field="kind", tag="queue", omit_defaults=True):
    """A named queue; what is in it waits until a worker claims it."""

    name: str
    claim_seconds: float = 30.0

    def __post_init__(self) -> None:
        if not self.name or len(self.name) > LONGEST_NAME or not self.name.isprintable():
            raise Invalid(f"a queue's name is 1 to {LONGEST_NAME} printable characters")
        if not 0.001 <= self.claim_seconds <= LONGEST_CLAIM:
            raise Invalid(f"claim_seconds lies above 0 and at most at {LONGEST_CLAIM:g} seconds")


Target = HttpTarget | QueueTarget


def slot_time(target: Target) -> timedelta:
    """How long a claimed attempt may stay unanswered before it counts as lost; never the job's run time."""
    match target:
        case HttpTarget():
            return timedelta(seconds=target.connect_timeout + target.read_timeout) + SLOT_MARGIN
        case QueueTarget():
            return timedelta(seconds=target.claim_seconds)


def queue_of(target: Target) -> str | None:
    """The queue whose workers it waits for; None for what we push ourselves."""
    return target.name if isinstance(target, QueueTarget) else None


def slot_ms(target: Target) -> int:
    """The slot time in the rows' unit."""
    return slot_time(target) // timedelta(milliseconds=1)
