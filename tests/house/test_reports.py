"""Every report says whether its bounds held, and the page says which reports are older than what they measure."""

import json
from pathlib import Path

import pytest
from benchmarks.contents import CONTENTS

from benchmarks import report

NAMES = sorted(path.stem for path in report.REPORTS.glob("*.json"))


def line_of(name: str) -> str:
    return next(line for line in report.PAGE.read_text().splitlines() if line.startswith(f"| [{name}.json]"))


def test_every_report_is_of_the_list():
    assert set(NAMES) <= {entry.name for entry in CONTENTS}


def test_every_benchmark_of_the_list_exists():
    for entry in CONTENTS:
        assert (Path(report.__file__).parent / f"{entry.name}.py").exists()


@pytest.mark.parametrize("name", NAMES)
def test_a_report_says_ok_or_why_not(name):
    found = report.read(name)
    assert found["ok"] == (not found["missed"])
    verdict = line_of(name).split(" | ")[-1]
    assert all(said in verdict for said in found["missed"])
    assert found["commit"] in line_of(name), "make reports-page"


@pytest.mark.parametrize("name", NAMES)
def test_a_report_older_than_the_last_change_of_what_it_measures_is_marked(name):
    if not report.knows_history():
        pytest.skip("a shallow clone does not know what is older")
    if report.is_stale(report.read(name)["commit"]):
        assert report.STALE in line_of(name), "make reports-page"


def test_the_history_ends_with_the_reports_that_are_there():
    history = [json.loads(line) for line in report.HISTORY.read_text().splitlines()]
    for entry in CONTENTS:
        found = report.read(entry.name)
        if found and entry.ratios:
            last = [line for line in history if line["name"] == entry.name][-1]
            assert last["commit"] == found["commit"]
            assert json.loads(report.history_line(entry, found, last["date"])) == last
