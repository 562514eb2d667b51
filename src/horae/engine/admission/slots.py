"""The calls a node may have in flight at once, with a part reserved for each class and a bound for each tenant."""

from collections import OrderedDict
from typing import Final, Generic, TypeVar
from uuid import UUID

from horae.domain.instances.instances import Lane, Priority
from horae.domain.limits.shares import DEFAULT_LANE_SHARE, RESERVED_SLOT_SHARE, Class, LaneShare, reserve

Waiter = TypeVar("Waiter")

TENANT_SHARE: Final = 0.5
"""The part of all slots that one tenant may hold while other tenants have work."""
RESUME_SHARE: Final = 0.95
"""A tenant at its bound takes turns again at this part of the bound, and not after every single answer."""


class Slots:
    """A class may take a free slot if enough slots stay free for the reserved parts of the other classes.

    The classes of backfills together may take no more than their cap: calls of theirs that hang leave the rest to due
    work.
    """

    def __init__(self, total: int, share: LaneShare = DEFAULT_LANE_SHARE) -> None:
        self.total = total
        self.free = total
        self.most_backfills = share.most(total)
        self._backfills = frozenset((priority, Lane.BACKFILL) for priority in Priority)
        self._reserved = reserve(total, share)
        self._used = dict.fromkeys(RESERVED_SLOT_SHARE, 0)
        self._promised = sum(self._reserved.values())  # reserved slots that their classes do not use now

    @property
    def load(self) -> float:
        """The part of the slots in use, of those that may be: slots reserved for classes without calls do not count.

        So it is 1 when nothing more of the work at hand can start, although reserved slots are free.
        """
        used, usable = self.total - self.free, self.total - self._promised
        return used / usable if usable else float(bool(used))

    def may(self, class_: Class) -> bool:
        """Whether this class may take one more slot."""
        own = self._used[class_] < self._reserved[class_]
        return self.free > (0 if own else self._promised) and (class_ not in self._backfills or self._is_below_cap())

    def _is_below_cap(self) -> bool:
        """Whether backfills may take one more slot. Only they ask, so the others pay nothing for it."""
        return sum(map(self._used.__getitem__, self._backfills)) < self.most_backfills

    def take(self, class_: Class) -> None:
        """Take a slot."""
        self.free -= 1
        if self._used[class_] < self._reserved[class_]:
            self._promised -= 1
        self._used[class_] += 1

    def give(self, class_: Class) -> None:
        """Give a slot back."""
        self.free += 1
        self._used[class_] -= 1
        if self._used[class_] < self._reserved[class_]:
            self._promised += 1


class LongSlots(Generic[Waiter]):
    """Slots for calls that may last for minutes, so that these take none of the others.

    One tenant may hold half of them while other tenants have work. `waiting` are the targets whose calls found none
    free; a slot that is given back lets one of them try again.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.free = total
        self.tenants = TenantSlots(total)
        self.waiting: OrderedDict[Waiter, None] = OrderedDict()

    def may(self, tenant: UUID) -> bool:
        """Whether a tenant may take one more slot."""
        return self.free > 0 and self.tenants.may(tenant)

    def take(self, tenant: UUID) -> None:
        """Take a slot for a tenant."""
        self.free -= 1
        self.tenants.take(tenant)

    def give(self, tenant: UUID) -> Waiter | None:
        """Give a slot of a tenant back; returns a target that may try again."""
        self.free += 1
        self.tenants.give(tenant)
        return self.waiting.popitem(last=False)[0] if self.waiting else None


class TenantSlots:
    """The slots that each tenant holds. A call that hangs keeps its slot, so no tenant may take all slots.

    While a node has seen only one tenant, that tenant may use every slot.
    """

    def __init__(self, total: int) -> None:
        self._most = max(1, int(total * TENANT_SHARE))
        self._few = int(self._most * RESUME_SHARE)
        self._used: dict[UUID, int] = {}
        self._only: UUID | None = None
        self._shared = False

    def may(self, tenant: UUID) -> bool:
        """Whether this tenant may take one more slot."""
        return not self._shared or self._used.get(tenant, 0) < self._most

    def take(self, tenant: UUID) -> None:
        """Take a slot for a tenant."""
        self._used[tenant] = self._used.get(tenant, 0) + 1

    def give(self, tenant: UUID) -> bool:
        """Give a slot of a tenant back; returns whether the tenant is clearly below its bound."""
        used = self._used[tenant] - 1
        if used:
            self._used[tenant] = used
        else:
            del self._used[tenant]
        return used <= self._few

    def see(self, tenant: UUID) -> None:
        """Note that a tenant has work on this node."""
        if self._only is None:
            self._only = tenant
        elif tenant != self._only:
            self._shared = True
