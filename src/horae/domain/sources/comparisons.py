"""Compares a span of a source's list with our tasks, and judges each difference.

Both sides are in the byte order of their keys. A list is always a little old: it may have been read before a change
that we already know. So where both sides have an intent version, the higher one wins. Without versions only tasks that
have not changed for a while are repaired; the next round sees the rest.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid
from horae.domain.instances.lifecycle import State
from horae.domain.sources.sources import Orphans
from horae.domain.tasks.tasks import AfterSuccess


class ListedTask(NamedTuple):
    """An item of a source's list: a key that should be pending at a time."""

    key: str
    at: datetime
    version: int | None = None
    payload: Any = msgspec.UNSET


class ComparedTask(NamedTuple):
    """The compared fields of a live task."""

    shard: int
    id: UUID
    key: str
    at: datetime
    changed_at: datetime
    version: int | None
    state: State
    retry_count: int


class KeyHistory(NamedTuple):
    """The ledger of a key that has no live task."""

    generation: int
    outcome: State | None
    version: int | None
    changed_at: datetime


class DifferenceKind(StrEnum):
    """How the two sides differ."""

    MISSING = "missing"
    DRIFTED = "drifted"
    ORPHAN = "orphan"


class Repair(NamedTuple):
    """A difference that was found, and the decision about it; None in a dry round."""

    id: UUID
    at: datetime
    round: int
    key: str
    found: DifferenceKind
    decision: str | None
    ours: datetime | None
    theirs: datetime | None


class LeftReason(StrEnum):
    """Why a difference is not repaired."""

    RECENT = "recent"  # it changed recently: the list may be older than the change
    STALE = "stale"  # we have a newer intent version than the list
    SUCCEEDED = "succeeded"
    DEAD = "dead"  # never created again automatically; a person has to decide
    UNDER_WAY = "under_way"  # it runs, or waits for its retry: its result decides
    KEPT = "kept"  # the source is not allowed to cancel
    TOO_MANY = "too_many"  # the round has reached its limit of cancellations


class Comparison(NamedTuple):
    """The differences between two spans of the same keys."""

    missing: list[ListedTask]
    drifted: list[tuple[ListedTask, ComparedTask]]
    orphans: list[ComparedTask]


def compare(theirs: Sequence[ListedTask], ours: Sequence[ComparedTask]) -> Comparison:
    """Compare both sides of one span, key by key."""
    living = {one.key: one for one in ours}
    found = Comparison([], [], [])
    for wanted in theirs:
        live = living.pop(wanted.key, None)
        if live is None:
            found.missing.append(wanted)
        elif live.at != wanted.at:
            found.drifted.append((wanted, live))
    found.orphans.extend(living.values())
    return found


def judge_missing(
    wanted: ListedTask, past: KeyHistory | None, after_success: AfterSuccess, still: datetime
) -> LeftReason | None:
    """Decide about a listed key without a live task; None: create the task. Changes after `still` are too recent.

    1. A key without history is created. A dead one is left.
    2. A key that succeeded is left if its type ignores new times, or if the list has the same or an older version.
    3. Any other key is left as stale if the list has an older version.
    4. A key that changed after `still` is left, unless the list has a newer version.
    """
    if past is None:
        return None
    if past.outcome == State.DEAD:
        return LeftReason.DEAD
    newer = _newer(wanted.version, past.version)
    if past.outcome == State.SUCCESS:
        if after_success is AfterSuccess.IGNORE or (newer is not None and newer <= 0):
            return LeftReason.SUCCEEDED
    elif newer is not None and newer < 0:
        return LeftReason.STALE
    return LeftReason.RECENT if past.changed_at > still and not (newer or 0) > 0 else None


def judge_drifted(wanted: ListedTask, live: ComparedTask, still: datetime) -> LeftReason | None:
    """Decide about a task whose time differs from the list; None: move the task."""
    newer = _newer(wanted.version, live.version)
    if newer is not None and newer < 0:
        return LeftReason.STALE
    return LeftReason.RECENT if live.changed_at > still and not (newer or 0) > 0 else None


def judge_orphan(live: ComparedTask, orphans: Orphans, still: datetime) -> LeftReason | None:
    """Decide about a live task that is not listed; None: cancel the task."""
    if live.state not in {State.INIT, State.BLOCKED} or live.retry_count:
        return LeftReason.UNDER_WAY
    if live.changed_at > still:
        return LeftReason.RECENT
    return LeftReason.KEPT if orphans is Orphans.KEEP else None


def repair_version(wanted: int | None, known: int | None) -> int | None:
    """Return the version for a repair: the source's if it is newer than ours, otherwise None: it proves nothing."""
    return wanted if wanted is not None and (known is None or wanted > known) else None


def check_order(keys: Sequence[str], after: str) -> None:
    """Refuse a page that is not in the byte order of its keys: a key in another place would look like an orphan."""
    last = after
    for key in keys:
        if key <= last:
            raise Invalid(
                f"the source's keys must ascend in the order of their bytes, each once: {key!r} came after {last!r}"
            )
        last = key


def _newer(theirs: int | None, ours: int | None) -> int | None:
    """Return by how much their version is newer than ours; None where one side has no version."""
    return None if theirs is None or ours is None else theirs - ours
