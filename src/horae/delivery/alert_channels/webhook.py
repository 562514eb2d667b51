"""A webhook of the user: the message as JSON, signed by Standard Webhooks under the constant id of the message."""

import msgspec

from horae.delivery.alert_channels.requests import JSON, ChannelRequest, ChannelSecrets, check_status
from horae.delivery.http import HttpAnswer
from horae.delivery.signing import keys_of, sign
from horae.domain.alerts.channels import WebhookChannel
from horae.domain.alerts.messages import AlertMessage
from horae.domain.alerts.texts import body, title
from horae.domain.errors import ChannelRefused


class WebhookBody(msgspec.Struct, frozen=True):
    """What a webhook gets: the message, and its text in the language of the channel."""

    type: str
    data: AlertMessage
    title: str
    text: str


def webhook_request(
    channel: WebhookChannel, message: AlertMessage, secrets: ChannelSecrets, now_s: float
) -> ChannelRequest:
    """Return the signed request of a message."""
    texts = title(message, channel.language), body(message, channel.language)
    sent = msgspec.json.encode(WebhookBody(f"alert.{message.status}", message, *texts))
    stamp = int(now_s)
    try:
        keys = keys_of(secrets.text(channel.signing, channel.url))
    except ValueError as error:
        raise ChannelRefused(f"the secret {channel.signing!r} cannot sign: {error}") from None
    headers = {
        **JSON,
        "webhook-id": message.id,
        "webhook-timestamp": str(stamp),
        "webhook-signature": sign(keys, message.id, stamp, sent),
    }
    return ChannelRequest(channel.url, headers, sent)


def check_webhook(answer: HttpAnswer) -> None:
    """Raise unless the webhook answers 2xx."""
    check_status("the webhook", answer)
