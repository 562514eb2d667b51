"""The gate: what fails it, and that a planted slowdown does."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.gate import verdicts
from benchmarks.gate.stages import STAGES
from benchmarks.gate.verdicts import RATIO_FLOOR, Reference, judge

ROOT = Path(__file__).parents[2]
RATIO = Reference("push.ratio", "ratio", 0.6, 0.7, "rate beside bare", floor=0.42)
COUNTED = Reference("push.statements", "counted", 0.05, 1.2, "statements per fire", ceiling=0.06)


def kept(reference, *values):
    (verdict,) = judge([reference], [{reference.figure: value} for value in values])
    return verdict.kept, verdict.final


def test_a_ratio_fails_only_when_three_measurements_in_a_row_lie_below_its_floor():
    assert kept(RATIO, 0.5) == (True, True)
    assert kept(RATIO, 0.4) == (False, False)
    assert kept(RATIO, 0.4, 0.41) == (False, False)
    assert kept(RATIO, 0.4, 0.41, 0.42) == (True, True)
    assert kept(RATIO, 0.4, 0.41, 0.40) == (False, True)


def test_a_count_that_batches_change_is_measured_again_and_lost_fires_are_not_forgiven():
    assert kept(COUNTED, 0.06) == (True, True)
    assert kept(COUNTED, 0.061) == (False, False)
    assert kept(COUNTED, 0.061, 0.062, 0.061) == (False, True)
    lost = Reference("push.lost", "counted", 0, 1, "fires without a row", ceiling=0.0)
    assert kept(lost, 1) == (False, True)
    assert kept(lost, 1, 0) == (False, True)


def test_a_stage_that_ended_without_figures_is_neither_kept_nor_final():
    (verdict,) = judge([COUNTED], [{}])
    assert (verdict.kept, verdict.final, verdict.lost) == (False, False, False)
    (verdict,) = judge([COUNTED], [{}, {"push.statements": 0.05}])
    assert verdict.kept


def test_the_references_cover_every_stage_and_hold_themselves():
    references = verdicts.load()
    assert {one.stage for one in references} == set(STAGES)
    for one in references:
        assert one.allows(one.reference), one.figure
        assert (one.floor is None) != (one.ceiling is None), one.figure
        assert one.means, one.figure


def test_the_floor_of_every_ratio_is_seven_tenths_of_its_reference():
    for one in verdicts.load():
        bound = one.ceiling if one.floor is None else one.floor
        assert bound == pytest.approx(one.slack * one.reference, rel=0.02), one.figure
        assert (one.slack == RATIO_FLOOR) == (one.kind == "ratio"), one.figure


def test_what_was_measured_becomes_the_reference_where_it_is_accepted(tmp_path):
    path = tmp_path / "references.json"
    path.write_text(verdicts.REFERENCES.read_text())
    before = {one.figure: one for one in verdicts.load(path)}
    verdicts.accept({"push.ratio": 0.5, "store.statements_per_fire": 0.04}, path)
    after = {one.figure: one for one in verdicts.load(path)}
    assert (after["push.ratio"].reference, after["push.ratio"].floor) == (0.5, 0.35)
    assert after["store.statements_per_fire"].ceiling == pytest.approx(0.044)
    assert {name for name in after if after[name] != before[name]} == {"push.ratio", "store.statements_per_fire"}


def test_a_reference_of_another_stage_is_not_asked_of_this_one():
    assert replace(RATIO, figure="herd.ratio").stage == "herd"


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_loop_over_everyone_who_waits_fails_the_gate():
    environment = os.environ | {"HORAE_BENCH_PATCH": "tests.benchmarks.planted"}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.gate", "overload"],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    line = next(line for line in done.stdout.splitlines() if line.startswith("overload.admission_steps_per_fire"))
    assert "MISSED" in line
    assert "nothing" not in line, "the stage must have measured it"
