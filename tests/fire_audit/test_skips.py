"""Every reason for which a fire is skipped is judged, or is said to have no other witness."""

from horae.domain.fire_audit.skips import JUDGES
from horae.domain.instances.outcomes import SkipReason


def test_every_reason_has_its_judge():
    assert set(JUDGES) == set(SkipReason)
