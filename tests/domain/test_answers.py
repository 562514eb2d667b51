import pytest

from horae.domain.instances.outcomes import (
    AcceptedCall,
    DeclinedCall,
    ErrorCode,
    Retryable,
    Success,
    TargetHealth,
    Unrecoverable,
    health_by,
)
from horae.domain.targets.answers import judge, retry_after


@pytest.mark.parametrize("status", [200, 201, 204, 299])
def test_2xx_took_it(status):
    assert judge(status, {}) == Success()


def test_a_2xx_may_say_that_it_declined():
    assert judge(200, {"horae-outcome": " Declined "}) == DeclinedCall()


def test_202_is_heard_of_again_unless_it_declined():
    assert judge(202, {}, 60.0) == AcceptedCall(60.0)
    assert judge(202, {"horae-outcome": "declined"}, 60.0) == DeclinedCall()


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (408, ErrorCode.HTTP_408),
        (425, ErrorCode.HTTP_425),
        (429, ErrorCode.HTTP_429),
        (500, ErrorCode.HTTP_5XX),
        (503, ErrorCode.HTTP_5XX),
        (599, ErrorCode.HTTP_5XX),
    ],
)
def test_failures_that_pass_by_themselves_are_retried(status, code):
    assert judge(status, {"retry-after": "7"}) == Retryable(code, f"answered {status}", 7.0)


@pytest.mark.parametrize("status", [301, 302, 307, 308, 304])
def test_redirects_are_not_followed_and_not_retried(status):
    outcome = judge(status, {"location": "http://169.254.169.254/"})
    assert isinstance(outcome, Unrecoverable)
    assert outcome.code is ErrorCode.REDIRECT


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 422])
def test_other_4xx_are_unrecoverable(status):
    assert judge(status, {}) == Unrecoverable(ErrorCode.HTTP_4XX, f"answered {status}")


@pytest.mark.parametrize("value", [None, "", "soon", "-1", "Wed, 21 Oct 2026 07:28:00 GMT", "1.5"])
def test_only_plain_seconds_are_read_from_retry_after(value):
    assert retry_after(value) is None


@pytest.mark.parametrize(
    ("value", "date", "seconds"),
    [
        ("Wed, 21 Oct 2026 07:28:30 GMT", "Wed, 21 Oct 2026 07:28:00 GMT", 30.0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 08:28:00 GMT", 0.0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", "yesterday", None),
        ("Wed, 99 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:00 GMT", None),
        ("soon", "Wed, 21 Oct 2026 07:28:00 GMT", None),
        ("5", "Wed, 21 Oct 2026 07:28:00 GMT", 5.0),
    ],
)
def test_a_time_to_retry_at_counts_from_the_answers_own_date(value, date, seconds):
    assert retry_after(value, date) == seconds


def test_what_an_answer_says_about_its_target():
    assert health_by(judge(200, {})) is TargetHealth.OK
    assert health_by(judge(404, {})) is TargetHealth.OK, "it answers; that it refuses this one is the job's affair"
    assert health_by(judge(425, {})) is TargetHealth.TOO_EARLY
    assert {health_by(judge(status, {})) for status in (408, 429, 500, 503)} == {TargetHealth.FAILED}
