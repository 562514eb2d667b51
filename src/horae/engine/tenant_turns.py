"""Whose rows a page leaves out, so that a tenant with very many rows does not keep those of others waiting."""

from collections.abc import Iterable
from typing import Final
from uuid import UUID

MAX_LEFT_OUT: Final = 1000


class TenantTurns:
    """The tenants that have filled pages since everyone had a turn.

    A page holds the oldest rows, so a tenant with very many of them fills page after page. From time to time a page is
    read without the tenants that have filled earlier ones. If that page is not full, everyone else has had a turn.
    """

    def __init__(self) -> None:
        self.left_out: set[UUID] = set()

    def note(self, tenants: Iterable[UUID], *, is_full: bool) -> None:
        """Note whose rows stood on a page, and whether it was full."""
        if is_full and len(self.left_out) < MAX_LEFT_OUT:
            self.left_out.update(tenants)
        else:
            self.left_out.clear()
