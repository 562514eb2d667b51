"""Sends events to the sinks of subscriptions: topics of brokers, and webhooks."""

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from hashlib import sha256
from typing import Final
from uuid import UUID

from horae.delivery.broker_connections import Lines
from horae.delivery.brokers import Message
from horae.delivery.client import Client, ask
from horae.delivery.http import HttpAnswer, build_request, host_of, parse_url
from horae.delivery.secrets import Secrets, Unsendable, secret_for_hosts
from horae.delivery.signing import keys_of, sign
from horae.domain.errors import Unavailable
from horae.domain.events.channels import Channel, ChannelOwner, Subscription, TopicAddress, WebhookAddress
from horae.domain.events.cloudevents import BATCH, CONTENT, OutgoingEvent
from horae.domain.targets.egress import Egress

CONNECT_TIMEOUT_S: Final = 3.0
READ_TIMEOUT_S: Final = 15.0
MOST_POSTED: Final = 1000
"""Events in one post to a webhook."""


class Outlets:
    """The way out for the feed. `learn` loads a tenant's secret before it is needed."""

    def __init__(
        self,
        lines: Lines,
        client: Client,
        secrets: Secrets,
        learn: Callable[[UUID, str], Awaitable[None]],
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._lines, self._client, self._secrets, self._learn = lines, client, secrets, learn
        self._wall = wall  # real time: receivers compare a signature's time with their own clocks

    async def send(
        self, channel: Channel, subscription: Subscription, owner: ChannelOwner, batch: Sequence[OutgoingEvent]
    ) -> None:
        """Send a batch and wait until every event is acknowledged."""
        match subscription.sink:
            case TopicAddress() as topic:
                messages = [Message(one.id, one.key, one.data, _headers(one)) for one in batch]
                await self._lines.send(owner.name, topic, messages)
            case WebhookAddress() as webhook:
                await self._learn(channel.tenant_id, webhook.signing)
                for first in range(0, len(batch), MOST_POSTED):
                    await self._post(channel.tenant_id, webhook, owner.egress, batch[first : first + MOST_POSTED])

    async def keep(self, channel_ids: Iterable[UUID]) -> None:
        """Do nothing: connections belong to a broker, not to a channel."""

    async def close(self) -> None:
        """Close all connections."""
        await self._lines.close()

    async def _post(
        self, tenant_id: UUID, webhook: WebhookAddress, egress: Egress | None, batch: Sequence[OutgoingEvent]
    ) -> None:
        """Post a signed batch to a webhook; raises `Unavailable` unless it answers 2xx."""
        body = b"[" + b",".join([one.data for one in batch]) + b"]"
        id_, stamp = f"msg_{sha256(body).hexdigest()[:32]}", int(self._wall())
        try:
            keys = keys_of(secret_for_hosts(self._secrets, tenant_id, webhook.signing, host_of(webhook.url)))
        except (Unsendable, ValueError) as error:
            raise Unavailable(f"the webhook cannot be signed: {error}") from error
        headers = {
            "Content-Type": BATCH,
            "webhook-id": id_,
            "webhook-timestamp": str(stamp),
            "webhook-signature": sign(keys, id_, stamp, body),
        }
        place = parse_url(webhook.url)
        place = place._replace(origin=place.origin._replace(egress=egress))
        answer = await ask(
            self._client, build_request("POST", place, headers, body, CONNECT_TIMEOUT_S, READ_TIMEOUT_S, tenant_id)
        )
        if not isinstance(answer, HttpAnswer):
            raise Unavailable(f"the webhook was not reached: {answer.message}")
        if not 200 <= answer.status < 300:
            raise Unavailable(f"the webhook answered {answer.status}")


def _headers(one: OutgoingEvent) -> dict[str, str]:
    """Return headers for routing without reading the body; `content-type` names the structured mode of CloudEvents."""
    return {"content-type": CONTENT, "ce-id": one.id, "ce-type": one.type}
