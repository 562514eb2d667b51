"""A fire while an earlier one still runs."""

import pytest

from horae.domain.schedules.overlap import OnOverlap, Way, decide


@pytest.mark.parametrize(
    ("policy", "running", "waiting", "way"),
    [
        (OnOverlap.ALLOW, 3, 0, Way.RUN),
        (OnOverlap.FORBID, 1, 0, Way.SKIP),
        (OnOverlap.REPLACE, 1, 0, Way.REPLACE),
        (OnOverlap.QUEUE_ONE, 1, 0, Way.WAIT),
        (OnOverlap.QUEUE_ONE, 1, 1, Way.SKIP),
        *[(policy, 0, 0, Way.RUN) for policy in OnOverlap],
    ],
)
def test_the_policy_decides_only_while_another_one_is_there(policy, running, waiting, way):
    assert decide(policy, running, waiting) is way
