"""The relay: forwards committed rows, and deletes each one after the server has answered.

1. One relay at a time works on a database. It holds a lock that ends with its connection, so the rows of a key are
   forwarded in the order in which they were added.
2. Each round begins with the oldest row, not after the last row of the round before. So a transaction that commits late
   is not missed.
3. Rows whose part of the server is down wait, and later rows of other keys are forwarded meanwhile.
"""

import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final, NamedTuple

import msgspec

from horae_client import errors
from horae_client.asked import subjects
from horae_client.asked import tasks as asked
from horae_client.client import Client, settings
from horae_client.outbox.connections import is_mysql, rows
from horae_client.retries import Retries
from horae_client.wire import Request

log = logging.getLogger("horae_client.outbox")
PAGE: Final = 500
WAITING: Final = (
    "select id, token, verb, type, task_key, body from horae_outbox "
    "where refused is null and id > %s order by id limit %s"
)
LOCK_POSTGRESQL: Final = "select pg_try_advisory_lock(hashtext('horae_outbox'))"
LOCK_MYSQL: Final = "select get_lock(concat('horae_outbox.', database()), 0)"
REST_S: Final = 5.0
"""Seconds for which a key that could not be forwarded is left alone; rows of other keys go first."""
MAX_RESTING: Final = 100_000
NOT_NOW: Final = (errors.Unreachable, errors.Unreadable, errors.ServerFault, errors.Unavailable, errors.Contended)
"""Errors that do not refuse a row: for example, a proxy's 404 is `Unreadable`."""
NOT_FOR_US: Final = (errors.Unauthenticated, errors.Forbidden, errors.Limited)
"""The API key is invalid or limited, which says nothing about a row: all rows wait."""


class Waiting(NamedTuple):
    """A committed row that is not forwarded yet."""

    id: int
    token: str
    verb: str
    type: str
    key: str
    body: str

    @property
    def name(self) -> tuple[str, str]:
        """The type and key; rows with the same name stay in order."""
        return self.type, self.key


_running: "weakref.WeakSet[Relay]" = weakref.WeakSet()


def wake() -> None:
    """Tell every relay of this process that rows were committed. Several calls cause one look of each relay.

    >>> from horae_client import outbox
    >>> outbox.wake()
    """
    for relay in list(_running):
        relay.wake()


