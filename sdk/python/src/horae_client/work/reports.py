"""What came of attempts, said in batches: at once when idle, more at a time under load, and until it was heard."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, NamedTuple

from msgspec import Raw

from horae_client import errors
from horae_client.asked import workers as asked
from horae_client.client import AsyncClient
from horae_client.models import Reported, Work
from horae_client.outcomes import Declined, Outcome, Retry, Snooze, Unrecoverable, text_of
from horae_client.wire import MAX_RETRY_AFTER_S, encode
from horae_client.work.context import Context
from horae_client.work.held import Held

log = logging.getLogger("horae_client.worker")
MOST: Final = 1000
BYTES: Final = 200_000
SOON: Final = 1.0
LONGEST_MESSAGE: Final = 2000
PATIENCE: Final = 30.0
WRONG: Final = (errors.BadRequest, errors.TooLarge, errors.Invalid)
"""Refusals of what a message says. Any other says nothing about the reports in it: they are said again."""


class Report(NamedTuple):
    """One thing to say of what we hold, encoded. `back`: it is handed back. `last`: nothing is said in its place."""

    finished: bool
    item: Raw
    held: Held
    back: bool = False
    last: bool = False


Heard = tuple[Report, str]


def finished(work: Work, ctx: Context | None = None) -> dict[str, Any]:
    """It is done."""
    item: dict[str, Any] = {"instance_id": work.instance_id, "attempt": work.attempt, "token": work.token}
    if ctx is not None and ctx.compensations:
        item["compensations"] = ctx.compensations
    return item


def told(work: Work, ctx: Context, error: BaseException) -> tuple[bool, dict[str, Any]]:
    """What a handler said otherwise, in the words of the protocol; whether it goes to `finish`."""
    reason = error.reason if isinstance(error, Outcome) else f"{type(error).__name__}: {text_of(error)}"
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


def report_of(held: Held, is_finished: bool, item: dict[str, Any], *, is_back: bool = False) -> Report:
    """A report that can be sent: what cannot be encoded is told as a failure of its attempt, and of no other."""
    try:
        return Report(is_finished, Raw(encode(item)), held, is_back)
    except Exception as error:
        log.exception("what came of %s cannot be put into JSON", held.work.instance_id)
        return _failure(held, f"what came of it cannot be put into JSON: {text_of(error)}")


def _failure(held: Held, reason: str) -> Report:
    """What is said in the place of a report that cannot be."""
    return Report(False, Raw(encode(finished(held.work) | {"message": reason[:LONGEST_MESSAGE]})), held, last=True)


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
        """Say a batch. One that is refused is halved, until what is wrong stands alone."""
        try:
            answers = await self._insist(kind, batch)
        except WRONG as error:
            if len(batch) > 1:
                half = len(batch) // 2
                await self._say(kind, batch[:half])
                await self._say(kind, batch[half:])
                return
            self._settle([(batch[0], "invalid", str(error))])
        else:
            self._settle([(report, one.verdict, one.message) for report, one in zip(batch, answers, strict=True)])

    def _settle(self, answers: Sequence[tuple[Report, str, str]]) -> None:
        """Tell what was heard, and say the rest again: what was not taken now, and what was wrong as a failure."""
        told: list[Heard] = []
        later: list[Report] = []
        for report, verdict, message in answers:
            if verdict == "not_now":
                later.append(report)
            elif verdict in {"done", "late"}:
                told.append((report, verdict))
            else:
                log.error("a report of %s was refused: %s", report.held.work.instance_id, message)
                if report.last:
                    told.append((report, "refused"))
                else:
                    later.append(_failure(report.held, f"what its worker reported was refused: {text_of(message)}"))
        self.unsaid -= len(told)
        self._heard(told)
        if later:
            self._spawn(self._again(later))
        if not self.unsaid:
            self._idle.set()

    async def _again(self, later: Sequence[Report]) -> None:
        await asyncio.sleep(SOON)
        for report in later:
            self.unsaid -= 1
            self.add(report)

    async def _insist(self, kind: bool, batch: Sequence[Report]) -> Sequence[Reported]:
        """An answer for each. Silence is asked again for as long as it takes; only what is wrong raises."""
        items = [report.item for report in batch]
        request = asked.finish(items) if kind else asked.fail(items)
        pause = SOON / 4
        while True:
            try:
                answers = (await self._client.once(request, PATIENCE)).items
                if len(answers) == len(batch):
                    return answers
                log.error("%d answers came for %d reports, which are said again", len(answers), len(batch))
                wait = 0.0
            except WRONG:
                raise
            except errors.HoraeError as error:
                log.warning("a report was not heard and is said again: %s", error)
                wait = getattr(error, "retry_after", None) or 0.0
            except Exception:
                log.exception("a report could not be sent and is said again")
                wait = 0.0
            await asyncio.sleep(max(pause, min(wait, MAX_RETRY_AFTER_S)))
            pause = min(pause * 2, 30.0)


def _fit(waiting: Sequence[Report]) -> int:
    """How many go into one message: all, unless some carry much."""
    part, size = waiting[:MOST], 0
    for many, report in enumerate(part):
        size += len(bytes(report.item))
        if size > BYTES and many:
            return many
    return len(part)
