"""The sequential rules of one business key, written down a second time."""

from typing import Any
from uuid import UUID

from tests.system.checker.calls import moment

FINAL = {"SUCCESS", "DEAD", "CANCELLED", "SKIPPED"}


class Broken(Exception):
    """A step the rules do not allow."""


class Rules:
    """Where a key stands: never used, LIVE, or ended in some state."""

    def __init__(self, reopen: bool, ends: dict[UUID, str]) -> None:
        self.reopen, self.ends = reopen, ends
        self.state: str | None = None
        self.id: UUID | None = None
        self.at: str | None = None

    def decided(self, event: str, body: dict[str, Any]) -> None:
        """One decision, as its event tells it."""
        match event:
            case "TASK_CREATED":
                self._need(self.state is None or self.state in self._startable(), f"created while {self.state}")
                self._born(body)
            case "INSTANCE_REPLAYED":
                self._need(self.state == "DEAD", f"replayed while {self.state}")
                self._born(body)
            case "TASK_MOVED":
                self._need(self.state == "LIVE", f"moved while {self.state}")
                self._need(UUID(body["instance_id"]) == self.id, "a move changed the instance")
                self.at = body["at"]
            case "TASK_REPLACED":
                self._need(self.state == "LIVE", f"replaced while {self.state}")
                self._need(UUID(body["replaced_id"]) == self.id, "another instance was replaced than the living one")
                self._need(self.ends.get(self.id) == "CANCELLED", "what was replaced did not end as CANCELLED")
                self._born(body)
            case "TASK_CANCELLED":
                self._need(self.state == "LIVE", f"cancelled while {self.state}")
                self._need(self.ends.get(self.id) == "CANCELLED", "what was cancelled did not end as CANCELLED")
                self.state = "CANCELLED"
            case "TASK_IGNORED":
                self._ignored(body.get("reason"))

    def ended(self) -> None:
        """A revision without a decision: the living instance came to its end."""
        self._need(self.state == "LIVE", f"ended while {self.state}")
        self._need(self.id in self.ends, f"{self.id} ended without a history row")
        self.state = self.ends[self.id] if self.id else None

    def stands(self, outcome: str | None, rows: dict[UUID, dict[str, Any]]) -> None:
        """At the end ledger, live row and history agree with the walk, and the last time asked for is the one kept."""
        self._need(
            (None if self.state == "LIVE" else self.state) == outcome, f"the ledger says {outcome}, not {self.state}"
        )
        if self.id is None:
            return  # cancelled before it ever was: only the ledger knows
        row = rows.get(self.id)
        self._need(row is not None, f"{self.id} has neither a live row nor a history row")
        assert row is not None
        self._need(
            (row["state"] not in FINAL) == (self.state == "LIVE"), f"{self.id} is {row['state']}, not {self.state}"
        )
        if self.at is not None:
            kept = row["fire_time"].isoformat()
            self._need(moment(kept) == moment(self.at), f"{self.at} was decided last, and {kept} was kept")

    def _startable(self) -> set[str]:
        return FINAL if self.reopen else FINAL - {"SUCCESS"}

    def _ignored(self, reason: str | None) -> None:
        if reason == "succeeded":
            self._need(self.state == "SUCCESS" and not self.reopen, f"ignored as succeeded while {self.state}")
        elif reason == "not_live":
            self._need(self.state != "LIVE", "ignored as not live while it lived")
            self.state = self.state or "CANCELLED"  # a cancellation that overtook what it cancels is remembered

    def _born(self, body: dict[str, Any]) -> None:
        self.state, self.id, self.at = "LIVE", UUID(body["instance_id"]), body.get("at")

    def _need(self, holds: bool, otherwise: str) -> None:
        if not holds:
            raise Broken(otherwise)
