"""Sends a heartbeat to an outside service while Horae as a whole makes progress.

The outside service rings when no heartbeat comes: nobody inside can tell that everything inside is silent.

1. One node sends: the one that holds the first shard of the first cell that answers. When it is gone, another node
   takes that shard and goes on.
2. It sends nothing while it is not ready itself, while a cell does not answer, or while nobody holds some shard.
3. A heartbeat that is not accepted is not repeated: the next one comes soon.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Final

import msgspec

from horae.delivery.client import Client, ask
from horae.delivery.http import HttpAnswer, build_request, parse_url
from horae.delivery.signing import keys_of, sign
from horae.runtime.randomness import new_token
from horae.runtime.telemetry import log
from horae.store.connections.each_cell import ask_by_statement, ask_each
from horae.store.nodes import shards
from horae.store.protocol import StoreProtocol

CONNECT_TIMEOUT_S: Final = 3.0
READ_TIMEOUT_S: Final = 10.0


class HeartbeatNote(msgspec.Struct):
    """The body of a heartbeat."""

    type: str
    timestamp: datetime
    cells: int


class HeartbeatTarget:
    """Where heartbeats go, and the secret that signs them; without one they are not signed."""

    def __init__(self, client: Client, url: str, secret: str) -> None:
        self._client, self._url, self._keys = client, url, keys_of(secret) if secret else ()

    async def send(self, now: datetime, cells: int) -> str | None:
        """Send a heartbeat; returns why it was not accepted, or None."""
        id_, stamp = f"msg_{new_token().hex}", int(now.timestamp())
        body = msgspec.json.encode(HeartbeatNote("horae.heartbeat", now, cells))
        headers = {"Content-Type": "application/json", "webhook-id": id_, "webhook-timestamp": str(stamp)}
        if self._keys:
            headers["webhook-signature"] = sign(self._keys, id_, stamp, body)
        request = build_request("POST", parse_url(self._url), headers, body, CONNECT_TIMEOUT_S, READ_TIMEOUT_S)
        answer = await ask(self._client, request)
        if not isinstance(answer, HttpAnswer):
            return str(answer)
        return None if 200 <= answer.status < 300 else f"status {answer.status}"


class HeartbeatSender:
    """A duty. `is_mine` says whether this node sends; `troubles` says why this node is not ready, if it is not."""

    def __init__(
        self,
        store: StoreProtocol,
        target: HeartbeatTarget,
        is_mine: Callable[[], bool],
        troubles: Callable[[], Sequence[str]],
    ) -> None:
        self._store, self._target = store, target
        self._is_mine, self._troubles = is_mine, troubles
        self._silent_because: str | None = None

    async def once(self) -> int:
        """Send a heartbeat, if this node sends and everything makes progress. Returns 0: the next round can wait."""
        unheld = await ask_each(self._store.cells, partial(ask_by_statement, shards.unheld))
        if not self._is_mine():
            return 0
        reasons = list(self._troubles())
        reasons += [f"cell {cell} does not answer" for cell in unheld.down]
        reasons += [f"nobody holds {many} shards of cell {cell.name}" for cell, many in unheld.found.items() if many]
        if not reasons and (refusal := await self._target.send(self._store.clock.now(), len(unheld.found))):
            reasons = [f"it is not accepted: {refusal}"]
        self._log_change(reasons[0] if reasons else None)
        return 0

    def _log_change(self, reason: str | None) -> None:
        if reason is not None and self._silent_because is None:
            log.warning("heartbeat.withheld", reason=reason)
        elif reason is None and self._silent_because is not None:
            log.info("heartbeat.resumed")
        self._silent_because = reason
