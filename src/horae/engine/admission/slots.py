"""The calls a node may have in flight at once, with a part reserved for each class and a bound for each tenant."""

from typing import Final
from uuid import UUID

from horae.domain.shares import RESERVED, Class, reserve

TENANT_SHARE: Final = 0.5
"""The part of all slots that one tenant may hold where others have work, too."""
RESUME_SHARE: Final = 0.95
"""A tenant at its bound takes turns again below this part of it: not with every single answer."""


class Slots:
    """A class may take a free slot as long as enough stay free for what the others are promised."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.free = total
        self._reserved = reserve(total)
        self._used = dict.fromkeys(RESERVED, 0)
        self._promised = sum(self._reserved.values())  # to classes that use less than their part

    def may(self, class_: Class) -> bool:
        """Whether this class may have one more."""
        own = self._used[class_] < self._reserved[class_]
        return self.free > 0 if own else self.free > self._promised

    def take(self, class_: Class) -> None:
        """One call more."""
        self.free -= 1
        if self._used[class_] < self._reserved[class_]:
            self._promised -= 1
        self._used[class_] += 1

    def give(self, class_: Class) -> None:
        """One call less."""
        self.free += 1
        self._used[class_] -= 1
        if self._used[class_] < self._reserved[class_]:
            self._promised += 1


class TenantSlots:
    """How many slots each tenant holds. Calls that hang cannot be taken back, so no tenant may come to hold them all.

    A node that has seen one tenant only leaves it every slot.
    """

    def __init__(self, total: int) -> None:
        self._most = max(1, int(total * TENANT_SHARE))
        self._few = int(self._most * RESUME_SHARE)
        self._used: dict[UUID, int] = {}
        self._only: UUID | None = None
        self._shared = False

    def may(self, tenant: UUID) -> bool:
        """Whether this tenant may have one more."""
        return not self._shared or self._used.get(tenant, 0) < self._most

    def take(self, tenant: UUID) -> None:
        """One call more."""
        self._used[tenant] = self._used.get(tenant, 0) + 1

    def give(self, tenant: UUID) -> bool:
        """One call less; returns whether the tenant is clearly below its bound."""
        used = self._used[tenant] - 1
        if used:
            self._used[tenant] = used
        else:
            del self._used[tenant]
        return used <= self._few

    def see(self, tenant: UUID) -> None:
        """A tenant has work on this node."""
        if self._only is None:
            self._only = tenant
        elif tenant != self._only:
            self._shared = True
