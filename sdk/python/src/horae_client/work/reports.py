"""What came of attempts, said in batches: at once when idle, more at a time under load, and until it was heard."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, NamedTuple

from horae_client import errors
from horae_client.asked import workers as asked
from horae_client.client import AsyncClient
from horae_client.models import Reported, ReportedAll, Work
from horae_client.outcomes import Declined, Outcome, Retry, Snooze, Unrecoverable
from horae_client.wire import Request
from horae_client.work.context import Context
from horae_client.work.held import Held

log = logging.getLogger("horae_client.worker")
MOST: Final = 1000
BYTES: Final = 200_000
SOON: Final = 1.0
LONGEST_MESSAGE: Final = 2000
PATIENCE: Final = 30.0


class Report(NamedTuple):
    """One thing to say of what we hold. `back`: it is handed back."""

    finished: bool
    item: dict[str, Any]
    held: Held
    back: bool = False


Heard = tuple[Report, str]


def finished(work: Work, ctx: Context | None = None) -> dict[str, Any]:
    """It is done."""
    item: dict[str, Any] = {"instance_id": work.instance_id, "attempt": work.attempt, "token": work.token}
    if ctx is not None and ctx.compensations:
        item["compensations"] = ctx.compensations
    return item


def told(work: Work, ctx: Context, error: BaseException) -> tuple[bool, dict[str, Any]]:
    """What a handler said otherwise, in the words of the protocol; whether it goes to `finish`."""
    reason = error.reason if isinstance(error, Outcome) else f"{type(error).__name__}: {error}"
    reason = reason[:LONGEST_MESSAGE]
    match error:
        case Declined():
            return True, finished(work, ctx) | {"declined": True, "message": reason}
        case Unrecoverable():
            return False, finished(work, ctx) | {"message": reason, "retryable": False}
        case Snooze(seconds=seconds):
            return False, finished(work) | {"message": reason, "counted": False, "retry_after": seconds}
        case Retry(after=float() | int() as after):
            return False, finished(work) | {"message": reason, "retry_after": after}
        case _:
            return False, finished(work) | {"message": reason}


def back(work: Work, reason: str, after: float = 0.0) -> dict[str, Any]:
    """It was not begun, or may not go on here: it is due again, and that costs nothing."""
    return finished(work) | {"message": reason, "counted": False, "retry_after": after}


class Reports:
    """Says what it is given, in batches, one or a few at a time. A batch that is not heard is said again.

    `heard` is told what was, with its verdict, all of a batch at once.
    """

    def __init__(self, client: AsyncClient, heard: Callable[[Sequence[Heard]], None], lanes: int = 2) -> None:
        self._client = client
        self._heard = heard
        self._waiting: dict[bool, list[Report]] = {True: [], False: []}
        self._lanes = lanes
        self._busy = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self.unsaid = 0

    def add(self, report: Report) -> None:
        """Say this, soon: what is added in one moment goes together."""
        self._waiting[report.finished].append(report)
        self.unsaid += 1
        if self._idle.is_set():
            self._idle.clear()
        if self._busy < self._lanes:
            self._busy += 1
            self._spawn(self._lane())

    async def flushed(self, seconds: float) -> bool:
        """Wait until all was said and heard; False when that took too long."""
        try:
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _lane(self) -> None:
        """Say what waits until nothing does."""
        try:
            await asyncio.sleep(0)  # what else ends in this moment goes with it
            while (batch := self._take()) is not None:
                await self._say(*batch)
        finally:
            self._busy -= 1

    def _take(self) -> tuple[bool, list[Report]] | None:
        for kind, waiting in self._waiting.items():
            if waiting:
                many = _fit(waiting)
                part, self._waiting[kind] = waiting[:many], waiting[many:]
                return kind, part
        return None

    async def _say(self, kind: bool, batch: list[Report]) -> None:
        items = [report.item for report in batch]
        request = asked.finish(items) if kind else asked.fail(items)
        answers = await self._insist(request)
        verdicts = ["refused" if answer is None else answer.verdict for answer in answers]
        told = list(zip(batch, verdicts, strict=True))
        later = [report for report, verdict in told if verdict == "not_now"]
        self.unsaid -= len(told) - len(later)
        self._heard([one for one in told if one[1] != "not_now"] if later else told)
        if later:
            self._spawn(self._again(later))
        if not self.unsaid:
            self._idle.set()

    async def _again(self, later: Sequence[Report]) -> None:
        await asyncio.sleep(SOON)
        for report in later:
            self.unsaid -= 1
            self.add(report)

    async def _insist(self, request: Request[ReportedAll]) -> Sequence[Reported | None]:
        """The answers. Silence is asked again for as long as it takes; a refusal of the whole batch is final."""
        pause = SOON / 4
        while True:
            try:
                return (await self._client.once(request, PATIENCE)).items
            except (
                errors.Unreachable,
                errors.Unreadable,
                errors.ServerFault,
                errors.Unavailable,
                errors.Limited,
            ) as error:
                log.warning("a report was not heard and is said again: %s", error)
                await asyncio.sleep(max(pause, getattr(error, "retry_after", None) or 0.0))
                pause = min(pause * 2, 30.0)
            except errors.Refused as error:
                log.error("a report was refused: %s", error)
                return [None] * len(request.body["items"])


def _fit(waiting: Sequence[Report]) -> int:
    """How many go into one message: all, unless some carry much."""
    part = waiting[:MOST]
    if not any("compensations" in report.item or "message" in report.item for report in part):
        return len(part)
    size = 0
    for many, report in enumerate(part):
        size += 400 + len(str(report.item.get("compensations", ""))) * 2 + 4 * len(report.item.get("message", ""))
        if size > BYTES and many:
            return many
    return len(part)
