"""The page of metrics has every family that a process shows, and names say what they measure."""

import re
from pathlib import Path

from tools.metrics import FAMILIES, page

from horae.runtime.metrics import MetricKind

ROOT = Path(__file__).parents[2]
ALL = [one for families in FAMILIES.values() for one in families]
FORBIDDEN = {"tenant", "job", "url", "key", "target", "instance", "worker"}
"""Labels with as many values as a deployment has rows."""
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
        assert not FORBIDDEN.intersection(one.labels), one.name


def test_a_histogram_has_its_unit_in_its_name():
    for one in ALL:
        if one.kind is MetricKind.HISTOGRAM:
            assert one.name.endswith(UNITS)
