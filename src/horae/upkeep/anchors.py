"""Notes the heads of the audit chains once a day where no one with rights in PostgreSQL can reach them.

A file that is only ever appended to, and a signed webhook, each where it is configured.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec

from horae.delivery.client import Client, ask
from horae.delivery.http import Answer, compose, place_of
from horae.delivery.signing import keys_of, sign
from horae.domain import anchors
from horae.domain.anchors import Anchor
from horae.domain.errors import Unavailable
from horae.runtime.chance import token
from horae.runtime.files import append
from horae.service import blocks
from horae.store.cells import Store

EVERY: Final = timedelta(days=1)
CONNECT, READ = 3.0, 10.0


class Noted(msgspec.Struct):
    """What a webhook is told."""

    type: str
    timestamp: datetime
    data: list[Anchor]


class Webhook:
    """Where heads are told, and the secret they are signed with."""

    def __init__(self, client: Client, url: str, secret: str, clock: Callable[[], datetime]) -> None:
        self._client, self._url, self._keys, self._now = client, url, keys_of(secret), clock

    async def tell(self, heads: Sequence[Anchor]) -> None:
        """Tell them; what is not taken is told again at the next round."""
        now = self._now()
        id_, stamp = f"msg_{token().hex}", int(now.timestamp())
        body = msgspec.json.encode(Noted("audit.anchored", now, list(heads)))
        headers = {
            "Content-Type": "application/json",
            "webhook-id": id_,
            "webhook-timestamp": str(stamp),
            "webhook-signature": sign(self._keys, id_, stamp, body),
        }
        answer = await ask(self._client, compose("POST", place_of(self._url), headers, body, CONNECT, READ))
        if not isinstance(answer, Answer) or not 200 <= answer.status < 300:
            raise Unavailable(f"the webhook of the audit's anchors did not take them: {answer}")


class Anchorer:
    """A duty: looks now and then whether a day has passed since the last note; returns how many heads were noted."""

    def __init__(self, store: Store, file: Path | None, webhook: Webhook | None = None) -> None:
        self.store, self.file, self.webhook = store, file, webhook
        self._told_at: dict[str, datetime] = {}

    async def once(self) -> int:
        """What is due now."""
        heads = await blocks.anchors(self.store.cells)
        if self.file is not None:
            note(self.file, _due(heads, {anchor.cell: anchor.at for anchor in read(self.file)}))
        if self.webhook is not None and _due(heads, self._told_at):
            await self.webhook.tell(heads)
            self._told_at |= {head.cell: head.at for head in heads}
        return 0


def read(file: Path) -> list[Anchor]:
    """The anchors of a file; none where there is no file yet."""
    if not file.exists():
        return []
    with file.open("rb") as lines:
        return anchors.read(lines)


def note(file: Path, heads: Sequence[Anchor]) -> None:
    """Append heads to a file; they are on the disk when this returns."""
    if heads:
        append(file, b"".join(anchors.line(head) for head in heads))


def _due(heads: Sequence[Anchor], last: Mapping[str, datetime]) -> list[Anchor]:
    """The heads of cells of which none was noted for a day; one that was down is due as soon as it is back."""
    return [head for head in heads if head.cell not in last or head.at - last[head.cell] >= EVERY]