class Relay:
    """Forwards the rows that `add` wrote: as a thread (`start`), as a process of its own (`run`), or once.

    `connect` creates a DB-API connection to the database that has the table.

    >>> from horae_client import outbox
    >>> with outbox.Relay(database, url, key) as relay:
    ...     relay.alive
    True
    """

    def __init__(
        self,
        connect: Callable[[], Any],
        url: str | None = None,
        key: str | None = None,
        *,
        pause: float = 1.0,
        lanes: int = 8,
    ) -> None:
        settings(url, key, 0)  # a missing address or key raises here
        self._where = url, key
        self._client: Client | None = None
        self._connect = connect
        self._connection: Any = None
        self._pause, self._lanes = pause, lanes
        self._woken, self._stopping, self._lock = threading.Event(), threading.Event(), threading.Lock()
        self._thread: threading.Thread | None = None
        self._heard_of_horae = self._may_go_on = True
        self._resting: dict[tuple[str, str], float] = {}

    def once(self) -> int:
        """Forward the rows that are there; returns how many. Zero, too, while another relay is working.

        >>> from horae_client import outbox
        >>> outbox.Relay(database, url, key).once()
        0
        """
        try:
            return self._round()
        finally:
            self._hang_up()

    def _round(self) -> int:
        """Go over all rows once, oldest first, for as long as Horae answers; returns how many were forwarded.

        1. Return if another relay holds the lock.
        2. Keys that failed recently rest: their rows are skipped, so that later rows of a key never overtake earlier
           ones.
        3. Read a page, forward its rows, and delete those that were answered. Keys that failed now rest, too.
        4. Stop when Horae did not answer at all for a page, or refuses our API key.
        """
        if not self._hold():
            return 0
        now = time.monotonic()
        self._resting = {name: until for name, until in self._resting.items() if until > now}
        left, went, last, self._may_go_on = set(self._resting), 0, 0, True
        while self._may_go_on and len(left) <= MAX_RESTING and (page := self._read(last)):
            last = page[-1].id
            if tried := [row for row in page if row.name not in left]:
                self._heard_of_horae = False
                heard = self._forward(tried)
                self._forget([row.id for row in heard])
                went += len(heard)
                left |= set(self._resting)
                self._may_go_on &= self._heard_of_horae
        return went

    def run(self) -> None:
        """Forward rows when woken and every `pause` seconds, until `stop()`.

        >>> from horae_client import outbox
        >>> relay = outbox.Relay(database, url, key)
        >>> relay.stop()
        >>> relay.run()
        """
        _running.add(self)
        pause = self._pause
        try:
            while not self._stopping.is_set():
                try:
                    self._round()
                    pause = self._pause
                except Exception:  # the database or the server is down: the rows stay
                    log.exception("nothing could be forwarded just now")
                    self._hang_up()
                    pause = min(pause * 2, 30.0)
                self._woken.wait(pause)
                self._woken.clear()  # before the look, so that a wake during it is kept
        finally:
            _running.discard(self)
            self._hang_up()

    def start(self) -> "Relay":
        """Like `run`, in a thread.

        >>> from horae_client import outbox
        >>> relay = outbox.Relay(database, url, key).start()
        >>> relay.stop()
        """
        self._thread = threading.Thread(target=self.run, name="horae-outbox", daemon=True)
        self._thread.start()
        return self

    def wake(self) -> None:
        """Look for rows now.

        >>> from horae_client import outbox
        >>> outbox.Relay(database, url, key).wake()
        """
        self._woken.set()

    def stop(self) -> None:
        """Stop after the current request, and wait for it. Rows that are not forwarded stay for the next relay.

        >>> from horae_client import outbox
        >>> outbox.Relay(database, url, key).stop()
        """
        self.end()
        if self._thread is not None:
            self._thread.join()

    def end(self) -> None:
        """Like `stop`, without waiting: for signal handlers.

        >>> from horae_client import outbox
        >>> outbox.Relay(database, url, key).end()
        """
        self._stopping.set()
        self._woken.set()

    @property
    def alive(self) -> bool:
        """Whether its thread is running."""
        return self._thread is not None and self._thread.is_alive()

    def __enter__(self) -> "Relay":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _hold(self) -> bool:
        """Take the lock; returns whether this is the one relay of the database. The lock ends with the connection."""
        if self._connection is not None:
            return True
        connection = self._connect()
        _commit_each(connection)
        lock = LOCK_MYSQL if is_mysql(connection) else LOCK_POSTGRESQL
        if not rows(connection, lock)[0][0]:
            connection.close()
            return False
        self._connection, self._client = connection, Client(*self._where, retries=Retries(tries=2))
        return True

    def _hang_up(self) -> None:
        gone, self._connection, self._client = (self._connection, self._client), None, None
        self._resting.clear()
        for one in gone:
            if one is not None:
                with suppress(Exception):
                    one.close()

    def _read(self, last: int) -> list[Waiting]:
        return [Waiting(*row) for row in rows(self._connection, WAITING, [last, PAGE])]

    def _forward(self, page: Sequence[Waiting]) -> list[Waiting]:
        """Send each row, the rows of one key one after the other; returns the rows that were answered."""
        lines: dict[tuple[str, str], list[Waiting]] = {}
        for row in page:
            lines.setdefault(row.name, []).append(row)
        if len(lines) <= 1:
            return self._line(page)
        with ThreadPoolExecutor(self._lanes) as lanes:
            return [row for heard in lanes.map(self._line, lines.values()) for row in heard]

    def _line(self, line: Iterable[Waiting]) -> list[Waiting]:
        heard: list[Waiting] = []
        for row in line:
            try:
                self._send(row)
            except NOT_FOR_US as error:
                log.error("nothing can be forwarded with this key: %s", error)
                self._may_go_on = False
                break
            except NOT_NOW as error:
                log.warning("%s %s could not be forwarded just now: %s", row.type, row.key, error)
                self._rest(row, error)
                break
            except errors.Refused as error:
                self._refuse(row, error)
                self._heard_of_horae = True
                continue
            except Exception as error:
                log.exception("%s %s could not be sent", row.type, row.key)
                self._rest(row, error)
                break
            self._heard_of_horae = True
            heard.append(row)
        return heard

    def _rest(self, row: Waiting, error: Exception) -> None:
        """Leave a key alone for a while. If Horae has answered, other keys are still tried in this round."""
        self._resting[row.name] = time.monotonic() + REST_S
        self._heard_of_horae |= isinstance(error, errors.Refused)

    def _send(self, row: Waiting) -> Any:
        assert self._client is not None, "what is sent is sent while we hold the lock"
        return self._client.ask(_request(row))

    def _refuse(self, row: Waiting, error: errors.Refused) -> None:
        """Mark a row that can never be forwarded: it stays with the reason, and no other row waits for it."""
        if isinstance(error, errors.NotFound) and row.verb == "cancel":
            with self._lock:
                self._forget([row.id])  # what was never scheduled need not be cancelled
            return
        log.error("%s %s was refused and stays in horae_outbox: %s", row.type, row.key, error)
        with self._lock:
            rows(self._connection, "update horae_outbox set refused = %s where id = %s", [str(error)[:2000], row.id])

    def _forget(self, ids: Sequence[int]) -> None:
        if ids:
            marks = ", ".join(["%s"] * len(ids))
            rows(self._connection, f"delete from horae_outbox where id in ({marks})", ids)  # noqa: S608


def _request(row: Waiting) -> Request[Any]:
    body: dict[str, Any] = msgspec.json.decode(row.body)
    if row.verb == "cancel":
        return asked.cancel(row.type, row.key, body.get("version"), once=row.token)
    if row.verb == "add":
        return subjects.add(row.type, [row.key], bool(body.get("at_once", False)))
    if row.verb == "remove":
        return subjects.remove(row.type, [row.key])
    return asked.said_before(row.type, row.key, body, once=row.token)


def _commit_each(connection: Any) -> None:
    """Commit each statement by itself: the lock belongs to the session, and no transaction is needed."""
    if callable(getattr(connection, "autocommit", None)):
        connection.autocommit(True)
    else:
        connection.autocommit = True
