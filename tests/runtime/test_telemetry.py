"""Logs go to where standard error is now, not to where it was when logs were set up."""

import io
import sys

from horae.runtime import telemetry
from horae.runtime.telemetry import log


def test_a_stream_that_was_replaced_and_closed_hurts_nobody(monkeypatch):
    first, second = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", first)
    telemetry.configure(as_json=True)
    log.info("before")
    monkeypatch.setattr(sys, "stderr", second)
    first_lines = first.getvalue()
    first.close()
    log.info("after")
    assert '"event": "before"' in first_lines
    assert '"event": "after"' in second.getvalue()
