"""Where subscriptions lead: topics of the deployment's brokers, and webhooks. Each broker has one connection."""

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from hashlib import sha256
from typing import Final
from uuid import UUID

from horae.delivery.brokers import Message
from horae.delivery.client import Client, ask
from horae.delivery.http import Answer, compose, host_of, place_of
from horae.delivery.lines import Lines
from horae.delivery.secrets import Secrets, Unsendable, take
from horae.delivery.signing import keys_of, sign
from horae.domain.channels import Channel, Owner, Subscription, Topic, Webhook
from horae.domain.cloudevents import BATCH, CONTENT, Told
from horae.domain.egress import Egress
from horae.domain.errors import Unavailable

CONNECT, READ = 3.0, 15.0
MOST_POSTED: Final = 1000


class Outlets:
    """What the feed sends through. `learn` makes a tenant's secret known before it is needed."""

    def __init__(
        self,
        lines: Lines,
        client: Client,
        secrets: Secrets,
        learn: Callable[[UUID, str], Awaitable[None]],
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._lines, self._client, self._secrets, self._learn = lines, client, secrets, learn
        self._wall = wall  # receivers compare a signature's time with their own clocks

    async def send(self, channel: Channel, subscription: Subscription, owner: Owner, batch: Sequence[Told]) -> None:
        """Tell, and wait until all is acknowledged."""
        match subscription.sink:
            case Topic() as topic:
                messages = [Message(one.id, one.key, one.data, _headers(one)) for one in batch]
                await self._lines.send(owner.name, topic, messages)
            case Webhook() as webhook:
                await self._learn(channel.tenant_id, webhook.signing)
                for first in range(0, len(batch), MOST_POSTED):
                    await self._post(channel.tenant_id, webhook, owner.egress, batch[first : first + MOST_POSTED])

    async def keep(self, channel_ids: Iterable[UUID]) -> None:
        """Connections are a broker's, not a channel's: nothing is to be let go."""

    async def close(self) -> None:
        """Let go of all connections."""
        await self._lines.close()

    async def _post(self, tenant_id: UUID, webhook: Webhook, egress: Egress | None, batch: Sequence[Told]) -> None:
        body = b"[" + b",".join([one.data for one in batch]) + b"]"
        id_, stamp = f"msg_{sha256(body).hexdigest()[:32]}", int(self._wall())
        try:
            keys = keys_of(take(self._secrets, tenant_id, webhook.signing, host_of(webhook.url)))
        except (Unsendable, ValueError) as error:
            raise Unavailable(f"the webhook cannot be signed: {error}") from error
        headers = {
            "Content-Type": BATCH,
            "webhook-id": id_,
            "webhook-timestamp": str(stamp),
            "webhook-signature": sign(keys, id_, stamp, body),
        }
        place = place_of(webhook.url)
        place = place._replace(origin=place.origin._replace(egress=egress))
        answer = await ask(self._client, compose("POST", place, headers, body, CONNECT, READ, tenant_id))
        if not isinstance(answer, Answer):
            raise Unavailable(f"the webhook was not reached: {answer.message}")
        if not 200 <= answer.status < 300:
            raise Unavailable(f"the webhook answered {answer.status}")


def _headers(one: Told) -> dict[str, str]:
    """A receiver may sort by these without reading the body; its content type says how to read it (structured mode)."""
    return {"content-type": CONTENT, "ce-id": one.id, "ce-type": one.type}
