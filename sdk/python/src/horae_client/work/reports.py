"""Sends the outcomes of attempts in batches: at once when idle, larger under load, again until answered."""

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
"""Refusals because of the content. Any other error says nothing about the reports, so they are sent again."""


class Report(NamedTuple):
    """One encoded report of an attempt. `back`: the attempt is returned. `last`: there is no substitute report."""

    finished: bool
    item: Raw
    held: Held
    back: bool = False
    last: bool = False


Heard = tuple[Report, str]


def attempt_item(work: Work, ctx: Context | None = None) -> dict[str, Any]:
    """The item of an attempt that is done."""
    item: dict[str, Any] = {"instance_id": work.instance_id, "attempt": work.attempt, "token": work.token}
    if ctx is not None and ctx.compensations:
        item["compensations"] = ctx.compensations
    return item


def success_item(work: Work, ctx: Context) -> dict[str, Any]:
    """The item of an attempt that succeeded."""
    item = attempt_item(work, ctx)
    if ctx.result is not None:
        item["result"] = ctx.result
    return item


def result_item(work: Work, ctx: Context, error: BaseException) -> tuple[bool, dict[str, Any]]:
    """The item of an outcome other than success, and whether it goes to `finish`."""
    reason = error.reason if isinstance(error, Outcome) else f"{type(error).__name__}: {text_of(error)}"
    reason = reason[:LONGEST_MESSAGE]
    match error:
        case Declined():
            return True, attempt_item(work, ctx) | {"declined": True, "message": reason}
        case Unrecoverable():
            return False, attempt_item(work, ctx) | {"message": reason, "retryable": False}
        case Snooze(seconds=seconds):
            return False, attempt_item(work) | {"message": reason, "counted": False, "retry_after": seconds}
        case Retry(after=float() | int() as after):
            return False, attempt_item(work) | {"message": reason, "retry_after": after}
        case _:
            return False, attempt_item(work) | {"message": reason}


def return_item(work: Work, reason: str, after: float = 0.0) -> dict[str, Any]:
    """The item of an attempt that is returned: it is due again, and this counts as no attempt."""
    return attempt_item(work) | {"message": reason, "counted": False, "retry_after": after}


def report_of(held: Held, is_finished: bool, item: dict[str, Any], *, is_back: bool = False) -> Report:
    """An encoded report. If it cannot be encoded, it becomes a failure of its own attempt and affects no other."""
    try:
        return Report(is_finished, Raw(encode(item)), held, is_back)
    except Exception as error:
        log.exception("what came of %s cannot be put into JSON", held.work.instance_id)
        return _failure(held, f"what came of it cannot be put into JSON: {text_of(error)}")


def _failure(held: Held, reason: str) -> Report:
    """The substitute for a report that cannot be sent."""
    return Report(False, Raw(encode(attempt_item(held.work) | {"message": reason[:LONGEST_MESSAGE]})), held, last=True)


class Reports:
    """Sends reports in batches, a few at a time. A batch without an answer is sent again.

    `on_answers` is called with all reports of a batch that were answered, and their verdicts.
    """

    def __init__(self, client: AsyncClient, on_answers: Callable[[Sequence[Heard]], None], lanes: int = 2) -> None:
        self._client = client
        self._on_answers = on_answers
        self._waiting: dict[bool, list[Report]] = {True: [], False: []}
        self._lanes = lanes
        self._busy = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self.unanswered = 0

    def add(self, report: Report) -> None:
        """Send a report soon; reports that are added at the same moment go together."""
        self._waiting[report.finished].append(report)
        self.unanswered += 1
        if self._idle.is_set():
            self._idle.clear()
        if self._busy < self._lanes:
            self._busy += 1
            self._spawn(self._lane())

    async def flush(self, seconds: float) -> bool:
        """Wait until all reports are answered; False if that took too long."""
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
        """Send batches until no report waits."""
        try:
            await asyncio.sleep(0)  # reports of the same moment go together
            while (batch := self._take()) is not None:
                await self._send_batch(*batch)
        finally:
            self._busy -= 1

    def _take(self) -> tuple[bool, list[Report]] | None:
        for kind, waiting in self._waiting.items():
            if waiting:
                many = _fit(waiting)
                part, self._waiting[kind] = waiting[:many], waiting[many:]
                return kind, part
        return None

    async def _send_batch(self, kind: bool, batch: list[Report]) -> None:
        """Send a batch. A refused batch is halved until the invalid report is alone."""
        try:
            answers = await self._send_until_answered(kind, batch)
        except WRONG as error:
            if len(batch) > 1:
                half = len(batch) // 2
                await self._send_batch(kind, batch[:half])
                await self._send_batch(kind, batch[half:])
                return
            self._settle([(batch[0], "invalid", str(error))])
        else:
            self._settle([(report, one.verdict, one.message) for report, one in zip(batch, answers, strict=True)])

    def _settle(self, answers: Sequence[tuple[Report, str, str]]) -> None:
        """Pass on the answered reports; send refused ones again later, and invalid ones as failures."""
        answered: list[Heard] = []
        later: list[Report] = []
        for report, verdict, message in answers:
            if verdict == "not_now":
                later.append(report)
            elif verdict in {"done", "late"}:
                answered.append((report, verdict))
            else:
                log.error("a report of %s was refused: %s", report.held.work.instance_id, message)
                if report.last:
                    answered.append((report, "refused"))
                else:
                    later.append(_failure(report.held, f"what its worker reported was refused: {text_of(message)}"))
        self.unanswered -= len(answered)
        self._on_answers(answered)
        if later:
            self._spawn(self._resend(later))
        if not self.unanswered:
            self._idle.set()

    async def _resend(self, later: Sequence[Report]) -> None:
        await asyncio.sleep(SOON)
        for report in later:
            self.unanswered -= 1
            self.add(report)

    async def _send_until_answered(self, kind: bool, batch: Sequence[Report]) -> Sequence[Reported]:
        """Send a batch until it is answered; returns one answer for each report. Raises only for invalid content."""
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
    """How many reports fit into one message: all, unless some are large."""
    part, size = waiting[:MOST], 0
    for many, report in enumerate(part):
        size += len(bytes(report.item))
        if size > BYTES and many:
            return many
    return len(part)
