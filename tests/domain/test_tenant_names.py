"""Names of tenants are parts of addresses."""

import pytest

from horae.domain.errors import Invalid
from horae.domain.tenants.tenants import check


@pytest.mark.parametrize("name", [".", "..", "a/b", "", "a\n"])
def test_a_name_that_an_address_cannot_hold_is_refused(name):
    with pytest.raises(Invalid):
        check(name, 16)


@pytest.mark.parametrize("name", ["...", ".a", "a..b", "é"])
def test_other_names_with_dots_are_taken(name):
    check(name, 16)
