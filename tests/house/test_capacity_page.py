"""The page of capacities follows from the report of measured rows, and has the sizing that was asked for."""

import json
from pathlib import Path

from tools.capacity import REPORT, page
from tools.figures import MODULE, text

PAGE = Path(__file__).parents[2] / "docs" / "capacity.md"


def test_the_page_is_that_of_the_report():
    assert PAGE.read_text() == page(json.loads(REPORT.read_text())), "run `python tools/capacity.py > docs/capacity.md`"


def test_the_figures_of_the_command_are_those_of_the_reports():
    assert MODULE.read_text() == text(), "run `python tools/figures.py`"


def test_it_reproduces_the_sizing_that_was_asked_for():
    rows = [line.split(" | ") for line in PAGE.read_text().splitlines()]
    asked = {row[0].removeprefix("| "): row[1] for row in rows if len(row) == 4}
    assert [asked[name] for name in ("a record", "a day", "14 days hot", "90 days cold")] == [
        "700 B", "560 GB", "7.84 TB", "50.4 TB",
    ]  # fmt: skip


def test_an_archived_record_has_its_line_when_it_was_measured():
    report = json.loads(REPORT.read_text())
    assert "not measured" in page({**report, "archived_bytes": None})
    assert "| 90 days cold | 50.4 TB | 3.6 TB | 300 GB |" in page({**report, "archived_bytes": 50.0})
