"""Writes the dashboards of deploy/grafana: `python -m tools.dashboards`. A test keeps them so."""

import json
from pathlib import Path
from typing import Any, Final

from tools.boards import BOARDS, Board, Panel, Variable

FOLDER: Final = Path(__file__).parents[1] / "deploy/grafana"
SCHEMA_VERSION: Final = 37
"""The version of Grafana's model: that of Grafana 9. Later releases read it."""
COLUMNS: Final = 2
PANEL_WIDTH: Final = 12
PANEL_HEIGHT: Final = 8
SOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}


def dashboard(board: Board) -> dict[str, Any]:
    """Returns a board in Grafana's model."""
    return {
        "uid": f"horae-{board.name}",
        "title": board.title,
        "tags": ["horae"],
        "schemaVersion": SCHEMA_VERSION,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "templating": {"list": [_datasource(), *(_variable(one) for one in board.variables)]},
        "panels": [_panel(number, one) for number, one in enumerate(board.panels)],
    }


def _datasource() -> dict[str, Any]:
    return {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus", "refresh": 1}


def _variable(one: Variable) -> dict[str, Any]:
    query = f"label_values({one.metric}, {one.name})"
    return {
        "name": one.name,
        "type": "query",
        "datasource": SOURCE,
        "definition": query,
        "query": {"query": query, "refId": one.name},
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
    }


def _panel(number: int, one: Panel) -> dict[str, Any]:
    row, column = divmod(number, COLUMNS)
    return {
        "id": number + 1,
        "title": one.title,
        "description": one.text,
        "type": "timeseries",
        "datasource": SOURCE,
        "gridPos": {"h": PANEL_HEIGHT, "w": PANEL_WIDTH, "x": column * PANEL_WIDTH, "y": row * PANEL_HEIGHT},
        "fieldConfig": {"defaults": {"unit": one.unit, "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "targets": [
            {"refId": chr(ord("A") + place), "datasource": SOURCE, "expr": expression, "legendFormat": legend}
            for place, (expression, legend) in enumerate(one.queries)
        ],
    }


def text_of(board: Board) -> str:
    """Returns the file of a board."""
    return json.dumps(dashboard(board), indent=2) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for each in BOARDS:
        (FOLDER / f"{each.name}.json").write_text(text_of(each))
