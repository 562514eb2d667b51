"""How long a backfill still takes is known within a quarter once a tenth is done, and a dry run names its bound."""

from datetime import timedelta
from random import Random
from uuid import UUID

import pytest

from horae.domain.schedules.backfill_progress import (
    BackfillProgress,
    BoundedPace,
    PaceBound,
    PastFires,
    combined,
    count_needed,
    forecast,
    progress_of,
)
from horae.domain.schedules.backfills import Backfill, BackfillMode, BackfillStatus
from tests.domain.builders import NOW

ID = UUID(int=1)
MAX_WAITING = 1000


def a_backfill(**facts):
    """A backfill that began now, of 10,000 fires that are all needed."""
    fixed = {
        "shard": 1,
        "id": ID,
        "tenant_id": ID,
        "job_id": ID,
        "since": NOW - timedelta(days=7),
        "until": NOW,
        "cursor": NOW - timedelta(days=7),
        "cap": 1_000_000,
        "planned": 10_000,
        "needed": 10_000,
        "created_at": NOW,
        "created_by": "test",
    }
    return Backfill(**fixed | facts)


def simulated(seed, *, needed, paused_s=0.0, left_out=0):
    """Seconds and counts while calls end at a pace that varies by a third from second to second.

    `left_out` fires, which take no time, come first. After a twentieth it is paused for a while.
    """
    random, done, at = Random(seed), 0.0, 0.0
    pace = needed / random.uniform(200, 4000)
    is_paused = paused_s == 0.0
    while done < needed:
        at += 1.0
        done = min(needed, done + pace * random.uniform(0.67, 1.33))
        yield at, int(done), min(needed, int(done) + MAX_WAITING), left_out, paused_s if is_paused and paused_s else 0.0
        if not is_paused and done > needed / 20:
            is_paused, at = True, at + paused_s


@pytest.mark.parametrize("needed", [500, 10_000, 500_000])
@pytest.mark.parametrize(("paused_s", "left_out"), [(0.0, 0), (5000.0, 0), (0.0, 400_000)])
@pytest.mark.parametrize("seed", range(5))
def test_the_estimate_is_within_a_quarter_once_a_tenth_is_done(needed, paused_s, left_out, seed):
    played = list(simulated(seed, needed=needed, paused_s=paused_s, left_out=left_out))
    end, judged = played[-1][0], 0
    for at, done, inserted, already, paused in played[:-1]:
        one = a_backfill(
            planned=needed + left_out,
            needed=needed,
            inserted=inserted,
            already=already,
            paused_s=paused,
            status=BackfillStatus.DONE if inserted == needed else BackfillStatus.RUNNING,
        )
        found = progress_of(one, inserted - done, NOW + timedelta(seconds=at))
        if done < needed * 0.1:
            assert found.left_s is None
            continue
        judged += 1
        rounding_s = 2.0 + 2 * found.running_s / done  # whole seconds and whole calls
        assert abs(found.left_s - (end - at)) <= 0.25 * (end - at) + rounding_s
    assert judged > len(played) / 2


def test_without_a_count_of_what_is_needed_the_undecided_fires_count_in_full():
    one = a_backfill(needed=None, inserted=2000, already=500)
    found = progress_of(one, 0, NOW + timedelta(seconds=100))
    assert (found.done, found.total) == (2000, 9500)
    assert found.left_s == pytest.approx(375)


@pytest.mark.parametrize("status", [BackfillStatus.DONE, BackfillStatus.CANCELLED])
def test_after_its_end_only_its_live_instances_are_left(status):
    one = a_backfill(inserted=400, already=9600, needed=500, status=status, ended_at=NOW)
    assert progress_of(one, 0, NOW + timedelta(seconds=9)).left_s == 0.0
    assert progress_of(one, 200, NOW + timedelta(seconds=9)).left_s == pytest.approx(9)


def test_a_paused_one_keeps_its_estimate():
    one = a_backfill(inserted=5000, paused_at=NOW + timedelta(seconds=50), status=BackfillStatus.PAUSED)
    for later in (60, 6000):
        assert progress_of(one, 0, NOW + timedelta(seconds=later)).left_s == pytest.approx(50)


def test_a_whole_ends_with_its_slowest_part():
    fast, slow = BackfillProgress(900, 1000, 90.0, 10.0), BackfillProgress(200, 1000, 90.0, 360.0)
    assert combined([fast, slow]) == BackfillProgress(1100, 2000, 90.0, 360.0)
    assert combined([BackfillProgress(0, 0, 1.0, 0.0)]).left_s == 0.0
    assert combined([fast, BackfillProgress(0, 100_000, 90.0, None)]).left_s is None


@pytest.mark.parametrize(
    ("mode", "needed"),
    [(BackfillMode.ALL, 100), (BackfillMode.UNSUCCESSFUL, 40), (BackfillMode.MISSING, 30), (BackfillMode.FAILED, 10)],
)
def test_each_mode_needs_other_fires(mode, needed):
    assert count_needed(mode, 100, PastFires(succeeded=60, failed=10)) == needed


def test_the_lowest_bound_says_how_long_it_takes_and_what_load_it_is():
    bounds = [
        BoundedPace(PaceBound.CREATION, 500.0),
        BoundedPace(PaceBound.LIMIT_CONCURRENCY, 8.0, "target"),
        BoundedPace(PaceBound.LANE_SLOTS, 5000.0),
    ]
    found = forecast(800, 0.5, bounds)
    assert (found.limited_by, found.duration_s, found.slots) == (PaceBound.LIMIT_CONCURRENCY, 100.0, 4.0)
    assert [one.calls_per_s for one in found.bounds] == [8.0, 500.0, 5000.0]
