"""The dashboards are what the code says, and ask only for metrics that exist."""

import re

import pytest
from tools.boards import BOARDS
from tools.dashboards import FOLDER, text_of

from tests.house.test_runbooks import METRICS


def test_there_are_five_boards():
    names = {"overview", "tenant", "node", "cell", "delivery"}
    assert {board.name for board in BOARDS} == {path.stem for path in FOLDER.glob("*.json")} == names


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_a_board_is_what_the_code_says(board):
    assert (FOLDER / f"{board.name}.json").read_text() == text_of(board), "python -m tools.dashboards"


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_a_board_asks_for_metrics_and_variables_that_exist(board):
    variables = {one.name for one in board.variables}
    for panel in board.panels:
        assert panel.text.endswith(".")
        for query, _ in panel.queries:
            assert set(re.findall(r"\b(horae_\w+)", query)) <= METRICS
            assert set(re.findall(r"\$(\w+)", query)) <= variables | {"__rate_interval"}


def test_the_boards_show_every_family():
    """A family that no board shows is found by nobody."""
    text = "".join(query for board in BOARDS for panel in board.panels for query, _ in panel.queries)
    shown = {re.sub(r"_(total|bucket|sum|count)$", "", name) for name in re.findall(r"\b(horae_\w+)", text)}
    known = {re.sub(r"_(total|bucket|sum|count)$", "", name) for name in METRICS}
    assert known - shown == NOT_SHOWN


NOT_SHOWN = {
    "horae_api_requests_inside",
    "horae_cell_clock_trusted",
    "horae_cell_shards",
    "horae_events",
    "horae_pool_waits",
    "horae_spans_exported",
    "horae_spans_lost",
}
"""Switches that have alerts, details for queries by hand, and spans, which are there only where traces are on."""
