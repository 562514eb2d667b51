"""The page of metrics has every family that a process shows, and names say what they measure."""

import re
from pathlib import Path
from uuid import UUID

from tools.metrics import FAMILIES, page

from horae.domain.health.signals import AttemptResult
from horae.runtime.metrics import MetricKind
from horae.store.health.counters import BUSIEST_TENANTS, SignalCounts
from horae.store.health.job_counts import MAX_COUNTED_JOBS, JobCounts
from horae.store.health.named_metrics import NAMED_FAMILIES

ROOT = Path(__file__).parents[2]
ALL = [one for families in FAMILIES.values() for one in families]
FORBIDDEN = {"tenant", "tenant_id", "job", "job_id", "url", "key", "target", "instance", "worker"}
"""Labels with as many values as a deployment has rows."""
FEW = {one.name for one in NAMED_FAMILIES}
"""Families that name tenants or jobs: the busiest ones, and those that ask for it."""
UNITS = ("_seconds", "_bytes", "_ratio")


def test_the_page_is_what_the_code_declares():
    assert (ROOT / "docs/metrics.md").read_text() == page(), "python tools/metrics.py > docs/metrics.md"


def test_there_are_many_families_each_with_a_name_of_its_own():
    names = [one.name for one in ALL]
    assert len(names) >= 25
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"horae_[a-z_]+", name) for name in names)


def test_no_label_grows_with_what_users_create():
    for one in ALL:
        assert one.name in FEW or not FORBIDDEN.intersection(one.labels), one.name


def test_only_few_tenants_and_jobs_are_named():
    assert {label for one in NAMED_FAMILIES for label in one.labels} & FORBIDDEN == {"tenant_id", "job_id"}
    counts = JobCounts()
    for number in range(2 * MAX_COUNTED_JOBS):
        counts.count(UUID(int=number), AttemptResult.SUCCESS, 1)
    assert len(counts.found) == MAX_COUNTED_JOBS == 50
    signals = SignalCounts()
    for number in range(3 * BUSIEST_TENANTS):
        signals.count_result(UUID(int=number), 1, 0, AttemptResult.SUCCESS, number + 1)
    signals.take(1)
    assert [tenant.int for tenant in signals.busiest] == list(range(29, 19, -1))


def test_a_histogram_has_its_unit_in_its_name():
    for one in ALL:
        if one.kind is MetricKind.HISTOGRAM:
            assert one.name.endswith(UNITS)
