"""The calls of one target that take turns together."""

from typing import TYPE_CHECKING
from uuid import UUID

from horae.domain.admission import HoldReason
from horae.domain.instances import Lane
from horae.domain.shares import Class
from horae.engine.admission.ready import Desk
from horae.engine.admission.waiting import WaitingQueue

if TYPE_CHECKING:
    from horae.engine.admission.target import Target


class Flow(WaitingQueue):
    """The waiting calls of one target, in one class, at one desk.

    Turns are taken by flows, not by calls: a gate that closes takes one flow from its turn, whoever waits in it.
    `listed` says whether it takes turns now, `reason` why a gate holds it back.
    """

    __slots__ = ("class_", "desk", "is_retry", "listed", "reason", "target", "tenant")

    def __init__(self, target: "Target", tenant: UUID, class_: Class, desk: Desk) -> None:
        super().__init__()
        self.target = target
        self.tenant = tenant
        self.class_ = class_
        self.desk = desk
        self.is_retry = class_[1] == Lane.RETRY
        self.listed = False
        self.reason: HoldReason | None = None

    def close(self, reason: HoldReason, patience_s: float, now: float) -> None:
        """A gate holds it back."""
        self.reason = reason
        self.hold(patience_s, now)

    def reopen(self, now: float) -> None:
        """It may take turns again."""
        self.reason = None
        self.resume(now)
