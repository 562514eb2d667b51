"""A span of a source's list laid beside our tasks, and what each difference means.

Both sides come in the order of the keys' bytes, span by span. A list is always a little old: it may have been read
before a change that we know already. So where both sides carry an intent version the higher one wins, and without
versions only what has been still for a while is touched: the next round sees the rest.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid
from horae.domain.lifecycle import State
from horae.domain.sources import Orphans
from horae.domain.tasks import AfterSuccess


class Wanted(NamedTuple):
    """What a source lists: a key that should be pending at a time."""

    key: str
    at: datetime
    version: int | None = None
    payload: Any = msgspec.UNSET


class Living(NamedTuple):
    """A live task, as far as it is compared."""

    shard: int
    id: UUID
    key: str
    at: datetime
    changed_at: datetime
    version: int | None
    state: State
    retry_count: int


class Past(NamedTuple):
    """What is remembered of a key that has no live task."""

    generation: int
    outcome: State | None
    version: int | None
    changed_at: datetime


class Found(StrEnum):
    """How the two sides differ."""

    MISSING = "missing"
    DRIFTED = "drifted"
    ORPHAN = "orphan"


class Repair(NamedTuple):
    """A difference that was found, and what was decided about it; no decision: nothing, in a dry round."""

    id: UUID
    at: datetime
    round: int
    key: str
    found: Found
    decision: str | None
    ours: datetime | None
    theirs: datetime | None


class Left(StrEnum):
    """Why something that looks like a difference is left as it is."""

    RECENT = "recent"  # it changed a moment ago: the list may be older than that
    STALE = "stale"  # we know a newer intent than the list does
    SUCCEEDED = "succeeded"
    DEAD = "dead"  # never made anew by itself; someone has to look
    UNDER_WAY = "under_way"  # it runs, or waits for its retry: its answer tells
    KEPT = "kept"  # the source may not cancel
    TOO_MANY = "too_many"  # the round has cancelled as many as it may


class Compared(NamedTuple):
    """What two spans of the same keys differ in."""

    missing: list[Wanted]
    drifted: list[tuple[Wanted, Living]]
    orphans: list[Living]


def compare(theirs: Sequence[Wanted], ours: Sequence[Living]) -> Compared:
    """Lay both sides of one span beside each other."""
    living = {one.key: one for one in ours}
    found = Compared([], [], [])
    for wanted in theirs:
        live = living.pop(wanted.key, None)
        if live is None:
            found.missing.append(wanted)
        elif live.at != wanted.at:
            found.drifted.append((wanted, live))
    found.orphans.extend(living.values())
    return found


def judge_missing(wanted: Wanted, past: Past | None, after_success: AfterSuccess, still: datetime) -> Left | None:
    """None: the task is to be made. `still`: what changed after this is too recent to be compared."""
    if past is None:
        return None
    if past.outcome == State.DEAD:
        return Left.DEAD
    newer = _newer(wanted.version, past.version)
    if past.outcome == State.SUCCESS:
        if after_success is AfterSuccess.IGNORE or (newer is not None and newer <= 0):
            return Left.SUCCEEDED
    elif newer is not None and newer < 0:
        return Left.STALE
    return Left.RECENT if past.changed_at > still and not (newer or 0) > 0 else None


def judge_drifted(wanted: Wanted, live: Living, still: datetime) -> Left | None:
    """None: the task is to be moved."""
    newer = _newer(wanted.version, live.version)
    if newer is not None and newer < 0:
        return Left.STALE
    return Left.RECENT if live.changed_at > still and not (newer or 0) > 0 else None


def judge_orphan(live: Living, orphans: Orphans, still: datetime) -> Left | None:
    """None: the task is to be cancelled."""
    if live.state not in {State.INIT, State.BLOCKED} or live.retry_count:
        return Left.UNDER_WAY
    if live.changed_at > still:
        return Left.RECENT
    return Left.KEPT if orphans is Orphans.KEEP else None


def proven(wanted: int | None, known: int | None) -> int | None:
    """The version to act under: the source's where it is newer than ours, else none, as it proves nothing."""
    return wanted if wanted is not None and (known is None or wanted > known) else None


def check_order(keys: Sequence[str], after: str) -> None:
    """Refuse a page that is not in the order of the keys' bytes: what is only elsewhere would look like an orphan."""
    last = after
    for key in keys:
        if key <= last:
            raise Invalid(
                f"the source's keys must ascend in the order of their bytes, each once: {key!r} came after {last!r}"
            )
        last = key


def _newer(theirs: int | None, ours: int | None) -> int | None:
    return None if theirs is None or ours is None else theirs - ours
