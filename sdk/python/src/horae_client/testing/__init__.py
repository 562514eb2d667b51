"""Test schedules without waiting: a real server on a throw-away PostgreSQL, with a clock that the test moves.

Only time is simulated. Jobs are real rows, a real node fires them, and real HTTP calls reach a receiver that records
them. The server is a process of its own: the package `horae` has to be installed, and nothing of it is imported.
`advance` moves the clock from one event to the next and returns when everything due by then is settled::

    with serving(at="2030-01-01T00:00:00Z") as horae:
        horae.job("report", cron="0 2 * * *")
        horae.advance(days=3)
        assert [str(call) for call in horae.calls] == [
            "2030-01-01 02:00:00 report",
            "2030-01-02 02:00:00 report",
            "2030-01-03 02:00:00 report",
        ]

In pytest: `pytest_plugins = ["horae_client.testing.plugin"]` in a `conftest.py`, and the fixture `horae`.
"""

from horae_client.testing.calls import ReceivedCall
from horae_client.testing.server import TestServer, serving

__all__ = ["ReceivedCall", "TestServer", "serving"]
