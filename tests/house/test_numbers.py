"""Numbers in the pages are the numbers in the code: a constant that changes takes its pages with it."""

from datetime import timedelta
from pathlib import Path

import pytest

from horae.api import reading as api_reading
from horae.boot import duties, fitness
from horae.delivery import batches, reading
from horae.domain import placement
from horae.domain.instances import expiry, idempotency_keys
from horae.domain.jobs import jobs
from horae.domain.limits import frames
from horae.domain.nodes import wakes
from horae.domain.targets import breaker
from horae.domain.tasks import tasks
from horae.domain.workers.queue_workers import POLLING_WINDOW
from horae.engine import agenda, completer, dispatcher, feeder, node
from horae.engine import expiry as expirer
from horae.engine.admission import admission, holds, target, turns
from horae.engine.quotas import slices
from horae.runtime.settings import Settings
from horae.service.tasks import batches as task_batches
from horae.store.limits import holds as hold_rows
from horae.store.nodes import wakes as notifications
from horae.store.workers import queue_workers as queue_worker_rows
from horae.store.workers import queues as queue_rows

DOCS = Path(__file__).parents[2] / "docs"
KIB = 1024


def default(name):
    return Settings.model_fields[name].default


def seconds(time):
    return time.total_seconds() if isinstance(time, timedelta) else time


NUMBERS = [
    ("node.md", "looks at most {} s ahead", seconds(feeder.LOOK_AHEAD_HORIZON)),
    ("node.md", "should have fired and has not: {} s back", seconds(feeder.LOOK_BACK_SLACK)),
    ("node.md", "every {} s back to the beginning", seconds(feeder.SWEEP_INTERVAL)),
    ("node.md", "The next one comes {} s before that time", seconds(feeder.LOOK_AHEAD_LEAD)),
    ("node.md", "a round reads at most {} pages", feeder.PAGES_PER_ROUND),
    ("node.md", "`HORAE_SAFETY_LOOK`, {} s by default", default("safety_look")),
    ("node.md", "with {} timers of a cell", agenda.MOST),
    ("node.md", "it takes {} cursors and as many instances", agenda.DEEP),
    ("node.md", "within the next {} minutes", seconds(wakes.WAKE_HORIZON) / 60),
    ("node.md", "at most once in {} ms per process and cell", notifications.WAKE_GAP_S * 1000),
    ("node.md", "`HORAE_SLOTS`, {})", default("slots")),
    ("node.md", "held for more than {} s (", admission.BROKEN_PATIENCE_S),
    ("node.md", "({} s at a mere full window)", admission.CAPPED_PATIENCE_S),
    ("node.md", "At most {} rows of a node", holds.MAX_HOLDS),
    ("node.md", "rows of a node and {} of a tenant", holds.MAX_HOLDS_PER_TENANT),
    ("node.md", "`HORAE_LEASE_TTL`, {} s)", default("lease_ttl")),
    ("node.md", "once a node has been dead for {} s", seconds(hold_rows.HOLDS_KEPT_AFTER_DEATH)),
    ("node.md", "in batches of up to {}. Cursors are", dispatcher.BATCH),
    ("node.md", "With more than {} waiting no more calls", completer.MAX_UNWRITTEN_RESULTS),
    ("node.md", "in pages of {} rows of each class", expirer.ROWS_PER_CLASS),
    ("node.md", "writes the ends in batches of up to {}", expirer.ROWS_ENDED_AT_ONCE),
    ("node.md", "Every {} s, while anything is RUNNING, the rescuer", node.RESCUE_INTERVAL_S),
    ("node.md", "`HORAE_LOOP_STALL` ({} s)", default("loop_stall")),
    ("node.md", "`HORAE_GRACE` ({} s)", default("grace")),
    ("api/index.md", "`Idempotency-Key` (1 to {} printable characters)", idempotency_keys.LONGEST_IDEMPOTENCY_KEY),
    ("api/index.md", "A body has at most {} KiB", api_reading.MAX_BODY_BYTES / KIB),
    ("api/index.md", "a payload {} KiB", tasks.MAX_PAYLOAD_BYTES / KIB),
    ("api/index.md", "a batch {} items", task_batches.LARGEST),
    ("workers.md", "last poll is at most {} seconds old", seconds(POLLING_WINDOW)),
    ("workers.md", "More than {} instances of a class", queue_rows.MAX_COUNTED),
    ("decisions/0055-who-polls-in-rows.md", "{} of a tenant, and the ones", queue_worker_rows.MAX_WORKERS_PER_TENANT),
    ("sizing.md", "as its width ({} by default)", placement.DEFAULT_WIDTH),
    ("limits.md", "less often ({} ms per holder)", slices.ROUND_INTERVAL_PER_HOLDER_S * 1000),
    ("limits.md", "*frames* of {} ms", frames.FRAME_S * 1000),
    ("delivery.md", "in one request, which has {} KiB at most", batches.MAX_BATCH_BYTES / KIB),
    ("delivery.md", "A head above {} KiB", reading.MAX_HEAD_BYTES / KIB),
    ("delivery.md", "rolling jobs | {} s: one day", expiry.DEFAULT_EXPIRES_AFTER_S),
    ("delivery.md", "from {} s to", jobs.MIN_EXPIRES_AFTER_S),
    ("delivery.md", "s to {} days: `expires_after`", jobs.MAX_EXPIRES_AFTER_S / 86_400),
    ("decisions/0011-looks-behind-marks.md", "in the next {} s", seconds(feeder.LOOK_AHEAD_HORIZON)),
    ("decisions/0011-looks-behind-marks.md", "has not, back over {} s", seconds(feeder.LOOK_BACK_SLACK)),
    ("decisions/0011-looks-behind-marks.md", "up to {} timers of a cell", agenda.MOST),
    ("decisions/0012-the-gatekeeper.md", "A new target gets {} calls at once", target.FIRST_WINDOW),
    ("decisions/0012-the-gatekeeper.md", "up to {} or its own `max_concurrency`", target.DEFAULT_CAP),
    ("decisions/0012-the-gatekeeper.md", "slots, not all {}, from", default("slots")),
    ("decisions/0012-the-gatekeeper.md", "4 and so on up to {} s", breaker.MAX_PROBE_WAIT_S),
    ("decisions/0012-the-gatekeeper.md", "adds {} a second", target.EARNED_RETRIES_PER_S),
    ("decisions/0012-the-gatekeeper.md", "class have {} calls that wait", turns.ENOUGH),
    ("decisions/0012-the-gatekeeper.md", "a breaker or a limit for more than {} s", admission.BROKEN_PATIENCE_S),
    ("decisions/0012-the-gatekeeper.md", "for more than {} s) is born", admission.CAPPED_PATIENCE_S),
    ("postgresql.md", "Every node looks at the same every {} s", duties.DOCTOR_INTERVAL_S),
    ("postgresql.md", "ours are cut at {} s by their own sessions", fitness.IDLE_IN_TRANSACTION_MS / 1000),
    ("postgresql.md", "vacuums `instance_live` every {} s", duties.VACUUM_INTERVAL_S),
]


@pytest.mark.parametrize(("page", "sentence", "value"), NUMBERS, ids=[sentence for _, sentence, _ in NUMBERS])
def test_a_number_in_a_page_is_the_number_in_the_code(page, sentence, value):
    text = " ".join((DOCS / page).read_text().split())
    assert sentence.format(f"{value:,g}" if value < 1e6 else f"{value:,.0f}") in text
