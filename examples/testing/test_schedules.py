"""A shop's schedules over three days, in seconds: `pytest -p horae_client.testing.plugin examples/testing`."""

from pathlib import Path

import pytest

JOBS = Path(__file__).with_name("jobs.yaml")


@pytest.mark.horae(at="2030-01-01T00:00:00Z")
def test_three_days_of_a_shop(horae):
    horae.apply(JOBS)
    tidied = horae.worker("housekeeping")(lambda call: None)
    assert tidied
    horae.task("publish", "article-42", at="2030-01-02T09:00:00Z")
    horae.task("publish", "article-42", at="2030-01-02T10:00:00Z")  # its author thought again
    horae.advance_to("2030-01-04T00:00:00Z")
    reports = [str(call) for call in horae.calls if call.job == "nightly_report"]
    assert reports == [
        "2030-01-01 18:00:00 nightly_report",  # two in the morning in Shanghai
        "2030-01-02 18:00:00 nightly_report",
        "2030-01-03 18:00:00 nightly_report",
    ]
    [published] = [call for call in horae.calls if call.job == "publish"]
    assert str(published) == "2030-01-02 10:00:00 publish/article-42"
    assert len([call for call in horae.calls if call.job == "tidy"]) == 6


def test_a_report_that_fails_is_tried_again_and_takes_effect_once(horae):
    horae.apply(JOBS)
    horae.answers["nightly_report"] = [503, 503, 200]
    calls = horae.advance(days=1)
    assert [(call.attempt, call.status) for call in calls if call.job == "nightly_report"] == [
        (1, 503),
        (2, 503),
        (3, 200),
    ]
    assert len({call.idempotency_key for call in calls if call.job == "nightly_report"}) == 1
