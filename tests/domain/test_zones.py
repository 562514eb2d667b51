"""Zones come from the pinned package, and the timeline says what `ZoneInfo` says."""

import pickle
import subprocess
import sys
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from horae.domain.cron import parse
from horae.domain.errors import InvalidSchedule
from horae.domain.zones import timeline, zones
from horae.domain.zones.dst import ELAPSED

BERLIN = resources.files("tzdata").joinpath("zoneinfo", "Europe", "Berlin")


def test_the_version_of_the_rules_is_known():
    assert zones.tzdata_version()[:2] == "20"


@pytest.mark.parametrize("name", ["Mars/Olympus", "../../etc/passwd", "", "zones", "europe/berlin"])
def test_a_name_the_package_does_not_know_is_refused(name):
    with pytest.raises(InvalidSchedule, match="no time zone"):
        zones.zone(name)


def test_a_zone_of_the_system_never_wins(tmp_path):
    """A system whose Berlin has no summer time: ours does not notice, however the zone is asked for."""
    fake = tmp_path / "Europe" / "Berlin"
    fake.parent.mkdir()
    fake.write_bytes(resources.files("tzdata").joinpath("zoneinfo", "Etc", "GMT-1").read_bytes())
    code = """
from datetime import UTC, datetime
from zoneinfo import ZoneInfo
from horae.domain.cron import parse
from horae.domain.zones.zones import zone
summer = datetime(2026, 7, 1, tzinfo=UTC)
theirs = ZoneInfo("Europe/Berlin")
assert theirs.utcoffset(summer).total_seconds() == 3600, "the trap is not set"
for given in (zone("Europe/Berlin"), theirs):
    print(parse("0 12 * * *").next(summer, given).hour)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONTZPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["10", "10"]


def test_no_code_of_ours_asks_the_standard_library_for_a_zone_by_name():
    source = Path(zones.__file__).parents[1]
    asking = [str(file) for file in source.rglob("*.py") if "ZoneInfo(" in file.read_text().replace("(ZoneInfo)", "")]
    assert [name for name in asking if not name.endswith("zones.py")] == []


def test_a_zone_without_a_name_is_refused():
    with BERLIN.open("rb") as file:
        nameless = ZoneInfo.from_file(file)
    with pytest.raises(InvalidSchedule, match="without a name"):
        parse("0 12 * * *").next(datetime(2026, 7, 1, tzinfo=UTC), nameless)


def test_a_zone_travels_to_another_process_by_name():
    berlin = zones.zone("Europe/Berlin")
    assert pickle.loads(pickle.dumps(berlin)) is berlin


def test_what_is_no_zone_file_is_refused():
    with pytest.raises((InvalidSchedule, ValueError)):
        zones.read("Europe/Berlin", b"nothing of the kind")


def test_every_zone_has_the_offsets_of_the_standard_library():
    """At each of our changes, just before it, and at each month of the years to 2100."""
    for name in sorted(zones.names())[::7]:
        here = zones.zone(name)
        line = timeline.timeline_of(here, ELAPSED, beyond=timeline.timeline_of(here, ELAPSED).until)
        with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
            theirs = ZoneInfo.from_file(file, key=name)
        for span, after in zip(line.spans, (*line.starts[1:], None), strict=True):
            last = (line.until if after is None else after) - 1
            for second in {max(span.start, -(10**10)), last} if last < 4_000_000_000 else {span.start + 1}:
                offset = datetime.fromtimestamp(max(second, -(10**10)), theirs).utcoffset().total_seconds()
                assert offset == span.offset, (name, second)
