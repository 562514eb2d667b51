"""Paced replays: many dead letters are sent again, so many a second, and people see what comes of it.

A paced replay may begin with a canary: its first dead letters are sent, and the others follow only if all of them
succeed. Every second a node claims the replay and does the step that `next_step` returns.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid
from horae.domain.instances.dead_letters import DeadLetterFilter

ROUND: Final = timedelta(seconds=1)
"""The time between two steps: a step sends what the pace allows for it."""
MAX_PACE: Final = 200
"""Dead letters a second. One transaction replays so many."""
DEFAULT_PACE: Final = 20
MAX_DEAD_LETTERS: Final = 100_000
"""Dead letters of one paced replay."""
MAX_RUNNING: Final = 10
"""Paced replays of a tenant that run at the same time."""
ROUNDS_OUTSTANDING: Final = 10
"""Seconds of the pace that may be without an outcome: more replays would only wait behind live work."""


class PacedReplayStatus(StrEnum):
    """The status of a paced replay."""

    CANARY = "CANARY"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    STOPPED = "STOPPED"


class ReplayProgress(NamedTuple):
    """What became of the dead letters of a paced replay.

    `outstanding` have no outcome yet, `returned` are open again because somebody cancelled the new instance, `refused`
    could not be sent: their job was removed, or their business key is live.
    """

    outstanding: int = 0
    succeeded: int = 0
    failed: int = 0
    returned: int = 0
    refused: int = 0

    @property
    def sent(self) -> int:
        """How many were sent."""
        return self.outstanding + self.succeeded + self.failed + self.returned

    def plus(self, other: "ReplayProgress") -> "ReplayProgress":
        """Return the progress in two cells together."""
        return ReplayProgress(*(one + two for one, two in zip(self, other, strict=True)))


class PacedReplay(msgspec.Struct, frozen=True, kw_only=True):
    """A paced replay of the dead letters that died before `created_at`.

    `limit`: how many are sent at most. `pace`: how many a second. `canary`: how many are sent first. `max_failures`:
    with more failures it stops; None: only the canary stops it. `waits_for`: why nothing was sent in the last step.
    """

    id: UUID
    shard: int
    tenant_id: UUID
    wanted: DeadLetterFilter
    limit: int
    pace: int
    canary: int
    max_failures: int | None
    created_at: datetime
    created_by: str
    status: PacedReplayStatus
    progress: ReplayProgress = ReplayProgress()
    waits_for: str | None = None
    ended_at: datetime | None = None
    ended_because: str | None = None


class SendStep(NamedTuple):
    """Send so many dead letters."""

    many: int


class WaitStep(NamedTuple):
    """Send nothing now."""

    reason: str


class EndStep(NamedTuple):
    """The replay has ended."""

    status: PacedReplayStatus
    reason: str


ReplayStep: TypeAlias = SendStep | WaitStep | EndStep


def first_status(canary: int) -> PacedReplayStatus:
    """Return the status in which a paced replay begins."""
    return PacedReplayStatus.CANARY if canary else PacedReplayStatus.RUNNING


def check_paced_replay(wanted: DeadLetterFilter, limit: int, pace: int, canary: int) -> None:
    """Refuse a paced replay without a filter, or beyond the bounds."""
    if wanted == DeadLetterFilter():
        raise Invalid("say which dead letters: by cause, by job, by tag or by error code")
    if not 1 <= limit <= MAX_DEAD_LETTERS:
        raise Invalid(f"one paced replay sends 1 to {MAX_DEAD_LETTERS} dead letters, not {limit}")
    if not 1 <= pace <= MAX_PACE:
        raise Invalid(f"a pace is 1 to {MAX_PACE} dead letters a second, not {pace}")
    if not 0 <= canary <= limit:
        raise Invalid(f"a canary has at most the {limit} dead letters of its replay, not {canary}")


def next_step(replay: PacedReplay, progress: ReplayProgress, *, withheld_by: str | None, is_empty: bool) -> ReplayStep:
    """Return what to do now.

    1. A canary with a failure stops the replay; so do more failures than `max_failures`.
    2. When all of its dead letters are sent, or none is left (`is_empty`), the replay waits for the outcomes and ends.
    3. While a measure withholds work, nothing is sent. While a canary has no outcome, no others are sent.
    4. Otherwise what the pace allows is sent, as long as not too many are without an outcome.
    """
    failures = progress.failed
    if replay.status == PacedReplayStatus.CANARY and failures + progress.returned:
        return EndStep(
            PacedReplayStatus.STOPPED,
            f"the canary failed: {failures + progress.returned} of {progress.sent} did not succeed",
        )
    if replay.max_failures is not None and failures > replay.max_failures:
        return EndStep(PacedReplayStatus.STOPPED, f"{failures} dead letters died again, and {replay.max_failures} may")
    left = replay.limit - progress.sent
    if left <= 0 or is_empty:
        if progress.outstanding:
            return WaitStep(f"the outcomes of {progress.outstanding} replays")
        return EndStep(PacedReplayStatus.COMPLETED, "every dead letter has its outcome")
    if withheld_by is not None:
        return WaitStep(f"the measure {withheld_by}")
    if replay.status == PacedReplayStatus.CANARY:
        left = replay.canary - progress.sent
        if left <= 0:
            return WaitStep(f"the outcomes of {progress.outstanding} replays of the canary")
    room = replay.pace * ROUNDS_OUTSTANDING - progress.outstanding
    if room <= 0:
        return WaitStep(f"live work: {progress.outstanding} replays have no outcome yet")
    return SendStep(min(replay.pace, left, room))


def status_after(replay: PacedReplay, progress: ReplayProgress) -> PacedReplayStatus:
    """Return the status of a running replay: its canary is over when all of it has succeeded."""
    if replay.status == PacedReplayStatus.CANARY and progress.succeeded >= replay.canary:
        return PacedReplayStatus.RUNNING
    return replay.status
