import pytest

from horae.runtime.settings import Settings


def test_leases_are_switched_off_only_where_nothing_is_at_stake():
    assert not Settings(environment="test", leases=False).leases
    with pytest.raises(ValueError, match="leases"):
        Settings(environment="production", leases=False)
