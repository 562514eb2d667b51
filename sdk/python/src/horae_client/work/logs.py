"""The log lines of attempts: collected from any thread, bounded, and sent in the background.

No handler waits for a line. If lines come faster than they can be sent, the oldest are dropped, and the reader sees how
many. Before the outcome of an attempt is reported, its last lines are sent, for `FLUSH_S` seconds at most.
"""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from msgspec import Raw

from horae_client import errors
from horae_client.asked import workers as asked
from horae_client.client import AsyncClient
from horae_client.models import Reported, Work
from horae_client.outcomes import text_of
from horae_client.wire import encode

log = logging.getLogger("horae_client.worker")
SEND_INTERVAL_S: Final = 0.5
"""Seconds between two messages with lines. The lines of an attempt in one message are one row."""
FLUSH_S: Final = 2.0
"""Seconds that the report of an attempt waits for its last lines."""
MAX_WAITING_BYTES: Final = 256 * 1024
"""Bytes of an attempt's lines that wait to be sent; the oldest are dropped."""
MAX_MESSAGE_BYTES: Final = 180_000
MAX_ITEM_BYTES: Final = 100_000
MAX_ITEM_LINES: Final = 1000
MAX_ITEMS: Final = 1000
MAX_LINE_CHARACTERS: Final = 8000
MAX_LEVEL_CHARACTERS: Final = 20
REFUSED_PAUSE_S: Final = 60.0
"""Seconds for which lines are dropped after the server refused them altogether."""
PATIENCE: Final = 10.0
CUT: Final = " … (cut)"
REFUSED: Final = (errors.NotFound, errors.Forbidden, errors.Unauthenticated, errors.BadRequest, errors.Invalid)


class Line(NamedTuple):
    """A line that waits to be sent, encoded."""

    number: int
    body: bytes


class AttemptLog:
    """The lines of one attempt that are not sent yet. Any thread may add some."""

    __slots__ = ("_bytes", "_lines", "_lock", "_next")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: deque[Line] = deque()
        self._bytes = self._next = 0

    def add(self, text: str, level: str, at: datetime | None = None) -> None:
        """Add a line. One that is too long is cut; beyond the bound the oldest waiting line is dropped."""
        text = text_of(text).replace("\0", "\N{REPLACEMENT CHARACTER}")
        if len(text) > MAX_LINE_CHARACTERS:
            text = text[: MAX_LINE_CHARACTERS - len(CUT)] + CUT
        plain_level = "".join(c for c in text_of(level) if c.isprintable())[:MAX_LEVEL_CHARACTERS] or "info"
        body = encode({"at": at or datetime.now(UTC), "text": text, "level": plain_level})
        with self._lock:
            self._lines.append(Line(self._next, body))
            self._next += 1
            self._bytes += len(body)
            while self._bytes > MAX_WAITING_BYTES:
                self._bytes -= len(self._lines.popleft().body)

    def waiting(self) -> list[Line]:
        """The first lines that wait, as many as one item may have."""
        with self._lock:
            found: list[Line] = []
            size = 0
            for line in self._lines:
                size += len(line.body) + 1
                if size > MAX_ITEM_BYTES or len(found) >= MAX_ITEM_LINES:
                    break
                found.append(line)
            return found

    def drop_until(self, number: int) -> None:
        """Drop the lines before a number: they were sent."""
        with self._lock:
            while self._lines and self._lines[0].number < number:
                self._bytes -= len(self._lines.popleft().body)

    def __len__(self) -> int:
        return len(self._lines)


class LogSender:
    """Sends the lines of all attempts of a worker, one message at a time."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._turn = asyncio.Lock()
        self._logging: dict[str, tuple[Work, AttemptLog]] = {}
        self._silent_until = 0.0

    def begin(self, work: Work) -> AttemptLog:
        """The log of an attempt that writes its first line. Called from any thread."""
        made = AttemptLog()
        self._logging[work.token] = (work, made)
        return made

    async def run(self) -> None:
        """Send lines until cancelled."""
        while True:
            await asyncio.sleep(SEND_INTERVAL_S)
            if self._logging:
                await self._send_all(list(self._logging.values()))

    async def end(self, work: Work) -> None:
        """Send the last lines of an attempt, if that is possible soon, and forget its log."""
        known = self._logging.get(work.token)
        if known is None:
            return
        try:
            async with asyncio.timeout(FLUSH_S):
                while len(known[1]) and await self._send_all([known]):
                    pass
        except TimeoutError:
            missing = len(known[1])  # some may be in a message that is on its way
            log.warning("%d last lines of %s had no answer and may be missing", missing, work.instance_id)
        finally:
            self._logging.pop(work.token, None)

    async def _send_all(self, logs: Iterable[tuple[Work, AttemptLog]]) -> bool:
        """Send what waits, in as many messages as it needs. False if the server could not take it now."""
        async with self._turn:
            items: list[Raw] = []
            sent: list[tuple[AttemptLog, int]] = []
            size = 0
            for work, lines in logs:
                waiting = lines.waiting()
                if not waiting:
                    continue
                item = _item(work, waiting)
                if items and (size + len(item) > MAX_MESSAGE_BYTES or len(items) >= MAX_ITEMS):
                    if not await self._send(items, sent):
                        return False
                    items, sent, size = [], [], 0
                items.append(Raw(item))
                sent.append((lines, waiting[-1].number + 1))
                size += len(item)
            return await self._send(items, sent) if items else True

    async def _send(self, items: list[Raw], sent: list[tuple[AttemptLog, int]]) -> bool:
        if time.monotonic() < self._silent_until:
            _forget(sent)
            return True
        try:
            answers = (await self._client.once(asked.logs(items), PATIENCE)).items
        except REFUSED as error:
            log.warning("log lines are refused, and dropped for a minute: %s", error)
            self._silent_until = time.monotonic() + REFUSED_PAUSE_S
            _forget(sent)
            return True
        except Exception as error:  # they wait for the next round, within their bound
            log.debug("log lines could not be sent: %s", error)
            return False
        return self._settle(answers, sent)

    def _settle(self, answers: list[Reported], sent: list[tuple[AttemptLog, int]]) -> bool:
        """Forget what was answered. Lines that cannot be taken now are sent again."""
        taken = True
        for answer, (lines, number) in zip(answers, sent, strict=False):
            if answer.verdict == "not_now":
                taken = False
                continue
            lines.drop_until(number)
            if answer.verdict == "full":
                log.warning("the tenant has logged as much as it may today: lines are dropped for a minute")
                self._silent_until = time.monotonic() + REFUSED_PAUSE_S
            elif answer.verdict == "invalid":
                log.warning("log lines of %s were refused: %s", answer.instance_id, answer.message)
        return taken


def _item(work: Work, waiting: list[Line]) -> bytes:
    head: dict[str, Any] = {"instance_id": work.instance_id, "attempt": work.attempt, "token": work.token}
    return encode(head | {"first": waiting[0].number, "lines": [Raw(line.body) for line in waiting]})


def _forget(sent: list[tuple[AttemptLog, int]]) -> None:
    for lines, number in sent:
        lines.drop_until(number)
