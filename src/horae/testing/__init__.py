"""Test schedules without waiting: a real server on a throw-away PostgreSQL, with a clock that the test moves.

Nothing is faked but time. Jobs are made in real rows, fired by a real node and sent over real HTTP to a receiver that
records them; `advance` goes from one event to the next and returns when everything due by then has settled::

    with serving(at="2030-01-01T00:00:00Z") as horae:
        horae.job("report", cron="0 2 * * *")
        horae.advance(days=3)
        assert [str(call) for call in horae.calls] == [
            "2030-01-01 02:00:00 report",
            "2030-01-02 02:00:00 report",
            "2030-01-03 02:00:00 report",
        ]

In pytest: `pytest_plugins = ["horae.testing.plugin"]` in a `conftest.py`, and the fixture `horae`.
"""

from horae.testing.calls import Call
from horae.testing.server import Server, serving

__all__ = ["Call", "Server", "serving"]
