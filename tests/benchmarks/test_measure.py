"""How the benchmarks measure: sizes, counted lines, and reports of a node that sent nothing."""

import importlib
import sys
from datetime import UTC, datetime, timedelta

from benchmarks.measure import Size, Slice, per_fire
from benchmarks.target import Arrival
from benchmarks.wrapped import LineCounter

from benchmarks import herd

AT = datetime(2026, 1, 1, tzinfo=UTC)


def test_slices_become_shorter_where_there_is_less_time_but_not_too_short():
    assert Size.lasting(140, 14).slice_s == 5.0
    assert Size.lasting(28, 14).slice_s == 2.0
    assert Size.lasting(1, 14).slice_s == 1.5
    assert Size.lasting(1, 20, shortest_s=0.0).slice_s == 0.05


def test_counts_are_medians_over_the_slices():
    slices = [Slice(100, 1.0, statements=many, writes=1, wal_bytes=1000) for many in (3, 2, 40)]
    assert per_fire(slices) == {
        "tx_per_fire": 0.0, "writes_per_fire": 0.01, "statements_per_fire": 0.03, "wal_bytes_per_fire": 10.0,
    }  # fmt: skip


def test_a_herd_of_which_nobody_arrived_is_reported_and_not_divided_by():
    found = herd._report(Size(), 0.0, {size: [] for size in herd.SIZES}, [])
    assert not found["ok"]
    assert "arrived_10k is 0, at least 10000 was wanted" in found["missed"]
    assert found["critical_p95_ms"] == float("inf")


def test_critical_fires_are_told_from_the_herd_by_their_times():
    crowd = [Arrival(AT, "key", "herd", 1, AT.timestamp() + n / 100) for n in range(100)]
    few = [AT + timedelta(seconds=n / 10) for n in range(1, 11)]
    mixed = crowd + [Arrival(at, "key", "critical", 1, at.timestamp() + 0.2) for at in few]
    found = herd._report(Size(), 4000.0, dict.fromkeys(herd.SIZES, crowd), mixed)
    assert (found["critical"], found["critical_p95_ms"]) == (10, 200.0)


def test_executed_lines_are_counted_by_file_and_only_below_the_folder(tmp_path, monkeypatch):
    (tmp_path / "loops.py").write_text("def walk(many):\n    for _ in range(many):\n        pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    walk = importlib.import_module("loops").walk
    counted = []
    before = sys.gettrace()
    for many in (10, 1000):
        counter = LineCounter(tmp_path)
        counter.start()
        try:
            walk(many)
        finally:
            sys.settrace(before)
        assert set(counter.lines) == {"loops.py"}
        counted.append(counter.lines["loops.py"])
    assert counted == [21, 2001]
