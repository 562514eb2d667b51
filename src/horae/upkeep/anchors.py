"""Records the heads of the audit chains once a day where no role of PostgreSQL can change them.

The places are an append-only file and a signed webhook, as configured.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec

from horae.delivery.client import Client, ask
from horae.delivery.http import HttpAnswer, build_request, parse_url
from horae.delivery.signing import keys_of, sign
from horae.domain.audit import anchors
from horae.domain.audit.anchors import Anchor
from horae.domain.errors import Unavailable
from horae.runtime.files import append
from horae.runtime.randomness import new_token
from horae.service.audit import verification
from horae.store.protocol import StoreProtocol

ANCHOR_INTERVAL: Final = timedelta(days=1)
"""The time between two anchors of a cell."""
CONNECT_TIMEOUT_S: Final = 3.0
READ_TIMEOUT_S: Final = 10.0


class AnchorNote(msgspec.Struct):
    """The body of the webhook."""

    type: str
    timestamp: datetime
    data: list[Anchor]


class AnchorWebhook:
    """A webhook that receives anchors, and the secret that signs them."""

    def __init__(self, client: Client, url: str, secret: str, clock: Callable[[], datetime]) -> None:
        self._client, self._url, self._keys, self._now = client, url, keys_of(secret), clock

    async def send(self, heads: Sequence[Anchor]) -> None:
        """Send heads to the webhook. Raises where it does not accept them; the next round sends them again."""
        now = self._now()
        id_, stamp = f"msg_{new_token().hex}", int(now.timestamp())
        body = msgspec.json.encode(AnchorNote("audit.anchored", now, list(heads)))
        headers = {
            "Content-Type": "application/json",
            "webhook-id": id_,
            "webhook-timestamp": str(stamp),
            "webhook-signature": sign(self._keys, id_, stamp, body),
        }
        answer = await ask(
            self._client, build_request("POST", parse_url(self._url), headers, body, CONNECT_TIMEOUT_S, READ_TIMEOUT_S)
        )
        if not isinstance(answer, HttpAnswer) or not 200 <= answer.status < 300:
            raise Unavailable(f"the webhook of the audit's anchors did not take them: {answer}")


class Anchorer:
    """A duty: check now and then whether a day has passed since the last anchor of a cell."""

    def __init__(self, store: StoreProtocol, file: Path | None, webhook: AnchorWebhook | None = None) -> None:
        self.store, self.file, self.webhook = store, file, webhook
        self._anchored_at: dict[str, datetime] = {}

    async def once(self) -> int:
        """Record the heads that are due. Returns 0: the next round can wait."""
        heads = await verification.anchors(self.store.cells)
        if self.file is not None:
            append_heads(self.file, _due(heads, {anchor.cell: anchor.at for anchor in read(self.file)}))
        if self.webhook is not None and _due(heads, self._anchored_at):
            await self.webhook.send(heads)
            self._anchored_at |= {head.cell: head.at for head in heads}
        return 0


def read(file: Path) -> list[Anchor]:
    """Returns the anchors of a file; none where there is no file yet."""
    if not file.exists():
        return []
    with file.open("rb") as lines:
        return anchors.read(lines)


def append_heads(file: Path, heads: Sequence[Anchor]) -> None:
    """Append heads to a file. They are on the disk when this returns."""
    if heads:
        append(file, b"".join(anchors.format_anchor(head) for head in heads))


def _due(heads: Sequence[Anchor], last: Mapping[str, datetime]) -> list[Anchor]:
    """Returns the heads of cells without an anchor of the last day. A cell that was down is due when it is back."""
    return [head for head in heads if head.cell not in last or head.at - last[head.cell] >= ANCHOR_INTERVAL]
